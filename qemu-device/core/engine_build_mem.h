/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads, stores and atomics whose lanes all reach VRAM or shared memory through translations that are cached. Part of
 * engine_build.h. The warp is looked at as a whole first, then each pass: lanes that follow one another in memory,
 * lanes that share an address, lanes of one page, then each lane for itself. Nothing has been done for a pass that is
 * left to engine_mem.c.
 */
#ifndef PPU_CORE_ENGINE_BUILD_MEM_H
#define PPU_CORE_ENGINE_BUILD_MEM_H

enum mem_space {
    MEM_GLOBAL,
    MEM_SHARED,
};

/* ---- where an access lies ---- */

/* The bytes from `va` on, when they are in one page that the TLB has, in VRAM, and may be accessed so; else NULL. */
BUILD_INLINE uint8_t *probe(const struct exec *x, uint64_t va, uint32_t bytes, enum ppu_access access)
{
    const struct tlb_entry *entry = &x->sm->tlb[sm_tlb_index(va)];
    const uint64_t page = ~(uint64_t)(PPU_PAGE_4K - 1), last = va + bytes - 1;
    const bool here = entry->tag == (((va & page) | x->tlb_key) & entry->mask) && entry->tag != 0 &&
                      ((va ^ last) & entry->mask & page) == 0 && !entry->system;
    const bool may = (access == PPU_ACCESS_READ || entry->write) && (access != PPU_ACCESS_ATOMIC || entry->atomic);

    return here && may ? x->vram + entry->frame + (va - (entry->tag & page)) : NULL;
}

static __attribute__((noinline)) uint8_t *probe_again(const struct exec *x, uint64_t va, uint32_t bytes,
                                                      enum ppu_access access)
{
    struct place place;

    return sm_translate(x->sm, x->task->tmd.context, va, access, &place) == 0 ? probe(x, va, bytes, access) : NULL;
}

BUILD_INLINE uint8_t *reach_global(const struct exec *x, uint64_t va, uint32_t bytes, enum ppu_access access)
{
    uint8_t *host = probe(x, va, bytes, access);

    return __builtin_expect(host != NULL, 1) ? host : probe_again(x, va, bytes, access);
}

BUILD_INLINE uint8_t *reach_shared(const struct exec *x, uint64_t at, uint32_t bytes)
{
    const uint32_t limit = x->task->tmd.shared_bytes;

    return at <= limit && bytes <= limit - at ? x->shared + at : NULL;
}

BUILD_INLINE uint8_t *reach(const struct exec *x, enum mem_space space, uint64_t at, uint32_t bytes,
                            enum ppu_access access)
{
    return space == MEM_SHARED ? reach_shared(x, at, bytes) : reach_global(x, at, bytes, access);
}

/* The page that an access was found in, for those that follow. */
struct page {
    uint64_t first;
    uint64_t bytes; /* 0: none yet */
    uint8_t *host;
};

BUILD_INLINE struct page page_of(const struct exec *x, uint64_t va)
{
    const struct tlb_entry *entry = &x->sm->tlb[sm_tlb_index(va)];
    const uint64_t below = PPU_PAGE_4K - 1;

    return (struct page){ entry->tag & ~below, (~entry->mask | below) + 1, x->vram + entry->frame };
}

BUILD_INLINE uint8_t *reach_near(const struct exec *x, enum mem_space space, uint64_t at, uint32_t bytes,
                                 enum ppu_access access, struct page *page)
{
    const uint64_t offset = at - page->first;
    uint8_t *host;

    if (space == MEM_SHARED) {
        return reach_shared(x, at, bytes);
    }
    if (offset < page->bytes && page->bytes - offset >= bytes) {
        return page->host + offset;
    }
    host = reach_global(x, at, bytes, access);
    if (host != NULL) {
        *page = page_of(x, at);
    }
    return host;
}

/* ---- the addresses of a pass: base + offset of each lane ---- */

struct addresses {
    const uint32_t *low;  /* of each lane; NULL: the base is the address of all */
    const uint32_t *high; /* upper halves; NULL: none */
    uint64_t base;
    uint32_t wrap; /* shared memory: sums are modulo 2^32 */
};

BUILD_INLINE struct addresses addresses_of(const struct exec *x, const struct code_insn *code, uint32_t pass,
                                           uint32_t lane_reg)
{
    const struct ppu_insn *insn = &code->insn;
    struct addresses a = { .base = (uint64_t)(int64_t)insn->imm, .wrap = insn->wa != 2 };

    if (insn->wa != 0 && insn->a_scalar) {
        a.base +=
            insn->wa == 2 ? x->w->sreg[insn->ra] | (uint64_t)x->w->sreg[insn->ra + 1u] << 32 : x->w->sreg[insn->ra];
        a.low = insn->lane_off ? row(x, lane_reg, pass) : NULL;
    } else if (insn->wa != 0) {
        a.low = row(x, insn->ra, pass);
        a.high = insn->wa == 2 ? a.low + x->wave : NULL;
    }
    return a;
}

BUILD_INLINE uint64_t address_at(const struct addresses *a, uint32_t i)
{
    uint64_t at = a->base;

    if (a->low != NULL) {
        at += a->low[i];
    }
    if (a->high != NULL) {
        at += (uint64_t)a->high[i] << 32;
    }
    return a->wrap ? (uint32_t)at : at;
}

enum pattern {
    LANES_IN_ROW, /* first to last of the set follow one another */
    LANES_ALIKE,
    LANES_APART,
};

/* True when low words of the set are begin + i * step, and high words alike. */
BUILD_INLINE bool steady(const struct addresses *a, uint32_t set, uint32_t begin, uint32_t step)
{
    const uint32_t high = a->high != NULL ? a->high[__builtin_ctz(set)] : 0;
    uint32_t differ = 0;

    EACH_LANE
    {
        differ |= (set & lane_bit[i]) != 0 ? a->low[i] ^ (begin + i * step) : 0;
    }
    if (a->high != NULL) {
        EACH_LANE
        {
            differ |= (set & lane_bit[i]) != 0 ? a->high[i] ^ high : 0;
        }
    }
    return differ == 0;
}

/* How the lanes of a set that have addresses of their own lie; first and last tell what there is to look for. */
BUILD_INLINE enum pattern pattern_of(const struct addresses *a, uint32_t set, uint32_t bytes)
{
    const uint32_t first = (uint32_t)__builtin_ctz(set), last = 31u - (uint32_t)__builtin_clz(set);
    const uint32_t begin = a->low[first], end = a->low[last];

    if (begin == end) {
        return steady(a, set, begin, 0) ? LANES_ALIKE : LANES_APART;
    }
    if (end - begin != (last - first) * bytes || end < begin ||
        (a->wrap && (uint32_t)(a->base + end) < (uint32_t)(a->base + begin))) {
        return LANES_APART;
    }
    return steady(a, set, begin - first * bytes, bytes) ? LANES_IN_ROW : LANES_APART;
}

/* The same of all lanes of a warp; `a` is of the first pass. */
BUILD_INLINE enum pattern pattern_whole(const struct exec *x, const struct addresses *a, uint32_t bytes)
{
    const uint32_t begin = a->low[0], end = a->low[x->wave - 1], step = begin == end ? 0 : bytes;
    const uint32_t *low = a->low, *high = a->high;
    uint32_t expected = begin, differ = 0;

    if (end - begin != step * (x->wave - 1) || end < begin ||
        (a->wrap && (uint32_t)(a->base + end) < (uint32_t)(a->base + begin))) {
        return LANES_APART;
    }
    for (uint32_t pass = 0; pass < x->passes; pass++, low += PPU_LANES, expected += PPU_LANES * step) {
        EACH_LANE
        {
            differ |= low[i] ^ (expected + i * step);
        }
    }
    for (uint32_t pass = 0; high != NULL && pass < x->passes; pass++, high += PPU_LANES) {
        EACH_LANE
        {
            differ |= high[i] ^ a->high[0];
        }
    }
    return differ != 0 ? LANES_APART : step == 0 ? LANES_ALIKE : LANES_IN_ROW;
}

/*
 * When all lanes of a set are aligned and reach into one page, or into shared memory: where lane i's bytes are but for
 * its low[i]; else 0.
 */
BUILD_INLINE uintptr_t reach_near_all(const struct exec *x, enum mem_space space, const struct addresses *a,
                                      uint32_t set, uint32_t bytes, uint32_t align, enum ppu_access access)
{
    const uint32_t first = (uint32_t)__builtin_ctz(set), high = a->high != NULL ? a->high[first] : 0;
    const uint64_t base = a->base + ((uint64_t)high << 32);
    uint32_t least = a->low[first], most = least, all = 0, differ = 0;
    const uint8_t *host;

    EACH_LANE
    {
        const uint32_t low = (set & lane_bit[i]) != 0 ? a->low[i] : a->low[first];
        least = low < least ? low : least;
        most = low > most ? low : most;
        all |= low;
    }
    if (a->high != NULL) {
        EACH_LANE
        {
            differ |= (set & lane_bit[i]) != 0 ? a->high[i] ^ high : 0;
        }
    }
    if (differ != 0 || ((base | all) & (align - 1)) != 0 || most - least > UINT32_MAX - bytes ||
        (a->wrap && (uint32_t)base + (uint64_t)most > UINT32_MAX)) {
        return 0;
    }
    host = reach(x, space, a->wrap ? (uint32_t)base + least : base + least, most - least + bytes, access);
    return host != NULL ? (uintptr_t)host - least : 0;
}

#define NEAR_LANES 4u /* fewer lanes than that are sooner looked up one by one */

/* ---- values; memory that others change meanwhile is only touched here ---- */

typedef uint32_t __attribute__((may_alias)) guest_word;
typedef uint16_t __attribute__((may_alias)) guest_half;

/* 32 lanes in a row: words are read and written whole, as vector instructions do. */
#define ROWS(width, type, sign)                                          \
    GUEST_DATA void row_load_##width(uint32_t *to, const uint8_t *from)  \
    {                                                                    \
        const type *const in = (const type *)(const void *)from;         \
        EACH_LANE                                                        \
        {                                                                \
            to[i] = (uint32_t)(sign)in[i];                               \
        }                                                                \
    }                                                                    \
    GUEST_DATA void row_store_##width(uint8_t *to, const uint32_t *from) \
    {                                                                    \
        type *const out = (type *)(void *)to;                            \
        EACH_LANE                                                        \
        {                                                                \
            out[i] = (type)from[i];                                      \
        }                                                                \
    }
ROWS(U8, uint8_t, uint8_t)
ROWS(S8, uint8_t, int8_t)
ROWS(U16, guest_half, uint16_t)
ROWS(S16, guest_half, int16_t)
ROWS(B32, guest_word, uint32_t)
#define ROWS_WIDE(width, words)                                                          \
    GUEST_DATA void rows_load_##width(uint32_t *to, uint32_t wave, const uint8_t *from)  \
    {                                                                                    \
        const guest_word *const in = (const guest_word *)(const void *)from;             \
        EACH_LANE                                                                        \
        {                                                                                \
            for (uint32_t word = 0; word < (words); word++) {                            \
                to[word * wave + i] = in[i * (words) + word];                            \
            }                                                                            \
        }                                                                                \
    }                                                                                    \
    GUEST_DATA void rows_store_##width(uint8_t *to, const uint32_t *from, uint32_t wave) \
    {                                                                                    \
        guest_word *const out = (guest_word *)(void *)to;                                \
        EACH_LANE                                                                        \
        {                                                                                \
            for (uint32_t word = 0; word < (words); word++) {                            \
                out[i * (words) + word] = from[word * wave + i];                         \
            }                                                                            \
        }                                                                                \
    }
ROWS_WIDE(B64, 2)
ROWS_WIDE(B128, 4)

/* Lanes that the set does not have keep what they had; their words are read for nothing. */
GUEST_DATA void row_load_some(uint32_t *to, const uint8_t *from, uint32_t set)
{
    const guest_word *const in = (const guest_word *)(const void *)from;

    EACH_LANE
    {
        to[i] = (set & lane_bit[i]) != 0 ? in[i] : to[i];
    }
}

BUILD_INLINE uint32_t load_value(const uint8_t *host, enum ppu_width width)
{
    switch (width) {
    case PPU_WIDTH_U8:
        return vram_read8(host);
    case PPU_WIDTH_S8:
        return (uint32_t)(int32_t)(int8_t)vram_read8(host);
    case PPU_WIDTH_U16:
        return vram_read16(host);
    case PPU_WIDTH_S16:
        return (uint32_t)(int32_t)(int16_t)vram_read16(host);
    default:
        return vram_read32(host);
    }
}

BUILD_INLINE void store_value(uint8_t *host, enum ppu_width width, uint32_t value)
{
    if (width <= PPU_WIDTH_S8) {
        vram_write8(host, (uint8_t)value);
    } else if (width <= PPU_WIDTH_S16) {
        vram_write16(host, (uint16_t)value);
    } else {
        vram_write32(host, value);
    }
}

/* A lane's whole access. */
BUILD_INLINE void load_lane(uint32_t *to, uint32_t wave, const uint8_t *host, enum ppu_width width)
{
    for (uint32_t word = 0; word < ppu_width_words(width); word++) {
        to[word * wave] = load_value(host + 4 * word, width);
    }
}

BUILD_INLINE void store_lane(uint8_t *host, const uint32_t *from, uint32_t wave, enum ppu_width width)
{
    for (uint32_t word = 0; word < ppu_width_words(width); word++) {
        store_value(host + 4 * word, width, from[word * wave]);
    }
}

BUILD_INLINE uint32_t alignment(enum ppu_width width)
{
    const uint32_t bytes = ppu_width_bytes(width);

    return bytes < 4 ? bytes : 4;
}

/* ---- a pass ---- */

/* Host addresses of lanes that go each where they want; false: one of them cannot be reached here. */
BUILD_INLINE bool reach_each(const struct exec *x, enum mem_space space, const struct addresses *a, uint32_t set,
                             uint32_t bytes, uint32_t align, enum ppu_access access, uint8_t **host)
{
    struct page page = { 0, 0, NULL };
    bool all = true;

    LANES_LEFT(set, i)
    {
        const uint64_t at = address_at(a, i);
        host[i] = at % align == 0 ? reach_near(x, space, at, bytes, access, &page) : NULL;
        all = all && host[i] != NULL;
    }
    return all;
}

/* All lanes of a pass in a row. */
BUILD_INLINE void load_row(uint32_t *to, uint32_t wave, const uint8_t *host, enum ppu_width width)
{
    switch (width) {
    case PPU_WIDTH_U8:
        row_load_U8(to, host);
        break;
    case PPU_WIDTH_S8:
        row_load_S8(to, host);
        break;
    case PPU_WIDTH_U16:
        row_load_U16(to, host);
        break;
    case PPU_WIDTH_S16:
        row_load_S16(to, host);
        break;
    case PPU_WIDTH_B32:
        row_load_B32(to, host);
        break;
    case PPU_WIDTH_B64:
        rows_load_B64(to, wave, host);
        break;
    default:
        rows_load_B128(to, wave, host);
        break;
    }
}

BUILD_INLINE void store_row(uint8_t *host, const uint32_t *from, uint32_t wave, enum ppu_width width)
{
    switch (width) {
    case PPU_WIDTH_U8:
    case PPU_WIDTH_S8:
        row_store_U8(host, from);
        break;
    case PPU_WIDTH_U16:
    case PPU_WIDTH_S16:
        row_store_U16(host, from);
        break;
    case PPU_WIDTH_B32:
        row_store_B32(host, from);
        break;
    case PPU_WIDTH_B64:
        rows_store_B64(host, from, wave);
        break;
    default:
        rows_store_B128(host, from, wave);
        break;
    }
}

/* One value for all lanes of a set. */
BUILD_INLINE void load_alike(uint32_t *to, uint32_t wave, const uint8_t *host, uint32_t set, enum ppu_width width)
{
    uint32_t value[SM_MAX_WORDS];

    load_lane(value, 1, host, width);
    for (uint32_t word = 0; word < ppu_width_words(width); word++) {
        const uint32_t bits = value[word];
        uint32_t *const row_ = to + word * wave;
        EACH_LANE
        {
            row_[i] = (set & lane_bit[i]) != 0 ? bits : row_[i];
        }
    }
}

/* ---- transactions (counter.h) ---- */

BUILD_INLINE void count_row(struct exec *x, enum mem_space space, uint64_t at, uint32_t bytes)
{
    if (space == MEM_GLOBAL) {
        count_transactions(x, count_lines(at, bytes));
    }
}

/* A row of all lanes of a warp: lines are those of each pass, as many for each where passes are whole lines. */
BUILD_INLINE void count_row_whole(struct exec *x, enum mem_space space, uint64_t at, uint32_t bytes)
{
    if (space == MEM_SHARED) {
        return;
    }
    if (PPU_LANES * bytes % PPU_TRANSACTION_BYTES == 0) {
        count_transactions(x, x->passes * count_lines(at, PPU_LANES * bytes));
        return;
    }
    for (uint32_t pass = 0; pass < x->passes; pass++, at += PPU_LANES * bytes) {
        count_row(x, space, at, PPU_LANES * bytes);
    }
}

/* Lanes of a pass, the first at `at`. */
BUILD_INLINE void count_lanes(struct exec *x, enum mem_space space, uint64_t at, uint32_t set, uint32_t bytes,
                              enum pattern pattern)
{
    const uint32_t first = (uint32_t)__builtin_ctz(set), last = 31u - (uint32_t)__builtin_clz(set);

    if (space == MEM_SHARED) {
        return;
    }
    if (pattern == LANES_IN_ROW) {
        count_transactions(x, count_lines(at, (last - first + 1) * bytes));
    } else {
        count_transactions(x, pattern == LANES_ALIKE ? 1 : (uint32_t)__builtin_popcount(set));
    }
}

/* The same when nobody has looked how they lie; before the instruction writes a register. */
BUILD_INLINE void count_any(struct exec *x, enum mem_space space, const struct addresses *a, uint32_t set,
                            uint32_t bytes)
{
    if (space == MEM_GLOBAL) {
        const bool one = a->low == NULL || (set & (set - 1)) == 0;
        count_lanes(x, space, address_at(a, (uint32_t)__builtin_ctz(set)), set, bytes,
                    one ? LANES_ALIKE : pattern_of(a, set, bytes));
    }
}

/* ---- a warp whose lanes are all active; false: nothing is done ---- */

BUILD_INLINE bool load_whole(struct exec *x, const struct code_insn *code, enum mem_space space, enum ppu_width width)
{
    const struct addresses a = addresses_of(x, code, 0, code->insn.rb);
    const uint32_t bytes = ppu_width_bytes(width);
    const enum pattern pattern = a.low == NULL ? LANES_ALIKE : pattern_whole(x, &a, bytes);
    const uint64_t at = address_at(&a, 0);
    uint32_t *to = row(x, code->insn.rd, 0);
    const uint8_t *host;

    if (pattern == LANES_APART || at % alignment(width) != 0) {
        return false;
    }
    host = reach(x, space, at, pattern == LANES_ALIKE ? bytes : bytes * x->wave, PPU_ACCESS_READ);
    if (host == NULL) {
        return false;
    }
    if (pattern == LANES_IN_ROW) {
        count_row_whole(x, space, at, bytes);
    } else if (space == MEM_GLOBAL) {
        count_transactions(x, x->passes);
    }
    for (uint32_t pass = 0; pass < x->passes; pass++, to += PPU_LANES) {
        if (pattern == LANES_ALIKE) {
            load_alike(to, x->wave, host, ALL_LANES, width);
        } else {
            load_row(to, x->wave, host, width);
            host += bytes * PPU_LANES;
        }
    }
    return true;
}

BUILD_INLINE bool store_whole(struct exec *x, const struct code_insn *code, enum mem_space space, enum ppu_width width)
{
    const struct addresses a = addresses_of(x, code, 0, code->insn.rb);
    const uint32_t bytes = ppu_width_bytes(width), *from = row(x, code->insn.rd, 0);
    uint8_t *host;

    if (a.low == NULL || pattern_whole(x, &a, bytes) != LANES_IN_ROW || address_at(&a, 0) % alignment(width) != 0) {
        return false;
    }
    host = reach(x, space, address_at(&a, 0), bytes * x->wave, PPU_ACCESS_WRITE);
    if (host == NULL) {
        return false;
    }
    count_row_whole(x, space, address_at(&a, 0), bytes);
    for (uint32_t pass = 0; pass < x->passes; pass++, from += PPU_LANES, host += bytes * PPU_LANES) {
        store_row(host, from, x->wave, width);
    }
    return true;
}

/* ---- a pass; false: nothing is done ---- */

/* Some lanes in a row, the first of the set at `at`; the words between are in its page, too. */
BUILD_INLINE bool load_row_some(struct exec *x, enum mem_space space, uint64_t at, uint32_t set, uint32_t *to,
                                enum ppu_width width)
{
    const uint64_t begin = at - 4ull * (uint32_t)__builtin_ctz(set);
    const uint8_t *host =
        width == PPU_WIDTH_B32 && begin <= at ? reach(x, space, begin, 4 * PPU_LANES, PPU_ACCESS_READ) : NULL;

    if (host != NULL) {
        row_load_some(to, host, set);
    }
    return host != NULL;
}

BUILD_INLINE bool load_pass(struct exec *x, const struct code_insn *code, enum mem_space space, enum ppu_width width,
                            uint32_t pass, uint32_t set)
{
    const struct addresses a = addresses_of(x, code, pass, code->insn.rb);
    const uint32_t bytes = ppu_width_bytes(width), first = (uint32_t)__builtin_ctz(set);
    const bool few = (uint32_t)__builtin_popcount(set) < NEAR_LANES;
    uint32_t *const to = row(x, code->insn.rd, pass);
    const uint64_t at = address_at(&a, first);
    const enum pattern pattern = a.low == NULL ? LANES_ALIKE : few ? LANES_APART : pattern_of(&a, set, bytes);
    uint8_t *host[PPU_LANES];
    uintptr_t near;

    if (at % alignment(width) != 0) {
        return false;
    }
    if (pattern == LANES_IN_ROW && set == ALL_LANES &&
        (host[0] = reach(x, space, at, PPU_LANES * bytes, PPU_ACCESS_READ)) != NULL) {
        load_row(to, x->wave, host[0], width);
        count_row(x, space, at, PPU_LANES * bytes);
        return true;
    }
    if (pattern == LANES_IN_ROW && set != ALL_LANES && load_row_some(x, space, at, set, to, width)) {
        count_lanes(x, space, at, set, bytes, pattern);
        return true;
    }
    if (pattern == LANES_ALIKE) {
        if ((host[0] = reach(x, space, at, bytes, PPU_ACCESS_READ)) == NULL) {
            return false;
        }
        load_alike(to, x->wave, host[0], set, width);
        count_lanes(x, space, at, set, bytes, pattern);
        return true;
    }
    if (!few && (near = reach_near_all(x, space, &a, set, bytes, alignment(width), PPU_ACCESS_READ)) != 0) {
        count_lanes(x, space, at, set, bytes, pattern);
        LANES_LEFT(set, i)
        {
            load_lane(to + i, x->wave, (const uint8_t *)(near + a.low[i]), width);
        }
        return true;
    }
    if (!reach_each(x, space, &a, set, bytes, alignment(width), PPU_ACCESS_READ, host)) {
        return false;
    }
    if (few) {
        count_any(x, space, &a, set, bytes);
    } else {
        count_lanes(x, space, at, set, bytes, pattern);
    }
    LANES_LEFT(set, i)
    {
        load_lane(to + i, x->wave, host[i], width);
    }
    return true;
}

BUILD_INLINE bool store_pass(struct exec *x, const struct code_insn *code, enum mem_space space, enum ppu_width width,
                             uint32_t pass, uint32_t set)
{
    const struct addresses a = addresses_of(x, code, pass, code->insn.rb);
    const uint32_t bytes = ppu_width_bytes(width);
    const uint32_t *const from = row(x, code->insn.rd, pass);
    uint8_t *host[PPU_LANES];
    uintptr_t near;

    if (a.low == NULL) {
        set = 1u << (31u - (uint32_t)__builtin_clz(set)); /* the last lane's value stays */
    } else if (set == ALL_LANES && a.low[1] - a.low[0] == bytes && pattern_of(&a, set, bytes) == LANES_IN_ROW &&
               address_at(&a, 0) % alignment(width) == 0 &&
               (host[0] = reach(x, space, address_at(&a, 0), PPU_LANES * bytes, PPU_ACCESS_WRITE)) != NULL) {
        store_row(host[0], from, x->wave, width);
        count_row(x, space, address_at(&a, 0), PPU_LANES * bytes);
        return true;
    } else if ((uint32_t)__builtin_popcount(set) >= NEAR_LANES &&
               (near = reach_near_all(x, space, &a, set, bytes, alignment(width), PPU_ACCESS_WRITE)) != 0) {
        count_any(x, space, &a, set, bytes);
        LANES_LEFT(set, i)
        {
            store_lane((uint8_t *)(near + a.low[i]), from + i, x->wave, width);
        }
        return true;
    }
    if (!reach_each(x, space, &a, set, bytes, alignment(width), PPU_ACCESS_WRITE, host)) {
        return false;
    }
    count_any(x, space, &a, set, bytes);
    LANES_LEFT(set, i)
    {
        store_lane(host[i], from + i, x->wave, width);
    }
    return true;
}

/* Passes from this one on are for engine_mem.c. */
BUILD_INLINE enum step leave_rest(struct exec *x, const struct code_insn *code, const struct lanes *mask, uint32_t pass)
{
    struct lanes rest = *mask;

    for (uint32_t done = 0; done < pass; done++) {
        rest.m[done] = 0;
    }
    return code->insn.format == PPU_FMT_ATOM ? engine_atomic(x, &code->insn, &rest) : engine_mem(x, &code->insn, &rest);
}

#define MEMORY_OP(name, all, which, space, width)                                                 \
    static enum step name(struct exec *x, const struct code_insn *code, const struct lanes *mask) \
    {                                                                                             \
        if (whole(x, mask) && all(x, code, space, width)) {                                       \
            return STEP_NEXT;                                                                     \
        }                                                                                         \
        for (uint32_t pass = 0; pass < x->passes; pass++) {                                       \
            if (mask->m[pass] != 0 && !which(x, code, space, width, pass, mask->m[pass])) {       \
                return leave_rest(x, code, mask, pass);                                           \
            }                                                                                     \
        }                                                                                         \
        return STEP_NEXT;                                                                         \
    }
#define never_whole(x, code, space, width) false
#define PPU_WIDTH(name, text, number, bytes, words)                                 \
    MEMORY_OP(op_ldg_##name, load_whole, load_pass, MEM_GLOBAL, PPU_WIDTH_##name)   \
    MEMORY_OP(op_stg_##name, store_whole, store_pass, MEM_GLOBAL, PPU_WIDTH_##name) \
    MEMORY_OP(op_lds_##name, load_whole, load_pass, MEM_SHARED, PPU_WIDTH_##name)   \
    MEMORY_OP(op_sts_##name, store_whole, store_pass, MEM_SHARED, PPU_WIDTH_##name)
#include "ppu/isa.def"

/* ---- local memory: words of lanes that use one offset are neighbours ---- */

BUILD_INLINE bool local_pass(struct exec *x, const struct code_insn *code, uint32_t pass, uint32_t set, bool store)
{
    const struct ppu_tmd *tmd = &x->task->tmd;
    const struct addresses a = addresses_of(x, code, pass, code->insn.rb);
    const uint32_t first = (uint32_t)__builtin_ctz(set), words = ppu_width_words(code->insn.width);
    const uint32_t lanes = 32u - (uint32_t)__builtin_clz(set) - first;
    const uint64_t at = address_at(&a, first);
    uint8_t *host[SM_MAX_WORDS];

    if (at % 4 != 0 || at > tmd->local_bytes || 4 * words > tmd->local_bytes - at ||
        (a.low != NULL && pattern_of(&a, set, 4) != LANES_ALIKE)) {
        return false;
    }
    for (uint32_t word = 0; word < words; word++) {
        const uint64_t va = engine_local_va(x, pass * PPU_LANES + first, (uint32_t)at + 4 * word);
        host[word] = reach_global(x, va, 4 * lanes, store ? PPU_ACCESS_WRITE : PPU_ACCESS_READ);
        if (host[word] == NULL) {
            return false;
        }
    }
    for (uint32_t word = 0; word < words; word++) {
        count_row(x, MEM_GLOBAL, engine_local_va(x, pass * PPU_LANES + first, (uint32_t)at + 4 * word), 4 * lanes);
    }
    for (uint32_t word = 0; word < words; word++) {
        uint32_t *const lane = row(x, code->insn.rd + word, pass);
        if (store && set == ALL_LANES) {
            row_store_B32(host[word], lane);
        } else if (store) {
            LANES_LEFT(set, i)
            {
                vram_write32(host[word] + 4 * (i - first), lane[i]);
            }
        } else if (set == ALL_LANES) {
            row_load_B32(lane, host[word]);
        } else {
            LANES_LEFT(set, i)
            {
                lane[i] = vram_read32(host[word] + 4 * (i - first));
            }
        }
    }
    return true;
}
#define local_load(x, code, space, width, pass, set) local_pass(x, code, pass, set, false)
#define local_store(x, code, space, width, pass, set) local_pass(x, code, pass, set, true)
MEMORY_OP(op_ldl, never_whole, local_load, , )
MEMORY_OP(op_stl, never_whole, local_store, , )

/* ---- gathers: words that have an offset register each ---- */

/* Offsets may lie in the registers that the words go to: all are read before any is written. */
BUILD_INLINE bool gather_pass(struct exec *x, const struct code_insn *code, uint32_t pass, uint32_t set)
{
    const struct ppu_insn *insn = &code->insn;
    const uint32_t words = insn->width + 1u;
    uint32_t value[SM_MAX_WORDS][PPU_LANES];
    struct addresses a[SM_MAX_WORDS];
    uintptr_t near[SM_MAX_WORDS];

    for (uint32_t word = 0; word < words; word++) {
        a[word] = addresses_of(x, code, pass, 0);
        a[word].low = row(x, insn->rb + word, pass);
        near[word] = reach_near_all(x, MEM_GLOBAL, &a[word], set, 4, 4, PPU_ACCESS_READ);
        if (near[word] == 0) {
            return false;
        }
    }
    for (uint32_t word = 0; word < words; word++) {
        count_any(x, MEM_GLOBAL, &a[word], set, 4);
        LANES_LEFT(set, i)
        {
            value[word][i] = vram_read32((const uint8_t *)(near[word] + a[word].low[i]));
        }
    }
    for (uint32_t word = 0; word < words; word++) {
        keep(row(x, insn->rd + word, pass), value[word], set);
    }
    return true;
}
#define gather_of(x, code, space, width, pass, set) gather_pass(x, code, pass, set)
MEMORY_OP(op_gather, never_whole, gather_of, , )

/* ---- parameters, and loads for the whole warp ---- */

static enum step op_ldp_one(struct exec *x, const struct code_insn *code, const struct lanes *mask)
{
    const struct ppu_insn *insn = &code->insn;
    const uint32_t bytes = ppu_width_bytes(insn->width), limit = x->task->tmd.param_bytes;
    const uint32_t at = (uint32_t)insn->imm + (insn->wa ? x->w->sreg[insn->ra] : 0);

    if (at % alignment(insn->width) != 0 || at > limit || bytes > limit - at) {
        return engine_mem(x, insn, mask);
    }
    load_lane(&x->w->sreg[insn->rd], 1, x->task->params + at, insn->width);
    return STEP_NEXT;
}

static enum step op_ldg_one(struct exec *x, const struct code_insn *code, const struct lanes *mask)
{
    const struct ppu_insn *insn = &code->insn;
    const struct addresses a = addresses_of(x, code, 0, 0);
    const uint32_t bytes = ppu_width_bytes(insn->width);
    const uint8_t *host = a.base % alignment(insn->width) == 0 ? reach_global(x, a.base, bytes, PPU_ACCESS_READ) : NULL;

    if (host == NULL) {
        return engine_mem(x, insn, mask);
    }
    count_transactions(x, 1);
    load_lane(&x->w->sreg[insn->rd], 1, host, insn->width);
    return STEP_NEXT;
}

static enum step op_stg_one(struct exec *x, const struct code_insn *code, const struct lanes *mask)
{
    const struct ppu_insn *insn = &code->insn;
    const struct addresses a = addresses_of(x, code, 0, 0);
    const uint32_t bytes = ppu_width_bytes(insn->width);
    uint8_t *host = a.base % alignment(insn->width) == 0 ? reach_global(x, a.base, bytes, PPU_ACCESS_WRITE) : NULL;

    if (host == NULL) {
        return engine_mem(x, insn, mask);
    }
    count_transactions(x, 1);
    store_lane(host, &x->w->sreg[insn->rd], 1, insn->width);
    return STEP_NEXT;
}

/* ---- atomics ---- */

BUILD_INLINE uint64_t atomic_value(const struct exec *x, const struct ppu_insn *insn, uint32_t lane, uint32_t which)
{
    const uint32_t reg = insn->rb + (which << insn->wide);

    return insn->wide ? exec_read64(x, reg, insn->b_scalar, lane) : exec_read(x, reg, insn->b_scalar, lane);
}

BUILD_INLINE void atomic_old(struct exec *x, const struct ppu_insn *insn, uint32_t lane, uint64_t old)
{
    if (!insn->no_old) {
        exec_write(x, insn->rd, false, lane, (uint32_t)old);
        if (insn->wide) {
            exec_write(x, insn->rd + 1u, false, lane, (uint32_t)(old >> 32));
        }
    }
}

/* Additions of all lanes to one word: one read-modify-write, of which each lane gets what it would have seen. */
static void add_together(struct exec *x, const struct ppu_insn *insn, uint8_t *host, uint32_t pass, uint32_t set)
{
    uint32_t sum = 0;

    LANES_LEFT(set, i)
    {
        sum += exec_read(x, insn->rb, insn->b_scalar, pass * PPU_LANES + i);
    }
    sum = vram_rmw_add32(host, sum);
    LANES_LEFT(set, i)
    {
        const uint32_t lane = pass * PPU_LANES + i, value = exec_read(x, insn->rb, insn->b_scalar, lane);
        atomic_old(x, insn, lane, sum);
        sum += value;
    }
}

/* Additions whose old values nobody asked for. */
BUILD_INLINE void add_each(const struct exec *x, const struct ppu_insn *insn, uintptr_t near, const uint32_t *low,
                           uint32_t pass, uint32_t set)
{
    const uint32_t *const value = insn->b_scalar ? &x->w->sreg[insn->rb] : row(x, insn->rb, pass);
    const uint32_t step = insn->b_scalar ? 0 : 1, same = value[0];

    if (set == ALL_LANES && step == 0) {
        for (uint32_t i = 0; i < PPU_LANES; i++) {
            vram_rmw_add32((uint8_t *)(near + low[i]), same);
        }
        return;
    }
    LANES_LEFT(set, i)
    {
        vram_rmw_add32((uint8_t *)(near + low[i]), value[i * step]);
    }
}

BUILD_INLINE bool atomic_pass(struct exec *x, const struct code_insn *code, enum mem_space space, uint32_t pass,
                              uint32_t set)
{
    const struct ppu_insn *insn = &code->insn;
    const struct addresses a = addresses_of(x, code, pass, insn->rc);
    const uint32_t bytes = 4u << insn->wide;
    const bool add = insn->aop == PPU_AOP_ADD && !insn->wide;
    const enum pattern pattern = a.low == NULL ? LANES_ALIKE : pattern_of(&a, set, bytes);
    const uint64_t at = address_at(&a, (uint32_t)__builtin_ctz(set));
    const bool alike = pattern == LANES_ALIKE;
    uint8_t *host[PPU_LANES];
    uintptr_t near;

    if (add && !alike && insn->no_old &&
        (near = reach_near_all(x, space, &a, set, bytes, bytes, PPU_ACCESS_ATOMIC)) != 0) {
        count_lanes(x, space, at, set, bytes, pattern);
        add_each(x, insn, near, a.low, pass, set);
        return true;
    }
    if (!reach_each(x, space, &a, set, bytes, bytes, PPU_ACCESS_ATOMIC, host)) {
        return false;
    }
    count_lanes(x, space, at, set, bytes, pattern);
    if (add && alike) {
        add_together(x, insn, host[__builtin_ctz(set)], pass, set);
        return true;
    }
    LANES_LEFT(set, i)
    {
        const uint32_t lane = pass * PPU_LANES + i;
        const bool cas = insn->aop == PPU_AOP_CAS;
        const uint64_t compare = cas ? atomic_value(x, insn, lane, 0) : 0, value = atomic_value(x, insn, lane, cas);

        atomic_old(x, insn, lane,
                   add ? vram_rmw_add32(host[i], (uint32_t)value)
                       : engine_rmw(host[i], insn->aop, bytes, value, compare));
    }
    return true;
}
#define atomic_of(x, code, space, width, pass, set) atomic_pass(x, code, space, pass, set)
MEMORY_OP(op_atomg, never_whole, atomic_of, MEM_GLOBAL, )
MEMORY_OP(op_atoms, never_whole, atomic_of, MEM_SHARED, )

/* NULL: for engine_mem.c from the start. */
static engine_op *mem_op(const struct ppu_insn *insn)
{
    static engine_op *const ops[PPU_WIDTH_COUNT][4] = {
#define PPU_WIDTH(name, text, number, bytes, words) \
    [PPU_WIDTH_##name] = { op_ldg_##name, op_stg_##name, op_lds_##name, op_sts_##name },
#include "ppu/isa.def"
    };
    const bool words = insn->width >= PPU_WIDTH_B32;

    switch (insn->op) {
    case PPU_OP_LDG:
        return insn->scalar ? op_ldg_one : ops[insn->width][0];
    case PPU_OP_STG:
        return insn->scalar ? op_stg_one : ops[insn->width][1];
    case PPU_OP_LDS:
        return insn->scalar ? NULL : ops[insn->width][2];
    case PPU_OP_STS:
        return insn->scalar ? NULL : ops[insn->width][3];
    case PPU_OP_GATHER:
        return op_gather;
    case PPU_OP_LDL:
        return words ? op_ldl : NULL;
    case PPU_OP_STL:
        return words ? op_stl : NULL;
    case PPU_OP_LDP:
        return insn->scalar ? op_ldp_one : NULL;
    case PPU_OP_ATOMG:
        return op_atomg;
    case PPU_OP_ATOMS:
        return op_atoms;
    default:
        return NULL;
    }
}

#endif
