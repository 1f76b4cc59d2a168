/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs CTAs whose program is one translation from begin to end, without placing them on their SM. */
#ifndef QEMU_DEVICE_CORE_SM_WHOLE_H
#define QEMU_DEVICE_CORE_SM_WHOLE_H

#include <stdbool.h>
#include <stdint.h>

struct sm;

/*
 * Takes CTAs and runs them to their end, one after the other, while `budget` warp instructions last. The SM has none.
 * The first that cannot be run so is on the SM afterwards. Returns how many instructions were executed.
 */
uint32_t sm_run_whole_ctas(struct sm *sm, uint32_t budget);
/* The SM has CTAs, all of a program that can be run so: when they have ended, others need no place. */
bool sm_whole_ctas_follow(const struct sm *sm);

#endif
