/* SPDX-License-Identifier: MIT */
/* Implements buffers, and parts of them. */
#ifndef OPENCL_API_BUFFER_H
#define OPENCL_API_BUFFER_H

#include "opencl/api/memory.h"

bool buffer_is(cl_mem memory);
/* True when the bytes lie inside. */
bool buffer_holds(cl_mem memory, size_t offset, size_t bytes);

#endif
