/* SPDX-License-Identifier: MIT */
#include "compiler/analysis/access_summary.h"

#include "compiler/analysis/access_pattern.h"
#include "compiler/analysis/ir.h"
#include "compiler/analysis/launch_shape.h"
#include "ppu/macros.h"

#include <string.h>

/* Pointers made from the argument, found so far. */
struct pointers {
    struct compilation *compilation;
    LLVMValueRef *list;
    uint32_t count;
    unsigned cap;
    uint8_t element_log2; /* of the smallest access so far */
    bool elsewhere;       /* loads and stores are not its only accesses */
};

#define MOST_ELEMENT_LOG2 4u
#define BOUND_DEPTH 6u

static void add_pointer(struct pointers *p, LLVMValueRef pointer)
{
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->list[i] == pointer) {
            return;
        }
    }
    p->list = arena_grow(&p->compilation->arena, p->list, sizeof(LLVMValueRef), p->count, &p->cap);
    p->list[p->count++] = pointer;
}

static void note_element(struct pointers *p, LLVMTypeRef type)
{
    uint64_t bytes = LLVMStoreSizeOfType(p->compilation->layout,
                                         LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type);
    uint8_t log = 0;

    while (log < MOST_ELEMENT_LOG2 && bytes % (2ull << log) == 0) {
        log++;
    }
    p->element_log2 = PPU_MIN(log, p->element_log2);
}

#define BOTH (PPU_REFERENCE_READ | PPU_REFERENCE_WRITE)

static uint8_t call_access(LLVMValueRef call, LLVMValueRef pointer)
{
    const char *name = ir_callee(call);
    bool copy = strncmp(name, "llvm.memcpy.", 12) == 0, fill = strncmp(name, "llvm.memset.", 12) == 0;

    if (copy || fill) {
        return (uint8_t)((LLVMGetOperand(call, 0) == pointer ? PPU_REFERENCE_WRITE : 0) |
                         (copy && LLVMGetOperand(call, 1) == pointer ? PPU_REFERENCE_READ : 0));
    }
    if (strncmp(name, "llvm.lifetime.", 14) == 0 || strncmp(name, "llvm.assume", 11) == 0) {
        return 0;
    }
    return BOTH | PPU_REFERENCE_ESCAPES;
}

/* Notes what one use of a pointer does. Pointers that it makes are followed. */
static uint8_t use_access(struct pointers *p, LLVMValueRef user, LLVMValueRef pointer)
{
    if (!LLVMIsAInstruction(user)) {
        return BOTH | PPU_REFERENCE_ESCAPES;
    }
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMLoad:
        note_element(p, LLVMTypeOf(user));
        return PPU_REFERENCE_READ;
    case LLVMStore:
        note_element(p, LLVMTypeOf(LLVMGetOperand(user, 0)));
        return LLVMGetOperand(user, 0) == pointer ? BOTH | PPU_REFERENCE_ESCAPES : PPU_REFERENCE_WRITE;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        p->elsewhere = true;
        note_element(p, LLVMTypeOf(LLVMGetOperand(user, 1)));
        return LLVMGetOperand(user, 0) == pointer ? BOTH : BOTH | PPU_REFERENCE_ESCAPES;
    case LLVMGetElementPtr:
    case LLVMAddrSpaceCast:
    case LLVMPHI:
    case LLVMSelect:
    case LLVMFreeze:
        add_pointer(p, user);
        return 0;
    case LLVMICmp:
        return 0;
    case LLVMCall:
        p->elsewhere = true;
        p->element_log2 = 0;
        return call_access(user, pointer);
    default:
        p->element_log2 = 0;
        return BOTH | PPU_REFERENCE_ESCAPES;
    }
}

static struct access_patterns patterns_of_argument(LLVMValueRef argument)
{
    LLVMValueRef function = LLVMGetParamParent(argument);
    uint32_t i = 0;

    while (LLVMGetParam(function, i) != argument) {
        i++;
    }
    return access_pattern_of(function, i);
}

struct access_summary access_summary_of(struct compilation *compilation, LLVMValueRef argument)
{
    struct pointers p = { .compilation = compilation, .element_log2 = MOST_ELEMENT_LOG2 };
    uint8_t access = 0;

    add_pointer(&p, argument);
    for (uint32_t i = 0; i < p.count; i++) {
        LLVMValueRef pointer = p.list[i];
        for (LLVMUseRef use = LLVMGetFirstUse(pointer); use; use = LLVMGetNextUse(use)) {
            access |= use_access(&p, LLVMGetUser(use), pointer);
        }
    }
    if (access == 0) {
        return (struct access_summary){ .access = 0 };
    }
    /* What is done elsewhere with an address that escapes, or by an atomic operation, has no pattern. */
    bool elsewhere = (access & PPU_REFERENCE_ESCAPES) != 0 || p.elsewhere;
    struct access_patterns patterns = { .by = PPU_REFERENCE_BY_ANY };
    patterns = elsewhere ? patterns : patterns_of_argument(argument);
    return (struct access_summary){ (uint8_t)(access | patterns.by), p.element_log2, patterns.reach };
}

/* ---- values ---- */

static bool depends_on(LLVMValueRef value, LLVMValueRef argument, uint32_t depth)
{
    if (value == argument) {
        return true;
    }
    if (!LLVMIsAInstruction(value) || depth == 0 || ir_is_instruction(value, LLVMLoad) ||
        ir_is_instruction(value, LLVMPHI)) {
        return false;
    }
    for (int i = 0; i < LLVMGetNumOperands(value); i++) {
        LLVMValueRef operand = LLVMGetOperand(value, (unsigned)i);
        if (!LLVMValueIsBasicBlock(operand) && depends_on(operand, argument, depth - 1)) {
            return true;
        }
    }
    return false;
}

/* True for the branch at the end of a block of a loop whose one way leads out of it. */
static bool leaves_loop(const struct flow *flow, uint32_t block)
{
    uint32_t loop = flow->blocks[block].loop;

    for (uint32_t i = 0; loop != FLOW_NONE && i < flow->blocks[block].succs; i++) {
        if (!flow_in_loop(flow, loop, flow->blocks[block].succ[i])) {
            return true;
        }
    }
    return false;
}

static bool ends_loop(const struct ir *ir, LLVMValueRef argument)
{
    for (uint32_t b = 0; b < ir->flow->count; b++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(ir->blocks[b]);
        if (leaves_loop(ir->flow, b) && ir_is_instruction(end, LLVMBr) && LLVMIsConditional(end) &&
            depends_on(LLVMGetCondition(end), argument, BOUND_DEPTH)) {
            return true;
        }
    }
    return false;
}

uint8_t access_summary_of_value(const struct ir *ir, LLVMValueRef argument)
{
    uint8_t compared = shape_compared(argument);
    uint32_t access = ends_loop(ir, argument) ? PPU_REFERENCE_BOUND : 0;

    for (uint32_t d = 0; d < 3; d++) {
        access |= (compared >> d & 1) != 0 ? PPU_REFERENCE_IDS(d) : 0;
    }
    return (uint8_t)access;
}
