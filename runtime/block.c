/* SPDX-License-Identifier: MIT */
#include "runtime/block.h"

#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "ppu/nest.h"
#include "runtime/stream.h"
#include "runtime/taskq.h"
#include "runtime/workq.h"

#define HEADER_WORDS ((uint32_t)(sizeof(struct ppu_block_header) / 4))
#define PARAM_ALIGN 16u
#define COPY_MAX_BYTES 0xfffff000u /* of one method: its length is one word */
/* Methods that an event adds: wait for idle, release, interrupt. */
#define EVENT_WORDS (1u + 5u + 1u)

enum ppu_err ppu_block_begin(struct ppu_channel *channel, struct ppu_block **out)
{
    struct ppu_block *block = malloc(sizeof(*block));

    *out = block;
    if (!block) {
        return PPU_ERR_NO_MEMORY;
    }
    block->channel = channel;
    block->error = PPU_OK;
    block->correlation = device_new_correlation(channel->context->device);
    block->length = HEADER_WORDS;
    block->data_bytes = 0;
    block->launches = 0;
    block->workq = NULL;
    block->commands_word = 0;
    block->commands_launch = false;
    return PPU_OK;
}

void ppu_block_cancel(struct ppu_block *block)
{
    free(block);
}

uint32_t ppu_block_correlation(const struct ppu_block *block)
{
    return block->correlation;
}

void block_fail(struct ppu_block *block, enum ppu_err error)
{
    if (block->error == PPU_OK) {
        block->error = error;
    }
}

/* ---- methods ---- */

static void add_method(struct ppu_block *block, uint32_t method, const uint32_t *words, uint32_t count,
                       uint32_t limit_words)
{
    if (block->length + 1 > limit_words || count > limit_words - block->length - 1) {
        block_fail(block, PPU_ERR_NO_RESOURCE);
        return;
    }
    block->words[block->length++] = PPU_METHOD_WORD(method, count);
    for (uint32_t i = 0; i < count; i++) {
        block->words[block->length++] = words[i];
    }
}

/* May stand among commands. */
static bool is_command(uint32_t method)
{
    const uint32_t commands = 1u << PPU_METHOD_NOP | 1u << PPU_METHOD_SEM_ACQUIRE | 1u << PPU_METHOD_SEM_RELEASE |
                              1u << PPU_METHOD_COPY | 1u << PPU_METHOD_FILL | 1u << PPU_METHOD_INTERRUPT;

    return method < 32 && (commands >> method & 1u) != 0;
}

static void begin_list(struct ppu_block *block, uint32_t stream)
{
    const uint32_t word = block->length;

    add_method(block, PPU_METHOD_ENQUEUE, &stream, 1, PPU_BLOCK_MAX_WORDS - EVENT_WORDS);
    block->commands_word = word;
    block->commands_launch = false;
}

static void end_list(struct ppu_block *block)
{
    const uint32_t count = block->length - block->commands_word - 1;

    if (count == 1) {
        block->length = block->commands_word; /* nothing was added */
    } else if (block->error == PPU_OK) {
        block->words[block->commands_word] = PPU_METHOD_WORD(PPU_METHOD_ENQUEUE, count);
    }
    block->commands_word = 0;
    block->commands_launch = false;
}

static uint32_t list_stream(const struct ppu_block *block)
{
    return block->words[block->commands_word + 1];
}

/* What follows is another task of the stream. */
static void next_list(struct ppu_block *block)
{
    const uint32_t stream = list_stream(block);

    end_list(block);
    begin_list(block, stream);
}

/* For a method of so many data words, when a launch is in the list. */
static bool list_has_room(const struct ppu_block *block, uint32_t count)
{
    return block->length - block->commands_word - 2 + 1 + count <= PPU_ENQUEUE_GRID_WORDS;
}

void ppu_block_method(struct ppu_block *block, uint32_t method, const uint32_t *words, uint32_t count)
{
    if (method > PPU_METHOD_ID(~0u) || count > PPU_METHOD_COUNT(~0u)) {
        block_fail(block, PPU_ERR_BAD_ARG);
        return;
    }
    if (is_command(method) ? method == PPU_METHOD_FILL && block->commands_word == 0 : block->commands_word != 0) {
        block_fail(block, PPU_ERR_BAD_ARG);
        return;
    }
    if (block->commands_launch && !list_has_room(block, count)) {
        next_list(block);
    }
    add_method(block, method, words, count, PPU_BLOCK_MAX_WORDS - EVENT_WORDS);
}

void ppu_block_commands(struct ppu_block *block, struct ppu_stream *stream)
{
    if (stream->channel->context != block->channel->context) {
        block_fail(block, PPU_ERR_BAD_ARG);
        return;
    }
    if (block->commands_word != 0) {
        block_fail(block, PPU_ERR_BAD_ARG);
        return;
    }
    begin_list(block, stream->index);
}

void ppu_block_commands_end(struct ppu_block *block)
{
    if (block->commands_word == 0) {
        block_fail(block, PPU_ERR_BAD_ARG);
        return;
    }
    end_list(block);
}

/* Among commands, which have room for a launch: one in each list. */
static void list_launch(struct ppu_block *block, const uint32_t words[3])
{
    if (block->commands_launch || !list_has_room(block, 3)) {
        next_list(block);
    }
    add_method(block, PPU_METHOD_LAUNCH, words, 3, PPU_BLOCK_MAX_WORDS - EVENT_WORDS);
    block->commands_launch = true;
}

/* `listed`: its parameters leave room for a list. */
static void add_launch(struct ppu_block *block, ppu_va_t tmd, uint32_t stream, bool listed)
{
    const uint32_t words[] = { (uint32_t)tmd.va, (uint32_t)(tmd.va >> 32), stream };
    const bool in_list = block->commands_word != 0;

    if (in_list && stream != list_stream(block)) {
        block_fail(block, PPU_ERR_BAD_ARG);
    } else if (in_list && listed) {
        list_launch(block, words);
    } else {
        if (in_list) {
            end_list(block);
        }
        ppu_block_method(block, PPU_METHOD_LAUNCH, words, 3);
        if (in_list) {
            begin_list(block, stream);
        }
    }
}

void ppu_block_launch_tmd(struct ppu_block *block, ppu_va_t tmd, uint32_t stream)
{
    add_launch(block, tmd, stream, false);
}

void ppu_block_copy(struct ppu_block *block, ppu_va_t dst, ppu_va_t src, uint64_t bytes)
{
    uint64_t step = 0;

    for (uint64_t done = 0; done < bytes && block->error == PPU_OK; done += step) {
        step = bytes - done < COPY_MAX_BYTES ? bytes - done : COPY_MAX_BYTES;
        const uint64_t from = src.va + done;
        const uint64_t to = dst.va + done;
        const uint32_t words[] = {
            (uint32_t)from, (uint32_t)(from >> 32), (uint32_t)to, (uint32_t)(to >> 32), (uint32_t)step,
        };
        ppu_block_method(block, PPU_METHOD_COPY, words, 5);
    }
}

void ppu_block_fill(struct ppu_block *block, ppu_va_t dst, uint32_t word, uint64_t bytes)
{
    uint64_t step = 0;

    if (dst.va % sizeof(word) != 0 || bytes % sizeof(word) != 0) {
        block_fail(block, PPU_ERR_BAD_ARG);
    }
    for (uint64_t done = 0; done < bytes && block->error == PPU_OK; done += step) {
        step = bytes - done < COPY_MAX_BYTES ? bytes - done : COPY_MAX_BYTES;
        const uint64_t to = dst.va + done;
        const uint32_t words[] = { (uint32_t)to, (uint32_t)(to >> 32), (uint32_t)step, word };
        ppu_block_method(block, PPU_METHOD_FILL, words, 4);
    }
}

void ppu_block_acquire(struct ppu_block *block, ppu_va_t sem, uint32_t value, enum ppu_sem_compare compare)
{
    const uint32_t words[] = { (uint32_t)sem.va, (uint32_t)(sem.va >> 32), value, (uint32_t)compare };

    ppu_block_method(block, PPU_METHOD_SEM_ACQUIRE, words, 4);
}

void ppu_block_release(struct ppu_block *block, ppu_va_t sem, uint32_t value, bool with_time)
{
    const uint32_t words[] = { (uint32_t)sem.va, (uint32_t)(sem.va >> 32), value, with_time ? 1u : 0u };

    ppu_block_method(block, PPU_METHOD_SEM_RELEASE, words, 4);
}

void ppu_block_wait_idle(struct ppu_block *block)
{
    ppu_block_method(block, PPU_METHOD_WAIT_IDLE, NULL, 0);
}

void ppu_block_interrupt(struct ppu_block *block)
{
    ppu_block_method(block, PPU_METHOD_INTERRUPT, NULL, 0);
}

/* The number of the round is known, and filled in, when the block is submitted. */
void ppu_block_round(struct ppu_block *block, struct ppu_workq *queue)
{
    if (block->workq || queue->owner != block->channel) {
        block_fail(block, PPU_ERR_BAD_ARG);
        return;
    }
    const uint64_t x = queue->channel.va.va + offsetof(struct ppu_workq_head, x);
    const uint64_t y = queue->channel.va.va + offsetof(struct ppu_workq_head, y);
    const uint32_t release[] = { (uint32_t)x, (uint32_t)(x >> 32), 0, 0 };
    const uint32_t acquire[] = { (uint32_t)y, (uint32_t)(y >> 32), 0,
                                 PPU_SEM_EQUAL | PPU_SEM_FROM(queue->channel.index) };

    ppu_block_wait_idle(block);
    block->workq = queue;
    block->round_word = block->length;
    ppu_block_method(block, PPU_METHOD_SEM_RELEASE, release, 4);
    ppu_block_method(block, PPU_METHOD_SEM_ACQUIRE, acquire, 4);
}

void ppu_block_feed(struct ppu_block *block, const struct ppu_taskq *queue)
{
    ppu_block_method(block, PPU_METHOD_FEED, &queue->number, 1);
}

/* ---- what methods point to ---- */

/* Offset of `bytes` in the data, UINT32_MAX when there is no room. */
static uint32_t take_data(struct ppu_block *block, uint32_t bytes, uint32_t align)
{
    uint32_t offset = ppu_align_up(block->data_bytes, align);

    if (offset > BLOCK_DATA_BYTES || bytes > BLOCK_DATA_BYTES - offset) {
        block_fail(block, PPU_ERR_NO_RESOURCE);
        return UINT32_MAX;
    }
    /* Nothing of an earlier use of this memory goes to the device. */
    memset(block->data + block->data_bytes, 0, offset - block->data_bytes);
    block->data_bytes = offset + bytes;
    return offset;
}

void block_launch_inline(struct ppu_block *block, const struct ppu_tmd *tmd, const void *params, uint32_t stream)
{
    if (block->launches == BLOCK_MAX_LAUNCHES) {
        block_fail(block, PPU_ERR_NO_RESOURCE);
    }
    uint32_t tmd_at = take_data(block, sizeof(*tmd), PPU_TMD_ALIGN);
    uint32_t param_at = take_data(block, tmd->param_bytes, PARAM_ALIGN);
    if (block->error != PPU_OK) {
        return;
    }
    memcpy(block->data + tmd_at, tmd, sizeof(*tmd));
    if (tmd->param_bytes > 0) {
        memcpy(block->data + param_at, params, tmd->param_bytes);
    }
    const uint32_t room = (tmd->flags & PPU_TMD_NEST) != 0 ? PPU_NEST_MAX_PARAM : PPU_MAX_PARAM;
    add_launch(block, (ppu_va_t){ 0 }, stream, tmd->param_bytes <= room - PPU_ENQUEUE_GRID_BYTES);
    if (block->error != PPU_OK) {
        return;
    }
    /* The launch is the last method, or stands before the list that follows it. */
    const uint32_t end = block->commands_word != 0 && !block->commands_launch ? block->commands_word : block->length;
    block->launch[block->launches].word = end - 3;
    block->launch[block->launches].tmd = tmd_at;
    block->launch[block->launches].param = param_at;
    block->launches++;
}

/* ---- submission ---- */

static uint32_t data_offset(const struct ppu_block *block)
{
    return ppu_align_up(block->length * 4u, PPU_TMD_ALIGN);
}

static void patch_launches(struct ppu_block *block, uint64_t data_va)
{
    for (uint32_t i = 0; i < block->launches; i++) {
        uint64_t tmd_va = data_va + block->launch[i].tmd;
        uint64_t param_va = data_va + block->launch[i].param;
        block->words[block->launch[i].word] = (uint32_t)tmd_va;
        block->words[block->launch[i].word + 1] = (uint32_t)(tmd_va >> 32);
        memcpy(block->data + block->launch[i].tmd + offsetof(struct ppu_tmd, param_va), &param_va, sizeof(param_va));
    }
}

static void patch_round(struct ppu_block *block)
{
    if (block->workq) {
        uint32_t *release = &block->words[block->round_word];
        uint32_t *acquire = release + 5;
        release[3] = ++block->workq->rounds;
        acquire[3] = block->workq->rounds;
    }
}

static void write_header(struct ppu_block *block)
{
    const struct ppu_block_header header = {
        .head = { PPU_BLOCK_VERSION, sizeof(header) },
        .len_words = block->length,
        .correlation = block->correlation,
    };

    memcpy(block->words, &header, sizeof(header));
}

static void write_chunk(struct ppu_block *block, const struct channel_chunk *chunk)
{
    uint32_t offset = data_offset(block);

    patch_launches(block, chunk->va + offset);
    patch_round(block);
    write_header(block);
    memcpy(chunk->host, block->words, block->length * 4u);
    memcpy(chunk->host + offset, block->data, block->data_bytes);
}

/* With the channel's lock: fence values rise in the order of submission. */
static void add_event(struct ppu_block *block, struct ppu_event *event)
{
    struct ppu_channel *channel = block->channel;
    const uint32_t value = channel->fence_value + 1;
    const uint64_t va = channel->va.va;
    const uint32_t release[] = { (uint32_t)va, (uint32_t)(va >> 32), value, 1 };

    add_method(block, PPU_METHOD_WAIT_IDLE, NULL, 0, PPU_BLOCK_MAX_WORDS);
    add_method(block, PPU_METHOD_SEM_RELEASE, release, 4, PPU_BLOCK_MAX_WORDS);
    add_method(block, PPU_METHOD_INTERRUPT, NULL, 0, PPU_BLOCK_MAX_WORDS);
    *event = (struct ppu_event){
        .channel = channel,
        .value = value,
        .epoch = __atomic_load_n(&channel->epoch, __ATOMIC_RELAXED),
        .fence = channel->fence,
        .fence_va = channel->va,
    };
}

static enum ppu_err submit_locked(struct ppu_block *block, struct ppu_event *event)
{
    struct ppu_channel *channel = block->channel;
    struct channel_chunk chunk;

    if (event) {
        add_event(block, event);
    } else if (channel_wants_interrupt(channel)) {
        add_method(block, PPU_METHOD_INTERRUPT, NULL, 0, PPU_BLOCK_MAX_WORDS);
    }
    enum ppu_err err = channel_reserve(channel, data_offset(block) + block->data_bytes, &chunk);
    if (err != PPU_OK) {
        return err;
    }
    write_chunk(block, &chunk);
    channel_push(channel, &chunk, ppu_gp_entry(chunk.va, block->length), block->correlation);
    if (event) {
        channel->fence_value = event->value;
    }
    return PPU_OK;
}

enum ppu_err ppu_block_submit(struct ppu_block *block, struct ppu_event *event)
{
    enum ppu_err err = block->error == PPU_OK && block->commands_word != 0 ? PPU_ERR_BAD_ARG : block->error;

    if (err == PPU_OK) {
        pthread_mutex_lock(&block->channel->lock);
        err = submit_locked(block, event);
        pthread_mutex_unlock(&block->channel->lock);
    }
    ppu_block_cancel(block);
    return err;
}
