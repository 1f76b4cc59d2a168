/* SPDX-License-Identifier: MIT */
#include "opencl/api/event.h"

#include <stdlib.h>

#include "opencl/api/footprint.h"
#include "opencl/api/info.h"
#include "opencl/api/queue.h"
#include "opencl/api/record.h"
#include "ppu/macros.h"

#define FIRST_ROOM 4u

/* ---- life ---- */

void event_destroy(void *object)
{
    cl_event event = object;
    cl_context context = event->context;

    object_drop(event->queue);
    while (event->calls) {
        struct call *call = event->calls;
        event->calls = call->next;
        free(call);
    }
    free(event->dependents);
    free(event);
    object_drop(context);
}

const char *event_command_name(const struct _cl_event *event)
{
    static const struct {
        cl_command_type type;
        const char *name;
    } names[] = {
        { CL_COMMAND_NDRANGE_KERNEL, "clEnqueueNDRangeKernel" },
        { CL_COMMAND_SEMAPHORE_WAIT_KHR, "clEnqueueWaitSemaphoresKHR" },
        { CL_COMMAND_SEMAPHORE_SIGNAL_KHR, "clEnqueueSignalSemaphoresKHR" },
        { CL_COMMAND_COMMAND_BUFFER_KHR, "clEnqueueCommandBufferKHR" },
        { CL_COMMAND_TASK, "clEnqueueTask" },
        { CL_COMMAND_NATIVE_KERNEL, "clEnqueueNativeKernel" },
        { CL_COMMAND_MARKER, "clEnqueueMarker" },
        { CL_COMMAND_BARRIER, "clEnqueueBarrier" },
        { CL_COMMAND_READ_BUFFER, "clEnqueueReadBuffer" },
        { CL_COMMAND_WRITE_BUFFER, "clEnqueueWriteBuffer" },
        { CL_COMMAND_READ_BUFFER_RECT, "clEnqueueReadBufferRect" },
        { CL_COMMAND_WRITE_BUFFER_RECT, "clEnqueueWriteBufferRect" },
        { CL_COMMAND_COPY_BUFFER, "clEnqueueCopyBuffer" },
        { CL_COMMAND_COPY_BUFFER_RECT, "clEnqueueCopyBufferRect" },
        { CL_COMMAND_FILL_BUFFER, "clEnqueueFillBuffer" },
        { CL_COMMAND_MAP_BUFFER, "clEnqueueMapBuffer" },
        { CL_COMMAND_READ_IMAGE, "clEnqueueReadImage" },
        { CL_COMMAND_WRITE_IMAGE, "clEnqueueWriteImage" },
        { CL_COMMAND_FILL_IMAGE, "clEnqueueFillImage" },
        { CL_COMMAND_COPY_IMAGE, "clEnqueueCopyImage" },
        { CL_COMMAND_COPY_IMAGE_TO_BUFFER, "clEnqueueCopyImageToBuffer" },
        { CL_COMMAND_COPY_BUFFER_TO_IMAGE, "clEnqueueCopyBufferToImage" },
        { CL_COMMAND_MAP_IMAGE, "clEnqueueMapImage" },
        { CL_COMMAND_UNMAP_MEM_OBJECT, "clEnqueueUnmapMemObject" },
        { CL_COMMAND_MIGRATE_MEM_OBJECTS, "clEnqueueMigrateMemObjects" },
        { CL_COMMAND_SVM_FREE, "clEnqueueSVMFree" },
        { CL_COMMAND_SVM_MEMCPY, "clEnqueueSVMMemcpy" },
        { CL_COMMAND_SVM_MEMFILL, "clEnqueueSVMMemFill" },
        { CL_COMMAND_SVM_MAP, "clEnqueueSVMMap" },
        { CL_COMMAND_SVM_UNMAP, "clEnqueueSVMUnmap" },
        { CL_COMMAND_SVM_MIGRATE_MEM, "clEnqueueSVMMigrateMem" },
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(names); i++) {
        if (names[i].type == event->type) {
            return names[i].name;
        }
    }
    return "a command";
}

cl_event event_new(cl_context context, cl_command_queue queue, cl_command_type type)
{
    cl_event event = calloc(1, sizeof(*event));

    if (!event) {
        return NULL;
    }
    object_init(&event->object, OBJECT_event);
    event->context = context;
    event->queue = queue;
    event->type = type;
    event->status = CL_QUEUED;
    record_command(event);
    object_use(context);
    if (queue) {
        object_use(queue);
    }
    return event;
}

void work_drop(struct work *work)
{
    if (work->drop) {
        work->drop(work);
    }
    work->drop = NULL;
    work->ended = NULL;
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(work->needs); i++) {
        object_drop(work->needs[i]);
        work->needs[i] = NULL;
    }
}

/* ---- waiting for each other ---- */

static bool has_ended(const struct _cl_event *event)
{
    return event->status <= CL_COMPLETE;
}

/* Behind a command that is in its submitter already, nothing need be waited for. */
static bool covers(const struct _cl_event *first, const struct _cl_event *second)
{
    const struct _cl_command_queue *const queue = first->queue;

    return queue && first->submitter && queue == second->queue && queue->submitters == 1 &&
           second->work.executor == WORK_ON_DEVICE;
}

bool event_wait_for(cl_event event, cl_event other)
{
    if (has_ended(other)) {
        event->failed |= other->status < 0;
        return true;
    }
    footprint_follow(event, other);
    if (other->dependent_count == other->dependent_room) {
        size_t room = other->dependent_room > 0 ? 2 * other->dependent_room : FIRST_ROOM;
        cl_event *grown = realloc(other->dependents, room * sizeof(cl_event));
        if (!grown) {
            return false;
        }
        other->dependents = grown;
        other->dependent_room = room;
    }
    other->dependents[other->dependent_count++] = event;
    event->unmet++;
    event->covered += covers(other, event);
    return true;
}

void event_look(cl_event event)
{
    if (!event->listed && event->unmet == (event->failed ? 0 : event->covered)) {
        event->listed = true;
        footprint_issue(event);
        queue_ready(event);
    }
}

void event_issued(cl_event event)
{
    for (size_t i = 0; i < event->dependent_count; i++) {
        cl_event dependent = event->dependents[i];
        if (covers(event, dependent)) {
            dependent->covered++;
            event_look(dependent);
        }
    }
}

static void release_dependents(cl_event event)
{
    for (size_t i = 0; i < event->dependent_count; i++) {
        cl_event dependent = event->dependents[i];
        dependent->covered -= covers(event, dependent);
        dependent->unmet--;
        dependent->failed |= event->status < 0;
        event_look(dependent);
    }
    event->dependent_count = 0;
}

/* Callbacks whose time has come go to the context, which calls them without the lock. */
static void due_calls(cl_event event)
{
    struct call **link = &event->calls;

    while (*link) {
        struct call *call = *link;
        if (event->status > call->trigger) {
            link = &call->next;
            continue;
        }
        *link = call->next;
        call->next = NULL;
        call->status = event->status < 0 ? event_tell(event) : call->trigger;
        object_use(event);
        *event->context->calls_end = call;
        event->context->calls_end = &call->next;
    }
}

void event_reach(cl_event event, cl_int status)
{
    event->status = status;
    record_state(event);
    due_calls(event);
}

void event_end(cl_event event, cl_int status)
{
    event->status = status;
    if (event->queue && status < 0 && status != CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) {
        event->failure = ++event->queue->failures;
    }
    record_state(event);
    if (event->work.ended) {
        event->work.ended(&event->work);
    }
    footprint_end(event);
    release_dependents(event);
    event->submitter = NULL;
    due_calls(event);
    if (event->awaited > 0) {
        pthread_cond_broadcast(&event->context->changed);
    }
    if (event->queue) {
        queue_ended(event);
    }
}

static void start_all(cl_context context)
{
    while (context->eager) {
        cl_command_queue queue = context->eager;
        context->eager = queue->next_eager;
        queue->eager = false;
        queue_start(queue);
    }
}

/* What a command that has failed, or was never begun, leaves behind; without the lock, as it may be the last use of
 * much. */
static void retire(cl_event event)
{
    work_drop(&event->work);
    object_drop(event);
}

void context_unlock_and_dispatch(cl_context context)
{
    start_all(context);
    struct call *calls = context->calls;
    cl_event ended = context->ended;
    context->calls = NULL;
    context->calls_end = &context->calls;
    context->ended = NULL;
    pthread_mutex_unlock(&context->lock);
    while (calls) {
        struct call *call = calls;
        calls = call->next;
        call->function(call->event, call->status, call->user);
        object_drop(call->event);
        free(call);
    }
    while (ended) {
        cl_event event = ended;
        ended = event->next;
        retire(event);
    }
}

cl_int event_await(cl_event event)
{
    event->awaited++;
    while (!has_ended(event)) {
        pthread_cond_wait(&event->context->changed, &event->context->lock);
    }
    event->awaited--;
    return event->status;
}

cl_int event_tell(cl_event event)
{
    if (event->queue && event->status < 0) {
        queue_told(event->queue, event->failure);
    }
    return event->status;
}

/* ---- user events, waiting, callbacks ---- */

cl_int wait_list_check(cl_context context, cl_uint count, const cl_event *events)
{
    if ((count == 0) != !events) {
        return CL_INVALID_EVENT_WAIT_LIST;
    }
    for (cl_uint i = 0; i < count; i++) {
        if (!object_is(events[i], OBJECT_event)) {
            return CL_INVALID_EVENT_WAIT_LIST;
        }
        if (events[i]->context != context) {
            return CL_INVALID_CONTEXT;
        }
    }
    return CL_SUCCESS;
}

cl_event clCreateUserEvent(cl_context context, cl_int *errcode)
{
    cl_int error = object_is(context, OBJECT_context) ? CL_SUCCESS : CL_INVALID_CONTEXT;
    cl_event event = NULL;

    if (error == CL_SUCCESS) {
        event = event_new(context, NULL, CL_COMMAND_USER);
        error = event ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    }
    if (event) {
        event->status = CL_SUBMITTED;
    }
    if (errcode) {
        *errcode = error;
    }
    return event;
}

cl_int clSetUserEventStatus(cl_event event, cl_int status)
{
    cl_int error = CL_SUCCESS;

    if (!object_is(event, OBJECT_event) || event->type != CL_COMMAND_USER) {
        return CL_INVALID_EVENT;
    }
    if (status > CL_COMPLETE) {
        return CL_INVALID_VALUE;
    }
    cl_context context = event->context;
    object_use(context);
    pthread_mutex_lock(&context->lock);
    if (has_ended(event)) {
        error = CL_INVALID_OPERATION;
    } else {
        event_end(event, status);
    }
    context_unlock_and_dispatch(context);
    object_drop(context);
    return error;
}

static cl_int check_events(cl_uint count, const cl_event *events)
{
    if (count == 0 || !events) {
        return CL_INVALID_VALUE;
    }
    for (cl_uint i = 0; i < count; i++) {
        if (!object_is(events[i], OBJECT_event)) {
            return CL_INVALID_EVENT;
        }
        if (events[i]->context != events[0]->context) {
            return CL_INVALID_CONTEXT;
        }
    }
    return CL_SUCCESS;
}

cl_int clWaitForEvents(cl_uint count, const cl_event *events)
{
    cl_int error = check_events(count, events);

    if (error != CL_SUCCESS) {
        return error;
    }
    cl_context context = events[0]->context;
    pthread_mutex_lock(&context->lock);
    for (cl_uint i = 0; i < count; i++) {
        event_await(events[i]);
        if (event_tell(events[i]) < 0) {
            error = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        }
    }
    pthread_mutex_unlock(&context->lock);
    return error;
}

cl_int clSetEventCallback(cl_event event, cl_int trigger, void(CL_CALLBACK *function)(cl_event, cl_int, void *),
                          void *user)
{
    if (!object_is(event, OBJECT_event)) {
        return CL_INVALID_EVENT;
    }
    if (!function || (trigger != CL_SUBMITTED && trigger != CL_RUNNING && trigger != CL_COMPLETE)) {
        return CL_INVALID_VALUE;
    }
    struct call *call = malloc(sizeof(*call));
    if (!call) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    cl_context context = event->context;
    object_use(context);
    pthread_mutex_lock(&context->lock);
    *call = (struct call){ event->calls, event, trigger, 0, function, user };
    event->calls = call;
    due_calls(event);
    context_unlock_and_dispatch(context);
    object_drop(context);
    return CL_SUCCESS;
}

/* ---- queries ---- */

cl_int clGetEventInfo(cl_event event, cl_event_info query, size_t bytes, void *at, size_t *size_ret)
{
    const struct info_room room = { bytes, at, size_ret };

    if (!object_is(event, OBJECT_event)) {
        return CL_INVALID_EVENT;
    }
    pthread_mutex_lock(&event->context->lock);
    cl_int status = query == CL_EVENT_COMMAND_EXECUTION_STATUS ? event_tell(event) : event->status;
    pthread_mutex_unlock(&event->context->lock);
    switch (query) {
#define INFO_OF_EVENT
#include "opencl/api/info.def"
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info query, size_t bytes, void *at, size_t *size_ret)
{
    const struct info_room room = { bytes, at, size_ret };

    if (!object_is(event, OBJECT_event)) {
        return CL_INVALID_EVENT;
    }
    if (!event->queue || (event->queue->properties & CL_QUEUE_PROFILING_ENABLE) == 0) {
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    }
    pthread_mutex_lock(&event->context->lock);
    bool known = event->status == CL_COMPLETE;
    pthread_mutex_unlock(&event->context->lock);
    if (!known) {
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    }
    switch (query) {
#define INFO_OF_PROFILE
#include "opencl/api/info.def"
    default:
        return CL_INVALID_VALUE;
    }
}
