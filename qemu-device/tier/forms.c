/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/tier/forms.h"
#include "qemu-device/core/sm/prologue.h"
#include "qemu-device/tier/operand.h"

static const struct form unknown = { NULL, NULL };

static const struct ppu_insn *forms_insn(const struct forms *f, uint32_t n)
{
    return &f->same->t->unit->insn[n].insn;
}

static bool form_is_known(struct form form)
{
    return form.first;
}

/* All lanes have the same. */
static bool form_is_same(struct form form)
{
    return form.first && LLVMIsNull(form.step);
}

/* ---- registers ---- */

/* What a prologue has left: a number of a thread and something that is the same for all. */
static struct form begun(struct forms *f, uint32_t reg)
{
    const struct writer *const t = f->same->t;
    LLVMBuilderRef b = t->builder;

    if (f->written[reg] || reg >= EXEC_STEADY) {
        return unknown;
    }
    LLVMValueRef steady = write_load(t, t->i32, write_field(t, t->x, offsetof(struct exec, steady)));
    const size_t steps = offsetof(struct exec, step);
    LLVMValueRef step = write_load(t, t->i32, write_field(t, t->x, steps + reg * sizeof(uint32_t)));
    LLVMValueRef bit = LLVMBuildAnd(b, steady, write_i32(t, 1u << reg), "");
    LLVMValueRef good = LLVMBuildAnd(b, LLVMBuildICmp(b, LLVMIntNE, bit, write_i32(t, 0), ""),
                                     LLVMBuildICmp(b, LLVMIntEQ, step, write_i32(t, 1), ""), "");
    same_unless(f->same, LLVMBuildNot(b, good, ""));
    LLVMValueRef lanes = write_field(t, t->vreg, (uint64_t)reg * t->unit->wave * sizeof(uint32_t));
    f->one[reg].first = write_load(t, t->i32, lanes);
    f->one[reg].step = write_i32(t, 1);
    return f->one[reg];
}

struct form forms_one(struct forms *f, uint32_t reg)
{
    return form_is_known(f->one[reg]) ? f->one[reg] : begun(f, reg);
}

struct form forms_wide(struct forms *f, struct form one, bool is_signed)
{
    const struct writer *const t = f->same->t;
    LLVMBuilderRef b = t->builder;

    if (!form_is_known(one)) {
        return unknown;
    }
    struct form wide = { is_signed ? LLVMBuildSExt(b, one.first, t->i64, "") : LLVMBuildZExt(b, one.first, t->i64, ""),
                         LLVMBuildSExt(b, one.step, t->i64, "") };
    if (!form_is_same(one)) {
        LLVMValueRef last = LLVMBuildMul(b, wide.step, write_i64(t, t->unit->wave - 1), "");
        last = LLVMBuildAdd(b, wide.first, last, "");
        LLVMValueRef low = LLVMBuildTrunc(b, last, t->i32, "");
        low = is_signed ? LLVMBuildSExt(b, low, t->i64, "") : LLVMBuildZExt(b, low, t->i64, "");
        same_unless(f->same, LLVMBuildICmp(b, LLVMIntNE, low, last, ""));
    }
    return wide;
}

static struct form joined(struct forms *f, struct form low, struct form high)
{
    const struct writer *const t = f->same->t;

    if (!form_is_known(low) || !form_is_same(high) || (!form_is_same(low) && !LLVMIsNull(high.first))) {
        return unknown;
    }
    struct form wide = forms_wide(f, low, false);
    LLVMValueRef above = LLVMBuildZExt(t->builder, high.first, t->i64, "");
    above = LLVMBuildShl(t->builder, above, write_i64(t, 32), "");
    wide.first = LLVMBuildOr(t->builder, wide.first, above, "");
    return wide;
}

static bool has_signs(const struct forms *f, uint32_t reg, struct form of)
{
    return form_is_known(of) && f->signs[reg].first == of.first && f->signs[reg].step == of.step;
}

struct form forms_two(struct forms *f, uint32_t reg)
{
    return form_is_known(f->two[reg])           ? f->two[reg]
           : has_signs(f, reg + 1, f->one[reg]) ? forms_wide(f, f->one[reg], true)
                                                : joined(f, f->one[reg], f->one[reg + 1]);
}

static void forget_lanes(struct forms *f, uint32_t reg)
{
    f->written[reg] = true;
    f->one[reg] = f->two[reg] = f->signs[reg] = unknown;
    if (reg > 0) {
        f->two[reg - 1] = unknown;
    }
}

static void put_form(struct forms *f, uint32_t reg, uint32_t words, struct form form)
{
    const struct writer *const t = f->same->t;
    LLVMBuilderRef b = t->builder;

    for (uint32_t word = 0; word < words; word++) {
        forget_lanes(f, reg + word);
    }
    if (words == 1) {
        f->one[reg] = form;
    } else if (form_is_known(form)) {
        f->two[reg] = form;
        f->one[reg].first = LLVMBuildTrunc(b, form.first, t->i32, "");
        f->one[reg].step = LLVMBuildTrunc(b, form.step, t->i32, "");
        if (form_is_same(form)) {
            f->one[reg + 1].first = LLVMBuildTrunc(b, LLVMBuildLShr(b, form.first, write_i64(t, 32), ""), t->i32, "");
            f->one[reg + 1].step = write_i32(t, 0);
        }
    }
}

void forms_forget(struct forms *f, uint32_t n)
{
    for (uint32_t word = 0; word < forms_insn(f, n)->wd; word++) {
        forget_lanes(f, forms_insn(f, n)->rd + word);
    }
}

/* ---- sources ---- */

static struct form one_source(struct forms *f, uint32_t n, uint32_t i)
{
    const struct operand_of o = operand_of(forms_insn(f, n), i);

    if (o.scalar || o.immediate) {
        return (struct form){ f->same->words[n][i][0], write_i32(f->same->t, 0) };
    }
    return forms_insn(f, n)->fmod != 0 ? unknown : forms_one(f, o.reg);
}

static struct form two_source(struct forms *f, uint32_t n, uint32_t i)
{
    const struct operand_of o = operand_of(forms_insn(f, n), i);
    const struct writer *const t = f->same->t;

    if (o.scalar || o.immediate) {
        const struct form low = { f->same->words[n][i][0], write_i32(t, 0) };
        const struct form high = { f->same->words[n][i][1], write_i32(t, 0) };
        return joined(f, low, high);
    }
    return forms_two(f, o.reg);
}

/* ---- what instructions make of forms ---- */

static struct form sum(struct forms *f, struct form a, struct form b)
{
    LLVMBuilderRef builder = f->same->t->builder;

    if (!form_is_known(a) || !form_is_known(b)) {
        return unknown;
    }
    return (struct form){ LLVMBuildAdd(builder, a.first, b.first, ""), LLVMBuildAdd(builder, a.step, b.step, "") };
}

static struct form difference(struct forms *f, struct form a, struct form b)
{
    LLVMBuilderRef builder = f->same->t->builder;

    if (!form_is_known(a) || !form_is_known(b)) {
        return unknown;
    }
    return (struct form){ LLVMBuildSub(builder, a.first, b.first, ""), LLVMBuildSub(builder, a.step, b.step, "") };
}

/* A step is known to be 0 as long as possible: it says that all lanes are alike, or how far apart they are. */
static LLVMValueRef step_times(const struct forms *f, LLVMValueRef step, LLVMValueRef by)
{
    return LLVMIsNull(step) ? step : LLVMBuildMul(f->same->t->builder, step, by, "");
}

static struct form product(struct forms *f, struct form a, struct form b)
{
    LLVMBuilderRef builder = f->same->t->builder;

    if (form_is_same(a)) {
        const struct form other = a;
        a = b;
        b = other;
    }
    if (!form_is_known(a) || !form_is_same(b)) {
        return unknown;
    }
    return (struct form){ LLVMBuildMul(builder, a.first, b.first, ""), step_times(f, a.step, b.first) };
}

static struct form shifted(struct forms *f, uint32_t n, struct form a)
{
    const struct ppu_insn *const insn = forms_insn(f, n);
    LLVMBuilderRef builder = f->same->t->builder;

    if (!form_is_known(a) || !insn->immed || (uint32_t)insn->imm > 31) {
        return unknown;
    }
    LLVMValueRef by = LLVMConstInt(LLVMTypeOf(a.first), (uint32_t)insn->imm, false);
    return (struct form){ LLVMBuildShl(builder, a.first, by, ""), LLVMBuildShl(builder, a.step, by, "") };
}

/* A product of one-word numbers. */
static struct form wide_product(struct forms *f, uint32_t n, bool is_signed)
{
    const struct form a = one_source(f, n, 0), b = one_source(f, n, 1);

    if (!form_is_known(a) || !form_is_known(b) || (!form_is_same(a) && !form_is_same(b))) {
        return unknown;
    }
    const struct form wide = forms_wide(f, a, is_signed);
    return product(f, wide, forms_wide(f, b, is_signed));
}

/* What is alike for one word and for two. */
static struct form arithmetic(struct forms *f, uint32_t n,
                              struct form (*source)(struct forms *f, uint32_t n, uint32_t i))
{
    switch (forms_insn(f, n)->op) {
    case PPU_OP_MOV:
    case PPU_OP_MOV64:
        return source(f, n, 1);
    case PPU_OP_ADD:
    case PPU_OP_ADD64:
        return sum(f, source(f, n, 0), source(f, n, 1));
    case PPU_OP_SUB:
    case PPU_OP_SUB64:
        return difference(f, source(f, n, 0), source(f, n, 1));
    case PPU_OP_RSUB:
    case PPU_OP_RSUB64:
        return difference(f, source(f, n, 1), source(f, n, 0));
    case PPU_OP_MUL:
    case PPU_OP_MUL64:
        return product(f, source(f, n, 0), source(f, n, 1));
    case PPU_OP_MAD:
    case PPU_OP_MAD64:
        return sum(f, product(f, source(f, n, 0), source(f, n, 1)), source(f, n, 2));
    case PPU_OP_SHL:
    case PPU_OP_SHL64:
        return shifted(f, n, source(f, n, 0));
    default:
        return unknown;
    }
}

static struct form of_two_words(struct forms *f, uint32_t n)
{
    switch (forms_insn(f, n)->op) {
    case PPU_OP_MULW:
        return wide_product(f, n, true);
    case PPU_OP_MULWU:
        return wide_product(f, n, false);
    case PPU_OP_MADW:
        return sum(f, wide_product(f, n, true), two_source(f, n, 2));
    case PPU_OP_MADWU:
        return sum(f, wide_product(f, n, false), two_source(f, n, 2));
    default:
        return arithmetic(f, n, two_source);
    }
}

struct form forms_follow(struct forms *f, uint32_t n)
{
    const struct ppu_insn *const insn = forms_insn(f, n);
    const bool is_sign = insn->guard == 0 && insn->op == PPU_OP_ASR && insn->immed && insn->imm == 31;
    const struct form of = is_sign ? one_source(f, n, 0) : unknown;
    struct form form = unknown;

    if (insn->guard == 0) {
        form = insn->wd == 2 ? of_two_words(f, n) : arithmetic(f, n, one_source);
    }
    put_form(f, insn->rd, insn->wd, form);
    f->signs[insn->rd] = of;
    return form;
}

struct form forms_special(struct forms *f, uint32_t n, LLVMValueRef first)
{
    const uint32_t sr = forms_insn(f, n)->ra;
    const bool alike = sr == PPU_SR_TID_Y || sr == PPU_SR_TID_Z;
    const struct form form = { first, write_i32(f->same->t, alike ? 0 : 1) };

    put_form(f, forms_insn(f, n)->rd, 1, form);
    return form;
}
