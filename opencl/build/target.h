/* SPDX-License-Identifier: MIT */
/* Says what a program is compiled for: the waves of the device, and the registers of its SMs. */
#ifndef OPENCL_BUILD_TARGET_H
#define OPENCL_BUILD_TARGET_H

#include "compiler/ppu_compiler.h"
#include "opencl/api/context.h"

/* Threads a warp of what is built: the widest, so that an instruction that is decoded once serves most threads. */
#define BUILD_WAVE 128u

#define TARGET_TEXT_BYTES 64u

/* Reads the context's first device: the registers a lane above which there are to be segments (MODE_VREGS, D9). */
uint32_t target_threshold(const struct _cl_context *context);
/* Returns the options of a compilation, without what build options say of them. */
struct ppu_compile_options target_options(const struct _cl_context *context, uint32_t threshold, const char *options);
/* Writes all of it that build options do not say, as part of a key of the cache. */
void target_text(const struct ppu_compile_options *options, char text[TARGET_TEXT_BYTES]);

#endif
