/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs a segment of a warp part by part: sub-vector mode (D3). */
#ifndef QEMU_DEVICE_CORE_SM_SEGMENT_H
#define QEMU_DEVICE_CORE_SM_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "qemu-device/core/sm/lanes.h"

/*
 * A segment that a warp runs part by part (D3). Parts below `part` are through, those above come later; lanes of both
 * are disabled for PPU_REASON_PART.
 */
struct segment {
    bool on;
    bool ended;      /* a part has come to the end: `end` is known */
    uint8_t part;    /* that runs */
    uint16_t shared; /* registers behind the private ones that parts share (D4) */
    uint16_t open;   /* off: such registers that each part has for itself, of a segment that runs in normal mode (D8) */
    uint32_t floor;  /* tokens that were queued at the begin and stay */
    uint32_t begin;  /* the instruction that each part begins at */
    uint32_t end;    /* where the warp goes on behind the segment */
    struct lanes entered;
};

#endif
