/* SPDX-License-Identifier: MIT */
#include "opencl/api/semaphore.h"

#include <stdlib.h>
#include <string.h>

#include "opencl/api/info.h"
#include "opencl/api/queue.h"
#include "ppu/macros.h"

/* ---- signals, with the context's lock ---- */

/* Gives a signal to the wait that is first, or keeps it. */
static void offer(cl_semaphore_khr semaphore)
{
    struct semaphore_wait *wait = semaphore->first;

    semaphore->open = !wait;
    if (wait) {
        semaphore->first = wait->next;
        wait->queued = false;
        wait->taken = true;
        event_end(wait->gate, CL_COMPLETE);
    }
}

/* The signal that a wait stands for will not come. */
static void fail_first(cl_semaphore_khr semaphore, cl_int status)
{
    struct semaphore_wait *wait = semaphore->first;

    if (wait) {
        semaphore->first = wait->next;
        wait->queued = false;
        event_end(wait->gate, status);
    }
}

static void queue_up(struct semaphore_wait *wait)
{
    cl_semaphore_khr semaphore = wait->semaphore;

    wait->queued = true;
    wait->next = NULL;
    *(semaphore->first ? &semaphore->last->next : &semaphore->first) = wait;
    semaphore->last = wait;
}

static void leave(struct semaphore_wait *wait)
{
    struct semaphore_wait **link = &wait->semaphore->first, *last = NULL;

    while (*link != wait) {
        last = *link;
        link = &last->next;
    }
    *link = wait->next;
    wait->semaphore->last = wait->semaphore->last == wait ? last : wait->semaphore->last;
    wait->queued = false;
}

static void take(struct semaphore_wait *wait)
{
    if (wait->semaphore->open) {
        wait->semaphore->open = false;
        wait->taken = true;
        event_end(wait->gate, CL_COMPLETE);
    } else {
        queue_up(wait);
    }
}

/* ---- commands ---- */

/* What a command of either kind owns. */
struct semaphore_work {
    cl_context context;
    cl_uint count;
    struct semaphore_wait waits[]; /* of a signal only the semaphores */
};

static void drop_semaphores(struct work *work)
{
    struct semaphore_work *owned = work->owned;
    cl_context context = owned->context;

    pthread_mutex_lock(&context->lock);
    for (cl_uint i = 0; i < owned->count; i++) {
        struct semaphore_wait *wait = &owned->waits[i];
        if (wait->queued) {
            leave(wait);
        } else if (wait->taken) { /* by a command that has failed */
            offer(wait->semaphore);
        }
    }
    context_unlock_and_dispatch(context);
    for (cl_uint i = 0; i < owned->count; i++) {
        if (owned->waits[i].gate) {
            clReleaseEvent(owned->waits[i].gate);
        }
        object_drop(owned->waits[i].semaphore);
    }
    free(owned);
}

static cl_int status_of(const struct work *work)
{
    return PPU_CONTAINER_OF(work, struct _cl_event, work)->status;
}

static void end_wait(struct work *work)
{
    struct semaphore_work *owned = work->owned;

    for (cl_uint i = 0; i < owned->count && status_of(work) == CL_COMPLETE; i++) {
        owned->waits[i].taken = false;
        owned->waits[i].semaphore->signaled = owned->waits[i].semaphore->open;
    }
}

static void end_signal(struct work *work)
{
    struct semaphore_work *owned = work->owned;
    const cl_int status = status_of(work);

    for (cl_uint i = 0; i < owned->count; i++) {
        if (status == CL_COMPLETE) {
            owned->waits[i].semaphore->signaled = true;
            offer(owned->waits[i].semaphore);
        } else {
            fail_first(owned->waits[i].semaphore, status);
        }
    }
}

static struct semaphore_work *work_new(cl_context context, cl_uint count, const cl_semaphore_khr *semaphores)
{
    struct semaphore_work *owned = calloc(1, sizeof(*owned) + count * sizeof(owned->waits[0]));

    if (!owned) {
        return NULL;
    }
    owned->context = context;
    owned->count = count;
    for (cl_uint i = 0; i < count; i++) {
        owned->waits[i].semaphore = semaphores[i];
        object_use(semaphores[i]);
    }
    return owned;
}

static bool one_has_failed(cl_context context, cl_uint count, const cl_event *events)
{
    bool failed = false;

    pthread_mutex_lock(&context->lock);
    for (cl_uint i = 0; i < count; i++) {
        failed |= events[i]->status < 0;
    }
    pthread_mutex_unlock(&context->lock);
    return failed;
}

static cl_int check(cl_command_queue queue, cl_uint count, const cl_semaphore_khr *semaphores, cl_uint event_count,
                    const cl_event *events)
{
    if (!queue_is_for_host(queue)) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    if (count == 0 || !semaphores) {
        return CL_INVALID_VALUE;
    }
    for (cl_uint i = 0; i < count; i++) {
        if (!object_is(semaphores[i], OBJECT_semaphore)) {
            return CL_INVALID_SEMAPHORE_KHR;
        }
        if (semaphores[i]->context != queue->context) {
            return CL_INVALID_CONTEXT;
        }
        if (semaphores[i]->device && semaphores[i]->device != queue->device) {
            return CL_INVALID_COMMAND_QUEUE;
        }
    }
    const cl_int error = wait_list_check(queue->context, event_count, events);
    return error == CL_SUCCESS && one_has_failed(queue->context, event_count, events)
               ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
               : error;
}

/* The program's events, and a gate for each semaphore; to be freed. NULL: no memory. */
static cl_event *list_events(struct semaphore_work *owned, cl_uint count, const cl_event *events)
{
    cl_event *list = calloc((size_t)count + owned->count, sizeof(list[0]));

    for (cl_uint i = 0; i < count && list; i++) {
        list[i] = events[i];
    }
    for (cl_uint i = 0; i < owned->count && list; i++) {
        cl_event gate = clCreateUserEvent(owned->context, NULL);
        owned->waits[i].gate = list[count + i] = gate;
        if (!gate) {
            free(list);
            list = NULL;
        }
    }
    return list;
}

/* The binary kind has no payloads. A semaphore that is named twice is waited for twice. */
cl_int semaphore_enqueue_wait(cl_command_queue queue, cl_uint count, const cl_semaphore_khr *semaphores,
                              const cl_semaphore_payload_khr *payloads, cl_uint event_count, const cl_event *events,
                              cl_event *out)
{
    cl_int error = check(queue, count, semaphores, event_count, events);

    (void)payloads;
    if (error != CL_SUCCESS) {
        return error;
    }
    struct semaphore_work *owned = work_new(queue->context, count, semaphores);
    cl_event *list = owned ? list_events(owned, event_count, events) : NULL;
    struct work work = { .executor = WORK_NOWHERE, .drop = drop_semaphores, .ended = end_wait, .owned = owned };
    if (!list) {
        if (owned) {
            work_drop(&work);
        }
        return CL_OUT_OF_HOST_MEMORY;
    }
    pthread_mutex_lock(&queue->context->lock);
    for (cl_uint i = 0; i < count; i++) {
        take(&owned->waits[i]);
    }
    context_unlock_and_dispatch(queue->context);
    const struct command command = {
        .type = CL_COMMAND_SEMAPHORE_WAIT_KHR, .count = event_count + count, .events = list, .out = out
    };
    error = queue_take(queue, &command, &work);
    free(list);
    return error;
}

cl_int semaphore_enqueue_signal(cl_command_queue queue, cl_uint count, const cl_semaphore_khr *semaphores,
                                const cl_semaphore_payload_khr *payloads, cl_uint event_count, const cl_event *events,
                                cl_event *out)
{
    const struct command command = {
        .type = CL_COMMAND_SEMAPHORE_SIGNAL_KHR, .count = event_count, .events = events, .out = out
    };
    cl_int error = check(queue, count, semaphores, event_count, events);

    (void)payloads;
    if (error != CL_SUCCESS) {
        return error;
    }
    struct semaphore_work *owned = work_new(queue->context, count, semaphores);
    struct work work = { .executor = WORK_NOWHERE, .drop = drop_semaphores, .ended = end_signal, .owned = owned };
    /* The work owns it from here on. */
    return owned ? queue_take(queue, &command, &work) : CL_OUT_OF_HOST_MEMORY; /* NOLINT(clang-analyzer-unix.Malloc) */
}

/* ---- life ---- */

void semaphore_destroy(void *object)
{
    cl_semaphore_khr semaphore = object;

    object_drop(semaphore->context);
    free(semaphore->properties);
    free(semaphore);
}

/* Holds what the properties say. */
struct wanted {
    bool typed;
    bool listed;
    cl_device_id device;
    size_t count; /* of numbers, with the final 0 */
};

/* Exactly one device of the context's. */
static cl_int read_devices(cl_context context, const cl_semaphore_properties_khr *list, struct wanted *wanted)
{
    wanted->device = (cl_device_id)list[0];
    wanted->listed = true;
    return list[0] != 0 && list[1] == 0 && context_ppu_index(context, wanted->device) != MAX_DEVICES
               ? CL_SUCCESS
               : CL_INVALID_DEVICE;
}

static cl_int read_properties(cl_context context, const cl_semaphore_properties_khr *properties, struct wanted *wanted)
{
    size_t at = 0;
    cl_int error = CL_SUCCESS;

    while (error == CL_SUCCESS && properties[at] != 0) {
        if (properties[at] == CL_SEMAPHORE_TYPE_KHR && !wanted->typed) {
            wanted->typed = true;
            error = properties[at + 1] == CL_SEMAPHORE_TYPE_BINARY_KHR ? CL_SUCCESS : CL_INVALID_PROPERTY;
            at += 2;
        } else if (properties[at] == SEMAPHORE_DEVICES && !wanted->listed) {
            error = read_devices(context, &properties[at + 1], wanted);
            at += 3;
        } else {
            error = CL_INVALID_PROPERTY;
        }
    }
    wanted->count = at + 1;
    return error != CL_SUCCESS ? error : wanted->typed ? CL_SUCCESS : CL_INVALID_VALUE;
}

static cl_semaphore_khr semaphore_new(cl_context context, const cl_semaphore_properties_khr *properties,
                                      const struct wanted *wanted)
{
    cl_semaphore_khr semaphore = calloc(1, sizeof(*semaphore));
    const size_t bytes = wanted->count * sizeof(properties[0]);

    if (!semaphore) {
        return NULL;
    }
    object_init(&semaphore->object, OBJECT_semaphore);
    semaphore->context = context;
    semaphore->device = wanted->device;
    object_use(context);
    semaphore->properties = malloc(bytes);
    if (!semaphore->properties) {
        clReleaseSemaphoreKHR(semaphore);
        return NULL;
    }
    memcpy(semaphore->properties, properties, bytes);
    semaphore->property_bytes = bytes;
    return semaphore;
}

cl_semaphore_khr semaphore_create(cl_context context, const cl_semaphore_properties_khr *properties, cl_int *errcode)
{
    struct wanted wanted = { .device = NULL };
    cl_semaphore_khr semaphore = NULL;
    cl_int error = !object_is(context, OBJECT_context) ? CL_INVALID_CONTEXT
                   : !properties                       ? CL_INVALID_VALUE
                                                       : read_properties(context, properties, &wanted);

    if (error == CL_SUCCESS) {
        semaphore = semaphore_new(context, properties, &wanted);
        error = semaphore ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    }
    if (errcode) {
        *errcode = error;
    }
    return semaphore;
}

/* No handle of a semaphore can leave the process. */
cl_int semaphore_handle(cl_semaphore_khr semaphore, cl_device_id device, cl_uint type, size_t bytes, void *at,
                        size_t *size_ret)
{
    (void)type;
    (void)bytes;
    (void)at;
    (void)size_ret;
    return !object_is(semaphore, OBJECT_semaphore)                        ? CL_INVALID_SEMAPHORE_KHR
           : context_ppu_index(semaphore->context, device) == MAX_DEVICES ? CL_INVALID_DEVICE
                                                                          : CL_INVALID_VALUE;
}

cl_int semaphore_info(cl_semaphore_khr semaphore, cl_semaphore_info_khr query, size_t bytes, void *at, size_t *size_ret)
{
    const struct info_room room = { bytes, at, size_ret };

    if (!object_is(semaphore, OBJECT_semaphore)) {
        return CL_INVALID_SEMAPHORE_KHR;
    }
    pthread_mutex_lock(&semaphore->context->lock);
    const bool signaled = semaphore->signaled;
    const struct _cl_context *context = semaphore->context;
    const cl_device_id *devices = semaphore->device ? &semaphore->device : context->devices;
    const size_t device_count = semaphore->device ? 1 : context->device_count;
    pthread_mutex_unlock(&semaphore->context->lock);
    switch (query) {
#define INFO_OF_SEMAPHORE
#include "opencl/api/info.def"
    default:
        return CL_INVALID_VALUE;
    }
}
