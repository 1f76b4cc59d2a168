/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/sanitize/inline.h"

#include "compiler/analysis/ir.h"
#include "compiler/irpass/lower_enqueue.h"
#include "compiler/irpass/sanitize/sanitize.h"

#include <llvm-c/Core.h>
#include <string.h>

#define MOST 40000u /* LLVM's instructions of a kernel with all that it calls written out */

/* The check that the instruction calls; NULL: it calls none. */
static LLVMValueRef called_check(LLVMValueRef insn)
{
    LLVMValueRef callee = ir_is_instruction(insn, LLVMCall) ? ir_called(insn) : NULL;

    return callee && sanitize_is_check(callee) ? callee : NULL;
}

static void count_inlined(LLVMValueRef insn, void *opaque)
{
    uint32_t *count = opaque;
    LLVMValueRef callee = called_check(insn);

    if (++*count <= MOST && callee) {
        ir_each_instruction(callee, count_inlined, count);
    }
}

struct marker {
    struct compilation *compilation;
    bool marked;
};

static void mark_check(LLVMValueRef insn, void *opaque)
{
    static const char name[] = "alwaysinline";
    struct marker *marker = opaque;
    const uint32_t kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

    if (called_check(insn)) {
        LLVMAddCallSiteAttribute(insn, LLVMAttributeFunctionIndex,
                                 LLVMCreateEnumAttribute(marker->compilation->llvm, kind, 0));
        marker->marked = true;
    }
}

bool inline_mark(struct compilation *compilation)
{
    struct marker marker = { compilation, false };

    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module); f; f = LLVMGetNextFunction(f)) {
        uint32_t count = 0;
        if (!LLVMIsDeclaration(f) && lower_enqueue_child(compilation, f)) {
            ir_each_instruction(f, count_inlined, &count);
            if (count <= MOST) {
                ir_each_instruction(f, mark_check, &marker);
            }
        }
    }
    return marker.marked;
}
