/* SPDX-License-Identifier: MIT */
/*
 * Words in memory that the device, its firmware or its threads change while we look. The
 * partner of each access is named where it is used.
 */
#ifndef PPU_RUNTIME_SHARED_H
#define PPU_RUNTIME_SHARED_H

#include <stdint.h>

static inline uint32_t shared_load_acquire(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void shared_store_release(uint32_t *word, uint32_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* One 64-bit store: ring entries, page-table entries. */
static inline void shared_store_release64(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

#endif
