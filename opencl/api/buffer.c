/* SPDX-License-Identifier: MIT */
#include "opencl/api/buffer.h"

#include <stdlib.h>
#include <string.h>

#include "opencl/api/info.h"
#include "opencl/api/svm.h"
#include "ppu/mmu.h"

#define ACCESS_FLAGS ((cl_mem_flags)(CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY))
#define HOST_PTR_FLAGS ((cl_mem_flags)(CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR))
#define HOST_ACCESS_FLAGS ((cl_mem_flags)(CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS))

bool buffer_is(cl_mem memory)
{
    return object_is(memory, OBJECT_buffer);
}

bool buffer_holds(cl_mem memory, size_t offset, size_t bytes)
{
    return bytes <= memory->bytes && offset <= memory->bytes - bytes;
}

/* ---- flags ---- */

static bool at_most_one(cl_mem_flags flags)
{
    return (flags & (flags - 1)) == 0;
}

static cl_int check_flags(cl_mem_flags flags)
{
    if ((flags & ~(ACCESS_FLAGS | HOST_PTR_FLAGS | HOST_ACCESS_FLAGS)) != 0 || !at_most_one(flags & ACCESS_FLAGS) ||
        !at_most_one(flags & HOST_ACCESS_FLAGS)) {
        return CL_INVALID_VALUE;
    }
    bool use = (flags & CL_MEM_USE_HOST_PTR) != 0;
    return use && (flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0 ? CL_INVALID_VALUE : CL_SUCCESS;
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
    cl_int error = check_flags(flags);
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

/* ---- life ---- */

static cl_mem buffer_new(cl_context context, cl_mem_flags flags, size_t bytes)
{
    cl_mem buffer = calloc(1, sizeof(*buffer));

    if (!buffer) {
        return NULL;
    }
    object_init(&buffer->object, OBJECT_buffer);
    buffer->context = context;
    buffer->flags = (flags & ACCESS_FLAGS) != 0 ? flags : flags | CL_MEM_READ_WRITE;
    buffer->bytes = bytes;
    object_use(context);
    return buffer;
}

void buffer_destroy(void *object)
{
    cl_mem buffer = object;

    farewell_say(&buffer->farewells, buffer);
    while (buffer->mapped) {
        struct mapped *mapped = buffer->mapped;
        buffer->mapped = mapped->next;
        free(mapped);
    }
    ppu_memory_free(buffer->memory);
    object_drop(buffer->parent);
    object_drop(buffer->context);
    free(buffer->properties);
    free(buffer);
}

static enum ppu_err give_bytes(cl_mem buffer)
{
    enum ppu_err err = ppu_memory_create(buffer->context->ppu, PPU_MEMORY_VRAM, buffer->bytes, &buffer->memory);

    if (err == PPU_OK) {
        buffer->at = ppu_memory_host(buffer->memory);
        buffer->va = ppu_memory_va(buffer->memory, buffer->context->ppu).va;
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

static cl_int fill_error(enum ppu_err err)
{
    return err == PPU_ERR_NO_VRAM ? CL_MEM_OBJECT_ALLOCATION_FAILURE : device_error(err);
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host_ptr, cl_int *errcode)
{
    cl_int error = check_new(context, flags, bytes, host_ptr);
    cl_mem buffer = NULL;

    if (error == CL_SUCCESS) {
        buffer = buffer_new(context, flags, bytes);
        error = buffer ? fill_error(fill_new(buffer, host_ptr)) : CL_OUT_OF_HOST_MEMORY;
    }
    if (error != CL_SUCCESS && buffer) {
        clReleaseMemObject(buffer);
        buffer = NULL;
    }
    if (errcode) {
        *errcode = error;
    }
    return buffer;
}

/* OpenCL 3.0 defines no property of buffers: a list is empty. */
cl_mem clCreateBufferWithProperties(cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
                                    size_t bytes, void *host_ptr, cl_int *errcode)
{
    if (properties && properties[0] != 0) {
        if (errcode) {
            *errcode = object_is(context, OBJECT_context) ? CL_INVALID_PROPERTY : CL_INVALID_CONTEXT;
        }
        return NULL;
    }
    cl_mem buffer = clCreateBuffer(context, flags, bytes, host_ptr, errcode);
    if (buffer && properties) {
        buffer->properties = calloc(1, sizeof(properties[0]));
        buffer->property_bytes = buffer->properties ? sizeof(properties[0]) : 0;
    }
    return buffer;
}

/* ---- sub-buffers ---- */

/* What the sub-buffer does not say, its parent says; what both say must agree. */
static cl_int inherit(cl_mem_flags parent, cl_mem_flags *flags)
{
    cl_int error = check_flags(*flags);

    if (error != CL_SUCCESS || (*flags & HOST_PTR_FLAGS) != 0) {
        return CL_INVALID_VALUE;
    }
    bool more_access = ((parent & CL_MEM_WRITE_ONLY) != 0 && (*flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY)) != 0) ||
                       ((parent & CL_MEM_READ_ONLY) != 0 && (*flags & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY)) != 0);
    bool more_host =
        ((parent & CL_MEM_HOST_WRITE_ONLY) != 0 && (*flags & CL_MEM_HOST_READ_ONLY) != 0) ||
        ((parent & CL_MEM_HOST_READ_ONLY) != 0 && (*flags & CL_MEM_HOST_WRITE_ONLY) != 0) ||
        ((parent & CL_MEM_HOST_NO_ACCESS) != 0 && (*flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY)) != 0);
    if (more_access || more_host) {
        return CL_INVALID_VALUE;
    }
    *flags |= (*flags & ACCESS_FLAGS) == 0 ? parent & ACCESS_FLAGS : 0;
    *flags |= (*flags & HOST_ACCESS_FLAGS) == 0 ? parent & HOST_ACCESS_FLAGS : 0;
    *flags |= parent & HOST_PTR_FLAGS;
    return CL_SUCCESS;
}

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
    cl_int error = inherit(parent->flags, flags);
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
        buffer = buffer_new(parent->context, flags, region->size);
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
    }
    if (errcode) {
        *errcode = error;
    }
    return buffer;
}

/* ---- queries ---- */

cl_int clSetMemObjectDestructorCallback(cl_mem memory, void(CL_CALLBACK *function)(cl_mem, void *), void *user)
{
    if (!buffer_is(memory)) {
        return CL_INVALID_MEM_OBJECT;
    }
    if (!function) {
        return CL_INVALID_VALUE;
    }
    pthread_mutex_lock(&memory->context->lock);
    bool added = farewell_add(&memory->farewells, (void(CL_CALLBACK *)(void *, void *))(void *)function, user);
    pthread_mutex_unlock(&memory->context->lock);
    return added ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

cl_int clGetMemObjectInfo(cl_mem memory, cl_mem_info query, size_t bytes, void *at, size_t *size_ret)
{
    const struct info_room room = { bytes, at, size_ret };

    if (!buffer_is(memory)) {
        return CL_INVALID_MEM_OBJECT;
    }
    pthread_mutex_lock(&memory->context->lock);
    cl_uint map_count = memory->map_count;
    pthread_mutex_unlock(&memory->context->lock);
    switch (query) {
#define INFO_OF_BUFFER
#include "opencl/api/info.def"
    default:
        return CL_INVALID_VALUE;
    }
}
