/* SPDX-License-Identifier: MIT */
#include "combine.h"

#include <string.h>

/* ---- what nobody reads ---- */

static void count_reads(struct mir *mir, uint32_t *reads)
{
    struct mir_operand operands[MIR_MAX_OPERANDS];

    memset(reads, 0, mir->reg_count * sizeof(reads[0]));
    for (uint32_t b = 0; b < mir->flow->count; b++) {
        struct mir_block *block = &mir->blocks[b];
        for (uint32_t i = 0; i < block->count; i++) {
            uint32_t count = mir_operands(&block->insns[i], operands);
            for (uint32_t o = 0; o < count; o++) {
                reads[operands[o].ref->reg] += !operands[o].def;
            }
        }
        if (block->end == MIR_BRANCH) {
            reads[block->cond.reg]++;
        }
    }
}

static bool drop_unread(struct mir *mir, const uint32_t *reads)
{
    bool changed = false;

    for (uint32_t b = 0; b < mir->flow->count; b++) {
        struct mir_block *block = &mir->blocks[b];
        uint32_t kept = 0;
        for (uint32_t i = 0; i < block->count; i++) {
            if (mir_is_pure(&block->insns[i]) && reads[block->insns[i].d.reg] == 0) {
                changed = true;
            } else {
                block->insns[kept++] = block->insns[i];
            }
        }
        block->count = kept;
    }
    return changed;
}

static void drop_dead(struct mir *mir)
{
    uint32_t *reads = arena_new(&mir->unit->arena, uint32_t, mir->reg_count);

    do {
        count_reads(mir, reads);
    } while (drop_unread(mir, reads));
}

void combine(struct mir *mir)
{
    drop_dead(mir);
}
