/* SPDX-License-Identifier: MIT */
/*
 * Kernels that enqueue kernels. clang calls functions that it declares only, gives queues and events types of their
 * own, and names what is enqueued by the function's address: this makes addresses of queues and events, calls of the
 * device library (device-lib/opencl/enqueue.cl), and a struct ppu_child for each kernel that is enqueued.
 */
#ifndef COMPILER_IRPASS_LOWER_ENQUEUE_H
#define COMPILER_IRPASS_LOWER_ENQUEUE_H

#include "compiler/base/compilation.h"

/* A kernel that threads enqueue, and the constant that describes it. */
struct enqueued_child {
    LLVMValueRef function, variable;
};

/* Before the library is linked. The module may become another one. */
void lower_enqueue_calls(struct compilation *compilation);
/* After the library was linked: its functions are others than those that were declared. */
void lower_enqueue_linked(struct compilation *compilation);
/* What describes the function when threads enqueue it, else NULL. */
LLVMValueRef lower_enqueue_child(const struct compilation *compilation, LLVMValueRef function);

#endif
