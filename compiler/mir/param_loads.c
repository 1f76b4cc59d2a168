/* SPDX-License-Identifier: MIT */
#include "compiler/mir/param_loads.h"

#include "ppu/macros.h"

#include <string.h>

/* Loads may begin at any word; those of pairs begin at even ones, and so do all that we make. */
#define PAIR_BYTES 8u
#define CHUNK_BYTES (4u * MIR_MAX_WORDS)

struct join {
    struct mir *mir;
    struct mir_block *entry;
    uint32_t *order; /* the loads, by offset: indices into the entry */
    uint32_t count;
    struct mir_ref *now; /* of each register: what holds its words instead; reg 0: nothing */
};

static uint32_t offset_of(const struct join *j, uint32_t n)
{
    return (uint32_t)j->entry->insns[j->order[n]].code.imm;
}

static uint32_t end_of(const struct join *j, uint32_t n)
{
    return offset_of(j, n) + 4u * j->entry->insns[j->order[n]].code.wd;
}

static bool is_load(const struct mir_insn *insn, const uint32_t *writes)
{
    return insn->code.op == PPU_OP_LDP && insn->code.no_base && insn->code.scalar && insn->guard.reg == 0 &&
           writes[insn->d.reg] == 1 &&
           (insn->code.width == PPU_WIDTH_B32 || (insn->code.width == PPU_WIDTH_B64 && insn->code.imm % 8 == 0));
}

/* Sorted by insertion: there are few. */
static void find_loads(struct join *j)
{
    struct mir_counts counts = mir_counts_new(j->mir);

    mir_count(j->mir, &counts);
    j->order = arena_new(&j->mir->compilation->arena, uint32_t, j->entry->count + 1);
    for (uint32_t i = 0; i < j->entry->count; i++) {
        if (!is_load(&j->entry->insns[i], counts.writes)) {
            continue;
        }
        uint32_t at = j->count++;
        while (at != 0 && offset_of(j, at - 1) > (uint32_t)j->entry->insns[i].code.imm) {
            j->order[at] = j->order[at - 1];
            at--;
        }
        j->order[at] = i;
    }
}

/* The loads [first, end) become one of `words`, at the position of the first of them in the block. */
static void join_loads(struct join *j, uint32_t first, uint32_t end, uint32_t words)
{
    uint32_t start = offset_of(j, first) / PAIR_BYTES * PAIR_BYTES, position = j->order[first];
    struct mir_ref whole = mir_reg(j->mir, MIR_SCALAR, words, 0);

    for (uint32_t n = first; n < end; n++) {
        struct mir_insn *load = &j->entry->insns[j->order[n]];
        j->now[load->d.reg] = mir_sub(whole, (offset_of(j, n) - start) / 4);
        position = PPU_MIN(j->order[n], position);
        load->code.wd = 0; /* marks it as gone */
    }
    struct mir_insn *load = &j->entry->insns[position];
    load->d = whole;
    load->code.imm = (int32_t)start;
    load->code.wd = (uint8_t)words;
    load->code.width = words == 4 ? PPU_WIDTH_B128 : PPU_WIDTH_B64;
}

static void join_all(struct join *j, uint32_t limit_bytes)
{
    for (uint32_t first = 0, end; first < j->count; first = end) {
        uint32_t start = offset_of(j, first) / PAIR_BYTES * PAIR_BYTES, reach = CHUNK_BYTES;
        while (reach > PAIR_BYTES && start + reach > limit_bytes) {
            reach /= 2;
        }
        for (end = first + 1; end < j->count && end_of(j, end) <= start + reach; end++) {
        }
        uint32_t last = 0;
        for (uint32_t n = first; n < end; n++) {
            last = end_of(j, n) > last ? end_of(j, n) : last;
        }
        if (end - first > 1 && last > start + 4 && start + reach <= limit_bytes) {
            join_loads(j, first, end, last > start + PAIR_BYTES ? 4 : 2);
        }
    }
}

static void rename_words(const struct join *j)
{
    struct mir_operand operands[MIR_MAX_OPERANDS];

    for (uint32_t b = 0; b < j->mir->flow->count; b++) {
        struct mir_block *block = &j->mir->blocks[b];
        uint32_t kept = 0;
        for (uint32_t i = 0; i < block->count; i++) {
            struct mir_insn *insn = &block->insns[i];
            if (insn->code.op == PPU_OP_LDP && insn->code.wd == 0) {
                continue;
            }
            uint32_t n = mir_operands(insn, operands);
            for (uint32_t o = 0; o < n; o++) {
                struct mir_ref *ref = operands[o].ref;
                if (j->now[ref->reg].reg != 0) {
                    *ref = mir_sub(j->now[ref->reg], ref->sub);
                }
            }
            block->insns[kept++] = *insn;
        }
        block->count = kept;
    }
}

void param_loads_join(struct mir *mir, uint32_t limit_bytes)
{
    struct join j = { .mir = mir, .entry = &mir->blocks[0] };

    find_loads(&j);
    /* There are at most as many new registers as loads. */
    j.now = arena_new(&mir->compilation->arena, struct mir_ref, mir->reg_count + j.count);
    join_all(&j, limit_bytes);
    rename_words(&j);
}
