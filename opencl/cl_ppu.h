/* SPDX-License-Identifier: MIT */
/* What this platform has beyond OpenCL (docs/spec/opencl.md); for programs too. */
#ifndef CL_PPU_H
#define CL_PPU_H

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

#endif
