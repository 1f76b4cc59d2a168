/* SPDX-License-Identifier: MIT */
/*
 * Selects instructions (instruction selection): LLVM IR becomes machine IR. A value is a run of elements: those of a
 * vector or a structure, and one for all others. An element is a constant, or a register, with what is still to be
 * added to it when it is an address.
 */
#ifndef COMPILER_ISEL_SELECT_H
#define COMPILER_ISEL_SELECT_H

#include "compiler/analysis/ir.h"
#include "compiler/base/kernel.h"
#include "compiler/base/primitive.h"
#include "compiler/mir/functions.h"
#include "compiler/mir/mir.h"

enum element_kind {
    ELEMENT_UNDEFINED,
    ELEMENT_CONSTANT, /* add */
    ELEMENT_REGISTER, /* ref + lane (unsigned; of a size: signed, times that) + add */
};

/* Says what the bits of a register above an integer's width hold. */
enum element_above {
    ABOVE_ANYTHING,
    ABOVE_ZEROS,
    ABOVE_SIGN,
};

struct element {
    enum element_kind kind;
    enum element_above above;
    uint8_t words;       /* 1 or 2 */
    uint8_t lane_size;   /* 0: the lane's part is an offset in bytes */
    struct mir_ref ref;  /* a predicate for i1 */
    struct mir_ref lane; /* addresses: a 32-bit offset or index of each lane, reg 0: none */
    uint64_t add;        /* of constants the value */
};

struct constant {
    uint64_t value;
    uint32_t words;
    struct mir_ref ref;
    uint32_t data; /* 1 + index of the variable whose address it is; 0: a number */
};

/* An index times a size behind a register, in 32 bits. */
struct offset {
    LLVMValueRef index;
    uint64_t size;
    struct mir_ref from; /* reg 0: behind nothing */
    bool scalar;         /* what it is made for */
    uint32_t block;      /* where it is made */
    struct mir_ref ref;
};

struct isel {
    struct compilation *compilation;
    struct kernel_info *kernel;
    struct ir *ir;
    struct mir *mir;
    struct element **values; /* elements of each value of the IR */
    uint32_t block;          /* where instructions go */
    uint32_t site;           /* of the source (compiler/debug/site.h) */
    uint32_t entry_site;     /* of the function */
    uint32_t number;         /* of the value being selected, IR_NO_VALUE for none */
    bool scalar;             /* it is scalar */
    struct constant *pool;   /* constants in scalar registers, loaded at the beginning */
    uint32_t pool_count;
    unsigned pool_cap;
    uint32_t pool_words;
    uint32_t pool_limit;
    struct offset *offsets;
    uint32_t offset_count;
    unsigned offset_cap;
    const struct function *function; /* NULL: the kernel itself */
    struct mir_ref code_base;        /* where the code lies, reg 0: not asked for yet */
    struct mir_ref variable_base;    /* the same of the program's variables */
    struct mir_ref block_base;       /* the same of the block of arguments */
    uint32_t *loaded_in;             /* of each argument outside: 1 + the block where it was loaded last; 0: none */
};

/*
 * The kernel, or a function that it calls, as machine IR. `function`: NULL for the kernel itself. `pool_limit`: words
 * of constants that may stay in scalar registers.
 */
struct mir *select_function(struct compilation *compilation, struct kernel_info *kernel,
                            const struct function *function, struct ir *ir, uint32_t pool_limit);

/* ---- select.c: values ---- */

uint32_t select_elements(struct isel *s, LLVMTypeRef type);
LLVMTypeRef select_element_type(struct isel *s, LLVMTypeRef type, uint32_t index);
struct element select_element(struct isel *s, LLVMValueRef value, uint32_t index);
void select_set(struct isel *s, LLVMValueRef value, uint32_t index, struct element element);

struct element element_constant(uint64_t value, uint32_t words);
static inline struct element element_number(uint32_t value)
{
    return element_constant(value, 1);
}
struct element element_register(struct mir_ref ref, uint32_t words);
/* Low or high half of an element of two words. */
struct element element_half(struct element element, uint32_t half);

/* A new register for the value being selected: scalar when it is. */
struct mir_ref select_new(struct isel *s, uint32_t words);
struct mir_ref select_new_pred(struct isel *s);
/* The element in a register, with everything added. */
struct mir_ref select_reg(struct isel *s, struct element element);
struct mir_ref select_pred(struct isel *s, struct element element);
struct mir_insn *select_add(struct isel *s, const struct mir_insn *insn);
void select_copy(struct isel *s, struct mir_ref to, struct element from, uint32_t words);
struct mir_ref select_register(struct isel *s, uint32_t number); /* a special register */

/* d = a op b, constants folded into the instruction where it has room for them. */
struct element select_op(struct isel *s, enum ppu_op op, struct element a, struct element b);
struct element select_op1(struct isel *s, enum ppu_op op, struct element a);
struct element select_op3(struct isel *s, enum ppu_op op, struct element a, struct element b, struct element c);
struct element select_compare(struct isel *s, enum ppu_op op, uint32_t kind, struct element a, struct element b);
struct element select_choose(struct isel *s, struct element pred, struct element a, struct element b);
struct element select_logic(struct isel *s, enum ppu_op op, struct element a, struct element b);
struct element element_not(struct element pred);

/* ---- select_alu.c ---- */

/* The element with the bits above `bits` made zeros or copies of the sign. */
struct element select_extend(struct isel *s, struct element element, uint32_t bits, bool is_signed);
/* An integer of `bits` made `words` words wide. */
struct element select_widen(struct isel *s, struct element element, uint32_t bits, uint32_t words, bool is_signed);
struct element select_convert(struct isel *s, enum ppu_type to, enum ppu_type from, enum ppu_round round,
                              struct element element);
/* One element of a bitcast, an instruction or a constant. */
struct element select_bitcast_element(struct isel *s, LLVMValueRef value, uint32_t index);
/* The value of a constant expression that is a number; false: there is no code for its operation. */
bool select_constant_expression(struct isel *s, LLVMValueRef value, struct element *done);
bool select_alu(struct isel *s, LLVMValueRef value);

/* ---- select_half.c ---- */

/* One element of an intrinsic whose first operand is half; false: half has no code of its own for it. */
bool select_half(struct isel *s, LLVMValueRef call, const char *name, uint32_t i, struct element *done);

/* ---- select_memory.c ---- */
bool select_memory(struct isel *s, LLVMValueRef value);
struct element select_pointer(struct isel *s, LLVMValueRef pointer);
struct element select_parameter(struct isel *s, uint32_t offset, uint32_t words);
/* Loads an argument of the kernel that lies outside of the parameters, where it is asked for, once in a block.
 * `number`: among values. */
void select_outside(struct isel *s, uint32_t number);
struct element select_implicit_arg(struct isel *s, uint32_t offset, uint32_t words);
/* All elements of a value to or from local memory, 8 bytes each: how functions get and give values. */
void select_put_all(struct isel *s, LLVMValueRef value, uint32_t offset);
void select_get_all(struct isel *s, LLVMValueRef value, uint32_t offset);
void select_memory_call(struct isel *s, LLVMValueRef call, const char *name);

/* ---- select_task.c ---- */

/* False: the primitive has nothing to do with tasks. */
bool select_task(struct isel *s, LLVMValueRef call, enum primitive primitive);

/* ---- select_call.c ---- */
void select_call(struct isel *s, LLVMValueRef call);

#endif
