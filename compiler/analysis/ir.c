/* SPDX-License-Identifier: MIT */
#include "compiler/analysis/ir.h"

#include <string.h>

#define SPIR_KERNEL 76u /* LLVM's number of the calling convention */

struct ir_entry {
    const void *key;
    uint32_t number;
};

static struct ir_entry *find_entry(const struct ir *ir, const void *key)
{
    uint32_t at = (uint32_t)((uintptr_t)key >> 4) * 2654435761u % ir->entry_count;

    while (ir->entries[at].key && ir->entries[at].key != key) {
        at = (at + 1) % ir->entry_count;
    }
    return &ir->entries[at];
}

uint32_t ir_value(const struct ir *ir, LLVMValueRef value)
{
    const struct ir_entry *entry = find_entry(ir, value);

    return !entry->key ? IR_NO_VALUE : entry->number;
}

uint32_t ir_block(const struct ir *ir, LLVMBasicBlockRef block)
{
    const struct ir_entry *entry = find_entry(ir, block);

    return !entry->key ? FLOW_NONE : entry->number;
}

/* Number of the first instruction in the block or, where it has none, behind it. */
static uint32_t first_value(const struct ir *ir, uint32_t block)
{
    uint32_t first = ir->argument_count, last = ir->value_count;

    while (first < last) {
        uint32_t middle = first + (last - first) / 2;
        if (ir->block_of[middle] < block) {
            first = middle + 1;
        } else {
            last = middle;
        }
    }
    return first;
}

uint32_t ir_loop_begin(const struct ir *ir, uint32_t loop)
{
    return first_value(ir, ir->flow->loops[loop].header);
}

uint32_t ir_loop_end(const struct ir *ir, uint32_t loop)
{
    return first_value(ir, ir->flow->loops[loop].end);
}

static void add_value(struct ir *ir, LLVMValueRef value, uint32_t block)
{
    *find_entry(ir, value) = (struct ir_entry){ value, ir->value_count };
    ir->values[ir->value_count] = value;
    ir->block_of[ir->value_count++] = block;
}

uint32_t ir_count_instructions(LLVMValueRef function)
{
    uint32_t count = 0;

    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            count++;
        }
    }
    return count;
}

/* The flow graph, and the blocks in its order. */
static void find_flow(struct ir *ir)
{
    struct arena *arena = &ir->compilation->arena;
    uint32_t count = LLVMCountBasicBlocks(ir->function);
    LLVMBasicBlockRef *blocks = arena_new(arena, LLVMBasicBlockRef, count);
    uint32_t(*succ)[2] = arena_alloc(arena, count * sizeof(*succ));
    uint32_t *succs = arena_new(arena, uint32_t, count), *order = arena_new(arena, uint32_t, count);

    LLVMGetBasicBlocks(ir->function, blocks);
    for (uint32_t b = 0; b < count; b++) { /* by LLVM's order first */
        *find_entry(ir, blocks[b]) = (struct ir_entry){ blocks[b], b };
    }
    for (uint32_t b = 0; b < count; b++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(blocks[b]);
        succs[b] = LLVMGetNumSuccessors(end);
        if (succs[b] > 2) {
            compilation_fail_value(ir->compilation, "compile a value: there is no code for a branch with many targets",
                                   end);
        }
        for (uint32_t s = 0; s < succs[b]; s++) {
            succ[b][s] = ir_block(ir, LLVMGetSuccessor(end, s));
        }
    }
    ir->flow = flow_new(arena, count, (const uint32_t(*)[2])succ, succs, order);
    if (!ir->flow) {
        compilation_fail(ir->compilation, PPU_COMPILE_UNSUPPORTED, "kernel '%s': a loop has two entries", ir->name);
    }
    ir->blocks = arena_new(arena, LLVMBasicBlockRef, ir->flow->count);
    for (uint32_t b = 0; b < ir->flow->count; b++) {
        ir->blocks[b] = blocks[order[b]];
        *find_entry(ir, ir->blocks[b]) = (struct ir_entry){ ir->blocks[b], b };
    }
}

struct ir *ir_new(struct compilation *compilation, LLVMValueRef function)
{
    struct ir *ir = arena_new(&compilation->arena, struct ir, 1);
    size_t name_len;

    ir->compilation = compilation;
    ir->function = function;
    ir->name = LLVMGetValueName2(function, &name_len);
    ir->argument_count = LLVMCountParams(function);
    uint32_t values = ir->argument_count + ir_count_instructions(function);
    ir->entry_count = 2 * (values + LLVMCountBasicBlocks(function)) + 1;
    ir->entries = arena_new(&compilation->arena, struct ir_entry, ir->entry_count);
    ir->values = arena_new(&compilation->arena, LLVMValueRef, values);
    ir->block_of = arena_new(&compilation->arena, uint32_t, values);
    ir->scalar = arena_new(&compilation->arena, bool, values);
    ir->force = arena_new(&compilation->arena, bool, values);
    find_flow(ir);
    ir->flow->parted = !ir_is_kernel(function);
    for (uint32_t i = 0; i < ir->argument_count; i++) {
        add_value(ir, LLVMGetParam(function, i), 0);
    }
    for (uint32_t b = 0; b < ir->flow->count; b++) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(ir->blocks[b]); i; i = LLVMGetNextInstruction(i)) {
            add_value(ir, i, b);
        }
    }
    return ir;
}

/* ---- questions ---- */

bool ir_is_kernel(LLVMValueRef function)
{
    return !LLVMIsDeclaration(function) && LLVMGetFunctionCallConv(function) == SPIR_KERNEL;
}

bool ir_is_instruction(LLVMValueRef value, LLVMOpcode opcode)
{
    return LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == opcode;
}

const char *ir_callee(LLVMValueRef call)
{
    size_t len;
    LLVMValueRef callee = LLVMGetCalledValue(call);

    return LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &len) : "";
}

LLVMValueRef ir_called(LLVMValueRef value)
{
    LLVMValueRef callee = ir_is_instruction(value, LLVMCall) ? LLVMGetCalledValue(value) : NULL;

    return callee && LLVMIsAFunction(callee) && !LLVMIsDeclaration(callee) ? callee : NULL;
}

void ir_each_instruction(LLVMValueRef function, void (*visit)(LLVMValueRef insn, void *opaque), void *opaque)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            visit(i, opaque);
        }
    }
}

LLVMValueRef ir_pointer_of(LLVMValueRef insn)
{
    return ir_is_instruction(insn, LLVMLoad)    ? LLVMGetOperand(insn, 0)
           : ir_is_instruction(insn, LLVMStore) ? LLVMGetOperand(insn, 1)
                                                : NULL;
}

uint32_t ir_pointer_space(LLVMValueRef pointer)
{
    return LLVMGetPointerAddressSpace(LLVMTypeOf(pointer));
}

bool ir_is_byval(LLVMValueRef argument)
{
    LLVMValueRef function = LLVMGetParamParent(argument);
    uint32_t kind = LLVMGetEnumAttributeKindForName("byval", 5);

    if (LLVMGetTypeKind(LLVMTypeOf(argument)) != LLVMPointerTypeKind || ir_pointer_space(argument) != SPACE_PRIVATE) {
        return false; /* at once: there may be thousands */
    }
    for (uint32_t i = 0; i < LLVMCountParams(function); i++) {
        if (LLVMGetParam(function, i) == argument) {
            return LLVMGetEnumAttributeAtIndex(function, i + 1, kind);
        }
    }
    return false;
}

bool ir_is_invariant(const struct ir *ir, uint32_t loop, LLVMValueRef value)
{
    uint32_t number = ir_value(ir, value);

    if (number == IR_NO_VALUE) { /* instructions made since are of the loops */
        return !LLVMIsAInstruction(value);
    }
    return number < ir->argument_count || !flow_in_loop(ir->flow, loop, ir->block_of[number]);
}

uint32_t ir_bits_of_integer(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);

    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(type) : 0;
}

static bool is_operation(LLVMValueRef value, LLVMOpcode opcode)
{
    return ir_is_instruction(value, opcode) || (LLVMIsAConstantExpr(value) && LLVMGetConstOpcode(value) == opcode);
}

/* SPIR-V has types of pointers; what converts one to another stays until LLVM's passes drop it. */
static bool is_pointer_bitcast(LLVMValueRef value)
{
    return is_operation(value, LLVMBitCast) && LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind;
}

LLVMValueRef ir_base(LLVMValueRef pointer)
{
    while (is_operation(pointer, LLVMGetElementPtr) || is_operation(pointer, LLVMAddrSpaceCast) ||
           is_pointer_bitcast(pointer)) {
        pointer = LLVMGetOperand(pointer, 0);
    }
    return pointer;
}

struct followed {
    LLVMValueRef choice;
    const struct followed *before;
};

enum leads { LEADS_AROUND, LEADS_ELSEWHERE, LEADS_TO_PARAMETERS };

/*
 * Whether a private pointer leads to what the kernel got by value. Of a choice between pointers the first tells it that
 * does not come back to a choice before: after copy_arguments() all lead to the parameters, or none.
 */
static enum leads where_to(LLVMValueRef base, const struct followed *before)
{
    const struct followed here = { base, before };
    const bool phi = ir_is_instruction(base, LLVMPHI);
    enum leads leads = LEADS_AROUND;

    if (!phi && !ir_is_instruction(base, LLVMSelect)) {
        const bool argument = LLVMIsAArgument(base) && ir_is_kernel(LLVMGetParamParent(base));
        return argument ? LEADS_TO_PARAMETERS : LEADS_ELSEWHERE;
    }
    for (const struct followed *at = before; at; at = at->before) {
        if (at->choice == base) {
            return LEADS_AROUND;
        }
    }
    for (uint32_t i = 0; i < (phi ? LLVMCountIncoming(base) : 2) && leads == LEADS_AROUND; i++) {
        leads = where_to(ir_base(phi ? LLVMGetIncomingValue(base, i) : LLVMGetOperand(base, i + 1)), &here);
    }
    return leads;
}

static bool is_in_parameters(LLVMValueRef base)
{
    return where_to(base, NULL) == LEADS_TO_PARAMETERS;
}

enum ir_memory ir_memory_of(LLVMValueRef pointer)
{
    LLVMValueRef base = ir_base(pointer);

    if (LLVMGetTypeKind(LLVMTypeOf(base)) != LLVMPointerTypeKind) {
        base = pointer;
    }
    switch (ir_pointer_space(base)) {
    case SPACE_PRIVATE:
        return is_in_parameters(base) ? IR_PARAM : IR_LOCAL;
    case SPACE_LOCAL:
        return IR_SHARED;
    case SPACE_GENERIC:
        return LLVMIsAGlobalVariable(base) ? IR_GLOBAL : IR_UNIFIED;
    default:
        return IR_GLOBAL;
    }
}

uint32_t ir_bits(const struct compilation *compilation, LLVMTypeRef type)
{
    switch (LLVMGetTypeKind(type)) {
    case LLVMIntegerTypeKind:
        return LLVMGetIntTypeWidth(type);
    case LLVMHalfTypeKind:
        return 16;
    case LLVMFloatTypeKind:
        return 32;
    case LLVMDoubleTypeKind:
        return 64;
    case LLVMPointerTypeKind:
        return LLVMGetPointerAddressSpace(type) == SPACE_LOCAL || LLVMGetPointerAddressSpace(type) == SPACE_PRIVATE
                   ? 32
                   : 64;
    default:
        return (uint32_t)LLVMSizeOfTypeInBits(compilation->layout, type);
    }
}
