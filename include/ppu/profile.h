/* SPDX-License-Identifier: MIT */
/*
 * Defines the profile of kernels: a table in VRAM that SMs count into, by instruction. The driver takes the room,
 * clears it, writes the head, and then the registers PROFILE_PAGE, PROFILE_ENTRIES and PROFILE_PERIOD. Entries are
 * found by a hash of their keys. An SM that finds no free entry near its place counts in `missing`.
 */
#ifndef PPU_PROFILE_H
#define PPU_PROFILE_H

#include "ppu/base.h"

#define PPU_PROFILE_VERSION 1u
#define PPU_PROFILE_LEAST 64u /* entries of a table; a power of two */
#define PPU_PROFILE_MOST (1u << 20)
#define PPU_PROFILE_PROBES 32u /* places that are looked at for a key */
#define PPU_PROFILE_EXACT 1u   /* PROFILE_PERIOD: each instruction is counted */
#define PPU_PROFILE_PERIOD_MOST (1u << 20)
#define PPU_PROFILE_DEEPEST 255u /* keys tell depths up to this one apart */

enum ppu_profile_count {
#define PPU_PROFILE(name, number, doc) PPU_PROFILE_##name = (number),
#include "ppu/profile.def"
#undef PPU_PROFILE
    PPU_PROFILE_COUNTS,
    PPU_PROFILE_SAMPLED = PPU_PROFILE_STALL_BARRIER, /* as many are samples when the period is not EXACT */
};

/* A key has the address of an instruction, its address space, and the depth of the task (tmd.h). */
#define PPU_PROFILE_USED 1ull
#define PPU_PROFILE_ADDRESS 0x0000fffffffffff8ull
#define PPU_PROFILE_KEY(address, context, depth) \
    (((address)&PPU_PROFILE_ADDRESS) | (uint64_t)(depth) << 48 | (uint64_t)(context) << 56 | PPU_PROFILE_USED)
#define PPU_PROFILE_DEPTH(key) ((uint32_t)((key) >> 48) & 0xffu)
#define PPU_PROFILE_CONTEXT(key) ((uint32_t)((key) >> 56))

struct ppu_profile_entry {
    uint64_t key; /* 0: the entry is free */
    uint64_t count[PPU_PROFILE_COUNTS];
};
PPU_ASSERT_SIZE(struct ppu_profile_entry, 64);

struct ppu_profile_table {
    struct ppu_struct_header head; /* PPU_PROFILE_VERSION, sizeof(struct ppu_profile_entry) */
    uint32_t entries;
    uint32_t period;
    uint32_t reserved0;
    uint64_t missing; /* instructions or samples, and stalls, that found no entry; the SMs add to it */
    uint64_t reserved[5];
    /* struct ppu_profile_entry entry[entries] follows */
};
PPU_ASSERT_SIZE(struct ppu_profile_table, 64);

#endif
