/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps a CTA on an SM. */
#ifndef QEMU_DEVICE_CORE_SM_CTA_H
#define QEMU_DEVICE_CORE_SM_CTA_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/counter.h"
#include "ppu/isa.h"
#include "ppu/limits.h"
#include "qemu-device/core/dist/cta.h"
#include "qemu-device/core/sm/file.h"
#include "qemu-device/core/sm/prologue.h"

#define SM_NO_CTA UINT32_MAX
#define SM_WAIT_CHILDREN PPU_BARRIERS /* cwait is a barrier that the firmware opens */
#define SM_WAITS (PPU_BARRIERS + 1u)

struct sm_cta {
    bool used;
    struct dist_cta cta;
    struct sm_block block[SM_FILE_COUNT];
    uint32_t warp[PPU_MAX_CTA_THREADS / PPU_LANES]; /* indices of its warps on the SM */
    uint32_t size[3];                               /* threads in x, y, z */
    uint32_t warps_left;
    uint32_t threads_left;      /* that have not ended */
    uint32_t waiting;           /* at barriers, all together */
    uint32_t barrier[SM_WAITS]; /* threads waiting at each */
    bool must_save;             /* every thread left waits for children (B7) */
    bool ends_sections; /* it is to leave: only its warps in critical sections go on (struct sm.ends_sections) */
    uint64_t count[PPU_COUNTERS];
    uint64_t settled[PPU_COUNTERS]; /* what of it the SM has */
    uint32_t begun;                 /* instructions of the prologue that `done` comes of; 0: of none */
    struct prologue_done done;
};

#endif
