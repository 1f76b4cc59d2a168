/* SPDX-License-Identifier: MIT */
#include "copy.h"

#include <string.h>

#include "dma.h"
#include "hal.h"
#include "log.h"
#include "machine.h"
#include "ppu/limits.h"
#include "ppu/ring.h"
#include "ring.h"
#include "stats.h"
#include "trace.h"

struct copy {
    struct list_node free;
    struct channel *channel; /* NULL: free */
    ppu_va_t from;
    ppu_va_t to;
    uint64_t len_bytes;
    uint64_t position; /* of the method, channel_position() */
    uint32_t correlation;
};

static struct copy copies[PPU_MAX_COPIES];
static uint32_t copies_count;
static struct list_node pool;

void copy_init(void)
{
    memset(copies, 0, sizeof(copies));
    list_init(&pool);
    copies_count = machine.copies < PPU_MAX_COPIES ? machine.copies : PPU_MAX_COPIES;
    for (uint32_t i = 0; i < copies_count; i++) {
        list_push_back(&pool, &copies[i].free);
    }
}

static uint32_t copy_tag(const struct copy *copy)
{
    return (uint32_t)(copy - copies);
}

/* Hands the copy to the device: 0 or a fault code. */
static uint16_t copy_queue(const struct copy *copy)
{
    return dma_queue_copy(copy->channel->context, copy->from, copy->to, copy->len_bytes, copy_tag(copy));
}

enum copy_result copy_start(struct channel *channel, ppu_va_t from, ppu_va_t to, uint64_t len_bytes)
{
    if (len_bytes == 0) {
        return COPY_STARTED;
    }
    if (list_empty(&pool) || !machine_allows_allocation()) {
        return COPY_NO_ROOM;
    }
    struct copy *copy = LIST_OBJECT(pool.next, struct copy, free);
    copy->channel = channel;
    copy->from = from;
    copy->to = to;
    copy->len_bytes = len_bytes;
    copy->position = channel_position(channel);
    copy->correlation = channel->block.correlation;
    uint16_t fault = copy_queue(copy);
    if (fault) {
        copy->channel = NULL;
        return fault == PPU_FAULT_QUEUE_FULL ? COPY_NO_ROOM : COPY_FAULT;
    }
    list_remove(&copy->free);
    channel_add_copy(channel);
    trace_write(PPU_TRACE_COPY, copy->correlation, channel_index(channel), copy_tag(copy), (uint32_t)len_bytes);
    return COPY_STARTED;
}

void copy_cancel(uint32_t context)
{
    hal_write(PPU_REG_DMA_CANCEL, context);
}

/* Cancelled because of another channel of the same address space: queue what is left. False: that was refused. */
static bool copy_go_on(struct copy *copy, uint64_t done_bytes)
{
    if (done_bytes >= copy->len_bytes) {
        return false;
    }
    copy->from.va += done_bytes;
    copy->to.va += done_bytes;
    copy->len_bytes -= done_bytes;
    return copy_queue(copy) == 0;
}

static void copy_failed(const struct copy *copy, const struct ppu_copy_event *event)
{
    struct ppu_error_record record = {
        .code = PPU_FAULT_COPY_MEMORY,
        .access = event->access,
        .address = event->address,
        .pc = copy->position,
        .correlation = copy->correlation,
    };
    channel_fail(copy->channel, &record);
}

static void copy_event(const struct ppu_copy_event *event)
{
    struct copy *copy = event->tag < copies_count ? &copies[event->tag] : NULL;
    if (!copy || !copy->channel) {
        log_print("copy event names no copy: %#x\n", (unsigned)event->tag);
        return;
    }
    struct channel *channel = copy->channel;
    bool stopped = channel->state == PPU_CHANNEL_FAULTED;
    if (event->status == PPU_FAULT_CANCELLED && !stopped && copy_go_on(copy, event->done_bytes)) {
        return;
    }
    trace_write(PPU_TRACE_COPY_END, copy->correlation, event->tag, event->status, (uint32_t)event->done_bytes);
    stats_count(PPU_KEY_COPIES);
    if (event->status && !stopped) {
        copy_failed(copy, event);
    }
    copy->channel = NULL;
    list_push_back(&pool, &copy->free);
    channel_remove_copy(channel);
    channel_provide(CHANNEL_NEEDS_COPY);
}

bool copy_events(uint32_t most)
{
    struct ppu_copy_event event;
    for (uint32_t i = 0; i < most; i++) {
        if (!ring_take(PPU_RING_COPY, &event)) {
            return false;
        }
        copy_event(&event);
    }
    return true;
}
