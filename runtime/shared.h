/* SPDX-License-Identifier: MIT */
/*
 * Accesses words in memory that the device, its firmware or its threads change concurrently. The partner of each access
 * is named where it is used.
 */
#ifndef RUNTIME_SHARED_H
#define RUNTIME_SHARED_H

#include <stdbool.h>
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

/* Acquire and release. The former value. */
static inline uint32_t shared_exchange(uint32_t *word, uint32_t value)
{
    return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
}

/* Acquire and release. True when the word was `expected` and is now `value`. */
static inline bool shared_replace(uint32_t *word, uint32_t expected, uint32_t value)
{
    return __atomic_compare_exchange_n(word, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE);
}

static inline void shared_or(uint32_t *word, uint32_t bits)
{
    __atomic_fetch_or(word, bits, __ATOMIC_SEQ_CST);
}

#endif
