/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The device's flight recorder (trace.h), written by every thread of the device, one at a time.
 */
#include "qemu-device/core/memory/trace.h"
#include "ppu/macros.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/regs.h"
#include "qemu-device/core/snapshot.h"

static uint8_t *record_at(const struct core *core, uint32_t n)
{
    const struct trace *trace = &core->trace;

    return core->vram + trace->base + sizeof(struct ppu_trace_ring) +
           (size_t)(n & (trace->size - 1)) * sizeof(struct ppu_trace_record);
}

static void append_record(struct core *core, const struct ppu_trace_record *record)
{
    const size_t sequence_at = offsetof(struct ppu_trace_record, sequence);
    uint32_t n = core->trace.next++;
    uint8_t *at = record_at(core, n);

    vram_store_release32(at + sequence_at, PPU_TRACE_TORN(n));
    vram_fence_stores(); /* a reader that sees a new word sees the torn sequence too */
    vram_copy(at, (const uint8_t *)record, sequence_at);
    vram_store_release32(at + sequence_at, n);
    vram_store_release32(core->vram + core->trace.base + offsetof(struct ppu_trace_ring, tail), n + 1);
}

bool trace_begin(struct core *core)
{
    if (__atomic_load_n(&core->trace.size, __ATOMIC_RELAXED) == 0) {
        return false;
    }
    pthread_mutex_lock(&core->trace.lock);
    if (core->trace.size == 0) {
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

    append_record(core, &record);
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

static void trace_set(struct core *core, uint32_t base, uint32_t size, uint32_t next)
{
    pthread_mutex_lock(&core->trace.lock);
    core->trace.base = base;
    core->trace.next = next;
    __atomic_store_n(&core->trace.size, size, __ATOMIC_RELAXED);
    __atomic_store_n(&core->trace.warps_until,
                     size != 0 ? core->vram + base + offsetof(struct ppu_trace_ring, warps_until) : NULL,
                     __ATOMIC_RELEASE); /* partner: trace_wants_warps() */
    pthread_mutex_unlock(&core->trace.lock);
}

void trace_setup(struct core *core)
{
    uint32_t base = reg_get(core, PPU_REG_TRACE_BASE);
    uint32_t size = reg_get(core, PPU_REG_TRACE_SIZE);
    const struct ppu_trace_ring header = {
        .head = { .version = PPU_TRACE_VERSION, .size_bytes = sizeof(struct ppu_trace_record) },
        .size = size,
    };

    trace_reset(core);
    if (size == 0) {
        return;
    }
    if (!trace_usable(core, base, size)) {
        core_guest_error(core, "trace ring: %u records at 0x%x are unusable", size, base);
        core_device_error(core, PPU_DEVERR_TRACE);
        return;
    }
    vram_copy(core->vram + base, (const uint8_t *)&header, sizeof(header));
    trace_set(core, base, size, 0);
}

void trace_reset(struct core *core)
{
    trace_set(core, 0, 0, 0);
}

void trace_save(struct core *core, struct snap *snap)
{
    snap_put_u32(snap, core->trace.base);
    snap_put_u32(snap, core->trace.size);
    snap_put_u32(snap, core->trace.next);
}

void trace_load(struct core *core, struct snap *snap)
{
    uint32_t base = snap_get_u32(snap);
    uint32_t size = snap_get_u32(snap);
    uint32_t next = snap_get_u32(snap);

    if (snap->bad || (size != 0 && !trace_usable(core, base, size))) {
        snap_refuse(snap, "%u records at 0x%x are unusable", size, base);
        return;
    }
    trace_set(core, base, size, next);
}
