/* SPDX-License-Identifier: MIT */
/*
 * Keeps a semaphore of cl_khr_semaphore, which is binary. A wait takes a signal, in the order of the waits: one that
 * finds none waits for an event of its own, which the next signal ends. All of it is under the context's lock.
 */
#ifndef OPENCL_API_SEMAPHORE_H
#define OPENCL_API_SEMAPHORE_H

#include "opencl/api/event.h"

/* A wait for one semaphore. */
struct semaphore_wait {
    cl_semaphore_khr semaphore; /* in use */
    cl_event gate;              /* referenced: ends when there is a signal for it */
    bool queued;                /* among the semaphore's */
    bool taken;                 /* it has a signal that it has not consumed */
    struct semaphore_wait *next;
};

struct _cl_semaphore_khr {
    struct object object;
    cl_context context;
    cl_semaphore_properties_khr *properties; /* with the final 0 */
    size_t property_bytes;
    cl_device_id device; /* NULL: all of the context */
    bool signaled;       /* no wait has consumed the signal */
    bool open;           /* no wait has taken it */
    struct semaphore_wait *first, *last;
};

#define SEMAPHORE_DEVICES 0x2053 /* CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR, which Debian's headers have not */

cl_semaphore_khr semaphore_create(cl_context context, const cl_semaphore_properties_khr *properties, cl_int *errcode);
cl_int semaphore_enqueue_wait(cl_command_queue queue, cl_uint count, const cl_semaphore_khr *semaphores,
                              const cl_semaphore_payload_khr *payloads, cl_uint event_count, const cl_event *events,
                              cl_event *out);
cl_int semaphore_enqueue_signal(cl_command_queue queue, cl_uint count, const cl_semaphore_khr *semaphores,
                                const cl_semaphore_payload_khr *payloads, cl_uint event_count, const cl_event *events,
                                cl_event *out);
cl_int semaphore_handle(cl_semaphore_khr semaphore, cl_device_id device, cl_uint type, size_t bytes, void *at,
                        size_t *size_ret);
cl_int semaphore_info(cl_semaphore_khr semaphore, cl_semaphore_info_khr query, size_t bytes, void *at,
                      size_t *size_ret);

#endif
