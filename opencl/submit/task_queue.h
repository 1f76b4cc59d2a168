/* SPDX-License-Identifier: MIT */
/* Makes queues whose entries work-groups of one kernel take (A6, ppu/taskq.h), and feeds them from the host. */
#ifndef OPENCL_SUBMIT_TASK_QUEUE_H
#define OPENCL_SUBMIT_TASK_QUEUE_H

#include "opencl/api/queue.h"

/* The queue gets its ring, its address for kernels, and a channel that tells its kernel of entries. 0 entries: 256. */
cl_int task_queue_add(cl_command_queue queue, uint32_t entry_bytes, uint32_t entries);
void task_queue_remove(cl_command_queue queue);

/* Takes it for the one command whose kernel takes its entries, open again after the one before. INVALID_OPERATION: it
 * has such a command, which has not ended. */
cl_int task_queue_take(cl_command_queue tasks);
/* That command has ended; `ran`: its kernel was launched. */
void task_queue_leave(cl_command_queue tasks, bool ran);

/* Functions of cl_ppu_task_queues; api/cl_ppu.h. */
cl_int CL_API_CALL clEnqueueTaskQueuePPU(cl_command_queue queue, cl_command_queue tasks, cl_kernel kernel, cl_uint dim,
                                         const size_t *local, cl_uint count, const cl_event *events, cl_event *out);
cl_int CL_API_CALL clPushTaskQueuePPU(cl_command_queue tasks, const void *data, size_t bytes);
cl_int CL_API_CALL clCloseTaskQueuePPU(cl_command_queue tasks);

#endif
