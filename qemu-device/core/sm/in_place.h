/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs CTAs that are short one after the other in the same place of their SM. */
#ifndef QEMU_DEVICE_CORE_SM_IN_PLACE_H
#define QEMU_DEVICE_CORE_SM_IN_PLACE_H

#include <stdint.h>

struct sm;
struct sm_lot;

/* As sm_run_lots(), when the first CTAs have been taken. */
uint32_t sm_run_in_place(struct sm *sm, struct sm_lot *lot, uint32_t budget);

#endif
