/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads and stores of whole warps at a base and an offset of each lane, when the register of the offsets is known to be
 * steady: what loops over arrays do most. Everything else is engine_build_mem.h's. Part of engine_build.h.
 */
#ifndef PPU_CORE_ENGINE_BUILD_ROW_H
#define PPU_CORE_ENGINE_BUILD_ROW_H

/* A base of 64 bits in scalar registers, and an offset of each lane in a register that can be known. */
static bool has_row(const struct ppu_insn *insn)
{
    return insn->wa == 2 && insn->a_scalar && insn->lane_off && insn->rb < EXEC_STEADY;
}

BUILD_INLINE uint64_t row_base(const struct exec *x, const struct code_insn *code)
{
    const uint32_t *const base = &x->w->sreg[code->insn.ra];

    return (base[0] | (uint64_t)base[1] << 32) + (uint64_t)(int64_t)code->insn.imm;
}

/*
 * The host's address of the first lane, when all lanes are active and each is *step bytes behind the one before; NULL:
 * not here.
 */
BUILD_INLINE uint8_t *row_reach(struct exec *x, const struct code_insn *code, const struct lanes *mask,
                                enum ppu_width width, enum ppu_access access, uint32_t *step, uint64_t *at)
{
    const uint32_t reg = code->insn.rb, bytes = ppu_width_bytes(width);
    uint64_t offset;
    uint32_t more;
    uint8_t *host;

    if (!whole(x, mask) || (x->steady >> reg & 1u) == 0) {
        return NULL;
    }
    offset = ppu_isa_lane_offset(code->insn.indexed, bytes, row(x, reg, 0)[0]);
    *step = code->insn.indexed ? x->step[reg] * bytes : x->step[reg];
    *at = row_base(x, code) + offset;
    more = *step * (x->wave - 1);
    if ((*step != bytes && *step != 0) || (uint32_t)offset > UINT32_MAX - more || *at % alignment(width) != 0) {
        return NULL;
    }
    host = reach_kept(x, *at, more + bytes, access);
    sums_meet(x->sm, host, more + bytes);
    return host;
}

/* `host`: of the first lane. */
BUILD_INLINE void row_load(const struct exec *x, const struct code_insn *code, const uint8_t *host,
                           enum ppu_width width)
{
    const uint32_t step = row_step(x, code->insn.rd), bytes = PPU_LANES * ppu_width_bytes(width), passes = x->passes;
    uint32_t *to = row(x, code->insn.rd, 0);

    for (uint32_t pass = 0; pass < passes; pass++, to += PPU_LANES) {
        load_row(to, step, host + (size_t)pass * bytes, width);
    }
    if (!x->looped) {
        fetch_behind(x, host, ppu_width_bytes(width));
    }
}

BUILD_INLINE void row_load_alike(const struct exec *x, const struct code_insn *code, const uint8_t *host,
                                 enum ppu_width width)
{
    for (uint32_t pass = 0; pass < x->passes; pass++) {
        load_alike(row(x, code->insn.rd, pass), row_step(x, code->insn.rd), host, ALL_LANES, width);
    }
}

BUILD_INLINE void row_store(const struct exec *x, const struct code_insn *code, uint8_t *host, enum ppu_width width)
{
    const uint32_t step = row_step(x, code->insn.rd), bytes = PPU_LANES * ppu_width_bytes(width), passes = x->passes;
    const uint32_t *from = row(x, code->insn.rd, 0);

    for (uint32_t pass = 0; pass < passes; pass++, from += PPU_LANES, host += bytes) {
        store_row(host, from, step, width);
    }
}

#define ROW_LOAD(name, width)                                                                           \
    static enum step name##_row(struct exec *x, const struct code_insn *code, const struct lanes *mask) \
    {                                                                                                   \
        uint32_t step;                                                                                  \
        uint64_t at;                                                                                    \
        const uint8_t *host = row_reach(x, code, mask, width, PPU_ACCESS_READ, &step, &at);             \
        if (host == NULL) {                                                                             \
            return name(x, code, mask);                                                                 \
        }                                                                                               \
        if (step == 0) {                                                                                \
            count_transactions(x, x->passes);                                                           \
            row_load_alike(x, code, host, width);                                                       \
        } else {                                                                                        \
            count_row_whole(x, MEM_GLOBAL, at, ppu_width_bytes(width));                                 \
            row_load(x, code, host, width);                                                             \
        }                                                                                               \
        return STEP_NEXT;                                                                               \
    }
#define ROW_STORE(name, width)                                                                          \
    static enum step name##_row(struct exec *x, const struct code_insn *code, const struct lanes *mask) \
    {                                                                                                   \
        uint32_t step;                                                                                  \
        uint64_t at;                                                                                    \
        uint8_t *host = row_reach(x, code, mask, width, PPU_ACCESS_WRITE, &step, &at);                  \
        if (host == NULL || step == 0) {                                                                \
            return name(x, code, mask);                                                                 \
        }                                                                                               \
        count_row_whole(x, MEM_GLOBAL, at, ppu_width_bytes(width));                                     \
        row_store(x, code, host, width);                                                                \
        return STEP_NEXT;                                                                               \
    }
#define PPU_WIDTH(name, text, number, bytes, words) \
    ROW_LOAD(op_ldg_##name, PPU_WIDTH_##name)       \
    ROW_STORE(op_stg_##name, PPU_WIDTH_##name)
#include "ppu/isa.def"

/* NULL: not one of these. */
static engine_op *row_op(const struct ppu_insn *insn)
{
    static engine_op *const ops[PPU_WIDTH_COUNT][2] = {
#define PPU_WIDTH(name, text, number, bytes, words) [PPU_WIDTH_##name] = { op_ldg_##name##_row, op_stg_##name##_row },
#include "ppu/isa.def"
    };
    const bool is_load = insn->op == PPU_OP_LDG, is_store = insn->op == PPU_OP_STG;

    return (is_load || is_store) && !insn->scalar && has_row(insn) ? ops[insn->width][is_store] : NULL;
}

#endif
