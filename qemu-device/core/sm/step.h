/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names the outcomes of an instruction. */
#ifndef QEMU_DEVICE_CORE_SM_STEP_H
#define QEMU_DEVICE_CORE_SM_STEP_H

/* Says what an instruction did. */
enum step {
    STEP_NEXT,  /* go on behind it */
    STEP_MOVED, /* w->pc is set */
    STEP_STOP,  /* not done: w->state says what it waits for */
    STEP_ENDED, /* done, and the warp cannot go on now */
    STEP_FAULT, /* sm_fault() was called */
};

#endif
