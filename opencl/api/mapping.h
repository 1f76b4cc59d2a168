/* SPDX-License-Identifier: MIT */
/* Maps memory objects into the program, and unmaps them. */
#ifndef OPENCL_API_MAPPING_H
#define OPENCL_API_MAPPING_H

#include "opencl/api/memory.h"

struct command;

bool mapping_flags_are_good(cl_map_flags flags);
/* INVALID_OPERATION: the host may not do what the flags say. */
cl_int mapping_check(cl_mem memory, cl_map_flags flags);
/* Takes the command of a map whose place and region are checked. Returns the pointer; NULL: *error says why. */
void *mapping_take(cl_command_queue queue, const struct command *command, cl_mem memory, cl_map_flags flags,
                   const struct mapped *region, cl_int *error);

#endif
