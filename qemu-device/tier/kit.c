/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Operations as functions of lanes, in LLVM's bitcode: what the tier writes into the code of a loop. They are rows of
 * engine/alu.def and the comparisons of isa.def, as the interpreter's are. Names: v_ for the lanes of a chunk, s_ for
 * one value. Results that are floats keep their NaNs, which v_CANON_f and v_CANON_g make the one; those of s_ are made.
 * r_ is s_ with such NaNs, of floats of 32 bits.
 */
#include "ppu/isa.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/sm/counters.h"
#include "qemu-device/core/sm/found_pages.h"
#include "qemu-device/core/sm/page_lookup.h"
#include "qemu-device/core/sm/thread_number.h"
#include "qemu-device/core/sm/token_queue.h"
#include "qemu-device/core/tier/unit.h"
#include "qemu-device/tier/place.h"

#define LEVEL_INLINE static inline __attribute__((always_inline))
#include "qemu-device/core/engine/inner/arithmetic.c.inc"

#define KIT_ARGUMENTS                                                                                         \
    uint32_t *restrict dl, uint32_t *restrict dh, const uint32_t *al, const uint32_t *ah, const uint32_t *bl, \
        const uint32_t *bh, const uint32_t *cl, const uint32_t *ch
#define KIT_UNUSED (void)dl, (void)dh, (void)al, (void)ah, (void)bl, (void)bh, (void)cl, (void)ch
#define KIT_EACH                                                                                                \
    _Pragma("clang loop vectorize(assume_safety) vectorize_width(16) interleave_count(1)") for (uint32_t i = 0; \
                                                                                                i < TIER_CHUNK; i++)
#define KIT(prefix, name)             \
    void prefix##name(KIT_ARGUMENTS); \
    __attribute__((always_inline)) void prefix##name(KIT_ARGUMENTS)

/* The bits of a value as it is. */
#define raw_of_f raw_bits_of
#define raw_of_g raw_bits64_of
#define raw_of_u bits_of_u
#define raw_of_s bits_of_s
#define raw_of_m bits_of_m
#define raw_of_U bits_of_U
#define raw_of_S bits_of_S
#define raw_of_n bits_of_n

#define VALUE_AT(name, ta, tb, tc) value_##name(GET_##ta(al[i], ah[i]), GET_##tb(bl[i], bh[i]), GET_##tc(cl[i], ch[i]))
#define PUT_VALUE(td, bits)                         \
    dl[i] = (uint32_t)(bits);                       \
    if (WORDS_##td == 2) {                          \
        dh[i] = (uint32_t)((uint64_t)(bits) >> 32); \
    }
#define ONE_VALUE(name, td, ta, tb, tc)                                  \
    KIT(s_, name)                                                        \
    {                                                                    \
        const uint32_t i = 0;                                            \
        KIT_UNUSED;                                                      \
        const bits_##td bits = bits_of_##td(VALUE_AT(name, ta, tb, tc)); \
        PUT_VALUE(td, bits)                                              \
    }
#define RAW_VALUE(name, ta, tb, tc)                   \
    KIT(r_, name)                                     \
    {                                                 \
        const uint32_t i = 0;                         \
        KIT_UNUSED;                                   \
        dl[i] = raw_of_f(VALUE_AT(name, ta, tb, tc)); \
    }
#define RAW_VALUE_f(name, ta, tb, tc) RAW_VALUE(name, ta, tb, tc)
#define RAW_VALUE_g(name, ta, tb, tc)
#define RAW_VALUE_u(name, ta, tb, tc)
#define RAW_VALUE_s(name, ta, tb, tc)
#define RAW_VALUE_m(name, ta, tb, tc)
#define RAW_VALUE_U(name, ta, tb, tc)
#define RAW_VALUE_S(name, ta, tb, tc)
#define RAW_VALUE_n(name, ta, tb, tc)
#define OPERATION(name, td, ta, tb, tc, expression)                         \
    VALUE(name, td, ta, tb, tc, expression)                                 \
    KIT(v_, name)                                                           \
    {                                                                       \
        KIT_UNUSED;                                                         \
        KIT_EACH                                                            \
        {                                                                   \
            const bits_##td bits = raw_of_##td(VALUE_AT(name, ta, tb, tc)); \
            PUT_VALUE(td, bits)                                             \
        }                                                                   \
    }                                                                       \
    ONE_VALUE(name, td, ta, tb, tc)                                         \
    RAW_VALUE_##td(name, ta, tb, tc)

#define ALU1(name, td, ta, expression) OPERATION(name, td, ta, z, z, expression)
#define ALUB(name, td, tb, expression) OPERATION(name, td, z, tb, z, expression)
#define ALU2(name, td, ta, tb, expression) OPERATION(name, td, ta, tb, z, expression)
#define ALU3(name, td, ta, tb, tc, expression) OPERATION(name, td, ta, tb, tc, expression)
#define LONG1(name, td, ta, expression) OPERATION(name, td, ta, z, z, expression)
#define LONG2(name, td, ta, tb, expression) OPERATION(name, td, ta, tb, z, expression)
#define DEAR2(name, td, ta, tb, expression) OPERATION(name, td, ta, tb, z, expression)

#define LOW_AT(words, low) ((words) != 0 ? (low)[i] : 0u)
#define HIGH_AT(words, high) ((words) == 2 ? (high)[i] : 0u)
#define HALVES_AT(name, wa, wb, wc)                                                                     \
    const uint32_t low = low_##name(LOW_AT(wa, al), LOW_AT(wb, bl), LOW_AT(wc, cl));                    \
    const uint32_t high = high_##name(LOW_AT(wa, al), HIGH_AT(wa, ah), LOW_AT(wb, bl), HIGH_AT(wb, bh), \
                                      LOW_AT(wc, cl), HIGH_AT(wc, ch), low);                            \
    dl[i] = low;                                                                                        \
    dh[i] = high;
#define WIDE(name, wa, wb, wc, low_value, high_value) \
    HALVES(name, low_value, high_value)               \
    KIT(v_, name)                                     \
    {                                                 \
        KIT_UNUSED;                                   \
        KIT_EACH                                      \
        {                                             \
            HALVES_AT(name, wa, wb, wc)               \
        }                                             \
    }                                                 \
    KIT(s_, name)                                     \
    {                                                 \
        const uint32_t i = 0;                         \
        KIT_UNUSED;                                   \
        HALVES_AT(name, wa, wb, wc)                   \
    }
#include "qemu-device/core/engine/alu.def"

#define CONVERSION(stype, dtype, round, td, ta, expression) \
    OPERATION(CVT_##stype##_##dtype##_##round, td, ta, z, z, expression)
#include "qemu-device/core/engine/conversions.def"

/* ---- comparisons: all ones where they hold ---- */

#define COMPARISON(name, ta, tsigned, expression)                                                \
    HOLDS(name, ta, tsigned, expression)                                                         \
    KIT(v_, name)                                                                                \
    {                                                                                            \
        KIT_UNUSED;                                                                              \
        KIT_EACH                                                                                 \
        {                                                                                        \
            dl[i] = 0u - (uint32_t)holds_##name(GET_##ta(al[i], ah[i]), GET_##ta(bl[i], bh[i])); \
        }                                                                                        \
    }                                                                                            \
    KIT(s_, name)                                                                                \
    {                                                                                            \
        const uint32_t i = 0;                                                                    \
        KIT_UNUSED;                                                                              \
        dl[i] = 0u - (uint32_t)holds_##name(GET_##ta(al[i], ah[i]), GET_##ta(bl[i], bh[i]));     \
    }
#define PPU_ICMP(name, text, number, expression)    \
    COMPARISON(ICMP_##name, u, int32_t, expression) \
    COMPARISON(ICMP64_##name, U, int64_t, expression)
#define PPU_FCMP(name, text, number, expression)  \
    COMPARISON(FCMP_##name, f, float, expression) \
    COMPARISON(FCMP64_##name, g, double, expression)
#include "ppu/isa.def"

/* ---- NaNs ---- */

KIT(v_, CANON_f)
{
    KIT_UNUSED;
    KIT_EACH
    {
        dl[i] = bits_of_f(float_of(al[i]));
    }
}
KIT(s_, CANON_f)
{
    KIT_UNUSED;
    dl[0] = bits_of_f(float_of(al[0]));
}
KIT(v_, CANON_g)
{
    KIT_UNUSED;
    KIT_EACH
    {
        const uint64_t bits = bits_of_g(double_of(GET_U(al[i], ah[i])));
        dl[i] = (uint32_t)bits;
        dh[i] = (uint32_t)(bits >> 32);
    }
}

/* ---- rows of whole warps ---- */

/* The transactions of lanes that follow one another from `at` on. */
LEVEL_INLINE uint32_t lines_of(uint64_t at, uint32_t wave, uint32_t bytes)
{
    const uint32_t row = PPU_LANES * bytes;
    uint32_t lines = 0;

    if (row % PPU_TRANSACTION_BYTES == 0) {
        return wave / PPU_LANES * count_lines(at, row);
    }
    for (uint32_t pass = 0; pass < wave / PPU_LANES; pass++) {
        lines += count_lines(at + (uint64_t)pass * row, row);
    }
    return lines;
}

/* Puts what lies there in the place of the bytes of a chunk. */
LEVEL_INLINE void spread(const uint8_t *host, uint32_t bytes, uint32_t word[TIER_CHUNK])
{
    const uint32_t value = bytes == 4   ? *(const volatile uint32_t *)(const void *)host
                           : bytes == 2 ? *(const volatile uint16_t *)(const void *)host * 0x10001u
                                        : *(const volatile uint8_t *)host * 0x1010101u;

    KIT_EACH
    {
        word[i] = value;
    }
}

bool kit_row(const struct exec *x, const struct code_insn *code, uint64_t base, uint32_t reg, uint32_t wave,
             uint32_t bytes, uint32_t flags, struct kit_place *out, uint32_t word[TIER_CHUNK]);
/* As tier_calls.row, where registers are known to be steady and the page is one that was found before. */
__attribute__((always_inline)) bool kit_row(const struct exec *x, const struct code_insn *code, uint64_t base,
                                            uint32_t reg, uint32_t wave, uint32_t bytes, uint32_t flags,
                                            struct kit_place *out, uint32_t word[TIER_CHUNK])
{
    const bool store = flags & KIT_ROW_STORE, indexed = flags & KIT_ROW_INDEXED, offsets = flags & KIT_ROW_OFFSETS;
    const struct page *const page =
        store ? &x->found->writes : &x->found->reads[(uintptr_t)code / sizeof(*code) % FOUND_READS];
    const bool alike = !offsets || x->step[reg] == 0;
    const uint64_t offset = offsets ? ppu_isa_lane_offset(indexed, bytes, x->vreg[reg * wave]) : 0;
    const uint64_t at = base + offset, in = at - page->first;
    const uint32_t step = alike ? 0 : bytes, all = step * (wave - 1) + bytes;

    if ((offsets && ((x->steady >> reg & 1u) == 0 || (!alike && x->step[reg] != (indexed ? 1 : bytes)))) ||
        (store && alike) || code_lanes_wrap(indexed, offset, step * (wave - 1)) || at % bytes != 0 ||
        in >= page->bytes || page->bytes - in < all || x->sm->pending_adds.base) {
        return false;
    }
    out->host = page->host + in;
    out->step = (uint64_t)bytes * TIER_CHUNK;
    out->lines = lines_of(at, wave, bytes);
    if (alike) {
        spread(out->host, bytes, word);
        out->host = (uint8_t *)word;
        out->step = 0;
        out->lines = wave / PPU_LANES;
    }
    return true;
}

/* ---- loops without effects ---- */

/* How the lanes' offsets of a load lie: 0: all have the same, 1: they follow one another, 2: else. */
uint32_t kit_steady(const struct exec *x, uint32_t reg, uint32_t wave, uint32_t apart);
__attribute__((noinline)) uint32_t kit_steady(const struct exec *x, uint32_t reg, uint32_t wave, uint32_t apart)
{
    const uint32_t *const lanes = x->vreg + (size_t)reg * wave;
    const uint32_t first = lanes[0], step = lanes[1] - first;
    uint32_t differ = 0;

    for (uint32_t i = 0; i < wave; i++) {
        differ |= lanes[i] ^ (first + i * step);
    }
    return differ != 0 || (step != 0 && step != apart) ? 2 : step != 0;
}

bool kit_near(const struct exec *x, const struct code_insn *code, uint64_t base, uint32_t first, uint32_t step,
              uint32_t wave, uint32_t bytes, uint32_t indexed, struct kit_place *out, uint32_t *word);
/* As kit_row(), of offsets that lie as `step` says: kit_steady(). Nothing is gathered for memory. */
__attribute__((always_inline)) bool kit_near(const struct exec *x, const struct code_insn *code, uint64_t base,
                                             uint32_t first, uint32_t step, uint32_t wave, uint32_t bytes,
                                             uint32_t indexed, struct kit_place *out, uint32_t *word)
{
    const struct page *const page = &x->found->reads[(uintptr_t)code / sizeof(*code) % FOUND_READS];
    const uint64_t offset = ppu_isa_lane_offset(indexed != 0, bytes, first), at = base + offset, in = at - page->first;
    const uint32_t more = step * bytes * (wave - 1), all = more + bytes;

    if (code_lanes_wrap(indexed, offset, more) || at % bytes != 0 || in >= page->bytes || page->bytes - in < all) {
        return false;
    }
    out->host = page->host + in;
    out->step = (uint64_t)bytes * TIER_CHUNK;
    out->lines = lines_of(at, wave, bytes);
    if (step == 0) {
        spread(out->host, bytes, word);
        out->host = (uint8_t *)word;
        out->step = 0;
        out->lines = wave / PPU_LANES;
    }
    return true;
}

const uint8_t *kit_one(const struct page *page, uint64_t at, uint32_t bytes);
/* Where the bytes of a scalar load are, when they are in the page; NULL: elsewhere. */
__attribute__((always_inline)) const uint8_t *kit_one(const struct page *page, uint64_t at, uint32_t bytes)
{
    const uint64_t in = at - page->first;

    return at % (bytes < 4 ? bytes : 4) == 0 && in < page->bytes && page->bytes - in >= bytes ? page->host + in : NULL;
}

const uint8_t *kit_find_one(struct exec *x, const struct code_insn *code, const struct tier_calls *calls, uint64_t at,
                            struct page *page);
__attribute__((noinline)) const uint8_t *kit_find_one(struct exec *x, const struct code_insn *code,
                                                      const struct tier_calls *calls, uint64_t at, struct page *page)
{
    const uint8_t *const host = calls->one(x, code, at);

    if (host) {
        *page = exec_page(x, at);
    }
    return host;
}

bool kit_may_read(const struct exec *x);
__attribute__((always_inline)) bool kit_may_read(const struct exec *x)
{
    return !x->sm->pending_adds.base;
}

LEVEL_INLINE void token_read(const struct exec *x, uint32_t n, struct ppu_token *token)
{
    const size_t words = PPU_TOKEN_WORDS(x->wave);
    const uint8_t *const at =
        sm_file_tokens(x->sm, x->cta, x->w->number) + (size_t)(x->w->token_first + n) * words * sizeof(uint32_t);
    uint32_t word[PPU_TOKEN_MAX_WORDS] = { 0 };

    for (size_t i = 0; i < words; i++) {
        word[i] = vram_read32(at + i * sizeof(uint32_t));
    }
    ppu_token_unpack(x->wave, word, token);
}

bool kit_would_wait(const struct exec *x, uint32_t type, uint32_t target);
/* Each active lane is named by a token of the type and the target, and nobody else has a say in the queue. */
__attribute__((noinline)) bool kit_would_wait(const struct exec *x, uint32_t type, uint32_t target)
{
    const struct warp *const w = x->w;
    struct lanes named = { { 0 } };
    bool more = true;

    if ((__atomic_load_n(&x->core->reg[PPU_REG_TOKEN_HANDLER / 4], __ATOMIC_ACQUIRE) | w->asked) != 0 ||
        w->segment.on) {
        return false;
    }
    for (uint32_t n = 0; n < w->token_count && more; n++) {
        struct ppu_token token;
        token_read(x, n, &token);
        more = (token.summary & ppu_token_sum_bit(type)) != 0;
        for (uint32_t i = 0; token.type == type && token.address == target && i < PPU_MAX_WAVE_WORDS; i++) {
            named.m[i] |= token.mask[i];
        }
    }
    const struct lanes others = lanes_without(&w->active, &named);
    return !lanes_any(&others);
}

void kit_copy_rows(uint8_t *restrict to, const uint8_t *restrict from, uint64_t bytes);
/* Copies rows of chunks. A loop: LLVM takes long for many loads and stores in a block. */
__attribute__((noinline)) void kit_copy_rows(uint8_t *restrict to, const uint8_t *restrict from, uint64_t bytes)
{
    uint32_t words[TIER_CHUNK];

    for (uint64_t at = 0; at < bytes; at += sizeof(words)) {
        memcpy(words, from + at, sizeof(words));
        memcpy(to + at, words, sizeof(words));
    }
}

uint32_t kit_yields_left(struct exec *x, uint32_t n);
/* How many YIELDNs the warp can execute until one of its active lanes yields, that is the n-th time. */
__attribute__((noinline)) uint32_t kit_yields_left(struct exec *x, uint32_t n)
{
    uint32_t most = 0;

    warp_yields(x->w);
    for (uint32_t lane = 0; lane < x->wave; lane++) {
        const uint32_t turns = x->w->active.m[lane / PPU_LANES] >> lane % PPU_LANES & 1u ? x->w->yield_turns[lane] : 0;
        most = turns > most ? turns : most;
    }
    return n > most + 1 ? n - 1 - most : 0;
}

void kit_counted(struct exec *x, uint32_t begun, uint32_t done, uint64_t lanes);
/* Lanes have executed so many instructions since `begun`: all of the turn up to `done` is counted. */
__attribute__((noinline)) void kit_counted(struct exec *x, uint32_t begun, uint32_t done, uint64_t lanes)
{
    x->cta->count[PPU_COUNTER_LANES] += (uint64_t)(begun - x->counted) * x->lanes + lanes;
    x->counted = done;
}

bool kit_left(struct exec *x, const struct code_insn *code, const struct tier_calls *calls, struct tier_turn *turn,
              uint32_t pc, const struct lanes *left);
/* Lanes have come to a BRK, SYNC or CONT, and wait there. False: turn->step is set. */
__attribute__((noinline)) bool kit_left(struct exec *x, const struct code_insn *code, const struct tier_calls *calls,
                                        struct tier_turn *turn, uint32_t pc, const struct lanes *left)
{
    struct lanes *const pred = &x->w->pred[code->insn.guard & PPU_GUARD_PRED];
    const struct lanes kept = *pred;
    const bool negated = code->insn.guard & PPU_GUARD_NEGATE;

    if (!lanes_any(left)) {
        return true;
    }
    for (uint32_t i = 0; i < PPU_MAX_WAVE_WORDS; i++) {
        pred->m[i] = negated ? ~left->m[i] : left->m[i];
    }
    x->w->pc = pc;
    turn->done--; /* who executes it counts it */
    const bool goes_on = calls->control(x, code, turn);
    *pred = kept;
    return goes_on;
}

#include "qemu-device/tier/kit_pass.c.inc"

#include "qemu-device/tier/kit_apart.c.inc"

/* What LLVM calls for lengths that it does not know: the code of a loop has no library. */
void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    void *at = to;

    __asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(bytes) : : "memory");
    return to;
}

void *memset(void *to, int value, size_t bytes)
{
    void *at = to;

    __asm__ volatile("rep stosb" : "+D"(at), "+c"(bytes) : "a"(value) : "memory");
    return to;
}
