/* SPDX-License-Identifier: MIT */
/* What this platform has beyond OpenCL (docs/spec/opencl.md); for programs too. */
#ifndef CL_PPU_H
#define CL_PPU_H

/*
 * cl_ppu_kernel_variant: clGetEventInfo() of a kernel's command answers with a text: which variant of the kernel runs.
 * "base", or its number and what it was compiled for; "" for other commands.
 */
#define CL_EVENT_VARIANT_PPU 0x4f50

#endif
