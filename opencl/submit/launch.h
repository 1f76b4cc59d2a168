/* SPDX-License-Identifier: MIT */
/* Captures the launch of a kernel, and adds it to blocks. */
#ifndef OPENCL_SUBMIT_LAUNCH_H
#define OPENCL_SUBMIT_LAUNCH_H

#include "opencl/api/captured_launch.h"

/* The launch of a command begins; its end is seen when what the command owns is dropped. */
void launch_enter(cl_event event);
/* Writes the arguments that are not in the parameters to memory of the context, where the kernel has some. */
enum ppu_err launch_write_block(struct launch *launch, struct ppu_context *context);

/*
 * When it is known where its arguments lie on that device: takes the variant for them, or the base, and tells its name.
 * Returns where what it prints is described.
 */
struct print_source launch_choose(struct launch *launch, cl_kernel kernel, uint32_t ppu_index,
                                  char name[EVENT_VARIANT_BYTES]);

/*
 * Work of a queue whose device is not the one that buffers lie on: copies them there, runs the launch, and copies back
 * what it may have written.
 */
cl_int launch_remote(cl_event event);

#endif
