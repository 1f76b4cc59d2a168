/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists the lines of the cache that an instruction touches. */
#ifndef QEMU_DEVICE_CORE_SM_CACHE_LINES_H
#define QEMU_DEVICE_CORE_SM_CACHE_LINES_H

#include <stdint.h>

#include "ppu/limits.h"
#include "ppu/ring.h"
#include "qemu-device/core/sm/access.h"

struct exec;

#define CACHE_MOST_LINES (PPU_MAX_WAVE * SM_MAX_WORDS) /* of an instruction: gathers, or pieces in two lines */

/* Virtual addresses of lines that an instruction touches, each once in a pass. */
struct cache_lines {
    uint32_t count;
    uint32_t begin;  /* of those of the pass and piece looked at now */
    uint64_t seen;   /* line modulo 64 of each of them */
    uint16_t at[64]; /* where in va[] the latest of these is */
    uint64_t va[CACHE_MOST_LINES];
};

/* A pass, or a piece of it, begins: lines seen before count again. */
static inline void cache_lines_begin(struct cache_lines *lines)
{
    lines->begin = lines->count;
    lines->seen = 0;
}

/* Adds the lines that `bytes` bytes touch; line_bytes is the machine's. */
void cache_lines_add(struct cache_lines *lines, uint32_t line_bytes, uint64_t va, uint32_t bytes);
/* Adds the lines that each lane of a set touches. */
void cache_lines_each(struct cache_lines *lines, uint32_t line_bytes, const uint64_t va[PPU_LANES], uint32_t set,
                      uint32_t bytes);
/* An instruction has accessed them in this order. */
void cache_account(struct exec *x, const struct cache_lines *lines, enum ppu_access access);

#endif
