/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The device core as a whole: its life, and what ties the parts together.
 */
#include "qemu-device/core/core.h"
#include "ppu/macros.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/census.h"
#include "qemu-device/core/dist/dist.h"
#include "qemu-device/core/history.h"
#include "qemu-device/core/mcu.h"
#include "qemu-device/core/memory/clear.h"
#include "qemu-device/core/memory/dma.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/memory/profile_table.h"
#include "qemu-device/core/memory/ring.h"
#include "qemu-device/core/memory/semtab.h"
#include "qemu-device/core/memory/trace.h"
#include "qemu-device/core/regs.h"
#include "qemu-device/core/rest.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define ERROR_WINDOW_NS 1000000000ull
#define ERRORS_A_WINDOW 16u
#define ERROR_BYTES 256u

/* ids of PPU_TRACE_RESET */
#define RESET_MCU 1u

const struct core_config *core_config_of(const struct core *core)
{
    return &core->config;
}

uint8_t *core_vram(const struct core *core)
{
    return core->vram;
}

struct sm_pool **core_sm_pool(struct core *core)
{
    return &core->sm_pool;
}

uint64_t core_now(const struct core *core)
{
    return core->ops.now_ns(core->opaque);
}

void core_kick(struct core *core)
{
    core->ops.kick(core->opaque);
}

void core_post(struct core *core, uint32_t events)
{
    __atomic_fetch_or(&core->events, events, __ATOMIC_SEQ_CST);
    core_kick(core);
}

void core_device_error(struct core *core, uint32_t bits)
{
    uint32_t former = __atomic_fetch_or(&core->reg[PPU_REG_DEVICE_ERROR / 4], bits, __ATOMIC_SEQ_CST);

    if ((former & bits) != bits) {
        core_post(core, CORE_EVENT_ERROR);
    }
}

void core_guest_error(struct core *core, const char *format, ...)
{
    uint64_t now = core_now(core);
    char sentence[ERROR_BYTES];
    va_list args;

    if (now - core->error_window_ns >= ERROR_WINDOW_NS) {
        core->error_window_ns = now;
        core->error_count = 0;
    }
    if (core->error_count >= ERRORS_A_WINDOW) {
        return;
    }
    core->error_count++;
    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    core->ops.guest_error(core->opaque, sentence);
}

bool core_dma(struct core *core, uint64_t bus, void *buf, uint32_t len_bytes, bool write)
{
    core->dma_depth++;
    bool done = write ? core->ops.dma_write(core->opaque, bus, buf, len_bytes)
                      : core->ops.dma_read(core->opaque, bus, buf, len_bytes);
    core->dma_depth--;
    return done;
}

bool core_vram_has(const struct core *core, uint64_t off, uint64_t len_bytes)
{
    return off <= core->config.vram_bytes && len_bytes <= core->config.vram_bytes - off;
}

bool core_protected_has(const struct core *core, uint64_t off, uint64_t len_bytes)
{
    uint64_t base = reg_get(core, PPU_REG_PROT_BASE);
    uint64_t limit = reg_get(core, PPU_REG_PROT_LIMIT);

    return off >= base && off <= limit && len_bytes <= limit - off;
}

bool core_tokens_usable(const struct core *core)
{
    uint32_t base = reg_get(core, PPU_REG_TOKEN_BASE), bytes = reg_get(core, PPU_REG_TOKEN_BYTES);

    return bytes == 0 ||
           (base % PPU_TOKEN_ALIGN == 0 && core_protected_has(core, base, bytes) && core_vram_has(core, base, bytes));
}

/* Written one after the other: both are checked whenever they are used. */
uint32_t core_tokens_share(const struct core *core, uint32_t sm, uint32_t *bytes)
{
    uint32_t base = reg_get(core, PPU_REG_TOKEN_BASE);
    uint32_t share = reg_get(core, PPU_REG_TOKEN_BYTES) / core->config.sms / PPU_TOKEN_ALIGN * PPU_TOKEN_ALIGN;
    uint64_t at = base + (uint64_t)sm * share;

    if (base % PPU_TOKEN_ALIGN != 0 || !core_protected_has(core, at, share) || !core_vram_has(core, at, share)) {
        share = 0;
    }
    *bytes = share;
    return share != 0 ? (uint32_t)at : 0;
}

uint64_t core_window_base(const struct core *core)
{
    return reg_get(core, PPU_REG_WINDOW_LO) | (uint64_t)reg_get(core, PPU_REG_WINDOW_HI) << 32;
}

void core_timer_request(struct core *core)
{
    uint64_t deadline = core->timer_ns;

    if (!core->paused) {
        uint64_t slice = core->config.sm_threads == 0 ? sm_slice_deadline(core) : CORE_NEVER;

        deadline = PPU_MIN(core->dma.deadline_ns, deadline);
        deadline = PPU_MIN(slice, deadline);
    }
    if (deadline != core->deadline_ns) {
        core->deadline_ns = deadline;
        core->ops.timer_set(core->opaque, deadline);
    }
}

bool core_at_rest(struct core *core)
{
    bool rests =
        core->config.sm_threads == 0 && !core->paused && sm_slice_deadline(core) == CORE_NEVER && core->dma.count == 0;

    for (uint32_t slot = 0; rests && slot < core->config.slots; slot++) {
        rests = dist_state(core, slot) == PPU_SLOT_FREE;
    }
    return rests;
}

bool core_has_armed(struct core *core)
{
    return __atomic_load_n(&core->semtab.armed_count, __ATOMIC_SEQ_CST) != 0;
}

void core_timer(struct core *core)
{
    uint64_t now = core_now(core);

    core->deadline_ns = CORE_NEVER; /* the host's timer has fired */
    mcu_timer_run(core, now);
    if (!core->paused) {
        dma_run(core, now);
        if (core->config.sm_threads == 0 && sm_slice_deadline(core) <= now) {
            sm_slice_run(core);
        }
    }
    core_timer_request(core);
}

bool core_answer_events(struct core *core)
{
    uint32_t events = __atomic_exchange_n(&core->events, 0, __ATOMIC_SEQ_CST);

    if (core->reset_deferred && core->dma_depth == 0) {
        core_reset(core);
        return false;
    }
    if (events & CORE_EVENT_RING) {
        mcu_irq_raise(core, PPU_IRQ_EVENT);
    }
    if (events & CORE_EVENT_ERROR) {
        mcu_irq_raise(core, PPU_IRQ_ERROR);
    }
    if (!core->paused) {
        sm_service_slices(core);
        clear_step(core);
    }
    core_timer_request(core);
    return !core->paused && sm_waits_for_system(core);
}

void core_bottom_half(struct core *core)
{
    if (core_answer_events(core)) {
        sm_service_system(core);
    }
}

void core_pause(struct core *core)
{
    history_return(core); /* memory is saved from now on */
    core->paused = true;
    sm_pool_pause(core);
}

void core_resume(struct core *core)
{
    core->paused = false;
    sm_pool_resume(core);
    core_timer_request(core);
    core_kick(core); /* what was posted or parked while everything stood still */
}

void core_reset_parts(struct core *core)
{
    sm_pool_reset(core);
    debug_forget(core);
    dist_reset(core);
    dma_reset(core);
    semtab_reset(core);
    for (uint32_t ring = 0; ring < PPU_RING_COUNT; ring++) {
        ring_reset(core, ring);
    }
    trace_reset(core);
    profile_reset(core);
    __atomic_store_n(&core->events, 0, __ATOMIC_SEQ_CST);
    mcu_irq_clear(core, UINT32_MAX);
    core->timer_ns = CORE_NEVER;
    regs_reset_mcu(core);
    if (!core->paused) {
        sm_pool_resume(core);
    }
    core_timer_request(core);
}

/* A DMA of this function reached its own reset: whoever does it must end first. */
static bool reset_must_wait(struct core *core)
{
    if (core->dma_depth == 0) {
        return false;
    }
    core->reset_deferred = true;
    core_kick(core);
    return true;
}

void core_reset(struct core *core)
{
    if (reset_must_wait(core)) {
        return;
    }
    core->reset_deferred = false;
    core_reset_parts(core);
    regs_reset_host(core);
    clear_begin(core);
    core->ops.mcu_run(core->opaque, false);
}

void core_mcu_state(struct core *core, enum ppu_mcu_state state)
{
    if (state == (enum ppu_mcu_state)reg_get(core, PPU_REG_MCU_STATE)) {
        return;
    }
    reg_set(core, PPU_REG_MCU_STATE, state);
    if (state == PPU_MCU_HELD && !reset_must_wait(core)) {
        trace_emit(core, PPU_TRACE_RESET, 0, RESET_MCU, 0, 0);
        core_reset_parts(core);
        core_kick(core); /* what waits until it is held */
    } else if (state == PPU_MCU_LOCKUP) {
        reg_set(core, PPU_REG_MCU_LOCKUPS, reg_get(core, PPU_REG_MCU_LOCKUPS) + 1);
        mcu_vector_raise(core, PPU_VECTOR_ERROR);
    }
}

static void init_locks(struct core *core)
{
    for (uint32_t ring = 0; ring < PPU_RING_COUNT; ring++) {
        pthread_mutex_init(&core->ring[ring].lock, NULL);
    }
    pthread_mutex_init(&core->trace.lock, NULL);
    pthread_mutex_init(&core->semtab.lock, NULL);
    pthread_mutex_init(&core->dist.lock, NULL);
}

static void destroy_locks(struct core *core)
{
    for (uint32_t ring = 0; ring < PPU_RING_COUNT; ring++) {
        pthread_mutex_destroy(&core->ring[ring].lock);
    }
    pthread_mutex_destroy(&core->trace.lock);
    pthread_mutex_destroy(&core->semtab.lock);
    pthread_mutex_destroy(&core->dist.lock);
}

struct core *core_new(const struct core_config *config, void *vram, const struct core_host_ops *ops, void *opaque)
{
    struct core *core = calloc(1, sizeof(*core));

    if (!core) {
        return NULL;
    }
    core->config = *config;
    core->ops = *ops;
    core->opaque = opaque;
    core->vram = vram;
    core->paused = true;
    core->timer_ns = CORE_NEVER;
    core->deadline_ns = CORE_NEVER;
    core->clear_at = config->vram_bytes;
    init_locks(core);
    regs_init(core);
    dist_reset(core);
    dma_reset(core);
    semtab_reset(core);
    if (!debug_init(core) || !sm_pool_new(core)) {
        debug_destroy(core);
        destroy_locks(core);
        free(core);
        return NULL;
    }
    return core;
}

void core_free(struct core *core)
{
    if (!core) {
        return;
    }
    sm_pool_free(core);
    census_end(core);
    dist_free(core);
    debug_destroy(core);
    destroy_locks(core);
    free(core);
}
