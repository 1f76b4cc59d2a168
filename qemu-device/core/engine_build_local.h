/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Local memory: words of lanes that use one offset are neighbours. Part of engine_build.h. */
#ifndef PPU_CORE_ENGINE_BUILD_LOCAL_H
#define PPU_CORE_ENGINE_BUILD_LOCAL_H

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
            BITS_EACH(set, i)
            {
                vram_write32(host[word] + 4 * (i - first), lane[i]);
            }
        } else if (set == ALL_LANES) {
            row_load_B32(lane, host[word]);
        } else {
            BITS_EACH(set, i)
            {
                lane[i] = vram_read32(host[word] + 4 * (i - first));
            }
        }
    }
    return true;
}
#define local_load(x, code, space, width, pass, set) local_pass(x, code, pass, set, false)
#define local_store(x, code, space, width, pass, set) local_pass(x, code, pass, set, true)
MEMORY_OP(op_ldl, never_whole, never_few, sums_meet_any, local_load, , )
MEMORY_OP(op_stl, never_whole, never_few, sums_meet_any, local_store, , )

#endif
