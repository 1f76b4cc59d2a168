/* SPDX-License-Identifier: MIT */
/* Reads the flight recorders while they are written. */
#include "ppu/macros.h"
#include "runtime/device.h"
#include "runtime/shared.h"

struct recorder {
    const struct ppu_trace_ring *ring;
    const struct ppu_trace_record *records;
    uint32_t size; /* records, a power of two; 0: there is none */
};

/* Place and size are the device's word: they are looked at before they are believed. */
static struct recorder recorder_of(const struct ppu_device *device, enum ppu_trace_source source)
{
    uint32_t offset = source == PPU_TRACE_OF_DEVICE ? device->firmware.dev_trace : device->firmware.fw_trace;
    uint64_t vram_bytes = device->transport->vram_bytes;

    if (offset == 0 || offset % sizeof(struct ppu_trace_ring) != 0 ||
        offset > vram_bytes - sizeof(struct ppu_trace_ring)) {
        return (struct recorder){ 0 };
    }
    const struct ppu_trace_ring *ring = (const void *)(device->transport->vram + offset);
    uint32_t size = shared_load_acquire(&ring->size);
    uint64_t room = (vram_bytes - offset - sizeof(*ring)) / sizeof(struct ppu_trace_record);
    if (!PPU_IS_POWER_OF_TWO(size) || size > room) {
        return (struct recorder){ 0 };
    }
    return (struct recorder){ ring, (const void *)(ring + 1), size };
}

/* Partner: the writer's release of the tail. */
static uint32_t next_of(const struct recorder *recorder)
{
    return recorder->size != 0 ? shared_load_acquire(&recorder->ring->tail) : 0;
}

uint32_t ppu_trace_next(const struct ppu_device *device, enum ppu_trace_source source)
{
    const struct recorder recorder = recorder_of(device, source);

    return next_of(&recorder);
}

uint32_t ppu_trace_read(const struct ppu_device *device, enum ppu_trace_source source, uint32_t *number,
                        struct ppu_trace_record *records, uint32_t count)
{
    const struct recorder recorder = recorder_of(device, source);
    uint32_t next = next_of(&recorder);
    uint32_t taken = 0;

    if (next - *number > recorder.size) {
        *number = next - recorder.size;
    }
    while (taken < count && *number != next) {
        uint32_t at = *number & (recorder.size - 1);
        taken += ppu_trace_take(&recorder.records[at], (*number)++, &records[taken]) != 0;
    }
    return taken;
}
