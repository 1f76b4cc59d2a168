/* SPDX-License-Identifier: MIT */
#include "tests/engine/observe.h"

#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/sm/access.h"
#include "qemu-device/core/sm/cta.h"
#include "tests/engine/rig.h"

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
static bool piece_address(const struct look *l, uint32_t lane, uint32_t piece, uint64_t *at)
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
        uint32_t offset = reg(l, insn->format == PPU_FMT_ATOM ? insn->rc : insn->rb, false, lane);
        int64_t size = insn->format == PPU_FMT_ATOM ? 4 << insn->wide : (int64_t)ppu_width_bytes(insn->width);
        va += insn->indexed ? (uint64_t)((int32_t)offset * size) : offset;
    }
    va = insn->wa == 2 ? va : (uint32_t)va;
    if (insn->op == PPU_OP_LDU || insn->op == PPU_OP_STU || insn->op == PPU_OP_ATOMU) {
        va += 4 * piece;
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

        if (!executes(l, pass * PPU_LANES + i) || !piece_address(l, pass * PPU_LANES + i, piece, &at)) {
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

/* ---- caches ---- */

/* Words that lie apart from one another, or may, are looked at one by one. */
static uint32_t words_apart(const struct ppu_insn *insn)
{
    bool apart = insn->op == PPU_OP_LDL || insn->op == PPU_OP_STL || insn->op == PPU_OP_LDU || insn->op == PPU_OP_STU;

    if (insn->format == PPU_FMT_GATHER) {
        return insn->width + 1u;
    }
    return insn->op == PPU_OP_ATOMU ? 1u + insn->wide : apart ? ppu_width_words(insn->width) : 1;
}

static uint32_t word_bytes(const struct ppu_insn *insn)
{
    uint32_t bytes = insn->format == PPU_FMT_ATOM ? 4u << insn->wide : ppu_width_bytes(insn->width);

    return insn->format == PPU_FMT_GATHER || (words_apart(insn) > 1 && bytes > 4) ? 4 : bytes;
}

/* VRAM as the bench maps it. */
static uint64_t line_of(const struct look *l, uint64_t va)
{
    uint64_t at = va >= LOCAL_VA ? va - LOCAL_VA + LOCAL_AT : va - DATA_VA + DATA_AT;

    return at / core_config_of(l->sm->core)->cache_line;
}

static void use(struct observed *o, const struct ppu_insn *insn, uint64_t line)
{
    bool load = insn->op == PPU_OP_LDG || insn->op == PPU_OP_LDU || insn->op == PPU_OP_LDL || insn->op == PPU_OP_GATHER;
    bool hit = false;

    if (insn->format == PPU_FMT_ATOM) {
        model_cache_drop(&o->l1, line);
    } else {
        hit = model_cache_use(&o->l1, line, load);
    }
    if (load) {
        o->count[hit ? PPU_COUNTER_L1_HITS : PPU_COUNTER_L1_MISSES]++;
    }
    if (!load || !hit) {
        o->count[model_cache_use(&o->l2, line, true) ? PPU_COUNTER_L2_HITS : PPU_COUNTER_L2_MISSES]++;
    }
}

/* Each different line of a pass once. */
static void use_pass(struct observed *o, const struct look *l, uint32_t pass)
{
    uint64_t seen[2 * PPU_LANES * SM_MAX_WORDS];
    uint32_t count = 0, bytes = word_bytes(&l->insn);
    bool done = false;

    for (uint32_t word = 0; word < words_apart(&l->insn); word++) {
        for (uint32_t lane = pass * PPU_LANES; lane < (pass + 1) * PPU_LANES && !done; lane++) {
            uint64_t at;

            if (!executes(l, lane) || !piece_address(l, lane, word, &at)) {
                continue;
            }
            for (uint64_t line = line_of(l, at); line <= line_of(l, at + bytes - 1); line++) {
                uint32_t i = 0;

                while (i < count && seen[i] != line) {
                    i++;
                }
                if (i == count) {
                    seen[count++] = line;
                    use(o, &l->insn, line);
                }
            }
            done = l->insn.scalar;
        }
    }
}

static void use_caches(struct observed *o, const struct look *l)
{
    bool any = false;

    if (l->insn.op == PPU_OP_LDS || l->insn.op == PPU_OP_STS || l->insn.op == PPU_OP_ATOMS ||
        l->insn.op == PPU_OP_LDP) {
        return;
    }
    for (uint32_t pass = 0; pass < l->w->passes && !(any && l->insn.scalar); pass++) {
        for (uint32_t lane = pass * PPU_LANES; lane < (pass + 1) * PPU_LANES; lane++) {
            any = any || executes(l, lane);
        }
        use_pass(o, l, pass);
    }
}

struct observed observe_new(const struct core_config *config)
{
    struct observed o = { .caches = config->cache_model };

    if (o.caches) {
        o.l1 = model_cache_new(config->l1_bytes, config->l1_ways, config->cache_line);
        o.l2 = model_cache_new(config->l2_bytes, config->l2_ways, config->cache_line);
    }
    return o;
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
        if (o->caches) {
            use_caches(o, &l);
        }
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
