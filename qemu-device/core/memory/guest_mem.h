/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accesses memory that the host, the MCU, the SMs and the copy engine change at the same time: VRAM, and the MCU's
 * memories.
 * Every access of the device core to it goes through this header. Bounds are the caller's business; pointers of the
 * functions that say 16, 32 or 64 are aligned to that many bits.
 *
 * Two kinds:
 * - data (vram_read*, vram_write*, vram_copy, vram_fill): relaxed, single-copy atomic up to 64 bits when aligned, not
 *   seen by ThreadSanitizer. A kernel may race with itself; that is its own affair and must not hide a race of ours.
 * - synchronization (vram_load_acquire*, vram_store_release*, vram_rmw*, vram_cas*, vram_fence*): C11 atomics that
 *   ThreadSanitizer sees, so that it knows what is ordered. Every read-modify-write is sequentially consistent.
 */
#ifndef QEMU_DEVICE_CORE_MEMORY_GUEST_MEM_H
#define QEMU_DEVICE_CORE_MEMORY_GUEST_MEM_H

#include <stddef.h>
#include <stdint.h>

/* Not inlined into instrumented functions where ThreadSanitizer is on; elsewhere an ordinary inline function. */
#define GUEST_DATA __attribute__((no_sanitize_thread)) static inline

#define GUEST_DATA_ACCESS(bits)                                                            \
    GUEST_DATA uint##bits##_t vram_read##bits(const uint8_t *p)                            \
    {                                                                                      \
        return __atomic_load_n((const uint##bits##_t *)(const void *)p, __ATOMIC_RELAXED); \
    }                                                                                      \
    GUEST_DATA void vram_write##bits(uint8_t *p, uint##bits##_t value)                     \
    {                                                                                      \
        __atomic_store_n((uint##bits##_t *)(void *)p, value, __ATOMIC_RELAXED);            \
    }

GUEST_DATA_ACCESS(8)
GUEST_DATA_ACCESS(16)
GUEST_DATA_ACCESS(32)
GUEST_DATA_ACCESS(64)

/*
 * Copies bytes upwards; either side may be private memory. Words that are aligned on both sides are copied whole, so a
 * 32-bit word that another thread writes meanwhile is the old or the new one. Ranges that overlap give what copying
 * upwards in steps of at most 8 bytes gives.
 */
GUEST_DATA void vram_copy(uint8_t *dst, const uint8_t *src, size_t len_bytes)
{
    uintptr_t both = (uintptr_t)dst | (uintptr_t)src;
    size_t done = 0;

    if (both % 8 == 0) {
        for (; len_bytes - done >= 8; done += 8) {
            __atomic_store_n((uint64_t *)(void *)(dst + done),
                             __atomic_load_n((const uint64_t *)(const void *)(src + done), __ATOMIC_RELAXED),
                             __ATOMIC_RELAXED);
        }
    }
    if (both % 4 == 0) {
        for (; len_bytes - done >= 4; done += 4) {
            __atomic_store_n((uint32_t *)(void *)(dst + done),
                             __atomic_load_n((const uint32_t *)(const void *)(src + done), __ATOMIC_RELAXED),
                             __ATOMIC_RELAXED);
        }
    }
    for (; done < len_bytes; done++) {
        __atomic_store_n(dst + done, __atomic_load_n(src + done, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    }
}

GUEST_DATA void vram_fill(uint8_t *dst, uint8_t value, size_t len_bytes)
{
    uint64_t word = 0x0101010101010101ull * value;
    size_t done = 0;

    for (; done < len_bytes && (uintptr_t)(dst + done) % 8 != 0; done++) {
        __atomic_store_n(dst + done, value, __ATOMIC_RELAXED);
    }
    for (; len_bytes - done >= 8; done += 8) {
        __atomic_store_n((uint64_t *)(void *)(dst + done), word, __ATOMIC_RELAXED);
    }
    for (; done < len_bytes; done++) {
        __atomic_store_n(dst + done, value, __ATOMIC_RELAXED);
    }
}

/* Full fence between two sides that each write one word and then read the other's. */
static inline void vram_fence(void)
{
#if defined(__SANITIZE_THREAD__)
    /* GCC cannot instrument a fence; an exchange on a word of its own orders the same way. */
    static uint32_t word;
    (void)__atomic_exchange_n(&word, 0, __ATOMIC_SEQ_CST);
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* Stores before it are seen before those behind it. */
static inline void vram_fence_stores(void)
{
#if defined(__SANITIZE_THREAD__)
    vram_fence();
#else
    __atomic_thread_fence(__ATOMIC_RELEASE);
#endif
}

/*
 * vram_rmw<op><bits>() return the former value. min and max compare unsigned, smin and smax signed numbers.
 * vram_cas<bits>() stores `wanted` when the word is `expected` and returns the former value.
 */
#define GUEST_SYNC_ACCESS(bits)                                                                                \
    static inline uint##bits##_t vram_load_acquire##bits(const uint8_t *p)                                     \
    {                                                                                                          \
        return __atomic_load_n((const uint##bits##_t *)(const void *)p, __ATOMIC_ACQUIRE);                     \
    }                                                                                                          \
    static inline void vram_store_release##bits(uint8_t *p, uint##bits##_t value)                              \
    {                                                                                                          \
        __atomic_store_n((uint##bits##_t *)(void *)p, value, __ATOMIC_RELEASE);                                \
    }                                                                                                          \
    static inline uint##bits##_t vram_cas##bits(uint8_t *p, uint##bits##_t expected, uint##bits##_t wanted)    \
    {                                                                                                          \
        (void)__atomic_compare_exchange_n((uint##bits##_t *)(void *)p, &expected, wanted, 0, __ATOMIC_SEQ_CST, \
                                          __ATOMIC_SEQ_CST);                                                   \
        return expected;                                                                                       \
    }                                                                                                          \
    GUEST_RMW(bits, xchg, __atomic_exchange_n)                                                                 \
    GUEST_RMW(bits, add, __atomic_fetch_add)                                                                   \
    GUEST_RMW(bits, and, __atomic_fetch_and)                                                                   \
    GUEST_RMW(bits, or, __atomic_fetch_or)                                                                     \
    GUEST_RMW(bits, xor, __atomic_fetch_xor)                                                                   \
    GUEST_RMW_PICK(bits, min, uint##bits##_t, <)                                                               \
    GUEST_RMW_PICK(bits, max, uint##bits##_t, >)                                                               \
    GUEST_RMW_PICK(bits, smin, int##bits##_t, <)                                                               \
    GUEST_RMW_PICK(bits, smax, int##bits##_t, >)

#define GUEST_RMW(bits, op, builtin)                                                   \
    static inline uint##bits##_t vram_rmw_##op##bits(uint8_t *p, uint##bits##_t value) \
    {                                                                                  \
        return builtin((uint##bits##_t *)(void *)p, value, __ATOMIC_SEQ_CST);          \
    }

/* Stores `value` when it comes before the word in the order `before` of `type`; a failed exchange means that another
 * thread made progress. */
#define GUEST_RMW_PICK(bits, op, type, before)                                                                   \
    static inline uint##bits##_t vram_rmw_##op##bits(uint8_t *p, uint##bits##_t value)                           \
    {                                                                                                            \
        uint##bits##_t former = __atomic_load_n((uint##bits##_t *)(void *)p, __ATOMIC_SEQ_CST);                  \
        uint##bits##_t wanted = 0;                                                                               \
                                                                                                                 \
        do {                                                                                                     \
            wanted = (type)value before(type) former ? value : former;                                           \
        } while (!__atomic_compare_exchange_n((uint##bits##_t *)(void *)p, &former, wanted, 0, __ATOMIC_SEQ_CST, \
                                              __ATOMIC_SEQ_CST));                                                \
        return former;                                                                                           \
    }

GUEST_SYNC_ACCESS(32)
GUEST_SYNC_ACCESS(64)

#endif
