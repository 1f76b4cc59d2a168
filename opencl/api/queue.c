/* SPDX-License-Identifier: MIT */
#include "opencl/api/queue.h"

#include <stdlib.h>
#include <string.h>

#include "opencl/api/cl_ppu.h"
#include "opencl/api/command_buffer.h"
#include "opencl/api/footprint.h"
#include "opencl/api/info.h"
#include "opencl/api/vendor.h"
#include "opencl/submit/device_queue.h"
#include "opencl/submit/task_queue.h"
#include "ppu/macros.h"

#define FIRST_ROOM 16u

static bool in_order(const struct _cl_command_queue *queue)
{
    return (queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
}

static bool wants_times(const struct _cl_command_queue *queue)
{
    return (queue->properties & CL_QUEUE_PROFILING_ENABLE) != 0;
}

/* ---- ready commands ---- */

static void list_add(struct ready_list *list, cl_event event)
{
    event->next = NULL;
    *(list->first ? &list->last->next : &list->first) = event;
    list->last = event;
}

static cl_event list_take(struct ready_list *list)
{
    cl_event event = list->first;

    list->first = event->next;
    return event;
}

void queue_look_again(cl_command_queue queue)
{
    if (!queue->eager) {
        queue->eager = true;
        queue->next_eager = queue->context->eager;
        queue->context->eager = queue;
    }
}

void queue_ready(cl_event event)
{
    list_add(&event->queue->ready[event->work.executor], event);
    queue_look_again(event->queue);
}

/* The one with the least to do; NULL: none takes it. */
static struct submitter *choose_submitter(cl_command_queue queue, cl_event event)
{
    struct submitter *best = NULL;

    for (uint32_t i = 0; i < queue->submitters; i++) {
        struct submitter *submitter = &queue->submitter[i];
        if (submitter_takes(submitter, event) && (!best || submitter->count < best->count)) {
            best = submitter;
        }
    }
    return best;
}

static void end_at_once(cl_event event)
{
    if (wants_times(event->queue)) {
        uint64_t now_ns = ppu_device_time_ns(event->queue->device->ppu);
        event->time_ns[TIME_SUBMIT] = event->time_ns[TIME_START] = event->time_ns[TIME_END] = now_ns;
    }
    event_end(event, event->failed ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_COMPLETE);
}

static void start_on_device(cl_command_queue queue)
{
    struct ready_list *ready = &queue->ready[WORK_ON_DEVICE];
    struct submitter *submitter = NULL;

    while (ready->first && (submitter = choose_submitter(queue, ready->first))) {
        const bool failed = ready->first->failed;
        if (!failed && !submitter_prepare(submitter, ready->first)) {
            return;
        }
        cl_event event = list_take(ready);
        if (failed) {
            event_end(event, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        } else {
            submitter_issue(submitter, event);
        }
    }
}

void queue_start(cl_command_queue queue)
{
    while (queue->ready[WORK_NOWHERE].first) {
        end_at_once(list_take(&queue->ready[WORK_NOWHERE]));
    }
    start_on_device(queue);
    if (queue->ready[WORK_ON_HOST].first) {
        pthread_cond_signal(&queue->host_work);
    }
}

void queue_told(cl_command_queue queue, uint32_t failure)
{
    queue->told = PPU_MAX(queue->told, failure != 0 ? failure : queue->failures);
}

void queue_ended(cl_event event)
{
    cl_command_queue queue = event->queue;
    cl_event moved = queue->open[--queue->open_count];

    queue->open[event->open_at] = moved;
    moved->open_at = event->open_at;
    if (queue->newest == event) {
        queue->newest = NULL;
    }
    event->next = queue->context->ended;
    queue->context->ended = event;
    queue_look_again(queue);
}

/* ---- host thread ---- */

static cl_int run_on_host(cl_event event)
{
    struct ppu_device *device = event->queue->device->ppu;
    bool timed = wants_times(event->queue);

    if (timed) {
        event->time_ns[TIME_SUBMIT] = event->time_ns[TIME_START] = ppu_device_time_ns(device);
    }
    cl_int status = event->work.run(event);
    if (timed) {
        event->time_ns[TIME_END] = ppu_device_time_ns(device);
    }
    work_drop(&event->work); /* before anybody is told that it has ended */
    return status;
}

static void serve_first(cl_command_queue queue)
{
    cl_context context = queue->context;
    cl_event event = list_take(&queue->ready[WORK_ON_HOST]);

    if (event->failed) {
        event_end(event, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    } else {
        event_reach(event, CL_RUNNING);
        context_unlock_and_dispatch(context);
        cl_int status = run_on_host(event);
        pthread_mutex_lock(&context->lock);
        event_end(event, status);
    }
    context_unlock_and_dispatch(context);
    pthread_mutex_lock(&context->lock);
}

static void *serve_queue(void *opaque)
{
    cl_command_queue queue = opaque;
    cl_context context = queue->context;

    service_thread_excuse();
    pthread_mutex_lock(&context->lock);
    const struct ready_list *ready = &queue->ready[WORK_ON_HOST];
    while (!queue->stopping || ready->first) {
        if (ready->first) {
            serve_first(queue);
        } else {
            pthread_cond_wait(&queue->host_work, &context->lock);
        }
    }
    pthread_mutex_unlock(&context->lock);
    return NULL;
}

/* ---- taking commands ---- */

static bool is_on_device(const struct _cl_command_queue *queue)
{
    return (queue->properties & CL_QUEUE_ON_DEVICE) != 0;
}

bool queue_is_for_host(cl_command_queue queue)
{
    return object_is(queue, OBJECT_queue) && !is_on_device(queue);
}

cl_int command_check(cl_command_queue queue, cl_uint count, const cl_event *events)
{
    return queue_is_for_host(queue) ? wait_list_check(queue->context, count, events) : CL_INVALID_COMMAND_QUEUE;
}

static bool open_add(cl_command_queue queue, cl_event event)
{
    if (queue->open_count == queue->open_room) {
        size_t room = queue->open_room > 0 ? 2 * queue->open_room : FIRST_ROOM;
        cl_event *grown = realloc(queue->open, room * sizeof(cl_event));
        if (!grown) {
            return false;
        }
        queue->open = grown;
        queue->open_room = room;
    }
    event->open_at = queue->open_count;
    queue->open[queue->open_count++] = event;
    return true;
}

/* False: no memory; the command has failed then, but keeps its place. */
static bool wait_for_all_before(cl_event event)
{
    cl_command_queue queue = event->queue;
    bool done = true;

    for (size_t i = 0; i + 1 < queue->open_count; i++) {
        done &= event_wait_for(event, queue->open[i]);
    }
    return done;
}

static bool set_order(cl_event event, const struct command *command)
{
    cl_command_queue queue = event->queue;
    bool after_all = command->order != ORDER_AS_QUEUE && command->count == 0 && !in_order(queue);
    bool done = true;

    if (after_all) {
        done = wait_for_all_before(event);
    } else if (queue->newest) {
        done = event_wait_for(event, queue->newest);
    }
    for (cl_uint i = 0; i < command->count; i++) {
        done &= event_wait_for(event, command->events[i]);
    }
    if (in_order(queue) || command->order == ORDER_BARRIER) {
        queue->newest = event;
    }
    event->failed |= !done || (in_order(queue) && queue->told != queue->failures);
    return done;
}

/* The use that keeps it until it has ended is given back by its end. */
static cl_int enter(cl_event event, const struct command *command)
{
    pthread_mutex_lock(&event->context->lock);
    if (!open_add(event->queue, event)) {
        pthread_mutex_unlock(&event->context->lock);
        work_drop(&event->work);
        return CL_OUT_OF_HOST_MEMORY;
    }
    object_use(event);
    cl_int error = set_order(event, command) ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    footprint_begin(event);
    event_look(event);
    context_unlock_and_dispatch(event->context);
    return error;
}

static cl_int await_command(cl_event event)
{
    pthread_mutex_lock(&event->context->lock);
    event_await(event);
    cl_int status = event_tell(event);
    pthread_mutex_unlock(&event->context->lock);
    return status;
}

/* Waits for a marker. Returns whether a command has failed that the program did not know of. */
static bool await_marker(cl_event marker)
{
    cl_command_queue queue = marker->queue;

    pthread_mutex_lock(&marker->context->lock);
    event_await(marker);
    bool is_news = queue->told != queue->failures;
    queue->told = queue->failures;
    pthread_mutex_unlock(&marker->context->lock);
    return is_news;
}

cl_int queue_take(cl_command_queue queue, const struct command *command, struct work *work)
{
    if (queue->record) {
        return command_buffer_keep(queue->record, command, work);
    }
    cl_event event = event_new(queue->context, queue, command->type);

    if (!event) {
        work_drop(work);
        return CL_OUT_OF_HOST_MEMORY;
    }
    event->work = *work;
    if (wants_times(queue)) {
        event->time_ns[TIME_QUEUED] = ppu_device_time_ns(queue->device->ppu);
    }
    cl_int error = enter(event, command);
    if (error == CL_SUCCESS && command->blocking) {
        error = await_command(event);
    }
    if (error == CL_SUCCESS && command->out) {
        *command->out = event;
    } else {
        clReleaseEvent(event);
    }
    return error;
}

/* ---- life ---- */

static void stop(cl_command_queue queue)
{
    pthread_mutex_lock(&queue->context->lock);
    queue->stopping = true;
    print_memories_forget(&queue->context->print_memories[queue->ppu_index], queue);
    pthread_cond_signal(&queue->host_work);
    for (uint32_t i = 0; i < queue->submitters; i++) {
        pthread_cond_signal(&queue->submitter[i].work);
    }
    pthread_mutex_unlock(&queue->context->lock);
}

static void end_queue(struct errand *errand)
{
    cl_command_queue queue = PPU_CONTAINER_OF(errand, struct _cl_command_queue, end);
    cl_context context = queue->context;

    stop(queue);
    if (queue->threaded) {
        pthread_join(queue->thread, NULL);
    }
    for (uint32_t i = 0; i < queue->submitters; i++) {
        submitter_close(&queue->submitter[i]);
    }
    pthread_cond_destroy(&queue->host_work);
    free(queue->open);
    free(queue->given);
    free(queue);
    object_drop(context);
}

/* The last use may be had by one of its own threads. */
void queue_destroy(void *object)
{
    cl_command_queue queue = object;

    __atomic_fetch_sub(&queue->context->submitters, queue->counted, __ATOMIC_RELAXED);
    if (queue->taskq) {
        task_queue_remove(queue);
    } else if (queue->workq) {
        device_queue_remove_workq(queue);
    } else if (queue->device_va != 0) {
        device_queue_remove(queue);
    }
    queue->end.run = end_queue;
    service_thread_post(&queue->end);
}

/* An out-of-order queue takes as many submitters as it can get. */
static enum ppu_err open_submitters(cl_command_queue queue)
{
    uint32_t wanted = in_order(queue) ? 1 : QUEUE_SUBMITTERS;
    enum ppu_err err = PPU_OK;

    while (queue->submitters < wanted && err == PPU_OK) {
        err = submitter_open(&queue->submitter[queue->submitters], queue);
        queue->submitters += err == PPU_OK;
    }
    return queue->submitters > 0 ? PPU_OK : err;
}

static enum ppu_err open_host(cl_command_queue queue)
{
    enum ppu_err err = open_submitters(queue);

    if (err == PPU_OK) {
        queue->threaded = pthread_create(&queue->thread, NULL, serve_queue, queue) == 0;
        err = queue->threaded ? PPU_OK : PPU_ERR_NO_MEMORY;
    }
    return err;
}

/* Holds what was asked for; bytes 0: the size was left open. */
struct wanted {
    cl_command_queue_properties flags;
    cl_queue_properties bytes;
    bool sized;
    cl_command_queue maker;           /* of a work queue, else NULL */
    cl_queue_properties entries;      /* of that, 0: left open */
    cl_queue_properties task_bytes;   /* of an entry of a task queue; 0: it is none */
    cl_queue_properties task_entries; /* of that, 0: left open */
    cl_queue_properties limit_ms;     /* of its kernels' time; 0: none */
    cl_queue_properties priority;     /* cl_queue_priority_khr, 0: left open */
    cl_queue_properties throttle;     /* cl_queue_throttle_khr, 0: left open */
    bool foreign;                     /* something of another vendor's is in the list */
};

static cl_int open_queue(cl_command_queue queue, const struct wanted *wanted)
{
    return wanted->task_bytes != 0 ? task_queue_add(queue, (uint32_t)wanted->task_bytes, (uint32_t)wanted->task_entries)
           : wanted->maker         ? device_queue_add_workq(queue, wanted->maker, (uint32_t)wanted->entries)
           : is_on_device(queue)   ? device_queue_add(queue)
                                   : device_error(open_host(queue));
}

/* The levels between are for hints to come; the highest is above what libppu's callers have who ask for nothing. */
uint32_t queue_level(const struct _cl_command_queue *queue)
{
    switch (queue->priority) {
    case CL_QUEUE_PRIORITY_HIGH_KHR:
        return PPU_PRIORITIES - 1;
    case CL_QUEUE_PRIORITY_LOW_KHR:
        return 1;
    default:
        return PPU_PRIORITIES / 2;
    }
}

static cl_command_queue queue_new(cl_context context, cl_device_id device, const struct wanted *wanted, cl_int *error)
{
    cl_command_queue queue = calloc(1, sizeof(*queue));

    *error = CL_OUT_OF_HOST_MEMORY;
    if (!queue) {
        return NULL;
    }
    object_init(&queue->object, OBJECT_queue);
    queue->context = context;
    queue->device = device;
    queue->ppu_index = context_ppu_index(context, device);
    queue->properties = wanted->flags;
    queue->limit_ms = (uint32_t)wanted->limit_ms;
    queue->device_bytes = (cl_uint)wanted->bytes;
    queue->entry_bytes = (uint32_t)wanted->task_bytes;
    queue->priority = wanted->priority != 0 ? (cl_uint)wanted->priority : CL_QUEUE_PRIORITY_MED_KHR;
    queue->throttle = wanted->throttle != 0 ? (cl_uint)wanted->throttle : CL_QUEUE_THROTTLE_MED_KHR;
    object_use(context);
    pthread_cond_init(&queue->host_work, NULL);
    *error = open_queue(queue, wanted);
    if (*error == CL_OUT_OF_RESOURCES) { /* maybe because others are still being ended */
        service_thread_drain();
        *error = open_queue(queue, wanted);
    }
    if (*error != CL_SUCCESS) {
        clReleaseCommandQueue(queue);
        return NULL;
    }
    vendor_note(context, "create a queue", "property", wanted->foreign || (wanted->flags & VENDOR_QUEUE_FLAGS) != 0);
    queue->counted = queue->submitters;
    __atomic_fetch_add(&context->submitters, queue->counted, __ATOMIC_RELAXED);
    return queue;
}

/* It has no submitters and no thread, as nothing runs in it. */
cl_command_queue queue_recorder(cl_command_queue like, cl_command_buffer_khr record)
{
    cl_command_queue queue = calloc(1, sizeof(*queue));

    if (!queue) {
        return NULL;
    }
    object_init(&queue->object, OBJECT_queue);
    queue->context = like->context;
    queue->device = like->device;
    queue->ppu_index = like->ppu_index;
    queue->properties = like->properties;
    queue->limit_ms = like->limit_ms;
    queue->priority = like->priority;
    queue->throttle = like->throttle;
    queue->record = record;
    object_use(queue->context);
    pthread_cond_init(&queue->host_work, NULL);
    return queue;
}

static cl_int check_new(cl_context context, cl_device_id device)
{
    if (!object_is(context, OBJECT_context)) {
        return CL_INVALID_CONTEXT;
    }
    return context_ppu_index(context, device) != MAX_DEVICES ? CL_SUCCESS : CL_INVALID_DEVICE;
}

/* What the specification defines; what of it the device has is another question. */
#define DEFINED_PROPERTIES                                                                              \
    ((cl_command_queue_properties)(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE | \
                                   CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT))

/* A queue on the device is out of order; the default one is on the device. */
static cl_int check_flags(cl_command_queue_properties flags)
{
    bool loose = (flags & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0, device = (flags & CL_QUEUE_ON_DEVICE) != 0;

    if ((flags & ~(DEFINED_PROPERTIES | VENDOR_QUEUE_FLAGS)) != 0 || (device && !loose) ||
        (!device && (flags & CL_QUEUE_ON_DEVICE_DEFAULT) != 0)) {
        return CL_INVALID_VALUE;
    }
    return CL_SUCCESS;
}

/* One of three bits, for queues of the host. */
static cl_int read_hint(const cl_queue_properties *property, cl_queue_properties *hint)
{
    if (property[1] != 1 && property[1] != 2 && property[1] != 4) {
        return CL_INVALID_VALUE;
    }
    *hint = property[1];
    return CL_SUCCESS;
}

_Static_assert((CL_QUEUE_PRIORITY_HIGH_KHR | CL_QUEUE_PRIORITY_MED_KHR | CL_QUEUE_PRIORITY_LOW_KHR) == 7, "bits");
_Static_assert((CL_QUEUE_THROTTLE_HIGH_KHR | CL_QUEUE_THROTTLE_MED_KHR | CL_QUEUE_THROTTLE_LOW_KHR) == 7, "bits");

static cl_int read_property(const cl_queue_properties *property, struct wanted *wanted)
{
    switch (property[0]) {
    case CL_QUEUE_PROPERTIES:
        wanted->flags = property[1];
        return CL_SUCCESS;
    case CL_QUEUE_SIZE:
        wanted->bytes = property[1];
        wanted->sized = true;
        return CL_SUCCESS;
    case CL_QUEUE_WORK_QUEUE_PPU:
        wanted->maker = (cl_command_queue)property[1];
        return CL_SUCCESS;
    case CL_QUEUE_WORK_ENTRIES_PPU:
        if (property[1] < PPU_WORKQ_MIN_ENTRIES || property[1] > PPU_WORKQ_MAX_ENTRIES) {
            return CL_INVALID_QUEUE_PROPERTIES;
        }
        wanted->entries = property[1];
        return CL_SUCCESS;
    case CL_QUEUE_TASK_BYTES_PPU:
        if (property[1] == 0 || property[1] > PPU_TASKQ_MAX_ENTRY_BYTES - sizeof(struct ppu_taskq_entry)) {
            return CL_INVALID_QUEUE_PROPERTIES;
        }
        wanted->task_bytes = property[1];
        return CL_SUCCESS;
    case CL_QUEUE_TASK_ENTRIES_PPU:
        if (property[1] < PPU_TASKQ_MIN_ENTRIES || property[1] > PPU_TASKQ_MAX_ENTRIES ||
            !PPU_IS_POWER_OF_TWO(property[1])) {
            return CL_INVALID_QUEUE_PROPERTIES;
        }
        wanted->task_entries = property[1];
        return CL_SUCCESS;
    case CL_QUEUE_TIME_LIMIT_PPU:
        wanted->limit_ms = property[1];
        return CL_SUCCESS;
    case CL_QUEUE_PRIORITY_KHR:
        return read_hint(property, &wanted->priority);
    case CL_QUEUE_THROTTLE_KHR:
        return read_hint(property, &wanted->throttle);
    default:
        wanted->foreign |= vendor_queue_property(property[0]);
        return vendor_queue_property(property[0]) ? CL_SUCCESS : CL_INVALID_VALUE;
    }
}

static cl_int read_properties(cl_device_id device, const cl_queue_properties *properties, struct wanted *wanted)
{
    *wanted = (struct wanted){ .flags = 0 };
    for (; properties && *properties != 0; properties += 2) {
        cl_int error = read_property(properties, wanted);
        if (error != CL_SUCCESS) {
            return error;
        }
    }
    if ((wanted->priority != 0 || wanted->throttle != 0) && (wanted->flags & CL_QUEUE_ON_DEVICE) != 0) {
        return CL_INVALID_QUEUE_PROPERTIES;
    }
    if ((wanted->entries != 0 && !wanted->maker) || (wanted->task_entries != 0 && wanted->task_bytes == 0) ||
        (wanted->task_bytes != 0 && (wanted->maker || wanted->sized))) {
        return CL_INVALID_VALUE;
    }
    if ((wanted->sized || wanted->maker || wanted->task_bytes != 0) && (wanted->flags & CL_QUEUE_ON_DEVICE) == 0) {
        return CL_INVALID_VALUE;
    }
    if (wanted->limit_ms > PPU_MAX_LIMIT_MS || (wanted->limit_ms != 0 && (wanted->flags & CL_QUEUE_ON_DEVICE) != 0)) {
        return CL_INVALID_VALUE;
    }
    if (wanted->bytes > device_queue_bytes(device)) {
        return CL_INVALID_QUEUE_PROPERTIES;
    }
    if ((wanted->maker || wanted->task_bytes != 0) && (wanted->flags & CL_QUEUE_ON_DEVICE_DEFAULT) != 0) {
        return CL_INVALID_VALUE;
    }
    return check_flags(wanted->flags);
}

/* The context has one default queue for each device: who asks for it again gets that. NULL: there is none so far. */
static cl_command_queue share_default(cl_context context, cl_device_id device, cl_command_queue_properties flags)
{
    bool is_default = (flags & CL_QUEUE_ON_DEVICE_DEFAULT) != 0;
    return is_default ? device_queue_share_default(context, context_ppu_index(context, device)) : NULL;
}

static cl_int keep_given(cl_command_queue queue, const cl_queue_properties *properties)
{
    size_t count = 0;

    if (!properties) {
        return CL_SUCCESS;
    }
    while (properties[count] != 0) {
        count += 2;
    }
    queue->given_bytes = (count + 1) * sizeof(properties[0]);
    queue->given = malloc(queue->given_bytes);
    if (!queue->given) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    memcpy(queue->given, properties, queue->given_bytes);
    return CL_SUCCESS;
}

static cl_command_queue queue_create(cl_context context, cl_device_id device, const cl_queue_properties *properties,
                                     const struct wanted *wanted, cl_int *error)
{
    cl_command_queue queue = queue_new(context, device, wanted, error);

    if (queue && (*error = keep_given(queue, properties)) != CL_SUCCESS) {
        clReleaseCommandQueue(queue);
        return NULL;
    }
    if (queue && (wanted->flags & CL_QUEUE_ON_DEVICE_DEFAULT) != 0) {
        device_queue_set_default(context, queue->ppu_index, queue);
    }
    return queue;
}

cl_command_queue clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                    const cl_queue_properties *properties, cl_int *errcode)
{
    struct wanted wanted = { .flags = 0 };
    cl_command_queue queue = NULL;
    cl_int error = check_new(context, device);

    if (error == CL_SUCCESS) {
        error = read_properties(device, properties, &wanted);
    }
    if (error == CL_SUCCESS) {
        queue = share_default(context, device, wanted.flags);
    }
    if (error == CL_SUCCESS && !queue) {
        queue = queue_create(context, device, properties, &wanted, &error);
    }
    if (errcode) {
        *errcode = error;
    }
    return queue;
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                      cl_int *errcode)
{
    cl_command_queue queue = NULL;
    cl_int error = check_new(context, device);

    if (error == CL_SUCCESS) {
        error = (properties & (CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT)) != 0 ? CL_INVALID_VALUE
                                                                                      : check_flags(properties);
    }
    if (error == CL_SUCCESS) {
        queue = queue_new(context, device, &(struct wanted){ .flags = properties }, &error);
    }
    if (errcode) {
        *errcode = error;
    }
    return queue;
}

/* Since OpenCL 1.1 a queue's properties are fixed. */
cl_int clSetCommandQueueProperty(cl_command_queue queue, cl_command_queue_properties properties, cl_bool enable,
                                 cl_command_queue_properties *old)
{
    (void)properties;
    (void)enable;
    (void)old;
    return object_is(queue, OBJECT_queue) ? CL_INVALID_OPERATION : CL_INVALID_COMMAND_QUEUE;
}

cl_int clSetDefaultDeviceCommandQueue(cl_context context, cl_device_id device, cl_command_queue queue)
{
    cl_int error = check_new(context, device);

    if (error != CL_SUCCESS) {
        return error;
    }
    if (!object_is(queue, OBJECT_queue) || !is_on_device(queue) || queue->workq || queue->taskq ||
        queue->context != context || queue->device != device) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    device_queue_set_default(context, queue->ppu_index, queue);
    return CL_SUCCESS;
}

_Static_assert(PPU_KEY_CHANNEL_OPEN_NORMAL - PPU_KEY_CHANNEL_INSNS == PPU_COUNTERS - 1, "keys are as the counters");

/* A counter of all channels of the queue. */
static cl_int queue_counter(cl_command_queue queue, uint32_t number, const struct info_room *room)
{
    cl_ulong sum = 0;

    if (!queue_is_for_host(queue)) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    for (uint32_t i = 0; i < queue->submitters; i++) {
        const uint32_t channel = ppu_channel_index(queue->submitter[i].channel);
        uint64_t count = 0;
        enum ppu_err err =
            ppu_device_query(queue->device->ppu, (enum ppu_key)(PPU_KEY_CHANNEL_INSNS + number), channel, &count);
        if (err != PPU_OK) {
            return device_error(err);
        }
        sum += count;
    }
    return info_bytes(room, &sum, sizeof(sum));
}

cl_int clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info query, size_t bytes, void *at,
                             size_t *size_ret)
{
    const struct info_room room = { bytes, at, size_ret };

    if (!object_is(queue, OBJECT_queue)) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    switch (query) {
#define INFO_OF_QUEUE
#include "opencl/api/info.def"
    case CL_QUEUE_SIZE:
        return is_on_device(queue) ? info_bytes(&room, &queue->device_bytes, sizeof(queue->device_bytes))
                                   : CL_INVALID_COMMAND_QUEUE;
    default:
        return query - CL_QUEUE_COUNTER_PPU(0) < PPU_COUNTERS
                   ? queue_counter(queue, query - CL_QUEUE_COUNTER_PPU(0), &room)
                   : CL_INVALID_VALUE;
    }
}

/* ---- order ---- */

/* Commands start as soon as they can. */
cl_int clFlush(cl_command_queue queue)
{
    return queue_is_for_host(queue) ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
}

cl_int clFinish(cl_command_queue queue)
{
    cl_event marker = NULL;
    const struct command command = { .type = CL_COMMAND_MARKER, .order = ORDER_MARKER, .out = &marker };
    struct work nothing = { .executor = WORK_NOWHERE };

    if (!queue_is_for_host(queue)) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    cl_int error = queue_take(queue, &command, &nothing);
    if (marker) {
        error = await_marker(marker) ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
        clReleaseEvent(marker);
    }
    return error;
}

static cl_int take_nothing(cl_command_queue queue, const struct command *command)
{
    struct work nothing = { .executor = WORK_NOWHERE };
    cl_int error = command_check(queue, command->count, command->events);

    return error != CL_SUCCESS ? error : queue_take(queue, command, &nothing);
}

cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event *events, cl_event *out)
{
    const struct command command = { CL_COMMAND_MARKER, ORDER_MARKER, false, count, events, out };

    return take_nothing(queue, &command);
}

cl_int clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint count, const cl_event *events, cl_event *out)
{
    const struct command command = { CL_COMMAND_BARRIER, ORDER_BARRIER, false, count, events, out };

    return take_nothing(queue, &command);
}

cl_int clEnqueueMarker(cl_command_queue queue, cl_event *out)
{
    if (!queue_is_for_host(queue)) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    return out ? clEnqueueMarkerWithWaitList(queue, 0, NULL, out) : CL_INVALID_VALUE;
}

cl_int clEnqueueBarrier(cl_command_queue queue)
{
    return clEnqueueBarrierWithWaitList(queue, 0, NULL, NULL);
}

cl_int clEnqueueWaitForEvents(cl_command_queue queue, cl_uint count, const cl_event *events)
{
    if (queue_is_for_host(queue) && (count == 0 || !events)) {
        return CL_INVALID_VALUE;
    }
    return clEnqueueBarrierWithWaitList(queue, count, events, NULL);
}
