/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the loads of a loop without effects (loop.c) whose lanes lie wherever (gather.c). */
#include "qemu-device/tier/gather.h"
#include "qemu-device/tier/loop.h"

bool loop_loads_lanes(const struct tier_unit *unit, const struct ppu_insn *insn)
{
    if (unit->modelled || insn->format != PPU_FMT_MEM || insn->scalar) {
        return false;
    }
    return insn->op == PPU_OP_LDG ? insn->wa == 2 : insn->op == PPU_OP_LDS && !insn->indexed && insn->wa != 2;
}

/* What is added to the offset of each lane, but for upper halves that lanes have. */
static LLVMValueRef base_of(const struct loop *l, const struct ppu_insn *insn)
{
    const struct writer *const t = l->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef base = write_i64(t, (uint64_t)(int64_t)insn->imm);

    for (uint32_t word = 0; insn->a_scalar && word < insn->wa; word++) {
        LLVMValueRef value = LLVMBuildZExt(b, loop_get(l, t->i32, l->sreg[insn->ra + word]), t->i64, "");
        base = LLVMBuildAdd(b, base, LLVMBuildShl(b, value, write_i64(t, 32ull * word), ""), "");
    }
    return base;
}

static LLVMValueRef low_of(const struct loop *l, const struct ppu_insn *insn, uint32_t group)
{
    if (insn->wa == 0 || (insn->a_scalar && !insn->lane_off)) {
        return LLVMConstNull(l->t->lanes);
    }
    return loop_clean(l, insn->a_scalar ? insn->rb : insn->ra, group);
}

/* NULL: there are no upper halves. */
static LLVMValueRef high_of(const struct loop *l, const struct ppu_insn *insn, uint32_t group)
{
    return insn->wa == 2 && !insn->a_scalar ? loop_clean(l, insn->ra + 1u, group) : NULL;
}

static LLVMValueRef set_of(const struct loop *l, const struct ppu_insn *insn, uint32_t group)
{
    const uint32_t guard = insn->guard;
    LLVMValueRef active = loop_get(l, l->t->mask, l->active[group]);

    if (guard == 0) {
        return active;
    }
    return write_both(l->t, active, loop_pred(l, guard & (PPU_GUARD_PRED | PPU_GUARD_NEGATE), group));
}

static void unless(void *owner, LLVMValueRef stops, uint32_t n)
{
    loop_unless(owner, stops, n);
}

static struct gather access_of(struct loop *l, uint32_t n)
{
    struct gather a = gather_of(l->t, n);

    a.base = base_of(l, a.insn);
    a.request = l->request;
    a.values = l->values;
    a.unless = unless;
    a.owner = l;
    if (a.insn->op == PPU_OP_LDS) {
        a.shared = loop_get(l, l->t->ptr, l->shared);
        a.shared_bytes = loop_get(l, l->t->i32, l->shared_bytes);
    } else {
        a.page = l->page[n];
    }
    return a;
}

void loop_write_lanes(struct loop *l, uint32_t n)
{
    const struct ppu_insn *const insn = &l->t->unit->insn[n].insn;
    LLVMBuilderRef b = l->t->builder;
    struct gather_pass pass[LOOP_GROUPS / GATHER_GROUPS] = { 0 };
    struct gather_window window = { 0 };

    if (l->parts > 1) {
        loop_unless(l, LLVMBuildICmp(b, LLVMIntUGE, loop_done_at(l, n), loop_get(l, l->t->i32, l->allowed), ""), n);
    }
    struct gather a = access_of(l, n);
    if (insn->wa != 2 || insn->a_scalar) {
        window = gather_window(&a, a.base);
    }
    for (uint32_t i = 0; i < l->groups / GATHER_GROUPS; i++) {
        for (uint32_t group = 0; group < GATHER_GROUPS; group++) {
            a.low[group] = low_of(l, insn, i * GATHER_GROUPS + group);
            a.high[group] = high_of(l, insn, i * GATHER_GROUPS + group);
            a.set[group] = set_of(l, insn, i * GATHER_GROUPS + group);
        }
        gather_load(&a, &window, &pass[i]);
    }
    /* Registers that are loaded may be those of the addresses, so all is loaded before any of them is put. */
    for (uint32_t group = 0; group < l->groups; group++) {
        for (uint32_t word = 0; word < a.words; word++) {
            loop_put_lanes(l, n, insn->rd + word, group,
                           pass[group / GATHER_GROUPS].words[group % GATHER_GROUPS][word]);
        }
    }
    for (uint32_t i = 0; i < l->groups / GATHER_GROUPS; i++) {
        LLVMValueRef lines = LLVMBuildZExt(b, pass[i].lines, l->t->i64, "");
        loop_put(l, LLVMBuildAdd(b, loop_get(l, l->t->i64, l->own_lines), lines, ""), l->own_lines);
    }
}
