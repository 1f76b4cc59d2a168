/* SPDX-License-Identifier: MIT */
#include "opencl/api/mapping.h"

#include <stdlib.h>

#include "opencl/api/buffer.h"
#include "opencl/api/marks.h"
#include "opencl/api/queue.h"
#include "opencl/api/transfer.h"

/* ---- flags ---- */

bool mapping_flags_are_good(cl_map_flags flags)
{
    const cl_map_flags known = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
    bool invalidates = (flags & CL_MAP_WRITE_INVALIDATE_REGION) != 0;

    return (flags & ~known) == 0 && !(invalidates && flags != CL_MAP_WRITE_INVALIDATE_REGION);
}

cl_int mapping_check(cl_mem memory, cl_map_flags flags)
{
    bool reads = (flags & CL_MAP_READ) != 0;
    bool writes = (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0;

    return (reads && !memory_host_may_read(memory)) || (writes && !memory_host_may_write(memory)) ? CL_INVALID_OPERATION
                                                                                                  : CL_SUCCESS;
}

/* ---- the list ---- */

static struct mapped *note_mapping(cl_mem memory, cl_map_flags flags, const struct mapped *region)
{
    struct mapped *mapped = malloc(sizeof(*mapped));

    if (!mapped) {
        return NULL;
    }
    uint8_t *base = memory->shadow ? memory->host_ptr : memory->at;
    *mapped = *region;
    mapped->pointer = base + region->offset;
    mapped->writes = flags != CL_MAP_READ;
    pthread_mutex_lock(&memory->context->lock);
    mapped->next = memory->mapped;
    memory->mapped = mapped;
    memory->map_count++;
    pthread_mutex_unlock(&memory->context->lock);
    return mapped;
}

/* Takes a mapping that begins there off the list; NULL: there is none. */
static struct mapped *forget_mapping(cl_mem memory, const void *pointer)
{
    struct mapped *found = NULL;

    pthread_mutex_lock(&memory->context->lock);
    for (struct mapped **link = &memory->mapped; *link; link = &(*link)->next) {
        if ((*link)->pointer == pointer) {
            found = *link;
            *link = found->next;
            memory->map_count--;
            break;
        }
    }
    pthread_mutex_unlock(&memory->context->lock);
    return found;
}

/* ---- work ---- */

/* Both sides have the same pitches. */
static struct work copy_region(cl_mem memory, const struct mapped *mapped, void *dst, const void *src)
{
    const struct box box = { .dst = dst,
                             .src = src,
                             .region = { mapped->region[0], mapped->region[1], mapped->region[2] },
                             .dst_row = mapped->row,
                             .dst_slice = mapped->slice,
                             .src_row = mapped->row,
                             .src_slice = mapped->slice };

    return transfer_needing(transfer_box(&box), memory, NULL);
}

static struct work_span mapped_rows(cl_mem memory, const struct mapped *mapped)
{
    return transfer_rows(memory, mapped->offset, mapped->region, mapped->row, mapped->slice);
}

static struct work map_work(cl_mem memory, const struct mapped *mapped)
{
    const struct work nothing = { .executor = WORK_NOWHERE };

    return memory->shadow ? copy_region(memory, mapped, mapped->pointer, memory->at + mapped->offset)
                          : transfer_needing(nothing, memory, NULL);
}

static struct work unmap_work(cl_mem memory, const struct mapped *mapped)
{
    const struct work nothing = { .executor = WORK_NOWHERE };

    return memory->shadow && mapped->writes ? copy_region(memory, mapped, memory->at + mapped->offset, mapped->pointer)
                                            : transfer_needing(nothing, memory, NULL);
}

void *mapping_take(cl_command_queue queue, const struct command *command, cl_mem memory, cl_map_flags flags,
                   const struct mapped *region, cl_int *error)
{
    struct mapped *mapped = note_mapping(memory, flags, region);

    if (!mapped) {
        *error = CL_OUT_OF_HOST_MEMORY;
        return NULL;
    }
    struct work work = map_work(memory, mapped);
    if (flags != CL_MAP_WRITE_INVALIDATE_REGION) {
        work.reads = mapped_rows(memory, mapped);
    }
    void *pointer = mapped->pointer;
    *error = queue_take(queue, command, &work);
    if (*error != CL_SUCCESS) {
        free(forget_mapping(memory, pointer));
        return NULL;
    }
    return pointer;
}

/* ---- commands ---- */

static cl_int check_map_buffer(cl_mem memory, cl_map_flags flags, size_t offset, size_t bytes)
{
    if (!buffer_is(memory)) {
        return CL_INVALID_MEM_OBJECT;
    }
    if (bytes == 0 || !buffer_holds(memory, offset, bytes) || !mapping_flags_are_good(flags)) {
        return CL_INVALID_VALUE;
    }
    return mapping_check(memory, flags);
}

void *clEnqueueMapBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, cl_map_flags flags, size_t offset,
                         size_t bytes, cl_uint count, const cl_event *events, cl_event *out, cl_int *errcode)
{
    const struct command command = { CL_COMMAND_MAP_BUFFER, ORDER_AS_QUEUE, blocking != CL_FALSE, count, events, out };
    const struct mapped region = { .offset = offset, .region = { bytes, 1, 1 } };
    cl_int error = transfer_check(queue, memory, count, events);
    void *pointer = NULL;

    if (error == CL_SUCCESS) {
        error = check_map_buffer(memory, flags, offset, bytes);
    }
    if (error == CL_SUCCESS) {
        if (flags != CL_MAP_READ) {
            marks_set(memory, offset, bytes);
        }
        pointer = mapping_take(queue, &command, memory, flags, &region, &error);
    }
    if (errcode) {
        *errcode = error;
    }
    return pointer;
}

cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem memory, void *pointer, cl_uint count,
                               const cl_event *events, cl_event *out)
{
    const struct command command = { CL_COMMAND_UNMAP_MEM_OBJECT, ORDER_AS_QUEUE, false, count, events, out };
    cl_int error = transfer_check(queue, memory, count, events);

    if (error != CL_SUCCESS) {
        return error;
    }
    struct mapped *mapped = forget_mapping(memory, pointer);
    if (!mapped) {
        return CL_INVALID_VALUE;
    }
    struct work work = unmap_work(memory, mapped);
    if (mapped->writes) {
        work.writes = mapped_rows(memory, mapped);
    }
    free(mapped);
    return queue_take(queue, &command, &work);
}
