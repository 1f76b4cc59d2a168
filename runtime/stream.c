/* SPDX-License-Identifier: MIT */
#include "runtime/stream.h"

#include <stdlib.h>

#include "runtime/block.h"
#include "runtime/context.h"
#include "runtime/tmdq.h"

enum ppu_err ppu_stream_create(struct ppu_channel *channel, struct ppu_stream **out)
{
    struct ppu_stream *stream = calloc(1, sizeof(*stream));

    *out = NULL;
    if (!stream) {
        return PPU_ERR_NO_MEMORY;
    }
    enum ppu_err err = tmdq_take(channel->context, &stream->index);
    if (err != PPU_OK) {
        free(stream);
        return err;
    }
    stream->channel = channel;
    stream->tmdqs = channel->context->tmdqs;
    pthread_mutex_init(&stream->lock, NULL);
    *out = stream;
    return PPU_OK;
}

enum ppu_err ppu_stream_destroy(struct ppu_stream *stream)
{
    enum ppu_err err = PPU_OK;

    if (!stream) {
        return PPU_OK;
    }
    for (uint32_t i = 0; i < LOCAL_CLASSES; i++) {
        enum ppu_err freed = ppu_memory_free(stream->local[i]);
        err = err != PPU_OK ? err : freed;
    }
    tmdq_give(stream->tmdqs, stream->index);
    pthread_mutex_destroy(&stream->lock);
    free(stream);
    return err;
}

uint32_t ppu_stream_index(const struct ppu_stream *stream)
{
    return stream->index;
}

enum ppu_err stream_local_memory(struct ppu_stream *stream, uint64_t bytes, struct ppu_memory **memory)
{
    enum ppu_err err = PPU_OK;
    uint32_t class = 0;

    while (class < LOCAL_CLASSES - 1 && LOCAL_SMALLEST << class < bytes) {
        class ++;
    }
    pthread_mutex_lock(&stream->lock);
    if (!stream->local[class]) {
        err = ppu_memory_create(stream->channel->context, PPU_MEMORY_VRAM, LOCAL_SMALLEST << class,
                                &stream->local[class]);
    }
    *memory = stream->local[class];
    pthread_mutex_unlock(&stream->lock);
    return err;
}

/* With the stream's lock: adds the release and the interrupt that make up an event. */
static void add_event(struct ppu_stream *stream, struct ppu_block *block, struct ppu_event *event)
{
    struct ppu_channel *channel = stream->channel;

    *event = (struct ppu_event){
        .channel = channel,
        .value = *stream->fence.last + 1,
        .epoch = __atomic_load_n(&channel->epoch, __ATOMIC_RELAXED),
        .fence = stream->fence.sem,
        .fence_va = stream->fence.va,
    };
    ppu_block_release(block, event->fence_va, event->value, true);
    ppu_block_interrupt(block);
}

/* With the stream's lock: values rise in the order of submission. */
static enum ppu_err submit_locked(struct ppu_stream *stream, struct ppu_block *block, struct ppu_event *event)
{
    if (event && !stream->fence.sem) {
        enum ppu_err err = fence_find(stream->channel->context, stream->index, &stream->fence);
        if (err != PPU_OK) {
            ppu_block_cancel(block);
            return err;
        }
    }
    if (event) {
        add_event(stream, block, event);
    }
    ppu_block_commands_end(block);
    enum ppu_err err = ppu_block_submit(block, NULL);
    if (err == PPU_OK && event) {
        *stream->fence.last = event->value;
    }
    return err;
}

/* A block with commands for the stream; submit_commands() takes it. */
static enum ppu_err begin_commands(struct ppu_stream *stream, struct ppu_block **block)
{
    enum ppu_err err = ppu_block_begin(stream->channel, block);

    if (err == PPU_OK) {
        ppu_block_commands(*block, stream);
    }
    return err;
}

static enum ppu_err submit_commands(struct ppu_stream *stream, struct ppu_block *block, struct ppu_event *event)
{
    pthread_mutex_lock(&stream->lock);
    enum ppu_err err = submit_locked(stream, block, event);
    pthread_mutex_unlock(&stream->lock);
    return err;
}

enum ppu_err ppu_stream_launch(struct ppu_stream *stream, const struct ppu_kernel *kernel,
                               const struct ppu_launch *launch, struct ppu_event *event)
{
    struct ppu_block *block = NULL;
    enum ppu_err err = ppu_block_begin(stream->channel, &block);

    if (err != PPU_OK) {
        return err;
    }
    if (!event) {
        ppu_block_launch(block, stream, kernel, launch);
        return ppu_block_submit(block, NULL);
    }
    ppu_block_commands(block, stream);
    ppu_block_launch(block, stream, kernel, launch);
    return submit_commands(stream, block, event);
}

enum ppu_err ppu_stream_copy(struct ppu_stream *stream, ppu_va_t dst, ppu_va_t src, uint64_t bytes,
                             struct ppu_event *event)
{
    struct ppu_block *block = NULL;
    enum ppu_err err = begin_commands(stream, &block);

    if (err != PPU_OK) {
        return err;
    }
    ppu_block_copy(block, dst, src, bytes);
    return submit_commands(stream, block, event);
}

enum ppu_err ppu_stream_fill(struct ppu_stream *stream, ppu_va_t dst, uint32_t word, uint64_t bytes,
                             struct ppu_event *event)
{
    struct ppu_block *block = NULL;
    enum ppu_err err = begin_commands(stream, &block);

    if (err != PPU_OK) {
        return err;
    }
    ppu_block_fill(block, dst, word, bytes);
    return submit_commands(stream, block, event);
}

enum ppu_err ppu_stream_acquire(struct ppu_stream *stream, ppu_va_t sem, uint32_t value, enum ppu_sem_compare compare)
{
    struct ppu_block *block = NULL;
    enum ppu_err err = begin_commands(stream, &block);

    if (err != PPU_OK) {
        return err;
    }
    ppu_block_acquire(block, sem, value, compare);
    return submit_commands(stream, block, NULL);
}

enum ppu_err ppu_stream_release(struct ppu_stream *stream, ppu_va_t sem, uint32_t value, bool with_time)
{
    struct ppu_block *block = NULL;
    enum ppu_err err = begin_commands(stream, &block);

    if (err != PPU_OK) {
        return err;
    }
    ppu_block_release(block, sem, value, with_time);
    return submit_commands(stream, block, NULL);
}

enum ppu_err ppu_stream_event(struct ppu_stream *stream, struct ppu_event *event)
{
    struct ppu_block *block = NULL;
    enum ppu_err err = begin_commands(stream, &block);

    return err == PPU_OK ? submit_commands(stream, block, event) : err;
}

enum ppu_err ppu_stream_wait_event(struct ppu_stream *stream, const struct ppu_event *event)
{
    if (event->channel->context != stream->channel->context) {
        return PPU_ERR_BAD_ARG;
    }
    enum ppu_err err = ppu_event_wait(event, 0);
    return err == PPU_ERR_TIMEOUT ? ppu_stream_acquire(stream, event->fence_va, event->value, PPU_SEM_GREATER_EQUAL)
                                  : err;
}

enum ppu_err ppu_stream_wait(struct ppu_stream *stream, uint64_t timeout_ns)
{
    struct ppu_event event;
    enum ppu_err err = ppu_stream_event(stream, &event);

    return err == PPU_OK ? ppu_event_wait(&event, timeout_ns) : err;
}
