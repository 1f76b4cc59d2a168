/* SPDX-License-Identifier: MIT */
#include "tests/compiler/exits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"

#define CTA 128u
#define TABLE 1024u
#define HOLES 4u /* one of so many is one */
#define KEYS 4096u

/* In the order of the models below. */
const char *const exits_names[] = { "primes", "march", "probe", "both" };
const uint32_t exits_percent[] = { 100, 100, 100, 110 }; /* the last twin has no branch */
const uint32_t exits_count = PPU_ARRAY_SIZE(exits_names);

enum { PRIMES, MARCH, PROBE, BOTH };

static uint32_t mix(uint32_t h)
{
    h ^= h >> 16;
    h *= 0x7feb352du;
    h ^= h >> 15;
    h *= 0x846ca68bu;
    return h ^ h >> 16;
}

static bool is_prime(uint32_t n)
{
    for (uint32_t d = 2; d * d <= n; d++) {
        if (n % d == 0) {
            return false;
        }
    }
    return true;
}

static uint32_t primes(uint32_t i)
{
    uint32_t sum = 0;

    for (uint32_t k = 0; k < 8; k++) {
        uint32_t n = mix(8 * i + k) >> 18 | 5;
        sum += is_prime(n) ? mix(n) + mix(n * n) + mix(sum) : 0;
    }
    return sum;
}

static uint32_t probe(const uint32_t *table, uint32_t i)
{
    uint32_t key = mix(i) % KEYS + 1, at = mix(key) % TABLE;

    while (table[at] != key && table[at] != 0) {
        at = (at + 1) % TABLE;
    }
    return table[at] == key ? mix(key) ^ mix(key + at) ^ mix(at) : mix(key) + mix(at * 3) + mix(key * 5);
}

static uint32_t both(const uint32_t *table, uint32_t i)
{
    uint32_t sum = 0;

    for (uint32_t k = 0; k < 16; k++) {
        uint32_t a = table[(i * 7 + k) % TABLE];
        sum = (a & table[a % TABLE] >> 1 & 1) != 0 ? sum + mix(a) + mix(sum)
                                                   : sum ^ mix(a * 3) ^ mix(a * 5) ^ mix(sum + 1);
    }
    return sum;
}

static void fill(uint32_t number, uint32_t *table)
{
    for (uint32_t k = 0; k < TABLE; k++) {
        table[k] = number == BOTH ? mix(k) >> 8 : k % HOLES == 0 ? 0 : mix(k) % KEYS + 1;
    }
}

/* What a ray sees is a sum of roots, which the reference executor computes to the bit. */
static void check(const struct device *device, uint32_t number, const uint32_t *out, const uint32_t *table,
                  const uint32_t *seen, uint32_t threads)
{
    for (uint32_t i = 0; i < threads; i++) {
        uint32_t wanted = number == MARCH    ? seen[i]
                          : number == PRIMES ? primes(i)
                          : number == PROBE  ? probe(table, i)
                                             : both(table, i);
        device_expect(device, exits_names[number], i, (int32_t)out[i], (int32_t)wanted);
    }
}

uint64_t exits_run(struct device *device, uint32_t number, bool twin, uint32_t threads)
{
    uint32_t *out, table[TABLE];
    uint8_t *seen = NULL;
    char name[32];

    snprintf(name, sizeof(name), "%s%s", exits_names[number], twin ? "_twin" : "");
    fill(number, table);
    device_kernel(device, name);
    out = device_buffer(device, 0, threads * sizeof(*out));
    if (number == PROBE || number == BOTH) {
        memcpy(device_buffer(device, 1, sizeof(table)), table, sizeof(table));
    }
    if (number == MARCH) {
        seen = device_reference(device, threads / CTA, 1, CTA, 1);
    }
    device->warp_insns = 0;
    device_run(device, threads / CTA, 1, CTA, 1);
    check(device, number, out, table, (const uint32_t *)(const void *)seen, threads);
    free(seen);
    return device->warp_insns;
}
