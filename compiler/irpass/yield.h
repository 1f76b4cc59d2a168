/* SPDX-License-Identifier: MIT */
/*
 * Places YIELD in loops (E8). A loop whose end may depend on another thread must let the lanes that it waits for go on;
 * a loop that ends after a number of turns fixed when it is entered need not.
 */
#ifndef COMPILER_IRPASS_YIELD_H
#define COMPILER_IRPASS_YIELD_H

#include "compiler/base/compilation.h"

/*
 * In the latches of loops that look at memory others write (compare-and-swap, atomics whose result is used, volatile
 * and atomic loads). Before any pass that changes the flow graph: the call is convergent, which keeps a critical
 * section inside the loop where the programmer wrote it.
 */
void yield_wait_loops(struct compilation *compilation, LLVMValueRef function);

/* In the latches of all other loops whose number of turns has no bound known at entry. After optimisation. */
void yield_unbounded_loops(struct compilation *compilation, LLVMValueRef function);

/* A kernel's first block has its arguments and constants, which are for the whole warp: it has no yields then. */
void yield_keep_entry(struct compilation *compilation, LLVMValueRef function);

#endif
