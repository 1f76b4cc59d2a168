/* SPDX-License-Identifier: MIT */
#include "opencl/api/memory.h"

#include <stdlib.h>

#include "opencl/api/allocation.h"
#include "opencl/api/image.h"
#include "opencl/api/info.h"
#include "opencl/api/marks.h"
#include "opencl/api/vendor.h"
#include "opencl/submit/service_thread.h"

#define ACCESS_FLAGS ((cl_mem_flags)(CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY))
#define HOST_PTR_FLAGS ((cl_mem_flags)(CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR))
#define HOST_ACCESS_FLAGS ((cl_mem_flags)(CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS))

bool memory_is(cl_mem memory)
{
    return object_is(memory, OBJECT_memory);
}

cl_mem memory_root(cl_mem memory)
{
    while (memory->parent) {
        memory = memory->parent;
    }
    return memory;
}

/* ---- flags ---- */

static bool at_most_one(cl_mem_flags flags)
{
    return (flags & (flags - 1)) == 0;
}

cl_int memory_check_flags(cl_mem_flags flags)
{
    if ((flags & ~(ACCESS_FLAGS | HOST_PTR_FLAGS | HOST_ACCESS_FLAGS | VENDOR_MEMORY_FLAGS)) != 0 ||
        !at_most_one(flags & ACCESS_FLAGS) || !at_most_one(flags & HOST_ACCESS_FLAGS)) {
        return CL_INVALID_VALUE;
    }
    bool use = (flags & CL_MEM_USE_HOST_PTR) != 0;
    return use && (flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0 ? CL_INVALID_VALUE : CL_SUCCESS;
}

/* What a part does not say, its parent says; what both say must agree. */
cl_int memory_inherit(cl_mem_flags parent, cl_mem_flags *flags)
{
    cl_int error = memory_check_flags(*flags);

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

bool memory_host_may_read(cl_mem memory)
{
    return (memory->flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)) == 0;
}

bool memory_host_may_write(cl_mem memory)
{
    return (memory->flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)) == 0;
}

/* ---- life ---- */

cl_mem memory_new(cl_context context, cl_mem_flags flags, size_t bytes)
{
    cl_mem memory = calloc(1, sizeof(*memory));

    if (!memory) {
        return NULL;
    }
    object_init(&memory->object, OBJECT_memory);
    memory->context = context;
    memory->flags = (flags & ACCESS_FLAGS) != 0 ? flags : flags | CL_MEM_READ_WRITE;
    memory->bytes = bytes;
    object_use(context);
    return memory;
}

bool memory_is_back(enum ppu_err err)
{
    if (err == PPU_ERR_NO_VRAM) {
        service_thread_drain();
    }
    return err == PPU_ERR_NO_VRAM;
}

enum ppu_err memory_take_vram(cl_context context, uint64_t bytes, struct ppu_memory **out)
{
    const enum ppu_err err = ppu_memory_create(context->ppu, PPU_MEMORY_VRAM, bytes, out);

    return memory_is_back(err) ? ppu_memory_create(context->ppu, PPU_MEMORY_VRAM, bytes, out) : err;
}

void memory_destroy(void *object)
{
    cl_mem memory = object;

    farewell_say(&memory->farewells, memory);
    while (memory->mapped) {
        struct mapped *mapped = memory->mapped;
        memory->mapped = mapped->next;
        free(mapped);
    }
    marks_free(memory->marks);
    ppu_memory_free(memory->own);
    allocation_end(memory->allocation);
    object_drop(memory->parent);
    object_drop(memory->context);
    free(memory->properties);
    free(memory->image);
    free(memory);
}

cl_int memory_error(enum ppu_err err)
{
    return err == PPU_ERR_NO_VRAM ? CL_MEM_OBJECT_ALLOCATION_FAILURE : device_error(err);
}

/* ---- properties ---- */

cl_int memory_check_properties(cl_context context, const cl_mem_properties *properties)
{
    if (!object_is(context, OBJECT_context)) {
        return CL_INVALID_CONTEXT;
    }
    return properties && properties[0] != 0 ? CL_INVALID_PROPERTY : CL_SUCCESS;
}

void memory_note_properties(cl_mem memory, const cl_mem_properties *properties)
{
    memory->properties = properties ? calloc(1, sizeof(properties[0])) : NULL;
    memory->property_bytes = memory->properties ? sizeof(properties[0]) : 0;
}

/* ---- queries ---- */

cl_int clSetMemObjectDestructorCallback(cl_mem memory, void(CL_CALLBACK *function)(cl_mem, void *), void *user)
{
    if (!memory_is(memory)) {
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

    if (!memory_is(memory)) {
        return CL_INVALID_MEM_OBJECT;
    }
    pthread_mutex_lock(&memory->context->lock);
    cl_uint map_count = memory->map_count;
    pthread_mutex_unlock(&memory->context->lock);
    switch (query) {
#define INFO_OF_MEMORY
#include "opencl/api/info.def"
    default:
        return CL_INVALID_VALUE;
    }
}
