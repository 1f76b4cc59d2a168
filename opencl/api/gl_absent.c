/* SPDX-License-Identifier: MIT */
/* Refuses objects of OpenGL and EGL: no context of this platform is made from one of theirs. */
#include "opencl/api/buffer.h"
#include "opencl/api/queue.h"

/* What is not there looks at nothing but where it was asked for. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* ---- making ---- */

static void *refuse_gl(cl_int *errcode)
{
    if (errcode) {
        *errcode = CL_INVALID_CONTEXT;
    }
    return NULL;
}

cl_mem clCreateFromGLBuffer(cl_context context, cl_mem_flags flags, cl_GLuint buffer, cl_int *errcode)
{
    return refuse_gl(errcode);
}

cl_mem clCreateFromGLTexture(cl_context context, cl_mem_flags flags, cl_GLenum target, cl_GLint level,
                             cl_GLuint texture, cl_int *errcode)
{
    return refuse_gl(errcode);
}

cl_mem clCreateFromGLTexture2D(cl_context context, cl_mem_flags flags, cl_GLenum target, cl_GLint level,
                               cl_GLuint texture, cl_int *errcode)
{
    return refuse_gl(errcode);
}

cl_mem clCreateFromGLTexture3D(cl_context context, cl_mem_flags flags, cl_GLenum target, cl_GLint level,
                               cl_GLuint texture, cl_int *errcode)
{
    return refuse_gl(errcode);
}

cl_mem clCreateFromGLRenderbuffer(cl_context context, cl_mem_flags flags, cl_GLuint renderbuffer, cl_int *errcode)
{
    return refuse_gl(errcode);
}

cl_event clCreateEventFromGLsyncKHR(cl_context context, cl_GLsync sync, cl_int *errcode)
{
    return refuse_gl(errcode);
}

cl_mem clCreateFromEGLImageKHR(cl_context context, CLeglDisplayKHR display, CLeglImageKHR image, cl_mem_flags flags,
                               const cl_egl_image_properties_khr *properties, cl_int *errcode)
{
    return refuse_gl(errcode);
}

cl_event clCreateEventFromEGLSyncKHR(cl_context context, CLeglSyncKHR sync, CLeglDisplayKHR display, cl_int *errcode)
{
    return refuse_gl(errcode);
}

/* ---- asking ---- */

static cl_int no_object(cl_mem memory)
{
    return memory_is(memory) ? CL_INVALID_GL_OBJECT : CL_INVALID_MEM_OBJECT;
}

cl_int clGetGLObjectInfo(cl_mem memory, cl_gl_object_type *type, cl_GLuint *name)
{
    return no_object(memory);
}

cl_int clGetGLTextureInfo(cl_mem memory, cl_gl_texture_info query, size_t bytes, void *at, size_t *size_ret)
{
    return no_object(memory);
}

cl_int clGetGLContextInfoKHR(const cl_context_properties *properties, cl_gl_context_info query, size_t bytes, void *at,
                             size_t *size_ret)
{
    return CL_INVALID_OPERATION;
}

/* ---- commands ---- */

static cl_int refuse_command(cl_command_queue queue)
{
    return queue_is_for_host(queue) ? CL_INVALID_CONTEXT : CL_INVALID_COMMAND_QUEUE;
}

cl_int clEnqueueAcquireGLObjects(cl_command_queue queue, cl_uint memories, const cl_mem *list, cl_uint count,
                                 const cl_event *events, cl_event *out)
{
    return refuse_command(queue);
}

cl_int clEnqueueReleaseGLObjects(cl_command_queue queue, cl_uint memories, const cl_mem *list, cl_uint count,
                                 const cl_event *events, cl_event *out)
{
    return refuse_command(queue);
}

cl_int clEnqueueAcquireEGLObjectsKHR(cl_command_queue queue, cl_uint memories, const cl_mem *list, cl_uint count,
                                     const cl_event *events, cl_event *out)
{
    return refuse_command(queue);
}

cl_int clEnqueueReleaseEGLObjectsKHR(cl_command_queue queue, cl_uint memories, const cl_mem *list, cl_uint count,
                                     const cl_event *events, cl_event *out)
{
    return refuse_command(queue);
}
