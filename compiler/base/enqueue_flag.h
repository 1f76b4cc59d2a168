/* SPDX-License-Identifier: MIT */
/* Defines the flag that clang's predefined macros name and the lowering of enqueue_kernel finds in calls. */
#ifndef COMPILER_BASE_ENQUEUE_FLAG_H
#define COMPILER_BASE_ENQUEUE_FLAG_H

/* A flag of enqueue_kernel beside OpenCL's: the queue is a work queue (cl_ppu_nested_streams). */
#define ENQUEUE_WORK 0x10000u

#endif
