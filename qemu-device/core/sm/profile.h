/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs warps and counts what they execute by instruction, while a profile is wanted. */
#ifndef QEMU_DEVICE_CORE_SM_PROFILE_H
#define QEMU_DEVICE_CORE_SM_PROFILE_H

#include <stdint.h>

struct sm;

/* As engine_run(), and counts. */
uint32_t profile_run(struct sm *sm, uint32_t index, uint32_t budget);

#endif
