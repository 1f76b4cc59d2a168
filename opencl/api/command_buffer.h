/* SPDX-License-Identifier: MIT */
/*
 * Keeps a command buffer: commands that were checked and captured once, and are enqueued many times. They are recorded
 * by the functions that enqueue: these are given a queue of the command buffer's own, which keeps what it is given.
 */
#ifndef OPENCL_API_COMMAND_BUFFER_H
#define OPENCL_API_COMMAND_BUFFER_H

#include "opencl/api/queue.h"

struct recorded {
    cl_command_type type;
    bool barrier;
    struct work work;      /* of which each enqueue takes a copy */
    cl_uint waits;         /* for commands before it */
    cl_sync_point_khr *on; /* their numbers */
};

/* Sync points are the places in the list, from 1 on. */
struct _cl_command_buffer_khr {
    struct object object;
    cl_context context;
    cl_command_queue queue;    /* in use; enqueued to unless another is named */
    cl_command_queue recorder; /* like that one */
    cl_command_buffer_properties_khr *properties;
    size_t property_bytes;

    pthread_mutex_t lock; /* of what follows */
    bool executable;
    struct recorded *recorded;
    cl_uint count, room;
};

/* Takes a checked command of the recorder's, as queue_take() does. INVALID_OPERATION: it cannot be repeated. */
cl_int command_buffer_keep(cl_command_buffer_khr buffer, const struct command *command, struct work *work);

#endif
