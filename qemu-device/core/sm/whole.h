/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs CTAs whose program is one translation from begin to end, without placing them on their SM. */
#ifndef QEMU_DEVICE_CORE_SM_WHOLE_H
#define QEMU_DEVICE_CORE_SM_WHOLE_H

#include <stdbool.h>
#include <stdint.h>

struct dist_task;
struct sm;
struct sm_lot;

/* Warp instructions of a CTA of the task, at most, when its program is straight. */
uint32_t sm_whole_insns(const struct sm *sm, const struct dist_task *task);
/* As sm_run_lots(), when the first CTAs have been taken; adds to *executed. False: there is no such translation, and
 * nothing was done. */
bool sm_run_whole(struct sm *sm, struct sm_lot *lot, uint32_t budget, uint32_t *executed);

#endif
