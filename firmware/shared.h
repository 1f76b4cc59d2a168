/* SPDX-License-Identifier: MIT */
/*
 * Accesses words in VRAM that another side (SM threads, device, host) writes too, each with its memory order. A test
 * that wants to interleave them defines SHARED_STEP, which runs before every access.
 */
#ifndef FIRMWARE_SHARED_H
#define FIRMWARE_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#ifdef SHARED_STEP
void SHARED_STEP(void);
#else
#define SHARED_STEP() ((void)0)
#endif

/* Acquire: what the other side wrote before its shared_publish() is seen after it. */
static inline uint32_t shared_read(const uint32_t *word)
{
    SHARED_STEP();
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Release; pairs with the other side's acquiring load. */
static inline void shared_publish(uint32_t *word, uint32_t value)
{
    SHARED_STEP();
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* Acquire and release, as B4 asks of the last-task and next-stream pointers. */
static inline uint32_t shared_exchange(uint32_t *word, uint32_t value)
{
    SHARED_STEP();
    return __atomic_exchange_n(word, value, __ATOMIC_ACQ_REL);
}

/* Acquire and release. True when the word was `expected` and is now `value`. */
static inline bool shared_replace(uint32_t *word, uint32_t expected, uint32_t value)
{
    SHARED_STEP();
    return __atomic_compare_exchange_n(word, &expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static inline void shared_add(uint32_t *word, uint32_t value)
{
    SHARED_STEP();
    __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL);
}

static inline void shared_clear(uint32_t *word, uint32_t bits)
{
    SHARED_STEP();
    __atomic_fetch_and(word, ~bits, __ATOMIC_ACQ_REL);
}

/* Full fence between a store of ours and a load of the other side's word (ring.h). */
static inline void shared_fence(void)
{
#if defined(__SANITIZE_THREAD__)
    /* GCC cannot instrument a fence; an exchange on a word of its own orders the same way. */
    static uint32_t word;
    (void)__atomic_exchange_n(&word, 0, __ATOMIC_SEQ_CST);
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

#endif
