/* SPDX-License-Identifier: MIT */
#include "opencl/api/command_buffer.h"

#include <stdlib.h>
#include <string.h>

#include "opencl/api/cl_command_buffer.h"
#include "opencl/api/info.h"
#include "ppu/macros.h"

#define FIRST_ROOM 16u

/* ---- life ---- */

void command_buffer_destroy(void *object)
{
    cl_command_buffer_khr buffer = object;

    for (cl_uint i = 0; i < buffer->count; i++) {
        work_drop(&buffer->recorded[i].work);
        free(buffer->recorded[i].on);
    }
    free(buffer->recorded);
    free(buffer->properties);
    pthread_mutex_destroy(&buffer->lock);
    object_drop(buffer->recorder);
    object_drop(buffer->queue);
    object_drop(buffer->context);
    free(buffer);
}

/* No flag changes what a command buffer is here: it can be enqueued again while it runs. */
static cl_int check_properties(const cl_command_buffer_properties_khr *properties)
{
    for (; properties && *properties != 0; properties += 2) {
        if (properties[0] != CL_COMMAND_BUFFER_FLAGS_KHR) {
            return CL_INVALID_VALUE;
        }
        if (properties[1] != 0) {
            return CL_INVALID_PROPERTY;
        }
    }
    return CL_SUCCESS;
}

static cl_int keep_properties(cl_command_buffer_khr buffer, const cl_command_buffer_properties_khr *properties)
{
    size_t count = 0;

    if (!properties) {
        return CL_SUCCESS;
    }
    while (properties[count] != 0) {
        count += 2;
    }
    buffer->property_bytes = (count + 1) * sizeof(properties[0]);
    buffer->properties = malloc(buffer->property_bytes);
    if (!buffer->properties) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    memcpy(buffer->properties, properties, buffer->property_bytes);
    return CL_SUCCESS;
}

static cl_command_buffer_khr buffer_new(cl_command_queue queue)
{
    cl_command_buffer_khr buffer = calloc(1, sizeof(*buffer));

    if (!buffer) {
        return NULL;
    }
    object_init(&buffer->object, OBJECT_command_buffer);
    buffer->context = queue->context;
    buffer->queue = queue;
    object_use(buffer->context);
    object_use(queue);
    pthread_mutex_init(&buffer->lock, NULL);
    buffer->recorder = queue_recorder(queue, buffer);
    if (!buffer->recorder) {
        clReleaseCommandBufferKHR(buffer);
        return NULL;
    }
    return buffer;
}

cl_command_buffer_khr command_buffer_create(cl_uint num_queues, const cl_command_queue *queues,
                                            const cl_command_buffer_properties_khr *properties, cl_int *errcode)
{
    cl_command_buffer_khr buffer = NULL;
    cl_int error = num_queues == 1 && queues ? CL_SUCCESS : CL_INVALID_VALUE;

    if (error == CL_SUCCESS && !queue_is_for_host(queues[0])) {
        error = object_is(queues[0], OBJECT_queue) ? CL_INCOMPATIBLE_COMMAND_QUEUE_KHR : CL_INVALID_COMMAND_QUEUE;
    }
    if (error == CL_SUCCESS) {
        error = check_properties(properties);
    }
    if (error == CL_SUCCESS) {
        buffer = buffer_new(queues[0]);
        error = buffer ? keep_properties(buffer, properties) : CL_OUT_OF_HOST_MEMORY;
    }
    if (error != CL_SUCCESS && buffer) {
        clReleaseCommandBufferKHR(buffer);
        buffer = NULL;
    }
    if (errcode) {
        *errcode = error;
    }
    return buffer;
}

cl_int command_buffer_finalize(cl_command_buffer_khr buffer)
{
    if (!object_is(buffer, OBJECT_command_buffer)) {
        return CL_INVALID_COMMAND_BUFFER_KHR;
    }
    pthread_mutex_lock(&buffer->lock);
    cl_int error = buffer->executable ? CL_INVALID_OPERATION : CL_SUCCESS;
    buffer->executable = true;
    pthread_mutex_unlock(&buffer->lock);
    return error;
}

/* ---- recording ---- */

static bool make_room(cl_command_buffer_khr buffer)
{
    if (buffer->count < buffer->room) {
        return true;
    }
    const cl_uint room = buffer->room > 0 ? 2 * buffer->room : FIRST_ROOM;
    struct recorded *grown = realloc(buffer->recorded, room * sizeof(grown[0]));
    if (grown) {
        buffer->recorded = grown;
        buffer->room = room;
    }
    return grown;
}

/* With the lock, which whoever records holds. */
cl_int command_buffer_keep(cl_command_buffer_khr buffer, const struct command *command, struct work *work)
{
    const bool repeats = !work->drop || work->own;

    if (!repeats || !make_room(buffer)) {
        work_drop(work);
        return repeats ? CL_OUT_OF_HOST_MEMORY : CL_INVALID_OPERATION;
    }
    buffer->recorded[buffer->count++] =
        (struct recorded){ .type = command->type, .barrier = command->order == ORDER_BARRIER, .work = *work };
    return CL_SUCCESS;
}

/* The parameters that all commands have. */
struct recording {
    cl_command_buffer_khr buffer;
    cl_command_queue queue;
    const cl_properties *properties;
    cl_uint count;
    const cl_sync_point_khr *points;
    cl_sync_point_khr *point;
    cl_mutable_command_khr *mutable_handle;
};

#define RECORDING                                                       \
    {                                                                   \
        buffer, queue, properties, count, points, point, mutable_handle \
    }

static cl_int check_points(const struct recording *r)
{
    if ((r->count == 0) != !r->points) {
        return CL_INVALID_SYNC_POINT_WAIT_LIST_KHR;
    }
    for (cl_uint i = 0; i < r->count; i++) {
        if (r->points[i] == 0 || r->points[i] > r->buffer->count) {
            return CL_INVALID_SYNC_POINT_WAIT_LIST_KHR;
        }
    }
    return CL_SUCCESS;
}

/* Holds the lock from here to end_record() when it is good. Commands cannot be changed afterwards. */
static cl_int begin_record(const struct recording *r)
{
    if (!object_is(r->buffer, OBJECT_command_buffer)) {
        return CL_INVALID_COMMAND_BUFFER_KHR;
    }
    if (r->queue) { /* which only a device with command buffers of several queues is told */
        return CL_INVALID_COMMAND_QUEUE;
    }
    if ((r->properties && *r->properties != 0) || r->mutable_handle) {
        return CL_INVALID_VALUE;
    }
    pthread_mutex_lock(&r->buffer->lock);
    cl_int error = r->buffer->executable ? CL_INVALID_OPERATION : check_points(r);
    if (error != CL_SUCCESS) {
        pthread_mutex_unlock(&r->buffer->lock);
    }
    return error;
}

/* Takes the last command back when its list has no memory. */
static cl_int keep_points(const struct recording *r)
{
    cl_command_buffer_khr buffer = r->buffer;
    struct recorded *last = &buffer->recorded[buffer->count - 1];

    if (r->count > 0) {
        last->on = malloc(r->count * sizeof(last->on[0]));
        if (!last->on) {
            work_drop(&last->work);
            buffer->count--;
            return CL_OUT_OF_HOST_MEMORY;
        }
        memcpy(last->on, r->points, r->count * sizeof(last->on[0]));
        last->waits = r->count;
    }
    if (r->point) {
        *r->point = buffer->count;
    }
    return CL_SUCCESS;
}

static cl_int end_record(const struct recording *r, cl_int error)
{
    if (error == CL_SUCCESS) {
        error = keep_points(r);
    }
    pthread_mutex_unlock(&r->buffer->lock);
    return error;
}

/* Records what a function that enqueues makes. */
#define RECORD(call)                      \
    const struct recording r = RECORDING; \
    cl_int error = begin_record(&r);      \
    return error == CL_SUCCESS ? end_record(&r, (call)) : error

#define RECORDER buffer->recorder
#define AT_ONCE 0, NULL, NULL

cl_int command_buffer_barrier(RECORD_PARAMETERS, SYNC_PARAMETERS)
{
    RECORD(clEnqueueBarrierWithWaitList(RECORDER, AT_ONCE));
}

cl_int command_buffer_copy_buffer(RECORD_PARAMETERS, cl_mem src, cl_mem dst, size_t src_offset, size_t dst_offset,
                                  size_t bytes, SYNC_PARAMETERS)
{
    RECORD(clEnqueueCopyBuffer(RECORDER, src, dst, src_offset, dst_offset, bytes, AT_ONCE));
}

cl_int command_buffer_copy_rect(RECORD_PARAMETERS, cl_mem src, cl_mem dst, const size_t *src_origin,
                                const size_t *dst_origin, const size_t *region, size_t src_row, size_t src_slice,
                                size_t dst_row, size_t dst_slice, SYNC_PARAMETERS)
{
    RECORD(clEnqueueCopyBufferRect(RECORDER, src, dst, src_origin, dst_origin, region, src_row, src_slice, dst_row,
                                   dst_slice, AT_ONCE));
}

cl_int command_buffer_buffer_to_image(RECORD_PARAMETERS, cl_mem src, cl_mem dst, size_t src_offset,
                                      const size_t *dst_origin, const size_t *region, SYNC_PARAMETERS)
{
    RECORD(clEnqueueCopyBufferToImage(RECORDER, src, dst, src_offset, dst_origin, region, AT_ONCE));
}

cl_int command_buffer_copy_image(RECORD_PARAMETERS, cl_mem src, cl_mem dst, const size_t *src_origin,
                                 const size_t *dst_origin, const size_t *region, SYNC_PARAMETERS)
{
    RECORD(clEnqueueCopyImage(RECORDER, src, dst, src_origin, dst_origin, region, AT_ONCE));
}

cl_int command_buffer_image_to_buffer(RECORD_PARAMETERS, cl_mem src, cl_mem dst, const size_t *src_origin,
                                      const size_t *region, size_t dst_offset, SYNC_PARAMETERS)
{
    RECORD(clEnqueueCopyImageToBuffer(RECORDER, src, dst, src_origin, region, dst_offset, AT_ONCE));
}

cl_int command_buffer_fill_buffer(RECORD_PARAMETERS, cl_mem memory, const void *pattern, size_t pattern_bytes,
                                  size_t offset, size_t bytes, SYNC_PARAMETERS)
{
    RECORD(clEnqueueFillBuffer(RECORDER, memory, pattern, pattern_bytes, offset, bytes, AT_ONCE));
}

cl_int command_buffer_fill_image(RECORD_PARAMETERS, cl_mem image, const void *colour, const size_t *origin,
                                 const size_t *region, SYNC_PARAMETERS)
{
    RECORD(clEnqueueFillImage(RECORDER, image, colour, origin, region, AT_ONCE));
}

cl_int command_buffer_kernel(RECORD_PARAMETERS, cl_kernel kernel, cl_uint dim, const size_t *offset,
                             const size_t *global, const size_t *local, SYNC_PARAMETERS)
{
    RECORD(clEnqueueNDRangeKernel(RECORDER, kernel, dim, offset, global, local, AT_ONCE));
}

cl_int command_buffer_svm_copy(RECORD_PARAMETERS, void *dst, const void *src, size_t bytes, SYNC_PARAMETERS)
{
    RECORD(clEnqueueSVMMemcpy(RECORDER, CL_FALSE, dst, src, bytes, AT_ONCE));
}

cl_int command_buffer_svm_fill(RECORD_PARAMETERS, void *dst, const void *pattern, size_t pattern_bytes, size_t bytes,
                               SYNC_PARAMETERS)
{
    RECORD(clEnqueueSVMMemFill(RECORDER, dst, pattern, pattern_bytes, bytes, AT_ONCE));
}

/* ---- enqueueing ---- */

/* One enqueue: what its last command keeps until it has ended. */
struct playback {
    cl_uint count;
    cl_event *events; /* of the commands, referenced */
    cl_event *waits;  /* room for a command's list */
    struct work *works;
};

static void playback_free(struct playback *playback)
{
    for (cl_uint i = 0; playback && playback->events && i < playback->count; i++) {
        if (playback->events[i]) {
            clReleaseEvent(playback->events[i]);
        }
    }
    if (playback) {
        free(playback->events);
        free(playback->waits);
        free(playback->works);
    }
    free(playback);
}

static void drop_playback(struct work *work)
{
    playback_free(work->owned);
}

/* It began when the first of its commands did. */
static void end_playback(struct work *work)
{
    const struct playback *playback = work->owned;
    cl_event event = PPU_CONTAINER_OF(work, struct _cl_event, work);

    for (cl_uint i = 0; i < playback->count; i++) {
        cl_event one = playback->events[i];
        for (int time = TIME_QUEUED; time <= TIME_START; time++) {
            event->time_ns[time] = PPU_MIN(event->time_ns[time], one->time_ns[time]);
        }
    }
}

static bool copy_work(struct work *to, const struct work *from)
{
    *to = *from;
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(to->needs); i++) {
        if (to->needs[i]) {
            object_use(to->needs[i]);
        }
    }
    if (from->own && !from->own(to)) {
        to->drop = NULL;
        work_drop(to);
        return false;
    }
    return true;
}

/* The longest list of a command: the caller's events, its sync points, all commands before it, and one more. */
static size_t most_waits(const struct _cl_command_buffer_khr *buffer, cl_uint given)
{
    size_t points = 0;

    for (cl_uint i = 0; i < buffer->count; i++) {
        points = PPU_MAX(points, buffer->recorded[i].waits);
    }
    return given + points + buffer->count + 1;
}

/* All that needs memory of the host's, before the first command is taken. */
static struct playback *playback_new(const struct _cl_command_buffer_khr *buffer, cl_uint given)
{
    struct playback *playback = calloc(1, sizeof(*playback));
    cl_uint copied = 0;

    if (!playback) {
        return NULL;
    }
    playback->count = buffer->count;
    playback->events = calloc(buffer->count + 1u, sizeof(playback->events[0]));
    playback->waits = calloc(most_waits(buffer, given), sizeof(playback->waits[0]));
    playback->works = calloc(buffer->count + 1u, sizeof(playback->works[0]));
    bool room = playback->events && playback->waits && playback->works;
    while (room && copied < buffer->count && copy_work(&playback->works[copied], &buffer->recorded[copied].work)) {
        copied++;
    }
    if (room && copied == buffer->count) {
        return playback;
    }
    while (copied > 0) {
        work_drop(&playback->works[--copied]);
    }
    playback_free(playback);
    return NULL;
}

static bool is_loose(const struct _cl_command_queue *queue)
{
    return (queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
}

/*
 * The events that command `i` comes after: the caller's, those of its sync points, the last barrier before it, or all
 * before it when it is one that names none; `chained`: the command before it. Returns how many.
 */
static cl_uint list_waits(const struct _cl_command_buffer_khr *buffer, const struct playback *playback, cl_uint i,
                          const struct command *given, bool chained)
{
    const struct recorded *recorded = &buffer->recorded[i];
    cl_uint count = given->count, barrier = i;

    for (cl_uint k = 0; k < count; k++) {
        playback->waits[k] = given->events[k];
    }
    for (cl_uint k = 0; k < recorded->waits; k++) {
        playback->waits[count++] = playback->events[recorded->on[k] - 1];
    }
    if (i > 0 && chained) {
        playback->waits[count++] = playback->events[i - 1];
        return count;
    }
    while (barrier > 0 && !buffer->recorded[barrier - 1].barrier) {
        barrier--;
    }
    if (recorded->barrier && recorded->waits == 0) {
        for (cl_uint k = 0; k < i; k++) {
            playback->waits[count++] = playback->events[k];
        }
    } else if (barrier > 0) {
        playback->waits[count++] = playback->events[barrier - 1];
    }
    return count;
}

/* Takes all commands, and one that ends when they have. The rest is dropped after an error. What was recorded for a
 * queue in order keeps this order in one that is not. */
static cl_int play(cl_command_queue queue, const struct _cl_command_buffer_khr *buffer, struct playback *playback,
                   const struct command *given)
{
    const bool chained = is_loose(queue) && !is_loose(buffer->queue);
    cl_int error = CL_SUCCESS;

    for (cl_uint i = 0; i < buffer->count; i++) {
        if (error != CL_SUCCESS) {
            work_drop(&playback->works[i]);
            continue;
        }
        const struct command command = { .type = buffer->recorded[i].type,
                                         .count = list_waits(buffer, playback, i, given, chained),
                                         .events = playback->waits,
                                         .out = &playback->events[i] };
        error = queue_take(queue, &command, &playback->works[i]);
    }
    if (error != CL_SUCCESS) {
        playback_free(playback);
        return error;
    }
    struct work end = { .executor = WORK_NOWHERE, .drop = drop_playback, .ended = end_playback, .owned = playback };
    const cl_uint waits = buffer->count > 0 ? buffer->count : given->count;
    const struct command last = { .type = CL_COMMAND_COMMAND_BUFFER_KHR,
                                  .count = waits,
                                  .events = buffer->count > 0 ? playback->events : given->events,
                                  .out = given->out };
    return queue_take(queue, &last, &end);
}

/* The queue must be one of the device that the commands were recorded for. */
static cl_int check_queue(const struct _cl_command_buffer_khr *buffer, cl_uint num_queues,
                          const cl_command_queue *queues)
{
    if ((num_queues == 0) != !queues || num_queues > 1) {
        return CL_INVALID_VALUE;
    }
    if (num_queues == 0 || queues[0] == buffer->queue) {
        return CL_SUCCESS;
    }
    if (!object_is(queues[0], OBJECT_queue)) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    if (queues[0]->context != buffer->context) {
        return CL_INVALID_CONTEXT;
    }
    return queues[0]->device == buffer->queue->device ? CL_SUCCESS : CL_INCOMPATIBLE_COMMAND_QUEUE_KHR;
}

cl_int command_buffer_enqueue(cl_uint num_queues, cl_command_queue *queues, cl_command_buffer_khr buffer, cl_uint count,
                              const cl_event *events, cl_event *out)
{
    const struct command given = { .count = count, .events = events, .out = out };

    if (!object_is(buffer, OBJECT_command_buffer)) {
        return CL_INVALID_COMMAND_BUFFER_KHR;
    }
    cl_int error = check_queue(buffer, num_queues, queues);
    if (error != CL_SUCCESS) {
        return error;
    }
    cl_command_queue queue = num_queues == 1 ? queues[0] : buffer->queue;
    error = command_check(queue, count, events);
    if (error != CL_SUCCESS) {
        return error;
    }
    pthread_mutex_lock(&buffer->lock);
    bool executable = buffer->executable;
    struct playback *playback = executable ? playback_new(buffer, count) : NULL;
    pthread_mutex_unlock(&buffer->lock);
    if (!playback) {
        return executable ? CL_OUT_OF_HOST_MEMORY : CL_INVALID_OPERATION;
    }
    /* What was recorded does not change any more. The work at the end owns the playback. */
    return play(queue, buffer, playback, &given); /* NOLINT(clang-analyzer-unix.Malloc) */
}

/* ---- queries ---- */

cl_int command_buffer_info(cl_command_buffer_khr buffer, cl_command_buffer_info_khr query, size_t bytes, void *at,
                           size_t *size_ret)
{
    const struct info_room room = { bytes, at, size_ret };

    if (!object_is(buffer, OBJECT_command_buffer)) {
        return CL_INVALID_COMMAND_BUFFER_KHR;
    }
    pthread_mutex_lock(&buffer->lock);
    bool executable = buffer->executable;
    pthread_mutex_unlock(&buffer->lock);
    switch (query) {
#define INFO_OF_COMMAND_BUFFER
#include "opencl/api/info.def"
    default:
        return CL_INVALID_VALUE;
    }
}
