/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps how much of a program each warp executes once when it begins, behind its prologue. */
#ifndef QEMU_DEVICE_CORE_SM_STRAIGHT_H
#define QEMU_DEVICE_CORE_SM_STRAIGHT_H

#include <stdint.h>

struct dist_task;
struct sm;

/*
 * Instructions from the `first` of a program on, up to its end or to the first loop, as far as they have been decoded;
 * 0: too few to be worth a translation. Branches forward may leave some of them out.
 */
uint32_t decode_straight(const struct sm *sm, const struct dist_task *task, uint32_t first);

#endif
