/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshot of the SMs, while they are paused. Translations, decoded code and requests to the main loop are not part of
 * it: a warp that waits for system memory does the rest of its instruction again, which is kept with the warp.
 */
#include "qemu-device/core/sm/sm_snapshot.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/census.h"
#include "qemu-device/core/dist/cta.h"
#include "qemu-device/core/dist/room.h"
#include "qemu-device/core/dist/slot.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/engine/engine.h"
#include "qemu-device/core/hooks.h"
#include "qemu-device/core/sm/cache_model.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/cta_life.h"
#include "qemu-device/core/sm/file.h"
#include "qemu-device/core/sm/lanes.h"
#include "qemu-device/core/sm/mode.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"
#include "qemu-device/core/sm/segment.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/system.h"
#include "qemu-device/core/sm/token_queue.h"
#include "qemu-device/core/sm/turn.h"
#include "qemu-device/core/sm/warp.h"
#include "qemu-device/core/snapshot.h"

#include <string.h>

#define SECTION_SMS 0x20534d53u /* "SMS " */
#define SECTION_END 0x444e4553u /* "SEND" */

/* ---- saving ---- */

/* Afterwards no warp waits for system memory. */
static void settle_accesses(struct sm *sm)
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

static void put_segment(struct snap *snap, const struct segment *segment)
{
    snap_put_u32(snap, segment->on);
    snap_put_u32(snap, segment->ended);
    snap_put_u32(snap, segment->part);
    snap_put_u32(snap, segment->shared);
    snap_put_u32(snap, segment->open);
    snap_put_u32(snap, segment->floor);
    snap_put_u32(snap, segment->begin);
    snap_put_u32(snap, segment->end);
    put_lanes(snap, &segment->entered);
}

/* Where its lanes wait; 0 of those that do not. */
static void put_barriers(struct snap *snap, const struct warp *w)
{
    uint8_t at[PPU_MAX_WAVE] = { 0 };

    LANES_EACH(&w->live, lane)
    {
        if (w->reason[lane] == PPU_REASON_BARRIER || (w->state == WARP_BARRIER && lanes_has(&w->active, lane))) {
            at[lane] = w->barrier[lane];
        }
    }
    snap_put_bytes(snap, at, sizeof(at));
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
    snap_put_u64(snap, warp_begun(w) ? w->word : 0);
    put_lanes(snap, &w->active);
    put_lanes(snap, &w->live);
    put_lanes(snap, &w->pending);
    for (uint32_t i = 0; i < PPU_PREDS; i++) {
        put_lanes(snap, &w->pred[i]);
    }
    snap_put_bytes(snap, w->reason, sizeof(w->reason));
    snap_put_bytes(snap, w->wait_pc, sizeof(w->wait_pc));
    put_barriers(snap, w);
    snap_put_u32(snap, w->token_first);
    snap_put_u32(snap, w->token_count);
    snap_put_u32(snap, w->yield_count);
    snap_put_bytes(snap, w->yield_turns, sizeof(w->yield_turns));
    snap_put_u64(snap, w->random);
    snap_put_u32(snap, w->window.loads);
    snap_put_u32(snap, w->window.misses);
    snap_put_u32(snap, w->measured);
    snap_put_u32(snap, w->sampled);
    snap_put_u32(snap, w->segment_window.loads);
    snap_put_u32(snap, w->segment_window.misses);
    put_segment(snap, &w->segment);
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
    snap_put_u32(snap, cta->cta.local_backing);
    snap_put_u32(snap, cta->cta.save);
    snap_put_u32(snap, cta->cta.wide);
    snap_put_bytes(snap, cta->count, sizeof(cta->count));
    sm_snap_put(sm, cta, snap);
}

/* Slots whose task has begun on the SM: what it found there (see_code()) is not dropped once more. */
static uint64_t begun(const struct sm *sm)
{
    uint64_t slots = 0;

    for (uint32_t slot = 0; slot < sm->config->slots; slot++) {
        const struct dist_task *task = dist_task_of(sm->core, slot);
        slots |= task && sm->started[slot] == task->start ? 1ull << slot : 0;
    }
    return slots;
}

/* Puts what is known of the tasks in the slots. Nothing is worth keeping of others. */
static void put_modes(const struct sm *sm, struct snap *snap)
{
    for (uint32_t slot = 0; slot < sm->config->slots; slot++) {
        const struct dist_task *task = dist_task_of(sm->core, slot);
        const struct mode *mode = &sm->mode[slot];
        const bool known = task && mode->start == task->start;

        snap_put_u32(snap, known);
        snap_put_u32(snap, known ? mode->normal.loads : 0);
        snap_put_u32(snap, known ? mode->normal.misses : 0);
        snap_put_u32(snap, known ? mode->segments : 0);
        snap_put_u32(snap, known ? mode->ctas : 0);
        snap_put_u32(snap, known && mode->subvector);
    }
}

/* Says how much of the SM each address space has had. */
static void put_share(const struct sm *sm, struct snap *snap)
{
    snap_put_u64(snap, sm->share.insns);
    for (uint32_t i = 0; i < sm->config->contexts; i++) {
        snap_put_u64(snap, sm->share.turn_ns[i]);
        snap_put_u64(snap, sm->share.time_ns[i]);
    }
}

static void put_cache(struct snap *snap, const struct cache *cache)
{
    snap_put_bytes(snap, cache->way, cache_state_bytes(cache));
}

static void put_gpc(struct snap *snap, const struct gpc *gpc)
{
    put_cache(snap, &gpc->l15);
    put_cache(snap, &gpc->tlb);
    snap_put_bytes(snap, gpc->started, sizeof(gpc->started));
    snap_put_bytes(snap, gpc->count, sizeof(gpc->count));
}

static void put_slice(struct snap *snap, const struct sm_pool *pool)
{
    const struct sm_slice *slice = &pool->slice;

    snap_put_u64(snap, pool->slice_ns);
    snap_put_u32(snap, slice->underway);
    if (slice->underway) {
        snap_put_u64(snap, slice->begin_ns);
        snap_put_u32(snap, slice->sm);
        snap_put_u32(snap, slice->executed);
        snap_put_u32(snap, slice->turn);
        snap_put_u32(snap, slice->longest);
        snap_put_u32(snap, slice->activity);
    }
}

void sm_pool_save(struct core *core, struct snap *snap)
{
    struct sm_pool *pool = *core_sm_pool(core);

    snap_put_section(snap, SECTION_SMS);
    put_slice(snap, pool);
    for (uint32_t i = 0; i < pool->sms; i++) {
        struct sm *sm = &pool->sm[i];

        settle_accesses(sm);
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
        put_share(sm, snap);
        snap_put_u64(snap, begun(sm));
        put_modes(sm, snap);
        put_cache(snap, &sm->l1);
    }
    put_cache(snap, &pool->l2.cache);
    for (uint32_t i = 0; i < core_config_of(core)->gpcs; i++) {
        put_gpc(snap, &pool->gpc[i]);
    }
    snap_put_section(snap, SECTION_END);
}

/* ---- loading: every value is checked before it is used ---- */

static void get_lanes(struct snap *snap, struct lanes *lanes)
{
    for (uint32_t i = 0; i < PPU_MAX_WAVE_WORDS; i++) {
        lanes->m[i] = snap_get_u32(snap);
    }
}

static void get_segment(struct snap *snap, struct segment *segment)
{
    segment->on = snap_get_flag(snap);
    segment->ended = snap_get_flag(snap);
    segment->part = (uint8_t)snap_get_u32(snap);
    segment->shared = (uint16_t)snap_get_u32(snap);
    segment->open = (uint16_t)snap_get_u32(snap);
    segment->floor = snap_get_u32(snap);
    segment->begin = snap_get_u32(snap);
    segment->end = snap_get_u32(snap);
    get_lanes(snap, &segment->entered);
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
    w->measured = snap_get_flag(snap);
    w->sampled = snap_get_flag(snap);
    w->segment_window.loads = snap_get_u32(snap);
    w->segment_window.misses = snap_get_u32(snap);
    get_segment(snap, &w->segment);
    if (snap->bad || w->token_first > w->token_cap || w->token_count > w->token_cap - w->token_first ||
        w->yield_count > w->token_count) {
        return snap_refuse(snap, "%u tokens from %u on, %u of them of yields, in a queue of %u", w->token_count,
                           w->token_first, w->yield_count, w->token_cap);
    }
    if (w->random == 0 || (w->sampled && !w->measured)) {
        return snap_refuse(snap, "random state 0, or samples of a segment that is not measured");
    }
    snap_get_bytes(snap, tokens + w->token_first * token_bytes, w->token_count * token_bytes);
    return !snap->bad;
}

/* Checks a lane that is in the segment and has not ended, of the running part or of the others. */
static bool lane_of_part_agrees(const struct warp *w, uint32_t lane)
{
    const struct segment *segment = &w->segment;
    const bool entered = segment->on && lanes_has(&segment->entered, lane);
    const bool running = entered && lane / PPU_LANES == segment->part;

    if (entered && !running) {
        return w->reason[lane] == PPU_REASON_PART;
    }
    return w->reason[lane] != PPU_REASON_PART && (!segment->on || running || w->reason[lane] != PPU_REASON_ACTIVE);
}

/* Lanes wait for their part in a segment that the warp is in, and that it can be in. */
static bool parts_agree(const struct warp *w, const struct dist_cta *cta, const struct lanes *started,
                        struct snap *snap)
{
    const struct segment *segment = &w->segment;

    LANES_EACH(&w->live, lane)
    {
        if (!lane_of_part_agrees(w, lane)) {
            return snap_refuse(snap, "lane %u and part %u of the segment contradict each other", lane, segment->part);
        }
    }
    if (segment->open != 0 && (segment->on || segment->open > cta->task->tmd.shared_vregs || !cta->wide)) {
        return snap_refuse(snap, "it has %u registers more in normal mode, and cannot", segment->open);
    }
    return !segment->on ||
           (within(&segment->entered, started) && segment->part < w->passes &&
            segment->shared <= cta->task->tmd.shared_vregs && segment->floor <= w->token_count) ||
           snap_refuse(snap, "it is in a segment that cannot be");
}

/* It can go on, or waits for what makes it go on. */
static bool state_agrees(const struct warp *w)
{
    const bool active = lanes_any(&w->active);

    switch (w->state) {
    case WARP_READY:
        return lanes_any(&w->live);
    case WARP_STALLED:
        return active;
    case WARP_FAULTED:
        return true;
    case WARP_BARRIER:
        if (active) {
            return lanes_equal(&w->active, &w->live);
        }
        LANES_EACH(&w->live, lane)
        {
            if (w->reason[lane] != PPU_REASON_BARRIER) {
                return false;
            }
        }
        return lanes_any(&w->live);
    case WARP_DONE:
        return !lanes_any(&w->live);
    default:
        return false;
    }
}

/* Instructions that wait after they have begun. */
static bool can_wait(const struct ppu_insn *insn)
{
    switch (insn->op) {
    case PPU_OP_TSTART:
    case PPU_OP_SEMREL:
    case PPU_OP_SEMRELT:
        return true;
    default:
        return insn->format == PPU_FMT_MEM || insn->format == PPU_FMT_GATHER || insn->format == PPU_FMT_ATOM;
    }
}

/* Checks that what the warp has begun is an instruction that can wait so. */
static bool begun_agrees(const struct warp *w, struct snap *snap)
{
    struct ppu_insn insn;

    if (!warp_begun(w)) {
        return true;
    }
    if (ppu_isa_decode(w->word, &insn) != 0 || (w->partial && w->held) ||
        !(w->held ? insn.op == PPU_OP_MARK : can_wait(&insn))) {
        return snap_refuse(snap, "it has begun an instruction that does not wait");
    }
    return true;
}

static bool lanes_agree(const struct warp *w, const struct lanes *started, struct snap *snap)
{
    if (!within(&w->live, started) || !within(&w->active, &w->live) ||
        (w->partial && !within(&w->pending, &w->active))) {
        return snap_refuse(snap, "lanes are live, active or pending that cannot be");
    }
    for (uint32_t lane = 0; lane < PPU_MAX_WAVE; lane++) {
        const bool live = lanes_has(&w->live, lane);

        if (lanes_has(&w->active, lane) != (live && w->reason[lane] == PPU_REASON_ACTIVE) ||
            live == (w->reason[lane] == PPU_REASON_ENDED) || w->reason[lane] > PPU_REASON_ENDED) {
            return snap_refuse(snap, "lane %u is disabled for reason %u", lane, w->reason[lane]);
        }
    }
    return state_agrees(w) || snap_refuse(snap, "its lanes cannot be so in state %u", w->state);
}

static bool is_fault(uint16_t code)
{
    switch (code) {
#define PPU_FAULT(name, code, scope, retryable, payload, location, error, text) case PPU_FAULT_##name:
#include "ppu/fault.def"
#undef PPU_FAULT
        return true;
    default:
        return false;
    }
}

static void get_warp(struct sm *sm, struct warp *w, struct snap *snap)
{
    w->fresh = false;
    w->state = (uint8_t)snap_get_u32(snap);
    w->partial = snap_get_flag(snap);
    w->held = snap_get_flag(snap);
    w->section = (uint8_t)snap_get_u32(snap);
    w->pc = snap_get_u32(snap);
    w->word = snap_get_u64(snap);
    get_lanes(snap, &w->active);
    get_lanes(snap, &w->live);
    get_lanes(snap, &w->pending);
    for (uint32_t i = 0; i < PPU_PREDS; i++) {
        get_lanes(snap, &w->pred[i]);
    }
    snap_get_bytes(snap, w->reason, sizeof(w->reason));
    snap_get_bytes(snap, w->wait_pc, sizeof(w->wait_pc));
    snap_get_bytes(snap, w->barrier, sizeof(w->barrier));
    w->partial = w->partial && lanes_any(&w->pending);
    if (w->held) {
        hook_count_held(sm->core, true);
    }
}

static bool load_warp(struct sm *sm, struct sm_cta *cta, uint32_t number, struct snap *snap)
{
    struct warp *w = &sm->warp[cta->warp[number]];
    const struct lanes started = w->live;

    snap->unit[SNAP_WARP] = number;
    get_warp(sm, w, snap);
    if (!load_tokens(sm, w, snap)) {
        return false;
    }
    snap_get_bytes(snap, &w->fault, sizeof(w->fault));
    snap_get_bytes(snap, w->sreg, sizeof(w->sreg));
    if (snap->bad || !lanes_agree(w, &started, snap) || !begun_agrees(w, snap) ||
        !parts_agree(w, &cta->cta, &started, snap)) {
        return false;
    }
    if ((w->held && !sm->config->test_hooks) || w->section > PPU_SECTION_INSNS + 1u) {
        return snap_refuse(snap, "it is held without test hooks, or in a critical section that is too long");
    }
    if (w->state == WARP_FAULTED && !is_fault(w->fault.code)) {
        return snap_refuse(snap, "it has fault 0x%x", w->fault.code);
    }
    snap->unit[SNAP_WARP] = SNAP_NO_UNIT;
    return true;
}

/* The lanes of a warp that wait, at the number where each does; false: there is no such number. */
static bool count_waiting(const struct warp *w, uint32_t waiting[SM_WAITS])
{
    LANES_EACH(&w->live, lane)
    {
        if (w->reason[lane] == PPU_REASON_BARRIER || (w->state == WARP_BARRIER && lanes_has(&w->active, lane))) {
            if (w->barrier[lane] >= SM_WAITS) {
                return false;
            }
            waiting[w->barrier[lane]]++;
        }
    }
    return true;
}

/* Counts what the warps say, and compares with what was saved. */
static bool counts_agree(struct sm *sm, struct sm_cta *cta, struct snap *snap)
{
    uint32_t waiting[SM_WAITS] = { 0 };

    cta->warps_left = cta->threads_left = cta->waiting = 0;
    for (uint32_t i = 0; i < cta->cta.task->cta_warps; i++) {
        const struct warp *w = &sm->warp[cta->warp[i]];

        cta->threads_left += lanes_count(&w->live);
        cta->warps_left += w->state != WARP_DONE;
        if (!count_waiting(w, waiting)) {
            return snap_refuse(snap, "a lane waits at a barrier that does not exist");
        }
    }
    for (uint32_t id = 0; id < SM_WAITS; id++) {
        if (cta->barrier[id] != waiting[id]) {
            return snap_refuse(snap, "%u threads wait at barrier %u, its warps have %u", cta->barrier[id], id,
                               waiting[id]);
        }
        cta->waiting += waiting[id];
    }
    return cta->warps_left != 0 || snap_refuse(snap, "all its threads have ended");
}

/* Only who has a place can leave the SM to wait for children. */
static bool children_agree(const struct sm_cta *cta, struct snap *snap)
{
    const bool may = cta->cta.save != DIST_NO_SAVE && !(cta->cta.task->tmd.flags & PPU_TMD_CORESIDENT);

    return may || cta->barrier[SM_WAIT_CHILDREN] == 0 ||
           snap_refuse(snap, "it waits for children, and has no place to be saved in");
}

static bool cta_fits(const struct sm *sm, const struct dist_cta *cta)
{
    const struct dist_task *task = cta->task;
    const struct dist_room room = sm_room(sm);

    return room.ctas != 0 && task->cta_passes <= room.passes && task->cta_vregs[cta->wide] <= room.vregs &&
           task->tmd.shared_bytes <= room.shared_bytes && task->cta_tokens <= room.token_bytes;
}

static bool cta_id_ok(const struct dist_cta *cta)
{
    uint32_t id[3];

    dist_cta_id(&cta->task->tmd, cta->number, id);
    return memcmp(id, cta->id, sizeof(id)) == 0;
}

/* Indices of the CTA's warps on the SM: all free, and no two alike. */
static bool load_places(const struct sm *sm, struct sm_cta *cta, struct snap *snap)
{
    uint32_t warps = sm->config->sm_warps;

    for (uint32_t i = 0; i < cta->cta.task->cta_warps; i++) {
        uint32_t index = snap_get_u32(snap);

        if (snap->bad || index >= warps || sm->warp[index].state != WARP_FREE) {
            return snap_refuse(snap, "its warp %u cannot be at place %u", i, index);
        }
        for (uint32_t other = 0; other < i; other++) {
            if (cta->warp[other] == index) {
                return snap_refuse(snap, "its warps %u and %u are both at place %u", other, i, index);
            }
        }
        cta->warp[i] = index;
    }
    return true;
}

static bool load_identity(struct sm *sm, struct sm_cta *cta, struct snap *snap)
{
    uint32_t slot = snap_get_u32(snap);

    cta->cta.task = !snap->bad ? dist_task_of(sm->core, slot) : NULL;
    if (!cta->cta.task) {
        return snap_refuse(snap, "it is of slot %u, which is free", slot);
    }
    if (!load_places(sm, cta, snap)) {
        return false;
    }
    cta->cta.number = snap_get_u64(snap);
    snap_get_bytes(snap, cta->cta.id, sizeof(cta->cta.id));
    cta->cta.local_backing = snap_get_u32(snap);
    cta->cta.save = snap_get_u32(snap);
    cta->cta.wide = snap_get_flag(snap);
    if (!snap->bad && !dist_task_has(cta->cta.task, cta->cta.wide)) {
        return snap_refuse(snap, "it is %s, and its task has none such", cta->cta.wide ? "wide" : "narrow");
    }
    if (!snap->bad && !cta_fits(sm, &cta->cta)) {
        return snap_refuse(snap, "it finds no room beside those before it");
    }
    return !snap->bad &&
           (cta_id_ok(&cta->cta) || snap_refuse(snap, "its number and its place in the grid contradict each other"));
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
    return !snap->bad && counts_agree(sm, cta, snap) && children_agree(cta, snap);
}

static bool load_cta(struct sm *sm, struct snap *snap)
{
    uint32_t index = snap_get_u32(snap);
    struct sm_cta *cta;

    snap->unit[SNAP_CTA] = index;
    if (snap->bad || index >= sm->config->sm_ctas || sm->cta[index].used) {
        return snap_refuse(snap, "there is no such place, or it is in use");
    }
    cta = &sm->cta[index];
    if (!load_identity(sm, cta, snap) || !dist_loaded_cta(sm->core, sm->number, &cta->cta, snap)) {
        return false;
    }
    sm_cta_place(sm, cta);
    snap_get_bytes(snap, cta->count, sizeof(cta->count));
    memcpy(cta->settled, cta->count, sizeof(cta->count));
    if (!sm_snap_get(sm, cta, snap)) {
        return false;
    }
    snap->unit[SNAP_CTA] = SNAP_NO_UNIT;
    return true;
}

static void get_begun(struct sm *sm, uint64_t slots)
{
    for (uint32_t slot = 0; slot < sm->config->slots; slot++) {
        const struct dist_task *task = dist_task_of(sm->core, slot);
        if (task && slots >> slot & 1) {
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

        mode->start = known && task ? task->start : 0;
        mode->normal.loads = snap_get_u32(snap);
        mode->normal.misses = snap_get_u32(snap);
        mode->segments = snap_get_u32(snap);
        mode->ctas = snap_get_u32(snap);
        mode->subvector = snap_get_u32(snap) != 0;
    }
}

/* Any numbers do: lines are only looked for. */
static void get_cache(struct snap *snap, struct cache *cache)
{
    snap_get_bytes(snap, cache->way, cache_state_bytes(cache));
}

/* Any numbers do here too. */
static void get_gpc(struct snap *snap, struct gpc *gpc)
{
    get_cache(snap, &gpc->l15);
    get_cache(snap, &gpc->tlb);
    snap_get_bytes(snap, gpc->started, sizeof(gpc->started));
    snap_get_bytes(snap, gpc->count, sizeof(gpc->count));
}

/* Any numbers do: they are only compared. */
static void get_share(struct sm *sm, struct snap *snap)
{
    sm->share.insns = snap_get_u64(snap);
    for (uint32_t i = 0; i < sm->config->contexts; i++) {
        sm->share.turn_ns[i] = snap_get_u64(snap);
        sm->share.time_ns[i] = snap_get_u64(snap);
    }
}

static bool load_sm(struct sm *sm, struct snap *snap)
{
    const struct core_config *config = sm->config;

    snap->unit[SNAP_SM] = sm->number;
    snap_get_bytes(snap, sm->count, sizeof(sm->count));
    sm->next_warp = snap_get_u32(snap);
    sm->turns = snap_get_u32(snap);
    snap_get_bytes(snap, sm->flush, sizeof(sm->flush));
    uint32_t ctas = snap_get_u32(snap);
    if (snap->bad || sm->next_warp >= config->sm_warps || ctas > config->sm_ctas) {
        return snap_refuse(snap, "%u CTAs, and warp %u comes next", ctas, sm->next_warp);
    }
    sm_file_find_tokens(sm);
    for (uint32_t i = 0; i < ctas; i++) {
        if (!load_cta(sm, snap)) {
            return false;
        }
    }
    get_share(sm, snap);
    get_begun(sm, snap_get_u64(snap));
    get_modes(sm, snap);
    get_cache(snap, &sm->l1);
    sm->attention = 1;
    sm->has_work = 1;
    snap->unit[SNAP_SM] = SNAP_NO_UNIT;
    return !snap->bad;
}

/* A slice that has begun is not over, and its deadline has come. */
static bool load_slice_underway(struct sm_pool *pool, struct snap *snap, uint64_t now)
{
    struct sm_slice *slice = &pool->slice;

    slice->begin_ns = snap_get_u64(snap);
    slice->sm = snap_get_u32(snap);
    slice->executed = snap_get_u32(snap);
    slice->turn = snap_get_u32(snap);
    slice->longest = snap_get_u32(snap);
    slice->activity = snap_get_u32(snap);
    return !snap->bad && ((sm_pool_in_slices(pool) && pool->slice_ns <= now && slice->begin_ns <= now &&
                           slice->sm < pool->sms && slice->executed < SM_SLICE_NS && slice->turn < SM_QUANTUM &&
                           slice->longest <= 2 * SM_SLICE_NS && slice->activity <= SM_BUSY) ||
                          snap_refuse(snap, "a slice that has begun cannot be as it says (SM %u)", slice->sm));
}

/* SMs that work in slices have nothing to do, or soon. */
static bool load_slice(struct core *core, struct sm_pool *pool, struct snap *snap)
{
    const uint64_t now = core_now(core);

    pool->slice_ns = snap_get_u64(snap);
    pool->slice.underway = snap_get_u32(snap) != 0;
    return !snap->bad && (!pool->slice.underway || load_slice_underway(pool, snap, now)) &&
           (pool->slice_ns == CORE_NEVER || pool->slice_ns <= now || pool->slice_ns - now <= CORE_STEP_MOST_NS ||
            snap_refuse(snap, "the next slice is %llu ns away", (unsigned long long)(pool->slice_ns - now)));
}

bool sm_pool_load(struct core *core, struct snap *snap)
{
    struct sm_pool *pool = *core_sm_pool(core);

    sm_pool_reset(core);
    snap_get_section(snap, SECTION_SMS);
    bool ok = load_slice(core, pool, snap);
    for (uint32_t i = 0; i < pool->sms && ok; i++) {
        ok = load_sm(&pool->sm[i], snap);
    }
    if (ok) {
        get_cache(snap, &pool->l2.cache);
    }
    for (uint32_t i = 0; i < core_config_of(core)->gpcs && ok; i++) {
        get_gpc(snap, &pool->gpc[i]);
    }
    snap_get_section(snap, SECTION_END);
    return ok && !snap->bad;
}
