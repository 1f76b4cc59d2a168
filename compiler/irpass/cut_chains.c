/* SPDX-License-Identifier: MIT */
/*
 * Scalar evolution asks of each loop's bounds what they are outside of it, and walks back along all integers that they
 * were computed from; when a loop changes, it forgets all integers that were computed from what changed. With many
 * loops in a long computation both take time with the square of its length. A walk ends at a call that it knows
 * nothing of and at a value that is no integer, so a number is hidden in a float that a function without a body
 * returns. A chain's lengths are known from the order of the blocks: where a value stands before its operands, the
 * chain counts from there.
 */
#include "compiler/irpass/cut_chains.h"

#include "compiler/analysis/ir.h"
#include "ppu/macros.h"

#include <stdint.h>
#include <string.h>

/* How long the chain is that a value ends, by hashed value; of blocks: their numbers. */
struct chains {
    struct compilation *compilation;
    LLVMBuilderRef builder;
    struct chain_entry {
        LLVMValueRef value;
        uint32_t number;
    } * entries;
    uint32_t mask;
};

static struct chain_entry *chain_of(const struct chains *chains, LLVMValueRef value)
{
    uint32_t at = (uint32_t)((uintptr_t)value >> 4) * 2654435761u;

    while (chains->entries[at & chains->mask].value && chains->entries[at & chains->mask].value != value) {
        at++;
    }
    return &chains->entries[at & chains->mask];
}

static void set_chain(const struct chains *chains, LLVMValueRef value, uint32_t number)
{
    *chain_of(chains, value) = (struct chain_entry){ value, number };
}

/* True for what scalar evolution has numbers for. */
static bool is_counted(LLVMValueRef value)
{
    LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(value));

    return kind == LLVMIntegerTypeKind || kind == LLVMPointerTypeKind;
}

/* True for what LLVM can compute when its operands are constant, so that it looks at them. */
static bool is_followed(LLVMValueRef insn)
{
    if (LLVMIsACallInst(insn)) {
        return LLVMIsAFunction(LLVMGetCalledValue(insn)) && LLVMGetIntrinsicID(LLVMGetCalledValue(insn)) != 0;
    }
    return LLVMIsABinaryOperator(insn) || LLVMIsACastInst(insn) || LLVMIsACmpInst(insn) || LLVMIsASelectInst(insn) ||
           LLVMIsAGetElementPtrInst(insn) || LLVMIsALoadInst(insn) || LLVMIsAExtractValueInst(insn);
}

static uint32_t chain_length(const struct chains *chains, LLVMValueRef insn)
{
    uint32_t longest = 0;

    if (!is_counted(insn) || !is_followed(insn)) {
        return 0;
    }
    for (int i = 0; i < LLVMGetNumOperands(insn); i++) {
        longest = PPU_MAX(longest, chain_of(chains, LLVMGetOperand(insn, (unsigned)i))->number);
    }
    return longest + 1;
}

/* The function that hides integers of so many bits. */
static LLVMValueRef hiding_function(struct compilation *compilation, LLVMTypeRef type, LLVMTypeRef hidden)
{
    static const char *const attributes[] = { "memory",     "nounwind", "willreturn", "speculatable",
                                              "nocallback", "nofree",   "nosync" };
    const char *name = LLVMGetIntTypeWidth(type) == 32 ? CUT_CHAINS_PREFIX "32" : CUT_CHAINS_PREFIX "64";
    LLVMValueRef function = LLVMGetNamedFunction(compilation->module, name);

    if (function) {
        return function;
    }
    function = LLVMAddFunction(compilation->module, name, LLVMFunctionType(hidden, &type, 1, false));
    for (size_t i = 0; i < PPU_ARRAY_SIZE(attributes); i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(attributes[i], strlen(attributes[i]));
        LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(compilation->llvm, kind, 0));
    }
    return function;
}

static void hide(const struct chains *chains, LLVMValueRef insn)
{
    LLVMTypeRef type = LLVMTypeOf(insn);
    LLVMTypeRef hidden = LLVMGetIntTypeWidth(type) == 32 ? LLVMFloatTypeInContext(chains->compilation->llvm)
                                                         : LLVMDoubleTypeInContext(chains->compilation->llvm);
    LLVMValueRef function = hiding_function(chains->compilation, type, hidden), none = LLVMGetUndef(type);

    LLVMPositionBuilderBefore(chains->builder, LLVMGetNextInstruction(insn));
    LLVMValueRef call = LLVMBuildCall2(chains->builder, LLVMGlobalGetValueType(function), function, &none, 1, "");
    LLVMReplaceAllUsesWith(insn, LLVMBuildBitCast(chains->builder, call, type, ""));
    LLVMSetOperand(call, 0, insn);
}

static void cut_instruction(const struct chains *chains, LLVMValueRef insn)
{
    uint32_t length = chain_length(chains, insn), bits = ir_bits_of_integer(insn);

    if (length >= CUT_CHAINS_LENGTH && (bits == 32 || bits == 64)) {
        hide(chains, insn);
        length = 0;
    }
    set_chain(chains, insn, length);
}

/* Branches that lead back in the order of the blocks. Numbers the blocks. */
static uint32_t count_loops(struct chains *chains, LLVMValueRef function)
{
    uint32_t loops = 0, number = 0;

    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        set_chain(chains, LLVMBasicBlockAsValue(b), ++number);
        for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++) {
            loops += chain_of(chains, LLVMBasicBlockAsValue(LLVMGetSuccessor(end, s)))->number != 0;
        }
    }
    return loops;
}

/* Room for all values of the function, and for its blocks. */
static struct chains chains_new(struct compilation *compilation, uint32_t instructions)
{
    struct chains chains = { .compilation = compilation, .mask = 1 };

    while (chains.mask < 4 * instructions) {
        chains.mask = chains.mask * 2 + 1;
    }
    chains.entries = arena_new(&compilation->arena, struct chain_entry, chains.mask + 1);
    return chains;
}

static void cut_function(struct chains *chains, LLVMValueRef function)
{
    chains->builder = LLVMCreateBuilderInContext(chains->compilation->llvm);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            cut_instruction(chains, i);
        }
    }
    LLVMDisposeBuilder(chains->builder);
}

void cut_chains(struct compilation *compilation, LLVMValueRef function)
{
    const uint32_t instructions = ir_count_instructions(function);

    if (instructions < CUT_CHAINS_INSNS) {
        return;
    }
    struct chains chains = chains_new(compilation, instructions);
    if (count_loops(&chains, function) >= CUT_CHAINS_LOOPS) {
        cut_function(&chains, function);
    }
}

/* Loads and stores of the block that has most of them. */
static uint32_t most_accesses(LLVMValueRef function)
{
    uint32_t most = 0;

    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        uint32_t accesses = 0;
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            accesses += LLVMIsALoadInst(i) || LLVMIsAStoreInst(i);
        }
        most = PPU_MAX(most, accesses);
    }
    return most;
}

void cut_chains_of_addresses(struct compilation *compilation, LLVMValueRef function)
{
    if (most_accesses(function) >= CUT_CHAINS_ACCESSES) {
        struct chains chains = chains_new(compilation, ir_count_instructions(function));
        count_loops(&chains, function);
        cut_function(&chains, function);
    }
}

/* The number takes the place of what was made of the float again, and of the float where LLVM has kept that. */
static void show(LLVMBuilderRef builder, LLVMValueRef call)
{
    LLVMValueRef number = LLVMGetOperand(call, 0);

    for (LLVMUseRef use = LLVMGetFirstUse(call), next; use; use = next) {
        LLVMValueRef user = LLVMGetUser(use);
        next = LLVMGetNextUse(use);
        if (ir_is_instruction(user, LLVMBitCast) && LLVMTypeOf(user) == LLVMTypeOf(number)) {
            LLVMReplaceAllUsesWith(user, number);
            LLVMInstructionEraseFromParent(user);
        }
    }
    if (LLVMGetFirstUse(call)) {
        LLVMPositionBuilderBefore(builder, call);
        LLVMReplaceAllUsesWith(call, LLVMBuildBitCast(builder, number, LLVMTypeOf(call), ""));
    }
    LLVMInstructionEraseFromParent(call);
}

void cut_chains_join(struct compilation *compilation)
{
    static const char *const names[] = { CUT_CHAINS_PREFIX "32", CUT_CHAINS_PREFIX "64" };
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(compilation->llvm);

    for (size_t i = 0; i < PPU_ARRAY_SIZE(names); i++) {
        LLVMValueRef function = LLVMGetNamedFunction(compilation->module, names[i]);
        if (!function) {
            continue;
        }
        for (LLVMUseRef use; (use = LLVMGetFirstUse(function));) {
            show(builder, LLVMGetUser(use));
        }
        LLVMDeleteFunction(function);
    }
    LLVMDisposeBuilder(builder);
}
