/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/core/dist/flush.h"
#include "ppu/limits.h"
#include "ppu/regs.h"
#include "ppu/ring.h"
#include "qemu-device/core/attention.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/dist.h"
#include "qemu-device/core/dist/mask.h"
#include "qemu-device/core/history.h"
#include "qemu-device/core/memory/ring.h"
#include "qemu-device/core/regs.h"
#include "qemu-device/core/snapshot.h"

static void push_flushed(struct core *core, const struct dist_flush *flush)
{
    const struct ppu_slot_event event = {
        .kind = PPU_SLOT_FLUSHED,
        .context = flush->context,
        .arg = flush->tag,
        .time_ns = core_now(core),
    };

    ring_push(core, PPU_RING_SLOT, &event);
}

/* Every SM is to answer the flush that begins. */
static void await_all_sms(struct core *core)
{
    for (uint32_t sm = 0; sm < core->config.sms; sm++) {
        core->dist.flush_waiting[sm / 64] |= bit(sm % 64);
    }
    core->dist.flush_left = core->config.sms;
}

/* False: the SM has answered already. */
static bool await_no_more(struct dist *dist, uint32_t sm)
{
    if (!(dist->flush_waiting[sm / 64] & bit(sm % 64))) {
        return false;
    }
    dist->flush_waiting[sm / 64] &= ~bit(sm % 64);
    dist->flush_left--;
    return true;
}

static bool flush_put(struct core *core, uint32_t context, bool *first)
{
    struct dist *dist = &core->dist;

    if (dist->flush_count == PPU_MAX_CONTEXTS) {
        return false;
    }
    dist->flush[(dist->flush_head + dist->flush_count) % PPU_MAX_CONTEXTS] =
        (struct dist_flush){ .context = context, .tag = reg_get(core, PPU_REG_MMU_FLUSH_TAG) };
    *first = dist->flush_count == 0;
    dist->flush_count++;
    if (*first) {
        await_all_sms(core);
    }
    return true;
}

void dist_flush_request(struct core *core, uint32_t context)
{
    bool accepted = context < core->config.contexts;
    bool first = false;

    if (accepted) {
        history_outside(core);
        pthread_mutex_lock(&core->dist.lock);
        accepted = flush_put(core, context, &first);
        pthread_mutex_unlock(&core->dist.lock);
    }
    if (!accepted) {
        core_guest_error(core, "MMU_FLUSH: no address space %u, or too many flushes", context);
        core_device_error(core, PPU_DEVERR_ARG);
        return;
    }
    if (first) {
        sm_flush(core, context);
    }
    core_timer_request(core);
}

/* One SM has answered the flush under way; true when another one begins, of *context. */
static bool flush_answer(struct core *core, uint32_t sm, uint32_t *context)
{
    struct dist *dist = &core->dist;
    const struct dist_flush *flush = &dist->flush[dist->flush_head];

    if (dist->flush_count == 0 || flush->context != *context || !await_no_more(dist, sm) || dist->flush_left != 0) {
        return false;
    }
    push_flushed(core, flush);
    dist->flush_head = (dist->flush_head + 1) % PPU_MAX_CONTEXTS;
    dist->flush_count--;
    if (dist->flush_count == 0) {
        return false;
    }
    *context = dist->flush[dist->flush_head].context;
    await_all_sms(core);
    return true;
}

void dist_flushed(struct core *core, uint32_t sm, uint32_t context)
{
    pthread_mutex_lock(&core->dist.lock);
    bool next = flush_answer(core, sm, &context);
    pthread_mutex_unlock(&core->dist.lock);
    if (next) {
        sm_flush(core, context);
    }
}

bool flush_load(struct core *core, struct snap *snap)
{
    struct dist *dist = &core->dist;
    uint32_t count = snap_get_u32(snap);

    if (count > PPU_MAX_CONTEXTS) {
        return snap_refuse(snap, "%u flushes", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        dist->flush[i].context = snap_get_u32(snap);
        dist->flush[i].tag = snap_get_u32(snap);
        if (dist->flush[i].context >= core->config.contexts) {
            return snap_refuse(snap, "a flush of address space %u", dist->flush[i].context);
        }
    }
    dist->flush_count = count;
    if (count != 0) {
        await_all_sms(core);
    }
    return !snap->bad;
}
