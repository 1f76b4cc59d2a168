/* SPDX-License-Identifier: MIT */
#include "observe.h"

/* One warp instruction as the lanes see it. */
struct look {
    const struct sm *sm;
    const struct sm_cta *cta;
    const struct warp *w;
    struct ppu_insn insn;
};

static uint32_t reg(const struct look *l, uint32_t number, bool scalar, uint32_t lane)
{
    const struct ppu_tmd *tmd = &l->cta->cta.task->tmd;
    const uint32_t *file =
        (const uint32_t *)(const void *)(l->sm->file[SM_FILE_VREGS].bytes + l->cta->block[SM_FILE_VREGS].off);

    return scalar ? l->w->sreg[number] : file[number * tmd->wave + lane];
}

static bool executes(const struct look *l, uint32_t lane)
{
    bool holds = lanes_has(&l->w->pred[l->insn.guard & PPU_GUARD_PRED], lane);

    return lanes_has(&l->w->active, lane) && (l->insn.guard == 0 || holds != ((l->insn.guard & PPU_GUARD_NEGATE) != 0));
}

/* Where a lane's piece lies; false: not in memory. */
static bool place(const struct look *l, uint32_t lane, uint32_t piece, uint64_t *at)
{
    const struct ppu_insn *insn = &l->insn;
    const struct dist_task *task = l->cta->cta.task;
    bool local = insn->op == PPU_OP_LDL || insn->op == PPU_OP_STL;
    uint64_t va = (uint64_t)(int64_t)insn->imm;

    if (insn->wa != 0) {
        va += reg(l, insn->ra, insn->a_scalar, lane);
        va += insn->wa == 2 ? (uint64_t)reg(l, insn->ra + 1u, insn->a_scalar, lane) << 32 : 0;
    }
    if (insn->format == PPU_FMT_GATHER) {
        va += reg(l, insn->rb + piece, false, lane);
    } else if (insn->lane_off) {
        va += reg(l, insn->format == PPU_FMT_ATOM ? insn->rc : insn->rb, false, lane);
    }
    va = insn->wa == 2 ? va : (uint32_t)va;
    if (insn->op == PPU_OP_LDU || insn->op == PPU_OP_STU || insn->op == PPU_OP_ATOMU) {
        local = (va & PPU_WINDOW_MASK) == PPU_LOCAL_WINDOW;
        if ((va & PPU_WINDOW_MASK) == PPU_SHARED_WINDOW) {
            return false;
        }
    }
    if (local) {
        uint32_t offset = (uint32_t)va + (insn->op == PPU_OP_LDL || insn->op == PPU_OP_STL ? 4 * piece : 0);
        va = task->tmd.local_va + ((uint64_t)(offset / 4) * task->cta_threads + lane) * 4 + offset % 4;
    }
    *at = va;
    return true;
}

static uint32_t lines_of_row(uint64_t first, uint64_t end)
{
    return (uint32_t)((end - 1) / PPU_TRANSACTION_BYTES - first / PPU_TRANSACTION_BYTES + 1);
}

/* Transactions of one pass and piece. */
static uint32_t transactions(const struct look *l, uint32_t pass, uint32_t piece, uint32_t bytes)
{
    uint64_t first = 0, last = 0;
    uint32_t first_lane = 0, count = 0;
    bool alike = true, row = true;

    for (uint32_t i = 0; i < PPU_LANES; i++) {
        uint64_t at;

        if (!executes(l, pass * PPU_LANES + i) || !place(l, pass * PPU_LANES + i, piece, &at)) {
            continue;
        }
        if (count++ == 0) {
            first = at;
            first_lane = i;
        }
        last = at;
        alike = alike && at == first;
        row = row && at - first == (uint64_t)(i - first_lane) * bytes;
    }
    return count == 0 || alike ? count != 0 : row ? lines_of_row(first, last + bytes) : count;
}

static uint32_t of_memory(const struct look *l)
{
    const struct ppu_insn *insn = &l->insn;
    bool local = insn->op == PPU_OP_LDL || insn->op == PPU_OP_STL, gather = insn->format == PPU_FMT_GATHER;
    bool atomic = insn->format == PPU_FMT_ATOM;
    uint32_t bytes = atomic ? 4u << insn->wide : local || gather ? 4u : ppu_width_bytes(insn->width);
    uint32_t pieces = gather ? insn->width + 1u : local ? ppu_width_words(insn->width) : 1;
    uint32_t sum = 0;

    if (insn->op == PPU_OP_LDS || insn->op == PPU_OP_STS || insn->op == PPU_OP_ATOMS || insn->op == PPU_OP_LDP) {
        return 0;
    }
    for (uint32_t pass = 0; pass < l->w->passes; pass++) {
        for (uint32_t piece = 0; piece < pieces; piece++) {
            sum += transactions(l, pass, piece, bytes);
        }
    }
    return insn->scalar && sum != 0 ? 1 : sum;
}

void observe_before(struct observed *o, const struct sm *sm, const struct warp *w, const uint64_t *code)
{
    struct look l = { .sm = sm, .cta = &sm->cta[w->cta], .w = w };

    ppu_isa_decode(code[w->pc], &l.insn);
    o->before = w->active;
    o->count[PPU_COUNTER_INSNS]++;
    for (uint32_t lane = 0; lane < PPU_MAX_WAVE; lane++) {
        o->count[PPU_COUNTER_LANES] += lanes_has(&w->active, lane);
    }
    if (l.insn.format == PPU_FMT_MEM || l.insn.format == PPU_FMT_GATHER || l.insn.format == PPU_FMT_ATOM) {
        o->count[PPU_COUNTER_TRANSACTIONS] += of_memory(&l);
    }
}

void observe_after(struct observed *o, const struct warp *w)
{
    bool parted = false;

    for (uint32_t lane = 0; lane < PPU_MAX_WAVE; lane++) {
        parted = parted || (lanes_has(&o->before, lane) && w->reason[lane] == PPU_TOKEN_DIVERGE);
    }
    o->count[PPU_COUNTER_DIVERGENT] += parted;
}
