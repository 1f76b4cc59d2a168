/* SPDX-License-Identifier: MIT */
/* Computes a checksum that finds accidents, not attacks: FNV-1a of 64 bits. */
#ifndef OPENCL_BUILD_FNV_H
#define OPENCL_BUILD_FNV_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t fnv_of(const void *data, size_t bytes)
{
    const uint8_t *at = (const uint8_t *)data;
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < bytes; i++) {
        hash = (hash ^ at[i]) * 0x100000001b3u;
    }
    return hash;
}

#endif
