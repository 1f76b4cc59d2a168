/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Atomics whose lanes all reach VRAM or shared memory. Part of engine_build.h. */
#ifndef PPU_CORE_ENGINE_BUILD_ATOMIC_H
#define PPU_CORE_ENGINE_BUILD_ATOMIC_H

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
    const enum pattern pattern = pattern_likely(&a, set, bytes);
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

#endif
