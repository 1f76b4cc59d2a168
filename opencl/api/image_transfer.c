/* SPDX-License-Identifier: MIT */
/* Moves texels: reads, writes, copies, fills, maps of images. The thread of the queue does them. */
#include <string.h>

#include "opencl/api/buffer.h"
#include "opencl/api/image.h"
#include "opencl/api/image_format.h"
#include "opencl/api/mapping.h"
#include "opencl/api/marks.h"
#include "opencl/api/queue.h"
#include "opencl/api/transfer.h"

/* ---- checks ---- */

static cl_int check_image(cl_command_queue queue, cl_mem image, cl_uint count, const cl_event *events)
{
    if (queue_is_for_host(queue) && !image_is(image)) {
        return CL_INVALID_MEM_OBJECT;
    }
    return transfer_check(queue, image, count, events);
}

/* Every coordinate that the image has not is 0, and its region 1: the extent says so. */
static bool image_holds(const struct image *image, const size_t *origin, const size_t *region)
{
    bool holds = origin && region;

    for (uint32_t i = 0; i < 3 && holds; i++) {
        holds = region[i] > 0 && region[i] <= image->extent[i] && origin[i] <= image->extent[i] - region[i];
    }
    return holds;
}

static size_t texel_offset(const struct image *image, const size_t *origin)
{
    return origin[0] * image->pitch[0] + origin[1] * image->pitch[1] + origin[2] * image->pitch[2];
}

static bool has_slices(const struct image *image)
{
    return image->desc.image_slice_pitch != 0;
}

/* Distances in memory that is no image, between neighbours in the second and the third coordinate. */
struct distances {
    size_t row, slice;
};

/* Takes the pitches that a program gives, 0 being the smallest; false: they do not fit, or are too large. */
static bool take_pitches(const struct image *image, const size_t *region, size_t row, size_t slice,
                         struct distances *distances)
{
    const size_t bytes = region[0] * image->texel_bytes, rows = image_has_lines(image) ? 1 : region[1];
    size_t smallest = 0, end = 0;

    row = row != 0 ? row : bytes;
    if (row < bytes || __builtin_mul_overflow(row, rows, &smallest) || (slice != 0 && !has_slices(image))) {
        return false;
    }
    slice = slice != 0 ? slice : smallest;
    const size_t slices = image_has_lines(image) ? region[1] : region[2];
    *distances = image_has_lines(image) ? (struct distances){ slice, 0 } : (struct distances){ row, slice };
    return slice >= smallest && !__builtin_mul_overflow(slice, slices, &end);
}

/* ---- read, write ---- */

/* A box of the image, its side in the image not yet told from the other. */
static struct box image_box(const struct image *image, const size_t *region)
{
    return (struct box){ .region = { region[0] * image->texel_bytes, region[1], region[2] },
                         .dst_row = image->pitch[1],
                         .dst_slice = image->pitch[2],
                         .src_row = image->pitch[1],
                         .src_slice = image->pitch[2] };
}

/* An image may have been made of a buffer, which kernels access. */
static struct work_span image_rows(cl_mem memory, const size_t *origin, const size_t *region)
{
    const struct image *image = memory->image;
    const size_t bytes[3] = { region[0] * image->texel_bytes, region[1], region[2] };

    return transfer_rows(memory, texel_offset(image, origin), bytes, image->pitch[1], image->pitch[2]);
}

static struct work work_from(cl_mem memory, const size_t *origin, const size_t *region, void *to,
                             const struct distances *distances, cl_mem other)
{
    struct box box = image_box(memory->image, region);

    box.src = memory->at + texel_offset(memory->image, origin);
    box.dst = to;
    box.dst_row = distances->row;
    box.dst_slice = distances->slice;
    struct work work = transfer_needing(transfer_box(&box), memory, other);
    work.reads = image_rows(memory, origin, region);
    return work;
}

static struct work work_to(cl_mem memory, const size_t *origin, const size_t *region, const void *from,
                           const struct distances *distances, cl_mem other)
{
    struct box box = image_box(memory->image, region);

    box.dst = memory->at + texel_offset(memory->image, origin);
    box.src = from;
    box.src_row = distances->row;
    box.src_slice = distances->slice;
    struct work work = transfer_needing(transfer_box(&box), memory, other);
    work.writes = image_rows(memory, origin, region);
    return work;
}

cl_int clEnqueueReadImage(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin,
                          const size_t *region, size_t row_pitch, size_t slice_pitch, void *to, cl_uint count,
                          const cl_event *events, cl_event *out)
{
    const struct command command = { CL_COMMAND_READ_IMAGE, ORDER_AS_QUEUE, blocking != CL_FALSE, count, events, out };
    cl_int error = check_image(queue, image, count, events);
    struct distances distances;

    if (error != CL_SUCCESS) {
        return error;
    }
    if (!to || !image_holds(image->image, origin, region) ||
        !take_pitches(image->image, region, row_pitch, slice_pitch, &distances)) {
        return CL_INVALID_VALUE;
    }
    if (!memory_host_may_read(image)) {
        return CL_INVALID_OPERATION;
    }
    struct work work = work_from(image, origin, region, to, &distances, NULL);
    return queue_take(queue, &command, &work);
}

cl_int clEnqueueWriteImage(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin,
                           const size_t *region, size_t row_pitch, size_t slice_pitch, const void *from, cl_uint count,
                           const cl_event *events, cl_event *out)
{
    const struct command command = { CL_COMMAND_WRITE_IMAGE, ORDER_AS_QUEUE, blocking != CL_FALSE, count, events, out };
    cl_int error = check_image(queue, image, count, events);
    struct distances distances;

    if (error != CL_SUCCESS) {
        return error;
    }
    if (!from || !image_holds(image->image, origin, region) ||
        !take_pitches(image->image, region, row_pitch, slice_pitch, &distances)) {
        return CL_INVALID_VALUE;
    }
    if (!memory_host_may_write(image)) {
        return CL_INVALID_OPERATION;
    }
    struct work work = work_to(image, origin, region, from, &distances, NULL);
    return queue_take(queue, &command, &work);
}

/* ---- fill ---- */

static cl_int run_fill(cl_event event)
{
    const struct texel_fill *fill = &event->work.texel_fill;

    for (size_t z = 0; z < fill->region[2]; z++) {
        for (size_t y = 0; y < fill->region[1]; y++) {
            uint8_t *row = fill->dst + z * fill->slice + y * fill->row;
            for (size_t x = 0; x < fill->region[0]; x++) {
                memcpy(row + x * fill->texel_bytes, fill->texel, fill->texel_bytes);
            }
        }
    }
    return CL_SUCCESS;
}

cl_int clEnqueueFillImage(cl_command_queue queue, cl_mem image, const void *color, const size_t *origin,
                          const size_t *region, cl_uint count, const cl_event *events, cl_event *out)
{
    const struct command command = { CL_COMMAND_FILL_IMAGE, ORDER_AS_QUEUE, false, count, events, out };
    cl_int error = check_image(queue, image, count, events);
    struct work work = { .executor = WORK_ON_HOST, .run = run_fill };

    if (error != CL_SUCCESS) {
        return error;
    }
    if (!color || !image_holds(image->image, origin, region)) {
        return CL_INVALID_VALUE;
    }
    const struct image *filled = image->image;
    work.texel_fill = (struct texel_fill){ .dst = image->at + texel_offset(filled, origin),
                                           .region = { region[0], region[1], region[2] },
                                           .row = filled->pitch[1],
                                           .slice = filled->pitch[2],
                                           .texel_bytes = filled->texel_bytes };
    image_format_encode(&filled->format, color, work.texel_fill.texel);
    work = transfer_needing(work, image, NULL);
    work.writes = image_rows(image, origin, region);
    return queue_take(queue, &command, &work);
}

/* ---- copies ---- */

static cl_int check_pair(cl_command_queue queue, cl_mem src, cl_mem dst, cl_uint count, const cl_event *events)
{
    cl_int error = transfer_check(queue, src, count, events);

    return error == CL_SUCCESS ? transfer_check(queue, dst, count, events) : error;
}

static bool formats_match(const struct image *a, const struct image *b)
{
    return a->format.image_channel_order == b->format.image_channel_order &&
           a->format.image_channel_data_type == b->format.image_channel_data_type;
}

/* Regions of one image. */
static bool regions_meet(const size_t *a, const size_t *b, const size_t *region)
{
    bool meet = true;

    for (uint32_t i = 0; i < 3; i++) {
        meet &= a[i] < b[i] + region[i] && b[i] < a[i] + region[i];
    }
    return meet;
}

cl_int clEnqueueCopyImage(cl_command_queue queue, cl_mem src, cl_mem dst, const size_t *src_origin,
                          const size_t *dst_origin, const size_t *region, cl_uint count, const cl_event *events,
                          cl_event *out)
{
    const struct command command = { CL_COMMAND_COPY_IMAGE, ORDER_AS_QUEUE, false, count, events, out };
    cl_int error = check_pair(queue, src, dst, count, events);

    if (error != CL_SUCCESS) {
        return error;
    }
    if (!image_is(src) || !image_is(dst)) {
        return CL_INVALID_MEM_OBJECT;
    }
    if (!formats_match(src->image, dst->image)) {
        return CL_IMAGE_FORMAT_MISMATCH;
    }
    if (!image_holds(src->image, src_origin, region) || !image_holds(dst->image, dst_origin, region)) {
        return CL_INVALID_VALUE;
    }
    if (src == dst && regions_meet(src_origin, dst_origin, region)) {
        return CL_MEM_COPY_OVERLAP;
    }
    const struct distances distances = { dst->image->pitch[1], dst->image->pitch[2] };
    struct work work =
        work_from(src, src_origin, region, dst->at + texel_offset(dst->image, dst_origin), &distances, dst);
    work.writes = image_rows(dst, dst_origin, region);
    return queue_take(queue, &command, &work);
}

/* The texels of a region lie in a buffer one behind the other. */
static struct distances tight(const struct image *image, const size_t *region)
{
    const size_t row = region[0] * image->texel_bytes;

    return (struct distances){ row, row * region[1] };
}

static cl_int check_with_buffer(cl_mem image, cl_mem buffer, const size_t *origin, const size_t *region, size_t offset)
{
    if (!image_is(image) || !buffer_is(buffer)) {
        return CL_INVALID_MEM_OBJECT;
    }
    if (!image_holds(image->image, origin, region) ||
        !buffer_holds(buffer, offset, tight(image->image, region).slice * region[2])) {
        return CL_INVALID_VALUE;
    }
    return CL_SUCCESS;
}

cl_int clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem src, cl_mem dst, const size_t *origin,
                                  const size_t *region, size_t offset, cl_uint count, const cl_event *events,
                                  cl_event *out)
{
    const struct command command = { CL_COMMAND_COPY_IMAGE_TO_BUFFER, ORDER_AS_QUEUE, false, count, events, out };
    cl_int error = check_pair(queue, src, dst, count, events);

    error = error == CL_SUCCESS ? check_with_buffer(src, dst, origin, region, offset) : error;
    if (error != CL_SUCCESS) {
        return error;
    }
    const struct distances distances = tight(src->image, region);
    marks_set(dst, offset, distances.slice * region[2]);
    struct work work = work_from(src, origin, region, dst->at + offset, &distances, dst);
    work.writes = transfer_span(dst, offset, distances.slice * region[2]);
    return queue_take(queue, &command, &work);
}

cl_int clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem src, cl_mem dst, size_t offset, const size_t *origin,
                                  const size_t *region, cl_uint count, const cl_event *events, cl_event *out)
{
    const struct command command = { CL_COMMAND_COPY_BUFFER_TO_IMAGE, ORDER_AS_QUEUE, false, count, events, out };
    cl_int error = check_pair(queue, src, dst, count, events);

    error = error == CL_SUCCESS ? check_with_buffer(dst, src, origin, region, offset) : error;
    if (error != CL_SUCCESS) {
        return error;
    }
    const struct distances distances = tight(dst->image, region);
    struct work work = work_to(dst, origin, region, src->at + offset, &distances, src);
    work.reads = transfer_span(src, offset, distances.slice * region[2]);
    return queue_take(queue, &command, &work);
}

/* ---- map ---- */

static cl_int check_map(cl_mem image, cl_map_flags flags, const size_t *origin, const size_t *region,
                        const size_t *row_pitch, const size_t *slice_pitch)
{
    if (!image_holds(image->image, origin, region) || !mapping_flags_are_good(flags) || !row_pitch ||
        (!slice_pitch && has_slices(image->image))) {
        return CL_INVALID_VALUE;
    }
    return mapping_check(image, flags);
}

void *clEnqueueMapImage(cl_command_queue queue, cl_mem image, cl_bool blocking, cl_map_flags flags,
                        const size_t *origin, const size_t *region, size_t *row_pitch, size_t *slice_pitch,
                        cl_uint count, const cl_event *events, cl_event *out, cl_int *errcode)
{
    const struct command command = { CL_COMMAND_MAP_IMAGE, ORDER_AS_QUEUE, blocking != CL_FALSE, count, events, out };
    cl_int error = check_image(queue, image, count, events);
    void *pointer = NULL;

    if (error == CL_SUCCESS) {
        error = check_map(image, flags, origin, region, row_pitch, slice_pitch);
    }
    if (error == CL_SUCCESS) {
        const struct image *mapped = image->image;
        const struct mapped box = { .offset = texel_offset(mapped, origin),
                                    .region = { region[0] * mapped->texel_bytes, region[1], region[2] },
                                    .row = mapped->pitch[1],
                                    .slice = mapped->pitch[2] };
        pointer = mapping_take(queue, &command, image, flags, &box, &error);
    }
    if (pointer) {
        *row_pitch = image->image->desc.image_row_pitch;
        if (slice_pitch) {
            *slice_pitch = image->image->desc.image_slice_pitch;
        }
    }
    if (errcode) {
        *errcode = error;
    }
    return pointer;
}
