/* SPDX-License-Identifier: MIT */
#include "opencl/submit/device_queue.h"

#include "opencl/submit/service_thread.h"
#include "ppu/macros.h"
#include "ppu/nest.h"
#include "ppu/save.h"

/* The firmware has twice as many records. Each context gets half of what those before it have left, about, of records
 * and of memory for the heap. What finds no record waits in the heap. */
#define MEMORY_A_RECORD (256u * PPU_KIB)
#define MOST_RECORDS 2048u
#define HEAP_SHARE 16u /* one byte of heap for so many bytes of memory */
#define LEAST_HEAP PPU_MIB
#define MOST_HEAP (64u * PPU_MIB)
#define DEPTH 32u
/* Bound the state of a work-group that waits. */
#define STATE_SHARE 2048u
#define LEAST_STATE (64u * PPU_KIB)
#define MOST_STATE (128u * PPU_KIB)

static uint32_t power_of_two(uint64_t n, uint32_t least, uint32_t most)
{
    uint32_t power = least;

    while (power < most && 2ull * power <= n) {
        power *= 2;
    }
    return power;
}

/* The device's other contexts whose kernels can enqueue. */
static uint32_t other_nests(const struct _cl_device_id *device)
{
    return __atomic_load_n(&device->nests, __ATOMIC_RELAXED);
}

static uint32_t records(const struct _cl_device_id *device)
{
    const uint32_t others = other_nests(device);
    const uint64_t share = device->info->vram_bytes / MEMORY_A_RECORD >> PPU_MIN(others, 31u);

    return power_of_two(share, PPU_NEST_MIN_TASKS, MOST_RECORDS >> PPU_MIN(others, 5u));
}

uint32_t device_queue_bytes(const struct _cl_device_id *device)
{
    return power_of_two(device->info->vram_bytes / HEAP_SHARE, LEAST_HEAP, MOST_HEAP);
}

uint32_t device_queue_events(const struct _cl_device_id *device)
{
    return device_queue_bytes(device) / (2 * (uint32_t)sizeof(struct ppu_device_event));
}

/* Computes what a context gets that is not asked for a size; otherwise it gets at least what is asked for. */
static uint32_t heap_bytes(const struct _cl_device_id *device, uint32_t wanted)
{
    const uint32_t share = device_queue_bytes(device) >> PPU_MIN(other_nests(device), 31u);

    return PPU_MAX(PPU_MAX(share, LEAST_HEAP), wanted);
}

static struct ppu_enqueue *queues_shared(const struct device_queues *queues)
{
    return ppu_memory_host(queues->shared);
}

static uint32_t state_bytes(const struct _cl_context *context, const struct _cl_device_id *device)
{
    return context->waiting.state_bytes != 0
               ? context->waiting.state_bytes
               : power_of_two(device->info->vram_bytes / STATE_SHARE, LEAST_STATE, MOST_STATE);
}

/*
 * Others may have taken the records: then it is fewer of them. Or the memory: with `modest` it is then a place at each
 * depth and no more, and a smaller heap, but not below `wanted` bytes.
 */
static enum ppu_err open_nest(struct ppu_context *ppu, struct ppu_nest_options *options, bool modest, uint32_t wanted)
{
    enum ppu_err err = ppu_context_nest(ppu, options);

    if (err == PPU_ERR_NO_VRAM && modest) {
        options->save_bytes = options->depth * ppu_align_up(options->state_bytes, PPU_SAVE_ALIGN);
        err = ppu_context_nest(ppu, options);
    }
    while (err == PPU_ERR_NO_VRAM && modest && options->heap_bytes > PPU_MAX(LEAST_HEAP, wanted)) {
        options->heap_bytes = PPU_MAX(PPU_MAX(options->heap_bytes / 2, LEAST_HEAP), wanted);
        err = ppu_context_nest(ppu, options);
    }
    while (err == PPU_ERR_NO_RESOURCE && options->tasks > PPU_NEST_MIN_TASKS) {
        options->tasks /= 2;
        err = ppu_context_nest(ppu, options);
    }
    return err;
}

static enum ppu_err open_device_queues(cl_context context, uint32_t ppu_index, struct device_queues *queues,
                                       bool modest, uint32_t wanted)
{
    cl_device_id device = context->devices[ppu_index];
    struct ppu_nest_options options = {
        .tasks = records(device),
        .depth = DEPTH,
        .heap_bytes = heap_bytes(device, wanted),
        .state_bytes = state_bytes(context, device),
        .ctas = context->waiting.work_groups,
    };
    enum ppu_err err =
        ppu_memory_create(context->ppus[ppu_index], PPU_MEMORY_VRAM, sizeof(struct ppu_enqueue), &queues->shared);

    if (err != PPU_OK) {
        return err;
    }
    options.enqueue_va = ppu_memory_va(queues->shared, context->ppus[ppu_index]);
    queues_shared(queues)->sm_vregs = device->info->sm_vregs;
    queues_shared(queues)->sm_lanes = device->info->sm_warps * PPU_LANES;
    queues_shared(queues)->sm_shared = device->info->sm_shared;
    err = open_nest(context->ppus[ppu_index], &options, modest, wanted);
    if (err != PPU_OK) {
        ppu_memory_free(queues->shared);
        queues->shared = NULL;
        return err;
    }
    queues->heap_bytes = options.heap_bytes;
    __atomic_fetch_add(&device->nests, 1, __ATOMIC_RELAXED);
    return PPU_OK;
}

static enum ppu_err device_queues_make(cl_context context, uint32_t ppu_index, bool modest, uint32_t wanted)
{
    struct device_queues *queues = &context->device_queues[ppu_index];

    pthread_mutex_lock(&context->device_queues_lock);
    enum ppu_err err = !queues->shared ? open_device_queues(context, ppu_index, queues, modest, wanted) : PPU_OK;
    pthread_mutex_unlock(&context->device_queues_lock);
    return err;
}

static bool has_device_queues(cl_context context, uint32_t ppu_index)
{
    pthread_mutex_lock(&context->device_queues_lock);
    bool has = !!context->device_queues[ppu_index].shared;
    pthread_mutex_unlock(&context->device_queues_lock);
    return has;
}

enum ppu_err device_queues_need(cl_context context, uint32_t ppu_index, uint32_t wanted)
{
    if (!has_device_queues(context, ppu_index) && other_nests(context->devices[ppu_index]) != 0) {
        service_thread_drain(); /* contexts that are still being closed are no others to share with */
    }
    enum ppu_err err = device_queues_make(context, ppu_index, false, wanted);
    if (err != PPU_OK) {
        service_thread_drain();
        err = device_queues_make(context, ppu_index, true, wanted);
    }
    return err;
}

void device_queues_enter(cl_context context, uint32_t ppu_index)
{
    struct device_queues *queues = &context->device_queues[ppu_index];

    pthread_mutex_lock(&context->device_queues_lock);
    if (queues->launches++ == 0) {
        ppu_context_join_heap(context->ppus[ppu_index]);
    }
    pthread_mutex_unlock(&context->device_queues_lock);
}

void device_queues_leave(cl_context context, uint32_t ppu_index)
{
    pthread_mutex_lock(&context->device_queues_lock);
    context->device_queues[ppu_index].launches--;
    pthread_mutex_unlock(&context->device_queues_lock);
}

void device_queues_end(cl_context context, uint32_t ppu_index)
{
    struct device_queues *queues = &context->device_queues[ppu_index];

    if (queues->shared) {
        __atomic_fetch_sub(&context->devices[ppu_index]->nests, 1, __ATOMIC_RELAXED);
    }
    ppu_memory_free(queues->shared);
}

/* ---- queues on the device ---- */

static uint64_t address_of(cl_context context, uint32_t ppu_index, uint32_t index)
{
    uint64_t base = ppu_memory_va(context->device_queues[ppu_index].shared, context->ppus[ppu_index]).va;

    return base + offsetof(struct ppu_enqueue, queue) + index * sizeof(struct ppu_device_queue);
}

/* With the lock. PPU_DEVICE_QUEUES: all are in use. */
static uint32_t find_unused(const struct ppu_enqueue *shared)
{
    uint32_t i = 0;

    while (i < PPU_DEVICE_QUEUES && shared->queue[i].head.version != 0) {
        i++;
    }
    return i;
}

/* Makes what the queue needs, and says how large the queue is, if that was left open. */
static cl_int need_for_queue(cl_command_queue queue)
{
    enum ppu_err err = device_queues_need(queue->context, queue->ppu_index, queue->device_bytes);

    if (err != PPU_OK) {
        return device_error(err);
    }
    const uint32_t heap = queue->context->device_queues[queue->ppu_index].heap_bytes;
    queue->device_bytes = queue->device_bytes != 0 ? queue->device_bytes : heap;
    return queue->device_bytes <= heap ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
}

cl_int device_queue_add(cl_command_queue queue)
{
    cl_context context = queue->context;
    cl_int error = need_for_queue(queue);

    if (error != CL_SUCCESS) {
        return error;
    }
    struct ppu_enqueue *shared = queues_shared(&context->device_queues[queue->ppu_index]);
    pthread_mutex_lock(&context->device_queues_lock);
    uint32_t index = find_unused(shared);
    if (index < PPU_DEVICE_QUEUES) {
        shared->queue[index].head =
            (struct ppu_struct_header){ PPU_DEVICE_QUEUE_VERSION, sizeof(struct ppu_device_queue) };
        queue->device_index = index;
        queue->device_va = address_of(context, queue->ppu_index, index);
    }
    pthread_mutex_unlock(&context->device_queues_lock);
    return index < PPU_DEVICE_QUEUES ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
}

void device_queue_remove(cl_command_queue queue)
{
    struct device_queues *queues = &queue->context->device_queues[queue->ppu_index];

    pthread_mutex_lock(&queue->context->device_queues_lock);
    if (queues->default_queue == queue) {
        queues->default_queue = NULL;
        queues_shared(queues)->default_queue = 0;
    }
    queues_shared(queues)->queue[queue->device_index].head = (struct ppu_struct_header){ 0, 0 };
    pthread_mutex_unlock(&queue->context->device_queues_lock);
}

/* ---- work queues ---- */

static bool can_make(const struct _cl_command_queue *queue, const struct _cl_command_queue *maker)
{
    return maker->context == queue->context && maker->device == queue->device && maker->ppu_index == 0 &&
           (maker->properties & (CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE)) == 0;
}

/* Both queues are used by others only when this is done, but for the maker's commands. */
cl_int device_queue_add_workq(cl_command_queue queue, cl_command_queue maker, uint32_t entries)
{
    cl_context context = queue->context;

    if (!object_is(maker, OBJECT_queue) || !can_make(queue, maker)) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    const struct ppu_workq_options options = {
        .entries = entries,
        .block_bytes = PPU_CHILD_WORK_BYTES,
        .priority = queue_level(maker),
    };
    cl_int error = need_for_queue(queue);
    if (error != CL_SUCCESS) {
        return error;
    }
    pthread_mutex_lock(&context->lock);
    bool first = !maker->filled;
    enum ppu_err err = first ? ppu_workq_create(maker->submitter[0].channel, &options, &queue->workq) : PPU_OK;
    if (first && err == PPU_OK) {
        maker->filled = queue;
        queue->maker = maker;
        queue->device_va = ppu_workq_va(queue->workq).va;
        object_use(maker);
    }
    pthread_mutex_unlock(&context->lock);
    return first ? device_error(err) : CL_INVALID_COMMAND_QUEUE;
}

void device_queue_remove_workq(cl_command_queue queue)
{
    pthread_mutex_lock(&queue->context->lock);
    queue->maker->filled = NULL;
    pthread_mutex_unlock(&queue->context->lock);
    ppu_workq_destroy(queue->workq);
    object_drop(queue->maker);
}

/* ---- the default queue ---- */

void device_queue_set_default(cl_context context, uint32_t ppu_index, cl_command_queue queue)
{
    struct device_queues *queues = &context->device_queues[ppu_index];

    pthread_mutex_lock(&context->device_queues_lock);
    queues->default_queue = queue;
    queues_shared(queues)->default_queue = queue->device_va;
    pthread_mutex_unlock(&context->device_queues_lock);
}

cl_command_queue device_queue_default(cl_context context, uint32_t ppu_index)
{
    pthread_mutex_lock(&context->device_queues_lock);
    cl_command_queue queue = context->device_queues[ppu_index].default_queue;
    pthread_mutex_unlock(&context->device_queues_lock);
    return queue;
}

cl_command_queue device_queue_share_default(cl_context context, uint32_t ppu_index)
{
    pthread_mutex_lock(&context->device_queues_lock);
    cl_command_queue queue = context->device_queues[ppu_index].default_queue;
    queue = queue && object_retain(queue) ? queue : NULL;
    pthread_mutex_unlock(&context->device_queues_lock);
    return queue;
}
