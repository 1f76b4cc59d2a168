/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the function of a unit: its blocks, each for warps whose lanes are all active and for others, and the ways
 * between them. A way back looks whether somebody waits for the SM, and at the turn's budget.
 */
#include "qemu-device/tier/place.h"
#include "qemu-device/tier/writer.h"

#include <string.h>

#define SHORT_GROUP 3u /* instructions: fewer beside the interpreter's are the interpreter's, too */

/*
 * What the interpreter takes for an instruction of 128 lanes, what a group of instructions saves for each that
 * computes, and what it costs to begin a group, to call the interpreter, and to enter the unit; ns, of a host with
 * AVX-512 at 2 to 3 GHz. They tell units that gain from those that do not, and nothing else depends on them.
 */
#define INSN_NS 15
#define COMPUTED_GAIN_NS 8
#define GROUP_NS 5
#define CALL_NS 6
#define LEAST_GAIN_PERCENT 20

struct blocks {
    struct writer *t;
    bool begins[TIER_MAX_INSNS];
    LLVMBasicBlockRef at[TIER_MAX_INSNS]; /* of instructions that begin one */
    LLVMBasicBlockRef dispatch;           /* goes on at the warp's pc */
};

static const struct ppu_insn *insn_of(const struct blocks *s, uint32_t n)
{
    return &s->t->unit->insn[n].insn;
}

/* ---- which instructions begin a block ---- */

/* The unit's instruction that a transfer of control names as its target; the number of instructions: none. */
static uint32_t target_of(const struct writer *t, uint32_t n)
{
    const struct ppu_insn *const insn = &t->unit->insn[n].insn;
    const int64_t to = (int64_t)n + insn->imm;

    if (t->kind[n] != KIND_CONTROL || !insn->immed || insn->op == PPU_OP_JMP || insn->op == PPU_OP_CALL || to < 0 ||
        to >= t->unit->insns) {
        return t->unit->insns;
    }
    return (uint32_t)to;
}

static void find_blocks(struct blocks *s)
{
    struct writer *const t = s->t;

    s->begins[0] = true;
    for (uint32_t n = 0; n < t->unit->insns; n++) {
        const uint32_t target = target_of(t, n);
        if (target < t->unit->insns) {
            s->begins[target] = true;
        }
        if ((t->kind[n] == KIND_CONTROL || t->kind[n] == KIND_LEAVE) && n + 1 < t->unit->insns) {
            s->begins[n + 1] = true;
        }
    }
    for (uint32_t n = 0; n < t->unit->insns; n++) {
        s->at[n] = s->begins[n] ? write_block(t) : NULL;
    }
}

/* ---- ways ---- */

static LLVMValueRef sum_of(struct writer *t)
{
    LLVMValueRef done = write_load(t, t->i32, write_field(t, t->turn, offsetof(struct tier_turn, done)));

    return LLVMBuildAdd(t->builder, done, write_i32(t, t->unit->insns), "");
}

LLVMValueRef write_must_leave(struct writer *t)
{
    LLVMValueRef attention =
        write_load_shared(t, t->i32, write_field(t, t->sm, offsetof(struct sm, attention)), sizeof(uint32_t));
    LLVMValueRef budget = write_load(t, t->i32, write_field(t, t->turn, offsetof(struct tier_turn, budget)));

    return LLVMBuildOr(t->builder, LLVMBuildICmp(t->builder, LLVMIntNE, attention, write_i32(t, 0), ""),
                       LLVMBuildICmp(t->builder, LLVMIntUGT, sum_of(t), budget, ""), "");
}

/* Goes on at instruction n, from one at `from`. */
static void write_way(struct blocks *s, uint32_t from, int64_t n)
{
    struct writer *const t = s->t;

    if (n >= 0 && n < t->unit->insns && n > from) {
        LLVMBuildBr(t->builder, s->at[n]);
        return;
    }
    write_pc(t, (uint32_t)n);
    if (n >= 0 && n < t->unit->insns) {
        write_rarely(t, write_must_leave(t), t->leave, s->at[n]);
    } else {
        LLVMBuildBr(t->builder, t->leave);
    }
}

/* All lanes of the wave are active, or not. */
static void write_full(struct writer *t)
{
    LLVMValueRef differ = NULL;

    for (uint32_t half = 0; half < 2; half++) {
        LLVMValueRef active =
            write_load(t, t->i64, write_field(t, t->w, offsetof(struct warp, active) + half * sizeof(uint64_t)));
        LLVMValueRef whole =
            write_load(t, t->i64, write_field(t, t->x, offsetof(struct exec, whole) + half * sizeof(uint64_t)));
        LLVMValueRef differs = LLVMBuildXor(t->builder, active, whole, "");
        differ = differ ? LLVMBuildOr(t->builder, differ, differs, "") : differs;
    }
    LLVMBuildStore(t->builder, LLVMBuildICmp(t->builder, LLVMIntEQ, differ, write_i64(t, 0), ""), t->full);
}

static void write_dispatch(struct blocks *s)
{
    struct writer *const t = s->t;
    LLVMBasicBlockRef choose = write_block(t);

    write_at(t, s->dispatch);
    write_full(t);
    write_rarely(t, write_must_leave(t), t->leave, choose);
    write_at(t, choose);
    LLVMValueRef pc = write_load(t, t->i32, write_field(t, t->w, offsetof(struct warp, pc)));
    LLVMValueRef number = LLVMBuildSub(t->builder, pc, t->base, "");
    LLVMValueRef choice = LLVMBuildSwitch(t->builder, number, t->leave, t->unit->insns);
    for (uint32_t n = 0; n < t->unit->insns; n++) {
        if (s->begins[n]) {
            LLVMAddCase(choice, write_i32(t, n), s->at[n]);
        }
    }
}

/* ---- ends of blocks ---- */

void write_guard(struct writer *t, uint32_t guard)
{
    const size_t pred = offsetof(struct warp, pred) + (guard & PPU_GUARD_PRED) * sizeof(struct lanes);
    LLVMBuilderRef b = t->builder;
    LLVMValueRef taken = write_i32(t, 0), rest = write_i32(t, 0);

    for (uint32_t pass = 0; pass < t->unit->wave / PPU_LANES; pass++) {
        const size_t word = pass * sizeof(uint32_t);
        LLVMValueRef active = write_load(t, t->i32, write_field(t, t->w, offsetof(struct warp, active) + word));
        LLVMValueRef has = write_load(t, t->i32, write_field(t, t->w, pred + word));
        has = guard & PPU_GUARD_NEGATE ? LLVMBuildNot(b, has, "") : has;
        taken = LLVMBuildOr(b, taken, LLVMBuildAnd(b, active, has, ""), "");
        rest = LLVMBuildOr(b, rest, LLVMBuildAnd(b, active, LLVMBuildNot(b, has, ""), ""), "");
    }
    write_store(t, taken, t->taken);
    write_store(t, rest, t->rest);
}

static void write_done(struct writer *t)
{
    write_count(t, write_field(t, t->turn, offsetof(struct tier_turn, done)), write_i32(t, 1));
}

static LLVMValueRef is_zero(struct writer *t, LLVMValueRef place)
{
    return LLVMBuildICmp(t->builder, LLVMIntEQ, write_load(t, t->i32, place), write_i32(t, 0), "");
}

/* Lanes differ, or what the instruction does is the interpreter's. */
static void write_interpreted(struct blocks *s, uint32_t n)
{
    struct writer *const t = s->t;
    LLVMValueRef arguments[] = { t->x, write_field(t, t->head, n * sizeof(struct code_insn)), t->turn };

    write_pc(t, n);
    LLVMValueRef ok = write_call(t, offsetof(struct tier_calls, control), t->i1, arguments, 3);
    write_rarely(t, LLVMBuildNot(t->builder, ok, ""), t->leave, s->dispatch);
}

/* The block's last instruction is a transfer of control: `taken` and `rest` say who has its guard. */
static void write_control(struct blocks *s, uint32_t n)
{
    const struct ppu_insn *const insn = insn_of(s, n);
    struct writer *const t = s->t;
    LLVMBasicBlockRef all = write_block(t), some = write_block(t), none = write_block(t), differ = write_block(t);

    if (insn->guard == 0) {
        LLVMBuildBr(t->builder, all);
    } else {
        LLVMBuildCondBr(t->builder, is_zero(t, t->taken), none, some);
    }
    write_at(t, some);
    LLVMBuildCondBr(t->builder, is_zero(t, t->rest), all, differ);
    write_at(t, none);
    write_done(t);
    write_way(s, n, (int64_t)n + 1);
    write_at(t, differ);
    write_interpreted(s, n);
    write_at(t, all);
    if (insn->op == PPU_OP_BRA) {
        write_done(t);
        write_way(s, n, (int64_t)n + insn->imm);
    } else {
        write_interpreted(s, n);
    }
}

/* ---- bodies ---- */

static bool is_groups(const struct writer *t, uint32_t n, bool masked)
{
    return group_takes(t, n, n, masked);
}

/* The end of the group that begins at n. */
static uint32_t group_end(const struct writer *t, uint32_t n, uint32_t end, bool masked)
{
    uint32_t to = n + 1;

    while (to < end && group_takes(t, n, to, masked)) {
        to++;
    }
    return to;
}

/* Loads and stores take about as long as interpreted. */
static int32_t gain_of_group(const struct writer *t, uint32_t begin, uint32_t end)
{
    int32_t gain = -GROUP_NS;

    for (uint32_t n = begin; n < end; n++) {
        gain +=
            t->kind[n] == KIND_VECTOR || t->kind[n] == KIND_SCALAR || t->kind[n] == KIND_UNIFORM ? COMPUTED_GAIN_NS : 0;
    }
    return gain;
}

/* Instructions [begin, end), none of which transfers control. */
static void write_body(struct writer *t, uint32_t begin, uint32_t end, bool masked, uint32_t guard)
{
    bool told = false;

    for (uint32_t n = begin; n < end;) {
        uint32_t to = n, next;
        /* What is the interpreter's, with short groups between. */
        while (to < end && (!is_groups(t, to, masked) ||
                            ((next = group_end(t, to, end, masked)) - to < SHORT_GROUP && next < end && to != n))) {
            to++;
        }
        if (to != n) {
            t->gain -= masked ? 0 : CALL_NS;
            write_straight(t, n, to - n);
            n = to;
            continue;
        }
        to = group_end(t, n, end, masked);
        t->gain += masked ? 0 : gain_of_group(t, n, to);
        told = to == end && guard != 0;
        write_group(t, n, to - n, masked, told ? guard : 0);
        n = to;
    }
    if (guard != 0 && !told) {
        write_guard(t, guard);
    }
}

static void write_one_block(struct blocks *s, uint32_t begin)
{
    struct writer *const t = s->t;
    uint32_t end = begin;

    while (end < t->unit->insns && t->kind[end] != KIND_CONTROL && t->kind[end] != KIND_LEAVE &&
           (end == begin || !s->begins[end])) {
        end++;
    }
    const bool control = end < t->unit->insns && t->kind[end] == KIND_CONTROL;
    const uint32_t guard = control && (end == begin || !s->begins[end]) ? insn_of(s, end)->guard : 0;
    const bool ends = control && (end == begin || !s->begins[end]);

    write_at(t, s->at[begin]);
    if (end != begin || guard != 0) {
        LLVMBasicBlockRef full = write_block(t), some = write_block(t), behind = write_block(t);
        LLVMBuildCondBr(t->builder, LLVMBuildLoad2(t->builder, t->i1, t->full, ""), full, some);
        write_at(t, full);
        write_body(t, begin, end, false, guard);
        LLVMBuildBr(t->builder, behind);
        write_at(t, some);
        write_body(t, begin, end, true, guard);
        LLVMBuildBr(t->builder, behind);
        write_at(t, behind);
    }
    if (ends) {
        write_control(s, end);
    } else if (end < t->unit->insns && s->begins[end] && end != begin) {
        LLVMBuildBr(t->builder, s->at[end]);
    } else {
        write_pc(t, end);
        LLVMBuildBr(t->builder, t->leave);
    }
}

/* ---- the function ---- */

static LLVMValueRef load_pointer(struct writer *t, size_t offset)
{
    return write_load(t, t->ptr, write_field(t, t->x, offset));
}

static void write_entry(struct writer *t)
{
    LLVMTypeRef row = LLVMArrayType2(t->i64, (sizeof(struct tier_row) + 7) / 8);

    for (uint32_t i = 0; i < KIT_SLOTS; i++) {
        t->many[i] = LLVMBuildAlloca(t->builder, t->lanes, "");
        t->one[i] = LLVMBuildAlloca(t->builder, t->i32, "");
    }
    for (uint32_t i = 0; i < GROUP_ROWS; i++) {
        t->rows[i] = LLVMBuildAlloca(t->builder, row, "");
        t->places[i] = LLVMBuildAlloca(t->builder, LLVMArrayType2(t->i64, sizeof(struct kit_place) / 8), "");
        t->words[i] = LLVMBuildAlloca(t->builder, t->lanes, "");
    }
    t->full = LLVMBuildAlloca(t->builder, t->i1, "");
    t->taken = LLVMBuildAlloca(t->builder, t->i32, "");
    t->rest = LLVMBuildAlloca(t->builder, t->i32, "");
    t->w = load_pointer(t, offsetof(struct exec, w));
    t->vreg = load_pointer(t, offsetof(struct exec, vreg));
    t->cta = load_pointer(t, offsetof(struct exec, cta));
    t->sm = load_pointer(t, offsetof(struct exec, sm));
    t->base = write_load(t, t->i32, write_field(t, t->w, offsetof(struct warp, pc)));
    write_full(t);
}

/* The unit as groups between which nothing of a warp is kept. */
static void write_blocks(struct blocks *s)
{
    struct writer *const t = s->t;

    find_blocks(s);
    s->dispatch = write_block(t);
    LLVMBuildBr(t->builder, s->at[0]);
    for (uint32_t n = 0; n < t->unit->insns; n++) {
        if (s->begins[n]) {
            write_one_block(s, n);
        }
    }
    write_dispatch(s);
}

static bool is_worth(const struct writer *t)
{
    return t->gain * 100 >= (int32_t)t->unit->insns * INSN_NS * LEAST_GAIN_PERCENT;
}

bool write_unit(struct writer *t)
{
    LLVMTypeRef types[4] = { t->ptr, t->ptr, t->ptr, t->ptr };
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(t->context), types, 4, false);
    struct blocks s = { .t = t };

    t->function = LLVMAddFunction(t->module, UNIT_NAME, type);
    t->x = LLVMGetParam(t->function, 0);
    t->head = LLVMGetParam(t->function, 1);
    t->turn = LLVMGetParam(t->function, 2);
    t->calls = LLVMGetParam(t->function, 3);
    write_at(t, write_block(t));
    write_entry(t);
    t->leave = write_block(t);
    const bool whole = t->unit->straight ? write_straight_unit(t) : write_loop(t);
    if (t->unit->straight && !whole) {
        LLVMBuildBr(t->builder, t->leave);
    } else if (!whole) {
        write_blocks(&s);
    }
    write_at(t, t->leave);
    LLVMBuildRetVoid(t->builder);
    return whole || (!t->unit->straight && is_worth(t));
}
