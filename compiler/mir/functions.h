/* SPDX-License-Identifier: MIT */
/*
 * Finds the functions that a kernel calls, which the source marks noinline, and lays out their frames. There is no
 * recursion, so each function has one frame at a known place in local memory: arguments, result and return address. It
 * lies behind the frames of what the function calls, so functions that never call each other share memory. Nothing
 * needs a stack. Callees are compiled first; callers do not use the registers that a callee clobbers.
 */
#ifndef COMPILER_MIR_FUNCTIONS_H
#define COMPILER_MIR_FUNCTIONS_H

#include "compiler/mir/mir.h"

struct function {
    LLVMValueRef function;
    const char *name;
    uint32_t *argument_at; /* offset in local memory of each argument's first element; elements take 8 bytes */
    uint32_t result_at;
    uint32_t return_at;
    uint32_t frame_end;             /* of all that the function, and what it calls, has in local memory */
    uint16_t clobbers[MIR_CLASSES]; /* machine registers below these are used, by what it calls too */
    struct mir *mir;
};

#define FUNCTION_ELEMENT_BYTES 8u

struct kernel_info;

/* Finds the functions that a kernel calls, callees first. Stops the compilation when there is a recursion. */
void function_find_all(struct compilation *compilation, struct kernel_info *kernel);
/* Where the frames of what the caller calls have ended, all of it compiled; 0: it calls nothing. */
uint32_t function_callees_end(const struct kernel_info *kernel, LLVMValueRef caller);
/* Lays out arguments, result and return address from `begin` on; where what follows begins. */
uint32_t function_lay_out(struct compilation *compilation, struct function *function, uint32_t begin);
/* Number of elements that a value of the type has, as selection counts them. */
uint32_t function_elements(LLVMTypeRef type);

#endif
