/* SPDX-License-Identifier: MIT */
#include "runtime/channel.h"

#include <stdlib.h>

#include "ppu/macros.h"
#include "runtime/deadline.h"
#include "runtime/memory.h"
#include "runtime/shared.h"

#define DEFAULT_ENTRIES 256u
#define CHANNEL_VECTORS (PPU_MAX_VECTORS - PPU_VECTOR_FIRST_CHANNEL)
#define CHUNK_ALIGN 64u
#define FENCE_BYTES CHUNK_ALIGN
/* Staging: room for a kilobyte an entry, within these bounds. The smaller one holds several of the largest blocks. */
#define STAGING_ENTRY_BYTES PPU_KIB
#define STAGING_MIN (128u * PPU_KIB)
#define STAGING_MAX (1u * PPU_MIB)
/* GP_GET advances after the interrupt of a block: a waiter looks again after this, then after twice that... */
#define ROOM_RETRY_MIN_NS (200 * NS_PER_US)
#define ROOM_RETRY_MAX_NS (10 * NS_PER_MS)

static struct ppu_device *device_of(const struct ppu_channel *channel)
{
    return channel->context->device;
}

static uint64_t doorbell_page(const struct ppu_channel *channel)
{
    return (uint64_t)channel->index * PPU_DOORBELL_STRIDE;
}

/* ---- faults ---- */

void channel_set_fault(struct ppu_channel *channel, const struct ppu_error *error)
{
    if (channel->fault.code == PPU_OK) {
        channel->fault = *error;
    }
}

enum ppu_err ppu_channel_error(struct ppu_channel *channel, struct ppu_error *error)
{
    struct ppu_device *device = device_of(channel);

    pthread_mutex_lock(&device->error_lock);
    enum ppu_err code = channel->fault.code;
    if (error) {
        *error = channel->fault;
    }
    pthread_mutex_unlock(&device->error_lock);
    return code;
}

/* The record of its fault may be among those that the error ring had no room for. */
static bool may_have_lost_fault(struct ppu_channel *channel)
{
    struct ppu_device *device = device_of(channel);

    pthread_mutex_lock(&device->error_lock);
    bool lost = channel->fault.code == PPU_OK && channel->errors_lost != device->errors_lost;
    channel->errors_lost = device->errors_lost;
    pthread_mutex_unlock(&device->error_lock);
    return lost;
}

/* What the firmware keeps of a fault is less than its record: code, address, place. */
static enum ppu_err ask_fault(struct ppu_channel *channel)
{
    struct ppu_device *device = device_of(channel);
    uint64_t code = 0, address = 0, pc = 0;

    enum ppu_err err = ppu_device_query(device, PPU_KEY_CHANNEL_FAULT_CODE, channel->index, &code);
    if (err != PPU_OK || code == PPU_FAULT_NONE) {
        return err;
    }
    err = ppu_device_query(device, PPU_KEY_CHANNEL_FAULT_ADDRESS, channel->index, &address);
    if (err == PPU_OK) {
        err = ppu_device_query(device, PPU_KEY_CHANNEL_FAULT_PC, channel->index, &pc);
    }
    if (err == PPU_OK) {
        const struct ppu_error_record record = {
            .code = (uint16_t)code,
            .channel = channel->index,
            .context = channel->context->id,
            .address = address,
            .pc = pc,
        };
        struct ppu_error error;
        error_from_record(&error, &record);
        pthread_mutex_lock(&device->error_lock);
        channel_set_fault(channel, &error);
        pthread_mutex_unlock(&device->error_lock);
    }
    return err;
}

enum ppu_err channel_fault(struct ppu_channel *channel)
{
    enum ppu_err err = may_have_lost_fault(channel) ? ask_fault(channel) : PPU_OK;

    return err != PPU_OK ? err : ppu_channel_error(channel, NULL);
}

/* ---- making ---- */

static uint32_t staging_size(uint32_t entries)
{
    uint64_t wanted = (uint64_t)entries * STAGING_ENTRY_BYTES;

    return wanted < STAGING_MIN ? STAGING_MIN : wanted > STAGING_MAX ? STAGING_MAX : (uint32_t)wanted;
}

static uint32_t ring_bytes(uint32_t entries)
{
    return ppu_align_up(entries * PPU_GP_ENTRY_BYTES, CHUNK_ALIGN);
}

static enum ppu_err make_memory(struct ppu_channel *channel, enum ppu_memory_kind kind)
{
    uint32_t ring_offset = FENCE_BYTES;
    uint32_t staging_offset = ring_offset + ring_bytes(channel->entries);

    channel->staging_bytes = staging_size(channel->entries);
    channel->staging_end = calloc(channel->entries, sizeof(channel->staging_end[0]));
    if (!channel->staging_end) {
        return PPU_ERR_NO_MEMORY;
    }
    uint64_t bytes = (uint64_t)staging_offset + channel->staging_bytes;
    enum ppu_err err = ppu_memory_create(channel->context, kind, bytes, &channel->memory);
    if (err != PPU_OK) {
        return err;
    }
    uint8_t *host = ppu_memory_host(channel->memory);
    channel->va = ppu_memory_va(channel->memory, channel->context);
    channel->fence = (void *)host;
    channel->ring = (void *)(host + ring_offset);
    channel->staging = host + staging_offset;
    channel->staging_va = channel->va.va + staging_offset;
    return PPU_OK;
}

enum ppu_err channel_register(struct ppu_channel *channel)
{
    struct ppu_device *device = device_of(channel);

    if (channel->index >= PPU_MAX_CHANNELS) {
        return PPU_ERR_INTERNAL;
    }
    device_read_errors(device); /* those of the channel that had this number before are nobody's */
    pthread_mutex_lock(&device->error_lock);
    channel->errors_lost = device->errors_lost;
    device->channel[channel->index] = channel;
    pthread_mutex_unlock(&device->error_lock);
    return PPU_OK;
}

static void unregister(const struct ppu_channel *channel)
{
    struct ppu_device *device = device_of(channel);

    pthread_mutex_lock(&device->error_lock);
    device->channel[channel->index] = NULL;
    pthread_mutex_unlock(&device->error_lock);
}

/* What it did wrong meanwhile was told to nobody: the firmware will be asked. */
static void register_again(struct ppu_channel *channel)
{
    struct ppu_device *device = device_of(channel);

    (void)channel_register(channel);
    pthread_mutex_lock(&device->error_lock);
    channel->errors_lost = ~device->errors_lost;
    pthread_mutex_unlock(&device->error_lock);
}

static enum ppu_err open_channel(struct ppu_channel *channel)
{
    struct ppu_device *device = device_of(channel);
    const uint64_t ring_va = channel->va.va + FENCE_BYTES;
    uint32_t args[] = {
        channel->context->id, (uint32_t)ring_va, (uint32_t)(ring_va >> 32), channel->entries, channel->priority, 0,
    };

    /* The number, and with it the vector, is the firmware's choice: vectors are given out in turn. */
    channel->vector =
        PPU_VECTOR_FIRST_CHANNEL + __atomic_fetch_add(&device->next_vector, 1, __ATOMIC_RELAXED) % CHANNEL_VECTORS;
    args[5] = channel->vector;
    enum ppu_err err = admin_call(device, PPU_ADMIN_CHANNEL_CREATE, args, 6, &channel->index, 1);
    return err == PPU_OK ? channel_register(channel) : err;
}

static enum ppu_err channel_free(struct ppu_channel *channel)
{
    enum ppu_err err = memory_end(channel->memory);

    free(channel->staging_end);
    pthread_mutex_destroy(&channel->lock);
    free(channel);
    return err;
}

enum ppu_err ppu_channel_create(struct ppu_context *context, const struct ppu_channel_options *options,
                                struct ppu_channel **out)
{
    static const struct ppu_channel_options defaults = { 0, 0, PPU_MEMORY_VRAM };
    const struct ppu_channel_options *chosen = options ? options : &defaults;
    uint32_t entries = chosen->entries != 0 ? chosen->entries : DEFAULT_ENTRIES;

    *out = NULL;
    if (entries < PPU_GP_MIN_ENTRIES || entries > PPU_GP_MAX_ENTRIES || chosen->priority >= PPU_PRIORITIES) {
        return PPU_ERR_BAD_ARG;
    }
    struct ppu_channel *channel = calloc(1, sizeof(*channel));
    if (!channel) {
        return PPU_ERR_NO_MEMORY;
    }
    channel->context = context;
    channel->entries = entries;
    channel->priority = chosen->priority;
    pthread_mutex_init(&channel->lock, NULL);
    enum ppu_err err = make_memory(channel, chosen->memory);
    if (err == PPU_OK) {
        err = open_channel(channel);
    }
    if (err != PPU_OK) {
        channel_free(channel);
        return err;
    }
    *out = channel;
    return PPU_OK;
}

/*
 * Doorbells are posted writes, and a request in memory can overtake them: the channel would be ended first and rung
 * then. Reading its page brings them home.
 */
static void settle_doorbells(const struct ppu_channel *channel)
{
    struct ppu_transport *transport = device_of(channel)->transport;

    (void)transport->ops->doorbell_read(transport, doorbell_page(channel) + PPU_DB_GET);
}

enum ppu_err channel_close(struct ppu_channel *channel)
{
    settle_doorbells(channel);
    /* Before the firmware's answer: after that, another thread's channel may have its number. */
    unregister(channel);
    enum ppu_err err = admin_call(device_of(channel), PPU_ADMIN_CHANNEL_DESTROY, &channel->index, 1, NULL, 0);
    /* A lost device answers nothing; its memory is kept until it is closed, the object need not be. */
    if (err != PPU_OK && err != PPU_ERR_DEVICE_LOST) {
        register_again(channel);
    }
    return err;
}

enum ppu_err ppu_channel_destroy(struct ppu_channel *channel)
{
    if (!channel) {
        return PPU_OK;
    }
    enum ppu_err err = channel_close(channel);
    if (err != PPU_OK && err != PPU_ERR_DEVICE_LOST) {
        return err;
    }
    enum ppu_err kept = channel_free(channel);
    return err != PPU_OK ? err : kept;
}

enum ppu_err ppu_channel_reset(struct ppu_channel *channel)
{
    struct ppu_device *device = device_of(channel);

    pthread_mutex_lock(&channel->lock);
    settle_doorbells(channel);
    enum ppu_err err = admin_call(device, PPU_ADMIN_CHANNEL_RESET, &channel->index, 1, NULL, 0);
    if (err == PPU_OK) {
        channel->put = 0;
        channel->get = 0;
        channel->staging_head = 0;
        channel->staging_tail = 0;
        __atomic_add_fetch(&channel->epoch, 1, __ATOMIC_RELEASE);
        device_read_errors(device); /* those of before the reset, which clears them */
        pthread_mutex_lock(&device->error_lock);
        channel->fault = (struct ppu_error){ .code = PPU_OK };
        channel->errors_lost = device->errors_lost;
        pthread_mutex_unlock(&device->error_lock);
    }
    pthread_mutex_unlock(&channel->lock);
    return err;
}

uint32_t ppu_channel_index(const struct ppu_channel *channel)
{
    return channel->index;
}

void ppu_channel_ring(struct ppu_channel *channel)
{
    struct ppu_transport *transport = device_of(channel)->transport;

    transport->ops->doorbell_write(transport, doorbell_page(channel) + PPU_DB_RING, 1);
}

/* ---- queue ---- */

/* Reads GP_GET; blocks that it has passed give back their staging. */
static void reclaim(struct ppu_channel *channel)
{
    struct ppu_transport *transport = device_of(channel)->transport;
    uint32_t get = transport->ops->doorbell_read(transport, doorbell_page(channel) + PPU_DB_GET);

    if (get >= channel->entries || get == channel->get) {
        return;
    }
    channel->get = get;
    channel->staging_head = channel->staging_end[(get == 0 ? channel->entries : get) - 1];
    if (get == channel->put) {
        channel->staging_head = 0;
        channel->staging_tail = 0;
    }
}

/* Head == tail means empty, so the last byte is never filled. */
static bool find_staging(const struct ppu_channel *channel, uint32_t bytes, uint32_t *offset)
{
    uint32_t head = channel->staging_head;
    uint32_t tail = channel->staging_tail;

    if (tail >= head) {
        if (bytes < channel->staging_bytes - tail) {
            *offset = tail;
            return true;
        }
        *offset = 0;
        return bytes < head;
    }
    *offset = tail;
    return bytes < head - tail;
}

static bool find_room(const struct ppu_channel *channel, struct channel_chunk *chunk)
{
    bool full = ppu_gp_next(channel->put, channel->entries) == channel->get;

    if (full || !find_staging(channel, chunk->bytes, &chunk->offset)) {
        return false;
    }
    chunk->host = channel->staging + chunk->offset;
    chunk->va = channel->staging_va + chunk->offset;
    return true;
}

static enum ppu_err wait_for_room(struct ppu_channel *channel, struct channel_chunk *chunk)
{
    struct ppu_device *device = device_of(channel);
    struct machine_clock clock = device_clock(device);
    uint64_t deadline_ns = deadline_after(device->timeout_ns);

    for (uint64_t retry_ns = ROOM_RETRY_MIN_NS;; retry_ns *= 2) {
        uint64_t mark = interrupts_mark(&device->interrupts);
        reclaim(channel);
        if (find_room(channel, chunk)) {
            return PPU_OK;
        }
        enum ppu_err err = channel_fault(channel);
        if (err != PPU_OK) {
            return err;
        }
        retry_ns = PPU_MIN(retry_ns, ROOM_RETRY_MAX_NS);
        uint64_t retry_at = deadline_after(retry_ns);
        bool last = retry_at >= deadline_ns;
        err = device_wait(device, 1u << channel->vector, mark, last ? deadline_ns : retry_at);
        if (err == PPU_ERR_TIMEOUT && last && device_puts_off(device, &clock, &deadline_ns)) {
            continue;
        }
        if (err == PPU_ERR_DEVICE_LOST || (err != PPU_OK && last)) {
            return err;
        }
    }
}

enum ppu_err channel_reserve(struct ppu_channel *channel, uint32_t bytes, struct channel_chunk *chunk)
{
    chunk->bytes = ppu_align_up(bytes, CHUNK_ALIGN);
    if (chunk->bytes >= channel->staging_bytes) {
        return PPU_ERR_BAD_ARG;
    }
    enum ppu_err err = ppu_channel_error(channel, NULL);
    if (err != PPU_OK) {
        return err;
    }
    return find_room(channel, chunk) ? PPU_OK : wait_for_room(channel, chunk);
}

void channel_push(struct ppu_channel *channel, const struct channel_chunk *chunk, ppu_gp_entry_t entry,
                  uint32_t correlation)
{
    struct ppu_transport *transport = device_of(channel)->transport;

    channel->staging_tail = chunk->offset + chunk->bytes;
    channel->staging_end[channel->put] = channel->staging_tail;
    channel->ring[channel->put] = entry;
    channel->put = ppu_gp_next(channel->put, channel->entries);
    ppu_record(PPU_TRACE_RING, correlation, channel->index, channel->put, device_of(channel)->recorded);
    /* The doorbell publishes block and entry. */
    transport->ops->doorbell_write(transport, doorbell_page(channel) + PPU_DB_PUT, channel->put);
}

bool channel_wants_interrupt(const struct ppu_channel *channel)
{
    uint32_t quarter = channel->entries / 4 > 0 ? channel->entries / 4 : 1;

    return channel->put % quarter == 0;
}
