/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps sets of slots, one bit each. */
#ifndef QEMU_DEVICE_CORE_DIST_MASK_H
#define QEMU_DEVICE_CORE_DIST_MASK_H

#include <stdint.h>

static inline uint64_t bit(uint32_t slot)
{
    return 1ull << slot;
}

/* Words that any thread reads without the lock; written with it. */
static inline void mask_set(uint64_t *mask, uint64_t bits)
{
    __atomic_fetch_or(mask, bits, __ATOMIC_SEQ_CST);
}

static inline void mask_clear(uint64_t *mask, uint64_t bits)
{
    __atomic_fetch_and(mask, ~bits, __ATOMIC_SEQ_CST);
}

#endif
