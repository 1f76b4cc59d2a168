/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the loads of a loop without effects (loop.c) whose lanes lie wherever. Each group of lanes is looked at when
 * it loads: it may be a row, or all at one place, or have to be gathered. What does not lie in the page that the load
 * found last is the kit's; what the kit does not find ends the part.
 */
#include "qemu-device/core/sm/found_pages.h"
#include "qemu-device/tier/loop.h"
#include "qemu-device/tier/place.h"

#define MOST_BEHIND 0x7fffff00u /* bytes from the begin of a window; such distances are no negative numbers */

/* A load, for a part. */
struct access {
    struct loop *l;
    const struct ppu_insn *insn;
    uint32_t n, bytes, align, words;
    bool shared;
};

/*
 * A page, or shared memory, as lanes are looked for there: one with the offset `low` has its bytes at near + (low +
 * more), when that sum of 32 bits is at most `limit`.
 */
struct window {
    LLVMValueRef base; /* i64: what offsets are added to */
    LLVMValueRef near, more, limit;
    LLVMValueRef wrong; /* i1: it has none */
};

/* A group of lanes. */
struct lies {
    struct window window;
    LLVMValueRef set;        /* lanes that load */
    LLVMValueRef sum;        /* of each lane */
    LLVMValueRef wrong;      /* i1: some lane is not in the window */
    LLVMValueRef first;      /* i32: the number of the first lane of the set */
    LLVMValueRef head;       /* i32: its sum */
    LLVMValueRef row, alike; /* i1: lanes of the set follow one another, or are at one place */
    LLVMValueRef start;      /* i32: where the group's first lane would be in that row */
    LLVMValueRef in_row;     /* i1: the whole row is in the window */
};

bool loop_loads_lanes(const struct tier_unit *unit, const struct ppu_insn *insn)
{
    if (unit->modelled || insn->format != PPU_FMT_MEM || insn->scalar) {
        return false;
    }
    return insn->op == PPU_OP_LDG ? insn->wa == 2 : insn->op == PPU_OP_LDS && !insn->indexed && insn->wa != 2;
}

static LLVMValueRef both(const struct access *a, LLVMValueRef x, LLVMValueRef y)
{
    return LLVMBuildAnd(a->l->t->builder, x, y, "");
}

static LLVMValueRef not_of(const struct access *a, LLVMValueRef x)
{
    return LLVMBuildNot(a->l->t->builder, x, "");
}

/* i1: all lanes of the mask are set. */
static LLVMValueRef all_of(const struct access *a, LLVMValueRef mask)
{
    const struct writer *const t = a->l->t;

    return LLVMBuildICmp(t->builder, LLVMIntEQ, loop_bits(a->l, mask), LLVMConstAllOnes(t->i16), "");
}

static LLVMValueRef wide(const struct access *a, LLVMValueRef word)
{
    return LLVMBuildZExt(a->l->t->builder, word, a->l->t->i64, "");
}

/*
 * Lanes of two masks, as bits. LLVM 19 combines a mask that is the same for all lanes with others for ever, unless it
 * is hidden that it is one.
 */
static LLVMValueRef bits_of_both(const struct access *a, LLVMValueRef x, LLVMValueRef y)
{
    LLVMBuilderRef b = a->l->t->builder;

    return LLVMBuildAnd(b, LLVMBuildFreeze(b, loop_bits(a->l, x), ""), LLVMBuildFreeze(b, loop_bits(a->l, y), ""), "");
}

/* The lane of a number that is known when the code runs. */
static LLVMValueRef lane_of(const struct access *a, LLVMValueRef lanes, LLVMValueRef number)
{
    return LLVMBuildExtractElement(a->l->t->builder, lanes, number, "");
}

/* Numbers of the lanes of a group, each so many times. */
static LLVMValueRef numbers(const struct access *a, uint32_t step)
{
    LLVMValueRef number[TIER_CHUNK];

    for (uint32_t i = 0; i < TIER_CHUNK; i++) {
        number[i] = write_i32(a->l->t, i * step);
    }
    return LLVMConstVector(number, TIER_CHUNK);
}

/* ---- windows ---- */

static LLVMValueRef least(const struct access *a, LLVMValueRef x, LLVMValueRef y)
{
    LLVMBuilderRef b = a->l->t->builder;

    return LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntULT, x, y, ""), x, y, "");
}

static struct window window_of_page(const struct access *a, LLVMValueRef base)
{
    const struct writer *const t = a->l->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef page = a->l->page[a->n];
    LLVMValueRef first = write_load(t, t->i64, write_field(t, page, offsetof(struct page, first)));
    LLVMValueRef bytes = write_load(t, t->i64, write_field(t, page, offsetof(struct page, bytes)));
    LLVMValueRef host = write_load(t, t->ptr, write_field(t, page, offsetof(struct page, host)));
    LLVMValueRef last = LLVMBuildSub(b, bytes, write_i64(t, a->bytes), "");
    LLVMValueRef behind = LLVMBuildSub(b, base, first, "");
    LLVMValueRef within = LLVMBuildICmp(b, LLVMIntULE, behind, last, "");
    LLVMValueRef zero = write_i64(t, 0), before = LLVMBuildSub(b, first, base, "");
    LLVMValueRef skipped = LLVMBuildSelect(b, within, behind, zero, "");
    LLVMValueRef limit = least(a, LLVMBuildSub(b, last, skipped, ""), write_i64(t, MOST_BEHIND));
    LLVMValueRef far = LLVMBuildICmp(b, LLVMIntUGT, before, write_i64(t, MOST_BEHIND), "");
    LLVMValueRef odd = LLVMBuildAnd(b, base, write_i64(t, a->align - 1), "");
    LLVMValueRef wrong = LLVMBuildAnd(b, far, not_of(a, within), "");

    wrong = LLVMBuildOr(b, wrong, LLVMBuildICmp(b, LLVMIntULT, bytes, write_i64(t, a->bytes), ""), "");
    wrong = LLVMBuildOr(b, wrong, LLVMBuildICmp(b, LLVMIntNE, odd, zero, ""), "");
    return (struct window){
        .base = base,
        .near = write_behind(t, host, skipped),
        .more = LLVMBuildTrunc(b, LLVMBuildSelect(b, within, zero, behind, ""), t->i32, ""),
        .limit = LLVMBuildTrunc(b, limit, t->i32, ""),
        .wrong = wrong,
    };
}

static struct window window_of_shared(const struct access *a, LLVMValueRef base)
{
    const struct writer *const t = a->l->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef bytes = loop_get(a->l, t->i32, a->l->shared_bytes);
    LLVMValueRef limit = LLVMBuildSub(b, bytes, write_i32(t, a->bytes), "");
    LLVMValueRef odd = LLVMBuildAnd(b, base, write_i64(t, a->align - 1), "");
    LLVMValueRef wrong = LLVMBuildICmp(b, LLVMIntULT, bytes, write_i32(t, a->bytes), "");

    return (struct window){
        .base = base,
        .near = loop_get(a->l, t->ptr, a->l->shared),
        .more = LLVMBuildTrunc(b, base, t->i32, ""),
        .limit = least(a, limit, write_i32(t, MOST_BEHIND)),
        .wrong = LLVMBuildOr(b, wrong, LLVMBuildICmp(b, LLVMIntNE, odd, write_i64(t, 0), ""), ""),
    };
}

static struct window window_of(const struct access *a, LLVMValueRef base)
{
    return a->shared ? window_of_shared(a, base) : window_of_page(a, base);
}

/* What is added to the offset of each lane, but for upper halves that lanes have. */
static LLVMValueRef base_of(const struct access *a)
{
    const struct ppu_insn *const insn = a->insn;
    const struct writer *const t = a->l->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef base = write_i64(t, (uint64_t)(int64_t)insn->imm);

    for (uint32_t word = 0; insn->a_scalar && word < insn->wa; word++) {
        LLVMValueRef value = wide(a, loop_get(a->l, t->i32, a->l->sreg[insn->ra + word]));
        base = LLVMBuildAdd(b, base, LLVMBuildShl(b, value, write_i64(t, 32ull * word), ""), "");
    }
    return base;
}

/* ---- how a group lies ---- */

static LLVMValueRef low_of(const struct access *a, uint32_t group)
{
    const struct ppu_insn *const insn = a->insn;

    if (insn->wa == 0 || (insn->a_scalar && !insn->lane_off)) {
        return LLVMConstNull(a->l->t->lanes);
    }
    return loop_clean(a->l, insn->a_scalar ? insn->rb : insn->ra, group);
}

/* NULL: there are no upper halves. */
static LLVMValueRef high_of(const struct access *a, uint32_t group)
{
    return a->insn->wa == 2 && !a->insn->a_scalar ? loop_clean(a->l, a->insn->ra + 1u, group) : NULL;
}

static LLVMValueRef set_of(const struct access *a, uint32_t group)
{
    const uint32_t guard = a->insn->guard;
    LLVMValueRef active = loop_get(a->l, a->l->t->mask, a->l->active[group]);

    if (guard == 0) {
        return active;
    }
    LLVMValueRef has = loop_pred(a->l, guard & (PPU_GUARD_PRED | PPU_GUARD_NEGATE), group);
    return LLVMBuildBitCast(a->l->t->builder, bits_of_both(a, active, has), a->l->t->mask, "");
}

/* Lanes that are not in the window, or odd. */
static LLVMValueRef wrong_lanes(const struct access *a, struct lies *g, LLVMValueRef low)
{
    const struct writer *const t = a->l->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef wrong = LLVMConstNull(t->mask);

    if (a->insn->indexed) {
        const uint32_t log2 = (uint32_t)__builtin_ctz(a->bytes);
        LLVMValueRef most = write_splat(t, write_i32(t, MOST_BEHIND >> log2));
        wrong = LLVMBuildICmp(b, LLVMIntUGT, low, most, "");
        low = LLVMBuildShl(b, low, write_splat(t, write_i32(t, log2)), "");
    } else if (a->align > 1) {
        LLVMValueRef odd = LLVMBuildAnd(b, low, write_splat(t, write_i32(t, a->align - 1)), "");
        wrong = LLVMBuildICmp(b, LLVMIntNE, odd, LLVMConstNull(t->lanes), "");
    }
    g->sum = LLVMBuildAdd(b, low, write_splat(t, g->window.more), "");
    return LLVMBuildOr(b, wrong, LLVMBuildICmp(b, LLVMIntUGT, g->sum, write_splat(t, g->window.limit), ""), "");
}

/* The base of a group whose lanes have upper halves: those of the first, which all must have. */
static LLVMValueRef wide_base(const struct access *a, LLVMValueRef base, const struct lies *g, LLVMValueRef high,
                              LLVMValueRef *differ)
{
    const struct writer *const t = a->l->t;
    LLVMValueRef one = lane_of(a, high, g->first);

    *differ = LLVMBuildICmp(t->builder, LLVMIntNE, high, write_splat(t, one), "");
    return LLVMBuildAdd(t->builder, base, LLVMBuildShl(t->builder, wide(a, one), write_i64(t, 32), ""), "");
}

static void look_for_patterns(const struct access *a, struct lies *g)
{
    const struct writer *const t = a->l->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef others = not_of(a, g->set);
    LLVMValueRef some = LLVMBuildICmp(b, LLVMIntNE, loop_bits(a->l, g->set), LLVMConstNull(t->i16), "");
    LLVMValueRef length = write_i32(t, (TIER_CHUNK - 1) * a->bytes);

    g->head = lane_of(a, g->sum, g->first);
    g->start = LLVMBuildSub(b, g->head, LLVMBuildMul(b, g->first, write_i32(t, a->bytes), ""), "");
    LLVMValueRef expected = LLVMBuildAdd(b, write_splat(t, g->start), numbers(a, a->bytes), "");
    LLVMValueRef follows = LLVMBuildICmp(b, LLVMIntEQ, g->sum, expected, "");
    LLVMValueRef same = LLVMBuildICmp(b, LLVMIntEQ, g->sum, write_splat(t, g->head), "");
    g->row = both(a, some, all_of(a, LLVMBuildOr(b, follows, others, "")));
    g->alike = both(a, some, all_of(a, LLVMBuildOr(b, same, others, "")));
    LLVMValueRef has = LLVMBuildICmp(b, LLVMIntUGE, g->window.limit, length, "");
    LLVMValueRef room = LLVMBuildSub(b, g->window.limit, length, "");
    has = both(a, has, LLVMBuildICmp(b, LLVMIntULE, g->start, room, ""));
    g->in_row = both(a, g->row, has);
}

/* `window`: of all groups, when lanes have no upper halves. */
static void look_at_group(const struct access *a, uint32_t group, const struct window *window, struct lies *g)
{
    const struct writer *const t = a->l->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef high = high_of(a, group), differ = LLVMConstNull(t->mask);
    LLVMTypeRef word = t->i32;

    g->set = set_of(a, group);
    LLVMValueRef bits = LLVMBuildZExt(b, loop_bits(a->l, g->set), t->i32, "");
    LLVMValueRef arguments[2] = { LLVMBuildOr(b, bits, write_i32(t, 1u << (TIER_CHUNK - 1)), ""),
                                  LLVMConstInt(t->i1, 1, false) };
    g->first = write_intrinsic(t, "llvm.cttz", &word, 1, arguments, 2);
    g->window = high ? window_of(a, wide_base(a, base_of(a), g, high, &differ)) : *window;
    LLVMValueRef wrong = LLVMBuildOr(b, wrong_lanes(a, g, low_of(a, group)), differ, "");
    wrong = LLVMBuildICmp(b, LLVMIntNE, bits_of_both(a, wrong, g->set), LLVMConstNull(t->i16), "");
    g->wrong = LLVMBuildOr(b, wrong, g->window.wrong, "");
}

/* ---- values ---- */

static void load_row(const struct access *a, const struct lies *g, LLVMValueRef words[KIT_MOST_WORDS])
{
    const struct writer *const t = a->l->t;
    LLVMValueRef from = write_behind(t, g->window.near, wide(a, g->start));
    LLVMTypeRef one = write_width_type(t, a->insn->width);
    LLVMValueRef all = write_load_shared(t, LLVMVectorType(one, TIER_CHUNK * a->words), from, a->align);

    if (a->words == 1) {
        words[0] = write_widened(t, all, a->insn->width, t->lanes);
        return;
    }
    for (uint32_t word = 0; word < a->words; word++) {
        LLVMValueRef pick[TIER_CHUNK];
        for (uint32_t i = 0; i < TIER_CHUNK; i++) {
            pick[i] = write_i32(t, i * a->words + word);
        }
        words[word] = LLVMBuildShuffleVector(t->builder, all, all, LLVMConstVector(pick, TIER_CHUNK), "");
    }
}

static void load_alike(const struct access *a, const struct lies *g, LLVMValueRef words[KIT_MOST_WORDS])
{
    const struct writer *const t = a->l->t;
    LLVMValueRef from = write_behind(t, g->window.near, wide(a, g->head));

    for (uint32_t word = 0; word < a->words; word++) {
        words[word] = write_splat(t, write_word_of(t, from, a->insn->width, word));
    }
}

/* Words of the set's lanes, each at `from` + its distance, which is no negative number. */
static LLVMValueRef gather_words(const struct access *a, const struct lies *g, LLVMValueRef from, LLVMValueRef distance)
{
    const struct writer *const t = a->l->t;
    LLVMTypeRef longs = LLVMVectorType(t->i64, TIER_CHUNK), pointers = LLVMVectorType(t->ptr, TIER_CHUNK);
    LLVMTypeRef types[2] = { t->lanes, pointers };
    LLVMValueRef at = write_behind(t, from, LLVMBuildSExt(t->builder, distance, longs, ""));
    LLVMValueRef arguments[4] = { at, write_i32(t, 4), g->set, LLVMConstNull(t->lanes) };

    return write_intrinsic(t, "llvm.masked.gather", types, 2, arguments, 4);
}

/* Bytes and halves lie in words: those are gathered. */
static LLVMValueRef gather_parts(const struct access *a, const struct lies *g)
{
    const struct writer *const t = a->l->t;
    LLVMBuilderRef b = t->builder;
    const bool negative = a->insn->width == PPU_WIDTH_S8 || a->insn->width == PPU_WIDTH_S16;
    LLVMValueRef near = LLVMBuildPtrToInt(b, g->window.near, t->i64, "");
    LLVMValueRef odd = LLVMBuildTrunc(b, LLVMBuildAnd(b, near, write_i64(t, 3), ""), t->i32, "");
    LLVMValueRef from = write_behind(t, g->window.near, LLVMBuildNeg(b, wide(a, odd), ""));
    LLVMValueRef sum = LLVMBuildAdd(b, g->sum, write_splat(t, odd), "");
    LLVMValueRef three = write_splat(t, write_i32(t, 3)), unused = write_splat(t, write_i32(t, 32 - 8 * a->bytes));
    LLVMValueRef words = gather_words(a, g, from, LLVMBuildAnd(b, sum, LLVMBuildNot(b, three, ""), ""));
    LLVMValueRef bits = LLVMBuildShl(b, LLVMBuildAnd(b, sum, three, ""), three, "");

    words = LLVMBuildShl(b, LLVMBuildLShr(b, words, bits, ""), unused, "");
    return negative ? LLVMBuildAShr(b, words, unused, "") : LLVMBuildLShr(b, words, unused, "");
}

static void load_scattered(const struct access *a, const struct lies *g, LLVMValueRef words[KIT_MOST_WORDS])
{
    const struct writer *const t = a->l->t;

    if (a->bytes < sizeof(uint32_t)) {
        words[0] = gather_parts(a, g);
        return;
    }
    for (uint32_t word = 0; word < a->words; word++) {
        LLVMValueRef behind = write_splat(t, write_i32(t, word * (uint32_t)sizeof(uint32_t)));
        words[word] = gather_words(a, g, g->window.near, LLVMBuildAdd(t->builder, g->sum, behind, ""));
    }
}

#define WAYS 3u

static void load_group(const struct access *a, const struct lies *g, LLVMValueRef words[KIT_MOST_WORDS])
{
    struct writer *const t = a->l->t;
    void (*const load[WAYS])(const struct access *, const struct lies *, LLVMValueRef *) = { load_row, load_alike,
                                                                                             load_scattered };
    LLVMBasicBlockRef way[WAYS], other = write_block(t), behind = write_block(t);
    LLVMValueRef value[KIT_MOST_WORDS][WAYS];

    for (uint32_t i = 0; i < WAYS; i++) {
        way[i] = write_block(t);
    }
    LLVMBuildCondBr(t->builder, g->in_row, way[0], other);
    write_at(t, other);
    LLVMBuildCondBr(t->builder, g->alike, way[1], way[2]);
    for (uint32_t i = 0; i < WAYS; i++) {
        LLVMValueRef one[KIT_MOST_WORDS] = { NULL };
        write_at(t, way[i]);
        load[i](a, g, one);
        for (uint32_t word = 0; word < a->words; word++) {
            value[word][i] = one[word];
        }
        LLVMBuildBr(t->builder, behind);
    }
    write_at(t, behind);
    for (uint32_t word = 0; word < a->words; word++) {
        words[word] = LLVMBuildPhi(t->builder, t->lanes, "");
        LLVMAddIncoming(words[word], value[word], way, WAYS);
    }
}

/* ---- a pass ---- */

struct pass {
    struct lies group[LOOP_PASS];
    LLVMValueRef words[LOOP_PASS][KIT_MOST_WORDS];
    LLVMValueRef lines; /* i32 */
};

/* Where the group's first lane of the set is. */
static LLVMValueRef first_address(const struct access *a, const struct lies *g)
{
    LLVMBuilderRef b = a->l->t->builder;

    return LLVMBuildAdd(b, g->window.base, wide(a, LLVMBuildSub(b, g->head, g->window.more, "")), "");
}

static LLVMValueRef lines_of_pass(const struct access *a, const struct pass *p)
{
    const struct writer *const t = a->l->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef sets = write_i32(t, 0), rows = LLVMConstInt(t->i1, 1, false), alike = rows;

    for (uint32_t i = 0; i < LOOP_PASS; i++) {
        LLVMValueRef bits = LLVMBuildZExt(b, loop_bits(a->l, p->group[i].set), t->i32, "");
        LLVMValueRef none = LLVMBuildICmp(b, LLVMIntEQ, bits, write_i32(t, 0), "");
        sets = LLVMBuildOr(b, sets, LLVMBuildShl(b, bits, write_i32(t, i * TIER_CHUNK), ""), "");
        rows = both(a, rows, LLVMBuildOr(b, none, p->group[i].row, ""));
        alike = both(a, alike, LLVMBuildOr(b, none, p->group[i].alike, ""));
    }
    LLVMValueRef arguments[] = {
        first_address(a, &p->group[0]),
        first_address(a, &p->group[1]),
        LLVMBuildICmp(b, LLVMIntEQ, p->group[0].window.base, p->group[1].window.base, ""),
        sets,
        rows,
        alike,
        write_i32(t, a->bytes),
    };
    return write_kit(t, "kit_lanes_lines", arguments, 7);
}

static void load_fast(const struct access *a, struct pass *p)
{
    for (uint32_t i = 0; i < LOOP_PASS; i++) {
        look_for_patterns(a, &p->group[i]);
    }
    p->lines = a->shared ? write_i32(a->l->t, 0) : lines_of_pass(a, p);
    for (uint32_t i = 0; i < LOOP_PASS; i++) {
        load_group(a, &p->group[i], p->words[i]);
    }
}

static void write_request(const struct access *a, const struct pass *p, uint32_t first)
{
    const struct writer *const t = a->l->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef request = a->l->request, sets = write_i32(t, 0);

    for (uint32_t i = 0; i < LOOP_PASS; i++) {
        const uint64_t at = i * TIER_CHUNK * sizeof(uint32_t);
        LLVMValueRef bits = LLVMBuildZExt(b, loop_bits(a->l, p->group[i].set), t->i32, "");
        LLVMValueRef high = high_of(a, first + i);
        sets = LLVMBuildOr(b, sets, LLVMBuildShl(b, bits, write_i32(t, i * TIER_CHUNK), ""), "");
        write_store(t, low_of(a, first + i), write_field(t, request, offsetof(struct kit_lanes, low) + at));
        write_store(t, high ? high : LLVMConstNull(t->lanes),
                    write_field(t, request, offsetof(struct kit_lanes, high) + at));
    }
    write_store(t, base_of(a), write_field(t, request, offsetof(struct kit_lanes, base)));
    write_store(t, sets, write_field(t, request, offsetof(struct kit_lanes, set)));
    write_store(t, write_i32(t, a->bytes), write_field(t, request, offsetof(struct kit_lanes, bytes)));
    write_store(t, write_i32(t, a->insn->indexed), write_field(t, request, offsetof(struct kit_lanes, indexed)));
}

/* The kit finds lanes in several pages, or in another than the load's last. */
static void load_far(const struct access *a, struct pass *p, uint32_t first)
{
    struct loop *const l = a->l;
    struct writer *const t = l->t;
    LLVMValueRef arguments[] = {
        t->x,       write_field(t, t->head, a->n * sizeof(struct code_insn)),
        t->calls,   l->page[a->n],
        l->request, write_i32(t, a->insn->width),
        l->values,
    };

    write_request(a, p, first);
    LLVMValueRef ok = write_kit(t, "kit_load_lanes", arguments, 7);
    loop_unless(l, LLVMBuildNot(t->builder, ok, ""), a->n);
    for (uint32_t i = 0; i < LOOP_PASS; i++) {
        for (uint32_t word = 0; word < a->words; word++) {
            const uint64_t at = ((uint64_t)word * LOOP_PASS + i) * TIER_CHUNK * sizeof(uint32_t);
            p->words[i][word] = write_load(t, t->lanes, write_field(t, l->values, at));
        }
    }
    p->lines = write_load(t, t->i32, write_field(t, l->request, offsetof(struct kit_lanes, lines)));
}

static LLVMValueRef either(const struct access *a, LLVMValueRef value[2], LLVMBasicBlockRef from[2])
{
    LLVMValueRef phi = LLVMBuildPhi(a->l->t->builder, LLVMTypeOf(value[0]), "");

    LLVMAddIncoming(phi, value, from, 2);
    return phi;
}

/* The part ends before it when a lane is not found. */
static void load_pass(const struct access *a, uint32_t first, const struct window *window, struct pass *p)
{
    struct writer *const t = a->l->t;
    LLVMValueRef wrong = LLVMConstNull(t->i1);

    for (uint32_t i = 0; i < LOOP_PASS; i++) {
        look_at_group(a, first + i, window, &p->group[i]);
        wrong = LLVMBuildOr(t->builder, wrong, p->group[i].wrong, "");
    }
    if (a->shared) {
        loop_unless(a->l, wrong, a->n);
        load_fast(a, p);
        return;
    }
    LLVMBasicBlockRef far = write_block(t), fast = write_block(t), behind = write_block(t), from[2];
    write_rarely(t, wrong, far, fast);
    write_at(t, far);
    struct pass other = *p;
    load_far(a, &other, first);
    from[0] = LLVMGetInsertBlock(t->builder);
    LLVMBuildBr(t->builder, behind);
    write_at(t, fast);
    load_fast(a, p);
    from[1] = LLVMGetInsertBlock(t->builder);
    LLVMBuildBr(t->builder, behind);
    write_at(t, behind);
    p->lines = either(a, (LLVMValueRef[]){ other.lines, p->lines }, from);
    for (uint32_t i = 0; i < LOOP_PASS; i++) {
        for (uint32_t word = 0; word < a->words; word++) {
            p->words[i][word] = either(a, (LLVMValueRef[]){ other.words[i][word], p->words[i][word] }, from);
        }
    }
}

void loop_write_lanes(struct loop *l, uint32_t n)
{
    const struct ppu_insn *const insn = &l->t->unit->insn[n].insn;
    const uint32_t bytes = ppu_width_bytes(insn->width);
    const struct access a = {
        .l = l,
        .insn = insn,
        .n = n,
        .bytes = bytes,
        .align = bytes < sizeof(uint32_t) ? bytes : (uint32_t)sizeof(uint32_t),
        .words = bytes < sizeof(uint32_t) ? 1 : bytes / (uint32_t)sizeof(uint32_t),
        .shared = insn->op == PPU_OP_LDS,
    };
    struct pass pass[LOOP_GROUPS / LOOP_PASS] = { 0 };
    struct window window = { 0 };
    LLVMBuilderRef b = l->t->builder;

    if (l->parts > 1) {
        loop_unless(l, LLVMBuildICmp(b, LLVMIntUGE, loop_done_at(l, n), loop_get(l, l->t->i32, l->allowed), ""), n);
    }
    if (insn->wa != 2 || insn->a_scalar) {
        window = window_of(&a, base_of(&a));
    }
    for (uint32_t i = 0; i < l->groups / LOOP_PASS; i++) {
        load_pass(&a, i * LOOP_PASS, &window, &pass[i]);
    }
    /* Registers that are loaded may be those of the addresses, so all is loaded before any of them is put. */
    for (uint32_t group = 0; group < l->groups; group++) {
        for (uint32_t word = 0; word < a.words; word++) {
            loop_put_lanes(l, n, insn->rd + word, group, pass[group / LOOP_PASS].words[group % LOOP_PASS][word]);
        }
    }
    for (uint32_t i = 0; i < l->groups / LOOP_PASS; i++) {
        LLVMValueRef lines = LLVMBuildZExt(b, pass[i].lines, l->t->i64, "");
        loop_put(l, LLVMBuildAdd(b, loop_get(l, l->t->i64, l->own_lines), lines, ""), l->own_lines);
    }
}
