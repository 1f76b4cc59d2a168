/* SPDX-License-Identifier: MIT */
/* Makes random numbers of a test: the seed is PPU_SEED or the time, and is printed. */
#ifndef TESTS_FIRMWARE_RANDOM_H
#define TESTS_FIRMWARE_RANDOM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline uint64_t random_seed(void)
{
    const char *given = getenv("PPU_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
    printf("# PPU_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

/* SplitMix64 */
static inline uint64_t random_next(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

static inline uint32_t random_below(uint64_t *seed, uint32_t end)
{
    return (uint32_t)(random_next(seed) % end);
}

#endif
