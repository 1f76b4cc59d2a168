/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/core/debug/rewind.h"
#include "ppu/macros.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/history.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/sm/cache_model.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/file.h"
#include "qemu-device/core/sm/pending_adds.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/tlb.h"
#include "qemu-device/core/sm/warp.h"

#include <stddef.h>
#include <stdlib.h>

#define DIGEST_BEGIN 0xcbf29ce484222325ull /* of FNV-1a */
#define DIGEST_PRIME 0x100000001b3ull

/* ---- one order for both directions ---- */

struct passage {
    bool takes;
    struct history_state *to;         /* when it takes, */
    const struct history_state *from; /* else */
    size_t at;
    bool bad;
};

static void pass(struct passage *passage, void *bytes, size_t count)
{
    const size_t wanted = passage->at + ppu_align_up64(count, sizeof(uint64_t)); /* words are copied whole */

    if (passage->takes && passage->to->room < wanted) {
        const size_t room = 2 * wanted;
        uint8_t *grown = realloc(passage->to->bytes, room);
        if (!grown) {
            passage->bad = true;
            return;
        }
        passage->to->bytes = grown;
        passage->to->room = room;
    }
    if (passage->takes) {
        vram_copy(passage->to->bytes + passage->at, bytes, count);
    } else {
        vram_copy(bytes, passage->from->bytes + passage->at, count);
    }
    passage->at = wanted;
}

#define PASS(passage, object) pass(passage, &(object), sizeof(object))

/* Each block of the CTAs that the passage has told of. */
static void pass_files(struct passage *passage, struct sm *sm)
{
    for (uint32_t i = 0; i < sm->config->sm_ctas; i++) {
        for (uint32_t id = 0; id < SM_FILE_COUNT && sm->cta[i].used; id++) {
            const struct sm_block *block = &sm->cta[i].block[id];
            pass(passage, sm->file[id].bytes + block->off, block->len);
        }
    }
}

static void pass_sm(struct passage *passage, struct sm *sm)
{
    const struct core_config *config = sm->config;

    PASS(passage, sm->count);
    PASS(passage, sm->next_warp);
    PASS(passage, sm->turns);
    PASS(passage, sm->share);
    PASS(passage, sm->ctas_used);
    PASS(passage, sm->warps_used);
    PASS(passage, sm->shown);
    PASS(passage, sm->used);
    PASS(passage, sm->started);
    PASS(passage, sm->file);
    PASS(passage, sm->mode);
    PASS(passage, sm->ends);
    pass(passage, sm->cta, config->sm_ctas * sizeof(*sm->cta));
    pass(passage, sm->warp, config->sm_warps * sizeof(*sm->warp));
    pass(passage, sm->l1.way, cache_state_bytes(&sm->l1));
    if (!passage->takes) {
        sm_file_shade(sm);
    }
    pass_files(passage, sm);
}

static void pass_caches(struct passage *passage, struct sm_pool *pool)
{
    const struct core_config *config = &pool->core->config;

    for (uint32_t i = 0; config->cache_model && i < config->gpcs; i++) {
        struct gpc *gpc = &pool->gpc[i];
        pass(passage, gpc->l15.way, cache_state_bytes(&gpc->l15));
        pass(passage, gpc->tlb.way, cache_state_bytes(&gpc->tlb));
        PASS(passage, gpc->started);
        PASS(passage, gpc->count);
    }
    pass(passage, pool->l2.cache.way, cache_state_bytes(&pool->l2.cache));
}

static void pass_all(struct passage *passage, struct core *core)
{
    struct sm_pool *pool = *core_sm_pool(core);
    struct dist *dist = &core->dist;
    uint8_t *const first = (uint8_t *)dist + offsetof(struct dist, slot);

    pass(passage, first, offsetof(struct dist, census) - offsetof(struct dist, slot));
    for (uint32_t i = 0; i < pool->sms; i++) {
        pass_sm(passage, &pool->sm[i]);
    }
    pass_caches(passage, pool);
    pass(passage, core->debug.mark, (size_t)core->config.sms * core->config.sm_warps * sizeof(*core->debug.mark));
}

/* ---- taking and putting ---- */

static bool waits_for_system(const struct sm *sm)
{
    bool waits = false;

    for (uint32_t i = 0; i < sm->config->sm_warps && !waits; i++) {
        waits = sm->warp[i].state == WARP_SYSTEM;
    }
    return waits;
}

bool rewind_take(struct core *core, struct history_state *state)
{
    struct sm_pool *pool = *core_sm_pool(core);
    struct passage passage = { .takes = true, .to = state };

    for (uint32_t i = 0; i < pool->sms; i++) {
        if (waits_for_system(&pool->sm[i])) {
            return false;
        }
        pending_adds_flush(&pool->sm[i]);
        sm_tlb_drop_all(&pool->sm[i]); /* writes are to be seen from now on */
    }
    pass_all(&passage, core);
    state->used = passage.at;
    return !passage.bad;
}

/* The clock cannot be turned back. */
struct slot_times {
    uint64_t run_ns, run_since_ns, stepped_ns;
    bool stands;
};

static void times_get(const struct dist *dist, struct slot_times times[PPU_MAX_SLOTS])
{
    for (uint32_t i = 0; i < PPU_MAX_SLOTS; i++) {
        const struct dist_slot *slot = &dist->slot[i];
        times[i] = (struct slot_times){ slot->run_ns, slot->run_since_ns, slot->stepped_ns, slot->stands };
    }
}

static void times_put(struct dist *dist, const struct slot_times times[PPU_MAX_SLOTS])
{
    for (uint32_t i = 0; i < PPU_MAX_SLOTS; i++) {
        struct dist_slot *slot = &dist->slot[i];
        slot->run_ns = times[i].run_ns;
        slot->run_since_ns = times[i].run_since_ns;
        slot->stepped_ns = times[i].stepped_ns;
        slot->stands = times[i].stands;
    }
}

void rewind_put(struct core *core, const struct history_state *state)
{
    struct sm_pool *pool = *core_sm_pool(core);
    struct passage passage = { .from = state };
    struct slot_times times[PPU_MAX_SLOTS];

    for (uint32_t i = 0; i < pool->sms; i++) {
        pending_adds_flush(&pool->sm[i]);
    }
    times_get(&core->dist, times);
    pass_all(&passage, core);
    times_put(&core->dist, times);
    for (uint32_t i = 0; i < pool->sms; i++) {
        struct sm *sm = &pool->sm[i];
        sm_tlb_drop_all(sm);
        sm->exec.start = 0;
        sm->part_rows_key = 0;
        __atomic_store_n(&sm->has_work, 1, __ATOMIC_SEQ_CST);
    }
}

/* ---- comparing ---- */

static uint64_t digest_of(uint64_t digest, const void *bytes, size_t count)
{
    const uint8_t *at = bytes;

    for (size_t i = 0; i < count; i++) {
        digest = (digest ^ vram_read8(at + i)) * DIGEST_PRIME;
    }
    return digest;
}

static uint64_t digest_of_warp(uint64_t digest, const struct sm *sm, uint32_t index)
{
    const struct warp *w = &sm->warp[index];

    digest = digest_of(digest, &w->state, sizeof(w->state));
    digest = digest_of(digest, &w->pc, sizeof(w->pc));
    digest = digest_of(digest, &w->active, sizeof(w->active));
    digest = digest_of(digest, &w->live, sizeof(w->live));
    digest = digest_of(digest, w->pred, sizeof(w->pred));
    return digest_of(digest, w->sreg, sizeof(w->sreg));
}

static uint64_t digest_of_sm(uint64_t digest, const struct sm *sm)
{
    for (uint32_t i = 0; i < sm->config->sm_ctas; i++) {
        const struct sm_cta *cta = &sm->cta[i];
        for (uint32_t n = 0; cta->used && n < cta->cta.task->cta_warps; n++) {
            digest = digest_of_warp(digest, sm, cta->warp[n]);
        }
        for (uint32_t id = 0; cta->used && id < SM_FILE_OWN; id++) {
            digest = digest_of(digest, sm->file[id].bytes + cta->block[id].off, cta->block[id].len);
        }
    }
    return digest;
}

uint64_t rewind_digest(struct core *core)
{
    const struct sm_pool *pool = *core_sm_pool(core);
    const struct history *history = core->debug.history;
    uint64_t digest = DIGEST_BEGIN;

    for (uint32_t i = 0; i < pool->sms; i++) {
        digest = digest_of_sm(digest, &pool->sm[i]);
    }
    for (uint32_t i = 0; i < history->pages; i++) {
        digest = digest_of(digest, core->vram + history->page[i], HISTORY_PAGE);
    }
    return digest;
}
