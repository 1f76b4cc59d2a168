/* SPDX-License-Identifier: MIT */
/* Declares the entry points as programs call them: each records its begin and its end while a tool wants it. */
#ifndef OPENCL_API_CALLS_H
#define OPENCL_API_CALLS_H

#include "opencl/api/object.h"

#define CALL(type, function, parameters, names) type CL_API_CALL call_##function parameters;
#define CALL_VOID(function, parameters, names) void CL_API_CALL call_##function parameters;
#include "build/opencl/calls.inc"
#undef CALL
#undef CALL_VOID

#endif
