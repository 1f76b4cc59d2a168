/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps the ends of CTAs that an SM has not reported yet. */
#ifndef QEMU_DEVICE_CORE_SM_PENDING_ENDS_H
#define QEMU_DEVICE_CORE_SM_PENDING_ENDS_H

#include <stdint.h>

#include "ppu/counter.h"

struct dist_cta;
struct sm;

/*
 * One word after the other: loads of several wait until the words that were just stored are in the cache, behind all
 * that the CTA has stored.
 */
static inline void pending_ends_copy(uint64_t to[PPU_COUNTERS], const uint64_t from[PPU_COUNTERS])
{
    for (uint32_t i = 0; i < PPU_COUNTERS; i++) {
        to[i] = *(const volatile uint64_t *)&from[i];
    }
}

/* Keeps the end of a CTA, which has left the SM. Its memory transactions need not be performed yet. */
void pending_ends_hold(struct sm *sm, const struct dist_cta *ended, const uint64_t count[PPU_COUNTERS]);
/* Lets others see what was done here: sums are added to memory, then ends are told of. */
void pending_ends_report(struct sm *sm);

#endif
