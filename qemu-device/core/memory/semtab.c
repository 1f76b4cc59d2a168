/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Semaphore table: the words that parked channels wait for (C8). Who arms a word fences and then reads it; who
 * releases a semaphore writes it, fences and then looks here: one of the two sees the other.
 */
#include "qemu-device/core/memory/semtab.h"
#include "ppu/save.h"
#include "ppu/sem.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/memory/ring.h"
#include "qemu-device/core/snapshot.h"

static uint32_t *bucket_of(struct semtab *table, bool system, uint64_t address)
{
    uint64_t line = address / PPU_SEM_ALIGN;

    return &table->bucket[(line ^ line / SEMTAB_BUCKETS ^ system) % SEMTAB_BUCKETS];
}

static void unlink_entry(struct semtab *table, uint32_t entry)
{
    struct sem_watch *watch = &table->entry[entry];
    uint32_t *link = bucket_of(table, watch->system, watch->address);

    if (!watch->armed) {
        return;
    }
    while (*link != entry) {
        link = &table->entry[*link].next;
    }
    *link = watch->next;
    watch->armed = false;
    __atomic_fetch_sub(&table->armed_count, 1, __ATOMIC_SEQ_CST);
}

static void link_entry(struct semtab *table, uint32_t entry, const struct sem_watch *watch)
{
    uint32_t *first = bucket_of(table, watch->system, watch->address);

    table->entry[entry] = *watch;
    table->entry[entry].armed = true;
    table->entry[entry].next = *first;
    *first = entry;
    __atomic_fetch_add(&table->armed_count, 1, __ATOMIC_SEQ_CST);
}

void semtab_arm(struct core *core, uint32_t entry, bool system, uint64_t address, uint32_t tag)
{
    const struct sem_watch watch = { .system = system, .address = address, .tag = tag };

    pthread_mutex_lock(&core->semtab.lock);
    unlink_entry(&core->semtab, entry);
    link_entry(&core->semtab, entry, &watch);
    pthread_mutex_unlock(&core->semtab.lock);
    vram_fence();
}

void semtab_disarm(struct core *core, uint32_t entry)
{
    pthread_mutex_lock(&core->semtab.lock);
    unlink_entry(&core->semtab, entry);
    pthread_mutex_unlock(&core->semtab.lock);
}

static void report_touch(struct core *core, uint32_t entry)
{
    const struct ppu_touch_event event = { .entry = entry, .tag = core->semtab.entry[entry].tag };

    unlink_entry(&core->semtab, entry);
    ring_push(core, PPU_RING_TOUCH, &event);
}

void semtab_touch(struct core *core, bool system, uint64_t address)
{
    struct semtab *table = &core->semtab;

    vram_fence();
    if (__atomic_load_n(&table->armed_count, __ATOMIC_SEQ_CST) == 0) {
        return;
    }
    pthread_mutex_lock(&table->lock);
    uint32_t entry = *bucket_of(table, system, address);
    while (entry != SEMTAB_NONE) {
        const struct sem_watch watch = table->entry[entry];

        if (watch.system == system && watch.address == address) {
            report_touch(core, entry);
        }
        entry = watch.next;
    }
    pthread_mutex_unlock(&table->lock);
}

void semtab_reset(struct core *core)
{
    struct semtab *table = &core->semtab;

    pthread_mutex_lock(&table->lock);
    for (uint32_t i = 0; i < SEMTAB_BUCKETS; i++) {
        table->bucket[i] = SEMTAB_NONE;
    }
    for (uint32_t i = 0; i < PPU_MAX_ARMED; i++) {
        table->entry[i].armed = false;
    }
    __atomic_store_n(&table->armed_count, 0, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&table->lock);
}

void semtab_save(struct core *core, struct snap *snap)
{
    snap_put_u32(snap, core->semtab.armed_count);
    for (uint32_t i = 0; i < PPU_MAX_ARMED; i++) {
        const struct sem_watch *watch = &core->semtab.entry[i];

        if (watch->armed) {
            snap_put_u32(snap, i);
            snap_put_u32(snap, watch->system);
            snap_put_u64(snap, watch->address);
            snap_put_u32(snap, watch->tag);
        }
    }
}

static bool address_usable(const struct core *core, bool system, uint64_t address)
{
    return address % PPU_SEM_ALIGN == 0 && (system || core_vram_has(core, address, sizeof(struct ppu_sem)));
}

static void entry_load(struct core *core, struct snap *snap)
{
    const uint32_t entry = snap_get_u32(snap);
    const bool system = snap_get_flag(snap);
    const uint64_t address = snap_get_u64(snap);
    const uint32_t tag = snap_get_u32(snap);

    if (entry >= PPU_MAX_ARMED || core->semtab.entry[entry].armed) {
        snap_refuse(snap, "entry %u does not exist, or is there twice", entry);
    } else if (!address_usable(core, system, address)) {
        snap_refuse(snap, "entry %u: no semaphore can be at 0x%llx", entry, (unsigned long long)address);
    }
    if (!snap->bad) {
        semtab_arm(core, entry, system, address, tag);
    }
}

void semtab_load(struct core *core, struct snap *snap)
{
    uint32_t count = snap_get_u32(snap);

    if (count > PPU_MAX_ARMED) {
        snap_refuse(snap, "%u entries are armed, of %u", count, PPU_MAX_ARMED);
    }
    for (uint32_t i = 0; i < count && !snap->bad; i++) {
        entry_load(core, snap);
    }
}
