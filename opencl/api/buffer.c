/* SPDX-License-Identifier: MIT */
#include "opencl/api/buffer.h"

#include <stdlib.h>
#include <string.h>

#include "opencl/api/allocation.h"
#include "opencl/api/info.h"
#include "opencl/api/marks.h"
#include "opencl/api/svm.h"
#include "opencl/api/vendor.h"
#include "ppu/mmu.h"

bool buffer_is(cl_mem memory)
{
    return memory_is(memory) && !memory->image && memory->packets == 0;
}

bool buffer_holds(cl_mem memory, size_t offset, size_t bytes)
{
    return bytes <= memory->bytes && offset <= memory->bytes - bytes;
}

/* Bytes that begin in a piece of shared virtual memory and end behind it. */
static bool leaves_shared(cl_context context, const void *host_ptr, size_t bytes)
{
    uint64_t start = 0, size = 0;

    return svm_piece(context, host_ptr, &start, &size) && bytes > start + size - (uintptr_t)host_ptr;
}

static cl_int check_new(cl_context context, cl_mem_flags flags, size_t bytes, const void *host_ptr)
{
    if (!object_is(context, OBJECT_context)) {
        return CL_INVALID_CONTEXT;
    }
    cl_int error = memory_check_flags(flags);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (bytes == 0 || bytes > device_max_alloc(context->device)) {
        return CL_INVALID_BUFFER_SIZE;
    }
    if ((flags & CL_MEM_USE_HOST_PTR) != 0 && leaves_shared(context, host_ptr, bytes)) {
        return CL_INVALID_BUFFER_SIZE;
    }
    bool wants_pointer = (flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0;
    return wants_pointer == !!host_ptr ? CL_SUCCESS : CL_INVALID_HOST_PTR;
}

/* ---- making ---- */

static enum ppu_err give_bytes(cl_mem buffer)
{
    enum ppu_err err = memory_take_vram(buffer->context, buffer->bytes, &buffer->own);

    if (err == PPU_OK) {
        buffer->at = ppu_memory_host(buffer->own);
        buffer->va = ppu_memory_va(buffer->own, buffer->context->ppu).va;
    }
    return err;
}

/* Memory that the PPU sees at the host's address needs no other. */
static bool use_shared(cl_mem buffer, void *host_ptr)
{
    if ((buffer->flags & CL_MEM_USE_HOST_PTR) == 0 || !svm_holds(buffer->context, host_ptr, buffer->bytes)) {
        return false;
    }
    buffer->at = host_ptr;
    buffer->va = (uint64_t)(uintptr_t)host_ptr;
    buffer->host_ptr = host_ptr;
    return true;
}

static enum ppu_err fill_new(cl_mem buffer, void *host_ptr)
{
    if (use_shared(buffer, host_ptr)) {
        return PPU_OK;
    }
    enum ppu_err err = give_bytes(buffer);
    if (err == PPU_OK && host_ptr) {
        memcpy(buffer->at, host_ptr, buffer->bytes);
    }
    buffer->shadow = (buffer->flags & CL_MEM_USE_HOST_PTR) != 0;
    buffer->host_ptr = buffer->shadow ? host_ptr : NULL;
    return err;
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host_ptr, cl_int *errcode)
{
    cl_int error = check_new(context, flags, bytes, host_ptr);
    cl_mem buffer = NULL;

    if (error == CL_SUCCESS) {
        vendor_note_flags(context, "clCreateBuffer", flags);
        buffer = memory_new(context, flags, bytes);
        error = buffer ? memory_error(fill_new(buffer, host_ptr)) : CL_OUT_OF_HOST_MEMORY;
    }
    if (error != CL_SUCCESS && buffer) {
        clReleaseMemObject(buffer);
        buffer = NULL;
    }
    if (buffer) {
        buffer->allocation = allocation_new(context, "clCreateBuffer", buffer->va, bytes,
                                            buffer->own ? ppu_memory_bytes(buffer->own) : 0);
        buffer->marks = host_ptr ? NULL : marks_new(buffer);
    }
    if (errcode) {
        *errcode = error;
    }
    return buffer;
}

cl_mem clCreateBufferWithProperties(cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
                                    size_t bytes, void *host_ptr, cl_int *errcode)
{
    cl_int error = memory_check_properties(context, properties);
    cl_mem buffer = NULL;

    if (error == CL_SUCCESS) {
        buffer = clCreateBuffer(context, flags, bytes, host_ptr, &error);
    }
    if (buffer) {
        memory_note_properties(buffer, properties);
    }
    if (errcode) {
        *errcode = error;
    }
    return buffer;
}

/* ---- sub-buffers ---- */

static cl_int check_region(cl_mem parent, const cl_buffer_region *region)
{
    if (!region) {
        return CL_INVALID_VALUE;
    }
    if (region->size == 0) {
        return CL_INVALID_BUFFER_SIZE;
    }
    if (!buffer_holds(parent, region->origin, region->size)) {
        return CL_INVALID_VALUE;
    }
    return region->origin % sizeof(cl_long16) == 0 ? CL_SUCCESS : CL_MISALIGNED_SUB_BUFFER_OFFSET;
}

static cl_int check_sub(cl_mem parent, cl_mem_flags *flags, cl_buffer_create_type type, const cl_buffer_region *region)
{
    if (!buffer_is(parent) || parent->parent) {
        return CL_INVALID_MEM_OBJECT;
    }
    cl_int error = memory_inherit(parent->flags, flags);
    if (error != CL_SUCCESS || type != CL_BUFFER_CREATE_TYPE_REGION) {
        return CL_INVALID_VALUE;
    }
    return check_region(parent, region);
}

cl_mem clCreateSubBuffer(cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type, const void *info,
                         cl_int *errcode)
{
    const cl_buffer_region *region = info;
    cl_int error = check_sub(parent, &flags, type, region);
    cl_mem buffer = NULL;

    if (error == CL_SUCCESS) {
        buffer = memory_new(parent->context, flags, region->size);
        error = buffer ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    }
    if (buffer) {
        object_use(parent);
        buffer->parent = parent;
        buffer->origin = region->origin;
        buffer->at = parent->at + region->origin;
        buffer->va = parent->va + region->origin;
        buffer->shadow = parent->shadow;
        buffer->host_ptr = parent->host_ptr ? (uint8_t *)parent->host_ptr + region->origin : NULL;
        buffer->allocation = allocation_new(parent->context, "clCreateSubBuffer", buffer->va, buffer->bytes, 0);
    }
    if (errcode) {
        *errcode = error;
    }
    return buffer;
}
