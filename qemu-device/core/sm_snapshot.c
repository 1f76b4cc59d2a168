/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshot of the SMs, while they are paused. Translations, decoded code and requests to the main loop are not part of
 * it: a warp that waits for system memory does the rest of its instruction again.
 */
#include "sm_state.h"
#include "snapshot.h"

#include <string.h>

#define SECTION_SMS 0x20534d53u /* "SMS " */
#define SECTION_END 0x444e4553u /* "SEND" */

/* ---- saving ---- */

/* Afterwards no warp waits for system memory. */
static void settle(struct sm *sm)
{
    for (uint32_t i = 0; i < sm->config->sm_warps; i++) {
        if (sm->warp[i].state != WARP_SYSTEM) {
            continue;
        }
        if (__atomic_load_n(&sm->sys[i].state, __ATOMIC_SEQ_CST) == SYS_DONE) {
            engine_settle(sm, i);
        } else {
            sm_system_take_back(sm, i);
            sm->warp[i].state = WARP_READY;
        }
    }
}

static void put_lanes(struct snap *snap, const struct lanes *lanes)
{
    for (uint32_t i = 0; i < PPU_MAX_WAVE_WORDS; i++) {
        snap_put_u32(snap, lanes->m[i]);
    }
}

static void put_parts(struct snap *snap, const struct parts *parts)
{
    snap_put_u32(snap, parts->on);
    snap_put_u32(snap, parts->loop);
    snap_put_u32(snap, parts->ended);
    snap_put_u32(snap, parts->part);
    snap_put_u32(snap, parts->scalar);
    snap_put_u32(snap, parts->shared);
    snap_put_u32(snap, parts->floor);
    snap_put_u32(snap, parts->begin);
    snap_put_u32(snap, parts->end);
    put_lanes(snap, &parts->entered);
}

static void save_warp(const struct sm *sm, uint32_t index, struct snap *snap)
{
    struct warp *w = &sm->warp[index];
    size_t token_bytes = PPU_TOKEN_WORDS(w->passes * PPU_LANES) * sizeof(uint32_t);
    const uint8_t *tokens = sm_file_tokens(sm, &sm->cta[w->cta], w->number);

    warp_yields(w);
    snap_put_u32(snap, w->state);
    snap_put_u32(snap, w->partial);
    snap_put_u32(snap, w->held);
    snap_put_u32(snap, w->section);
    snap_put_u32(snap, w->pc);
    put_lanes(snap, &w->active);
    put_lanes(snap, &w->live);
    put_lanes(snap, &w->pending);
    for (uint32_t i = 0; i < PPU_PREDS; i++) {
        put_lanes(snap, &w->pred[i]);
    }
    snap_put_bytes(snap, w->reason, sizeof(w->reason));
    snap_put_bytes(snap, w->wait_pc, sizeof(w->wait_pc));
    snap_put_u32(snap, w->token_first);
    snap_put_u32(snap, w->token_count);
    snap_put_u32(snap, w->yield_count);
    snap_put_bytes(snap, w->yield_turns, sizeof(w->yield_turns));
    snap_put_u64(snap, w->random);
    snap_put_u32(snap, w->window.loads);
    snap_put_u32(snap, w->window.misses);
    snap_put_u32(snap, w->measured);
    snap_put_u32(snap, w->sampled);
    snap_put_u32(snap, w->segment.loads);
    snap_put_u32(snap, w->segment.misses);
    put_parts(snap, &w->parts);
    snap_put_bytes(snap, tokens + w->token_first * token_bytes, w->token_count * token_bytes);
    snap_put_bytes(snap, &w->fault, sizeof(w->fault));
    snap_put_bytes(snap, w->sreg, sizeof(w->sreg));
}

void sm_snap_put(const struct sm *sm, const struct sm_cta *cta, struct snap *snap)
{
    snap_put_bytes(snap, cta->barrier, sizeof(cta->barrier));
    for (uint32_t i = 0; i < cta->cta.task->cta_warps; i++) {
        save_warp(sm, cta->warp[i], snap);
    }
    for (uint32_t id = 0; id < SM_FILE_OWN; id++) {
        snap_put_bytes(snap, sm->file[id].bytes + cta->block[id].off, cta->block[id].len);
    }
}

static void save_cta(const struct sm *sm, const struct sm_cta *cta, struct snap *snap)
{
    const struct dist_task *task = cta->cta.task;

    snap_put_u32(snap, (uint32_t)(cta - sm->cta));
    snap_put_u32(snap, task->slot);
    for (uint32_t i = 0; i < task->cta_warps; i++) {
        snap_put_u32(snap, cta->warp[i]);
    }
    snap_put_u64(snap, cta->cta.number);
    snap_put_bytes(snap, cta->cta.id, sizeof(cta->cta.id));
    snap_put_u32(snap, cta->cta.local_slot);
    snap_put_u32(snap, cta->cta.save);
    snap_put_bytes(snap, cta->count, sizeof(cta->count));
    sm_snap_put(sm, cta, snap);
}

/* Slots whose task has begun on the SM: what it found there (see_code()) is not dropped once more. */
static uint64_t begun(const struct sm *sm)
{
    uint64_t slots = 0;

    for (uint32_t slot = 0; slot < sm->config->slots; slot++) {
        const struct dist_task *task = dist_task_of(sm->core, slot);
        slots |= task != NULL && sm->started[slot] == task->start ? 1ull << slot : 0;
    }
    return slots;
}

/* What is known of the tasks in the slots; of others nothing is worth keeping. */
static void put_modes(const struct sm *sm, struct snap *snap)
{
    for (uint32_t slot = 0; slot < sm->config->slots; slot++) {
        const struct dist_task *task = dist_task_of(sm->core, slot);
        const struct mode *mode = &sm->mode[slot];
        const bool known = task != NULL && mode->start == task->start;

        snap_put_u32(snap, known);
        snap_put_u32(snap, known ? mode->normal.loads : 0);
        snap_put_u32(snap, known ? mode->normal.misses : 0);
        snap_put_u32(snap, known ? mode->segments : 0);
        snap_put_u32(snap, known && mode->parts);
    }
}

static void put_cache(struct snap *snap, const struct cache *cache)
{
    snap_put_bytes(snap, cache->way, cache_state_bytes(cache));
}

void sm_pool_save(struct core *core, struct snap *snap)
{
    struct sm_pool *pool = *core_sm_pool(core);

    snap_put_section(snap, SECTION_SMS);
    snap_put_u64(snap, pool->slice_ns);
    for (uint32_t i = 0; i < pool->sms; i++) {
        struct sm *sm = &pool->sm[i];

        settle(sm);
        snap_put_bytes(snap, sm->count, sizeof(sm->count));
        snap_put_u32(snap, sm->next_warp);
        snap_put_u32(snap, sm->turns);
        snap_put_bytes(snap, sm->flush, sizeof(sm->flush));
        snap_put_u32(snap, sm->ctas_used);
        for (uint32_t c = 0; c < core_config_of(core)->sm_ctas; c++) {
            if (sm->cta[c].used) {
                save_cta(sm, &sm->cta[c], snap);
            }
        }
        snap_put_u64(snap, begun(sm));
        put_modes(sm, snap);
        put_cache(snap, &sm->l1);
    }
    put_cache(snap, &pool->l2.cache);
    snap_put_section(snap, SECTION_END);
}

/* ---- loading: every value is checked before it is used ---- */

static void get_lanes(struct snap *snap, struct lanes *lanes)
{
    for (uint32_t i = 0; i < PPU_MAX_WAVE_WORDS; i++) {
        lanes->m[i] = snap_get_u32(snap);
    }
}

static void get_parts(struct snap *snap, struct parts *parts)
{
    parts->on = snap_get_u32(snap) != 0;
    parts->loop = snap_get_u32(snap) != 0;
    parts->ended = snap_get_u32(snap) != 0;
    parts->part = (uint8_t)snap_get_u32(snap);
    parts->scalar = (uint8_t)snap_get_u32(snap);
    parts->shared = (uint16_t)snap_get_u32(snap);
    parts->floor = snap_get_u32(snap);
    parts->begin = snap_get_u32(snap);
    parts->end = snap_get_u32(snap);
    get_lanes(snap, &parts->entered);
}

static bool within(const struct lanes *part, const struct lanes *whole)
{
    struct lanes outside = lanes_without(part, whole);

    return !lanes_any(&outside);
}

static bool load_tokens(struct sm *sm, struct warp *w, struct snap *snap)
{
    size_t token_bytes = PPU_TOKEN_WORDS(w->passes * PPU_LANES) * sizeof(uint32_t);
    uint8_t *tokens = sm_file_tokens(sm, &sm->cta[w->cta], w->number);

    w->token_first = snap_get_u32(snap);
    w->token_count = snap_get_u32(snap);
    w->yield_count = snap_get_u32(snap);
    snap_get_bytes(snap, w->yield_turns, sizeof(w->yield_turns));
    w->yields = true;
    w->random = snap_get_u64(snap);
    w->window.loads = snap_get_u32(snap);
    w->window.misses = snap_get_u32(snap);
    w->measured = snap_get_u32(snap) != 0;
    w->sampled = snap_get_u32(snap) != 0;
    w->segment.loads = snap_get_u32(snap);
    w->segment.misses = snap_get_u32(snap);
    get_parts(snap, &w->parts);
    if (snap->bad || w->token_first > w->token_cap || w->token_count > w->token_cap - w->token_first ||
        w->yield_count > w->token_count) {
        return false;
    }
    snap_get_bytes(snap, tokens + w->token_first * token_bytes, w->token_count * token_bytes);
    return !snap->bad;
}

/* Lanes wait for their part in a segment that the warp is in, and that it can be in. */
static bool parts_agree(const struct warp *w, const struct dist_task *task)
{
    const struct parts *parts = &w->parts;

    LANES_EACH(&w->live, lane)
    {
        bool running = lane / PPU_LANES == parts->part;
        if (w->reason[lane] == PPU_REASON_PART && (!parts->on || running || !lanes_has(&parts->entered, lane))) {
            return false;
        }
    }
    return !parts->on ||
           (parts->part < w->passes && parts->shared <= task->tmd.shared_vregs && parts->floor <= w->token_count &&
            (!parts->loop || (parts->shared == 0 && parts->scalar + w->passes - 1u <= PPU_SREGS)));
}

static bool states_agree(const struct warp *w, const struct lanes *started)
{
    bool active = lanes_any(&w->active);

    if (!within(&w->live, started) || !within(&w->active, &w->live) || !within(&w->pending, started)) {
        return false;
    }
    for (uint32_t lane = 0; lane < PPU_MAX_WAVE; lane++) {
        bool live = lanes_has(&w->live, lane);
        if (lanes_has(&w->active, lane) != (live && w->reason[lane] == PPU_REASON_ACTIVE) ||
            live == (w->reason[lane] == PPU_REASON_ENDED)) {
            return false;
        }
    }
    switch (w->state) {
    case WARP_READY:
        return lanes_any(&w->live);
    case WARP_STALLED:
    case WARP_FAULTED:
        return active || w->state == WARP_FAULTED;
    case WARP_BARRIER:
        return lanes_any(&w->live);
    case WARP_DONE:
        return !lanes_any(&w->live);
    default:
        return false;
    }
}

static bool load_warp(struct sm *sm, struct sm_cta *cta, uint32_t number, struct snap *snap)
{
    struct warp *w = &sm->warp[cta->warp[number]];
    struct lanes started = w->live;

    w->fresh = false;
    w->state = (uint8_t)snap_get_u32(snap);
    w->partial = snap_get_u32(snap) != 0;
    w->held = snap_get_u32(snap) != 0;
    w->section = (uint8_t)snap_get_u32(snap);
    w->pc = snap_get_u32(snap);
    get_lanes(snap, &w->active);
    get_lanes(snap, &w->live);
    get_lanes(snap, &w->pending);
    for (uint32_t i = 0; i < PPU_PREDS; i++) {
        get_lanes(snap, &w->pred[i]);
    }
    snap_get_bytes(snap, w->reason, sizeof(w->reason));
    snap_get_bytes(snap, w->wait_pc, sizeof(w->wait_pc));
    if (w->held) {
        hook_count_held(sm->core, true);
    }
    if (!load_tokens(sm, w, snap) || w->random == 0) {
        return false;
    }
    snap_get_bytes(snap, &w->fault, sizeof(w->fault));
    snap_get_bytes(snap, w->sreg, sizeof(w->sreg));
    w->partial = w->partial && lanes_any(&w->pending);
    return !snap->bad && states_agree(w, &started) && parts_agree(w, cta->cta.task);
}

/* Counts what the warps say, and compares with what was saved. */
static bool counts_agree(struct sm *sm, struct sm_cta *cta)
{
    uint64_t at_barriers = 0;

    cta->warps_left = cta->threads_left = cta->waiting = 0;
    for (uint32_t i = 0; i < cta->cta.task->cta_warps; i++) {
        const struct warp *w = &sm->warp[cta->warp[i]];

        cta->threads_left += lanes_count(&w->live);
        cta->warps_left += w->state != WARP_DONE;
        cta->waiting += w->state == WARP_BARRIER ? lanes_count(&w->active) : 0;
        LANES_EACH(&w->live, lane)
        {
            cta->waiting += w->reason[lane] == PPU_REASON_BARRIER;
        }
    }
    for (uint32_t id = 0; id < SM_WAITS; id++) {
        at_barriers += cta->barrier[id];
    }
    return at_barriers == cta->waiting && cta->warps_left != 0;
}

static bool fits(const struct sm *sm, const struct dist_task *task)
{
    const struct dist_room room = sm_room(sm);

    return room.ctas != 0 && task->cta_passes <= room.passes && task->cta_vregs <= room.vregs &&
           task->tmd.shared_bytes <= room.shared_bytes && task->cta_tokens <= room.token_bytes;
}

static bool cta_id_ok(const struct dist_cta *cta)
{
    const uint32_t *grid = cta->task->tmd.grid;

    if (cta->task->tmd.kind == PPU_TMD_QUEUE) {
        return cta->id[0] == (uint32_t)cta->number && cta->id[1] == 0 && cta->id[2] == 0 &&
               cta->local_slot < cta->task->local_slots;
    }
    return cta->id[0] < grid[0] && cta->id[1] < grid[1] && cta->id[2] < grid[2] &&
           cta->number == cta->id[0] + (uint64_t)grid[0] * (cta->id[1] + (uint64_t)grid[1] * cta->id[2]) &&
           cta->local_slot < cta->task->local_slots;
}

/* Indices of the CTA's warps on the SM: all free, and no two alike. */
static bool load_places(const struct sm *sm, struct sm_cta *cta, struct snap *snap)
{
    uint32_t warps = sm->config->sm_warps;

    for (uint32_t i = 0; i < cta->cta.task->cta_warps; i++) {
        uint32_t index = snap_get_u32(snap);

        if (snap->bad || index >= warps || sm->warp[index].state != WARP_FREE) {
            return false;
        }
        for (uint32_t other = 0; other < i; other++) {
            if (cta->warp[other] == index) {
                return false;
            }
        }
        cta->warp[i] = index;
    }
    return true;
}

static bool load_identity(struct sm *sm, struct sm_cta *cta, struct snap *snap)
{
    uint32_t slot = snap_get_u32(snap);

    if (snap->bad || slot >= sm->config->slots) {
        return false;
    }
    cta->cta.task = dist_task_of(sm->core, slot);
    if (cta->cta.task == NULL || !fits(sm, cta->cta.task) || !load_places(sm, cta, snap)) {
        return false;
    }
    cta->cta.number = snap_get_u64(snap);
    snap_get_bytes(snap, cta->cta.id, sizeof(cta->cta.id));
    cta->cta.local_slot = snap_get_u32(snap);
    cta->cta.save = snap_get_u32(snap);
    return !snap->bad && cta_id_ok(&cta->cta) &&
           (cta->cta.task->tmd.save_count == 0 ? cta->cta.save == DIST_NO_SAVE
                                               : cta->cta.save < cta->cta.task->tmd.save_count);
}

bool sm_snap_get(struct sm *sm, struct sm_cta *cta, struct snap *snap)
{
    snap_get_bytes(snap, cta->barrier, sizeof(cta->barrier));
    for (uint32_t i = 0; i < cta->cta.task->cta_warps; i++) {
        if (!load_warp(sm, cta, i, snap)) {
            return false;
        }
    }
    for (uint32_t id = 0; id < SM_FILE_OWN; id++) {
        snap_get_bytes(snap, sm->file[id].bytes + cta->block[id].off, cta->block[id].len);
    }
    return !snap->bad && counts_agree(sm, cta);
}

static bool load_cta(struct sm *sm, struct snap *snap)
{
    uint32_t index = snap_get_u32(snap);
    struct sm_cta *cta;

    if (snap->bad || index >= sm->config->sm_ctas || sm->cta[index].used) {
        return false;
    }
    cta = &sm->cta[index];
    if (!load_identity(sm, cta, snap)) {
        return false;
    }
    sm_cta_place(sm, cta);
    dist_loaded_cta(sm->core, sm->number, &cta->cta);
    snap_get_bytes(snap, cta->count, sizeof(cta->count));
    memcpy(cta->settled, cta->count, sizeof(cta->count));
    return sm_snap_get(sm, cta, snap);
}

static void get_begun(struct sm *sm, uint64_t slots)
{
    for (uint32_t slot = 0; slot < sm->config->slots; slot++) {
        const struct dist_task *task = dist_task_of(sm->core, slot);
        if (task != NULL && slots >> slot & 1) {
            sm->started[slot] = task->start;
        }
    }
}

/* Any numbers do: they are only compared. */
static void get_modes(struct sm *sm, struct snap *snap)
{
    for (uint32_t slot = 0; slot < sm->config->slots; slot++) {
        const struct dist_task *task = dist_task_of(sm->core, slot);
        struct mode *mode = &sm->mode[slot];
        const bool known = snap_get_u32(snap) != 0;

        mode->start = known && task != NULL ? task->start : 0;
        mode->normal.loads = snap_get_u32(snap);
        mode->normal.misses = snap_get_u32(snap);
        mode->segments = snap_get_u32(snap);
        mode->parts = snap_get_u32(snap) != 0;
    }
}

/* Any numbers do: lines are only looked for. */
static void get_cache(struct snap *snap, struct cache *cache)
{
    snap_get_bytes(snap, cache->way, cache_state_bytes(cache));
}

static bool load_sm(struct sm *sm, struct snap *snap)
{
    const struct core_config *config = sm->config;
    uint32_t ctas;

    snap_get_bytes(snap, sm->count, sizeof(sm->count));
    sm->next_warp = snap_get_u32(snap);
    sm->turns = snap_get_u32(snap);
    snap_get_bytes(snap, sm->flush, sizeof(sm->flush));
    ctas = snap_get_u32(snap);
    if (snap->bad || sm->next_warp >= config->sm_warps || ctas > config->sm_ctas) {
        return false;
    }
    sm_file_find_tokens(sm);
    for (uint32_t i = 0; i < ctas; i++) {
        if (!load_cta(sm, snap)) {
            return false;
        }
    }
    get_begun(sm, snap_get_u64(snap));
    get_modes(sm, snap);
    get_cache(snap, &sm->l1);
    sm->attention = 1;
    sm->has_work = 1;
    return true;
}

bool sm_pool_load(struct core *core, struct snap *snap)
{
    struct sm_pool *pool = *core_sm_pool(core);
    bool ok = true;

    sm_pool_reset(core);
    snap_get_section(snap, SECTION_SMS);
    pool->slice_ns = snap_get_u64(snap);
    for (uint32_t i = 0; i < pool->sms && ok; i++) {
        ok = load_sm(&pool->sm[i], snap);
    }
    if (ok) {
        get_cache(snap, &pool->l2.cache);
    }
    snap_get_section(snap, SECTION_END);
    if (!ok || snap->bad) {
        sm_pool_reset(core);
        return false;
    }
    return true;
}
