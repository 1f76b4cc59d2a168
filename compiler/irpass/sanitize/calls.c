/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/sanitize/calls.h"

#include "compiler/analysis/ir.h"

static void add_call(LLVMValueRef insn, void *opaque)
{
    struct call_list *list = opaque;

    if (ir_is_instruction(insn, LLVMCall) && !ir_called(insn)) {
        list->insns = arena_grow(&list->compilation->arena, list->insns, sizeof(LLVMValueRef), list->count, &list->cap);
        list->insns[list->count++] = insn;
    }
}

void calls_add(struct call_list *list, LLVMValueRef function)
{
    ir_each_instruction(function, add_call, list);
}
