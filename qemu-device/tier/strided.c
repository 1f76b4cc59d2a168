/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/tier/strided.h"
#include "qemu-device/tier/operand.h"

#define MOST_SPAN 256u /* bytes: more are not loaded as a whole to pick lanes out of them */

/* What a lane loads or stores. */
static LLVMTypeRef lane_type(const struct writer *t, const struct ppu_insn *insn)
{
    LLVMTypeRef word = write_width_type(t, insn->width);

    return insn->wd == 1 ? word : LLVMVectorType(word, insn->wd);
}

static uint32_t alignment_of(const struct ppu_insn *insn)
{
    const uint32_t bytes = ppu_width_bytes(insn->width);

    return bytes < 4 ? bytes : 4;
}

static LLVMValueRef lane_at(const struct writer *t, LLVMValueRef host, LLVMValueRef stride, uint32_t lane)
{
    return write_behind(t, host, LLVMBuildMul(t->builder, stride, write_i64(t, lane), ""));
}

LLVMValueRef strided_places(const struct writer *t, LLVMValueRef host, LLVMValueRef stride)
{
    LLVMTypeRef longs = LLVMVectorType(t->i64, TIER_CHUNK);
    LLVMValueRef number[TIER_CHUNK];

    for (uint32_t i = 0; i < TIER_CHUNK; i++) {
        number[i] = write_i64(t, i);
    }
    LLVMValueRef first = LLVMBuildInsertElement(t->builder, LLVMGetPoison(longs), stride, write_i32(t, 0), "");
    LLVMValueRef all = LLVMBuildShuffleVector(t->builder, first, LLVMGetPoison(longs), LLVMConstNull(t->lanes), "");
    return write_behind(t, host, LLVMBuildMul(t->builder, all, LLVMConstVector(number, TIER_CHUNK), ""));
}

/* ---- loads ---- */

/* Bytes from the first lane to the end of the last; 0: not known, or no lane can be picked out of them. */
static uint64_t span_of(const struct ppu_insn *insn, LLVMValueRef stride)
{
    const uint64_t bytes = ppu_width_bytes(insn->width);

    if (insn->wd != 1 || !LLVMIsConstant(stride) || LLVMConstIntGetZExtValue(stride) % bytes != 0) {
        return 0;
    }
    const uint64_t span = (TIER_CHUNK - 1) * LLVMConstIntGetZExtValue(stride) + bytes;
    return span <= MOST_SPAN ? span : 0;
}

/* Loads what lies between, too. */
static LLVMValueRef load_span(const struct writer *t, const struct ppu_insn *insn, LLVMValueRef host,
                              LLVMValueRef stride, uint64_t span)
{
    const uint32_t bytes = ppu_width_bytes(insn->width);
    LLVMTypeRef type = LLVMVectorType(lane_type(t, insn), (uint32_t)(span / bytes));
    LLVMValueRef all = write_load_shared(t, type, host, alignment_of(insn));

    return write_every(t, all, (uint32_t)(LLVMConstIntGetZExtValue(stride) / bytes), 0);
}

static LLVMValueRef join_words(const struct writer *t, LLVMTypeRef type, LLVMValueRef part[TIER_CHUNK])
{
    LLVMValueRef all = LLVMGetPoison(LLVMVectorType(type, TIER_CHUNK));

    for (uint32_t i = 0; i < TIER_CHUNK; i++) {
        all = LLVMBuildInsertElement(t->builder, all, part[i], write_i32(t, i), "");
    }
    return all;
}

/* Joins vectors of so many elements each, two by two. */
static LLVMValueRef join_all(const struct writer *t, LLVMValueRef part[TIER_CHUNK], uint32_t elements)
{
    LLVMValueRef number[TIER_CHUNK * KIT_MOST_WORDS];

    for (uint32_t i = 0; i < TIER_CHUNK * elements; i++) {
        number[i] = write_i32(t, i);
    }
    for (uint32_t count = TIER_CHUNK; count > 1; count /= 2, elements *= 2) {
        for (uint32_t i = 0; i < count / 2; i++) {
            part[i] = LLVMBuildShuffleVector(t->builder, part[2 * i], part[2 * i + 1],
                                             LLVMConstVector(number, 2 * elements), "");
        }
    }
    return part[0];
}

void strided_load(const struct writer *t, const struct ppu_insn *insn, LLVMValueRef host, LLVMValueRef stride,
                  LLVMValueRef words[KIT_MOST_WORDS])
{
    const uint64_t span = span_of(insn, stride);
    LLVMTypeRef type = lane_type(t, insn);
    LLVMValueRef part[TIER_CHUNK];

    if (span != 0) {
        words[0] = write_widened(t, load_span(t, insn, host, stride, span), insn->width, t->lanes);
        return;
    }
    for (uint32_t i = 0; i < TIER_CHUNK; i++) {
        part[i] = write_load_shared(t, type, lane_at(t, host, stride, i), alignment_of(insn));
    }
    if (insn->wd == 1) {
        words[0] = write_widened(t, join_words(t, type, part), insn->width, t->lanes);
        return;
    }
    LLVMValueRef all = join_all(t, part, insn->wd);
    for (uint32_t word = 0; word < insn->wd; word++) {
        words[word] = write_every(t, all, insn->wd, word);
    }
}

/* ---- stores ---- */

void strided_store(const struct writer *t, const struct ppu_insn *insn, LLVMValueRef row, LLVMValueRef host,
                   LLVMValueRef stride)
{
    LLVMValueRef number[KIT_MOST_WORDS];

    for (uint32_t i = 0; i < TIER_CHUNK; i++) {
        LLVMValueRef one;
        if (insn->wd == 1) {
            one = LLVMBuildExtractElement(t->builder, row, write_i32(t, i), "");
        } else {
            for (uint32_t word = 0; word < insn->wd; word++) {
                number[word] = write_i32(t, i * insn->wd + word);
            }
            one = LLVMBuildShuffleVector(t->builder, row, LLVMGetPoison(LLVMTypeOf(row)),
                                         LLVMConstVector(number, insn->wd), "");
        }
        write_store_shared(t, one, lane_at(t, host, stride, i), alignment_of(insn));
    }
}
