/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes whether passes of a straight unit may store at once: accesses whose rows are known are compared in pairs. */
#include "qemu-device/tier/straight.h"

#define MOST_PAIRS 64u /* of accesses that are compared */

static bool is_access(const struct straight *s, uint32_t n)
{
    return s->t->kind[n] == KIND_LOAD || s->t->kind[n] == KIND_LOAD_ONE || s->t->kind[n] == KIND_STORE;
}

/* Where the bytes are; host NULL: it is not known. A scalar load has one place. */
static struct row row_of(const struct straight *s, uint32_t n)
{
    return s->t->kind[n] == KIND_LOAD_ONE ? (struct row){ .host = s->same.loaded[n], .apart = LLVMConstNull(s->t->i64) }
                                          : s->row[n];
}

static LLVMValueRef row_end(const struct straight *s, uint32_t n, LLVMValueRef begin)
{
    const struct writer *const t = s->t;
    LLVMValueRef last = LLVMBuildMul(t->builder, row_of(s, n).apart, write_i64(t, t->unit->wave - 1), "");
    LLVMValueRef bytes = write_i64(t, ppu_width_bytes(straight_insn(s, n)->width));

    return LLVMBuildAdd(t->builder, LLVMBuildAdd(t->builder, begin, last, ""), bytes, "");
}

/*
 * Lanes of two rows with one stride, which is not 0, lie between each other: i1. How far the second row begins behind a
 * lane of the first says so.
 */
static LLVMValueRef are_interleaved(const struct straight *s, uint32_t n, uint32_t other, LLVMValueRef behind)
{
    const struct writer *const t = s->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef stride = row_of(s, n).apart, none = LLVMBuildICmp(b, LLVMIntEQ, stride, write_i64(t, 0), "");
    LLVMValueRef divisor = LLVMBuildSelect(b, none, write_i64(t, 1), stride, "");
    LLVMValueRef rest = LLVMBuildSRem(b, behind, divisor, "");
    LLVMValueRef negative = LLVMBuildICmp(b, LLVMIntSLT, rest, write_i64(t, 0), "");
    LLVMValueRef bytes = write_i64(t, ppu_width_bytes(straight_insn(s, n)->width));
    LLVMValueRef own = write_i64(t, ppu_width_bytes(straight_insn(s, other)->width));

    rest = LLVMBuildSelect(b, negative, LLVMBuildAdd(b, rest, divisor, ""), rest, "");
    LLVMValueRef good = LLVMBuildICmp(b, LLVMIntEQ, stride, row_of(s, other).apart, "");
    good = LLVMBuildAnd(b, good, LLVMBuildICmp(b, LLVMIntUGE, rest, bytes, ""), "");
    return LLVMBuildAnd(b, good, LLVMBuildICmp(b, LLVMIntULE, LLVMBuildAdd(b, rest, own, ""), divisor, ""), "");
}

/* No stride lets a lane of the second row lie between lanes of the first. */
static bool too_near(const struct straight *s, uint32_t n, uint32_t other)
{
    LLVMValueRef stride = row_of(s, n).apart;
    const uint32_t bytes =
        ppu_width_bytes(straight_insn(s, n)->width) + ppu_width_bytes(straight_insn(s, other)->width);

    return LLVMIsConstant(stride) && LLVMConstIntGetZExtValue(stride) < bytes;
}

/* Two rows are the same, lane by lane, or have no byte in common; i1. */
static LLVMValueRef are_independent(const struct straight *s, uint32_t n, uint32_t other)
{
    LLVMBuilderRef b = s->t->builder;
    LLVMValueRef at = LLVMBuildPtrToInt(b, row_of(s, n).host, s->t->i64, "");
    LLVMValueRef other_at = LLVMBuildPtrToInt(b, row_of(s, other).host, s->t->i64, "");
    LLVMValueRef before = LLVMBuildICmp(b, LLVMIntULE, row_end(s, n, at), other_at, "");
    LLVMValueRef behind = LLVMBuildICmp(b, LLVMIntULE, row_end(s, other, other_at), at, "");
    LLVMValueRef good = LLVMBuildOr(b, before, behind, "");

    if (ppu_width_bytes(straight_insn(s, n)->width) == ppu_width_bytes(straight_insn(s, other)->width)) {
        LLVMValueRef begins = LLVMBuildICmp(b, LLVMIntEQ, at, other_at, "");
        LLVMValueRef steps = LLVMBuildICmp(b, LLVMIntEQ, row_of(s, n).apart, row_of(s, other).apart, "");
        good = LLVMBuildOr(b, good, LLVMBuildAnd(b, begins, steps, ""), "");
    }
    if (too_near(s, n, other)) {
        return good;
    }
    return LLVMBuildOr(b, good, are_interleaved(s, n, other, LLVMBuildSub(b, other_at, at, "")), "");
}

/* A store and another access, each two once. Scalar loads come before the passes, so before all stores. */
static bool is_pair(const struct straight *s, uint32_t n, uint32_t other)
{
    return n < other && is_access(s, n) && is_access(s, other) &&
           (s->t->kind[n] == KIND_STORE || (s->t->kind[other] == KIND_STORE && s->t->kind[n] != KIND_LOAD_ONE));
}

/* How many pairs there are; MOST_PAIRS + 1: some accesses are not known to be rows. */
static uint32_t count_pairs(const struct straight *s)
{
    uint32_t pairs = 0;

    for (uint32_t n = 0; n < s->end; n++) {
        if (is_access(s, n) && !row_of(s, n).host) {
            return MOST_PAIRS + 1;
        }
        for (uint32_t other = 0; other < n; other++) {
            pairs += is_pair(s, other, n);
        }
    }
    return pairs;
}

bool straight_stores_in_place(struct straight *s)
{
    if (!s->forms || count_pairs(s) > MOST_PAIRS) {
        return false;
    }
    for (uint32_t n = 0; n < s->end; n++) {
        for (uint32_t other = 0; other < n; other++) {
            if (is_pair(s, other, n)) {
                same_unless(&s->same, LLVMBuildNot(s->t->builder, are_independent(s, other, n), ""));
            }
        }
    }
    return true;
}
