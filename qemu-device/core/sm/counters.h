/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts for the CTA of a warp: a turn lasts from count_begin() to count_end(). */
#ifndef QEMU_DEVICE_CORE_SM_COUNTERS_H
#define QEMU_DEVICE_CORE_SM_COUNTERS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ppu/child.h"
#include "ppu/counter.h"
#include "ppu/limits.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/exec.h"
#include "qemu-device/core/sm/lanes.h"
#include "qemu-device/core/sm/warp.h"

struct sm;
struct sm_cta;

#ifdef ENGINE_UNCOUNTED /* tests/engine/cost.py: an engine to compare with */
#define COUNTED false
#else
#define COUNTED true
#endif

/* As count_begin(), when all lanes of the wave are active; else false. That lanes have changed before counts nothing
 * twice: they are counted in two pieces then. */
static inline bool count_begin_whole(struct exec *x)
{
    if (!COUNTED || memcmp(&x->w->active, x->whole, sizeof(x->whole)) != 0) {
        return false;
    }
    x->lanes = x->wave;
    return true;
}

static inline void count_begin(struct exec *x)
{
    if (COUNTED && !count_begin_whole(x)) {
        x->w->turned = false;
        x->lanes = lanes_count(&x->w->active);
    }
}

/* The active lanes have changed, to so many, with the last of `done` instructions of this turn. */
static inline void count_turn(struct exec *x, uint32_t done, uint32_t lanes)
{
    x->cta->count[PPU_COUNTER_LANES] += (uint64_t)(done - x->counted) * x->lanes;
    x->counted = done;
    x->w->turned = false;
    x->lanes = lanes;
}

/* Not both at once: a load of two words waits until the one just stored is in the cache. */
static inline void count_end(struct exec *x, uint32_t done)
{
    if (COUNTED) {
        *(volatile uint64_t *)&x->cta->count[PPU_COUNTER_INSNS] += done;
        x->cta->count[PPU_COUNTER_LANES] += (uint64_t)(done - x->counted) * x->lanes;
    }
}

/* The SM gets what was counted for the CTA since it did last. */
void count_settle(struct sm *sm, struct sm_cta *cta);

static inline void count_one(struct exec *x, enum ppu_counter counter)
{
    x->cta->count[counter]++;
}

/* Transactions of the lanes of a pass (counter.h): `own` is what each adds to an address that is else the same for
 * all. */
void count_pass(struct exec *x, uint32_t set, const uint64_t address[PPU_LANES], const uint64_t own[PPU_LANES],
                uint32_t bytes);

static inline void count_transactions(struct exec *x, uint32_t count)
{
    if (COUNTED) {
        x->cta->count[PPU_COUNTER_TRANSACTIONS] += count;
    }
}

/* Appends them at buf[at], with a line's end; returns the new end, beyond `size` when it was cut. */
size_t counters_text(const uint64_t count[PPU_COUNTERS], char *buf, size_t size, size_t at);

/* Lines that `bytes` bytes touch. */
static inline uint32_t count_lines(uint64_t address, uint32_t bytes)
{
    return ((uint32_t)address % PPU_TRANSACTION_BYTES + bytes + PPU_TRANSACTION_BYTES - 1) / PPU_TRANSACTION_BYTES;
}

#endif
