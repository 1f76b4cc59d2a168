/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the instructions of a loop without effects (loop.c), for the lanes of a part. */
#include "qemu-device/core/sm/found_pages.h"
#include "qemu-device/core/sm/prologue.h"
#include "qemu-device/tier/loop.h"
#include "qemu-device/tier/place.h"

static const struct tier_insn *loop_insn(const struct loop *l, uint32_t n)
{
    return &l->t->unit->insn[n];
}

/* ---- variables ---- */

LLVMValueRef loop_get(const struct loop *l, LLVMTypeRef type, LLVMValueRef variable)
{
    return LLVMBuildLoad2(l->t->builder, type, variable, "");
}

void loop_put(const struct loop *l, LLVMValueRef value, LLVMValueRef variable)
{
    LLVMBuildStore(l->t->builder, value, variable);
}

LLVMValueRef loop_pred(const struct loop *l, uint32_t operand, uint32_t group)
{
    const struct writer *const t = l->t;
    const uint32_t pred = operand & PPU_GUARD_PRED;
    LLVMValueRef value;

    if (l->same[pred]) {
        LLVMValueRef all = LLVMBuildSExt(t->builder, loop_get(l, t->i1, l->same[pred]), t->i32, "");
        value = LLVMBuildICmp(t->builder, LLVMIntNE, write_splat(t, all), LLVMConstNull(t->lanes), "");
    } else {
        value = loop_get(l, l->set_type, l->pred[pred][group]);
    }
    return operand & PPU_PRED_NEGATE ? LLVMBuildNot(t->builder, value, "") : value;
}

/* Places for what functions of the kit are given, of a group. */
static const LLVMValueRef *slots_of(const struct loop *l)
{
    return l->apart ? l->t->one : l->t->many;
}

LLVMValueRef loop_canonical(const struct loop *l, LLVMValueRef value)
{
    const struct writer *const t = l->t;

    write_store(t, value, slots_of(l)[2]);
    write_kit_call(t, l->apart ? "s_" : "v_", "CANON_f", slots_of(l));
    return write_load(t, l->words_type, slots_of(l)[0]);
}

LLVMValueRef loop_clean(const struct loop *l, uint32_t reg, uint32_t group)
{
    LLVMValueRef value = loop_get(l, l->words_type, l->reg[reg][group]);

    return l->now[reg] == RAW_FLOAT ? loop_canonical(l, value) : value;
}

/* ---- how NaNs are ---- */

bool loop_writes_lanes(const struct loop *l, uint32_t n)
{
    const struct ppu_insn *const insn = &loop_insn(l, n)->insn;

    return l->t->kind[n] == KIND_LOAD ||
           (l->t->kind[n] == KIND_VECTOR && insn->format != PPU_FMT_SETP && insn->format != PPU_FMT_PLOP);
}

static bool gives_float(const struct loop *l, uint32_t n)
{
    const struct tier_insn *const insn = loop_insn(l, n);

    return l->t->kind[n] == KIND_VECTOR && insn->insn.format != PPU_FMT_SEL && tier_op_of(insn).types[0] == 'f';
}

/* How the lanes of the register are once it is written: raw stays raw where what is kept is, too. */
static enum raw raw_of(const struct loop *l, uint32_t n, enum raw kept)
{
    const bool may = gives_float(l, n) && !l->strict[loop_insn(l, n)->insn.rd];

    return may && (loop_insn(l, n)->insn.guard == 0 || kept == RAW_FLOAT) ? RAW_FLOAT : RAW_NO;
}

void loop_raw_behind(const struct loop *l, uint32_t n, uint8_t raw[PPU_MAX_VREGS])
{
    const struct ppu_insn *const insn = &loop_insn(l, n)->insn;

    if (!loop_writes_lanes(l, n)) {
        return;
    }
    for (uint32_t word = 0; word < insn->wd; word++) {
        raw[insn->rd + word] = (uint8_t)raw_of(l, n, raw[insn->rd + word]);
    }
}

/* ---- operands ---- */

static void same_words(const struct loop *l, const struct tier_insn *insn, uint32_t i, LLVMValueRef words[2])
{
    const struct operand_of o = operand_of(&insn->insn, i);

    words[0] = NULL;
    words[1] = NULL;
    for (uint32_t word = 0; word < o.words && word < 2; word++) {
        words[word] = o.immediate ? write_i32(l->t, insn->imm[word]) : loop_get(l, l->t->i32, l->sreg[o.reg + word]);
    }
    if (o.words != 0) {
        words[o.words - 1] = write_modified(l->t, &insn->insn, i, words[o.words - 1]);
    }
}

/* A source of a group: lanes of each word. `raw`: NaNs may be any. */
static void lane_words(const struct loop *l, const struct tier_insn *insn, uint32_t i, uint32_t group, bool raw,
                       LLVMValueRef words[2])
{
    const struct operand_of o = operand_of(&insn->insn, i);
    const struct writer *const t = l->t;

    words[0] = NULL;
    words[1] = NULL;
    if (o.scalar || o.immediate) {
        same_words(l, insn, i, words);
        for (uint32_t word = 0; word < 2 && words[word] && !l->apart; word++) {
            words[word] = write_splat(t, words[word]);
        }
        return;
    }
    for (uint32_t word = 0; word < o.words && word < 2; word++) {
        const uint32_t reg = o.reg + word;
        words[word] = raw ? loop_get(l, l->words_type, l->reg[reg][group]) : loop_clean(l, reg, group);
        if (word == o.words - 1u) {
            words[word] = write_modified(t, &insn->insn, i, words[word]);
        }
    }
}

/* ---- results ---- */

void loop_put_lanes(const struct loop *l, uint32_t n, uint32_t reg, uint32_t group, LLVMValueRef value)
{
    const struct ppu_insn *const insn = &loop_insn(l, n)->insn;
    const bool raw = raw_of(l, n, (enum raw)l->now[reg]) == RAW_FLOAT;

    if (gives_float(l, n) && !raw) {
        value = loop_canonical(l, value);
    }
    if (insn->guard != 0) {
        LLVMValueRef kept = raw ? loop_get(l, l->words_type, l->reg[reg][group]) : loop_clean(l, reg, group);
        LLVMValueRef set = loop_pred(l, insn->guard & (PPU_GUARD_PRED | PPU_GUARD_NEGATE), group);
        value = LLVMBuildSelect(l->t->builder, set, value, kept, "");
    }
    loop_put(l, value, l->reg[reg][group]);
}

static void put_pred(const struct loop *l, uint32_t n, uint32_t group, LLVMValueRef value)
{
    const struct ppu_insn *const insn = &loop_insn(l, n)->insn;
    LLVMValueRef variable = l->pred[insn->rd][group];

    if (insn->guard != 0) {
        LLVMValueRef set = loop_pred(l, insn->guard & (PPU_GUARD_PRED | PPU_GUARD_NEGATE), group);
        value = LLVMBuildSelect(l->t->builder, set, value, loop_get(l, l->set_type, variable), "");
    }
    loop_put(l, value, variable);
}

/* ---- arithmetic ---- */

static void write_operation(const struct loop *l, uint32_t n, uint32_t group)
{
    const struct tier_insn *const insn = loop_insn(l, n);
    const struct tier_op op = tier_op_of(insn);
    const struct writer *const t = l->t;
    const LLVMValueRef *const slot = slots_of(l);
    LLVMValueRef words[3][2] = { { NULL } }, result[2] = { NULL, NULL };

    /* All of them before any is put in its place: to make NaNs the one takes those places. */
    for (uint32_t i = 0; i < 3; i++) {
        if (op.types[i + 1] != 'z') {
            lane_words(l, insn, i, group, op.types[i + 1] == 'f', words[i]);
        }
    }
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t word = 0; word < 2 && words[i][word]; word++) {
            write_store(t, words[i][word], slot[2 * (i + 1) + word]);
        }
    }
    write_kit_call(t, !l->apart ? "v_" : op.types[0] == 'f' ? "r_" : "s_", op.name, slot);
    if (insn->insn.format == PPU_FMT_SETP) {
        LLVMValueRef lanes = write_load(t, l->words_type, slot[0]);
        put_pred(l, n, group, LLVMBuildICmp(t->builder, LLVMIntNE, lanes, LLVMConstNull(l->words_type), ""));
        return;
    }
    if (op.types[0] == 'g' && !l->apart) {
        write_store(t, write_load(t, t->lanes, t->many[0]), t->many[2]);
        write_store(t, write_load(t, t->lanes, t->many[1]), t->many[3]);
        write_kit_call(t, "v_", "CANON_g", t->many);
    }
    for (uint32_t word = 0; word < insn->insn.wd; word++) {
        result[word] = write_load(t, l->words_type, slot[word]);
    }
    for (uint32_t word = 0; word < insn->insn.wd; word++) {
        loop_put_lanes(l, n, insn->insn.rd + word, group, result[word]);
    }
}

static void write_selection(const struct loop *l, uint32_t n, uint32_t group)
{
    const struct tier_insn *const insn = loop_insn(l, n);
    LLVMValueRef chosen = loop_pred(l, insn->insn.pred, group), a[2], b[2];

    lane_words(l, insn, 0, group, false, a);
    lane_words(l, insn, 1, group, false, b);
    for (uint32_t word = 0; word < insn->insn.wd; word++) {
        loop_put_lanes(l, n, insn->insn.rd + word, group, LLVMBuildSelect(l->t->builder, chosen, a[word], b[word], ""));
    }
}

static void write_logic(const struct loop *l, uint32_t n, uint32_t group)
{
    const struct ppu_insn *const insn = &loop_insn(l, n)->insn;
    LLVMBuilderRef b = l->t->builder;
    LLVMValueRef left = loop_pred(l, insn->ra, group), right = loop_pred(l, insn->rb, group);

    put_pred(l, n, group,
             insn->op == PPU_OP_PAND  ? LLVMBuildAnd(b, left, right, "")
             : insn->op == PPU_OP_POR ? LLVMBuildOr(b, left, right, "")
                                      : LLVMBuildXor(b, left, right, ""));
}

/* ---- scalars ---- */

static void write_scalar(const struct loop *l, uint32_t n)
{
    const struct tier_insn *const insn = loop_insn(l, n);
    const struct writer *const t = l->t;

    for (uint32_t i = 0; i < 3; i++) {
        LLVMValueRef words[2];
        same_words(l, insn, i, words);
        for (uint32_t word = 0; word < 2 && words[word]; word++) {
            write_store(t, words[word], t->one[2 * (i + 1) + word]);
        }
    }
    write_kit_call(t, "s_", tier_op_of(insn).name, t->one);
    for (uint32_t word = 0; word < insn->insn.wd && t->kind[n] == KIND_SCALAR; word++) {
        loop_put(l, write_load(t, t->i32, t->one[word]), l->sreg[insn->insn.rd + word]);
    }
}

/* A comparison of scalars. */
static void write_uniform(struct loop *l, uint32_t n)
{
    const uint32_t pred = loop_insn(l, n)->insn.rd;
    const struct writer *const t = l->t;

    write_scalar(l, n);
    LLVMValueRef word = write_load(t, t->i32, t->one[0]);
    l->now_same[pred] = LLVMBuildICmp(t->builder, LLVMIntNE, word, write_i32(t, 0), "");
    if (l->same[pred]) {
        loop_put(l, l->now_same[pred], l->same[pred]);
        return;
    }
    for (uint32_t group = 0; group < l->groups; group++) {
        loop_put(l, LLVMBuildICmp(t->builder, LLVMIntNE, write_splat(t, word), LLVMConstNull(t->lanes), ""),
                 l->pred[pred][group]);
    }
}

/* ---- memory ---- */

static LLVMValueRef base_of(const struct loop *l, const struct ppu_insn *insn)
{
    const struct writer *const t = l->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef low = LLVMBuildZExt(b, loop_get(l, t->i32, l->sreg[insn->ra]), t->i64, "");
    LLVMValueRef high = LLVMBuildZExt(b, loop_get(l, t->i32, l->sreg[insn->ra + 1u]), t->i64, "");

    return LLVMBuildAdd(b, LLVMBuildOr(b, low, LLVMBuildShl(b, high, write_i64(t, 32), ""), ""),
                        write_i64(t, (uint64_t)(int64_t)insn->imm), "");
}

static LLVMValueRef code_of(const struct loop *l, uint32_t n)
{
    return write_field(l->t, l->t->head, n * sizeof(struct code_insn));
}

static void count_lines_of(const struct loop *l, LLVMValueRef lines)
{
    loop_put(l, LLVMBuildAdd(l->t->builder, loop_get(l, l->t->i64, l->lines), lines, ""), l->lines);
}

static LLVMValueRef call_near(const struct loop *l, uint32_t n, LLVMValueRef base)
{
    const struct ppu_insn *const insn = &loop_insn(l, n)->insn;
    const struct writer *const t = l->t;
    LLVMValueRef zero = write_i32(t, 0);
    LLVMValueRef arguments[] = {
        t->x,
        code_of(l, n),
        base,
        insn->lane_off ? loop_get(l, t->i32, l->first[insn->rb]) : zero,
        insn->lane_off ? loop_get(l, t->i32, l->step[insn->rb]) : zero,
        write_i32(t, t->unit->wave),
        write_i32(t, ppu_width_bytes(insn->width)),
        write_i32(t, insn->indexed),
        l->place,
        l->words,
    };

    return write_kit(t, "kit_near", arguments, 10);
}

/* Finds a row: where one was before, or where the engine finds it, which is then where one was before. */
static void find_loop_row(struct loop *l, uint32_t n)
{
    struct writer *const t = l->t;
    LLVMBasicBlockRef far = write_block(t), found = write_block(t);
    LLVMValueRef base = base_of(l, &loop_insn(l, n)->insn);
    LLVMValueRef arguments[] = { t->x, code_of(l, n), base, l->row };

    write_rarely(t, LLVMBuildNot(t->builder, call_near(l, n, base), ""), far, found);
    write_at(t, far);
    LLVMValueRef ok = write_call(t, offsetof(struct tier_calls, row), t->i1, arguments, 4);
    loop_unless(l, LLVMBuildNot(t->builder, ok, ""), n);
    loop_unless(l, LLVMBuildNot(t->builder, call_near(l, n, base), ""), n);
    LLVMBuildBr(t->builder, found);
    write_at(t, found);
}

static void write_row(struct loop *l, uint32_t n)
{
    const struct ppu_insn *const insn = &loop_insn(l, n)->insn;
    struct writer *const t = l->t;
    LLVMTypeRef type = LLVMVectorType(write_width_type(t, insn->width), TIER_CHUNK);

    find_loop_row(l, n);
    LLVMValueRef host = write_load(t, t->ptr, write_field(t, l->place, offsetof(struct kit_place, host)));
    LLVMValueRef step = write_load(t, t->i64, write_field(t, l->place, offsetof(struct kit_place, step)));
    count_lines_of(l, write_load(t, t->i64, write_field(t, l->place, offsetof(struct kit_place, lines))));
    for (uint32_t group = 0; group < l->groups; group++) {
        LLVMValueRef chunk = LLVMBuildAdd(t->builder, LLVMBuildMul(t->builder, l->part, write_i64(t, l->groups), ""),
                                          write_i64(t, group), "");
        LLVMValueRef from = write_behind(t, host, LLVMBuildMul(t->builder, step, chunk, ""));
        LLVMValueRef value = write_load_shared(t, type, from, ppu_width_bytes(insn->width));
        loop_put_lanes(l, n, insn->rd, group, write_widened(t, value, insn->width, t->lanes));
    }
}

/* The host's bytes of a scalar load: in the page that it had before, or in one that the engine finds. */
static LLVMValueRef find_one(struct loop *l, uint32_t n)
{
    const struct ppu_insn *const insn = &loop_insn(l, n)->insn;
    struct writer *const t = l->t;
    const uint32_t bytes = ppu_width_bytes(insn->width);
    LLVMValueRef at = base_of(l, insn);
    LLVMValueRef near[] = { l->page[n], at, write_i32(t, bytes) };
    LLVMValueRef far[] = { t->x, code_of(l, n), t->calls, at, l->page[n] };
    LLVMBasicBlockRef search = write_block(t), found = write_block(t);
    LLVMValueRef host[2];

    host[0] = write_kit(t, "kit_one", near, 3);
    LLVMBasicBlockRef from[2] = { LLVMGetInsertBlock(t->builder), NULL };
    write_rarely(t, LLVMBuildIsNull(t->builder, host[0], ""), search, found);
    write_at(t, search);
    host[1] = write_kit(t, "kit_find_one", far, 5);
    from[1] = search;
    LLVMBuildBr(t->builder, found);
    write_at(t, found);
    LLVMValueRef either = LLVMBuildPhi(t->builder, t->ptr, "");
    LLVMAddIncoming(either, host, from, 2);
    return either;
}

static void read_one(struct loop *l, uint32_t n, LLVMValueRef words[4])
{
    const struct ppu_insn *const insn = &loop_insn(l, n)->insn;
    struct writer *const t = l->t;
    LLVMValueRef host = find_one(l, n);

    loop_unless(l, LLVMBuildIsNull(t->builder, host, ""), n);
    for (uint32_t word = 0; word < insn->wd; word++) {
        words[word] = write_word_of(t, host, insn->width, word);
    }
}

static LLVMValueRef trace_place(const struct loop *l, LLVMValueRef at, uint32_t word)
{
    const struct writer *const t = l->t;
    LLVMValueRef index = LLVMBuildAdd(t->builder, at, write_i32(t, word), "");
    LLVMValueRef bytes = LLVMBuildMul(t->builder, LLVMBuildZExt(t->builder, index, t->i64, ""), write_i64(t, 4), "");

    return write_behind(t, l->trace, bytes);
}

/*
 * Parts of a warp must not see different values: memory may change between them. The first that comes to a load keeps
 * what it has loaded, and the others take that.
 */
static void write_traced(struct loop *l, uint32_t n)
{
    const struct ppu_insn *const insn = &loop_insn(l, n)->insn;
    struct writer *const t = l->t;
    LLVMBuilderRef b = t->builder;
    LLVMBasicBlockRef fresh = write_block(t), kept = write_block(t);
    LLVMValueRef at = loop_get(l, t->i32, l->trace_at), words[4] = { NULL };
    LLVMValueRef end = LLVMBuildAdd(b, at, write_i32(t, insn->wd), "");

    loop_unless(l, LLVMBuildICmp(b, LLVMIntUGT, end, loop_get(l, t->i32, l->traced_most), ""), n);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, at, loop_get(l, t->i32, l->traced), ""), fresh, kept);
    write_at(t, fresh);
    /* When it cannot be loaded no other part loads it. */
    LLVMValueRef most = loop_get(l, t->i32, l->traced_most);
    loop_put(l, at, l->traced_most);
    read_one(l, n, words);
    loop_put(l, most, l->traced_most);
    for (uint32_t word = 0; word < insn->wd; word++) {
        write_store(t, words[word], trace_place(l, at, word));
    }
    loop_put(l, end, l->traced);
    LLVMBuildBr(b, kept);
    write_at(t, kept);
    for (uint32_t word = 0; word < insn->wd; word++) {
        loop_put(l, write_load(t, t->i32, trace_place(l, at, word)), l->sreg[insn->rd + word]);
    }
    loop_put(l, end, l->trace_at);
}

static void write_one(struct loop *l, uint32_t n)
{
    const struct ppu_insn *const insn = &loop_insn(l, n)->insn;
    LLVMValueRef words[4] = { NULL };

    if (l->parts > 1) {
        write_traced(l, n);
    } else {
        read_one(l, n, words);
        for (uint32_t word = 0; word < insn->wd; word++) {
            loop_put(l, words[word], l->sreg[insn->rd + word]);
        }
    }
    count_lines_of(l, write_i64(l->t, 1));
}

/* ---- an instruction ---- */

static void write_vector(struct loop *l, uint32_t n)
{
    const struct ppu_insn *const insn = &loop_insn(l, n)->insn;

    for (uint32_t group = 0; group < l->groups; group++) {
        if (insn->format == PPU_FMT_PLOP) {
            write_logic(l, n, group);
        } else if (insn->format == PPU_FMT_SEL) {
            write_selection(l, n, group);
        } else {
            write_operation(l, n, group);
        }
    }
    if (insn->format == PPU_FMT_PLOP || insn->format == PPU_FMT_SETP) {
        l->now_same[insn->rd] = NULL;
    }
}

void loop_write_insn(struct loop *l, uint32_t n)
{
    switch (l->t->kind[n]) {
    case KIND_VECTOR:
        write_vector(l, n);
        break;
    case KIND_SCALAR:
        write_scalar(l, n);
        break;
    case KIND_UNIFORM:
        write_uniform(l, n);
        break;
    case KIND_LOAD:
        if (l->apart) {
            loop_write_lane(l, n);
        } else if (l->gathers) {
            loop_write_lanes(l, n);
        } else {
            write_row(l, n);
        }
        break;
    default:
        write_one(l, n);
        break;
    }
    loop_raw_behind(l, n, l->now);
}
