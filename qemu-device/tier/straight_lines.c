/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes how a pass of a straight unit counts its transactions. Those of rows that are known are counted behind the
 * accesses, for all that have the same lanes at once: mostly these are all lanes of the pass, and what a row counts
 * then is the same for all passes of a warp.
 */
#include "qemu-device/tier/straight.h"

void straight_add_lines(const struct straight *s, LLVMValueRef lines)
{
    write_count(s->t, s->lines, LLVMBuildZExt(s->t->builder, lines, s->t->i64, ""));
}

void straight_note_row(struct straight *s, uint32_t n, LLVMValueRef set)
{
    s->uncounted[s->uncounted_count++] = (struct uncounted){ n, set };
}

/* The transactions of an access: of all lanes of the pass, or of those that execute it. */
static LLVMValueRef access_lines(const struct straight *s, const struct uncounted *access, bool all)
{
    const struct writer *const t = s->t;
    const struct row *const row = &s->row[access->n];
    LLVMBuilderRef b = t->builder;
    LLVMValueRef before = LLVMBuildMul(b, s->pass, write_i64(t, PPU_LANES), "");
    LLVMValueRef at = LLVMBuildAdd(b, s->base[access->n], row->offset, "");
    LLVMValueRef bytes = write_i32(t, ppu_width_bytes(straight_insn(s, access->n)->width));

    at = LLVMBuildAdd(b, at, LLVMBuildMul(b, row->apart, before, ""), "");
    LLVMValueRef arguments[] = { at, row->apart, bytes, access->set };
    return write_kit(t, all ? "kit_full_row_lines" : "kit_known_row_lines", arguments, all ? 3 : 4);
}

/* The transactions of all accesses from `first` on that have its lanes. */
static LLVMValueRef sum_of(const struct straight *s, uint32_t first, bool all)
{
    LLVMValueRef sum = write_i32(s->t, 0);

    for (uint32_t i = first; i < s->uncounted_count; i++) {
        if (s->uncounted[i].set == s->uncounted[first].set) {
            sum = LLVMBuildAdd(s->t->builder, sum, access_lines(s, &s->uncounted[i], all), "");
        }
    }
    return sum;
}

static void count_alike(const struct straight *s, uint32_t first)
{
    struct writer *const t = s->t;
    LLVMBasicBlockRef full = write_block(t), some = write_block(t), on = write_block(t), from[2];
    LLVMValueRef set = s->uncounted[first].set, sum[2];

    write_rarely(t, LLVMBuildICmp(t->builder, LLVMIntNE, set, LLVMConstAllOnes(t->i32), ""), some, full);
    write_at(t, full);
    sum[0] = sum_of(s, first, true);
    from[0] = LLVMGetInsertBlock(t->builder);
    LLVMBuildBr(t->builder, on);
    write_at(t, some);
    sum[1] = sum_of(s, first, false);
    from[1] = LLVMGetInsertBlock(t->builder);
    LLVMBuildBr(t->builder, on);
    write_at(t, on);
    LLVMValueRef lines = LLVMBuildPhi(t->builder, t->i32, "");
    LLVMAddIncoming(lines, sum, from, 2);
    straight_add_lines(s, lines);
}

void straight_count_rows(struct straight *s)
{
    for (uint32_t i = 0; i < s->uncounted_count; i++) {
        bool counted = false;
        for (uint32_t before = 0; before < i; before++) {
            counted |= s->uncounted[before].set == s->uncounted[i].set;
        }
        if (!counted) {
            count_alike(s, i);
        }
    }
    s->uncounted_count = 0;
}
