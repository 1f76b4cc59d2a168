/* SPDX-License-Identifier: MIT */
/*
 * Lowers device-side enqueue (enqueue_kernel). clang calls functions that it only declares, gives queues and events
 * types of their own, and names what is enqueued by the function's address. Here queues and events become addresses,
 * calls become calls of the device library (device-lib/opencl/enqueue.cl), and each kernel that is enqueued gets a
 * struct ppu_child.
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
/* Returns the constant that describes the function when threads enqueue it, else NULL. */
LLVMValueRef lower_enqueue_child(const struct compilation *compilation, LLVMValueRef function);
/* True when kernels of the program are enqueued by threads. After lower_enqueue_calls(). */
bool lower_enqueue_has_children(const struct compilation *compilation);

#endif
