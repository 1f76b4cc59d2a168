/* SPDX-License-Identifier: MIT */
/* Records commands and their states for tools that watch the program. */
#ifndef OPENCL_API_RECORD_H
#define OPENCL_API_RECORD_H

#include "opencl/api/event.h"

/* Gives a new command its number, and records it. */
void record_command(cl_event event);
/* Its state has changed. */
void record_state(const struct _cl_event *event);
/* It is about to be submitted as this block. */
void record_block(const struct _cl_event *event, const struct ppu_block *block);

#endif
