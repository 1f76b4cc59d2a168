/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One SM: which CTAs and warps are on it, and which warp runs next. */
#define _DEFAULT_SOURCE /* anonymous mappings */

#include "qemu-device/core/sm/sm.h"
#include "ppu/macros.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/debug/run.h"
#include "qemu-device/core/dist/claim.h"
#include "qemu-device/core/dist/cta.h"
#include "qemu-device/core/dist/cta_life.h"
#include "qemu-device/core/dist/flush.h"
#include "qemu-device/core/dist/hand_out.h"
#include "qemu-device/core/dist/room.h"
#include "qemu-device/core/dist/save_area.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/engine/engine.h"
#include "qemu-device/core/engine/levels.h"
#include "qemu-device/core/history.h"
#include "qemu-device/core/hooks.h"
#include "qemu-device/core/memory/profile_table.h"
#include "qemu-device/core/memory/trace.h"
#include "qemu-device/core/sm/cache.h"
#include "qemu-device/core/sm/cache_model.h"
#include "qemu-device/core/sm/code.h"
#include "qemu-device/core/sm/counters.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/cta_life.h"
#include "qemu-device/core/sm/decode.h"
#include "qemu-device/core/sm/file.h"
#include "qemu-device/core/sm/gpc.h"
#include "qemu-device/core/sm/lanes.h"
#include "qemu-device/core/sm/lot.h"
#include "qemu-device/core/sm/mode.h"
#include "qemu-device/core/sm/pending_ends.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"
#include "qemu-device/core/sm/profile.h"
#include "qemu-device/core/sm/program.h"
#include "qemu-device/core/sm/prologue.h"
#include "qemu-device/core/sm/save.h"
#include "qemu-device/core/sm/share.h"
#include "qemu-device/core/sm/straight.h"
#include "qemu-device/core/sm/system.h"
#include "qemu-device/core/sm/tlb.h"
#include "qemu-device/core/sm/token_queue.h"
#include "qemu-device/core/sm/turn.h"
#include "qemu-device/core/sm/warp.h"
#include "qemu-device/core/sm/warp_trace.h"
#include "qemu-device/core/tier/heads.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- life ---- */

/*
 * A table of zeros, large and mostly unused: the host gives pages as they are written. calloc() writes zeros itself
 * where it does not ask the host for the table alone; but the address sanitizer knows the ends of what calloc() gives.
 */
static void *table_new(uint32_t rows, size_t row_bytes)
{
    if (SM_FILE_SHADED) {
        return calloc(rows, row_bytes);
    }
    void *table = mmap(NULL, rows * row_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return table == MAP_FAILED ? NULL : table;
}

static void table_free(void *table, uint32_t rows, size_t row_bytes)
{
    if (SM_FILE_SHADED) {
        free(table);
    } else if (table) {
        munmap(table, rows * row_bytes);
    }
}

static bool sm_alloc(struct sm *sm)
{
    const struct core_config *config = sm->config;

    sm->cta = table_new(config->sm_ctas, sizeof(*sm->cta));
    sm->warp = table_new(config->sm_warps, sizeof(*sm->warp));
    sm->sys = table_new(config->sm_warps, sizeof(*sm->sys));
    sm->token_answer = table_new(config->sm_warps, sizeof(*sm->token_answer));
    sm->code = table_new(SM_CODE_PAGES, sizeof(*sm->code));
    sm->insns = table_new(SM_CODE_PAGES, SM_PAGE_INSNS * sizeof(*sm->insns));
    return sm->cta && sm->warp && sm->sys && sm->token_answer && sm->code && sm->insns && sm_file_init(sm);
}

bool sm_new(struct sm *sm, struct core *core, uint32_t number, struct cache_l2 *l2, struct gpc *gpc, struct tier *tier)
{
    const struct core_config *config = core_config_of(core);

    sm->core = core;
    sm->config = config;
    sm->vram = core_vram(core);
    sm->number = number;
    sm->engine = engine_choose(config->engine_level);
    if (!sm_alloc(sm)) {
        return false;
    }
    if (!cache_alloc(&sm->l1, config->l1_bytes, config->l1_ways, config->cache_line)) {
        return false;
    }
    sm->l2 = l2;
    sm->gpc = gpc;
    sm->heads = tier_heads_new(tier);
    subvector_init(sm);
    return true;
}

void sm_free(struct sm *sm)
{
    const struct core_config *config = sm->config;

    tier_heads_free(sm->heads);
    table_free(sm->cta, config->sm_ctas, sizeof(*sm->cta));
    table_free(sm->warp, config->sm_warps, sizeof(*sm->warp));
    table_free(sm->sys, config->sm_warps, sizeof(*sm->sys));
    table_free(sm->token_answer, config->sm_warps, sizeof(*sm->token_answer));
    table_free(sm->code, SM_CODE_PAGES, sizeof(*sm->code));
    table_free(sm->insns, SM_CODE_PAGES, SM_PAGE_INSNS * sizeof(*sm->insns));
    cache_free(&sm->l1);
    sm_file_free(sm);
}

/* ---- CTAs ---- */

/* Free warps for a CTA: the distributor counts passes, so there are enough. */
static void choose_warps(const struct sm *sm, struct sm_cta *cta)
{
    uint32_t index = 0;

    for (uint32_t number = 0; number < cta->cta.task->cta_warps; number++, index++) {
        while (sm->warp[index].state != WARP_FREE) {
            index++;
        }
        cta->warp[number] = index;
    }
}

void sm_warp_start(struct sm *sm, struct sm_cta *cta, uint32_t number)
{
    const struct dist_task *task = cta->cta.task;
    struct warp *w = &sm->warp[cta->warp[number]];
    uint32_t first = number * task->tmd.wave, threads = cta->size[0] * cta->size[1] * cta->size[2];
    uint32_t lanes = first < threads ? PPU_MIN(threads - first, task->tmd.wave) : 0;

    sm_file_clear(w, offsetof(struct warp, yield_turns));
    w->state = WARP_READY;
    w->fresh = true;
    w->passes = (uint8_t)(task->tmd.wave / PPU_LANES);
    w->number = (uint8_t)number;
    w->cta = (uint32_t)(cta - sm->cta);
    w->pc = task->tmd.entry / PPU_INSN_BYTES;
    w->token_cap = task->token_cap;
    w->token_first = w->token_cap / 2;
    w->active = lanes_below(lanes);
    if (lanes < PPU_MAX_WAVE) {
        memset(w->reason + lanes, PPU_REASON_ENDED, PPU_MAX_WAVE - lanes);
    }
    w->live = w->active;
    /* The same warp of the same grid begins with the same number, wherever it runs. */
    w->random = (cta->cta.number * PPU_MAX_CTA_THREADS + number + 1) * 0x9e3779b97f4a7c15ull | 1;
    if (lanes == 0) {
        w->state = WARP_DONE; /* a CTA that is not whole does not need it */
    } else {
        cta->warps_left++;
        subvector_start(w, task);
        if (sm->tells_warps) {
            warp_trace(sm, cta->warp[number]);
        }
    }
}

static void show_room(struct sm *sm)
{
    __atomic_store_n(&sm->shown.ctas, sm->ctas_used, __ATOMIC_RELAXED);
    __atomic_store_n(&sm->shown.passes, sm->used.passes, __ATOMIC_RELAXED);
    __atomic_store_n(&sm->shown.vregs, sm->used.vregs, __ATOMIC_RELAXED);
    __atomic_store_n(&sm->shown.shared_bytes, sm->used.shared_bytes, __ATOMIC_RELAXED);
}

void sm_count_room(struct sm *sm, const struct dist_task *task, bool wide, uint32_t ctas)
{
    if (ctas == 1) {
        share_came(sm, task);
    } else {
        share_left(sm, task);
    }
    sm->ctas_used += ctas;
    sm->warps_used += ctas * task->cta_warps;
    sm->used.passes += ctas * task->cta_passes;
    sm->used.vregs += ctas * task->cta_vregs[wide];
    sm->used.shared_bytes += ctas * task->tmd.shared_bytes;
    sm->used.token_bytes += ctas * task->cta_tokens;
    show_room(sm);
}

/* Its warps get their start state; it has its registers, its shared memory and its token queues. */
static void cta_start(struct sm *sm, struct sm_cta *cta)
{
    const struct dist_task *task = cta->cta.task;

    for (uint32_t dim = 0; dim < 3; dim++) {
        cta->size[dim] = ppu_tmd_size(&task->tmd, dim, dist_cta_at(&cta->cta, dim));
    }
    cta->warps_left = 0;
    for (uint32_t number = 0; number < task->cta_warps; number++) {
        sm_warp_start(sm, cta, number);
    }
    cta->used = true;
    cta->threads_left = cta->size[0] * cta->size[1] * cta->size[2];
}

void sm_cta_place(struct sm *sm, struct sm_cta *cta)
{
    sm_file_take(sm, cta);
    cta_start(sm, cta);
    sm_count_room(sm, cta->cta.task, cta->cta.wide, 1);
}

void sm_cta_replace(struct sm *sm, struct sm_cta *cta, const struct dist_cta *next)
{
    cta->cta = *next;
    cta->begun = 0;
    memset(cta->count, 0, sizeof(cta->count));
    memset(cta->settled, 0, sizeof(cta->settled));
    sm_file_renew(sm, cta);
    cta_start(sm, cta);
}

void sm_cta_begin(struct sm *sm, struct sm_cta *cta)
{
    choose_warps(sm, cta);
    sm_cta_place(sm, cta);
}

/* Its code has been decoded now. */
void sm_learn(struct sm *sm, const struct sm_cta *cta)
{
    const struct dist_task *const task = cta->cta.task;

    if (sm->program.start != task->start) {
        sm->program = (struct program){
            .start = task->start,
            .writes_first = decode_writes_first(sm, task),
            .prologue = decode_prologue(sm, task),
        };
    }
    if (sm->heads && (sm->program.ended & (sm->program.ended + 1)) == 0) {
        sm->program.straight = decode_straight(sm, task, sm->program.prologue.insns);
    }
    sm->program.cta_insns = (uint32_t)PPU_MIN(cta->count[PPU_COUNTER_INSNS], UINT32_MAX);
    sm->program.ended++;
}

void sm_cta_free(struct sm *sm, struct sm_cta *cta)
{
    const struct dist_task *task = cta->cta.task;
    const bool wide = cta->cta.wide;

    for (uint32_t number = 0; number < task->cta_warps; number++) {
        struct warp *w = &sm->warp[cta->warp[number]];
        if (w->held) {
            hook_count_held(sm->core, false);
        }
        if (sm->tells_warps && w->state != WARP_DONE) {
            warp_trace_gone(sm, cta->warp[number]);
        }
        debug_gone(sm, cta->warp[number]);
        w->state = WARP_FREE;
        w->held = false;
    }
    sm_learn(sm, cta);
    sm_file_give(sm, cta);
    memset(cta, 0, offsetof(struct sm_cta, done));
    sm_count_room(sm, task, wide, UINT32_MAX);
}

/*
 * Code and data that were there before a task starts are seen by it: its first CTA on an SM drops what was decoded, and
 * what the first-level cache has (A11).
 */
static void see_code(struct sm *sm, const struct dist_task *task)
{
    if (sm->started[task->slot] != task->start) {
        sm->started[task->slot] = task->start;
        decode_drop(sm, task->tmd.context, task->tmd.wave);
        if (sm->l2) {
            cache_empty(&sm->l1);
            gpc_see_task(sm, task);
        }
    }
}

struct sm_cta *sm_free_cta(struct sm *sm)
{
    for (uint32_t i = 0; i < sm->config->sm_ctas; i++) {
        if (!sm->cta[i].used) {
            return &sm->cta[i];
        }
    }
    return NULL;
}

struct dist_room sm_room(const struct sm *sm)
{
    const struct core_config *config = sm->config;

    return (struct dist_room){
        .passes = config->sm_warps - sm->used.passes,
        .ctas = config->sm_ctas - sm->ctas_used,
        .vregs = config->sm_vregs - sm->used.vregs,
        .shared_bytes = config->sm_shared - sm->used.shared_bytes,
        .token_bytes = (uint32_t)sm->file[SM_FILE_TOKENS].cap - sm->used.token_bytes,
    };
}

/* As dist_take(). Who makes CTAs offers them first and then says so: has_work is 0 before the last look. */
static uint32_t take_offers(struct sm *sm, const struct dist_room *room, uint32_t most, struct dist_cta *out)
{
    uint32_t count = dist_take(sm->core, sm->number, room, &sm->ends, most, out);

    if (count == 0) {
        __atomic_store_n(&sm->has_work, 0, __ATOMIC_SEQ_CST);
        count = dist_take(sm->core, sm->number, room, &sm->ends, most, out);
        if (count != 0) {
            __atomic_store_n(&sm->has_work, 1, __ATOMIC_SEQ_CST);
        }
    }
    return count;
}

uint32_t sm_ask_for_ctas(struct sm *sm, const struct dist_room *room, uint32_t most, struct dist_cta *out)
{
    const uint32_t count = __atomic_load_n(&sm->has_work, __ATOMIC_SEQ_CST) != 0 ? take_offers(sm, room, most, out) : 0;

    if (count != 0) {
        sm_pool_share_offers(*core_sm_pool(sm->core));
        share_begin(sm);
        see_code(sm, out->task);
    }
    return count;
}

void sm_cta_came(struct sm *sm, struct sm_cta *cta)
{
    sm_cta_begin(sm, cta);
    if (cta->cta.saved) {
        sm_save_restore(sm, cta);
    } else if (cta->cta.task->width == DIST_EITHER) {
        sm_mode_begun(sm, cta->cta.task, cta->cta.wide);
    }
}

bool sm_take_cta(struct sm *sm)
{
    if (__atomic_load_n(&sm->has_work, __ATOMIC_SEQ_CST) == 0) {
        return false;
    }
    struct sm_cta *cta = sm_free_cta(sm);
    if (!cta) {
        __atomic_store_n(&sm->has_work, 0, __ATOMIC_SEQ_CST); /* until one ends */
        return false;
    }
    if (sm->ctas_used == 0) {
        sm->next_warp = 0;
        sm_file_find_tokens(sm);
    }
    const struct dist_room room = sm_room(sm);
    if (sm_ask_for_ctas(sm, &room, 1, &cta->cta) == 0) {
        return false;
    }
    sm_cta_came(sm, cta);
    if (cta->cta.saved) {
        (void)history_effect(sm->core); /* its place is free again */
    } else {
        history_add(sm->core, sm->number, HISTORY_TAKES);
    }
    return true;
}

/*
 * A CTA is taken when the SM has none, and as many again as it has when each warp has had a turn since: CTAs that end
 * soon follow one another in registers that the host's caches have, those that do not come to be side by side. Where
 * those that follow better wait for a lot of their own, none is taken until the others have ended, or all wait.
 */
static void take_ctas(struct sm *sm)
{
    uint32_t most = sm->ctas_used == 0 ? 1 : sm->ctas_used;

    if (sm->ctas_used != 0 && sm_lots_follow(sm)) {
        return;
    }
    for (; most != 0 && sm_take_cta(sm); most--) {
        sm_taken(sm);
    }
}

static void cta_end(struct sm *sm, struct sm_cta *cta, bool killed)
{
    struct dist_cta ended = cta->cta;
    uint64_t count[PPU_COUNTERS];

    pending_ends_copy(count, cta->count);
    count_settle(sm, cta);
    sm_cta_free(sm, cta);
    sm_has_room(sm);
    if (killed) {
        dist_killed(sm->core, sm->number, &ended, count);
    } else {
        pending_ends_hold(sm, &ended, count);
    }
}

/* ---- attention ---- */

/* Takes back accesses the main loop has not begun; false: it is at one. */
static bool take_back(struct sm *sm, const struct sm_cta *cta)
{
    bool all = true;

    for (uint32_t i = 0; i < cta->cta.task->cta_warps; i++) {
        struct warp *w = &sm->warp[cta->warp[i]];
        struct sys_request *request = &sm->sys[cta->warp[i]];

        if (w->state != WARP_SYSTEM || __atomic_load_n(&request->state, __ATOMIC_SEQ_CST) == SYS_DONE) {
            continue;
        }
        if (sm_system_take_back(sm, cta->warp[i])) {
            w->state = __atomic_load_n(&request->state, __ATOMIC_SEQ_CST) == SYS_DONE ? WARP_SYSTEM : WARP_READY;
        } else {
            all = false;
        }
    }
    return all;
}

static bool attend_kill(struct sm *sm, struct sm_cta *cta)
{
    if (!take_back(sm, cta)) {
        return false;
    }
    for (uint32_t i = 0; i < cta->cta.task->cta_warps; i++) {
        __atomic_store_n(&sm->sys[cta->warp[i]].state, SYS_NONE, __ATOMIC_RELAXED);
    }
    cta_end(sm, cta, true);
    return true;
}

/* Ends what is between two instructions that a CTA cannot leave: an access that was answered, a critical section. */
static void finish_cta(struct sm *sm, const struct sm_cta *cta)
{
    for (uint32_t i = 0; i < cta->cta.task->cta_warps; i++) {
        const uint32_t index = cta->warp[i];
        struct warp *w = &sm->warp[index];

        if (w->state == WARP_SYSTEM && __atomic_load_n(&sm->sys[index].state, __ATOMIC_ACQUIRE) == SYS_DONE) {
            engine_settle(sm, index);
        }
        for (uint32_t n = 0; n <= PPU_SECTION_INSNS && w->section != 0 && w->state == WARP_READY; n++) {
            (void)engine_run(sm, index, 1);
        }
    }
}

/*
 * An access to system memory within a critical section is not answered yet. The section ends before its CTA leaves, so
 * the access is let be: taken back, it would be posted again, and taken back, for ever. Meanwhile no other warp of the
 * CTA enters a section.
 */
static bool waits_in_section(struct sm *sm, struct sm_cta *cta)
{
    for (uint32_t i = 0; i < cta->cta.task->cta_warps; i++) {
        const struct warp *w = &sm->warp[cta->warp[i]];

        if (w->section != 0 && w->state == WARP_SYSTEM &&
            __atomic_load_n(&sm->sys[cta->warp[i]].state, __ATOMIC_ACQUIRE) != SYS_DONE) {
            sm->ends_sections = cta->ends_sections = true;
            return true;
        }
    }
    return false;
}

/* Brings the CTA's warps where it can leave; false: some are not there. */
static bool come_to_stand(struct sm *sm, struct sm_cta *cta)
{
    if (waits_in_section(sm, cta) || !take_back(sm, cta)) {
        return false;
    }
    finish_cta(sm, cta);
    return !waits_in_section(sm, cta);
}

bool sm_leave(struct sm *sm, struct sm_cta *cta)
{
    return come_to_stand(sm, cta) && sm_save_switched(sm, cta);
}

/* One that has no place in the save area runs to its end. */
static bool attend_save(struct sm *sm, struct sm_cta *cta)
{
    return cta->cta.save == DIST_NO_SAVE || (come_to_stand(sm, cta) && sm_save_evicted(sm, cta));
}

/*
 * True when there was a CTA since sm_drop_all(): each takes registers. Else the tables of CTAs, warps, requests and
 * code are as they were made, and are not looked at: to read them costs a page of the host's each, on every SM.
 */
static bool had_ctas(const struct sm *sm)
{
    return sm->file[SM_FILE_VREGS].tail != 0;
}

/* No access with an old translation is left when the flush is answered. */
static bool attend_flush(struct sm *sm, uint32_t context)
{
    bool ready = true;

    for (uint32_t i = 0; i < sm->config->sm_ctas && sm->ctas_used != 0; i++) {
        if (sm->cta[i].used && sm->cta[i].cta.task->tmd.context == context) {
            ready = take_back(sm, &sm->cta[i]) && ready;
        }
    }
    if (!ready) {
        return false;
    }
    sm_tlb_drop(sm, context);
    if (sm->gpc) {
        gpc_flush(sm->gpc);
    }
    if (had_ctas(sm)) {
        decode_drop(sm, context, 0);
    }
    dist_flushed(sm->core, sm->number, context);
    return true;
}

static bool attend_flushes(struct sm *sm)
{
    bool all = true;

    for (uint32_t word = 0; word < PPU_MAX_CONTEXTS / 64; word++) {
        uint64_t left = __atomic_exchange_n(&sm->flush[word], 0, __ATOMIC_SEQ_CST);

        for (; left != 0; left &= left - 1) {
            uint32_t bit = (uint32_t)__builtin_ctzll(left);
            if (!attend_flush(sm, word * 64 + bit)) {
                __atomic_fetch_or(&sm->flush[word], 1ull << bit, __ATOMIC_SEQ_CST);
                all = false;
            }
        }
    }
    return all;
}

void sm_answer(struct sm *sm)
{
    bool all = true;

    (void)__atomic_exchange_n(&sm->attention, 0, __ATOMIC_SEQ_CST);
    pending_ends_report(sm);
    sm->ends_sections = false;
    for (uint32_t i = 0; i < sm->config->sm_ctas && sm->ctas_used != 0; i++) {
        struct sm_cta *cta = &sm->cta[i];
        cta->ends_sections = false;
        if (cta->used && dist_killing(sm->core, cta->cta.task->slot)) {
            all = attend_kill(sm, cta) && all;
        } else if (cta->used && dist_saving(sm->core, cta->cta.task->slot)) {
            all = attend_save(sm, cta) && all;
        } else if (cta->used && dist_leaving(sm->core, cta->cta.task->slot)) {
            all = sm_leave(sm, cta) && all;
        }
    }
    all = attend_flushes(sm) && all;
    all = share_make_room(sm) && all;
    sm->ends_sections = sm->ends_sections && !all;
    if (!all) {
        __atomic_store_n(&sm->attention, 1, __ATOMIC_SEQ_CST);
    }
}

/* What CTAs have left behind. */
static void drop_ctas(struct sm *sm)
{
    const struct core_config *config = sm->config;

    for (uint32_t i = 0; i < config->sm_ctas && sm->ctas_used != 0; i++) {
        if (sm->cta[i].used) {
            sm_cta_free(sm, &sm->cta[i]);
        }
    }
    for (uint32_t i = 0; i < config->sm_warps; i++) {
        if (__atomic_load_n(&sm->sys[i].state, __ATOMIC_RELAXED) != SYS_NONE) {
            __atomic_store_n(&sm->sys[i].state, SYS_NONE, __ATOMIC_RELAXED);
        }
    }
    decode_drop_all(sm);
}

void sm_drop_all(struct sm *sm)
{
    if (had_ctas(sm)) {
        drop_ctas(sm);
    }
    /* Nothing is written where nothing was: an SM that has done nothing yet has no pages of the host. */
    for (uint32_t i = 0; i < sm->config->sm_warps; i++) {
        if (__atomic_load_n(&sm->token_answer[i], __ATOMIC_RELAXED) != 0) {
            __atomic_store_n(&sm->token_answer[i], 0, __ATOMIC_RELAXED);
        }
    }
    sm_tlb_drop_all(sm);
    cache_empty(&sm->l1);
    memset(sm->mode, 0, sizeof(sm->mode));
    memset(sm->flush, 0, sizeof(sm->flush));
    memset(sm->started, 0, sizeof(sm->started));
    for (uint32_t id = 0; id < SM_FILE_COUNT; id++) {
        sm->file[id].tail = 0;
        sm->file[id].spare = (struct sm_block){ 0, 0 };
    }
    memset(&sm->pending_adds, 0, sizeof(sm->pending_adds));
    sm->ends.held = 0;
    sm->exec.start = 0;
    sm->attention = 0;
    sm->has_work = 0;
    sm->system = 0;
    sm->next_warp = 0;
    sm_taken(sm);
    memset(&sm->share, 0, sizeof(sm->share));
    memset(&sm->profile, 0, sizeof(sm->profile));
    for (uint32_t i = 0; i < PPU_COUNTERS; i++) {
        __atomic_store_n(&sm->count[i], 0, __ATOMIC_RELAXED);
    }
}

/* ---- running ---- */

static void report_fault(struct sm *sm, uint32_t index)
{
    struct warp *w = &sm->warp[index];
    struct sm_cta *cta = &sm->cta[w->cta];

    if (debug_on(sm->core) && debug_fault(sm, index)) {
        return;
    }
    if (dist_fault(sm->core, sm->number, &cta->cta, &w->fault)) {
        __atomic_store_n(&sm->attention, 1, __ATOMIC_SEQ_CST); /* the slot is being killed now */
    }
}

void sm_cta_end(struct sm *sm, struct sm_cta *cta)
{
    cta_end(sm, cta, false);
}

void sm_after_turn(struct sm *sm, uint32_t index)
{
    struct warp *w = &sm->warp[index];
    struct sm_cta *cta = &sm->cta[w->cta];

    if (w->state != WARP_DONE) {
        pending_ends_report(sm); /* others may wait for what it has added */
        count_settle(sm, cta);
    }
    if (w->state == WARP_FAULTED) {
        report_fault(sm, index);
    } else if (w->state == WARP_DONE && --cta->warps_left == 0) {
        cta_end(sm, cta, false);
    } else if (cta->must_save) {
        sm_save_waiting(sm, cta);
    }
}

static void warp_turn(struct sm *sm, uint32_t index, uint32_t budget, uint32_t *executed)
{
    const struct warp *w = &sm->warp[index];
    uint32_t done = 0;

    if (w->state != WARP_FAULTED) {
        done = debug_on(sm->core)     ? debug_run(sm, index, budget)
               : profile_on(sm->core) ? profile_run(sm, index, budget)
                                      : engine_run(sm, index, budget);
    }
    *executed += done;
    sm->share.insns += done;
    if (sm->tells_warps) {
        warp_trace(sm, index);
    }
    sm_after_turn(sm, index);
}

void sm_turn_of(struct sm *sm, uint32_t index, uint32_t budget)
{
    uint32_t executed = 0;

    warp_turn(sm, index, budget, &executed);
}

/* Warps have ended whose CTAs have not. */
static void count_all(struct sm *sm)
{
    for (uint32_t i = 0; i < sm->config->sm_ctas && sm->ctas_used != 0; i++) {
        if (sm->cta[i].used) {
            count_settle(sm, &sm->cta[i]);
        }
    }
}

/* Turns are over for now: nothing is held back that others wait for, or that a snapshot would not have. */
static void end_turns(struct sm *sm)
{
    pending_ends_report(sm);
    count_all(sm);
    sm_attend(sm);
}

/* Others of its CTA are in critical sections, and it is not. */
static bool stays(const struct sm *sm, uint32_t index)
{
    return sm->cta[sm->warp[index].cta].ends_sections && sm->warp[index].section == 0;
}

bool sm_can_run(const struct sm *sm, uint32_t index)
{
    enum warp_state state = sm->warp[index].state;

    return (state == WARP_READY ||
            (state == WARP_SYSTEM && __atomic_load_n(&sm->sys[index].state, __ATOMIC_ACQUIRE) == SYS_DONE)) &&
           !(sm->ends_sections && stays(sm, index)) && !(debug_on(sm->core) && debug_holds(sm, index));
}

uint32_t sm_warp_behind(const struct sm *sm, uint32_t index)
{
    return index + 1 < sm->config->sm_warps ? index + 1 : 0;
}

/* In place of a context. */
#define ANY_CONTEXT UINT32_MAX

/* The next warp of a context that can run, round robin; the number of warps when there is none. */
static inline uint32_t next_of(struct sm *sm, uint32_t context)
{
    uint32_t index = sm->next_warp, left = sm->ctas_used != 0 ? sm->config->sm_warps : 0;

    for (; left != 0; left--) {
        if (sm_can_run(sm, index) &&
            (context == ANY_CONTEXT || sm->cta[sm->warp[index].cta].cta.task->tmd.context == context)) {
            sm->next_warp = sm_warp_behind(sm, index);
            return index;
        }
        index = sm_warp_behind(sm, index);
    }
    return sm->config->sm_warps;
}

static uint32_t pick(struct sm *sm)
{
    if (sm->share.spaces > 1) {
        return share_pick(sm);
    }
    if (sm->share.ranks_differ && sm->turns % 2 != 0) {
        return share_pick_urgent(sm);
    }
    return next_of(sm, ANY_CONTEXT);
}

void sm_turn_in(struct sm *sm, uint32_t context, uint32_t budget)
{
    sm_attend(sm);
    if (sm->turns >= sm->warps_used) {
        take_ctas(sm);
    }
    const uint32_t index = next_of(sm, context);
    if (index != sm->config->sm_warps) {
        sm->turns++;
        sm_turn_of(sm, index, budget);
    }
    end_turns(sm);
}

static bool waits_for_room(const struct sm *sm, uint32_t index)
{
    const struct warp *w = &sm->warp[index];

    return (w->state == WARP_STALLED || w->state == WARP_FAULTED) && !(debug_on(sm->core) && debug_holds(sm, index));
}

void sm_retry_stalled(struct sm *sm, uint32_t *executed)
{
    for (uint32_t i = 0; i < sm->config->sm_warps && sm->ctas_used != 0; i++) {
        if (waits_for_room(sm, i)) {
            warp_turn(sm, i, 1, executed);
        }
    }
}

static enum sm_activity activity_of(struct sm *sm)
{
    uint32_t warps = sm->config->sm_warps;
    enum sm_activity activity = SM_IDLE;

    if (sm_attention(sm)) {
        activity = SM_STALLED;
    }
    if (__atomic_load_n(&sm->has_work, __ATOMIC_SEQ_CST) != 0) {
        return SM_BUSY;
    }
    for (uint32_t i = 0; i < warps && sm->ctas_used != 0; i++) {
        if (sm_can_run(sm, i)) {
            return SM_BUSY;
        }
        activity = waits_for_room(sm, i) ? SM_STALLED : activity;
    }
    return activity;
}

/* A turn is shorter where address spaces share the SM, and its time is that of the warp's. */
static void take_turn(struct sm *sm, uint32_t index, uint32_t most, uint32_t *executed)
{
    if (sm->share.spaces > 1) {
        const uint32_t context = sm->cta[sm->warp[index].cta].cta.task->tmd.context;

        warp_turn(sm, index, PPU_MIN(most, SHARE_QUANTUM), executed);
        share_charge(sm, context);
        return;
    }
    warp_turn(sm, index, PPU_MIN(most, SM_QUANTUM), executed);
}

uint32_t sm_run(struct sm *sm, uint32_t budget, enum sm_activity *activity)
{
    return sm_run_part(sm, budget, SM_ANY_WORK, activity);
}

/* A warp has had a part of its turn, `turn` instructions so far: when it can go on, it does so before others. */
static void turn_goes_on(struct sm *sm, uint32_t index, uint32_t *turn, uint32_t executed)
{
    *turn += executed;
    if (*turn < (sm->share.spaces > 1 ? SHARE_QUANTUM : SM_QUANTUM) && sm_can_run(sm, index)) {
        sm->next_warp = index;
        sm->turns--;
    } else {
        *turn = 0;
    }
}

uint32_t sm_run_part(struct sm *sm, uint32_t budget, uint64_t work, enum sm_activity *activity)
{
    struct sm_pool *pool = *core_sm_pool(sm->core);
    const uint64_t before = sm->count[PPU_COUNTER_TRANSACTIONS];
    uint32_t warps = sm->config->sm_warps;
    uint32_t executed = 0;

    sm->tells_warps = trace_wants_warps(sm->core);
    if (sm->ctas_used != 0) {
        share_begin(sm);
    }
    sm_attend(sm);
    sm_retry_stalled(sm, &executed);
    while (executed < budget && !sm_pool_paused(pool) &&
           executed + sm->count[PPU_COUNTER_TRANSACTIONS] - before < work) {
        uint32_t left = budget - executed, so_far = executed;

        sm_attend(sm);
        if (sm->ctas_used == 0) {
            executed += sm_run_lots(sm, left);
            if (executed != so_far) {
                continue;
            }
        }
        if (sm->turns >= sm->warps_used) {
            take_ctas(sm);
        }
        uint32_t index = pick(sm);
        if (index == warps && sm_take_cta(sm)) {
            continue;
        }
        if (index == warps) {
            break;
        }
        sm->turns++;
        if (work == SM_ANY_WORK) {
            take_turn(sm, index, left, &executed);
        } else {
            take_turn(sm, index, PPU_MIN(left, SM_SLICE_TURN), &executed);
            turn_goes_on(sm, index, &pool->slice.turn, executed - so_far);
        }
        sm->since_taken += PPU_MIN(PPU_MAX(executed - so_far, 1u), UINT32_MAX - sm->since_taken);
    }
    end_turns(sm);
    share_end(sm);
    *activity = activity_of(sm);
    return executed;
}
