/* SPDX-License-Identifier: MIT */
#include "opencl/api/transfer.h"

#include <stdlib.h>
#include <string.h>

#include "opencl/api/buffer.h"
#include "opencl/api/marks.h"
#include "opencl/api/queue.h"
#include "ppu/macros.h"

/* ---- work ---- */

static cl_int run_box(cl_event event)
{
    const struct box *box = &event->work.box;

    for (size_t z = 0; z < box->region[2]; z++) {
        for (size_t y = 0; y < box->region[1]; y++) {
            memmove(box->dst + z * box->dst_slice + y * box->dst_row, box->src + z * box->src_slice + y * box->src_row,
                    box->region[0]);
        }
    }
    return CL_SUCCESS;
}

struct work transfer_box(const struct box *box)
{
    return (struct work){ .executor = WORK_ON_HOST, .run = run_box, .box = *box };
}

struct work transfer_bytes(void *dst, const void *src, size_t bytes)
{
    return (struct work){
        .executor = WORK_ON_HOST,
        .run = run_box,
        .box = { .dst = dst, .src = src, .region = { bytes, 1, 1 } },
    };
}

static cl_int run_fill(cl_event event)
{
    const struct fill *fill = &event->work.fill;

    for (size_t done = 0; done < fill->bytes; done += fill->pattern_bytes) {
        memcpy(fill->dst + done, fill->pattern, fill->pattern_bytes);
    }
    return CL_SUCCESS;
}

bool transfer_fill(struct work *work, void *dst, size_t bytes, const void *pattern, size_t pattern_bytes)
{
    if (!pattern || pattern_bytes == 0 || pattern_bytes > sizeof(work->fill.pattern) ||
        !PPU_IS_POWER_OF_TWO(pattern_bytes) || bytes % pattern_bytes != 0) {
        return false;
    }
    *work = (struct work){ .executor = WORK_ON_HOST, .run = run_fill };
    work->fill.dst = dst;
    work->fill.bytes = bytes;
    work->fill.pattern_bytes = pattern_bytes;
    memcpy(work->fill.pattern, pattern, pattern_bytes);
    return true;
}

static void build_copy(cl_event event, struct ppu_block *block, struct ppu_stream *stream)
{
    const struct device_copy *copy = &event->work.copy;

    (void)stream;
    ppu_block_copy(block, (ppu_va_t){ copy->dst_va }, (ppu_va_t){ copy->src_va }, copy->bytes);
}

struct work transfer_needing(struct work work, cl_mem first, cl_mem second)
{
    work.needs[0] = first;
    work.needs[1] = second;
    for (uint32_t i = 0; i < 2; i++) {
        if (work.needs[i]) {
            object_use(work.needs[i]);
        }
    }
    return work;
}

struct work_span transfer_span(cl_mem buffer, size_t offset, size_t bytes)
{
    return (struct work_span){ .va = buffer->va + offset, .bytes = bytes };
}

struct work_span transfer_rows(cl_mem memory, size_t offset, const size_t region[3], size_t row, size_t slice)
{
    return (struct work_span){ memory->va + offset, region[0], row, slice, region[1] - 1, region[2] - 1 };
}

/* ---- checks ---- */

cl_int transfer_check(cl_command_queue queue, cl_mem memory, cl_uint count, const cl_event *events)
{
    if (!queue_is_for_host(queue)) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    if (!memory_is(memory)) {
        return CL_INVALID_MEM_OBJECT;
    }
    return memory->context == queue->context ? wait_list_check(queue->context, count, events) : CL_INVALID_CONTEXT;
}

static cl_int check_transfer(cl_command_queue queue, cl_mem memory, cl_uint count, const cl_event *events)
{
    if (queue_is_for_host(queue) && !buffer_is(memory)) {
        return CL_INVALID_MEM_OBJECT;
    }
    return transfer_check(queue, memory, count, events);
}

static bool overlap(uint64_t a, uint64_t b, uint64_t bytes)
{
    return a < b + bytes && b < a + bytes;
}

/* ---- read, write ---- */

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, size_t offset, size_t bytes,
                           void *to, cl_uint count, const cl_event *events, cl_event *out)
{
    const struct command command = { CL_COMMAND_READ_BUFFER, ORDER_AS_QUEUE, blocking != CL_FALSE, count, events, out };
    cl_int error = check_transfer(queue, memory, count, events);

    if (error != CL_SUCCESS) {
        return error;
    }
    if (!to || bytes == 0 || !buffer_holds(memory, offset, bytes)) {
        return CL_INVALID_VALUE;
    }
    if (!memory_host_may_read(memory)) {
        return CL_INVALID_OPERATION;
    }
    struct work work = transfer_needing(transfer_bytes(to, memory->at + offset, bytes), memory, NULL);
    work.reads = transfer_span(memory, offset, bytes);
    return queue_take(queue, &command, &work);
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, size_t offset, size_t bytes,
                            const void *from, cl_uint count, const cl_event *events, cl_event *out)
{
    const struct command command = {
        CL_COMMAND_WRITE_BUFFER, ORDER_AS_QUEUE, blocking != CL_FALSE, count, events, out
    };
    cl_int error = check_transfer(queue, memory, count, events);

    if (error != CL_SUCCESS) {
        return error;
    }
    if (!from || bytes == 0 || !buffer_holds(memory, offset, bytes)) {
        return CL_INVALID_VALUE;
    }
    if (!memory_host_may_write(memory)) {
        return CL_INVALID_OPERATION;
    }
    marks_set(memory, offset, bytes);
    struct work work = transfer_needing(transfer_bytes(memory->at + offset, from, bytes), memory, NULL);
    work.writes = transfer_span(memory, offset, bytes);
    return queue_take(queue, &command, &work);
}

/* ---- rectangles ---- */

struct pitches {
    size_t row, slice;
};

/* Pitches of 0 are as small as they can be; false: they are smaller. */
static bool settle_pitches(struct pitches *pitches, const size_t region[3])
{
    pitches->row = pitches->row != 0 ? pitches->row : region[0];
    if (pitches->row < region[0]) {
        return false;
    }
    size_t smallest = 0;
    if (__builtin_mul_overflow(pitches->row, region[1], &smallest)) {
        return false;
    }
    pitches->slice = pitches->slice != 0 ? pitches->slice : smallest;
    return pitches->slice >= smallest && pitches->slice % pitches->row == 0;
}

/* Sum of products; false: too large to be anywhere. */
static bool offset_of(const size_t at[3], const struct pitches *pitches, size_t *offset)
{
    size_t rows = 0, slices = 0;

    return !__builtin_mul_overflow(at[1], pitches->row, &rows) &&
           !__builtin_mul_overflow(at[2], pitches->slice, &slices) && !__builtin_add_overflow(at[0], rows, offset) &&
           !__builtin_add_overflow(*offset, slices, offset);
}

/* First byte and bytes up to the last one. */
static bool extent_of(const size_t origin[3], const size_t region[3], const struct pitches *pitches, size_t *first,
                      size_t *bytes)
{
    const size_t last[3] = { region[0] - 1, region[1] - 1, region[2] - 1 };
    size_t end = 0;

    return offset_of(origin, pitches, first) && offset_of(last, pitches, &end) && end < SIZE_MAX &&
           (*bytes = end + 1) > 0;
}

static bool region_is_good(const size_t region[3])
{
    return region && region[0] != 0 && region[1] != 0 && region[2] != 0;
}

/* One side of a copy of rectangles. */
struct side {
    cl_mem memory; /* NULL: of the host */
    uint8_t *base;
    const size_t *origin;
    struct pitches pitches;
    size_t first, bytes;
};

static bool side_settle(struct side *side, const size_t region[3])
{
    if (!side->base || !side->origin || !settle_pitches(&side->pitches, region) ||
        !extent_of(side->origin, region, &side->pitches, &side->first, &side->bytes)) {
        return false;
    }
    return !side->memory || buffer_holds(side->memory, side->first, side->bytes);
}

/* Marks what a box writes, row by row. */
static void mark_box(const struct side *dst, const size_t region[3])
{
    for (size_t z = 0; z < region[2] && dst->memory; z++) {
        for (size_t y = 0; y < region[1]; y++) {
            marks_set(dst->memory, dst->first + z * dst->pitches.slice + y * dst->pitches.row, region[0]);
        }
    }
}

static struct work box_work(const struct side *dst, const struct side *src, const size_t region[3])
{
    struct work work = {
        .executor = WORK_ON_HOST,
        .run = run_box,
        .box = {
            .dst = dst->base + dst->first,
            .src = src->base + src->first,
            .region = { region[0], region[1], region[2] },
            .dst_row = dst->pitches.row,
            .dst_slice = dst->pitches.slice,
            .src_row = src->pitches.row,
            .src_slice = src->pitches.slice,
        },
    };

    if (src->memory) {
        work.reads = transfer_rows(src->memory, src->first, region, src->pitches.row, src->pitches.slice);
    }
    if (dst->memory) {
        work.writes = transfer_rows(dst->memory, dst->first, region, dst->pitches.row, dst->pitches.slice);
    }
    mark_box(dst, region);
    return transfer_needing(work, dst->memory, src->memory);
}

static cl_int take_box(cl_command_queue queue, const struct command *command, struct side *dst, struct side *src,
                       const size_t region[3])
{
    if (!region_is_good(region) || !side_settle(dst, region) || !side_settle(src, region)) {
        return CL_INVALID_VALUE;
    }
    struct work work = box_work(dst, src, region);
    return queue_take(queue, command, &work);
}

cl_int clEnqueueReadBufferRect(cl_command_queue queue, cl_mem memory, cl_bool blocking, const size_t *buffer_origin,
                               const size_t *host_origin, const size_t *region, size_t buffer_row, size_t buffer_slice,
                               size_t host_row, size_t host_slice, void *to, cl_uint count, const cl_event *events,
                               cl_event *out)
{
    const struct command command = {
        CL_COMMAND_READ_BUFFER_RECT, ORDER_AS_QUEUE, blocking != CL_FALSE, count, events, out
    };
    cl_int error = check_transfer(queue, memory, count, events);

    if (error != CL_SUCCESS) {
        return error;
    }
    if (!memory_host_may_read(memory)) {
        return CL_INVALID_OPERATION;
    }
    struct side dst = { .base = to, .origin = host_origin, .pitches = { host_row, host_slice } };
    struct side src = { memory, memory->at, buffer_origin, { buffer_row, buffer_slice }, 0, 0 };
    return take_box(queue, &command, &dst, &src, region);
}

cl_int clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem memory, cl_bool blocking, const size_t *buffer_origin,
                                const size_t *host_origin, const size_t *region, size_t buffer_row, size_t buffer_slice,
                                size_t host_row, size_t host_slice, const void *from, cl_uint count,
                                const cl_event *events, cl_event *out)
{
    const struct command command = {
        CL_COMMAND_WRITE_BUFFER_RECT, ORDER_AS_QUEUE, blocking != CL_FALSE, count, events, out
    };
    cl_int error = check_transfer(queue, memory, count, events);

    if (error != CL_SUCCESS) {
        return error;
    }
    if (!memory_host_may_write(memory)) {
        return CL_INVALID_OPERATION;
    }
    struct side dst = { memory, memory->at, buffer_origin, { buffer_row, buffer_slice }, 0, 0 };
    /* The host's side of a write is only read. */
    struct side src = { .base = (uint8_t *)(uintptr_t)from,
                        .origin = host_origin,
                        .pitches = { host_row, host_slice } };
    return take_box(queue, &command, &dst, &src, region);
}

/* ---- copies ---- */

static cl_int check_copy(cl_command_queue queue, cl_mem src, cl_mem dst, cl_uint count, const cl_event *events)
{
    cl_int error = check_transfer(queue, src, count, events);

    return error == CL_SUCCESS ? check_transfer(queue, dst, count, events) : error;
}

cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem src, cl_mem dst, size_t src_offset, size_t dst_offset,
                           size_t bytes, cl_uint count, const cl_event *events, cl_event *out)
{
    const struct command command = { CL_COMMAND_COPY_BUFFER, ORDER_AS_QUEUE, false, count, events, out };
    cl_int error = check_copy(queue, src, dst, count, events);

    if (error != CL_SUCCESS) {
        return error;
    }
    if (bytes == 0 || !buffer_holds(src, src_offset, bytes) || !buffer_holds(dst, dst_offset, bytes)) {
        return CL_INVALID_VALUE;
    }
    if (overlap(src->va + src_offset, dst->va + dst_offset, bytes)) {
        return CL_MEM_COPY_OVERLAP;
    }
    marks_set(dst, dst_offset, bytes);
    struct work work = transfer_bytes(dst->at + dst_offset, src->at + src_offset, bytes);
    if (queue->ppu_index == 0) { /* the device that both lie on */
        work = (struct work){ .executor = WORK_ON_DEVICE, .build = build_copy };
        work.copy = (struct device_copy){ dst->va + dst_offset, src->va + src_offset, bytes };
    }
    work = transfer_needing(work, src, dst);
    work.reads = transfer_span(src, src_offset, bytes);
    work.writes = transfer_span(dst, dst_offset, bytes);
    return queue_take(queue, &command, &work);
}

/* True when the rows of two boxes in the same bytes meet, the pitches being alike. */
static bool boxes_meet(const struct side *a, const struct side *b, const size_t region[3])
{
    const struct pitches *p = &a->pitches;
    size_t a_at = a->first, b_at = b->first;
    bool meet = false;

    for (size_t z = 0; z < region[2] && !meet; z++) {
        for (size_t y = 0; y < region[1] && !meet; y++) {
            size_t row = a_at + z * p->slice + y * p->row;
            /* Looks at the row of b that begins at or before this one, and at the next. */
            for (size_t k = 0; k < 2 && !meet; k++) {
                size_t from = row + (k == 0 ? 0 : region[0] - 1);
                if (from < b_at) {
                    continue;
                }
                size_t slice = (from - b_at) / p->slice;
                size_t left = (from - b_at) % p->slice;
                meet = slice < region[2] && left / p->row < region[1] && left % p->row < region[0];
            }
        }
    }
    return meet;
}

static bool copy_overlaps(const struct side *dst, const struct side *src, const size_t region[3])
{
    struct side a = *dst, b = *src;

    /* Sub-buffers of one buffer share its bytes: compare places in that. */
    a.first += dst->memory->origin;
    b.first += src->memory->origin;
    return memory_root(dst->memory) == memory_root(src->memory) &&
           (boxes_meet(&a, &b, region) || boxes_meet(&b, &a, region));
}

cl_int clEnqueueCopyBufferRect(cl_command_queue queue, cl_mem src_memory, cl_mem dst_memory, const size_t *src_origin,
                               const size_t *dst_origin, const size_t *region, size_t src_row, size_t src_slice,
                               size_t dst_row, size_t dst_slice, cl_uint count, const cl_event *events, cl_event *out)
{
    const struct command command = { CL_COMMAND_COPY_BUFFER_RECT, ORDER_AS_QUEUE, false, count, events, out };
    cl_int error = check_copy(queue, src_memory, dst_memory, count, events);

    if (error != CL_SUCCESS) {
        return error;
    }
    struct side dst = { dst_memory, dst_memory->at, dst_origin, { dst_row, dst_slice }, 0, 0 };
    struct side src = { src_memory, src_memory->at, src_origin, { src_row, src_slice }, 0, 0 };
    if (!region_is_good(region) || !side_settle(&dst, region) || !side_settle(&src, region)) {
        return CL_INVALID_VALUE;
    }
    if (src_memory == dst_memory && (dst.pitches.row != src.pitches.row || dst.pitches.slice != src.pitches.slice)) {
        return CL_INVALID_VALUE;
    }
    if (dst.pitches.row == src.pitches.row && dst.pitches.slice == src.pitches.slice &&
        copy_overlaps(&dst, &src, region)) {
        return CL_MEM_COPY_OVERLAP;
    }
    struct work work = box_work(&dst, &src, region);
    return queue_take(queue, &command, &work);
}

cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem memory, const void *pattern, size_t pattern_bytes,
                           size_t offset, size_t bytes, cl_uint count, const cl_event *events, cl_event *out)
{
    const struct command command = { CL_COMMAND_FILL_BUFFER, ORDER_AS_QUEUE, false, count, events, out };
    cl_int error = check_transfer(queue, memory, count, events);
    struct work work;

    if (error != CL_SUCCESS) {
        return error;
    }
    if (!buffer_holds(memory, offset, bytes) ||
        !transfer_fill(&work, memory->at + offset, bytes, pattern, pattern_bytes) || offset % pattern_bytes != 0) {
        return CL_INVALID_VALUE;
    }
    marks_set(memory, offset, bytes);
    work = transfer_needing(work, memory, NULL);
    work.writes = transfer_span(memory, offset, bytes);
    return queue_take(queue, &command, &work);
}

/* ---- migration ---- */

bool transfer_migrate_flags_are_good(cl_mem_migration_flags flags)
{
    return (flags & ~(cl_mem_migration_flags)(CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED)) ==
           0;
}

/* Memory lies where both sides see it: only order is asked for. */
cl_int clEnqueueMigrateMemObjects(cl_command_queue queue, cl_uint count_memories, const cl_mem *memories,
                                  cl_mem_migration_flags flags, cl_uint count, const cl_event *events, cl_event *out)
{
    const struct command command = { CL_COMMAND_MIGRATE_MEM_OBJECTS, ORDER_AS_QUEUE, false, count, events, out };
    struct work nothing = { .executor = WORK_NOWHERE };
    cl_int error = command_check(queue, count, events);

    if (error == CL_SUCCESS && (count_memories == 0 || !memories || !transfer_migrate_flags_are_good(flags))) {
        error = CL_INVALID_VALUE;
    }
    for (cl_uint i = 0; i < count_memories && error == CL_SUCCESS; i++) {
        error = transfer_check(queue, memories[i], count, events);
    }
    return error == CL_SUCCESS ? queue_take(queue, &command, &nothing) : error;
}
