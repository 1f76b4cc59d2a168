/* SPDX-License-Identifier: MIT */
/* Work queues (C1): the memory that threads share with the firmware, and the channel that executes what they put
 * there. */
#include "runtime/workq.h"

#include <stdlib.h>

#include "ppu/macros.h"
#include "runtime/block.h"
#include "runtime/deadline.h"
#include "runtime/memory.h"
#include "runtime/shared.h"

#define ENTRIES_DEFAULT 1024u
#define BLOCK_DEFAULT 512u

static enum ppu_err open_workq(struct ppu_workq *queue, const struct ppu_workq_options *options)
{
    struct ppu_device *device = queue->channel.context->device;
    const uint64_t va = queue->channel.va.va;
    const uint32_t args[] = {
        queue->channel.context->id,
        (uint32_t)va,
        (uint32_t)(va >> 32),
        (uint32_t)queue->channel.memory->vram_offset,
        options->entries,
        options->block_bytes,
        options->priority,
        queue->channel.vector,
        options->first,
    };

    enum ppu_err err = admin_call(device, PPU_ADMIN_WORKQ_CREATE, args, PPU_ARRAY_SIZE(args), &queue->channel.index, 1);
    return err == PPU_OK ? channel_register(&queue->channel) : err;
}

static enum ppu_err workq_free(struct ppu_workq *queue)
{
    enum ppu_err err = memory_end(queue->channel.memory);

    pthread_mutex_destroy(&queue->channel.lock);
    free(queue);
    return err;
}

enum ppu_err ppu_workq_create(struct ppu_channel *channel, const struct ppu_workq_options *options,
                              struct ppu_workq **out)
{
    struct ppu_workq_options wanted = options ? *options : (struct ppu_workq_options){ 0 };
    struct ppu_workq *queue = calloc(1, sizeof(*queue));

    *out = NULL;
    if (!queue) {
        return PPU_ERR_NO_MEMORY;
    }
    wanted.entries = wanted.entries != 0 ? wanted.entries : ENTRIES_DEFAULT;
    wanted.block_bytes = wanted.block_bytes != 0 ? wanted.block_bytes : BLOCK_DEFAULT;
    queue->owner = channel;
    queue->channel.context = channel->context;
    queue->channel.vector = channel->vector;
    pthread_mutex_init(&queue->channel.lock, NULL);
    enum ppu_err err =
        wanted.entries > PPU_WORKQ_MAX_ENTRIES || wanted.block_bytes > PPU_WORKQ_MAX_BLOCK
            ? PPU_ERR_BAD_ARG
            : ppu_memory_create(channel->context, PPU_MEMORY_VRAM, ppu_workq_bytes(wanted.entries, wanted.block_bytes),
                                &queue->channel.memory);
    if (err == PPU_OK) {
        queue->channel.va = ppu_memory_va(queue->channel.memory, channel->context);
        err = open_workq(queue, &wanted);
    }
    if (err != PPU_OK) {
        workq_free(queue);
        return err;
    }
    *out = queue;
    return PPU_OK;
}

enum ppu_err ppu_workq_destroy(struct ppu_workq *queue)
{
    if (!queue) {
        return PPU_OK;
    }
    enum ppu_err err = channel_close(&queue->channel);
    if (err != PPU_OK && err != PPU_ERR_DEVICE_LOST) {
        return err;
    }
    enum ppu_err kept = workq_free(queue);
    return err != PPU_OK ? err : kept;
}

enum ppu_err ppu_workq_reset(struct ppu_workq *queue)
{
    enum ppu_err err = ppu_channel_reset(&queue->channel);

    if (err == PPU_OK) {
        pthread_mutex_lock(&queue->owner->lock);
        queue->rounds = 0;
        pthread_mutex_unlock(&queue->owner->lock);
    }
    return err;
}

enum ppu_err ppu_workq_error(struct ppu_workq *queue, struct ppu_error *error)
{
    return ppu_channel_error(&queue->channel, error);
}

static bool sem_passed(const struct ppu_sem *sem, uint32_t value)
{
    /* Partner: the release in a thread's block. */
    return ppu_sem_passes(PPU_SEM_GREATER_EQUAL, shared_load_acquire(&sem->payload), value);
}

enum ppu_err ppu_workq_wait(struct ppu_workq *queue, const struct ppu_sem *sem, uint32_t value, uint64_t timeout_ns)
{
    struct ppu_device *device = queue->channel.context->device;
    uint64_t deadline_ns = deadline_after(timeout_ns);

    for (;;) {
        uint64_t mark = interrupts_mark(&device->interrupts);
        if (sem_passed(sem, value)) {
            return PPU_OK;
        }
        enum ppu_err err = channel_fault(&queue->channel);
        if (err != PPU_OK) {
            return err;
        }
        err = device_wait(device, 1u << queue->channel.vector, mark, deadline_ns);
        if (err != PPU_OK) {
            return sem_passed(sem, value) ? PPU_OK : err;
        }
    }
}

ppu_va_t ppu_workq_va(const struct ppu_workq *queue)
{
    return queue->channel.va;
}

struct ppu_workq_head *ppu_workq_shared(const struct ppu_workq *queue)
{
    return ppu_memory_host(queue->channel.memory);
}

uint32_t ppu_workq_channel(const struct ppu_workq *queue)
{
    return queue->channel.index;
}
