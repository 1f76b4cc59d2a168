/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes loads of the lanes of a pass, wherever these lie. Each group of lanes is looked at when it loads: it may be a
 * row, or all at one place, or have to be gathered. What does not lie in the page that the load found last is the
 * kit's.
 */
#include "qemu-device/tier/gather.h"
#include "qemu-device/core/sm/found_pages.h"
#include "qemu-device/tier/operand.h"

struct gather gather_of(struct writer *t, uint32_t n)
{
    const struct ppu_insn *const insn = &t->unit->insn[n].insn;
    const uint32_t bytes = ppu_width_bytes(insn->width);

    return (struct gather){
        .t = t,
        .insn = insn,
        .n = n,
        .bytes = bytes,
        .align = bytes < sizeof(uint32_t) ? bytes : (uint32_t)sizeof(uint32_t),
        .words = bytes < sizeof(uint32_t) ? 1 : bytes / (uint32_t)sizeof(uint32_t),
    };
}

static LLVMValueRef both(const struct gather *a, LLVMValueRef x, LLVMValueRef y)
{
    return LLVMBuildAnd(a->t->builder, x, y, "");
}

static LLVMValueRef not_of(const struct gather *a, LLVMValueRef x)
{
    return LLVMBuildNot(a->t->builder, x, "");
}

/* i1: all lanes of the mask are set. */
static LLVMValueRef all_of(const struct gather *a, LLVMValueRef mask)
{
    const struct writer *const t = a->t;

    return LLVMBuildICmp(t->builder, LLVMIntEQ, write_mask_bits(a->t, mask), LLVMConstAllOnes(t->i16), "");
}

static LLVMValueRef wide(const struct gather *a, LLVMValueRef word)
{
    return LLVMBuildZExt(a->t->builder, word, a->t->i64, "");
}

/* The lane of a number that is known when the code runs. */
static LLVMValueRef lane_of(const struct gather *a, LLVMValueRef lanes, LLVMValueRef number)
{
    return LLVMBuildExtractElement(a->t->builder, lanes, number, "");
}

/* Lanes of the pass that access; i32. */
static LLVMValueRef set_bits(const struct gather *a)
{
    LLVMBuilderRef b = a->t->builder;
    LLVMValueRef sets = write_i32(a->t, 0);

    for (uint32_t i = 0; i < GATHER_GROUPS; i++) {
        LLVMValueRef bits = LLVMBuildZExt(b, write_mask_bits(a->t, a->set[i]), a->t->i32, "");
        sets = LLVMBuildOr(b, sets, LLVMBuildShl(b, bits, write_i32(a->t, i * TIER_CHUNK), ""), "");
    }
    return sets;
}

/* Numbers of the lanes of a group, each so many times. */
static LLVMValueRef numbers(const struct gather *a, uint32_t step)
{
    LLVMValueRef number[TIER_CHUNK];

    for (uint32_t i = 0; i < TIER_CHUNK; i++) {
        number[i] = write_i32(a->t, i * step);
    }
    return LLVMConstVector(number, TIER_CHUNK);
}

/* ---- windows ---- */

static LLVMValueRef least(const struct gather *a, LLVMValueRef x, LLVMValueRef y)
{
    LLVMBuilderRef b = a->t->builder;

    return LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntULT, x, y, ""), x, y, "");
}

static struct gather_window window_of_page(const struct gather *a, LLVMValueRef base)
{
    const struct writer *const t = a->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef page = a->page;
    LLVMValueRef first = write_load(t, t->i64, write_field(t, page, offsetof(struct page, first)));
    LLVMValueRef bytes = write_load(t, t->i64, write_field(t, page, offsetof(struct page, bytes)));
    LLVMValueRef host = write_load(t, t->ptr, write_field(t, page, offsetof(struct page, host)));
    LLVMValueRef last = LLVMBuildSub(b, bytes, write_i64(t, a->bytes), "");
    LLVMValueRef behind = LLVMBuildSub(b, base, first, "");
    LLVMValueRef within = LLVMBuildICmp(b, LLVMIntULE, behind, last, "");
    LLVMValueRef zero = write_i64(t, 0), before = LLVMBuildSub(b, first, base, "");
    LLVMValueRef skipped = LLVMBuildSelect(b, within, behind, zero, "");
    LLVMValueRef limit = least(a, LLVMBuildSub(b, last, skipped, ""), write_i64(t, KIT_MOST_BEHIND));
    LLVMValueRef far = LLVMBuildICmp(b, LLVMIntUGT, before, write_i64(t, KIT_MOST_BEHIND), "");
    LLVMValueRef odd = LLVMBuildAnd(b, base, write_i64(t, a->align - 1), "");
    LLVMValueRef wrong = LLVMBuildAnd(b, far, not_of(a, within), "");

    wrong = LLVMBuildOr(b, wrong, LLVMBuildICmp(b, LLVMIntULT, bytes, write_i64(t, a->bytes), ""), "");
    wrong = LLVMBuildOr(b, wrong, LLVMBuildICmp(b, LLVMIntNE, odd, zero, ""), "");
    return (struct gather_window){
        .base = base,
        .near = write_behind(t, host, skipped),
        .more = LLVMBuildTrunc(b, LLVMBuildSelect(b, within, zero, behind, ""), t->i32, ""),
        .limit = LLVMBuildTrunc(b, limit, t->i32, ""),
        .wrong = wrong,
    };
}

static struct gather_window window_of_shared(const struct gather *a, LLVMValueRef base)
{
    const struct writer *const t = a->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef bytes = a->shared_bytes;
    LLVMValueRef limit = LLVMBuildSub(b, bytes, write_i32(t, a->bytes), "");
    LLVMValueRef odd = LLVMBuildAnd(b, base, write_i64(t, a->align - 1), "");
    LLVMValueRef wrong = LLVMBuildICmp(b, LLVMIntULT, bytes, write_i32(t, a->bytes), "");

    return (struct gather_window){
        .base = base,
        .near = a->shared,
        .more = LLVMBuildTrunc(b, base, t->i32, ""),
        .limit = least(a, limit, write_i32(t, KIT_MOST_BEHIND)),
        .wrong = LLVMBuildOr(b, wrong, LLVMBuildICmp(b, LLVMIntNE, odd, write_i64(t, 0), ""), ""),
    };
}

struct gather_window gather_window(const struct gather *a, LLVMValueRef base)
{
    return a->shared ? window_of_shared(a, base) : window_of_page(a, base);
}

/* Lanes that are not in the window, or odd. */
static LLVMValueRef wrong_lanes(const struct gather *a, struct gather_group *g, LLVMValueRef low)
{
    const struct writer *const t = a->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef wrong = LLVMConstNull(t->mask);

    if (a->insn->indexed) {
        const uint32_t log2 = (uint32_t)__builtin_ctz(a->bytes);
        LLVMValueRef most = write_splat(t, write_i32(t, KIT_MOST_BEHIND >> log2));
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
static LLVMValueRef wide_base(const struct gather *a, const struct gather_group *g, LLVMValueRef high,
                              LLVMValueRef *differ)
{
    const struct writer *const t = a->t;
    LLVMValueRef one = lane_of(a, high, g->first);

    *differ = LLVMBuildICmp(t->builder, LLVMIntNE, high, write_splat(t, one), "");
    return LLVMBuildAdd(t->builder, a->base, LLVMBuildShl(t->builder, wide(a, one), write_i64(t, 32), ""), "");
}

static LLVMValueRef has_some(const struct gather *a, const struct gather_group *g)
{
    return LLVMBuildICmp(a->t->builder, LLVMIntNE, write_mask_bits(a->t, g->set), LLVMConstNull(a->t->i16), "");
}

/* Lanes of the set follow one another from g->start on; or there is nothing to load. */
static void look_for_row(const struct gather *a, struct gather_group *g)
{
    const struct writer *const t = a->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef length = write_i32(t, (TIER_CHUNK - 1) * a->bytes);
    LLVMValueRef expected = LLVMBuildAdd(b, write_splat(t, g->start), numbers(a, a->bytes), "");
    LLVMValueRef follows = LLVMBuildICmp(b, LLVMIntEQ, g->sum, expected, "");
    LLVMValueRef has = LLVMBuildICmp(b, LLVMIntUGE, g->window.limit, length, "");
    LLVMValueRef room = LLVMBuildSub(b, g->window.limit, length, "");

    g->row = all_of(a, LLVMBuildOr(b, follows, not_of(a, g->set), ""));
    has = both(a, has, LLVMBuildICmp(b, LLVMIntULE, g->start, room, ""));
    g->in_row = both(a, g->row, has);
}

static void look_for_one(const struct gather *a, struct gather_group *g)
{
    LLVMBuilderRef b = a->t->builder;
    LLVMValueRef same = LLVMBuildICmp(b, LLVMIntEQ, g->sum, write_splat(a->t, g->head), "");

    g->alike = both(a, has_some(a, g), all_of(a, LLVMBuildOr(b, same, not_of(a, g->set), "")));
}

/* The first lane of the set; of none, the group's last. */
static void find_first(const struct gather *a, struct gather_group *g)
{
    const struct writer *const t = a->t;
    LLVMTypeRef word = t->i32;
    LLVMValueRef bits = LLVMBuildZExt(t->builder, write_mask_bits(t, g->set), t->i32, "");
    LLVMValueRef arguments[2] = { LLVMBuildOr(t->builder, bits, write_i32(t, 1u << (TIER_CHUNK - 1)), ""),
                                  LLVMConstInt(t->i1, 1, false) };

    g->first = write_intrinsic(t, "llvm.cttz", &word, 1, arguments, 2);
}

/* The group is looked for in its window. */
static void look_at_group(const struct gather *a, uint32_t group, const struct gather_window *window,
                          struct gather_group *g)
{
    const struct writer *const t = a->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef high = a->high[group], differ = LLVMConstNull(t->mask);

    g->set = a->set[group];
    find_first(a, g);
    g->window = high ? gather_window(a, wide_base(a, g, high, &differ)) : *window;
    LLVMValueRef wrong = LLVMBuildOr(b, wrong_lanes(a, g, a->low[group]), differ, "");
    wrong = LLVMBuildICmp(b, LLVMIntNE, write_mask_bits(t, write_both(t, wrong, g->set)), LLVMConstNull(t->i16), "");
    g->wrong = LLVMBuildOr(b, wrong, g->window.wrong, "");
}

/* ---- values ---- */

static void load_row(const struct gather *a, const struct gather_group *g, LLVMValueRef words[KIT_MOST_WORDS])
{
    const struct writer *const t = a->t;
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

static void load_alike(const struct gather *a, const struct gather_group *g, LLVMValueRef words[KIT_MOST_WORDS])
{
    const struct writer *const t = a->t;
    LLVMValueRef from = write_behind(t, g->window.near, wide(a, g->head));

    for (uint32_t word = 0; word < a->words; word++) {
        words[word] = write_splat(t, write_word_of(t, from, a->insn->width, word));
    }
}

/* ---- lanes near the first ---- */

/* How far behind the first lane of the set others may begin for their words to be picked out of what lies there. */
static uint32_t most_near(const struct gather *a)
{
    return (2 * TIER_CHUNK * a->words - a->words) * (uint32_t)sizeof(uint32_t);
}

static bool picks(const struct gather *a)
{
    return a->t->permutes && a->bytes >= sizeof(uint32_t) && a->words <= 2;
}

static LLVMValueRef behind_first(const struct gather *a, const struct gather_group *g)
{
    return LLVMBuildSub(a->t->builder, g->sum, write_splat(a->t, g->head), "");
}

/* All lanes of the set are near the first, and all that lies there is in the window; i1. */
static LLVMValueRef are_near(const struct gather *a, const struct gather_group *g)
{
    const struct writer *const t = a->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef most = write_i32(t, most_near(a)), others = not_of(a, g->set);
    LLVMValueRef near = LLVMBuildICmp(b, LLVMIntULE, behind_first(a, g), write_splat(t, most), "");
    LLVMValueRef has = LLVMBuildICmp(b, LLVMIntUGE, g->window.limit, most, "");

    has = both(a, has, LLVMBuildICmp(b, LLVMIntULE, g->head, LLVMBuildSub(b, g->window.limit, most, ""), ""));
    return both(a, has, all_of(a, LLVMBuildOr(b, near, others, "")));
}

/* Words of two registers, by their numbers; of those only the lowest five bits count. */
static LLVMValueRef pick(const struct gather *a, LLVMValueRef low, LLVMValueRef number, LLVMValueRef high)
{
    LLVMValueRef arguments[3] = { low, number, high };

    return write_intrinsic(a->t, "llvm.x86.avx512.vpermi2var.d.512", NULL, 0, arguments, 3);
}

static void load_near(const struct gather *a, const struct gather_group *g, LLVMValueRef words[KIT_MOST_WORDS])
{
    const struct writer *const t = a->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef from = write_behind(t, g->window.near, wide(a, g->head)), all[4] = { NULL };
    LLVMValueRef number = LLVMBuildLShr(b, behind_first(a, g), write_splat(t, write_i32(t, 2)), "");

    for (uint32_t i = 0; i < 2 * a->words; i++) {
        all[i] = write_load_shared(t, t->lanes, write_field(t, from, i * sizeof(uint32_t[TIER_CHUNK])), a->align);
    }
    words[0] = pick(a, all[0], number, all[1]);
    if (a->words == 1) {
        return;
    }
    LLVMValueRef next = LLVMBuildAdd(b, number, write_splat(t, write_i32(t, 1)), "");
    LLVMValueRef far = LLVMBuildICmp(b, LLVMIntUGT, number, write_splat(t, write_i32(t, 2 * TIER_CHUNK - 1)), "");
    LLVMValueRef next_far = LLVMBuildICmp(b, LLVMIntUGT, next, write_splat(t, write_i32(t, 2 * TIER_CHUNK - 1)), "");
    words[0] = LLVMBuildSelect(b, far, pick(a, all[2], number, all[3]), words[0], "");
    words[1] = LLVMBuildSelect(b, next_far, pick(a, all[2], next, all[3]), pick(a, all[0], next, all[1]), "");
}

/* ---- lanes anywhere ---- */

/* Words of the set's lanes, each at `from` + its distance, which is no negative number. */
static LLVMValueRef gather_words(const struct gather *a, const struct gather_group *g, LLVMValueRef from,
                                 LLVMValueRef distance)
{
    const struct writer *const t = a->t;
    LLVMTypeRef longs = LLVMVectorType(t->i64, TIER_CHUNK), pointers = LLVMVectorType(t->ptr, TIER_CHUNK);
    LLVMTypeRef types[2] = { t->lanes, pointers };
    LLVMValueRef at = write_behind(t, from, LLVMBuildSExt(t->builder, distance, longs, ""));
    LLVMValueRef arguments[4] = { at, write_i32(t, 4), g->set, LLVMConstNull(t->lanes) };

    return write_intrinsic(t, "llvm.masked.gather", types, 2, arguments, 4);
}

/* As gather_words(), of two words from each distance on. */
static void gather_pairs(const struct gather *a, const struct gather_group *g, LLVMValueRef distance,
                         LLVMValueRef words[2])
{
    const struct writer *const t = a->t;
    LLVMTypeRef longs = LLVMVectorType(t->i64, TIER_CHUNK), pointers = LLVMVectorType(t->ptr, TIER_CHUNK);
    LLVMTypeRef types[2] = { longs, pointers };
    LLVMValueRef at = write_behind(t, g->window.near, LLVMBuildSExt(t->builder, distance, longs, ""));
    LLVMValueRef arguments[4] = { at, write_i32(t, 4), g->set, LLVMConstNull(longs) }, shift[TIER_CHUNK];
    LLVMValueRef pairs = write_intrinsic(t, "llvm.masked.gather", types, 2, arguments, 4);

    for (uint32_t i = 0; i < TIER_CHUNK; i++) {
        shift[i] = write_i64(t, 32);
    }
    words[0] = LLVMBuildTrunc(t->builder, pairs, t->lanes, "");
    pairs = LLVMBuildLShr(t->builder, pairs, LLVMConstVector(shift, TIER_CHUNK), "");
    words[1] = LLVMBuildTrunc(t->builder, pairs, t->lanes, "");
}

/* Bytes and halves lie in words: those are gathered. */
static LLVMValueRef gather_parts(const struct gather *a, const struct gather_group *g)
{
    const struct writer *const t = a->t;
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

static void load_scattered(const struct gather *a, const struct gather_group *g, LLVMValueRef words[KIT_MOST_WORDS])
{
    const struct writer *const t = a->t;

    if (a->bytes < sizeof(uint32_t)) {
        words[0] = gather_parts(a, g);
        return;
    }
    if (a->words == 1) {
        words[0] = gather_words(a, g, g->window.near, g->sum);
        return;
    }
    for (uint32_t word = 0; word < a->words; word += 2) {
        LLVMValueRef behind = write_splat(t, write_i32(t, word * (uint32_t)sizeof(uint32_t)));
        gather_pairs(a, g, LLVMBuildAdd(t->builder, g->sum, behind, ""), &words[word]);
    }
}

#define WAYS 4u

/* Lanes that are no row in shared memory: each of them must be there. */
static void look_at_lanes(const struct gather *a, uint32_t group, struct gather_group *g)
{
    const struct writer *const t = a->t;
    LLVMValueRef wrong = write_mask_bits(t, write_both(t, wrong_lanes(a, g, a->low[group]), g->set));

    wrong = LLVMBuildICmp(t->builder, LLVMIntNE, wrong, LLVMConstNull(t->i16), "");
    a->unless(a->owner, LLVMBuildOr(t->builder, wrong, g->window.wrong, ""), a->n);
    find_first(a, g);
    g->head = lane_of(a, g->sum, g->first);
    look_for_one(a, g);
}

static void load_group(const struct gather *a, uint32_t group, struct gather_group *g,
                       LLVMValueRef words[KIT_MOST_WORDS])
{
    struct writer *const t = a->t;
    void (*const load[WAYS])(const struct gather *, const struct gather_group *,
                             LLVMValueRef *) = { load_row, load_alike, load_scattered, load_near };
    LLVMBasicBlockRef way[WAYS] = { NULL }, other = write_block(t), behind = write_block(t);
    LLVMValueRef value[KIT_MOST_WORDS][WAYS] = { { NULL } };
    const uint32_t ways = picks(a) ? WAYS : WAYS - 1;

    for (uint32_t i = 0; i < ways; i++) {
        way[i] = write_block(t);
    }
    LLVMBuildCondBr(t->builder, g->in_row, way[0], other);
    write_at(t, other);
    if (a->shared) {
        look_at_lanes(a, group, g);
    }
    if (picks(a)) {
        LLVMBasicBlockRef apart = write_block(t);
        LLVMBuildCondBr(t->builder, g->alike, way[1], apart);
        write_at(t, apart);
        LLVMBuildCondBr(t->builder, are_near(a, g), way[3], way[2]);
    } else {
        LLVMBuildCondBr(t->builder, g->alike, way[1], way[2]);
    }
    for (uint32_t i = 0; i < ways; i++) {
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
        LLVMAddIncoming(words[word], value[word], way, ways);
    }
}

/* ---- a pass ---- */

/* Where the group's first lane of the set is. */
static LLVMValueRef first_address(const struct gather *a, const struct gather_group *g)
{
    LLVMBuilderRef b = a->t->builder;

    return LLVMBuildAdd(b, g->window.base, wide(a, LLVMBuildSub(b, g->head, g->window.more, "")), "");
}

static LLVMValueRef lines_of_pass(const struct gather *a, const struct gather_pass *p)
{
    const struct writer *const t = a->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef rows = LLVMConstInt(t->i1, 1, false), alike = rows;

    for (uint32_t i = 0; i < GATHER_GROUPS; i++) {
        LLVMValueRef none = not_of(a, has_some(a, &p->group[i]));
        rows = both(a, rows, LLVMBuildOr(b, none, p->group[i].row, ""));
        alike = both(a, alike, LLVMBuildOr(b, none, p->group[i].alike, ""));
    }
    LLVMValueRef arguments[] = {
        first_address(a, &p->group[0]),
        first_address(a, &p->group[1]),
        LLVMBuildICmp(b, LLVMIntEQ, p->group[0].window.base, p->group[1].window.base, ""),
        set_bits(a),
        rows,
        alike,
        write_i32(t, a->bytes),
    };
    return write_kit(t, "kit_lanes_lines", arguments, 7);
}

void gather_look_for_patterns(const struct gather *a, struct gather_pass *p)
{
    LLVMBuilderRef b = a->t->builder;

    for (uint32_t i = 0; i < GATHER_GROUPS; i++) {
        struct gather_group *const g = &p->group[i];
        g->head = lane_of(a, g->sum, g->first);
        g->start = LLVMBuildSub(b, g->head, LLVMBuildMul(b, g->first, write_i32(a->t, a->bytes), ""), "");
        look_for_row(a, g);
        g->row = both(a, g->row, has_some(a, g));
        g->in_row = both(a, g->in_row, g->row);
        look_for_one(a, g);
    }
}

static void load_found(const struct gather *a, struct gather_pass *p)
{
    for (uint32_t i = 0; i < GATHER_GROUPS; i++) {
        load_group(a, i, &p->group[i], p->words[i]);
    }
}

void gather_look_for_rows(const struct gather *a, const struct gather_window *window, struct gather_pass *p)
{
    const struct writer *const t = a->t;
    LLVMBuilderRef b = t->builder;

    for (uint32_t i = 0; i < GATHER_GROUPS; i++) {
        struct gather_group *const g = &p->group[i];
        g->set = a->set[i];
        g->window = *window;
        g->sum = LLVMBuildAdd(b, a->low[i], write_splat(t, window->more), "");
        g->start = lane_of(a, g->sum, write_i32(t, 0));
        look_for_row(a, g);
        LLVMValueRef odd = LLVMBuildAnd(b, g->start, write_i32(t, a->align - 1), "");
        LLVMValueRef even = LLVMBuildICmp(b, LLVMIntEQ, odd, write_i32(t, 0), "");
        g->in_row = both(a, g->in_row, both(a, even, not_of(a, window->wrong)));
    }
}

static void write_request(const struct gather *a)
{
    const struct writer *const t = a->t;
    LLVMValueRef request = a->request;

    for (uint32_t i = 0; i < GATHER_GROUPS; i++) {
        const uint64_t at = i * TIER_CHUNK * sizeof(uint32_t);
        LLVMValueRef high = a->high[i] ? a->high[i] : LLVMConstNull(t->lanes);
        write_store(t, a->low[i], write_field(t, request, offsetof(struct kit_lanes, low) + at));
        write_store(t, high, write_field(t, request, offsetof(struct kit_lanes, high) + at));
    }
    write_store(t, a->base, write_field(t, request, offsetof(struct kit_lanes, base)));
    write_store(t, set_bits(a), write_field(t, request, offsetof(struct kit_lanes, set)));
    write_store(t, write_i32(t, a->bytes), write_field(t, request, offsetof(struct kit_lanes, bytes)));
    write_store(t, write_i32(t, a->insn->indexed), write_field(t, request, offsetof(struct kit_lanes, indexed)));
}

/* The kit finds lanes in several pages, or in another than the load's last. */
static void load_far(const struct gather *a, struct gather_pass *p)
{
    struct writer *const t = a->t;
    LLVMValueRef arguments[] = {
        t->x,       write_field(t, t->head, a->n * sizeof(struct code_insn)),
        t->calls,   a->page,
        a->request, write_i32(t, a->insn->width),
        a->values,
    };

    write_request(a);
    LLVMValueRef ok = write_kit(t, "kit_load_lanes", arguments, 7);
    a->unless(a->owner, LLVMBuildNot(t->builder, ok, ""), a->n);
    for (uint32_t i = 0; i < GATHER_GROUPS; i++) {
        for (uint32_t word = 0; word < a->words; word++) {
            const uint64_t at = ((uint64_t)word * GATHER_GROUPS + i) * TIER_CHUNK * sizeof(uint32_t);
            p->words[i][word] = write_load(t, t->lanes, write_field(t, a->values, at));
        }
    }
    p->lines = write_load(t, t->i32, write_field(t, a->request, offsetof(struct kit_lanes, lines)));
}

static LLVMValueRef either(const struct gather *a, LLVMValueRef value[2], LLVMBasicBlockRef from[2])
{
    LLVMValueRef phi = LLVMBuildPhi(a->t->builder, LLVMTypeOf(value[0]), "");

    LLVMAddIncoming(phi, value, from, 2);
    return phi;
}

LLVMValueRef gather_look(const struct gather *a, const struct gather_window *window, struct gather_pass *p)
{
    LLVMValueRef wrong = LLVMConstNull(a->t->i1);

    for (uint32_t i = 0; i < GATHER_GROUPS; i++) {
        look_at_group(a, i, window, &p->group[i]);
        wrong = LLVMBuildOr(a->t->builder, wrong, p->group[i].wrong, "");
    }
    return wrong;
}

/* Looks at each lane. */
static void load_anywhere(const struct gather *a, const struct gather_window *window, struct gather_pass *p)
{
    struct writer *const t = a->t;

    if (a->shared) {
        p->lines = write_i32(t, 0);
        gather_look_for_rows(a, window, p);
        load_found(a, p);
        return;
    }
    LLVMValueRef wrong = gather_look(a, window, p);
    LLVMBasicBlockRef far = write_block(t), fast = write_block(t), behind = write_block(t), from[2];
    write_rarely(t, wrong, far, fast);
    write_at(t, far);
    struct gather_pass other = *p;
    load_far(a, &other);
    from[0] = LLVMGetInsertBlock(t->builder);
    LLVMBuildBr(t->builder, behind);
    write_at(t, fast);
    gather_look_for_patterns(a, p);
    p->lines = lines_of_pass(a, p);
    load_found(a, p);
    from[1] = LLVMGetInsertBlock(t->builder);
    LLVMBuildBr(t->builder, behind);
    write_at(t, behind);
    p->lines = either(a, (LLVMValueRef[]){ other.lines, p->lines }, from);
    for (uint32_t i = 0; i < GATHER_GROUPS; i++) {
        for (uint32_t word = 0; word < a->words; word++) {
            p->words[i][word] = either(a, (LLVMValueRef[]){ other.words[i][word], p->words[i][word] }, from);
        }
    }
}

/* ---- offsets of which is known how they lie ---- */

static LLVMValueRef known_lines(const struct gather *a, bool alike)
{
    const struct writer *const t = a->t;
    LLVMValueRef arguments[] = { a->base,     a->known.start[0],      a->known.start[1],
                                 set_bits(a), write_i32(t, a->bytes), LLVMConstInt(t->i1, alike, false) };

    return write_kit(t, "kit_known_lines", arguments, 6);
}

/* Goes to `elsewhere` unless bytes of the window from `begin` on, `length` more than a lane's, are there. */
static void unless_inside(const struct gather *a, const struct gather_window *window, LLVMValueRef begin,
                          uint32_t length, LLVMBasicBlockRef elsewhere)
{
    struct writer *const t = a->t;
    LLVMBuilderRef b = t->builder;
    LLVMBasicBlockRef on = write_block(t);
    LLVMValueRef room = LLVMBuildSub(b, window->limit, write_i32(t, length), "");
    LLVMValueRef inside = LLVMBuildICmp(b, LLVMIntUGE, window->limit, write_i32(t, length), "");

    inside = both(a, inside, LLVMBuildICmp(b, LLVMIntULE, begin, room, ""));
    write_rarely(t, not_of(a, both(a, inside, not_of(a, window->wrong))), elsewhere, on);
    write_at(t, on);
}

static void load_known_rows(const struct gather *a, const struct gather_window *window, LLVMBasicBlockRef elsewhere,
                            struct gather_pass *p)
{
    for (uint32_t i = 0; i < GATHER_GROUPS; i++) {
        struct gather_group *const g = &p->group[i];
        g->window = *window;
        g->start = LLVMBuildAdd(a->t->builder, a->known.start[i], window->more, "");
        unless_inside(a, window, g->start, (TIER_CHUNK - 1) * a->bytes, elsewhere);
    }
    for (uint32_t i = 0; i < GATHER_GROUPS; i++) {
        load_row(a, &p->group[i], p->words[i]);
    }
    p->lines = known_lines(a, false);
}

static void load_known_one(const struct gather *a, const struct gather_window *window, LLVMBasicBlockRef elsewhere,
                           struct gather_pass *p)
{
    struct gather_group *const g = &p->group[0];

    g->window = *window;
    g->head = LLVMBuildAdd(a->t->builder, a->known.start[0], window->more, "");
    unless_inside(a, window, g->head, 0, elsewhere);
    load_alike(a, g, p->words[0]);
    for (uint32_t i = 1; i < GATHER_GROUPS; i++) {
        for (uint32_t word = 0; word < a->words; word++) {
            p->words[i][word] = p->words[0][word];
        }
    }
    p->lines = known_lines(a, true);
}

#define KNOWN_WAYS 3u

static LLVMValueRef one_of(const struct gather *a, LLVMValueRef value[KNOWN_WAYS], LLVMBasicBlockRef from[KNOWN_WAYS])
{
    LLVMValueRef phi = LLVMBuildPhi(a->t->builder, LLVMTypeOf(value[0]), "");

    LLVMAddIncoming(phi, value, from, KNOWN_WAYS);
    return phi;
}

void gather_load(const struct gather *a, const struct gather_window *window, struct gather_pass *p)
{
    struct writer *const t = a->t;

    if (!a->known.kind) {
        load_anywhere(a, window, p);
        return;
    }
    LLVMBasicBlockRef rows = write_block(t), other = write_block(t), one = write_block(t), anywhere = write_block(t);
    LLVMBasicBlockRef behind = write_block(t), from[KNOWN_WAYS];
    struct gather_pass way[KNOWN_WAYS] = { *p, *p, *p };
    LLVMValueRef is_row = LLVMBuildICmp(t->builder, LLVMIntEQ, a->known.kind, write_i32(t, KIT_OFFSETS_ROWS), "");
    LLVMBuildCondBr(t->builder, is_row, rows, other);
    write_at(t, other);
    LLVMValueRef is_one = LLVMBuildICmp(t->builder, LLVMIntEQ, a->known.kind, write_i32(t, KIT_OFFSETS_ALIKE), "");
    LLVMBuildCondBr(t->builder, is_one, one, anywhere);
    write_at(t, rows);
    load_known_rows(a, window, anywhere, &way[0]);
    from[0] = LLVMGetInsertBlock(t->builder);
    LLVMBuildBr(t->builder, behind);
    write_at(t, one);
    load_known_one(a, window, anywhere, &way[1]);
    from[1] = LLVMGetInsertBlock(t->builder);
    LLVMBuildBr(t->builder, behind);
    write_at(t, anywhere);
    load_anywhere(a, window, &way[2]);
    from[2] = LLVMGetInsertBlock(t->builder);
    LLVMBuildBr(t->builder, behind);
    write_at(t, behind);
    p->lines = one_of(a, (LLVMValueRef[]){ way[0].lines, way[1].lines, way[2].lines }, from);
    for (uint32_t i = 0; i < GATHER_GROUPS; i++) {
        for (uint32_t word = 0; word < a->words; word++) {
            LLVMValueRef value[] = { way[0].words[i][word], way[1].words[i][word], way[2].words[i][word] };
            p->words[i][word] = one_of(a, value, from);
        }
    }
}
