/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/sanitize/object.h"

#include "compiler/analysis/ir.h"
#include "compiler/irpass/sanitize/argument.h"

#include <string.h>

#define MOST_JOINS 64u /* phis and selections that a pointer comes through */

/* ---- the root ---- */

struct search {
    LLVMValueRef root; /* of the ways seen so far; NULL: none was */
    LLVMValueRef joins[MOST_JOINS];
    uint32_t count;
};

static bool is_root(LLVMValueRef value)
{
    if (LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMPointerTypeKind) {
        return false;
    }
    return ir_is_instruction(value, LLVMAlloca) || LLVMIsAGlobalVariable(value) ||
           (LLVMIsAArgument(value) && ir_is_kernel(LLVMGetParamParent(value)));
}

/* True when the join is new. One that is not adds nothing to what is known. */
static bool note_join(struct search *search, LLVMValueRef join)
{
    for (uint32_t i = 0; i < search->count; i++) {
        if (search->joins[i] == join) {
            return false;
        }
    }
    if (search->count < MOST_JOINS) {
        search->joins[search->count++] = join;
    }
    return true;
}

/* False: some way is not known, or two ways begin with different objects. */
static bool search_back(struct search *search, LLVMValueRef pointer)
{
    LLVMValueRef base = ir_base(pointer);
    const bool phi = ir_is_instruction(base, LLVMPHI);

    if (phi || ir_is_instruction(base, LLVMSelect)) {
        if (!note_join(search, base)) {
            return true;
        }
        bool known = search->count < MOST_JOINS;
        uint32_t ways = phi ? LLVMCountIncoming(base) : 2;
        for (uint32_t i = 0; i < ways && known; i++) {
            known = search_back(search, phi ? LLVMGetIncomingValue(base, i) : LLVMGetOperand(base, i + 1));
        }
        return known;
    }
    if (!is_root(base) || (search->root && search->root != base)) {
        return false;
    }
    search->root = base;
    return true;
}

LLVMValueRef object_root(LLVMValueRef pointer)
{
    struct search search = { .root = NULL };

    return search_back(&search, pointer) ? search.root : NULL;
}

/* ---- who may have its address ---- */

static bool is_operation(LLVMValueRef value, LLVMOpcode opcode)
{
    return ir_is_instruction(value, opcode) || (LLVMIsAConstantExpr(value) && LLVMGetConstOpcode(value) == opcode);
}

/* A check, or what is nothing to sanitizers. */
static bool is_intrinsic(LLVMValueRef call)
{
    const char *name = ir_callee(call);

    return strncmp(name, ARGUMENT_CALL, strlen(ARGUMENT_CALL)) == 0 || strncmp(name, "llvm.mem", 8) == 0 ||
           strncmp(name, "llvm.lifetime.", 14) == 0 || strncmp(name, "llvm.dbg.", 9) == 0;
}

/* True for what does no more with a pointer than an access, or a comparison. */
static bool only_accesses(LLVMValueRef user, LLVMValueRef pointer)
{
    if (!LLVMIsAInstruction(user)) {
        return false;
    }
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMLoad:
    case LLVMICmp:
        return true;
    case LLVMPtrToInt:
        return argument_looks(user);
    case LLVMStore:
        return LLVMGetOperand(user, 0) != pointer;
    case LLVMAtomicRMW:
        return LLVMGetOperand(user, 1) != pointer;
    case LLVMAtomicCmpXchg:
        return LLVMGetOperand(user, 1) != pointer && LLVMGetOperand(user, 2) != pointer;
    case LLVMCall:
        return is_intrinsic(user);
    default:
        return false;
    }
}

static bool leads_on(LLVMValueRef user)
{
    return is_operation(user, LLVMGetElementPtr) || is_operation(user, LLVMAddrSpaceCast) ||
           is_operation(user, LLVMBitCast) || ir_is_instruction(user, LLVMPHI) || ir_is_instruction(user, LLVMSelect);
}

/* `search`: joins that were followed. */
static bool escapes(struct search *search, LLVMValueRef pointer)
{
    bool found = false;

    for (LLVMUseRef use = LLVMGetFirstUse(pointer); use && !found; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!leads_on(user)) {
            found = !only_accesses(user, pointer);
            continue;
        }
        const bool joins = ir_is_instruction(user, LLVMPHI) || ir_is_instruction(user, LLVMSelect);
        if (joins && object_root(user) != search->root) {
            return true;
        }
        if (!joins || note_join(search, user)) {
            found = search->count == MOST_JOINS || escapes(search, user);
        }
    }
    return found;
}

bool object_escapes(LLVMValueRef root)
{
    struct search search = { .root = root };

    return escapes(&search, root);
}

/* ---- bytes ---- */

static LLVMTypeRef byval_type(LLVMValueRef argument)
{
    LLVMValueRef function = LLVMGetParamParent(argument);
    uint32_t kind = LLVMGetEnumAttributeKindForName("byval", 5);

    for (uint32_t i = 0; i < LLVMCountParams(function); i++) {
        LLVMAttributeRef byval = LLVMGetEnumAttributeAtIndex(function, i + 1, kind);
        if (LLVMGetParam(function, i) == argument && byval) {
            return LLVMGetTypeAttributeValue(byval);
        }
    }
    return NULL;
}

uint64_t object_bytes(const struct compilation *compilation, LLVMValueRef root)
{
    LLVMTypeRef type = NULL;
    uint64_t count = 1;

    if (LLVMIsAGlobalVariable(root)) {
        type = LLVMGlobalGetValueType(root);
    } else if (LLVMIsAArgument(root)) {
        type = byval_type(root);
    } else if (LLVMIsAConstantInt(LLVMGetOperand(root, 0))) {
        type = LLVMGetAllocatedType(root);
        count = LLVMConstIntGetZExtValue(LLVMGetOperand(root, 0));
    }
    return type && LLVMTypeIsSized(type) ? LLVMABISizeOfType(compilation->layout, type) * count : 0;
}

/* ---- the distance ---- */

static LLVMTypeRef i64(const struct compilation *compilation)
{
    return LLVMInt64TypeInContext(compilation->llvm);
}

/* What one index adds; `type` becomes that of what it selects. */
static LLVMValueRef index_bytes(const struct compilation *compilation, LLVMBuilderRef builder, LLVMTypeRef *type,
                                LLVMValueRef index)
{
    if (LLVMGetTypeKind(*type) == LLVMStructTypeKind) {
        uint32_t member = (uint32_t)LLVMConstIntGetZExtValue(index);
        uint64_t at = LLVMOffsetOfElement(compilation->layout, *type, member);
        *type = LLVMStructGetTypeAtIndex(*type, member);
        return LLVMConstInt(i64(compilation), at, 0);
    }
    *type = LLVMGetElementType(*type);
    LLVMValueRef bytes = LLVMConstInt(i64(compilation), LLVMABISizeOfType(compilation->layout, *type), 0);
    return LLVMBuildMul(builder, LLVMBuildIntCast2(builder, index, i64(compilation), 1, ""), bytes, "");
}

static LLVMValueRef element_offset(const struct compilation *compilation, LLVMBuilderRef builder, LLVMValueRef element)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(element);
    LLVMValueRef size = LLVMConstInt(i64(compilation), LLVMABISizeOfType(compilation->layout, type), 0);
    LLVMValueRef first = LLVMBuildIntCast2(builder, LLVMGetOperand(element, 1), i64(compilation), 1, "");
    LLVMValueRef sum = LLVMBuildMul(builder, first, size, "");

    for (int i = 2; i < LLVMGetNumOperands(element); i++) {
        LLVMValueRef part = index_bytes(compilation, builder, &type, LLVMGetOperand(element, (unsigned)i));
        sum = LLVMBuildAdd(builder, sum, part, "");
    }
    return sum;
}

/* The root as a pointer into the address space of `pointer`. */
static LLVMValueRef root_beside(LLVMBuilderRef builder, LLVMValueRef root, LLVMValueRef pointer)
{
    return ir_pointer_space(root) == ir_pointer_space(pointer)
               ? root
               : LLVMBuildAddrSpaceCast(builder, root, LLVMTypeOf(pointer), "");
}

LLVMValueRef object_offset(const struct compilation *compilation, LLVMBuilderRef builder, LLVMValueRef pointer,
                           LLVMValueRef root)
{
    LLVMValueRef sum = LLVMConstInt(i64(compilation), 0, 0);

    while (pointer != root && LLVMGetTypeKind(LLVMTypeOf(pointer)) == LLVMPointerTypeKind) {
        if (is_operation(pointer, LLVMGetElementPtr)) {
            sum = LLVMBuildAdd(builder, sum, element_offset(compilation, builder, pointer), "");
        } else if (!is_operation(pointer, LLVMAddrSpaceCast) && !is_operation(pointer, LLVMBitCast)) {
            break;
        }
        pointer = LLVMGetOperand(pointer, 0);
    }
    if (pointer == root) {
        return sum;
    }
    LLVMValueRef from = LLVMBuildPtrToInt(builder, root_beside(builder, root, pointer), i64(compilation), "");
    LLVMValueRef to = LLVMBuildPtrToInt(builder, pointer, i64(compilation), "");
    return LLVMBuildAdd(builder, sum, LLVMBuildSub(builder, to, from, ""), "");
}
