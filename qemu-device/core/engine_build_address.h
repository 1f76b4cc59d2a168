/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The addresses of a pass, and how they lie. Part of engine_build.h. */
#ifndef PPU_CORE_ENGINE_BUILD_ADDRESS_H
#define PPU_CORE_ENGINE_BUILD_ADDRESS_H

/* ---- base + offset of each lane ---- */

struct addresses {
    const uint32_t *low;  /* of each lane; NULL: the base is the address of all */
    const uint32_t *high; /* upper halves; NULL: none */
    uint64_t base;
    uint32_t wrap; /* shared memory: sums are modulo 2^32 */
};

/* Offsets that are made of the indexes of a pass. */
struct offsets {
    uint32_t low[PPU_LANES], high[PPU_LANES];
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
        a.high = insn->wa == 2 ? a.low + row_step(x, insn->ra) : NULL;
    }
    return a;
}

/* Indexes of lanes times what each accesses. Upper halves are left out when all are 0. */
BUILD_INLINE void offsets_make(struct addresses *a, const uint32_t *index, uint32_t log2, struct offsets *to)
{
    const uint32_t above = log2 == 0 ? 31u : 32u - log2; /* bits that are the sign, or leave the low half */
    uint32_t all = 0;

    EACH_LANE
    {
        to->low[i] = index[i] << log2;
        all |= index[i];
    }
    a->low = to->low;
    if (all >> above != 0) {
        EACH_LANE
        {
            to->high[i] = (uint32_t)((int32_t)index[i] >> above);
        }
        a->high = to->high;
    }
}

/* As addresses_of(), of a pass whose lanes may have indexes. */
BUILD_INLINE struct addresses addresses_made(const struct exec *x, const struct code_insn *code, uint32_t pass,
                                             uint32_t lane_reg, uint32_t bytes, struct offsets *to)
{
    struct addresses a = addresses_of(x, code, pass, lane_reg);

    if (code->insn.indexed) {
        offsets_make(&a, a.low, (uint32_t)__builtin_ctz(bytes), to);
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

/* ---- patterns ---- */

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

/* As pattern_of(), sooner where lanes are apart: the first two mostly tell. */
BUILD_INLINE enum pattern pattern_likely(const struct addresses *a, uint32_t set, uint32_t bytes)
{
    const uint32_t rest = set & (set - 1), first = (uint32_t)__builtin_ctz(set);
    uint32_t second, differ;

    if (a->low == NULL || rest == 0) {
        return LANES_ALIKE;
    }
    second = (uint32_t)__builtin_ctz(rest);
    differ = a->low[second] - a->low[first];
    return differ != 0 && differ != (second - first) * bytes ? LANES_APART : pattern_of(a, set, bytes);
}

/* ---- all lanes of a warp ---- */

/* As pattern_of(); `a` is of the first pass, of which indexes are still indexes. */
BUILD_INLINE enum pattern pattern_whole(struct exec *x, const struct code_insn *code, const struct addresses *a,
                                        uint32_t lane_reg, uint32_t bytes)
{
    const uint32_t begin = a->low[0], end = row(x, code->insn.a_scalar ? lane_reg : code->insn.ra, x->passes - 1u)[31];
    const uint32_t step = begin == end ? 0 : code->insn.indexed ? 1 : bytes;
    const uint64_t from = ppu_isa_lane_offset(code->insn.indexed, bytes, begin),
                   to = ppu_isa_lane_offset(code->insn.indexed, bytes, end);

    if (end - begin != step * (x->wave - 1) || from >> 32 != to >> 32 || to < from ||
        (a->wrap && (uint32_t)(a->base + end) < (uint32_t)(a->base + begin)) ||
        !steady_whole(x, code, code->insn.a_scalar ? lane_reg : code->insn.ra, step) ||
        (a->high != NULL && !steady_whole(x, code, code->insn.ra + 1u, 0))) {
        return LANES_APART;
    }
    return step == 0 ? LANES_ALIKE : LANES_IN_ROW;
}

/* The address of the warp's first lane; `a` is of the first pass. */
BUILD_INLINE uint64_t address_first(const struct code_insn *code, const struct addresses *a, uint32_t bytes)
{
    return code->insn.indexed ? a->base + ppu_isa_lane_offset(code->insn.indexed, bytes, a->low[0]) : address_at(a, 0);
}

#endif
