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

enum ppu_err ppu_stream_launch(struct ppu_stream *stream, const struct ppu_kernel *kernel,
                               const struct ppu_launch *launch, struct ppu_event *event)
{
    struct ppu_block *block = NULL;
    enum ppu_err err = ppu_block_begin(stream->channel, &block);

    if (err != PPU_OK) {
        return err;
    }
    ppu_block_launch(block, stream, kernel, launch);
    return ppu_block_submit(block, event);
}

/* A copy runs beside what follows it: the waits make it a step of the stream. */
enum ppu_err ppu_stream_copy(struct ppu_stream *stream, ppu_va_t dst, ppu_va_t src, uint64_t bytes,
                             struct ppu_event *event)
{
    struct ppu_block *block = NULL;
    enum ppu_err err = ppu_block_begin(stream->channel, &block);

    if (err != PPU_OK) {
        return err;
    }
    ppu_block_wait_idle(block);
    ppu_block_copy(block, dst, src, bytes);
    ppu_block_wait_idle(block);
    return ppu_block_submit(block, event);
}

enum ppu_err ppu_stream_wait(struct ppu_stream *stream, uint64_t timeout_ns)
{
    struct ppu_block *block = NULL;
    struct ppu_event event;
    enum ppu_err err = ppu_block_begin(stream->channel, &block);

    if (err == PPU_OK) {
        err = ppu_block_submit(block, &event);
    }
    return err == PPU_OK ? ppu_event_wait(&event, timeout_ns) : err;
}
