/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps what is known of a task's program. */
#ifndef QEMU_DEVICE_CORE_SM_PROGRAM_H
#define QEMU_DEVICE_CORE_SM_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "qemu-device/core/sm/prologue.h"
#include "qemu-device/core/sm/straight.h"

/* Keeps what is known of a task's program when a CTA of it has ended. */
struct program {
    uint64_t start;           /* dist_task.start; 0: of none */
    bool writes_first;        /* in CTAs that are whole */
    struct prologue prologue; /* of warps of such CTAs */
    struct program_straight straight;
    bool whole;         /* its straight code was entered, and a translation of it ends each warp */
    uint32_t cta_insns; /* of the CTA that ended last */
    uint32_t ended;     /* CTAs that have ended: with each power of two more of the program may be known */
};

#endif
