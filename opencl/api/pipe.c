/* SPDX-License-Identifier: MIT */
/* Implements pipes for the host, which makes them and asks about them. Kernels alone use them (ppu/pipe.h). */
#include "ppu/pipe.h"

#include <string.h>

#include "opencl/api/info.h"
#include "opencl/api/memory.h"
#include "opencl/api/pipe.h"

bool pipe_is(cl_mem memory)
{
    return memory_is(memory) && memory->packets > 0;
}

static cl_int check_pipe(cl_context context, cl_mem_flags flags, cl_uint packet_bytes, cl_uint packets,
                         const cl_pipe_properties *properties)
{
    const cl_mem_flags allowed = CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS;

    if (!object_is(context, OBJECT_context)) {
        return CL_INVALID_CONTEXT;
    }
    if ((flags & ~allowed) != 0 || (properties && properties[0] != 0)) {
        return CL_INVALID_VALUE;
    }
    if (packet_bytes == 0 || packet_bytes > PIPE_MAX_PACKET || packets == 0 || packets == UINT32_MAX) {
        return CL_INVALID_PIPE_SIZE;
    }
    const uint64_t bytes = ppu_pipe_bytes(packet_bytes, packets);
    return bytes > device_max_alloc(context->device) ? CL_MEM_OBJECT_ALLOCATION_FAILURE : CL_SUCCESS;
}

/* Its memory is a buffer's. */
static cl_mem make_pipe(cl_context context, cl_uint packet_bytes, cl_uint packets, cl_int *error)
{
    const struct ppu_pipe head = { .packet_bytes = packet_bytes, .packets = packets };
    cl_mem pipe = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS,
                                 ppu_pipe_bytes(packet_bytes, packets), NULL, error);

    if (pipe) {
        pipe->packet_bytes = packet_bytes;
        pipe->packets = packets;
        memset(pipe->at, 0, ppu_pipe_packets_at(packets));
        memcpy(pipe->at, &head, sizeof(head));
    }
    return pipe;
}

cl_mem clCreatePipe(cl_context context, cl_mem_flags flags, cl_uint packet_bytes, cl_uint packets,
                    const cl_pipe_properties *properties, cl_int *errcode)
{
    cl_int error = check_pipe(context, flags, packet_bytes, packets, properties);
    cl_mem pipe = error == CL_SUCCESS ? make_pipe(context, packet_bytes, packets, &error) : NULL;

    if (errcode) {
        *errcode = error;
    }
    return pipe;
}

cl_int clGetPipeInfo(cl_mem memory, cl_pipe_info query, size_t bytes, void *at, size_t *size_ret)
{
    const struct info_room room = { bytes, at, size_ret };

    if (!pipe_is(memory)) {
        return CL_INVALID_MEM_OBJECT;
    }
    switch (query) {
#define INFO_OF_PIPE
#include "opencl/api/info.def"
    default:
        return CL_INVALID_VALUE;
    }
}
