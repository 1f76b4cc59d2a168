/* SPDX-License-Identifier: MIT */
#include "opencl/api/svm.h"

#include <stdlib.h>
#include <string.h>

#include "opencl/api/allocation.h"
#include "opencl/api/mapping.h"
#include "opencl/api/memory.h"
#include "opencl/api/queue.h"
#include "opencl/api/transfer.h"
#include "ppu/mmu.h"

#define ACCESS_FLAGS ((cl_svm_mem_flags)(CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY))
#define GRAIN_FLAGS ((cl_svm_mem_flags)(CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS))

/* ---- allocation ---- */

static struct svm *find_svm(cl_context context, const void *at)
{
    struct svm *svm = context->svm;

    while (svm && ((const uint8_t *)at < svm->at || (const uint8_t *)at >= svm->at + svm->bytes)) {
        svm = svm->next;
    }
    return svm;
}

bool svm_holds(cl_context context, const void *at, size_t bytes)
{
    pthread_mutex_lock(&context->lock);
    const struct svm *svm = at ? find_svm(context, at) : NULL;
    bool holds = svm && bytes <= svm->bytes - (size_t)((const uint8_t *)at - svm->at);
    pthread_mutex_unlock(&context->lock);
    return holds;
}

bool svm_piece(cl_context context, const void *at, uint64_t *start, uint64_t *bytes)
{
    pthread_mutex_lock(&context->lock);
    const struct svm *svm = find_svm(context, at);
    if (svm) {
        *start = (uint64_t)(uintptr_t)svm->at;
        *bytes = svm->bytes;
    }
    pthread_mutex_unlock(&context->lock);
    return svm;
}

static enum ppu_err take_vram(struct svm *svm, struct ppu_device *device)
{
    const enum ppu_err err = ppu_memory_alloc(device, PPU_MEMORY_VRAM, svm->bytes, &svm->memory);

    return memory_is_back(err) ? ppu_memory_alloc(device, PPU_MEMORY_VRAM, svm->bytes, &svm->memory) : err;
}

static struct svm *svm_new(cl_context context, size_t bytes)
{
    struct svm *svm = calloc(1, sizeof(*svm));

    if (!svm) {
        return NULL;
    }
    svm->bytes = bytes;
    if (take_vram(svm, context->device->ppu) != PPU_OK) {
        free(svm);
        return NULL;
    }
    svm->at = ppu_memory_host(svm->memory);
    const ppu_va_t va = { (uint64_t)(uintptr_t)svm->at };
    if (ppu_memory_map_at(svm->memory, context->ppu, 0, va) != PPU_OK) {
        ppu_memory_free(svm->memory);
        free(svm);
        return NULL;
    }
    return svm;
}

/* Memory is aligned to 64 KiB whatever is asked for. */
static bool alignment_is_good(cl_uint alignment)
{
    return (alignment & (alignment - 1)) == 0 && alignment <= sizeof(cl_long16);
}

/* Host and device see the same bytes, by the same atomic operations: memory of every kind is of fine grain. */
static bool flags_are_good(cl_svm_mem_flags flags)
{
    const cl_svm_mem_flags access = flags & ACCESS_FLAGS;

    return (flags & ~(ACCESS_FLAGS | GRAIN_FLAGS)) == 0 && (access & (access - 1)) == 0 &&
           (flags & GRAIN_FLAGS) != CL_MEM_SVM_ATOMICS;
}

void *clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t bytes, cl_uint alignment)
{
    if (!object_is(context, OBJECT_context) || !device_has_svm(context->device) || !flags_are_good(flags) ||
        bytes == 0 || bytes > device_max_alloc(context->device) || !alignment_is_good(alignment)) {
        return NULL;
    }
    struct svm *svm = svm_new(context, bytes);
    if (!svm) {
        return NULL;
    }
    svm->allocation =
        allocation_new(context, "clSVMAlloc", (uint64_t)(uintptr_t)svm->at, bytes, ppu_memory_bytes(svm->memory));
    object_use(context);
    pthread_mutex_lock(&context->lock);
    svm->next = context->svm;
    context->svm = svm;
    pthread_mutex_unlock(&context->lock);
    return svm->at;
}

void clSVMFree(cl_context context, void *at)
{
    struct svm *svm = NULL;

    if (!object_is(context, OBJECT_context) || !at) {
        return;
    }
    pthread_mutex_lock(&context->lock);
    for (struct svm **link = &context->svm; *link; link = &(*link)->next) {
        if ((*link)->at == at) {
            svm = *link;
            *link = svm->next;
            break;
        }
    }
    pthread_mutex_unlock(&context->lock);
    if (svm) {
        ppu_memory_free(svm->memory);
        allocation_end(svm->allocation);
        free(svm);
        object_drop(context);
    }
}

/* ---- commands ---- */

static cl_int check_svm_command(cl_command_queue queue, cl_uint count, const cl_event *events)
{
    cl_int error = command_check(queue, count, events);

    if (error == CL_SUCCESS && !device_has_svm(queue->device)) {
        error = CL_INVALID_OPERATION;
    }
    return error;
}

/* Where a command may race with kernels; what the host has for itself, it may not. */
static struct work_span shared_span(cl_context context, const void *at, size_t bytes)
{
    struct work_span span = { .va = (uint64_t)(uintptr_t)at, .bytes = 0 };
    uint64_t start = 0, piece = 0;

    span.bytes = svm_piece(context, at, &start, &piece) ? bytes : 0;
    return span;
}

static cl_int run_free(cl_event event)
{
    const struct svm_free *free_all = &event->work.svm_free;

    if (free_all->function) {
        free_all->function(event->queue, free_all->count, free_all->pointers, free_all->user);
        return CL_SUCCESS;
    }
    for (cl_uint i = 0; i < free_all->count; i++) {
        clSVMFree(event->context, free_all->pointers[i]);
    }
    return CL_SUCCESS;
}

static void drop_free(struct work *work)
{
    free(work->svm_free.pointers);
}

cl_int clEnqueueSVMFree(cl_command_queue queue, cl_uint count_pointers, void *pointers[],
                        void(CL_CALLBACK *function)(cl_command_queue, cl_uint, void **, void *), void *user,
                        cl_uint count, const cl_event *events, cl_event *out)
{
    const struct command command = { CL_COMMAND_SVM_FREE, ORDER_AS_QUEUE, false, count, events, out };
    struct work work = { .executor = WORK_ON_HOST, .run = run_free, .drop = drop_free };
    cl_int error = check_svm_command(queue, count, events);

    if (error != CL_SUCCESS) {
        return error;
    }
    if ((count_pointers == 0) != !pointers) {
        return CL_INVALID_VALUE;
    }
    work.svm_free = (struct svm_free){ function, user, NULL, count_pointers };
    if (count_pointers > 0) {
        work.svm_free.pointers = malloc(count_pointers * sizeof(void *));
        if (!work.svm_free.pointers) {
            return CL_OUT_OF_HOST_MEMORY;
        }
        memcpy(work.svm_free.pointers, pointers, count_pointers * sizeof(void *));
    }
    return queue_take(queue, &command, &work);
}

cl_int clEnqueueSVMMemcpy(cl_command_queue queue, cl_bool blocking, void *dst, const void *src, size_t bytes,
                          cl_uint count, const cl_event *events, cl_event *out)
{
    const struct command command = { CL_COMMAND_SVM_MEMCPY, ORDER_AS_QUEUE, blocking != CL_FALSE, count, events, out };
    cl_int error = check_svm_command(queue, count, events);

    if (error != CL_SUCCESS) {
        return error;
    }
    if (!dst || !src) {
        return CL_INVALID_VALUE;
    }
    const uint8_t *from = src;
    if ((const uint8_t *)dst < from + bytes && from < (const uint8_t *)dst + bytes) {
        return CL_MEM_COPY_OVERLAP;
    }
    struct work work = transfer_bytes(dst, src, bytes);
    work.reads = shared_span(queue->context, src, bytes);
    work.writes = shared_span(queue->context, dst, bytes);
    return queue_take(queue, &command, &work);
}

cl_int clEnqueueSVMMemFill(cl_command_queue queue, void *at, const void *pattern, size_t pattern_bytes, size_t bytes,
                           cl_uint count, const cl_event *events, cl_event *out)
{
    const struct command command = { CL_COMMAND_SVM_MEMFILL, ORDER_AS_QUEUE, false, count, events, out };
    struct work work;
    cl_int error = check_svm_command(queue, count, events);

    if (error != CL_SUCCESS) {
        return error;
    }
    if (!at || !transfer_fill(&work, at, bytes, pattern, pattern_bytes) || (uintptr_t)at % pattern_bytes != 0) {
        return CL_INVALID_VALUE;
    }
    work.writes = shared_span(queue->context, at, bytes);
    return queue_take(queue, &command, &work);
}

/* Host and PPU see the same bytes: only order is asked for. `reads`: what the host may look at then. */
static cl_int take_nothing(cl_command_queue queue, const struct command *command, struct work_span reads)
{
    struct work nothing = { .executor = WORK_NOWHERE, .reads = reads };

    return queue_take(queue, command, &nothing);
}

cl_int clEnqueueSVMMap(cl_command_queue queue, cl_bool blocking, cl_map_flags flags, void *at, size_t bytes,
                       cl_uint count, const cl_event *events, cl_event *out)
{
    const struct command command = { CL_COMMAND_SVM_MAP, ORDER_AS_QUEUE, blocking != CL_FALSE, count, events, out };
    cl_int error = check_svm_command(queue, count, events);

    if (error != CL_SUCCESS) {
        return error;
    }
    if (!at || bytes == 0 || !mapping_flags_are_good(flags)) {
        return CL_INVALID_VALUE;
    }
    const bool reads = flags != CL_MAP_WRITE_INVALIDATE_REGION;
    return take_nothing(queue, &command, shared_span(queue->context, at, reads ? bytes : 0));
}

cl_int clEnqueueSVMUnmap(cl_command_queue queue, void *at, cl_uint count, const cl_event *events, cl_event *out)
{
    const struct command command = { CL_COMMAND_SVM_UNMAP, ORDER_AS_QUEUE, false, count, events, out };
    cl_int error = check_svm_command(queue, count, events);

    if (error != CL_SUCCESS) {
        return error;
    }
    return at ? take_nothing(queue, &command, (struct work_span){ .bytes = 0 }) : CL_INVALID_VALUE;
}

cl_int clEnqueueSVMMigrateMem(cl_command_queue queue, cl_uint count_pointers, const void **pointers,
                              const size_t *sizes, cl_mem_migration_flags flags, cl_uint count, const cl_event *events,
                              cl_event *out)
{
    const struct command command = { CL_COMMAND_SVM_MIGRATE_MEM, ORDER_AS_QUEUE, false, count, events, out };
    cl_int error = check_svm_command(queue, count, events);

    if (error != CL_SUCCESS) {
        return error;
    }
    if (count_pointers == 0 || !pointers || !transfer_migrate_flags_are_good(flags)) {
        return CL_INVALID_VALUE;
    }
    for (cl_uint i = 0; i < count_pointers; i++) {
        if (!svm_holds(queue->context, pointers[i], sizes ? sizes[i] : 0)) {
            return CL_INVALID_VALUE;
        }
    }
    return take_nothing(queue, &command, (struct work_span){ .bytes = 0 });
}
