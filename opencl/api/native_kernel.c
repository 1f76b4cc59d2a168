/* SPDX-License-Identifier: MIT */
/* Runs native kernels: functions of the program that a queue runs on the host. */
#include <stdlib.h>
#include <string.h>

#include "opencl/api/buffer.h"
#include "opencl/api/marks.h"
#include "opencl/api/queue.h"

static cl_int run_native_kernel(cl_event event)
{
    event->work.native_kernel.function(event->work.native_kernel.arguments);
    return CL_SUCCESS;
}

static void drop_native_kernel(struct work *work)
{
    free(work->native_kernel.arguments);
}

static cl_int check_arguments(const void *arguments, size_t bytes, cl_uint memories, const cl_mem *list,
                              const void **locations)
{
    if ((!arguments && (bytes > 0 || memories > 0)) || (arguments && bytes == 0) || ((memories == 0) != !list) ||
        ((memories == 0) != !locations)) {
        return CL_INVALID_VALUE;
    }
    const uint8_t *first = arguments;
    for (cl_uint i = 0; i < memories; i++) {
        const uint8_t *location = locations[i];
        if (!memory_is(list[i])) {
            return CL_INVALID_MEM_OBJECT;
        }
        if (bytes < sizeof(void *) || location < first || location > first + (bytes - sizeof(void *))) {
            return CL_INVALID_VALUE;
        }
    }
    return CL_SUCCESS;
}

/* The function gets a copy, with the buffers' bytes where the handles were. */
static void *copy_arguments(const void *arguments, size_t bytes, cl_uint memories, const cl_mem *list,
                            const void **locations)
{
    uint8_t *copy = malloc(bytes);

    if (!copy) {
        return NULL;
    }
    memcpy(copy, arguments, bytes);
    for (cl_uint i = 0; i < memories; i++) {
        const uint8_t *at = list[i]->at;
        memcpy(copy + ((const uint8_t *)locations[i] - (const uint8_t *)arguments), &at, sizeof(at));
    }
    return copy;
}

cl_int clEnqueueNativeKernel(cl_command_queue queue, void(CL_CALLBACK *function)(void *), void *arguments, size_t bytes,
                             cl_uint memories, const cl_mem *list, const void **locations, cl_uint count,
                             const cl_event *events, cl_event *out)
{
    const struct command command = { CL_COMMAND_NATIVE_KERNEL, ORDER_AS_QUEUE, false, count, events, out };
    struct work work = { .executor = WORK_ON_HOST, .run = run_native_kernel, .drop = drop_native_kernel };
    cl_int error = command_check(queue, count, events);

    if (error == CL_SUCCESS) {
        error = function ? check_arguments(arguments, bytes, memories, list, locations) : CL_INVALID_VALUE;
    }
    if (error != CL_SUCCESS) {
        return error;
    }
    for (cl_uint i = 0; i < memories; i++) {
        marks_set(list[i], 0, list[i]->bytes);
    }
    work.native_kernel.function = function;
    if (arguments) {
        work.native_kernel.arguments = copy_arguments(arguments, bytes, memories, list, locations);
        if (!work.native_kernel.arguments) {
            return CL_OUT_OF_HOST_MEMORY;
        }
    }
    return queue_take(queue, &command, &work);
}
