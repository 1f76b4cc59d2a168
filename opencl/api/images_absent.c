/* SPDX-License-Identifier: MIT */
/* Answers for images, samplers and pipes, which no device of this platform has, as the specification says. */
#include "opencl/api/queue.h"

/* What is not there looks at nothing but where it was asked for. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* ---- making ---- */

static void *refuse_image(cl_context context, cl_int *errcode)
{
    if (errcode) {
        *errcode = object_is(context, OBJECT_context) ? CL_INVALID_OPERATION : CL_INVALID_CONTEXT;
    }
    return NULL;
}

cl_mem clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format *format, const cl_image_desc *desc,
                     void *host_ptr, cl_int *errcode)
{
    return refuse_image(context, errcode);
}

cl_mem clCreateImageWithProperties(cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
                                   const cl_image_format *format, const cl_image_desc *desc, void *host_ptr,
                                   cl_int *errcode)
{
    return clCreateImage(context, flags, format, desc, host_ptr, errcode);
}

cl_mem clCreateImage2D(cl_context context, cl_mem_flags flags, const cl_image_format *format, size_t width,
                       size_t height, size_t row_pitch, void *host_ptr, cl_int *errcode)
{
    return clCreateImage(context, flags, format, NULL, host_ptr, errcode);
}

cl_mem clCreateImage3D(cl_context context, cl_mem_flags flags, const cl_image_format *format, size_t width,
                       size_t height, size_t depth, size_t row_pitch, size_t slice_pitch, void *host_ptr,
                       cl_int *errcode)
{
    return clCreateImage2D(context, flags, format, width, height, row_pitch, host_ptr, errcode);
}

cl_int clGetSupportedImageFormats(cl_context context, cl_mem_flags flags, cl_mem_object_type type, cl_uint num_entries,
                                  cl_image_format *formats, cl_uint *num_formats)
{
    if (!object_is(context, OBJECT_context)) {
        return CL_INVALID_CONTEXT;
    }
    if (num_entries == 0 && formats) {
        return CL_INVALID_VALUE;
    }
    if (num_formats) {
        *num_formats = 0;
    }
    return CL_SUCCESS;
}

/* No memory object is an image, nor a pipe. */
cl_int clGetImageInfo(cl_mem memory, cl_image_info query, size_t bytes, void *at, size_t *size_ret)
{
    return CL_INVALID_MEM_OBJECT;
}

cl_int clGetPipeInfo(cl_mem memory, cl_pipe_info query, size_t bytes, void *at, size_t *size_ret)
{
    return clGetImageInfo(memory, query, bytes, at, size_ret);
}

cl_sampler clCreateSampler(cl_context context, cl_bool normalized, cl_addressing_mode addressing, cl_filter_mode filter,
                           cl_int *errcode)
{
    return refuse_image(context, errcode);
}

cl_sampler clCreateSamplerWithProperties(cl_context context, const cl_sampler_properties *properties, cl_int *errcode)
{
    return refuse_image(context, errcode);
}

cl_mem clCreatePipe(cl_context context, cl_mem_flags flags, cl_uint packet_bytes, cl_uint packets,
                    const cl_pipe_properties *properties, cl_int *errcode)
{
    return refuse_image(context, errcode);
}

/* ---- samplers ---- */

cl_int clRetainSampler(cl_sampler sampler)
{
    return CL_INVALID_SAMPLER;
}

cl_int clReleaseSampler(cl_sampler sampler)
{
    return CL_INVALID_SAMPLER;
}

cl_int clGetSamplerInfo(cl_sampler sampler, cl_sampler_info query, size_t bytes, void *at, size_t *size_ret)
{
    return CL_INVALID_SAMPLER;
}

/* ---- commands ---- */

static cl_int refuse_command(cl_command_queue queue, cl_uint count, const cl_event *events)
{
    cl_int error = command_check(queue, count, events);

    return error != CL_SUCCESS ? error : CL_INVALID_OPERATION;
}

cl_int clEnqueueReadImage(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin,
                          const size_t *region, size_t row_pitch, size_t slice_pitch, void *to, cl_uint count,
                          const cl_event *events, cl_event *out)
{
    return refuse_command(queue, count, events);
}

cl_int clEnqueueWriteImage(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin,
                           const size_t *region, size_t row_pitch, size_t slice_pitch, const void *from, cl_uint count,
                           const cl_event *events, cl_event *out)
{
    return refuse_command(queue, count, events);
}

cl_int clEnqueueFillImage(cl_command_queue queue, cl_mem image, const void *color, const size_t *origin,
                          const size_t *region, cl_uint count, const cl_event *events, cl_event *out)
{
    return refuse_command(queue, count, events);
}

cl_int clEnqueueCopyImage(cl_command_queue queue, cl_mem src, cl_mem dst, const size_t *src_origin,
                          const size_t *dst_origin, const size_t *region, cl_uint count, const cl_event *events,
                          cl_event *out)
{
    return refuse_command(queue, count, events);
}

cl_int clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem src, cl_mem dst, const size_t *origin,
                                  const size_t *region, size_t offset, cl_uint count, const cl_event *events,
                                  cl_event *out)
{
    return refuse_command(queue, count, events);
}

cl_int clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem src, cl_mem dst, size_t offset, const size_t *origin,
                                  const size_t *region, cl_uint count, const cl_event *events, cl_event *out)
{
    return refuse_command(queue, count, events);
}

void *clEnqueueMapImage(cl_command_queue queue, cl_mem image, cl_bool blocking, cl_map_flags flags,
                        const size_t *origin, const size_t *region, size_t *row_pitch, size_t *slice_pitch,
                        cl_uint count, const cl_event *events, cl_event *out, cl_int *errcode)
{
    if (errcode) {
        *errcode = refuse_command(queue, count, events);
    }
    return NULL;
}
