/* SPDX-License-Identifier: MIT */
/*
 * Kernels that enqueue kernels. clang calls functions that it declares only, gives queues and events types of their
 * own, and names what is enqueued by the function's address: this makes addresses of queues and events, calls of the
 * device library (device-lib/opencl/enqueue.cl), and a struct ppu_child for each kernel that is enqueued.
 */
#ifndef COMPILER_IRPASS_LOWER_ENQUEUE_H
#define COMPILER_IRPASS_LOWER_ENQUEUE_H

#include "compiler/base/compilation.h"

/* A flag of enqueue_kernel beside OpenCL's: the queue is a work queue (cl_ppu_nested_streams). */
#define ENQUEUE_WORK 0x10000u

/* A kernel that threads enqueue, and the constant that describes it. */
struct unit_child {
    LLVMValueRef function, variable;
};

/* Before the library is linked. The module may become another one. */
void enqueue_lower(struct unit *unit);
/* After the library was linked: its functions are others than those that were declared. */
void enqueue_linked(struct unit *unit);
/* What describes the function when threads enqueue it, else NULL. */
LLVMValueRef enqueue_child(const struct unit *unit, LLVMValueRef function);

#endif
