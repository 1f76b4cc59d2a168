/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Event rings, the producer's side (ring.h). The tail is kept here; the head in VRAM is the MCU's word and is
 * believed only as far as it makes sense.
 */
#include "qemu-device/core/memory/ring.h"
#include "ppu/macros.h"
#include "qemu-device/core/attention.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/history.h"
#include "qemu-device/core/hooks.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/regs.h"
#include "qemu-device/core/snapshot.h"

static const uint8_t *head_word(const struct core *core, const struct ring *ring)
{
    return core->vram + ring->base + offsetof(struct ppu_ring_header, head);
}

/* True for the rings whose entries wait with the warp that made them. */
static bool may_fill(enum ppu_ring_id id)
{
    return id == PPU_RING_START || id == PPU_RING_FAULT || id == PPU_RING_TOKEN;
}

static bool ring_has_room(struct core *core, enum ppu_ring_id id)
{
    const struct ring *ring = &core->ring[id];

    if (ring->size == 0) {
        if (!may_fill(id)) {
            core_device_error(core, PPU_DEVERR_RING);
        }
        return false;
    }
    uint32_t used = ring->tail - vram_load_acquire32(head_word(core, ring));
    if (used > ring->size || (used == ring->size && !may_fill(id))) {
        core_device_error(core, PPU_DEVERR_RING);
        return false;
    }
    return used < ring->size && (!may_fill(id) || used < hook_ring_limit(core));
}

static void append_entry(struct core *core, struct ring *ring, const void *entry)
{
    uint32_t at = ring->tail & (ring->size - 1);
    uint8_t *header = core->vram + ring->base;

    vram_copy(header + sizeof(struct ppu_ring_header) + (size_t)at * PPU_RING_ENTRY_BYTES, entry, PPU_RING_ENTRY_BYTES);
    ring->tail++;
    vram_store_release32(header + offsetof(struct ppu_ring_header, tail), ring->tail);
}

bool ring_push(struct core *core, enum ppu_ring_id id, const void *entry)
{
    struct ring *ring = &core->ring[id];
    bool was_empty = false;

    if (!history_effect(core)) {
        return false;
    }
    pthread_mutex_lock(&ring->lock);
    bool pushed = ring_has_room(core, id);
    if (pushed) {
        append_entry(core, ring, entry);
        /* Pairs with the MCU's fence between writing head and reading tail: one of the two sees the other. */
        vram_fence();
        was_empty = vram_load_acquire32(head_word(core, ring)) == ring->tail - 1;
    }
    pthread_mutex_unlock(&ring->lock);
    if (was_empty) {
        core_post(core, CORE_EVENT_RING);
    }
    return pushed;
}

/* A ring that fits the protected range, or no ring. */
static bool ring_usable(const struct core *core, uint32_t base, uint32_t size)
{
    uint64_t bytes = sizeof(struct ppu_ring_header) + (uint64_t)size * PPU_RING_ENTRY_BYTES;

    return PPU_IS_POWER_OF_TWO(size) && base % PPU_RING_ENTRY_BYTES == 0 && core_protected_has(core, base, bytes);
}

void ring_setup(struct core *core, uint32_t id)
{
    struct ring *ring = &core->ring[id];
    uint32_t base = reg_get(core, PPU_REG_RING_BASE + 4 * id);
    uint32_t size = reg_get(core, PPU_REG_RING_SIZE + 4 * id);

    ring_reset(core, id);
    if (size == 0) {
        return;
    }
    if (!ring_usable(core, base, size)) {
        core_guest_error(core, "ring %u: %u entries at 0x%x are unusable", id, size, base);
        core_device_error(core, PPU_DEVERR_RING);
        return;
    }
    pthread_mutex_lock(&ring->lock);
    vram_store_release32(core->vram + base + offsetof(struct ppu_ring_header, head), 0);
    vram_store_release32(core->vram + base + offsetof(struct ppu_ring_header, tail), 0);
    ring->base = base;
    ring->size = size;
    pthread_mutex_unlock(&ring->lock);
    sm_wake(core); /* warps may have waited for a ring */
}

void ring_reset(struct core *core, uint32_t id)
{
    struct ring *ring = &core->ring[id];

    pthread_mutex_lock(&ring->lock);
    ring->base = 0;
    ring->size = 0;
    ring->tail = 0;
    pthread_mutex_unlock(&ring->lock);
}

void ring_save(struct core *core, struct snap *snap)
{
    for (uint32_t id = 0; id < PPU_RING_COUNT; id++) {
        snap_put_u32(snap, core->ring[id].base);
        snap_put_u32(snap, core->ring[id].size);
        snap_put_u32(snap, core->ring[id].tail);
    }
}

void ring_load(struct core *core, struct snap *snap)
{
    for (uint32_t id = 0; id < PPU_RING_COUNT; id++) {
        uint32_t base = snap_get_u32(snap);
        uint32_t size = snap_get_u32(snap);
        uint32_t tail = snap_get_u32(snap);

        if (snap->bad || (size != 0 && !ring_usable(core, base, size))) {
            snap_refuse(snap, "ring %u: %u entries at 0x%x are unusable", id, size, base);
            return;
        }
        pthread_mutex_lock(&core->ring[id].lock);
        core->ring[id].base = base;
        core->ring[id].size = size;
        core->ring[id].tail = tail;
        pthread_mutex_unlock(&core->ring[id].lock);
    }
}
