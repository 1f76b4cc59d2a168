/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory operations while caches are modelled (A10). Part of engine_build.h. An operation is what it is without the
 * model; which lines it touches is found before it, because a load may overwrite its addresses, and told to sm_cache.c
 * behind it, because what was not done does not count.
 */
#ifndef PPU_CORE_ENGINE_BUILD_CACHE_H
#define PPU_CORE_ENGINE_BUILD_CACHE_H

/* Lanes of a pass that add their own 32- or 64-bit part to an address. */
static void lines_of_pass(struct cache_lines *lines, uint32_t line_bytes, const struct addresses *a, uint32_t set,
                          uint32_t bytes)
{
    const enum pattern pattern = a->low == NULL ? LANES_ALIKE : pattern_of(a, set, bytes);
    uint64_t at[PPU_LANES];

    if (pattern == LANES_ALIKE || (pattern == LANES_IN_ROW && set == ALL_LANES)) {
        cache_lines_add(lines, line_bytes, address_at(a, (uint32_t)__builtin_ctz(set)),
                        pattern == LANES_ALIKE ? bytes : PPU_LANES * bytes);
        return;
    }
    EACH_LANE
    {
        at[i] = address_at(a, i);
    }
    cache_lines_each(lines, line_bytes, at, set, bytes);
}

/* A warp whose lanes are all active and have a pattern; false: nothing is done. */
static bool lines_of_whole(struct exec *x, const struct code_insn *code, struct cache_lines *lines, uint32_t *end)
{
    const uint32_t line_bytes = x->sm->config->cache_line, bytes = ppu_width_bytes(code->insn.width);
    const struct addresses a = addresses_of(x, code, 0, code->insn.rb);
    const enum pattern pattern = a.low == NULL ? LANES_ALIKE : pattern_whole(x, code, &a, code->insn.rb, bytes);
    const uint32_t pass_bytes = pattern == LANES_ALIKE ? bytes : PPU_LANES * bytes;
    uint64_t at = address_first(code, &a, bytes);

    if (pattern == LANES_APART) {
        return false;
    }
    for (uint32_t pass = 0; pass < x->passes; pass++) {
        cache_lines_begin(lines);
        cache_lines_add(lines, line_bytes, at, pass_bytes);
        end[pass] = lines->count;
        at += pattern == LANES_ALIKE ? 0 : pass_bytes;
    }
    return true;
}

static void lines_of(const struct exec *x, const struct code_insn *code, uint32_t pass, uint32_t set,
                     struct cache_lines *lines)
{
    const uint32_t line_bytes = x->sm->config->cache_line;
    const struct ppu_insn *insn = &code->insn;
    struct offsets offsets;
    struct addresses a;

    switch (insn->op) {
    case PPU_OP_LDG:
    case PPU_OP_STG:
        a = addresses_made(x, code, pass, insn->rb, ppu_isa_bytes(insn), &offsets);
        lines_of_pass(lines, line_bytes, &a, set, ppu_width_bytes(insn->width));
        break;
    case PPU_OP_ATOMG:
        a = addresses_made(x, code, pass, insn->rc, ppu_isa_bytes(insn), &offsets);
        lines_of_pass(lines, line_bytes, &a, set, 4u << insn->wide);
        break;
    case PPU_OP_GATHER:
        for (uint32_t word = 0; word <= insn->width; word++) {
            a = addresses_of(x, code, pass, 0);
            a.low = row(x, insn->rb + word, pass);
            lines_of_pass(lines, line_bytes, &a, set, sizeof(uint32_t));
        }
        break;
    default:
        engine_mem_lines(x, insn, pass, set, lines);
        break;
    }
}

static void lines_of_passes(const struct exec *x, const struct code_insn *code, const struct lanes *mask,
                            struct cache_lines *lines, uint32_t *end)
{
    const struct lanes set = code->insn.scalar ? lanes_one(lanes_first(mask)) : *mask;

    for (uint32_t pass = 0; pass < x->passes; pass++) {
        cache_lines_begin(lines);
        if (set.m[pass] != 0) {
            lines_of(x, code, pass, set.m[pass], lines);
        }
        end[pass] = lines->count;
    }
}

static enum step op_modelled(struct exec *x, const struct code_insn *code, const struct lanes *mask)
{
    const bool row = (code->insn.op == PPU_OP_LDG || code->insn.op == PPU_OP_STG) && !code->insn.scalar;
    uint32_t end[PPU_MAX_WAVE_WORDS]; /* of the lines of each pass */
    struct cache_lines lines;
    enum step step;

    lines.count = 0;
    if (!row || !whole(x, mask) || !lines_of_whole(x, code, &lines, end)) {
        lines_of_passes(x, code, mask, &lines, end);
    }
    step = code->unmodelled(x, code, mask);
    if (step == STEP_FAULT) {
        return step;
    }
    if (step == STEP_STOP) { /* passes behind the one that the main loop does now come again */
        lines.count = x->w->state == WARP_SYSTEM ? end[x->sm->sys[x->index].pass] : 0;
    }
    cache_account(x, &lines, engine_mem_access(&code->insn));
    return step;
}

static engine_op *modelled_op_of(const struct code_insn *code)
{
    return engine_mem_cached(&code->insn) ? op_modelled : op_of(code);
}

#endif
