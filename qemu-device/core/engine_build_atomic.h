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

    BITS_EACH(set, i)
    {
        sum += exec_read(x, insn->rb, insn->b_scalar, pass * PPU_LANES + i);
    }
    sum = vram_rmw_add32(host, sum);
    BITS_EACH(set, i)
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
    BITS_EACH(set, i)
    {
        vram_rmw_add32((uint8_t *)(near + low[i]), value[i * step]);
    }
}

/* The same, summed up in the SM (struct sums); false: nothing is done. */
BUILD_INLINE bool sum_each(struct exec *x, const struct ppu_insn *insn, uintptr_t near, const uint32_t *low,
                           const struct span *span, uint32_t pass, uint32_t set)
{
    const uint32_t *const value = insn->b_scalar ? &x->w->sreg[insn->rb] : row(x, insn->rb, pass);
    const uint32_t step = insn->b_scalar ? 0 : 1, same = value[0];
    const uintptr_t least = near + span->least, most = near + span->most;
    struct sums *const sums = &x->sm->sums;
    uintptr_t to; /* the sum of a lane is that far behind its low[] */
    uint32_t first, last;

    if ((sums->base == NULL || least < (uintptr_t)sums->base || most >= (uintptr_t)sums->base + SUMS_BYTES) &&
        !sums_open(x->sm, least, most)) {
        return false;
    }
    first = (uint32_t)(least - (uintptr_t)sums->base) / 4;
    last = (uint32_t)(most - (uintptr_t)sums->base) / 4;
    sums->first = first < sums->first ? first : sums->first;
    sums->last = last > sums->last ? last : sums->last;
    to = (uintptr_t)sums->value - (uintptr_t)sums->base + near;
    if (set == ALL_LANES && step == 0) {
        for (uint32_t i = 0; i < PPU_LANES; i += 4) {
            *(uint32_t *)(to + low[i]) += same;
            *(uint32_t *)(to + low[i + 1]) += same;
            *(uint32_t *)(to + low[i + 2]) += same;
            *(uint32_t *)(to + low[i + 3]) += same;
        }
        return true;
    }
    BITS_EACH(set, i)
    {
        *(uint32_t *)(to + low[i]) += value[i * step];
    }
    return true;
}

BUILD_INLINE bool atomic_pass(struct exec *x, const struct code_insn *code, enum mem_space space, uint32_t pass,
                              uint32_t set)
{
    const struct ppu_insn *insn = &code->insn;
    const uint32_t bytes = 4u << insn->wide;
    struct offsets offsets;
    const struct addresses a = addresses_made(x, code, pass, insn->rc, bytes, &offsets);
    const bool add = insn->aop == PPU_AOP_ADD && !insn->wide;
    const enum pattern pattern = pattern_likely(&a, set, bytes);
    const uint64_t at = address_at(&a, (uint32_t)__builtin_ctz(set));
    const bool alike = pattern == LANES_ALIKE;
    uint8_t *host[PPU_LANES];
    struct span span;
    uintptr_t near;

    if (add && !alike && insn->no_old &&
        (near = reach_near_span(x, space, &a, set, bytes, bytes, PPU_ACCESS_ATOMIC, &span)) != 0) {
        count_lanes(x, space, at, set, bytes, pattern);
        if (space != MEM_GLOBAL || insn->order != PPU_ORDER_RELAXED ||
            !sum_each(x, insn, near, a.low, &span, pass, set)) {
            sums_meet_any(x->sm);
            add_each(x, insn, near, a.low, pass, set);
        }
        return true;
    }
    sums_meet_any(x->sm);
    if (!reach_each(x, space, &a, set, bytes, bytes, PPU_ACCESS_ATOMIC, host)) {
        return false;
    }
    count_lanes(x, space, at, set, bytes, pattern);
    if (add && alike) {
        add_together(x, insn, host[__builtin_ctz(set)], pass, set);
        return true;
    }
    BITS_EACH(set, i)
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
MEMORY_OP(op_atomg, never_whole, never_few, meet_later, atomic_of, MEM_GLOBAL, )
MEMORY_OP(op_atoms, never_whole, never_few, meet_later, atomic_of, MEM_SHARED, )

#endif
