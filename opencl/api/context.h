/* SPDX-License-Identifier: MIT */
/* Keeps a context: one address space of the device, and the lock of everything that is ordered by events in it. */
#ifndef OPENCL_API_CONTEXT_H
#define OPENCL_API_CONTEXT_H

#include <pthread.h>

#include "opencl/api/device.h"
#include "opencl/api/waiting.h"
#include "opencl/submit/print_memory.h"

struct svm;
struct call;
struct footprints;

/* A function that the program wants called when an object ends; latest first. */
struct farewell {
    struct farewell *next;
    void(CL_CALLBACK *function)(void *object, void *user);
    void *user;
};

/* Keeps what its kernels enqueue with on one device (submit/device_queue.h). */
struct device_queues {
    struct ppu_memory *shared; /* struct ppu_enqueue; NULL: not made yet */
    cl_command_queue default_queue;
    uint32_t heap_bytes;
    uint32_t launches; /* in flight, of kernels that can enqueue */
};

struct _cl_context {
    struct object object;
    cl_device_id devices[MAX_DEVICES];
    struct ppu_context *ppus[MAX_DEVICES];             /* an address space of each */
    struct print_memories print_memories[MAX_DEVICES]; /* of these; the lock guards them */
    uint32_t device_count;
    cl_device_id device;               /* the first: buffers lie in its memory */
    cl_context_properties *properties; /* with the final 0; NULL: none were given */
    size_t property_bytes;
    void(CL_CALLBACK *notify)(const char *text, const void *data, size_t bytes, void *user);
    void *user;
    struct ppu_context *ppu; /* the first */
    bool as_asked;           /* work-groups (PPU_WORK_GROUPS) */

    pthread_mutex_t device_queues_lock; /* of device_queues */
    struct device_queues device_queues[MAX_DEVICES];
    struct waiting waiting; /* of kernels that wait for what they enqueue */

    pthread_mutex_t lock;
    pthread_cond_t changed; /* some command or user event has ended */
    cl_command_queue eager; /* list of queues that may have something to start (next_eager) */
    cl_event ended;         /* list of commands that need no longer be kept (next) */
    struct call *calls;     /* callbacks due; list */
    struct call **calls_end;
    struct svm *svm;               /* list */
    struct footprints *footprints; /* of launches that check themselves; NULL: there were none */
    uint32_t submitters;           /* of all queues; atomic */
    struct farewell *farewells;
};

/* True when commands may run beside each other. */
static inline bool context_is_parallel(const struct _cl_context *context)
{
    return __atomic_load_n(&context->submitters, __ATOMIC_RELAXED) > 1;
}

/* Place of a device in the context; MAX_DEVICES: it is not one of it. */
uint32_t context_ppu_index(const struct _cl_context *context, const struct _cl_device_id *device);
/* Arguments of every function that builds: devices of the context or none, a user's pointer only with a callback. */
cl_int context_check_devices(cl_context context, cl_uint count, const cl_device_id *devices, bool notify,
                             const void *user);
/* With the lock: adds one; false: no memory. */
bool farewell_add(struct farewell **list, void(CL_CALLBACK *function)(void *object, void *user), void *user);
/* Calls and frees them. */
void farewell_say(struct farewell **list, void *object);
/* Tells the program what went wrong, when it wants to know. */
void context_notify(cl_context context, const char *what, const char *text);

#endif
