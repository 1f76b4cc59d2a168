/* SPDX-License-Identifier: MIT */
/* Refuses pipes, which no device of this platform has, as the specification says. */
#include "opencl/api/memory.h"

cl_mem clCreatePipe(cl_context context, cl_mem_flags flags, cl_uint packet_bytes, cl_uint packets,
                    const cl_pipe_properties *properties, cl_int *errcode)
{
    (void)flags;
    (void)packet_bytes;
    (void)packets;
    (void)properties;
    if (errcode) {
        *errcode = object_is(context, OBJECT_context) ? CL_INVALID_OPERATION : CL_INVALID_CONTEXT;
    }
    return NULL;
}

/* No memory object is a pipe. */
cl_int clGetPipeInfo(cl_mem memory, cl_pipe_info query, size_t bytes, void *at, size_t *size_ret)
{
    (void)memory;
    (void)query;
    (void)bytes;
    (void)at;
    (void)size_ret;
    return CL_INVALID_MEM_OBJECT;
}
