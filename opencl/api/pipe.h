/* SPDX-License-Identifier: MIT */
/* Declares pipes: memory objects that kernels alone read and write, a packet at a time. */
#ifndef OPENCL_API_PIPE_H
#define OPENCL_API_PIPE_H

#include <stdbool.h>

#include "opencl/api/object.h"

#define PIPE_MAX_PACKET (64u << 10)       /* bytes */
#define PIPE_MAX_RESERVATIONS (64u << 10) /* of a work-item at a time; no number is refused */

bool pipe_is(cl_mem memory);

#endif
