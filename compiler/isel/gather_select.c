/* SPDX-License-Identifier: MIT */
#include "compiler/isel/gather_select.h"

static struct mir_ref offsets_of(struct isel *s, LLVMValueRef call, uint32_t count)
{
    struct mir_ref all = select_new(s, count);

    for (uint32_t i = 0; i < count; i++) {
        select_copy(s, mir_sub(all, i), select_element(s, LLVMGetOperand(call, 1 + i), 0), 1);
    }
    return all;
}

/* Where registers are short, the base is no scalar: then these are loads again. */
static void select_loads(struct isel *s, LLVMValueRef call, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct mir_insn insn = mir_insn(PPU_OP_LDG);
        struct element base = select_element(s, LLVMGetOperand(call, 0), 0);
        struct element offset = select_widen(s, select_element(s, LLVMGetOperand(call, 1 + i), 0), 32, 2, false);
        insn.code.width = PPU_WIDTH_B32;
        insn.code.wd = 1;
        insn.code.wa = 2;
        insn.code.wb = 0;
        insn.a = select_reg(s, select_op(s, PPU_OP_ADD64, base, offset));
        insn.d = select_new(s, 1);
        select_add(s, &insn);
        select_set(s, call, i, element_register(insn.d, 1));
    }
}

void gather_select(struct isel *s, LLVMValueRef call)
{
    uint32_t count = LLVMGetNumArgOperands(call) - 1;
    struct element base = select_element(s, LLVMGetOperand(call, 0), 0);
    struct mir_insn insn = mir_insn(PPU_OP_GATHER);

    s->scalar = false;
    if (base.kind != ELEMENT_REGISTER || base.add != 0 || mir_class_of(s->mir, base.ref) != MIR_SCALAR) {
        select_loads(s, call, count);
        return;
    }
    insn.code.width = (uint8_t)(count - 1);
    insn.code.wd = insn.code.wb = (uint8_t)count;
    insn.code.wa = 2;
    insn.a = base.ref;
    insn.b = offsets_of(s, call, count);
    insn.d = select_new(s, count);
    select_add(s, &insn);
    for (uint32_t i = 0; i < count; i++) {
        select_set(s, call, i, element_register(mir_sub(insn.d, i), 1));
    }
}
