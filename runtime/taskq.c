/* SPDX-License-Identifier: MIT */
#include "runtime/taskq.h"

#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "runtime/channel.h"
#include "runtime/memory.h"
#include "runtime/shared.h"

#define ENTRIES_DEFAULT 256u
#define TICKET_TRIES 4096u /* each is lost to another producer, or to a kernel that scribbles on the tail */

static struct ppu_taskq_head *head_of(const struct ppu_taskq *queue)
{
    return ppu_memory_host(queue->memory);
}

static struct ppu_taskq_entry *entry_of(const struct ppu_taskq *queue, uint32_t ticket)
{
    uint8_t *first = (uint8_t *)(head_of(queue) + 1);

    return (struct ppu_taskq_entry *)(void *)(first + (uint64_t)(ticket % queue->entries) * queue->entry_bytes);
}

/* Every cell is free for the ticket that comes to it first; the first can be taken when all are. */
static void fill_cells(const struct ppu_taskq *queue)
{
    struct ppu_taskq_head *head = head_of(queue);

    *head = (struct ppu_taskq_head){
        .head = { PPU_TASKQ_VERSION, sizeof(struct ppu_taskq_head) },
        .entries = queue->entries,
        .entry_bytes = queue->entry_bytes,
        .number = queue->number,
        .tail = PPU_TASKQ_CLOSED,
    };
    for (uint32_t i = 0; i < queue->entries; i++) {
        *entry_of(queue, i) = (struct ppu_taskq_entry){ .sequence = i };
    }
    shared_store_release(&head->tail, 0);
}

static enum ppu_err open_queue(struct ppu_taskq *queue)
{
    uint64_t bytes = PPU_TASKQ_BYTES(queue->entries, queue->entry_bytes);
    enum ppu_err err = ppu_memory_create(queue->context, PPU_MEMORY_VRAM, bytes, &queue->memory);

    if (err != PPU_OK) {
        return err;
    }
    const uint32_t args[] = { queue->context->id, (uint32_t)queue->memory->vram_offset, queue->entries,
                              queue->entry_bytes };
    err = admin_call(queue->context->device, PPU_ADMIN_TASKQ_OPEN, args, 4, &queue->number, 1);
    if (err != PPU_OK) {
        ppu_memory_free(queue->memory);
        return err;
    }
    fill_cells(queue);
    return PPU_OK;
}

enum ppu_err ppu_taskq_create(struct ppu_context *context, const struct ppu_taskq_options *options,
                              struct ppu_taskq **out)
{
    uint32_t entries = options->entries != 0 ? options->entries : ENTRIES_DEFAULT;

    *out = NULL;
    if (entries < PPU_TASKQ_MIN_ENTRIES || entries > PPU_TASKQ_MAX_ENTRIES || !PPU_IS_POWER_OF_TWO(entries) ||
        options->data_bytes > PPU_TASKQ_MAX_ENTRY_BYTES - sizeof(struct ppu_taskq_entry)) {
        return PPU_ERR_BAD_ARG;
    }
    struct ppu_taskq *queue = calloc(1, sizeof(*queue));
    if (!queue) {
        return PPU_ERR_NO_MEMORY;
    }
    queue->context = context;
    queue->entries = entries;
    queue->entry_bytes =
        (uint32_t)sizeof(struct ppu_taskq_entry) + ppu_align_up(options->data_bytes, PPU_TASKQ_ENTRY_ALIGN);
    enum ppu_err err = open_queue(queue);
    if (err != PPU_OK) {
        free(queue);
        return err;
    }
    *out = queue;
    return PPU_OK;
}

enum ppu_err ppu_taskq_destroy(struct ppu_taskq *queue)
{
    if (!queue) {
        return PPU_OK;
    }
    enum ppu_err err = admin_call(queue->context->device, PPU_ADMIN_TASKQ_CLOSE, &queue->number, 1, NULL, 0);
    if (err != PPU_OK && err != PPU_ERR_DEVICE_LOST) {
        return err;
    }
    enum ppu_err kept = memory_end(queue->memory);
    free(queue);
    return err != PPU_OK ? err : kept;
}

enum ppu_err ppu_taskq_reopen(struct ppu_taskq *queue)
{
    enum ppu_err err = admin_call(queue->context->device, PPU_ADMIN_TASKQ_REOPEN, &queue->number, 1, NULL, 0);

    if (err == PPU_OK) {
        fill_cells(queue);
    }
    return err;
}

ppu_va_t ppu_taskq_va(const struct ppu_taskq *queue)
{
    return ppu_memory_va(queue->memory, queue->context);
}

/* ---- producer ---- */

/* Takes the next ticket, when its cell is free. Pairs with the CTA that frees the cell (release). */
static enum ppu_err take_ticket(const struct ppu_taskq *queue, uint32_t *ticket)
{
    uint32_t *tail = &head_of(queue)->tail;

    for (uint32_t tries = 0; tries < TICKET_TRIES; tries++) {
        uint32_t seen = shared_load_acquire(tail);
        *ticket = PPU_TASKQ_TICKET(seen);
        if (seen & PPU_TASKQ_CLOSED) {
            return PPU_ERR_CLOSED;
        }
        if (shared_load_acquire(&entry_of(queue, *ticket)->sequence) == *ticket) {
            if (shared_replace(tail, seen, seen + 2u)) {
                return PPU_OK;
            }
        } else if (shared_load_acquire(tail) == seen) {
            return PPU_ERR_BUSY;
        }
    }
    return PPU_ERR_BUSY;
}

/* Entries may have been published: tells the task that waits to be told. Pairs with the firmware's arming. */
static enum ppu_err tell(struct ppu_taskq *queue, struct ppu_channel *channel)
{
    uint32_t *armed = &head_of(queue)->armed;
    uint32_t task = shared_exchange(armed, PPU_TASK_NULL);
    struct ppu_block *block = NULL;

    if (task == PPU_TASK_NULL) {
        return PPU_OK;
    }
    enum ppu_err err = ppu_block_begin(channel, &block);
    if (err == PPU_OK) {
        ppu_block_feed(block, queue);
        err = ppu_block_submit(block, NULL);
    }
    if (err != PPU_OK) {
        shared_store_release(armed, task); /* for the next producer to tell */
    }
    return err;
}

enum ppu_err ppu_taskq_push(struct ppu_taskq *queue, struct ppu_channel *channel, const void *data, uint32_t bytes)
{
    uint32_t ticket = 0;

    if (bytes > queue->entry_bytes - sizeof(struct ppu_taskq_entry) || channel->context != queue->context) {
        return PPU_ERR_BAD_ARG;
    }
    enum ppu_err err = take_ticket(queue, &ticket);
    if (err != PPU_OK) {
        return err;
    }
    struct ppu_taskq_entry *entry = entry_of(queue, ticket);
    entry->kind = PPU_TASKQ_DATA;
    entry->task = PPU_TASK_NULL;
    if (bytes != 0) {
        memcpy(entry + 1, data, bytes);
    }
    shared_store_release(&entry->sequence, (ticket + 1) & PPU_TASKQ_TICKET_MASK);
    return tell(queue, channel);
}

enum ppu_err ppu_taskq_close(struct ppu_taskq *queue, struct ppu_channel *channel)
{
    if (channel->context != queue->context) {
        return PPU_ERR_BAD_ARG;
    }
    shared_or(&head_of(queue)->tail, PPU_TASKQ_CLOSED);
    return tell(queue, channel);
}
