/* SPDX-License-Identifier: MIT */
/* Leads libppu to the joined machine: a transport whose registers and memory are the core's own. */
#include "runtime/transport.h"

#include <string.h>

#include "ppu/macros.h"
#include "runtime/deadline.h"
#include "tests/joined/joined_state.h"

static struct joined *joined_of(struct ppu_transport *transport)
{
    return PPU_CONTAINER_OF(transport, struct joined, transport);
}

static uint32_t joined_reg_read(struct ppu_transport *transport, uint32_t offset)
{
    struct joined *joined = joined_of(transport);

    pthread_mutex_lock(&joined->lock);
    uint32_t value = core_reg_read(joined->core, CORE_HOST, offset);
    pthread_mutex_unlock(&joined->lock);
    return value;
}

static void joined_reg_write(struct ppu_transport *transport, uint32_t offset, uint32_t value)
{
    struct joined *joined = joined_of(transport);

    pthread_mutex_lock(&joined->lock);
    core_reg_write(joined->core, CORE_HOST, offset, value);
    pthread_mutex_unlock(&joined->lock);
}

static uint32_t joined_doorbell_read(struct ppu_transport *transport, uint64_t offset)
{
    struct joined *joined = joined_of(transport);

    pthread_mutex_lock(&joined->lock);
    uint32_t value = core_doorbell_read(joined->core, offset);
    pthread_mutex_unlock(&joined->lock);
    return value;
}

static void joined_doorbell_write(struct ppu_transport *transport, uint64_t offset, uint32_t value)
{
    struct joined *joined = joined_of(transport);

    pthread_mutex_lock(&joined->lock);
    core_doorbell_write(joined->core, offset, value);
    pthread_mutex_unlock(&joined->lock);
}

/* The image that is loaded is not what runs: ITCM takes no bytes and gives zeros. */
static void joined_window_read(struct ppu_transport *transport, uint32_t offset, void *buf, uint32_t len_bytes)
{
    struct joined *joined = joined_of(transport);

    memset(buf, 0, len_bytes);
    if (offset >= PPU_BAR0_DTCM && len_bytes <= sizeof(joined->dtcm) &&
        offset - PPU_BAR0_DTCM <= sizeof(joined->dtcm) - len_bytes) {
        pthread_mutex_lock(&joined->lock);
        memcpy(buf, joined->dtcm + (offset - PPU_BAR0_DTCM), len_bytes);
        pthread_mutex_unlock(&joined->lock);
    }
}

static void joined_window_write(struct ppu_transport *transport, uint32_t offset, const void *buf, uint32_t len_bytes)
{
    (void)transport;
    (void)offset;
    (void)buf;
    (void)len_bytes;
}

static enum ppu_err joined_system_alloc(struct ppu_transport *transport, uint64_t bytes,
                                        struct ppu_system_memory *memory)
{
    struct joined *joined = joined_of(transport);

    pthread_mutex_lock(&joined->lock);
    enum ppu_err err = joined_bus_take(&joined->bus, bytes, memory);
    pthread_mutex_unlock(&joined->lock);
    return err;
}

static void joined_system_free(struct ppu_transport *transport, const struct ppu_system_memory *memory)
{
    struct joined *joined = joined_of(transport);

    pthread_mutex_lock(&joined->lock);
    joined_bus_give(&joined->bus, memory);
    pthread_mutex_unlock(&joined->lock);
}

static uint32_t joined_wait(struct ppu_transport *transport, uint64_t timeout_ns)
{
    struct joined *joined = joined_of(transport);
    uint64_t deadline_ns = deadline_after(timeout_ns);
    struct timespec until = { (time_t)(deadline_ns / NS_PER_S), (long)(deadline_ns % NS_PER_S) };

    pthread_mutex_lock(&joined->vector_lock);
    while (joined->vectors == 0 && deadline_left(deadline_ns) > 0) {
        pthread_cond_timedwait(&joined->vector_raised, &joined->vector_lock, &until);
    }
    uint32_t vectors = joined->vectors;
    joined->vectors = 0;
    pthread_mutex_unlock(&joined->vector_lock);
    return vectors;
}

static void joined_set_bus_master(struct ppu_transport *transport, bool on)
{
    struct joined *joined = joined_of(transport);

    pthread_mutex_lock(&joined->lock);
    joined->bus.master = on;
    pthread_mutex_unlock(&joined->lock);
}

/* The machine stays for its next driver. */
static void joined_close(struct ppu_transport *transport)
{
    (void)transport;
}

static const struct ppu_transport_ops joined_ops = {
    .reg_read = joined_reg_read,
    .reg_write = joined_reg_write,
    .doorbell_read = joined_doorbell_read,
    .doorbell_write = joined_doorbell_write,
    .window_read = joined_window_read,
    .window_write = joined_window_write,
    .system_alloc = joined_system_alloc,
    .system_free = joined_system_free,
    .wait = joined_wait,
    .set_bus_master = joined_set_bus_master,
    .close = joined_close,
};

void joined_transport_init(struct joined *joined)
{
    joined->transport = (struct ppu_transport){
        .ops = &joined_ops,
        .vram = joined->vram,
        .vram_bytes = joined->config.vram_bytes,
        .vram_fd = joined->vram_fd,
    };
}
