/* SPDX-License-Identifier: MIT */
#include "compiler/mir/pressure.h"

#include "compiler/debug/site.h"
#include "compiler/mir/liveness.h"

#include "ppu/macros.h"

#include <string.h>

struct scan {
    struct mir *mir;
    struct pressure *pressure;
    uint64_t *set; /* words live at the point that was reached, going up */
};

static void set_live(struct scan *scan, const struct mir_operand *operand, bool live)
{
    uint32_t first = scan->mir->regs[operand->ref->reg].word + operand->ref->sub;

    for (uint32_t w = first; w < first + operand->words; w++) {
        if (live) {
            scan->set[w / 64] |= 1ull << w % 64;
        } else {
            scan->set[w / 64] &= ~(1ull << w % 64);
        }
    }
}

static uint32_t count_vectors(const struct scan *scan)
{
    const struct pressure *p = scan->pressure;
    uint32_t count = 0;

    for (uint32_t w = 0; w < p->set_words; w++) {
        count += (uint32_t)__builtin_popcountll(scan->set[w] & p->vectors[w]);
    }
    return count;
}

/* Over one instruction, upwards. Its results take registers even when nobody reads them. */
static void visit(struct scan *scan, struct mir_operand *operands, uint32_t count, uint32_t point)
{
    struct pressure *p = scan->pressure;

    for (uint32_t o = 0; o < count; o++) {
        if (operands[o].def) {
            set_live(scan, &operands[o], true);
        }
    }
    uint32_t behind = count_vectors(scan);
    for (uint32_t o = 0; o < count; o++) {
        if (operands[o].def && !operands[o].reads) {
            set_live(scan, &operands[o], false);
        }
    }
    for (uint32_t o = 0; o < count; o++) {
        if (operands[o].reads) {
            set_live(scan, &operands[o], true);
        }
    }
    uint32_t before = count_vectors(scan);
    p->need[point] = PPU_MAX(behind, before);
    memcpy(p->before + (size_t)point * p->set_words, scan->set, p->set_words * sizeof(scan->set[0]));
}

static void scan_block(struct scan *scan, uint32_t b, const struct live_words *out)
{
    struct mir_block *block = &scan->mir->blocks[b];
    struct mir_operand operands[MIR_MAX_OPERANDS];
    uint32_t end = pressure_end(scan->pressure, b);

    memset(scan->set, 0, scan->pressure->set_words * sizeof(scan->set[0]));
    for (uint32_t i = 0; i < out->count; i++) {
        scan->set[out->list[i] / 64] |= 1ull << out->list[i] % 64;
    }
    operands[0] = (struct mir_operand){ &block->cond, 1, true, false, true };
    visit(scan, operands, block->end == MIR_BRANCH ? 1 : 0, end);
    for (uint32_t i = block->count; i-- != 0;) {
        uint32_t count = mir_operands(&block->insns[i], operands);
        visit(scan, operands, count, end - block->count + i);
    }
}

static void number_points(struct mir *mir, struct pressure *p)
{
    uint32_t blocks = mir->flow->count;

    p->first = arena_new(&mir->compilation->arena, uint32_t, blocks + 1);
    for (uint32_t b = 0; b < blocks; b++) {
        p->first[b + 1] = p->first[b] + mir->blocks[b].count + 1;
    }
    p->points = p->first[blocks];
    p->block = arena_new(&mir->compilation->arena, uint32_t, p->points + 1);
    p->line = arena_new(&mir->compilation->arena, uint32_t, p->points + 1);
    for (uint32_t b = 0; b < blocks; b++) {
        for (uint32_t s = p->first[b]; s < p->first[b + 1]; s++) {
            uint32_t i = s - p->first[b];
            p->block[s] = b;
            p->line[s] = site_line(mir->compilation,
                                   i < mir->blocks[b].count ? mir->blocks[b].insns[i].site : mir->blocks[b].site);
        }
    }
    p->block[p->points] = blocks;
}

struct pressure *pressure_new(struct mir *mir)
{
    struct arena *arena = &mir->compilation->arena;
    struct pressure *p = arena_new(arena, struct pressure, 1);

    struct liveness live = liveness_find(mir);
    number_points(mir, p);
    p->set_words = mir->words / 64 + 1;
    p->need = arena_new(arena, uint32_t, p->points + 1);
    p->before = arena_new(arena, uint64_t, (size_t)(p->points + 1) * p->set_words);
    p->vectors = arena_new(arena, uint64_t, p->set_words);
    for (uint32_t r = 1; r < mir->reg_count; r++) {
        for (uint32_t w = mir->regs[r].word; w < mir->regs[r].word + mir->regs[r].words; w++) {
            p->vectors[w / 64] |= (uint64_t)(mir->regs[r].class == MIR_VECTOR) << w % 64;
        }
    }
    struct scan scan = { mir, p, arena_new(arena, uint64_t, p->set_words) };
    for (uint32_t b = 0; b < mir->flow->count; b++) {
        scan_block(&scan, b, &live.out[b]);
    }
    return p;
}
