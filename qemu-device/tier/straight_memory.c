/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes loads and stores of straight units. */
#include "ppu/macros.h"
#include "qemu-device/core/sm/found_pages.h"
#include "qemu-device/tier/gather.h"
#include "qemu-device/tier/operand.h"
#include "qemu-device/tier/place.h"
#include "qemu-device/tier/straight.h"
#include "qemu-device/tier/strided.h"

#include <string.h>

/* ---- where lanes load and store ---- */

/* How a pass lies: chunks in rows, or lanes wherever. */
struct lies {
    LLVMValueRef low[STRAIGHT_CHUNKS], high[STRAIGHT_CHUNKS]; /* words of addresses; high NULL: none */
    LLVMValueRef offset[STRAIGHT_CHUNKS];                     /* i64: of the first lane */
    LLVMValueRef host[STRAIGHT_CHUNKS];                       /* of the first lane, when in_rows holds */
    LLVMValueRef in_rows;                                     /* i1 */
    LLVMValueRef apart;                                       /* i32: from lane to lane; NULL: what a lane accesses */
    bool known;                                               /* they are in rows, or all at one place */
    LLVMValueRef set;                                         /* i32 */
    LLVMValueRef page;                                        /* struct page */
};

static LLVMValueRef all_hold(const struct straight *s, LLVMValueRef mask)
{
    return LLVMBuildICmp(s->t->builder, LLVMIntEQ, write_mask_bits(s->t, mask), LLVMConstAllOnes(s->t->i16), "");
}

static LLVMValueRef first_lane(const struct straight *s, LLVMValueRef lanes)
{
    return LLVMBuildExtractElement(s->t->builder, lanes, write_i32(s->t, 0), "");
}

/* Numbers of the lanes of a chunk, each so many times. */
static LLVMValueRef numbers(const struct straight *s, uint32_t step)
{
    LLVMValueRef number[TIER_CHUNK];

    for (uint32_t i = 0; i < TIER_CHUNK; i++) {
        number[i] = write_i32(s->t, i * step);
    }
    return LLVMConstVector(number, TIER_CHUNK);
}

/* Lanes of the pass that execute an instruction; i32. They are one value as long as they are the same. */
LLVMValueRef straight_executing(struct straight *s, uint32_t n)
{
    const uint32_t guard = straight_insn(s, n)->guard;
    struct executing *const known = &s->executing[guard & (PPU_GUARD_PRED | PPU_GUARD_NEGATE)];
    LLVMBuilderRef b = s->t->builder;
    LLVMValueRef set = write_i32(s->t, 0);
    bool same = known->alive == s->alive;

    if (guard == 0) {
        return s->alive;
    }
    for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
        LLVMValueRef lanes = chunk_executing(&s->chunk[i], guard), pred = s->chunk[i].pred[guard & PPU_GUARD_PRED];
        LLVMValueRef bits = LLVMBuildZExt(b, write_mask_bits(s->t, lanes), s->t->i32, "");
        set = LLVMBuildOr(b, set, LLVMBuildShl(b, bits, write_i32(s->t, i * TIER_CHUNK), ""), "");
        same = same && known->pred[i] == pred;
        known->pred[i] = pred;
    }
    if (!same) {
        known->alive = s->alive;
        known->set = LLVMBuildAnd(b, set, s->alive, "");
    }
    return known->set;
}

/* Lanes of a pass, of one chunk. */
static LLVMValueRef set_of_chunk(const struct straight *s, LLVMValueRef set, uint32_t chunk)
{
    const struct writer *const t = s->t;
    LLVMValueRef bits = LLVMBuildLShr(t->builder, set, write_i32(t, chunk * TIER_CHUNK), "");

    return LLVMBuildBitCast(t->builder, LLVMBuildTrunc(t->builder, bits, t->i16, ""), t->mask, "");
}

/*
 * Lanes that load several words may begin a word or two apart: neighbours of a stencil that the compiler has joined.
 * Returns whether the distance is one of these, or what a lane loads; i1.
 */
static LLVMValueRef look_apart(const struct straight *s, uint32_t bytes, struct lies *lies, uint32_t i)
{
    LLVMBuilderRef b = s->t->builder;
    LLVMValueRef second = LLVMBuildExtractElement(b, lies->low[i], write_i32(s->t, 1), "");
    LLVMValueRef apart = LLVMBuildSub(b, second, first_lane(s, lies->low[i]), "");
    LLVMValueRef good = LLVMConstInt(s->t->i1, 0, false);

    if (i == 0) {
        lies->apart = apart;
        for (uint32_t may = sizeof(uint32_t); may <= bytes; may *= 2) {
            good = LLVMBuildOr(b, good, LLVMBuildICmp(b, LLVMIntEQ, apart, write_i32(s->t, may), ""), "");
        }
        return good;
    }
    return LLVMBuildICmp(b, LLVMIntEQ, apart, lies->apart, "");
}

/* The chunk's lanes follow one another, and lie in the page; i1. */
static LLVMValueRef is_row(const struct straight *s, uint32_t n, struct lies *lies, uint32_t i)
{
    const struct ppu_insn *const insn = straight_insn(s, n);
    const struct writer *const t = s->t;
    const uint32_t bytes = ppu_width_bytes(insn->width), align = bytes < 4 ? bytes : 4;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef first = first_lane(s, lies->low[i]);
    const bool may_overlap = t->kind[n] == KIND_LOAD && insn->wd > 1 && !insn->indexed;
    LLVMValueRef good = may_overlap ? look_apart(s, bytes, lies, i) : LLVMConstInt(t->i1, 1, false);
    LLVMValueRef steps = may_overlap ? LLVMBuildMul(b, write_splat(t, lies->apart), numbers(s, 1), "")
                                     : numbers(s, insn->indexed ? 1 : bytes);
    LLVMValueRef expected = LLVMBuildAdd(b, write_splat(t, first), steps, "");
    good = LLVMBuildAnd(b, good, all_hold(s, LLVMBuildICmp(b, LLVMIntEQ, lies->low[i], expected, "")), "");
    LLVMValueRef offset = insn->indexed ? LLVMBuildMul(b, LLVMBuildSExt(b, first, t->i64, ""), write_i64(t, bytes), "")
                                        : LLVMBuildZExt(b, first, t->i64, "");

    if (lies->high[i]) {
        LLVMValueRef high = first_lane(s, lies->high[i]);
        LLVMValueRef alike = LLVMBuildICmp(b, LLVMIntEQ, lies->high[i], write_splat(t, high), "");
        good = LLVMBuildAnd(b, good, all_hold(s, alike), "");
        high = LLVMBuildShl(b, LLVMBuildZExt(b, high, t->i64, ""), write_i64(t, 32), "");
        offset = LLVMBuildOr(b, offset, high, "");
    }
    LLVMValueRef last = LLVMBuildAdd(b, offset, write_i64(t, (uint64_t)(TIER_CHUNK - 1) * bytes), "");
    LLVMValueRef differ = LLVMBuildLShr(b, LLVMBuildXor(b, offset, last, ""), write_i64(t, 31), "");
    LLVMValueRef at = LLVMBuildAdd(b, s->base[n], offset, "");
    LLVMValueRef begin = write_load(t, t->i64, write_field(t, lies->page, offsetof(struct page, first)));
    LLVMValueRef most = write_load(t, t->i64, write_field(t, lies->page, offsetof(struct page, bytes)));
    LLVMValueRef host = write_load(t, t->ptr, write_field(t, lies->page, offsetof(struct page, host)));
    LLVMValueRef in = LLVMBuildSub(b, at, begin, ""), room = LLVMBuildSub(b, most, in, "");
    LLVMValueRef low = LLVMBuildAnd(b, at, write_i64(t, align - 1), "");

    good = LLVMBuildAnd(b, good, LLVMBuildICmp(b, LLVMIntEQ, LLVMBuildOr(b, differ, low, ""), write_i64(t, 0), ""), "");
    good = LLVMBuildAnd(b, good, LLVMBuildICmp(b, LLVMIntULT, in, most, ""), "");
    good =
        LLVMBuildAnd(b, good, LLVMBuildICmp(b, LLVMIntUGE, room, write_i64(t, (uint64_t)TIER_CHUNK * bytes), ""), "");
    lies->offset[i] = offset;
    lies->host[i] = write_behind(t, host, in);
    return good;
}

/* found_pages.h: loads have a page by where they stand in the program. */
static LLVMValueRef page_of(const struct straight *s, uint32_t n)
{
    const struct writer *const t = s->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef found = write_load(t, t->ptr, write_field(t, t->x, offsetof(struct exec, found)));

    if (s->t->kind[n] == KIND_STORE) {
        return write_field(t, found, offsetof(struct tlb_found, writes));
    }
    LLVMValueRef number = LLVMBuildUDiv(b, LLVMBuildPtrToInt(b, straight_code(s, n), t->i64, ""),
                                        write_i64(t, sizeof(struct code_insn)), "");
    number = LLVMBuildURem(b, number, write_i64(t, FOUND_READS), "");
    return write_behind(t, write_field(t, found, offsetof(struct tlb_found, reads)),
                        LLVMBuildMul(b, number, write_i64(t, sizeof(struct page)), ""));
}

/* A form of the lanes' offsets from the base; first NULL: it is not known. */
static struct form offsets_of(struct straight *s, uint32_t n)
{
    const struct ppu_insn *const insn = straight_insn(s, n);
    const struct writer *const t = s->t;

    if (!insn->a_scalar) {
        return forms_two(s->forms, insn->ra);
    }
    struct form form = forms_wide(s->forms, forms_one(s->forms, insn->rb), insn->indexed);
    if (form.first && insn->indexed) {
        LLVMValueRef bytes = write_i64(t, ppu_width_bytes(insn->width));
        form.first = LLVMBuildMul(t->builder, form.first, bytes, "");
        form.step = LLVMBuildMul(t->builder, form.step, bytes, "");
    }
    return form;
}

/* Lanes lie a stride apart that is known: stores have no byte in common; i1. */
static LLVMValueRef has_stride(const struct straight *s, uint32_t n, LLVMValueRef apart)
{
    const uint32_t bytes = ppu_width_bytes(straight_insn(s, n)->width), align = bytes < 4 ? bytes : 4;
    const struct writer *const t = s->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef odd = LLVMBuildAnd(b, apart, write_i64(t, align - 1), "");
    LLVMValueRef good = LLVMBuildICmp(b, LLVMIntULE, apart, write_i64(t, STRIDED_MOST), "");

    good = LLVMBuildAnd(b, good, LLVMBuildICmp(b, LLVMIntEQ, odd, write_i64(t, 0), ""), "");
    return t->kind[n] == KIND_STORE
               ? LLVMBuildAnd(b, good, LLVMBuildICmp(b, LLVMIntUGE, apart, write_i64(t, bytes), ""), "")
               : good;
}

void straight_find_row(struct straight *s, uint32_t n)
{
    const struct ppu_insn *const insn = straight_insn(s, n);
    const struct writer *const t = s->t;
    LLVMBuilderRef b = t->builder;
    const uint32_t bytes = ppu_width_bytes(insn->width), align = bytes < 4 ? bytes : 4;
    const struct form form = straight_is_shared(s, n) ? (struct form){ NULL, NULL } : offsets_of(s, n);

    if (form.first) {
        LLVMValueRef more = LLVMBuildMul(b, form.step, write_i64(t, t->unit->wave - 1), "");
        LLVMValueRef last = LLVMBuildAdd(b, form.first, more, "");
        LLVMValueRef at = LLVMBuildAdd(b, s->base[n], form.first, "");
        LLVMValueRef odd = LLVMBuildAnd(b, at, write_i64(t, align - 1), "");
        LLVMValueRef differ = LLVMBuildLShr(b, LLVMBuildXor(b, form.first, last, ""), write_i64(t, 31), "");
        LLVMValueRef good = LLVMBuildICmp(b, LLVMIntEQ, LLVMBuildOr(b, odd, differ, ""), write_i64(t, 0), "");
        same_unless(&s->same, LLVMBuildNot(b, LLVMBuildAnd(b, good, has_stride(s, n, form.step), ""), ""));
        LLVMValueRef all = LLVMBuildTrunc(b, LLVMBuildAdd(b, more, write_i64(t, bytes), ""), t->i32, "");
        LLVMValueRef arguments[] = { t->x, straight_code(s, n), t->calls, page_of(s, n), at, all };
        s->row[n].host = write_kit(s->t, "kit_near_row", arguments, 6);
        same_unless(&s->same, LLVMBuildIsNull(b, s->row[n].host, ""));
        s->row[n].offset = form.first;
        s->row[n].apart = form.step;
    }
    if (t->kind[n] == KIND_LOAD) {
        forms_forget(s->forms, n);
    }
}

/* Where the chunks of a pass are in a row. */
static struct lies in_known_row(const struct straight *s, uint32_t n, LLVMValueRef set)
{
    const struct writer *const t = s->t;
    LLVMBuilderRef b = t->builder;
    struct lies lies = { .set = set, .known = true };

    lies.apart = LLVMBuildTrunc(b, s->row[n].apart, t->i32, "");
    for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
        LLVMValueRef lane = LLVMBuildMul(b, s->chunk[i].number, write_i64(t, TIER_CHUNK), "");
        LLVMValueRef behind = LLVMBuildMul(b, s->row[n].apart, lane, "");
        lies.offset[i] = LLVMBuildAdd(b, s->row[n].offset, behind, "");
        lies.host[i] = write_behind(t, s->row[n].host, behind);
    }
    return lies;
}

/* What a lane has for itself; NULL: nothing, as all lanes have the base. */
static LLVMValueRef own_offset(struct straight *s, uint32_t n, uint32_t chunk)
{
    const struct ppu_insn *const insn = straight_insn(s, n);

    if (straight_is_shared(s, n) && (insn->wa == 0 || (insn->a_scalar && !insn->lane_off))) {
        return LLVMConstNull(s->t->lanes);
    }
    return chunk_get(&s->chunk[chunk], insn->a_scalar ? insn->rb : insn->ra, RAW_NO);
}

static struct lies look_where(struct straight *s, uint32_t n)
{
    const struct ppu_insn *const insn = straight_insn(s, n);
    struct lies lies = { .in_rows = LLVMConstInt(s->t->i1, 1, false) };

    lies.set = straight_executing(s, n);
    if (s->row[n].host) {
        return in_known_row(s, n, lies.set);
    }
    lies.page = page_of(s, n);
    for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
        lies.low[i] = own_offset(s, n, i);
        lies.high[i] = insn->a_scalar ? NULL : chunk_get(&s->chunk[i], insn->ra + 1u, RAW_NO);
        lies.in_rows = LLVMBuildAnd(s->t->builder, lies.in_rows, is_row(s, n, &lies, i), "");
    }
    return lies;
}

/* Asks the kit for a pass whose lanes lie wherever. */
static void write_request(const struct straight *s, uint32_t n, const struct lies *lies)
{
    const struct ppu_insn *const insn = straight_insn(s, n);
    const struct writer *const t = s->t;

    write_store(t, s->base[n], write_field(t, s->request, offsetof(struct kit_lanes, base)));
    for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
        const uint64_t at = i * TIER_CHUNK * sizeof(uint32_t);
        LLVMValueRef high = lies->high[i] ? lies->high[i] : LLVMConstNull(t->lanes);
        write_store(t, lies->low[i], write_field(t, s->request, offsetof(struct kit_lanes, low) + at));
        write_store(t, high, write_field(t, s->request, offsetof(struct kit_lanes, high) + at));
    }
    write_store(t, lies->set, write_field(t, s->request, offsetof(struct kit_lanes, set)));
    write_store(t, write_i32(t, ppu_width_bytes(insn->width)),
                write_field(t, s->request, offsetof(struct kit_lanes, bytes)));
    write_store(t, write_i32(t, insn->indexed), write_field(t, s->request, offsetof(struct kit_lanes, indexed)));
}

static LLVMValueRef lines_of_rows(const struct straight *s, uint32_t n, const struct lies *lies)
{
    LLVMValueRef arguments[] = { s->base[n], lies->offset[0], lies->offset[1], lies->set,
                                 write_i32(s->t, ppu_width_bytes(straight_insn(s, n)->width)) };

    return write_kit(s->t, "kit_row_lines", arguments, 5);
}

static LLVMValueRef lines_of_request(const struct straight *s)
{
    return write_load(s->t, s->t->i32, write_field(s->t, s->request, offsetof(struct kit_lanes, lines)));
}

/* ---- loads ---- */

/* The words of a chunk in a row. */
static void load_row(const struct straight *s, uint32_t n, LLVMValueRef host, LLVMValueRef words[KIT_MOST_WORDS])
{
    const struct ppu_insn *const insn = straight_insn(s, n);
    const struct writer *const t = s->t;
    const uint32_t bytes = ppu_width_bytes(insn->width);
    LLVMTypeRef type = LLVMVectorType(write_width_type(t, insn->width), TIER_CHUNK * insn->wd);
    LLVMValueRef values = write_load_shared(t, type, host, bytes < 4 ? bytes : 4);

    for (uint32_t word = 0; word < insn->wd; word++) {
        words[word] =
            insn->wd == 1 ? write_widened(t, values, insn->width, t->lanes) : write_every(t, values, insn->wd, word);
    }
}

#define WAYS 5u

/* A way in which the lanes of a pass may lie, and what it gives. */
struct way {
    LLVMBasicBlockRef block; /* where it begins, then where it ends */
    LLVMValueRef words[STRAIGHT_CHUNKS][KIT_MOST_WORDS];
    LLVMValueRef lines; /* transactions, i32; those of a row that is known are counted with the pass */
};

/* Asks for what lies two rows of the warp behind: mostly the second next warp's. */
static void fetch_behind(const struct straight *s, LLVMValueRef host, uint32_t bytes)
{
    const struct writer *const t = s->t;
    LLVMTypeRef type = t->ptr;

    for (uint32_t at = 0; at < TIER_CHUNK * bytes; at += FETCH_LINE) {
        LLVMValueRef line = write_field(t, host, (uint64_t)FETCH_ROWS * t->unit->wave * bytes + at);
        LLVMValueRef arguments[] = { line, write_i32(t, 0), write_i32(t, 3), write_i32(t, 1) };
        write_intrinsic(t, "llvm.prefetch", &type, 1, arguments, 4);
    }
}

static void load_rows(struct straight *s, uint32_t n, const struct lies *lies, struct way *way)
{
    for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
        load_row(s, n, lies->host[i], way->words[i]);
        fetch_behind(s, lies->host[i], ppu_width_bytes(straight_insn(s, n)->width));
    }
    way->lines = lies->known ? NULL : lines_of_rows(s, n, lies);
}

/* Lanes begin a word apart: each of their words is a row. */
static void load_words(struct straight *s, uint32_t n, const struct lies *lies, struct way *way)
{
    const struct writer *const t = s->t;

    for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
        for (uint32_t word = 0; word < straight_insn(s, n)->wd; word++) {
            LLVMValueRef from = write_field(t, lies->host[i], word * sizeof(uint32_t));
            way->words[i][word] = write_load_shared(t, t->lanes, from, sizeof(uint32_t));
        }
    }
    way->lines = write_popcount(t, lies->set); /* as lanes do not follow one another */
}

/* Lanes begin two words apart: each two of their four words are a row. */
static void load_pairs(struct straight *s, uint32_t n, const struct lies *lies, struct way *way)
{
    const struct writer *const t = s->t;

    (void)n;
    for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
        for (uint32_t word = 0; word < KIT_MOST_WORDS; word += 2) {
            LLVMValueRef from = write_field(t, lies->host[i], word * sizeof(uint32_t));
            LLVMValueRef pairs = write_load_shared(t, LLVMVectorType(t->i32, 2 * TIER_CHUNK), from, sizeof(uint32_t));
            way->words[i][word] = write_every(t, pairs, 2, 0);
            way->words[i][word + 1] = write_every(t, pairs, 2, 1);
        }
    }
    way->lines = write_popcount(t, lies->set); /* as lanes do not follow one another */
}

static void fail_when(void *owner, LLVMValueRef fails, uint32_t n)
{
    struct straight *const s = owner;

    (void)n;
    same_unless(&s->same, fails);
}

static struct gather lanes_wherever(struct straight *s, uint32_t n, const struct lies *lies)
{
    struct gather a = gather_of(s->t, n);

    a.page = lies->page;
    a.request = s->request;
    a.values = s->value;
    a.base = s->base[n];
    a.unless = fail_when;
    a.owner = s;
    for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
        a.low[i] = lies->low[i];
        a.high[i] = lies->high[i];
        a.set[i] = set_of_chunk(s, lies->set, i);
    }
    return a;
}

static void load_wherever(struct straight *s, uint32_t n, const struct lies *lies, struct way *way)
{
    struct gather a = lanes_wherever(s, n, lies);
    struct gather_window window = { .base = NULL };
    struct gather_pass pass;

    if (!lies->high[0]) {
        window = gather_window(&a, a.base);
    }
    gather_load(&a, &window, &pass);
    memcpy(way->words, pass.words, sizeof(pass.words));
    way->lines = pass.lines;
}

/* Registers are what one of the ways gave. */
static void join_ways(struct straight *s, uint32_t n, const struct way *ways, uint32_t count, bool known)
{
    const struct ppu_insn *const insn = straight_insn(s, n);
    const struct writer *const t = s->t;
    LLVMValueRef word[STRAIGHT_CHUNKS][KIT_MOST_WORDS];

    for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
        for (uint32_t w = 0; w < insn->wd; w++) {
            word[i][w] = LLVMBuildPhi(t->builder, t->lanes, "");
        }
    }
    LLVMValueRef lines = LLVMBuildPhi(t->builder, t->i32, "");
    for (uint32_t way = 0; way < count; way++) {
        LLVMBasicBlockRef from = ways[way].block;
        LLVMValueRef own = known ? write_i32(t, 0) : ways[way].lines;
        LLVMAddIncoming(lines, &own, &from, 1);
        for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
            for (uint32_t w = 0; w < insn->wd; w++) {
                own = ways[way].words[i][w];
                LLVMAddIncoming(word[i][w], &own, &from, 1);
            }
        }
    }
    straight_add_lines(s, lines);
    for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
        LLVMValueRef set = insn->guard != 0 ? chunk_executing(&s->chunk[i], insn->guard) : NULL;
        for (uint32_t w = 0; w < insn->wd; w++) {
            chunk_put(&s->chunk[i], insn->rd + w, word[i][w], set, RAW_NO);
        }
    }
}

/* All lanes have one place. */
static void load_alike(struct straight *s, uint32_t n, const struct lies *lies, struct way *way)
{
    const struct ppu_insn *const insn = straight_insn(s, n);
    const struct writer *const t = s->t;

    for (uint32_t word = 0; word < insn->wd; word++) {
        LLVMValueRef value = write_splat(t, write_word_of(t, lies->host[0], insn->width, word));
        for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
            way->words[i][word] = value;
        }
    }
}

/* Lanes lie any distance apart that is known. */
static void load_strided(struct straight *s, uint32_t n, const struct lies *lies, struct way *way)
{
    for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
        strided_load(s->t, straight_insn(s, n), lies->host[i], s->row[n].apart, way->words[i]);
    }
}

typedef void load_way(struct straight *s, uint32_t n, const struct lies *lies, struct way *way);

/* A way for lanes that lie so many bytes apart. */
struct load_case {
    load_way *write;
    uint32_t apart;
};

/* Finds the ways of an access, and returns how many there are. */
static uint32_t load_cases(const struct straight *s, uint32_t n, struct load_case cases[WAYS])
{
    const struct ppu_insn *const insn = straight_insn(s, n);
    uint32_t count = 0;

    cases[count++] = (struct load_case){ load_rows, ppu_width_bytes(insn->width) };
    if (insn->wd > 1 && !insn->indexed) {
        cases[count++] = (struct load_case){ load_words, sizeof(uint32_t) };
    }
    if (insn->wd == KIT_MOST_WORDS && !insn->indexed) {
        cases[count++] = (struct load_case){ load_pairs, 2 * sizeof(uint32_t) };
    }
    return count;
}

/* Ways of a row that is known: one, where it is known how far apart lanes are. The last is for all other distances. */
static uint32_t known_cases(const struct straight *s, uint32_t n, const struct lies *lies, struct load_case cases[WAYS])
{
    uint32_t count = load_cases(s, n, cases);

    cases[count++] = (struct load_case){ load_alike, 0 };
    cases[count] = (struct load_case){ load_strided, 0 };
    if (!LLVMIsConstant(lies->apart)) {
        return count + 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (cases[i].apart == LLVMConstIntGetZExtValue(lies->apart)) {
            cases[0] = cases[i];
            return 1;
        }
    }
    cases[0] = cases[count];
    return 1;
}

/* Lanes of shared memory. */
static struct gather lanes_of_shared(struct straight *s, uint32_t n)
{
    struct lies lies = { .set = straight_executing(s, n) };

    for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
        lies.low[i] = own_offset(s, n, i);
    }
    struct gather a = lanes_wherever(s, n, &lies);
    a.shared = s->shared;
    a.shared_bytes = s->shared_bytes;
    return a;
}

static void load_shared(struct straight *s, uint32_t n)
{
    const struct ppu_insn *const insn = straight_insn(s, n);
    struct gather a = lanes_of_shared(s, n);
    const struct gather_window window = gather_window(&a, a.base);
    struct gather_pass pass;

    gather_load(&a, &window, &pass);
    for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
        for (uint32_t w = 0; w < insn->wd; w++) {
            chunk_put(&s->chunk[i], insn->rd + w, pass.words[i][w], insn->guard != 0 ? a.set[i] : NULL, RAW_NO);
        }
    }
}

/* Writes where each way begins; those of a row that is known end with the one for all other distances. */
static void choose_way(struct straight *s, const struct lies *lies, const struct load_case *cases, struct way *ways,
                       uint32_t count)
{
    struct writer *const t = s->t;
    const uint32_t others = lies->known ? count - 1 : 0;

    if (!lies->known) {
        LLVMBasicBlockRef rows = write_block(t);
        write_rarely(t, LLVMBuildNot(t->builder, lies->in_rows, ""), ways[count - 1].block, rows);
        write_at(t, rows);
    }
    if (!lies->apart || count == 1) {
        LLVMBuildBr(t->builder, ways[0].block);
        return;
    }
    LLVMValueRef choice = LLVMBuildSwitch(t->builder, lies->apart, ways[others].block, count);
    for (uint32_t way = 0; way < count - 1; way++) {
        if (way != others) {
            LLVMAddCase(choice, write_i32(t, cases[way].apart), ways[way].block);
        }
    }
}

void straight_load(struct straight *s, uint32_t n)
{
    if (straight_is_shared(s, n)) {
        load_shared(s, n);
        return;
    }
    struct writer *const t = s->t;
    const struct lies lies = look_where(s, n);
    LLVMBasicBlockRef on = write_block(t);
    struct way ways[WAYS] = { { .block = NULL } };
    struct load_case cases[WAYS];
    uint32_t count;

    if (lies.known) {
        straight_note_row(s, n, lies.set);
        count = known_cases(s, n, &lies, cases);
    } else {
        count = lies.apart ? load_cases(s, n, cases) : 1;
        cases[0].write = load_rows;
        cases[count++].write = load_wherever;
    }
    for (uint32_t way = 0; way < count; way++) {
        ways[way].block = write_block(t);
    }
    choose_way(s, &lies, cases, ways, count);
    for (uint32_t way = 0; way < count; way++) {
        write_at(t, ways[way].block);
        cases[way].write(s, n, &lies, &ways[way]);
        ways[way].block = LLVMGetInsertBlock(t->builder);
        LLVMBuildBr(t->builder, on);
    }
    write_at(t, on);
    join_ways(s, n, ways, count, lies.known);
}

/* ---- stores ---- */

/* The words of a chunk, lane after lane, as they go to memory. */
static LLVMValueRef in_a_row(const struct straight *s, uint32_t n, LLVMValueRef words[KIT_MOST_WORDS])
{
    const struct ppu_insn *const insn = straight_insn(s, n);
    const struct writer *const t = s->t;
    LLVMTypeRef type = LLVMVectorType(write_width_type(t, insn->width), TIER_CHUNK);
    LLVMValueRef number[TIER_CHUNK * KIT_MOST_WORDS], half[2];

    if (insn->wd == 1) {
        return type == t->lanes ? words[0] : LLVMBuildTrunc(t->builder, words[0], type, "");
    }
    for (uint32_t i = 0; i < 2 * TIER_CHUNK; i++) {
        number[i] = write_i32(t, i % 2 * TIER_CHUNK + i / 2);
    }
    LLVMValueRef pairs = LLVMConstVector(number, 2 * TIER_CHUNK);
    if (insn->wd == 2) {
        return LLVMBuildShuffleVector(t->builder, words[0], words[1], pairs, "");
    }
    for (uint32_t i = 0; i < 2 * TIER_CHUNK; i++) {
        number[i] = write_i32(t, i);
    }
    half[0] = LLVMBuildShuffleVector(t->builder, words[0], words[1], LLVMConstVector(number, 2 * TIER_CHUNK), "");
    half[1] = LLVMBuildShuffleVector(t->builder, words[2], words[3], LLVMConstVector(number, 2 * TIER_CHUNK), "");
    for (uint32_t i = 0; i < 4 * TIER_CHUNK; i++) {
        number[i] = write_i32(t, i % 4 * TIER_CHUNK + i / 4);
    }
    return LLVMBuildShuffleVector(t->builder, half[0], half[1], LLVMConstVector(number, 4 * TIER_CHUNK), "");
}

/* The words of doubles likewise: LLVM sees that they are halves of one number. */
static LLVMValueRef doubles_in_a_row(const struct straight *s, LLVMValueRef words[KIT_MOST_WORDS])
{
    const struct writer *const t = s->t;
    LLVMTypeRef longs = LLVMVectorType(t->i64, TIER_CHUNK);
    LLVMValueRef low = LLVMBuildZExt(t->builder, words[0], longs, "");
    LLVMValueRef high = LLVMBuildZExt(t->builder, words[1], longs, ""), shift[TIER_CHUNK];

    for (uint32_t i = 0; i < TIER_CHUNK; i++) {
        shift[i] = write_i64(t, 32);
    }
    high = LLVMBuildShl(t->builder, high, LLVMConstVector(shift, TIER_CHUNK), "");
    return LLVMBuildBitCast(t->builder, LLVMBuildOr(t->builder, low, high, ""), LLVMVectorType(t->i32, 2 * TIER_CHUNK),
                            "");
}

/* The set, with each lane as often as it has words. */
static LLVMValueRef in_words(const struct straight *s, LLVMValueRef set, uint32_t words)
{
    LLVMValueRef number[TIER_CHUNK * KIT_MOST_WORDS];

    for (uint32_t i = 0; i < words * TIER_CHUNK; i++) {
        number[i] = write_i32(s->t, i / words);
    }
    return LLVMBuildShuffleVector(s->t->builder, set, LLVMGetPoison(s->t->mask),
                                  LLVMConstVector(number, words * TIER_CHUNK), "");
}

static void masked_store(const struct straight *s, LLVMValueRef values, LLVMValueRef to, LLVMValueRef set,
                         uint32_t align)
{
    const struct writer *const t = s->t;
    LLVMTypeRef types[2] = { LLVMTypeOf(values), t->ptr };
    LLVMValueRef arguments[] = { values, to, write_i32(t, align), set };

    write_intrinsic(t, "llvm.masked.store", types, 2, arguments, 4);
}

static LLVMValueRef row_of_words(const struct straight *s, uint32_t n, LLVMValueRef words[KIT_MOST_WORDS], bool doubles)
{
    return doubles && straight_insn(s, n)->wd == 2 ? doubles_in_a_row(s, words) : in_a_row(s, n, words);
}

static void store_row(const struct straight *s, uint32_t n, LLVMValueRef row, LLVMValueRef host, LLVMValueRef set)
{
    const struct ppu_insn *const insn = straight_insn(s, n);
    const uint32_t bytes = ppu_width_bytes(insn->width);

    masked_store(s, row, host, in_words(s, set, insn->wd), bytes < 4 ? bytes : 4);
}

static LLVMValueRef kept_at(const struct straight *s, uint32_t which, LLVMValueRef pass)
{
    const struct writer *const t = s->t;

    return write_behind(t, s->store[which], LLVMBuildMul(t->builder, pass, write_i64(t, sizeof(struct kit_store)), ""));
}

static void keep_values(struct straight *s, uint32_t n, LLVMValueRef kept)
{
    const struct ppu_insn *const insn = straight_insn(s, n);
    const struct writer *const t = s->t;

    for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
        for (uint32_t word = 0; word < insn->wd; word++) {
            const uint64_t at = (word * PPU_LANES + i * TIER_CHUNK) * sizeof(uint32_t);
            LLVMValueRef value = chunk_get(&s->chunk[i], insn->rd + word, RAW_NO);
            write_store(t, value, write_field(t, kept, offsetof(struct kit_store, value) + at));
        }
    }
}

/* Where a chunk's part of the places is, of lanes that have so many bytes each. */
static LLVMValueRef kept_chunk(const struct straight *s, LLVMValueRef kept, uint32_t chunk, uint64_t bytes)
{
    return write_field(s->t, kept, offsetof(struct kit_store, host) + chunk * TIER_CHUNK * bytes);
}

static void keep_rows(struct straight *s, uint32_t n, const struct lies *lies, LLVMValueRef kept)
{
    const struct writer *const t = s->t;

    (void)n;
    for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
        write_store(t, lies->host[i], kept_chunk(s, kept, i, sizeof(uint8_t *)));
    }
    write_store(t, write_i32(t, 1), write_field(t, kept, offsetof(struct kit_store, in_rows)));
}

/* What the lanes of a chunk store, lane after lane. */
static LLVMValueRef row_of_chunk(struct straight *s, uint32_t n, uint32_t chunk)
{
    const struct ppu_insn *const insn = straight_insn(s, n);
    LLVMValueRef words[KIT_MOST_WORDS] = { NULL };

    for (uint32_t word = 0; word < insn->wd; word++) {
        words[word] = chunk_get(&s->chunk[chunk], insn->rd + word, RAW_NO);
    }
    return row_of_words(s, n, words, s->chunk[chunk].is_double[insn->rd]);
}

static void store_rows(struct straight *s, uint32_t n, const struct lies *lies, LLVMValueRef kept)
{
    (void)kept;
    for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
        store_row(s, n, row_of_chunk(s, n, i), lies->host[i], set_of_chunk(s, lies->set, i));
    }
}

/* The host stores lanes wherever they lie. */
static bool scatters(const struct straight *s, uint32_t n)
{
    const uint32_t bytes = ppu_width_bytes(straight_insn(s, n)->width);

    return s->t->permutes && (bytes == sizeof(uint32_t) || bytes == sizeof(uint64_t));
}

/* In shared memory it does so by distances of 32 bits from its begin, in half the time that pointers take. */
static bool keeps_distances(const struct straight *s, uint32_t n)
{
    return straight_is_shared(s, n) && scatters(s, n);
}

/* Where the lanes of a chunk store. */
static void keep_lanes(const struct straight *s, uint32_t n, const struct gather_group *g, uint32_t chunk,
                       LLVMValueRef kept)
{
    const struct writer *const t = s->t;
    LLVMTypeRef longs = LLVMVectorType(t->i64, TIER_CHUNK);

    if (keeps_distances(s, n)) {
        write_store(t, g->sum, kept_chunk(s, kept, chunk, sizeof(uint32_t)));
        return;
    }
    LLVMValueRef at = write_behind(t, g->window.near, LLVMBuildZExt(t->builder, g->sum, longs, ""));
    write_store(t, at, kept_chunk(s, kept, chunk, sizeof(uint8_t *)));
}

/* Finds where the pass stores to shared memory: chunks in rows, or lanes wherever. */
static void keep_shared(struct straight *s, uint32_t n, LLVMValueRef kept)
{
    struct writer *const t = s->t;
    struct gather a = lanes_of_shared(s, n);
    const struct gather_window window = gather_window(&a, a.base);
    LLVMBasicBlockRef wherever = write_block(t), rows = write_block(t), on = write_block(t);
    LLVMValueRef in_rows = LLVMConstInt(t->i1, 1, false);
    struct gather_pass pass;
    struct lies lies;

    gather_look_for_rows(&a, &window, &pass);
    for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
        const struct gather_group *const g = &pass.group[i];
        in_rows = LLVMBuildAnd(t->builder, in_rows, g->in_row, "");
        lies.host[i] = write_behind(t, g->window.near, LLVMBuildZExt(t->builder, g->start, t->i64, ""));
    }
    LLVMBuildCondBr(t->builder, in_rows, rows, wherever);
    write_at(t, rows);
    keep_rows(s, n, &lies, kept);
    LLVMBuildBr(t->builder, on);
    write_at(t, wherever);
    same_unless(&s->same, gather_look(&a, &window, &pass));
    for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
        keep_lanes(s, n, &pass.group[i], i, kept);
    }
    write_store(t, write_i32(t, 0), write_field(t, kept, offsetof(struct kit_store, in_rows)));
    LLVMBuildBr(t->builder, on);
    write_at(t, on);
}

static LLVMValueRef kept_word(const struct straight *s, LLVMValueRef kept, uint32_t word, uint32_t chunk)
{
    const uint64_t at = (word * PPU_LANES + chunk * TIER_CHUNK) * sizeof(uint32_t);

    return write_load(s->t, s->t->lanes, write_field(s->t, kept, offsetof(struct kit_store, value) + at));
}

/* Where the lanes of a chunk were kept to store. */
static LLVMValueRef kept_places(const struct straight *s, uint32_t n, LLVMValueRef kept, uint32_t chunk)
{
    const struct writer *const t = s->t;
    LLVMTypeRef pointers = LLVMVectorType(t->ptr, TIER_CHUNK), longs = LLVMVectorType(t->i64, TIER_CHUNK);

    if (!keeps_distances(s, n)) {
        return write_load(t, pointers, kept_chunk(s, kept, chunk, sizeof(uint8_t *)));
    }
    LLVMValueRef distances = write_load(t, t->lanes, kept_chunk(s, kept, chunk, sizeof(uint32_t)));
    return write_behind(t, s->shared, LLVMBuildSExt(t->builder, distances, longs, ""));
}

/* Each lane for itself, the first first, by a store of the host's. */
static void scatter_lanes(const struct straight *s, uint32_t n, LLVMValueRef kept, LLVMValueRef set)
{
    const struct writer *const t = s->t;
    LLVMTypeRef longs = LLVMVectorType(t->i64, TIER_CHUNK), pointers = LLVMVectorType(t->ptr, TIER_CHUNK);
    const uint32_t words = straight_insn(s, n)->wd;
    LLVMTypeRef types[2] = { words == 1 ? t->lanes : longs, pointers };
    LLVMValueRef shift[TIER_CHUNK];

    for (uint32_t i = 0; i < TIER_CHUNK; i++) {
        shift[i] = write_i64(t, 32);
    }
    for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
        LLVMValueRef value = kept_word(s, kept, 0, i);
        if (words == 2) {
            LLVMValueRef high = LLVMBuildZExt(t->builder, kept_word(s, kept, 1, i), longs, "");
            high = LLVMBuildShl(t->builder, high, LLVMConstVector(shift, TIER_CHUNK), "");
            value = LLVMBuildOr(t->builder, LLVMBuildZExt(t->builder, value, longs, ""), high, "");
        }
        LLVMValueRef arguments[4] = { value, kept_places(s, n, kept, i), write_i32(t, 4), set_of_chunk(s, set, i) };
        write_intrinsic(t, "llvm.masked.scatter", types, 2, arguments, 4);
    }
}

static void commit_lanes(const struct straight *s, uint32_t n, LLVMValueRef kept, LLVMValueRef set)
{
    const uint32_t bytes = ppu_width_bytes(straight_insn(s, n)->width);
    LLVMValueRef arguments[] = { kept, write_i32(s->t, bytes) };

    if (scatters(s, n)) {
        scatter_lanes(s, n, kept, set);
    } else {
        write_kit(s->t, "kit_store_lanes", arguments, 2);
    }
}

/* ---- rows that are known ---- */

typedef void store_way(struct straight *s, uint32_t n, const struct lies *lies, LLVMValueRef kept);

static void keep_strided(struct straight *s, uint32_t n, const struct lies *lies, LLVMValueRef kept)
{
    const struct writer *const t = s->t;

    for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
        LLVMValueRef places = strided_places(t, lies->host[i], s->row[n].apart);
        write_store(t, places, kept_chunk(s, kept, i, sizeof(uint8_t *)));
    }
    write_store(t, write_i32(t, 0), write_field(t, kept, offsetof(struct kit_store, in_rows)));
}

static void keep_set(struct straight *s, uint32_t n, LLVMValueRef set, LLVMValueRef kept)
{
    keep_values(s, n, kept);
    write_store(s->t, set, write_field(s->t, kept, offsetof(struct kit_store, set)));
}

/* Mostly all lanes store: the places of some are looked for in memory. */
static void store_strided(struct straight *s, uint32_t n, const struct lies *lies, LLVMValueRef kept)
{
    struct writer *const t = s->t;
    LLVMBasicBlockRef some = write_block(t), all = write_block(t), on = write_block(t);

    write_rarely(t, LLVMBuildICmp(t->builder, LLVMIntNE, lies->set, LLVMConstAllOnes(t->i32), ""), some, all);
    write_at(t, all);
    for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
        strided_store(t, straight_insn(s, n), row_of_chunk(s, n, i), lies->host[i], s->row[n].apart);
    }
    LLVMBuildBr(t->builder, on);
    write_at(t, some);
    keep_set(s, n, lies->set, kept);
    keep_strided(s, n, lies, kept);
    commit_lanes(s, n, kept, lies->set);
    LLVMBuildBr(t->builder, on);
    write_at(t, on);
}

/* Registers are looked for before the ways part: what a way finds there is not known to the other. */
static void look_for_words(struct straight *s, uint32_t n)
{
    for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
        (void)row_of_chunk(s, n, i);
    }
}

/* Lanes follow one another, or lie further apart. */
static void store_known(struct straight *s, uint32_t n, const struct lies *lies, LLVMValueRef kept, store_way *rows,
                        store_way *strided)
{
    struct writer *const t = s->t;
    LLVMValueRef bytes = write_i64(t, ppu_width_bytes(straight_insn(s, n)->width));
    LLVMValueRef follow = LLVMBuildICmp(t->builder, LLVMIntEQ, s->row[n].apart, bytes, "");

    look_for_words(s, n);
    if (LLVMIsConstant(follow)) {
        (LLVMIsNull(follow) ? strided : rows)(s, n, lies, kept);
        return;
    }
    LLVMBasicBlockRef in_rows = write_block(t), apart = write_block(t), on = write_block(t);
    LLVMBuildCondBr(t->builder, follow, in_rows, apart);
    write_at(t, in_rows);
    rows(s, n, lies, kept);
    LLVMBuildBr(t->builder, on);
    write_at(t, apart);
    strided(s, n, lies, kept);
    LLVMBuildBr(t->builder, on);
    write_at(t, on);
}

void straight_store(struct straight *s, uint32_t n, uint32_t which)
{
    struct writer *const t = s->t;
    LLVMValueRef kept = kept_at(s, which, s->pass), lines[2];

    if (s->empty[which]) {
        LLVMValueRef set = straight_executing(s, n);
        same_unless(&s->same, LLVMBuildICmp(t->builder, LLVMIntNE, set, write_i32(t, 0), ""));
        return;
    }
    if (straight_is_shared(s, n)) {
        keep_set(s, n, straight_executing(s, n), kept);
        keep_shared(s, n, kept);
        return;
    }
    struct lies lies = look_where(s, n);
    if (lies.known) {
        straight_note_row(s, n, lies.set);
    }
    if (s->in_place) {
        store_known(s, n, &lies, kept, store_rows, store_strided);
        return;
    }
    keep_set(s, n, lies.set, kept);
    if (lies.known) {
        store_known(s, n, &lies, kept, keep_rows, keep_strided);
        return;
    }
    LLVMBasicBlockRef wherever = write_block(t), rows = write_block(t), on = write_block(t);
    write_rarely(t, LLVMBuildNot(t->builder, lies.in_rows, ""), wherever, rows);
    write_at(t, rows);
    keep_rows(s, n, &lies, kept);
    lines[0] = lines_of_rows(s, n, &lies);
    rows = LLVMGetInsertBlock(t->builder);
    LLVMBuildBr(t->builder, on);
    write_at(t, wherever);
    write_request(s, n, &lies);
    LLVMValueRef arguments[] = { t->x, straight_code(s, n), t->calls, lies.page, s->request, kept };
    same_unless(&s->same, LLVMBuildNot(t->builder, write_kit(s->t, "kit_find_stores", arguments, 6), ""));
    lines[1] = lines_of_request(s);
    wherever = LLVMGetInsertBlock(t->builder);
    LLVMBuildBr(t->builder, on);
    write_at(t, on);
    LLVMBasicBlockRef from[2] = { rows, wherever };
    LLVMValueRef all = LLVMBuildPhi(t->builder, t->i32, "");
    LLVMAddIncoming(all, lines, from, 2);
    straight_add_lines(s, all);
}

static void commit_rows(const struct straight *s, uint32_t n, LLVMValueRef kept, LLVMValueRef set)
{
    const struct ppu_insn *const insn = straight_insn(s, n);
    const struct writer *const t = s->t;

    for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
        LLVMValueRef words[KIT_MOST_WORDS];
        LLVMValueRef host = write_load(t, t->ptr, kept_chunk(s, kept, i, sizeof(uint8_t *)));
        for (uint32_t word = 0; word < insn->wd; word++) {
            words[word] = kept_word(s, kept, word, i);
        }
        store_row(s, n, in_a_row(s, n, words), host, set_of_chunk(s, set, i));
    }
}

void straight_commit(struct straight *s, uint32_t which)
{
    const uint32_t n = s->stores[which];
    struct writer *const t = s->t;

    LLVMBasicBlockRef some = write_block(t), rows = write_block(t), wherever = write_block(t), on = write_block(t);
    const struct write_repeat passes = write_repeat_begin(t);

    LLVMValueRef kept = kept_at(s, which, passes.number);
    LLVMValueRef set = write_load(t, t->i32, write_field(t, kept, offsetof(struct kit_store, set)));
    LLVMBuildCondBr(t->builder, LLVMBuildICmp(t->builder, LLVMIntEQ, set, write_i32(t, 0), ""), on, some);
    write_at(t, some);
    LLVMValueRef in_rows = write_load(t, t->i32, write_field(t, kept, offsetof(struct kit_store, in_rows)));
    write_rarely(t, LLVMBuildICmp(t->builder, LLVMIntEQ, in_rows, write_i32(t, 0), ""), wherever, rows);
    write_at(t, rows);
    commit_rows(s, n, kept, set);
    LLVMBuildBr(t->builder, on);
    write_at(t, wherever);
    commit_lanes(s, n, kept, set);
    LLVMBuildBr(t->builder, on);
    write_at(t, on);
    write_repeat_end(t, &passes, s->passes);
}
