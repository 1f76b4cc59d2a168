/* SPDX-License-Identifier: MIT */
/* Numbers the basic blocks and values of a kernel of the LLVM module, and answers what passes ask about values. */
#ifndef COMPILER_ANALYSIS_IR_H
#define COMPILER_ANALYSIS_IR_H

#include "compiler/analysis/flow.h"
#include "compiler/base/compilation.h"

struct ir {
    struct compilation *compilation;
    LLVMValueRef function;
    const char *name;
    struct flow *flow;
    LLVMBasicBlockRef *blocks; /* by the flow's numbers */
    LLVMValueRef *values;      /* arguments, then instructions in the order of the blocks */
    uint32_t *block_of;        /* of each value; 0 for arguments */
    uint32_t value_count;
    uint32_t argument_count;
    struct ir_entry *entries; /* hash table of values and blocks */
    uint32_t entry_count;
    bool *scalar; /* of each value: the same for all lanes, and computed where the warp is together */
    bool *force;  /* of each value: kept out of scalar registers */
    bool bare;    /* no block is left to if-conversion to be guarded (flow.h) */
};

#define IR_NO_VALUE 0xffffffffu

/* Names the memory that an access reaches; the IR has fewer address spaces, as it calls parameters private. */
enum ir_memory {
    IR_GLOBAL,
    IR_SHARED,
    IR_LOCAL,
    IR_PARAM,
    IR_UNIFIED,
};

struct ir *ir_new(struct compilation *compilation, LLVMValueRef function);

/* Number of an argument or instruction, IR_NO_VALUE: it is neither. */
uint32_t ir_value(const struct ir *ir, LLVMValueRef value);
uint32_t ir_block(const struct ir *ir, LLVMBasicBlockRef block);

bool ir_is_kernel(LLVMValueRef function);
bool ir_is_instruction(LLVMValueRef value, LLVMOpcode opcode);
/* The loop's instructions, and those of blocks that only stand among its own, are [begin, end). */
uint32_t ir_loop_begin(const struct ir *ir, uint32_t loop);
uint32_t ir_loop_end(const struct ir *ir, uint32_t loop);
/* True when no instruction of the loop makes the value. */
bool ir_is_invariant(const struct ir *ir, uint32_t loop, LLVMValueRef value);
/* Width of a value that is an integer, 0: it is something else. */
uint32_t ir_bits_of_integer(LLVMValueRef value);
/* Name of the function that a call calls; "" for others. */
const char *ir_callee(LLVMValueRef call);
/* The function with a body that an instruction calls, NULL: it does not. */
LLVMValueRef ir_called(LLVMValueRef value);
/* True when lanes that are together may part at it, as at a call of a function that yields. */
bool ir_may_yield(LLVMValueRef value);
/* Instructions of all blocks of a function. */
uint32_t ir_count_instructions(LLVMValueRef function);
/* True for instructions that become few of the machine's, of which each can be guarded. */
bool ir_may_be_guarded(LLVMValueRef insn);
/* How many of them a block may have whose threads end then, so that if-conversion guards it (flow.h). */
#define IR_MOST_GUARDED 10u
/* Visits each instruction of the function; the visitor may replace or remove the one it is given. */
void ir_each_instruction(LLVMValueRef function, void (*visit)(LLVMValueRef insn, void *opaque), void *opaque);
/* The pointer that a load or store goes through, NULL: it is neither. */
LLVMValueRef ir_pointer_of(LLVMValueRef insn);
uint32_t ir_pointer_space(LLVMValueRef pointer);
/* The memory an access through the pointer reaches. */
enum ir_memory ir_memory_of(LLVMValueRef pointer);
/* The pointer without casts between address spaces and offsets. */
LLVMValueRef ir_base(LLVMValueRef pointer);
bool ir_is_byval(LLVMValueRef argument);
/* Bits of an integer, half, float, double or pointer, as the IR has them. */
uint32_t ir_bits(const struct compilation *compilation, LLVMTypeRef type);

/* Finds scalar values and convergent blocks, and places the tokens (flow.h). */
void ir_find_scalars(struct ir *ir);

#endif
