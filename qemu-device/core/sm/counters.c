/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What warps are counted for (counter.def). Warps count for their CTA; the SM has what its CTAs have when one of them
 * ends or waits. Lanes are counted for all instructions between two changes of the set of active lanes at once.
 */
#include "qemu-device/core/sm/counters.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/exec.h"
#include "qemu-device/core/sm/sm.h"

#include <stdio.h>

/* Without the host's own instruction, which not every level has. */
static uint32_t bits_of(uint32_t set)
{
    set -= set >> 1 & 0x55555555u;
    set = (set & 0x33333333u) + (set >> 2 & 0x33333333u);
    return ((set + (set >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}

static inline void settle_one(struct sm *sm, struct sm_cta *cta, enum ppu_counter counter)
{
    const uint64_t more = cta->count[counter] - cta->settled[counter];

    if (more != 0) {
        __atomic_store_n(&sm->count[counter], sm->count[counter] + more, __ATOMIC_RELAXED);
        cta->settled[counter] = cta->count[counter];
    }
}

/* One after the other, without a loop: each CTA comes here when it ends. */
void count_settle(struct sm *sm, struct sm_cta *cta)
{
    if (!COUNTED) {
        return;
    }
#define PPU_COUNTER(name, number, doc) settle_one(sm, cta, number);
#include "ppu/counter.def"
#undef PPU_COUNTER
}

void count_pass(struct exec *x, uint32_t set, const uint64_t address[PPU_LANES], const uint64_t own[PPU_LANES],
                uint32_t bytes)
{
    const uint32_t first = (uint32_t)__builtin_ctz(set | 1u << 31), last = 31u - (uint32_t)__builtin_clz(set | 1u);
    bool alike = true, in_row = own[first] >> 32 == own[last] >> 32 && own[first] <= own[last];

    if (set == 0) {
        return;
    }
    for (uint32_t left = set; left != 0; left &= left - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(left);

        alike = alike && address[i] == address[first];
        in_row = in_row && address[i] == address[first] + (uint64_t)(i - first) * bytes;
    }
    if (alike) {
        count_transactions(x, 1);
    } else if (in_row) {
        count_transactions(x, count_lines(address[first], (last - first + 1) * bytes));
    } else {
        count_transactions(x, bits_of(set));
    }
}

size_t counters_text(const uint64_t count[PPU_COUNTERS], char *buf, size_t size, size_t at)
{
    static const char *const names[PPU_COUNTERS] = {
#define PPU_COUNTER(name, number, doc) [number] = #name,
#include "ppu/counter.def"
#undef PPU_COUNTER
    };

    for (uint32_t i = 0; i < PPU_COUNTERS && at < size; i++) {
        at += (size_t)snprintf(buf + at, size - at, " %s %llu%s", names[i], (unsigned long long)count[i],
                               i + 1 == PPU_COUNTERS ? "\n" : ",");
    }
    return at;
}
