/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The device's flight recorder (trace.h), written by every thread of the device, one at a time.
 */
#include "qemu-device/core/memory/trace.h"
#include "ppu/macros.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/history.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/regs.h"
#include "qemu-device/core/snapshot.h"

static uint8_t *record_at(const struct core *core, const struct trace_ring *ring, uint32_t n)
{
    return core->vram + ring->base + sizeof(struct ppu_trace_ring) +
           (size_t)(n & (ring->size - 1)) * sizeof(struct ppu_trace_record);
}

static void append_record(struct core *core, struct trace_ring *ring, const struct ppu_trace_record *record)
{
    const size_t sequence_at = offsetof(struct ppu_trace_record, sequence);
    uint32_t n = ring->next++;
    uint8_t *at = record_at(core, ring, n);

    vram_store_release32(at + sequence_at, PPU_TRACE_TORN(n));
    vram_fence_stores(); /* a reader that sees a new word sees the torn sequence too */
    vram_copy(at, (const uint8_t *)record, sequence_at);
    vram_store_release32(at + sequence_at, n);
    vram_store_release32(core->vram + ring->base + offsetof(struct ppu_trace_ring, tail), n + 1);
}

bool trace_begin(struct core *core)
{
    if (__atomic_load_n(&core->trace.ring.size, __ATOMIC_RELAXED) == 0 || history_runs(core)) {
        return false;
    }
    pthread_mutex_lock(&core->trace.lock);
    if (core->trace.ring.size == 0) {
        pthread_mutex_unlock(&core->trace.lock);
        return false;
    }
    return true;
}

void trace_add(struct core *core, uint64_t time_ns, enum ppu_trace_type type, uint32_t correlation, uint32_t id0,
               uint32_t id1, uint32_t id2)
{
    const struct ppu_trace_record record = {
        .version = PPU_TRACE_VERSION,
        .size_bytes = sizeof(record),
        .type = (uint16_t)type,
        .correlation = correlation,
        .time_ns = time_ns,
        .id = { id0, id1, id2 },
    };

    append_record(core, &core->trace.ring, &record);
}

void trace_end(struct core *core)
{
    pthread_mutex_unlock(&core->trace.lock);
}

void trace_emit(struct core *core, enum ppu_trace_type type, uint32_t correlation, uint32_t id0, uint32_t id1,
                uint32_t id2)
{
    if (trace_begin(core)) {
        trace_add(core, core_now(core), type, correlation, id0, id1, id2);
        trace_end(core);
    }
}

void trace_mark(struct core *core, uint32_t mark, uint32_t unit)
{
    trace_emit(core, PPU_TRACE_MARK, 0, mark, unit, 0);
}

void trace_add_firmware(struct core *core, uint32_t mcu_addr)
{
    struct ppu_trace_words words;
    uint8_t *at = core->ops.mcu_mem(core->opaque, mcu_addr, sizeof(words));

    if (!at) {
        core_guest_error(core, "FW_TRACE_ADD: no record at 0x%x", mcu_addr);
        core_device_error(core, PPU_DEVERR_TRACE);
        return;
    }
    vram_copy((uint8_t *)&words, at, sizeof(words));
    words.time_ns = core_now(core);
    vram_copy(at + offsetof(struct ppu_trace_words, time_ns), (const uint8_t *)&words.time_ns, sizeof(words.time_ns));
    if (core->trace.firmware.size == 0) {
        return;
    }
    const struct ppu_trace_record record = {
        .version = PPU_TRACE_VERSION,
        .size_bytes = sizeof(record),
        .type = (uint16_t)words.type,
        .correlation = words.correlation,
        .time_ns = words.time_ns,
        .id = { words.id[0], words.id[1], words.id[2] },
    };
    append_record(core, &core->trace.firmware, &record);
}

bool trace_wants_warps(const struct core *core)
{
    /* Partner: trace_set(), after the head was written. */
    const uint8_t *until = __atomic_load_n(&core->trace.warps_until, __ATOMIC_ACQUIRE);
    uint32_t wanted = until ? vram_load_acquire32(until) : 0;

    return wanted != 0 && (int32_t)(wanted - (uint32_t)(core_now(core) >> PPU_TRACE_WARPS_SHIFT)) > 0;
}

static bool trace_usable(const struct core *core, uint32_t base, uint32_t size)
{
    uint64_t bytes = sizeof(struct ppu_trace_ring) + (uint64_t)size * sizeof(struct ppu_trace_record);

    return PPU_IS_POWER_OF_TWO(size) && base % sizeof(struct ppu_trace_ring) == 0 &&
           core_protected_has(core, base, bytes);
}

static void trace_set(struct core *core, struct trace_ring ring)
{
    pthread_mutex_lock(&core->trace.lock);
    core->trace.ring.base = ring.base;
    core->trace.ring.next = ring.next;
    __atomic_store_n(&core->trace.ring.size, ring.size, __ATOMIC_RELAXED);
    __atomic_store_n(&core->trace.warps_until,
                     ring.size != 0 ? core->vram + ring.base + offsetof(struct ppu_trace_ring, warps_until) : NULL,
                     __ATOMIC_RELEASE); /* partner: trace_wants_warps() */
    pthread_mutex_unlock(&core->trace.lock);
}

/* Makes the head of a ring that begins; one without records where there is none, or the registers are wrong. */
static struct trace_ring trace_ring_begin(struct core *core, uint32_t base, uint32_t size)
{
    const struct ppu_trace_ring header = {
        .head = { .version = PPU_TRACE_VERSION, .size_bytes = sizeof(struct ppu_trace_record) },
        .size = size,
    };

    if (size == 0) {
        return (struct trace_ring){ 0 };
    }
    if (!trace_usable(core, base, size)) {
        core_guest_error(core, "trace ring: %u records at 0x%x are unusable", size, base);
        core_device_error(core, PPU_DEVERR_TRACE);
        return (struct trace_ring){ 0 };
    }
    vram_copy(core->vram + base, (const uint8_t *)&header, sizeof(header));
    return (struct trace_ring){ .base = base, .size = size };
}

void trace_setup(struct core *core)
{
    trace_set(core, (struct trace_ring){ 0 });
    trace_set(core, trace_ring_begin(core, reg_get(core, PPU_REG_TRACE_BASE), reg_get(core, PPU_REG_TRACE_SIZE)));
}

void trace_setup_firmware(struct core *core)
{
    core->trace.firmware =
        trace_ring_begin(core, reg_get(core, PPU_REG_FW_TRACE_BASE), reg_get(core, PPU_REG_FW_TRACE_SIZE));
}

void trace_reset(struct core *core)
{
    trace_set(core, (struct trace_ring){ 0 });
    core->trace.firmware = (struct trace_ring){ 0 };
}

static void trace_ring_save(struct snap *snap, struct trace_ring ring)
{
    snap_put_u32(snap, ring.base);
    snap_put_u32(snap, ring.size);
    snap_put_u32(snap, ring.next);
}

static struct trace_ring trace_ring_load(struct core *core, struct snap *snap)
{
    struct trace_ring ring = { 0 };

    ring.base = snap_get_u32(snap);
    ring.size = snap_get_u32(snap);
    ring.next = snap_get_u32(snap);
    if (!snap->bad && ring.size != 0 && !trace_usable(core, ring.base, ring.size)) {
        snap_refuse(snap, "%u records at 0x%x are unusable", ring.size, ring.base);
    }
    return ring;
}

void trace_save(struct core *core, struct snap *snap)
{
    trace_ring_save(snap, core->trace.ring);
    trace_ring_save(snap, core->trace.firmware);
}

void trace_load(struct core *core, struct snap *snap)
{
    const struct trace_ring ring = trace_ring_load(core, snap), firmware = trace_ring_load(core, snap);

    if (!snap->bad) {
        trace_set(core, ring);
        core->trace.firmware = firmware;
    }
}
