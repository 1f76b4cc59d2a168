/* SPDX-License-Identifier: MIT */
/*
 * Makes what the kernels of a context need on one of its devices to enqueue kernels (ppu/child.h). It is made for the
 * first queue on the device, or the first launch of a kernel that asks for it, and kept until the context ends.
 */
#ifndef OPENCL_SUBMIT_DEVICE_QUEUE_H
#define OPENCL_SUBMIT_DEVICE_QUEUE_H

#include "opencl/api/queue.h"
#include "ppu/child.h"

/* The most that CL_QUEUE_SIZE can ask for: the heap, there from the beginning, where what finds no record waits. */
uint32_t device_queue_bytes(const struct _cl_device_id *device);
/* Events that a context can have on the device at once. */
uint32_t device_queue_events(const struct _cl_device_id *device);

/* Makes it, when it is not there yet, with a heap of at least `wanted` bytes. */
enum ppu_err device_queues_need(cl_context context, uint32_t ppu_index, uint32_t wanted);
/* A launch that needs it begins, and has ended. Between such launches the heap is put in order. */
void device_queues_enter(cl_context context, uint32_t ppu_index);
void device_queues_leave(cl_context context, uint32_t ppu_index);
/* The context's address space on that device ends. */
void device_queues_end(cl_context context, uint32_t ppu_index);

/*
 * A queue on the device gets an address for kernels, or loses it; a size that was left open becomes the heap's.
 * OUT_OF_RESOURCES: there are too many, or the context's heap was made smaller than it asks for.
 */
cl_int device_queue_add(cl_command_queue queue);
void device_queue_remove(cl_command_queue queue);
/* Adds a work queue, which kernels of `maker` fill; 0 entries: as many as libppu gives it. INVALID_COMMAND_QUEUE: there
 * is or can be none of it. */
cl_int device_queue_add_workq(cl_command_queue queue, cl_command_queue maker, uint32_t entries);
void device_queue_remove_workq(cl_command_queue queue);
/* Says which queue kernels get as the default one. */
void device_queue_set_default(cl_context context, uint32_t ppu_index, cl_command_queue queue);
/* NULL: there is none. */
cl_command_queue device_queue_default(cl_context context, uint32_t ppu_index);
/* Returns the default queue with a reference for the program. */
cl_command_queue device_queue_share_default(cl_context context, uint32_t ppu_index);

#endif
