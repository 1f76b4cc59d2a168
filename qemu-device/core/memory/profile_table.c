/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the table of a profile (ppu/profile.h): where it lies, and how SMs add to it.
 *
 * Place and size of the table are one word, so that an SM never sees the place of one table with the size of another.
 * A table whose memory is taken away meanwhile is still VRAM outside the protected range: what is counted there late is
 * the driver's to bear.
 */
#include "qemu-device/core/memory/profile_table.h"
#include "ppu/macros.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/regs.h"

#define PAGE_BYTES 4096u
#define LOG2_BITS 8u

static uint64_t table_bytes(uint32_t entries)
{
    return sizeof(struct ppu_profile_table) + (uint64_t)entries * sizeof(struct ppu_profile_entry);
}

/* The protected range is empty until the firmware has set its end. */
static bool overlaps_protected(const struct core *core, uint64_t at, uint64_t bytes)
{
    uint64_t base = reg_get(core, PPU_REG_PROT_BASE), limit = reg_get(core, PPU_REG_PROT_LIMIT);

    return base < limit && at < limit && base < at + bytes;
}

static bool table_usable(const struct core *core, uint64_t at, uint32_t entries)
{
    uint64_t bytes = table_bytes(entries);

    return entries >= PPU_PROFILE_LEAST && entries <= PPU_PROFILE_MOST && PPU_IS_POWER_OF_TWO(entries) &&
           core_vram_has(core, at, bytes) && !overlaps_protected(core, at, bytes);
}

void profile_reset(struct core *core)
{
    __atomic_store_n(&core->profile, 0, __ATOMIC_RELAXED);
}

void profile_setup(struct core *core)
{
    uint64_t at = (uint64_t)reg_get(core, PPU_REG_PROFILE_PAGE) * PAGE_BYTES;
    uint32_t entries = reg_get(core, PPU_REG_PROFILE_ENTRIES);

    profile_reset(core);
    if (reg_get(core, PPU_REG_PROFILE_PERIOD) == 0) {
        return;
    }
    if (!table_usable(core, at, entries)) {
        core_guest_error(core, "profile: %u entries at 0x%llx are unusable", entries, (unsigned long long)at);
        reg_set(core, PPU_REG_PROFILE_PERIOD, 0);
        return;
    }
    __atomic_store_n(&core->profile, at << LOG2_BITS | (uint32_t)__builtin_ctz(entries) | 1ull << 63, __ATOMIC_RELEASE);
}

void profile_recheck(struct core *core)
{
    if (profile_on(core)) {
        profile_setup(core);
    }
}

bool profile_on(const struct core *core)
{
    return __atomic_load_n(&core->profile, __ATOMIC_RELAXED) != 0;
}

/* The entry of a key; NULL: there is none, and no room near its place. */
static uint8_t *find_or_add_entry(uint8_t *entries, uint32_t log2, uint64_t key)
{
    const uint32_t mask = (1u << log2) - 1;
    uint32_t at = (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 32);

    for (uint32_t i = 0; i < PPU_PROFILE_PROBES; i++, at++) {
        uint8_t *entry = entries + (size_t)(at & mask) * sizeof(struct ppu_profile_entry);
        uint64_t found = vram_load_acquire64(entry);

        if (found == 0) {
            found = vram_cas64(entry, 0, key);
        }
        if (found == 0 || found == key) {
            return entry;
        }
    }
    return NULL;
}

void profile_add(struct core *core, uint64_t key, const uint32_t count[PPU_PROFILE_COUNTS])
{
    const uint64_t table = __atomic_load_n(&core->profile, __ATOMIC_ACQUIRE);
    uint8_t *const head = core->vram + (table << 1 >> (LOG2_BITS + 1));

    if (table == 0) {
        return; /* the profile has ended meanwhile */
    }
    uint8_t *entry =
        find_or_add_entry(head + sizeof(struct ppu_profile_table), (uint32_t)table % (1u << LOG2_BITS), key);
    if (!entry) {
        vram_rmw_add64(head + offsetof(struct ppu_profile_table, missing), 1);
        return;
    }
    for (uint32_t i = 0; i < PPU_PROFILE_COUNTS; i++) {
        if (count[i] != 0) {
            vram_rmw_add64(entry + offsetof(struct ppu_profile_entry, count) + i * sizeof(uint64_t), count[i]);
        }
    }
}
