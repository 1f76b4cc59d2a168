/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/tier/same.h"
#include "qemu-device/tier/operand.h"

static LLVMValueRef place_of(const struct writer *t, uint32_t reg)
{
    return write_field(t, t->w, offsetof(struct warp, sreg) + reg * sizeof(uint32_t));
}

LLVMValueRef same_get(struct same *s, uint32_t reg)
{
    if (!s->scalar[reg]) {
        s->scalar[reg] = write_load(s->t, s->t->i32, place_of(s->t, reg));
    }
    return s->scalar[reg];
}

void same_put(struct same *s, uint32_t reg, LLVMValueRef value)
{
    s->scalar[reg] = value;
    s->dirty[reg] = true;
}

void same_store(const struct same *s)
{
    for (uint32_t reg = 0; reg < PPU_SREGS; reg++) {
        if (s->dirty[reg]) {
            write_store(s->t, s->scalar[reg], place_of(s->t, reg));
        }
    }
}

LLVMValueRef same_base(struct same *s, const struct ppu_insn *insn)
{
    LLVMBuilderRef b = s->t->builder;
    LLVMValueRef low = LLVMBuildZExt(b, same_get(s, insn->ra), s->t->i64, "");
    LLVMValueRef high = LLVMBuildZExt(b, same_get(s, insn->ra + 1u), s->t->i64, "");
    LLVMValueRef base = LLVMBuildOr(b, low, LLVMBuildShl(b, high, write_i64(s->t, 32), ""), "");

    return LLVMBuildAdd(b, base, write_i64(s->t, (uint64_t)(int64_t)insn->imm), "");
}

void same_unless(struct same *s, LLVMValueRef fails)
{
    LLVMBasicBlockRef on = write_block(s->t);

    write_rarely(s->t, fails, s->fail, on);
    write_at(s->t, on);
    s->fails = true;
}

void same_add_lines(struct same *s, LLVMValueRef lines)
{
    s->lines = s->lines ? LLVMBuildAdd(s->t->builder, s->lines, lines, "") : lines;
}

static void read_words(struct same *s, const struct tier_insn *insn, uint32_t n, LLVMValueRef words[2])
{
    const struct operand_of o = operand_of(&insn->insn, n);

    for (uint32_t word = 0; word < o.words && word < 2; word++) {
        words[word] = o.immediate ? write_i32(s->t, insn->imm[word]) : same_get(s, o.reg + word);
    }
    if (o.words != 0) {
        words[o.words - 1] = write_modified(s->t, &insn->insn, n, words[o.words - 1]);
    }
}

void same_capture(struct same *s, uint32_t n)
{
    const struct tier_insn *const insn = &s->t->unit->insn[n];

    for (uint32_t i = 0; i < 3; i++) {
        const struct operand_of o = operand_of(&insn->insn, i);
        if (o.words != 0 && (o.scalar || o.immediate)) {
            read_words(s, insn, i, s->words[n][i]);
        }
    }
}

static void write_value(struct same *s, uint32_t n)
{
    const struct tier_insn *const insn = &s->t->unit->insn[n];
    const struct tier_op op = tier_op_of(insn);
    const struct writer *const t = s->t;

    same_capture(s, n);
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t word = 0; word < 2; word++) {
            if (s->words[n][i][word]) {
                write_store(t, s->words[n][i][word], t->one[2 * (i + 1) + word]);
            }
        }
    }
    write_kit_call(t, "s_", op.name, t->one);
    if (t->kind[n] == KIND_UNIFORM) {
        s->uniform[n] = write_load(t, t->i32, t->one[0]);
        return;
    }
    for (uint32_t word = 0; word < insn->insn.wd; word++) {
        same_put(s, insn->insn.rd + word, write_load(t, t->i32, t->one[word]));
    }
}

static void write_load_one(struct same *s, uint32_t n)
{
    const struct ppu_insn *const insn = &s->t->unit->insn[n].insn;
    const struct writer *const t = s->t;
    LLVMValueRef arguments[] = { t->x, write_field(t, t->head, n * sizeof(struct code_insn)), same_base(s, insn) };
    LLVMValueRef host = write_call(t, offsetof(struct tier_calls, one), t->ptr, arguments, 3);

    same_unless(s, LLVMBuildIsNull(t->builder, host, ""));
    s->loaded[n] = host;
    for (uint32_t word = 0; word < insn->wd; word++) {
        same_put(s, insn->rd + word, write_word_of(t, host, insn->width, word));
    }
}

bool same_write(struct same *s, uint32_t n)
{
    switch (s->t->kind[n]) {
    case KIND_SCALAR:
    case KIND_UNIFORM:
        write_value(s, n);
        return true;
    case KIND_LOAD_ONE:
        write_load_one(s, n);
        return true;
    default:
        return false;
    }
}
