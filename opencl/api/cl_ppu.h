/* SPDX-License-Identifier: MIT */
/* Declares what this platform has beyond OpenCL (docs/spec/opencl.md), also for programs. */
#ifndef OPENCL_API_CL_PPU_H
#define OPENCL_API_CL_PPU_H

/*
 * cl_ppu_kernel_variant: clGetEventInfo() of a kernel's command answers with a text: which variant of the kernel runs.
 * "base", or its number and what it was compiled for; "" for other commands.
 */
#define CL_EVENT_VARIANT_PPU 0x4f50

/*
 * cl_ppu_nested_streams: property of a queue on the device: the in-order queue of the host, on the context's first
 * device, whose kernels may put work into it. One for each such queue.
 */
#define CL_QUEUE_WORK_QUEUE_PPU 0x4f51

/*
 * cl_ppu_nested_streams: property of a work queue: how many entries its ring has, 4 to 65536; 1024 when it is not said.
 * A piece of work takes one for each of its parts and one more.
 */
#define CL_QUEUE_WORK_ENTRIES_PPU 0x4f55

/*
 * cl_ppu_nested_streams: properties of a context, for kernels that wait for what they enqueue: how many work-groups of
 * one of them can have begun at once, 1 to 64 (16 when it is not said), and for how many bytes of a work-group's state
 * there is room, at most 16 MiB. Without the property the variables PPU_WAITING_GROUPS and PPU_WAITING_BYTES of the
 * environment say it.
 */
#define CL_CONTEXT_WAITING_GROUPS_PPU 0x4f53
#define CL_CONTEXT_WAITING_BYTES_PPU 0x4f54

/*
 * cl_ppu_time_limit: property of a queue of the host: the ms that a kernel of it may run, at most 3600000; 0: as
 * PPU_WATCHDOG_MS says, which the limit cannot exceed. A kernel that runs longer fails.
 */
#define CL_QUEUE_TIME_LIMIT_PPU 0x4f52

/*
 * cl_ppu_counters: clGetCommandQueueInfo() of a queue of the host answers with a cl_ulong: what the counter of that
 * number (docs/spec/device.md) has counted for the queue's kernels that have ended. 0: warp instructions.
 */
#define CL_QUEUE_COUNTER_PPU(number) (0x4f60 + (number))

/*
 * cl_ppu_task_queues: properties of a queue on the device: the bytes of an entry, 1 to 4080, make it a task queue; how
 * many entries its ring has, a power of two from 2 to 65536, 256 when it is not said.
 */
#define CL_QUEUE_TASK_BYTES_PPU 0x4f56
#define CL_QUEUE_TASK_ENTRIES_PPU 0x4f57

/*
 * cl_ppu_segments: values of clSetKernelExecInfo(), each a cl_uint, for launches that come later. The mode of segments
 * that leave it open: auto is the choice of the control unit. What the program says of the kernel's misses in the
 * first-level cache: a rate of 1,024 lines, just below or above the control unit's threshold, or nothing.
 */
#define CL_KERNEL_EXEC_INFO_MODE_PPU 0x4f58
#define CL_MODE_AUTO_PPU 0
#define CL_MODE_NORMAL_PPU 1
#define CL_MODE_SUBVECTOR_PPU 2
#define CL_KERNEL_EXEC_INFO_MISS_RATE_PPU 0x4f59
#define CL_MISS_UNSAID_PPU 0
#define CL_MISS_RATE_PPU(of_1024) (1 + (of_1024))
#define CL_MISS_BELOW_PPU 0xfffe
#define CL_MISS_ABOVE_PPU 0xffff

/*
 * cl_ppu_occupancy: clGetKernelSubGroupInfo(), whose input is a local size, answers with a size_t: how many work-groups
 * of the kernel the compute units hold at once when nothing else runs (D4). Its arguments in local memory count where
 * they are set. Work-groups that may share registers share them when CL_KERNEL_EXEC_INFO_MODE_PPU says so.
 */
#define CL_KERNEL_RESIDENT_WORK_GROUPS_PPU 0x4f5a

/*
 * cl_ppu_policies: clGetDeviceInfo() answers with a cl_uint: the value that the policy of that number
 * (docs/spec/scheduler.md) has.
 */
#define CL_DEVICE_POLICY_PPU(number) (0x4f80 + (number))
#define CL_POLICY_MODE_THRESHOLD_PPU 8
#define CL_POLICY_MODE_WINDOW_PPU 9
#define CL_POLICY_MODE_HYSTERESIS_PPU 10
#define CL_POLICY_MODE_VREGS_PPU 11

#ifdef __OPENCL_CL_H /* CL/cl.h came before; clGetExtensionFunctionAddressForPlatform() returns these functions */
/*
 * Enqueues a kernel that has a work-group of `local` for each entry of `tasks`, as they come, until the queue is closed
 * and empty. The command opens a queue again that had one before. INVALID_OPERATION: that has not ended.
 */
typedef cl_int(CL_API_CALL *clEnqueueTaskQueuePPU_fn)(cl_command_queue queue, cl_command_queue tasks, cl_kernel kernel,
                                                      cl_uint dim, const size_t *local, cl_uint count,
                                                      const cl_event *events, cl_event *out);
/* Appends an entry. OUT_OF_RESOURCES: the queue is full; INVALID_OPERATION: it is closed. */
typedef cl_int(CL_API_CALL *clPushTaskQueuePPU_fn)(cl_command_queue tasks, const void *data, size_t bytes);
/* Nothing can be appended any more. */
typedef cl_int(CL_API_CALL *clCloseTaskQueuePPU_fn)(cl_command_queue tasks);
/* Sets a policy for the whole device, and so for all who use it. INVALID_VALUE: there is none, or not this value. */
typedef cl_int(CL_API_CALL *clSetDevicePolicyPPU_fn)(cl_device_id device, cl_uint policy, cl_uint value);
#endif

#endif
