/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Implements sets of lanes. */
#ifndef QEMU_DEVICE_CORE_SM_LANES_H
#define QEMU_DEVICE_CORE_SM_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/limits.h"
#include "ppu/token.h"

/* A set of lanes: lane n is bit n % 32 of word n / 32. Words beyond the wave are zero. */
struct lanes {
    uint32_t m[PPU_MAX_WAVE_WORDS];
};

static inline bool lanes_any(const struct lanes *a)
{
    return (a->m[0] | a->m[1] | a->m[2] | a->m[3]) != 0;
}

static inline struct lanes lanes_and(const struct lanes *a, const struct lanes *b)
{
    return (struct lanes){ { a->m[0] & b->m[0], a->m[1] & b->m[1], a->m[2] & b->m[2], a->m[3] & b->m[3] } };
}

static inline struct lanes lanes_or(const struct lanes *a, const struct lanes *b)
{
    return (struct lanes){ { a->m[0] | b->m[0], a->m[1] | b->m[1], a->m[2] | b->m[2], a->m[3] | b->m[3] } };
}

static inline struct lanes lanes_without(const struct lanes *a, const struct lanes *b)
{
    return (struct lanes){ { a->m[0] & ~b->m[0], a->m[1] & ~b->m[1], a->m[2] & ~b->m[2], a->m[3] & ~b->m[3] } };
}

static inline bool lanes_equal(const struct lanes *a, const struct lanes *b)
{
    return a->m[0] == b->m[0] && a->m[1] == b->m[1] && a->m[2] == b->m[2] && a->m[3] == b->m[3];
}

/* Without an instruction for it, which not every host has. */
static inline uint32_t lanes_count(const struct lanes *a)
{
    uint64_t bytes = 0;

    for (uint32_t word = 0; word < PPU_MAX_WAVE_WORDS; word += 2) {
        uint64_t pairs = a->m[word] | (uint64_t)a->m[word + 1] << 32;
        pairs -= pairs >> 1 & 0x5555555555555555ull;
        pairs = (pairs & 0x3333333333333333ull) + (pairs >> 2 & 0x3333333333333333ull);
        bytes += (pairs + (pairs >> 4)) & 0x0f0f0f0f0f0f0f0full;
    }
    return (uint32_t)(bytes * 0x0101010101010101ull >> 56);
}

/* Lowest lane of a set that is not empty. */
static inline uint32_t lanes_first(const struct lanes *a)
{
    uint32_t word = 0;

    while (word + 1 < PPU_MAX_WAVE_WORDS && a->m[word] == 0) {
        word++;
    }
    return word * PPU_LANES + (uint32_t)__builtin_ctz(a->m[word] | 1u << 31);
}

static inline void lanes_set(struct lanes *a, uint32_t lane)
{
    a->m[lane / PPU_LANES] |= 1u << (lane % PPU_LANES);
}

static inline bool lanes_has(const struct lanes *a, uint32_t lane)
{
    return (a->m[lane / PPU_LANES] >> (lane % PPU_LANES)) & 1u;
}

static inline struct lanes lanes_one(uint32_t lane)
{
    struct lanes one = { { 0 } };

    lanes_set(&one, lane);
    return one;
}

/* The first `count` lanes. */
static inline struct lanes lanes_below(uint32_t count)
{
    const uint64_t low = count < 64 ? (1ull << count) - 1 : UINT64_MAX;
    const uint64_t high = count < 64 ? 0 : count < 128 ? (1ull << (count - 64)) - 1 : UINT64_MAX;

    return (struct lanes){ { (uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high, (uint32_t)(high >> 32) } };
}

/* Runs a statement for each lane of a set, lowest first. */
#define LANES_EACH(set, lane)                                     \
    for (uint32_t word_ = 0; word_ < PPU_MAX_WAVE_WORDS; word_++) \
        for (uint32_t left_ = (set)->m[word_], lane = 0;          \
             left_ != 0 && ((lane) = word_ * PPU_LANES + (uint32_t)__builtin_ctz(left_), true); left_ &= left_ - 1)

#endif
