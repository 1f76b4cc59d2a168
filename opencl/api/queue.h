/* SPDX-License-Identifier: MIT */
/*
 * Keeps a command queue. What runs on the device goes through submitters: an in-order queue has one, an out-of-order
 * queue several, so that its commands run beside each other. What runs on the host goes to a thread of the queue.
 * Threads sleep when there is nothing to do.
 */
#ifndef OPENCL_API_QUEUE_H
#define OPENCL_API_QUEUE_H

#include "opencl/submit/service_thread.h"
#include "opencl/submit/submitter.h"

#define QUEUE_SUBMITTERS 4u

struct ready_list {
    cl_event first, last;
};

struct _cl_command_queue {
    struct object object;
    cl_context context;
    cl_device_id device;
    uint32_t ppu_index; /* of the device in the context */
    cl_command_queue_properties properties;
    cl_queue_properties *given; /* to clCreateCommandQueueWithProperties, with the final 0 */
    size_t given_bytes;
    uint32_t recorded; /* atomic: its number for tools; 0: it has none yet */
    struct errand end;
    uint32_t submitters;
    uint32_t counted;             /* of these by the context */
    uint32_t limit_ms;            /* that its kernels may run; 0: as long as the device lets them */
    cl_uint priority;             /* cl_queue_priority_khr */
    cl_uint throttle;             /* cl_queue_throttle_khr; a hint that changes nothing */
    uint64_t device_va;           /* of a queue on the device: its address for kernels, 0: not made; of others 0 */
    uint32_t device_index;        /* its number among those of the address space */
    cl_uint device_bytes;         /* CL_QUEUE_SIZE */
    cl_command_queue maker;       /* of a work queue: the host's queue whose kernels fill it, in use; else NULL */
    struct ppu_workq *workq;      /* of that; NULL: this is no work queue */
    struct ppu_taskq *taskq;      /* of a task queue: its entries; NULL: this is none */
    struct ppu_channel *feeder;   /* that tells its kernel of entries */
    uint32_t entry_bytes;         /* of an entry's data */
    bool taken;                   /* a command takes its entries, which has not ended; by exchange */
    bool served;                  /* for who has taken it: it must be opened again */
    cl_command_buffer_khr record; /* which keeps what this queue is given, as its own; NULL: it is enqueued */
    cl_command_queue filled;      /* of a host's queue, with the context's lock: its work queue; NULL: none */

    /* The context's lock guards these. */
    struct submitter submitter[QUEUE_SUBMITTERS];
    struct ready_list ready[WORK_EXECUTORS];
    uint32_t failures; /* commands that failed, other than because others did */
    uint32_t told;     /* how many of these the program knows of */
    cl_event newest;   /* that has not ended; in order: the latest command; else the latest barrier */
    cl_event *open;    /* commands that have not ended */
    size_t open_count, open_room;
    cl_command_queue next_eager;
    cl_command_queue next_printing; /* that awaits memory to print to (print_memories_await()) */
    bool eager;
    bool stopping;
    bool threaded;
    pthread_t thread; /* runs what runs on the host */
    pthread_cond_t host_work;
};

/* Returns the priority of what the queue launches, as the device counts. */
uint32_t queue_level(const struct _cl_command_queue *queue);

/* Says what a command comes after, beside the events of its list and the queue's order. */
enum queue_order {
    ORDER_AS_QUEUE = 0,
    ORDER_MARKER,  /* everything before it, when it has no list */
    ORDER_BARRIER, /* the same; and all that follows comes after it */
};

struct command {
    cl_command_type type;
    enum queue_order order;
    bool blocking; /* return when it has ended */
    cl_uint count; /* events to wait for */
    const cl_event *events;
    cl_event *out; /* gets a reference; may be NULL */
};

/* A queue like that one for commands that are only recorded; NULL: no memory. */
cl_command_queue queue_recorder(cl_command_queue like, cl_command_buffer_khr record);
/* A queue on the device has no commands of the host. */
bool queue_is_for_host(cl_command_queue queue);
/* The queue must be one for the host, and the list good. */
cl_int command_check(cl_command_queue queue, cl_uint count, const cl_event *events);
/*
 * Takes a checked command. `work` belongs to it, also after an error; what work->needs points to is used by the caller
 * for it. Never blocks unless asked to: then the error is the command's own.
 */
cl_int queue_take(cl_command_queue queue, const struct command *command, struct work *work);

/* The following with the context's lock. */

/* Nothing keeps it from starting. */
void queue_ready(cl_event event);
/* Starts what is ready and has room. */
void queue_start(cl_command_queue queue);
/* With the lock: before it is given away the queue is looked at for commands that can be started. */
void queue_look_again(cl_command_queue queue);
/* One of its commands has ended. */
void queue_ended(cl_event event);
/* The program knows of a failure of the queue and of those before it; 0: of all. */
void queue_told(cl_command_queue queue, uint32_t failure);

#endif
