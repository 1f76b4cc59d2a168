/* SPDX-License-Identifier: MIT */
#include "compiler/mir/peephole.h"

#include "ppu/macros.h"

#include <string.h>

/* ---- what nobody reads ---- */

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

static void drop_dead(struct mir *mir, struct mir_counts *counts)
{
    do {
        mir_count(mir, counts);
    } while (drop_unread(mir, counts->reads));
}

/* ---- a product that is only added ---- */

struct fusion {
    enum ppu_op product, sum, both;
};

static const struct fusion fusions[] = {
    { PPU_OP_MUL, PPU_OP_ADD, PPU_OP_MAD },
    { PPU_OP_MUL64, PPU_OP_ADD64, PPU_OP_MAD64 },
    { PPU_OP_MULW, PPU_OP_ADD64, PPU_OP_MADW },
    { PPU_OP_MULWU, PPU_OP_ADD64, PPU_OP_MADWU },
};

static const struct fusion *fusion_of(const struct mir_insn *product)
{
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(fusions); i++) {
        if (fusions[i].product == product->code.op && !product->code.immed) {
            return &fusions[i];
        }
    }
    return NULL;
}

static bool same_ref(struct mir_ref x, struct mir_ref y)
{
    return x.reg == y.reg && x.sub == y.sub;
}

/* The sum of the product that instruction `at` makes and something else, in the same block; NULL: there is none. */
static struct mir_insn *find_sum(struct mir_block *block, uint32_t at, const struct fusion *fusion,
                                 const struct mir_counts *counts)
{
    struct mir_ref product = block->insns[at].d;

    if (counts->reads[product.reg] != 1 || counts->writes[product.reg] != 1) {
        return NULL;
    }
    for (uint32_t i = at + 1; i < block->count; i++) {
        struct mir_insn *insn = &block->insns[i];
        if (insn->code.op == fusion->sum && !insn->code.immed &&
            (same_ref(insn->a, product) || same_ref(insn->b, product))) {
            return insn;
        }
    }
    return NULL;
}

static bool fuse(struct mir_block *block, uint32_t at, const struct mir_counts *counts)
{
    struct mir_insn product = block->insns[at], *sum;
    const struct fusion *fusion = fusion_of(&product);

    /* Its factors must still be there when the sum is made. */
    if (!fusion || counts->writes[product.a.reg] != 1 || counts->writes[product.b.reg] != 1 ||
        !(sum = find_sum(block, at, fusion, counts))) {
        return false;
    }
    struct mir_insn both = mir_insn(fusion->both);
    both.a = product.a;
    both.b = product.b;
    both.c = same_ref(sum->a, product.d) ? sum->b : sum->a;
    both.d = sum->d;
    both.site = sum->site;
    both.code.scalar = sum->code.scalar;
    *sum = both;
    return true;
}

static void fuse_products(struct mir *mir, const struct mir_counts *counts)
{
    for (uint32_t b = 0; b < mir->flow->count; b++) {
        struct mir_block *block = &mir->blocks[b];
        uint32_t kept = 0;
        for (uint32_t i = 0; i < block->count; i++) {
            if (!fuse(block, i, counts)) {
                block->insns[kept++] = block->insns[i];
            }
        }
        block->count = kept;
    }
}

void peephole(struct mir *mir)
{
    struct mir_counts counts = mir_counts_new(mir);

    drop_dead(mir, &counts);
    fuse_products(mir, &counts);
}
