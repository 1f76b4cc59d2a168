/* SPDX-License-Identifier: MIT */
#include "firmware/block.h"

#include "firmware/commands.h"
#include "firmware/copy.h"
#include "firmware/dma.h"
#include "firmware/hal.h"
#include "firmware/launch.h"
#include "firmware/sem.h"
#include "firmware/stats.h"
#include "firmware/taskq.h"
#include "firmware/tmdq.h"
#include "firmware/trace.h"
#include "firmware/vector.h"
#include "firmware/workq.h"
#include "ppu/limits.h"
#include "ppu/macros.h"
#include "ppu/sem.h"
#include "ppu/task.h"

#define HEADER_WORDS ((uint32_t)(sizeof(struct ppu_block_header) / 4))

static FW_DMA ppu_gp_entry_t entry;
static FW_DMA union {
    struct ppu_block_header header;
    uint32_t word[PPU_BLOCK_MAX_WORDS];
} buffer;
static const struct channel *loaded; /* whose block the buffer holds */

void block_init(void)
{
    loaded = NULL;
}

void block_end(struct channel *channel)
{
    channel->block.entry = 0;
    if (loaded == channel) {
        loaded = NULL;
    }
}

static uint32_t block_words(const struct block_cursor *block)
{
    return (uint32_t)(block->entry >> PPU_GP_LEN_SHIFT);
}

/* ---- Fetching. Each returns false when the channel has been stopped. ---- */

static bool fetch_entry(struct channel *channel)
{
    ppu_va_t at = { channel->ring.va + (uint64_t)channel->get * PPU_GP_ENTRY_BYTES };
    channel->block.method = 0;
    channel->block.correlation = 0;
    if (dma_fetch(channel->context, at, &entry, PPU_GP_ENTRY_BYTES)) {
        channel_fault_memory(channel, PPU_FAULT_BLOCK_MEMORY);
        return false;
    }
    if (entry & PPU_GP_RESERVED_MASK) {
        channel_fault(channel, PPU_FAULT_GP_ENTRY, entry);
        return false;
    }
    uint32_t len_words = (uint32_t)(entry >> PPU_GP_LEN_SHIFT);
    if (len_words < HEADER_WORDS || len_words > PPU_BLOCK_MAX_WORDS) {
        channel_fault(channel, PPU_FAULT_BLOCK_LENGTH, len_words);
        return false;
    }
    channel->block = (struct block_cursor){
        .entry = entry,
        .next = HEADER_WORDS,
    };
    return true;
}

static bool header_is_good(const struct block_cursor *block)
{
    const struct ppu_block_header *header = &buffer.header;
    return header->head.version == PPU_BLOCK_VERSION && header->head.size_bytes == sizeof(*header) &&
           header->len_words == block_words(block) && header->reserved == 0;
}

static bool fetch_block(struct channel *channel)
{
    struct block_cursor *block = &channel->block;
    loaded = NULL;
    ppu_va_t at = { block->entry & PPU_GP_VA_MASK };
    if (dma_fetch(channel->context, at, buffer.word, block_words(block) * 4)) {
        channel_fault_memory(channel, PPU_FAULT_BLOCK_MEMORY);
        return false;
    }
    if (!header_is_good(block)) {
        channel_fault(channel, PPU_FAULT_BLOCK_HEADER, at.va);
        return false;
    }
    block->correlation = buffer.header.correlation;
    loaded = channel;
    return true;
}

/* True when the ring has an entry to execute; GP_PUT is read again when it seemed empty. */
static bool ring_has_entry(struct channel *channel)
{
    if (channel->get == channel->put) {
        channel->put = hal_read(PPU_REG_GP_PUT + 4 * channel_index(channel));
    }
    return channel->get != channel->put;
}

static enum block_result begin_block(struct channel *channel)
{
    if (!ring_has_entry(channel)) {
        return BLOCK_NONE;
    }
    if (channel->put >= channel->entries) {
        channel_fault(channel, PPU_FAULT_GP_INDEX, channel->put);
        return BLOCK_STOPPED;
    }
    if (!fetch_entry(channel) || !fetch_block(channel)) {
        return BLOCK_STOPPED;
    }
    stats_count(PPU_KEY_BLOCKS);
    trace_write(PPU_TRACE_BLOCK, channel->block.correlation, channel_index(channel), channel->get,
                block_words(&channel->block));
    return BLOCK_MORE;
}

/* ---- Methods. ---- */

enum method_result {
    METHOD_DONE,   /* go on after it */
    METHOD_PARKED, /* go on after it when the channel runs again */
    METHOD_AGAIN,  /* execute it again when the channel runs again */
    METHOD_FAULT,  /* the channel has been stopped */
};

static enum method_result refuse_method(struct channel *channel, enum ppu_fault code, uint64_t payload)
{
    channel_fault(channel, code, payload);
    return METHOD_FAULT;
}

static ppu_va_t va_of(const uint32_t *data)
{
    return (ppu_va_t){ data[0] | (uint64_t)data[1] << 32 };
}

static enum method_result method_NOP(struct channel *channel, const uint32_t *data)
{
    (void)channel;
    (void)data;
    return METHOD_DONE;
}

/* Number of the work queue that an acquire waits for, CHANNEL_NO_WORKQ: none. UINT32_MAX: it names one wrongly, or
 * the channel is itself a queue's. */
static uint32_t awaited_queue(const struct channel *channel, uint32_t word)
{
    if (!PPU_SEM_HAS_FROM(word)) {
        return CHANNEL_NO_WORKQ;
    }
    uint32_t queue = workq_of_channel(PPU_SEM_FROM_CHANNEL(word), channel->context);
    return queue != CHANNEL_NO_WORKQ && channel->workq == CHANNEL_NO_WORKQ ? queue : UINT32_MAX;
}

static enum method_result await_round(struct channel *channel, uint32_t queue)
{
    if (workq_has_failed(queue)) {
        return refuse_method(channel, PPU_FAULT_WORKQ_FAILED,
                             PPU_SEM_FROM_CHANNEL(buffer.word[channel->block.method + 4]));
    }
    workq_await(queue, channel);
    return METHOD_PARKED;
}

static enum method_result method_SEM_ACQUIRE(struct channel *channel, const uint32_t *data)
{
    trace_mark(PPU_MARK_ACQUIRE_BEGIN);
    ppu_va_t at = va_of(data);
    if (at.va % PPU_SEM_ALIGN) {
        return refuse_method(channel, PPU_FAULT_SEM_ALIGN, at.va);
    }
    uint32_t awaited = awaited_queue(channel, data[3]);
    if (PPU_SEM_COMPARE(data[3]) > PPU_SEM_GREATER_EQUAL || awaited > CHANNEL_NO_WORKQ) {
        return refuse_method(channel, PPU_FAULT_METHOD_DATA, data[3]);
    }
    switch (sem_acquire(channel, at, data[2], PPU_SEM_COMPARE(data[3]))) {
    case SEM_PASSED:
        return METHOD_DONE;
    case SEM_PARKED:
        return awaited == CHANNEL_NO_WORKQ ? METHOD_PARKED : await_round(channel, awaited);
    default:
        return METHOD_FAULT;
    }
}

static enum method_result method_SEM_RELEASE(struct channel *channel, const uint32_t *data)
{
    ppu_va_t at = va_of(data);
    if (at.va % PPU_SEM_ALIGN) {
        return refuse_method(channel, PPU_FAULT_SEM_ALIGN, at.va);
    }
    if (data[3] & ~PPU_DMA_FLAG_TIME) {
        return refuse_method(channel, PPU_FAULT_METHOD_DATA, data[3]);
    }
    if (dma_release_semaphore(channel->context, at, data[2], data[3])) {
        channel_fault_memory(channel, PPU_FAULT_SEM_MEMORY);
        return METHOD_FAULT;
    }
    commands_sem_released();
    trace_write(PPU_TRACE_SEM_RELEASE, channel->block.correlation, channel_index(channel), data[2], data[0]);
    return METHOD_DONE;
}

static enum method_result method_WAIT_IDLE(struct channel *channel, const uint32_t *data)
{
    (void)data;
    if (channel->pending == 0) {
        return METHOD_DONE;
    }
    channel_wait(channel, CHANNEL_NEEDS_IDLE); /* it runs again when nothing is pending, and starts nothing before */
    return METHOD_PARKED;
}

static inline enum method_result launched(struct channel *channel, enum launch_result result, uint16_t code,
                                          uint64_t payload)
{
    switch (result) {
    case LAUNCH_ACCEPTED:
        return METHOD_DONE;
    case LAUNCH_NO_RECORD:
        channel_wait(channel, CHANNEL_NEEDS_RECORD);
        return METHOD_AGAIN;
    default:
        return refuse_method(channel, code, payload);
    }
}

static enum method_result method_LAUNCH(struct channel *channel, const uint32_t *data)
{
    uint16_t code;
    uint64_t payload;
    uint32_t stream = data[2];
    if (stream != PPU_STREAM_NONE && !tmdq_exists(channel->context, stream)) {
        return refuse_method(channel, PPU_FAULT_NO_STREAM, stream);
    }
    enum launch_result result = launch_task(channel, va_of(data), stream, channel->block.correlation, &code, &payload);
    return launched(channel, result, code, payload);
}

static enum method_result method_COPY(struct channel *channel, const uint32_t *data)
{
    switch (copy_start(channel, va_of(data), va_of(data + 2), data[4])) {
    case COPY_STARTED:
        return METHOD_DONE;
    case COPY_NO_ROOM:
        channel_wait(channel, CHANNEL_NEEDS_COPY);
        return METHOD_AGAIN;
    default:
        channel_fault_memory(channel, PPU_FAULT_COPY_MEMORY);
        return METHOD_FAULT;
    }
}

static enum method_result method_FEED(struct channel *channel, const uint32_t *data)
{
    if (data[0] >= PPU_TASKQS) {
        return refuse_method(channel, PPU_FAULT_NO_TASKQ, data[0]);
    }
    taskq_feed(data[0], channel->context);
    return METHOD_DONE;
}

static enum method_result method_ENQUEUE(struct channel *channel, const uint32_t *data)
{
    uint32_t count = PPU_METHOD_COUNT(data[-1]);
    if (count < 2) {
        return refuse_method(channel, PPU_FAULT_METHOD_COUNT, data[-1]);
    }
    if (data[0] != PPU_STREAM_NONE && !tmdq_exists(channel->context, data[0])) {
        return refuse_method(channel, PPU_FAULT_NO_STREAM, data[0]);
    }
    uint32_t launch;
    uint32_t wrong = commands_check(data + 1, count - 1, data[0], &launch);
    if (wrong != COMMANDS_GOOD) {
        return refuse_method(channel, PPU_FAULT_METHOD_DATA, data[1 + wrong]);
    }
    uint16_t code;
    uint64_t payload;
    enum launch_result result = launch_commands(channel, data[0], data + 1, count - 1, launch, &code, &payload);
    return launched(channel, result, code, payload);
}

/* Only a command of a list (ENQUEUE). */
static enum method_result method_FILL(struct channel *channel, const uint32_t *data)
{
    return refuse_method(channel, PPU_FAULT_METHOD_UNKNOWN, data[-1]);
}

static enum method_result method_INTERRUPT(struct channel *channel, const uint32_t *data)
{
    (void)data;
    if (channel->vector) {
        vector_raise(channel->vector, channel_index(channel), channel->block.correlation);
    }
    return METHOD_DONE;
}

struct method {
    enum method_result (*run)(struct channel *channel, const uint32_t *data);
    uint32_t word; /* as it stands in a block; METHOD_ANY: with any count */
};

#define METHOD_ANY UINT32_MAX /* has reserved bits: no block has it */
#define METHOD_WORD(id, count) ((count) == PPU_METHOD_ANY_COUNT ? METHOD_ANY : PPU_METHOD_WORD(id, count))

static const struct method methods[] = {
#define PPU_METHOD(name, id, count, title, doc) [PPU_METHOD_##name] = { method_##name, METHOD_WORD(id, count) },
#include "ppu/method.def"
#undef PPU_METHOD
};
#define METHODS PPU_ARRAY_SIZE(methods)

/* The method at `word`, which is none that must have the length it has. NULL: the channel has been stopped. */
static __attribute__((noinline)) const struct method *decode_other(struct channel *channel, uint32_t word)
{
    uint32_t id = PPU_METHOD_ID(word);
    if ((word & PPU_METHOD_RESERVED_MASK) || id >= METHODS || !methods[id].run) {
        channel_fault(channel, PPU_FAULT_METHOD_UNKNOWN, word);
        return NULL;
    }
    bool right_count = methods[id].word == METHOD_ANY || methods[id].word == word;
    if (!right_count || PPU_METHOD_COUNT(word) >= block_words(&channel->block) - channel->block.method) {
        channel_fault(channel, PPU_FAULT_METHOD_COUNT, word);
        return NULL;
    }
    return &methods[id];
}

/* The method at `word`, if it is one and lies inside the block. NULL: the channel has been stopped. */
static inline const struct method *decode(struct channel *channel, uint32_t word)
{
    const struct block_cursor *block = &channel->block;
    uint32_t id = PPU_METHOD_ID(word);
    if (id < METHODS && methods[id].word == word && PPU_METHOD_COUNT(word) < block_words(block) - block->method) {
        return &methods[id];
    }
    return decode_other(channel, word);
}

/* Executes a method. False: the channel has been stopped, or goes on later. */
static inline bool execute(struct channel *channel)
{
    struct block_cursor *block = &channel->block;
    const uint32_t *word = &buffer.word[block->next];
    block->method = block->next;
    const struct method *method = decode(channel, *word);
    if (!method) {
        return false;
    }
    block->next = (uint16_t)(block->method + 1 + PPU_METHOD_COUNT(*word));
    enum method_result result = method->run(channel, word + 1);
    if (result == METHOD_AGAIN) {
        block->next = block->method;
    }
    return result == METHOD_DONE && channel->state == PPU_CHANNEL_RUNNING;
}

enum block_result block_run(struct channel *channel, uint32_t *left)
{
    struct block_cursor *block = &channel->block;
    if (!block->entry) {
        enum block_result begun = begin_block(channel);
        if (begun != BLOCK_MORE) {
            return begun;
        }
    }
    if (loaded != channel && block->next < block_words(block) && !fetch_block(channel)) {
        return BLOCK_STOPPED;
    }
    while (*left) {
        --*left;
        if (block->next < block_words(block) && !execute(channel)) {
            return BLOCK_STOPPED;
        }
        if (block->next >= block_words(block)) {
            block_end(channel);
            return BLOCK_DONE;
        }
    }
    return BLOCK_MORE;
}
