/* SPDX-License-Identifier: MIT */
/* Defines flags of enqueue_kernel: two that clang's predefined macros name, one that the compiler adds. */
#ifndef COMPILER_BASE_ENQUEUE_FLAG_H
#define COMPILER_BASE_ENQUEUE_FLAG_H

/* A flag of enqueue_kernel beside OpenCL's: the queue is a work queue (cl_ppu_nested_streams). */
#define ENQUEUE_WORK 0x10000u
/* The queue is a task queue (cl_ppu_task_queues). */
#define ENQUEUE_ENTRY 0x40000u

/* One that the compiler adds: errors are told apart (device-lib/opencl/enqueue/launch.h). */
#define ENQUEUE_SAYS_WHY 0x80000000u

#endif
