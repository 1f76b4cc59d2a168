/* SPDX-License-Identifier: MIT */
#include "firmware/copy.h"

#include <string.h>

#include "firmware/caps.h"
#include "firmware/commands.h"
#include "firmware/dma.h"
#include "firmware/hal.h"
#include "firmware/hooks.h"
#include "firmware/log.h"
#include "firmware/quota.h"
#include "firmware/stats.h"
#include "firmware/trace.h"
#include "ppu/limits.h"
#include "ppu/macros.h"

struct copy {
    struct list_node node;   /* of the pool, or of its channel's copies */
    struct channel *channel; /* NULL: free */
    struct task *task;       /* whose command it is; NULL: the channel's own, or the task has been cancelled */
    uint64_t position;       /* of the method, channel_position() */
    uint32_t correlation;
};

static struct copy copies[PPU_MAX_COPIES];
static uint32_t copies_count;
static struct list_node pool;

void copy_init(void)
{
    memset(copies, 0, sizeof(copies));
    list_init(&pool);
    copies_count = PPU_MIN(caps.copies, PPU_MAX_COPIES);
    quota_total(PPU_RESOURCE_COPIES, copies_count);
    for (uint32_t i = 0; i < copies_count; i++) {
        list_push_back(&pool, &copies[i].node);
    }
}

static uint32_t copy_tag(const struct copy *copy)
{
    return (uint32_t)(copy - copies);
}

/* With channel, task, position and correlation of a copy that is to begin. */
static enum copy_result start(const struct copy *begun, ppu_va_t from, ppu_va_t to, uint64_t len_bytes)
{
    struct channel *channel = begun->channel;
    if (len_bytes == 0) {
        return COPY_STARTED;
    }
    if (!hooks_allow_allocation() || !quota_take(PPU_RESOURCE_COPIES, channel->context)) {
        return COPY_NO_ROOM;
    }
    struct copy *copy = PPU_CONTAINER_OF(pool.next, struct copy, node);
    copy->channel = channel;
    copy->task = begun->task;
    copy->position = begun->position;
    copy->correlation = begun->correlation;
    uint16_t fault = dma_queue_copy(channel->context, from, to, len_bytes, copy_tag(copy));
    if (fault) {
        quota_give(PPU_RESOURCE_COPIES, channel->context);
        copy->channel = NULL;
        return fault == PPU_FAULT_COPY_QUEUE_FULL ? COPY_NO_ROOM : COPY_FAULT;
    }
    list_remove(&copy->node);
    channel_add_copy(channel, &copy->node);
    trace_write(PPU_TRACE_COPY, copy->correlation, channel_index(channel), copy_tag(copy), (uint32_t)len_bytes);
    return COPY_STARTED;
}

enum copy_result copy_start(struct channel *channel, ppu_va_t from, ppu_va_t to, uint64_t len_bytes)
{
    const struct copy begun = {
        .channel = channel,
        .position = channel_position(channel),
        .correlation = channel->block.correlation,
    };
    return start(&begun, from, to, len_bytes);
}

enum copy_result copy_start_of(struct task *task, uint64_t position, ppu_va_t from, ppu_va_t to, uint64_t len_bytes)
{
    const struct copy begun = {
        .channel = task->channel,
        .task = task,
        .position = position,
        .correlation = task->correlation,
    };
    return start(&begun, from, to, len_bytes);
}

void copy_cancel(const struct channel *channel)
{
    for (struct list_node *node = channel->copies.next; node != &channel->copies; node = node->next) {
        struct copy *copy = PPU_CONTAINER_OF(node, struct copy, node);
        copy->task = NULL;
        hal_write(PPU_REG_DMA_CANCEL, copy_tag(copy));
    }
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

void copy_event(const union ring_entry *entry)
{
    const struct ppu_copy_event *event = &entry->copy;
    struct copy *copy = event->tag < copies_count ? &copies[event->tag] : NULL;
    if (!copy || !copy->channel) {
        log_print("copy event names no copy: %#x\n", (unsigned)event->tag);
        return;
    }
    struct channel *channel = copy->channel;
    bool stopped = channel->state == PPU_CHANNEL_FAULTED;
    trace_write(PPU_TRACE_COPY_END, copy->correlation, event->tag, event->status, (uint32_t)event->done_bytes);
    stats_count(PPU_KEY_COPIES);
    if (event->status && !stopped) {
        copy_failed(copy, event);
    }
    copy->channel = NULL;
    if (copy->task) {
        commands_go_on(copy->task);
    }
    channel_remove_copy(channel, &copy->node);
    list_push_back(&pool, &copy->node);
    quota_give(PPU_RESOURCE_COPIES, channel->context);
    channel_provide(CHANNEL_NEEDS_COPY);
    commands_copy_ended();
}
