/* SPDX-License-Identifier: MIT */
#include "opencl/api/record.h"

#include "opencl/api/device.h"
#include "opencl/api/queue.h"

void record_command(cl_event event)
{
    static uint32_t last_command, last_queue;

    if (!event->queue) {
        return;
    }
    event->recorded = __atomic_add_fetch(&last_command, 1, __ATOMIC_RELAXED);
    if (!ppu_record_wanted()) {
        return;
    }
    uint32_t queue = __atomic_load_n(&event->queue->recorded, __ATOMIC_RELAXED);
    if (queue == 0) {
        queue = __atomic_add_fetch(&last_queue, 1, __ATOMIC_RELAXED);
        __atomic_store_n(&event->queue->recorded, queue, __ATOMIC_RELAXED);
    }
    ppu_record(PPU_TRACE_COMMAND, 0, event->recorded, ppu_record_name(event_command_name(event)), queue);
}

void record_state(const struct _cl_event *event)
{
    if (event->recorded != 0) {
        ppu_record(PPU_TRACE_COMMAND_STATE, 0, event->recorded, (uint32_t)event->status, 0);
    }
}

void record_block(const struct _cl_event *event, const struct ppu_block *block)
{
    if (event->recorded != 0) {
        ppu_record(PPU_TRACE_COMMAND_BLOCK, ppu_block_correlation(block), event->recorded,
                   ppu_device_recorded(event->queue->device->ppu), 0);
    }
}
