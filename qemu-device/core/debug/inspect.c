/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/core/debug/inspect.h"
#include "ppu/macros.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/debug_state.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/engine/look.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/sm/access.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/pending_adds.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/tlb.h"
#include "qemu-device/core/sm/token_queue.h"
#include "qemu-device/core/sm/warp.h"

#include <string.h>

/* ---- which warp ---- */

static struct sm *sm_of(struct core *core, uint32_t number)
{
    return &(*core_sm_pool(core))->sm[number];
}

bool inspect_warp(struct core *core, uint32_t number, uint32_t index, struct ppu_debug_warp *warp)
{
    const struct sm *sm = sm_of(core, number);
    const struct warp *w = &sm->warp[index];

    if (w->state == WARP_FREE || !sm->cta[w->cta].used) {
        return false;
    }
    const struct sm_cta *cta = &sm->cta[w->cta];
    const struct debug_mark *mark = &core->debug.mark[(size_t)number * core->config.sm_warps + index];
    *warp = (struct ppu_debug_warp){
        .at = { number, index, cta->cta.task->start, cta->cta.number },
        .slot = cta->cta.task->slot,
        .number = w->number,
        .pc = w->pc,
        .state = w->state,
        .passes = w->passes,
        .stopped = mark->pc == w->pc ? mark->stopped : 0,
        .parts = w->segment.on,
    };
    memcpy(warp->cta, cta->cta.id, sizeof(warp->cta));
    memcpy(warp->threads, cta->size, sizeof(warp->threads));
    memcpy(warp->active, w->active.m, sizeof(warp->active));
    memcpy(warp->live, w->live.m, sizeof(warp->live));
    return true;
}

bool inspect_find(struct core *core, const struct ppu_debug_at *at, struct ppu_debug_warp *warp)
{
    return at->sm < core->config.sms && at->warp < core->config.sm_warps &&
           inspect_warp(core, at->sm, at->warp, warp) && warp->at.start == at->start && warp->at.cta == at->cta;
}

/* ---- registers ---- */

static bool answer_bytes(struct ppu_debug_answer *answer, const void *bytes, uint32_t count)
{
    if (count > sizeof(answer->data) - answer->bytes) {
        return false;
    }
    memcpy(answer->data + answer->bytes, bytes, count);
    answer->bytes += count;
    return true;
}

/* Rows are read in the lanes that execute with the warp's mode; a part's shared registers are its lanes' alone. */
static enum ppu_debug_status read_vector(struct sm *sm, const struct ppu_debug_request *request,
                                         struct ppu_debug_answer *answer)
{
    const struct warp *w = &sm->warp[request->at.warp];
    const struct dist_task *task = sm->cta[w->cta].cta.task;
    const uint32_t registers = (uint32_t)task->tmd.vregs + (w->segment.on ? task->tmd.shared_vregs : 0);

    if (request->count > PPU_MAX_VREGS || request->number > registers || request->count > registers - request->number) {
        return PPU_DEBUG_BAD_REQUEST;
    }
    for (uint32_t n = 0; n < request->count; n++) {
        const uint32_t number = request->number + n;
        uint32_t row[PPU_MAX_WAVE] = { 0 };
        for (uint32_t lane = 0; lane < task->tmd.wave; lane++) {
            const uint32_t *value = engine_vector(sm, request->at.warp, number, lane);
            row[lane] = value ? *value : 0;
        }
        if (!answer_bytes(answer, row, task->tmd.wave * (uint32_t)sizeof(row[0]))) {
            return PPU_DEBUG_BAD_REQUEST;
        }
    }
    return PPU_DEBUG_OK;
}

static enum ppu_debug_status write_vector(struct sm *sm, const struct ppu_debug_request *request)
{
    const struct warp *w = &sm->warp[request->at.warp];
    struct lanes lanes;

    memcpy(lanes.m, request->lanes, sizeof(lanes.m));
    lanes = lanes_and(&lanes, &w->live);
    if (request->number >= sm->cta[w->cta].cta.task->tmd.vregs) {
        return PPU_DEBUG_BAD_REQUEST;
    }
    LANES_EACH(&lanes, lane)
    {
        uint32_t *value = engine_vector(sm, request->at.warp, request->number, lane);
        if (value) {
            *value = (uint32_t)request->value;
        }
    }
    return PPU_DEBUG_OK;
}

static enum ppu_debug_status write_scalar(struct warp *w, const struct ppu_debug_request *request)
{
    if (request->number >= PPU_SREGS) {
        return PPU_DEBUG_BAD_REQUEST;
    }
    w->sreg[request->number] = (uint32_t)request->value;
    return PPU_DEBUG_OK;
}

static enum ppu_debug_status write_predicate(struct warp *w, const struct ppu_debug_request *request)
{
    struct lanes lanes;

    if (request->number >= PPU_PREDS) {
        return PPU_DEBUG_BAD_REQUEST;
    }
    memcpy(lanes.m, request->lanes, sizeof(lanes.m));
    w->pred[request->number] = lanes_and(&lanes, &w->live);
    return PPU_DEBUG_OK;
}

/* ---- lanes and tokens ---- */

static enum ppu_debug_status list_lanes(const struct sm *sm, uint32_t index, struct ppu_debug_answer *answer)
{
    const struct warp *w = &sm->warp[index];

    for (uint32_t lane = 0; lane < (uint32_t)w->passes * PPU_LANES; lane++) {
        const struct ppu_debug_lane told = { w->reason[lane], w->wait_pc[lane], w->barrier[lane] };
        answer_bytes(answer, &told, sizeof(told));
    }
    return PPU_DEBUG_OK;
}

static enum ppu_debug_status list_tokens(const struct sm *sm, uint32_t index, struct ppu_debug_answer *answer)
{
    const struct warp *w = &sm->warp[index];
    const struct sm_cta *cta = &sm->cta[w->cta];
    const uint32_t wave = cta->cta.task->tmd.wave, words = PPU_TOKEN_WORDS(wave);
    const uint8_t *tokens = sm_file_tokens(sm, cta, w->number);

    for (uint32_t n = 0; n < w->token_count; n++) {
        const uint32_t entry = (w->token_first + n) % w->token_cap;
        uint32_t raw[PPU_TOKEN_MAX_WORDS];
        struct ppu_token token;
        vram_copy((uint8_t *)raw, tokens + (size_t)entry * words * sizeof(uint32_t), words * sizeof(uint32_t));
        ppu_token_unpack(wave, raw, &token);
        if (!answer_bytes(answer, &token, sizeof(token))) {
            answer->more++;
        }
    }
    return PPU_DEBUG_OK;
}

/* ---- memory ---- */

/* Where a byte of a memory is; NULL: the warp cannot reach it. */
static uint8_t *place_of(struct sm *sm, const struct ppu_debug_request *request, uint64_t address, bool write)
{
    const struct warp *w = &sm->warp[request->at.warp];
    const struct sm_cta *cta = &sm->cta[w->cta];
    const struct ppu_tmd *tmd = &cta->cta.task->tmd;
    struct translation at;

    switch (request->space) {
    case PPU_DEBUG_OF_CTA:
        return address < tmd->shared_bytes ? sm->file[SM_FILE_SHARED].bytes + cta->block[SM_FILE_SHARED].off + address
                                           : NULL;
    case PPU_DEBUG_OF_LANE:
        if (request->lane >= tmd->wave || !lanes_has(&w->live, request->lane) || address >= tmd->local_bytes) {
            return NULL;
        }
        address = engine_local(sm, request->at.warp, request->lane, (uint32_t)address);
        break;
    case PPU_DEBUG_OF_TASK:
        break;
    default:
        return NULL;
    }
    return sm_translate(sm, tmd->context, address, write ? PPU_ACCESS_WRITE : PPU_ACCESS_READ, &at) == 0 ? at.host
                                                                                                         : NULL;
}

const uint8_t *inspect_place(struct sm *sm, const struct ppu_debug_request *request, uint64_t address)
{
    return place_of(sm, request, address, false);
}

static enum ppu_debug_status read_params(const struct sm *sm, const struct ppu_debug_request *request,
                                         struct ppu_debug_answer *answer)
{
    const struct dist_task *task = sm->cta[sm->warp[request->at.warp].cta].cta.task;
    uint8_t bytes[PPU_DEBUG_DATA];

    if (request->address > task->tmd.param_bytes || request->count > task->tmd.param_bytes - request->address ||
        request->count > sizeof(bytes)) {
        return PPU_DEBUG_NOT_MAPPED;
    }
    vram_copy(bytes, task->params + request->address, request->count);
    answer_bytes(answer, bytes, request->count);
    return PPU_DEBUG_OK;
}

static enum ppu_debug_status read_memory(struct sm *sm, const struct ppu_debug_request *request,
                                         struct ppu_debug_answer *answer)
{
    if (request->count > PPU_DEBUG_DATA) {
        return PPU_DEBUG_BAD_REQUEST;
    }
    if (request->space == PPU_DEBUG_OF_LAUNCH) {
        return read_params(sm, request, answer);
    }
    pending_adds_flush(sm);
    for (uint32_t i = 0; i < request->count; i++) {
        const uint8_t *place = place_of(sm, request, request->address + i, false);
        if (!place) {
            return PPU_DEBUG_NOT_MAPPED;
        }
        const uint8_t byte = __atomic_load_n(place, __ATOMIC_RELAXED);
        answer_bytes(answer, &byte, 1);
    }
    return PPU_DEBUG_OK;
}

/* All of it is looked at before any is written. */
static enum ppu_debug_status write_memory(struct sm *sm, const struct ppu_debug_request *request)
{
    if (request->count > PPU_DEBUG_WRITE) {
        return PPU_DEBUG_BAD_REQUEST;
    }
    pending_adds_flush(sm);
    for (uint32_t i = 0; i < request->count; i++) {
        if (!place_of(sm, request, request->address + i, true)) {
            return PPU_DEBUG_NOT_MAPPED;
        }
    }
    for (uint32_t i = 0; i < request->count; i++) {
        __atomic_store_n(place_of(sm, request, request->address + i, true), request->data[i], __ATOMIC_RELAXED);
    }
    return PPU_DEBUG_OK;
}

bool inspect_watched(struct sm *sm, const struct debug_watch *watch, uint64_t *value)
{
    struct translation at;

    if (sm_translate(sm, watch->context, watch->address, PPU_ACCESS_READ, &at) != 0 || !at.host) {
        return false;
    }
    *value = 0;
    vram_copy((uint8_t *)value, at.host, watch->bytes);
    return true;
}

/* ---- requests ---- */

enum ppu_debug_status inspect_serve(struct core *core, const struct ppu_debug_request *request,
                                    struct ppu_debug_answer *answer)
{
    struct ppu_debug_warp warp;

    if (request->op < PPU_DEBUG_DO_LANES || request->op > PPU_DEBUG_DO_WRITE_MEMORY) {
        return PPU_DEBUG_BAD_REQUEST;
    }
    if (!inspect_find(core, &request->at, &warp)) {
        return PPU_DEBUG_NO_SUCH_WARP;
    }
    struct sm *sm = sm_of(core, request->at.sm);
    struct warp *w = &sm->warp[request->at.warp];
    switch (request->op) {
    case PPU_DEBUG_DO_LANES:
        return list_lanes(sm, request->at.warp, answer);
    case PPU_DEBUG_DO_TOKENS:
        return list_tokens(sm, request->at.warp, answer);
    case PPU_DEBUG_DO_READ_VECTOR:
        return read_vector(sm, request, answer);
    case PPU_DEBUG_DO_READ_SCALAR:
        return answer_bytes(answer, w->sreg, sizeof(w->sreg)) ? PPU_DEBUG_OK : PPU_DEBUG_BAD_REQUEST;
    case PPU_DEBUG_DO_READ_PREDICATES:
        return answer_bytes(answer, w->pred, sizeof(w->pred)) ? PPU_DEBUG_OK : PPU_DEBUG_BAD_REQUEST;
    case PPU_DEBUG_DO_WRITE_VECTOR:
        return write_vector(sm, request);
    case PPU_DEBUG_DO_WRITE_SCALAR:
        return write_scalar(w, request);
    case PPU_DEBUG_DO_WRITE_PREDICATE:
        return write_predicate(w, request);
    case PPU_DEBUG_DO_READ_MEMORY:
        return read_memory(sm, request, answer);
    default:
        return write_memory(sm, request);
    }
}
