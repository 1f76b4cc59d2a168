/* SPDX-License-Identifier: MIT */
/*
 * Orders commands by events: an event is a command of a queue, or a user event. A command waits for other events, runs
 * on the device (in a submitter of its queue) or on the queue's host thread, and ends; then those that waited for it
 * may start.
 *
 * All fields that change are under the context's lock. Every function that may start or end a command leaves by
 * context_unlock_and_dispatch(), which starts what has become ready and calls the program's callbacks without the lock.
 */
#ifndef OPENCL_API_EVENT_H
#define OPENCL_API_EVENT_H

#include "opencl/api/context.h"
#include "ppu/image.h"

struct submitter;

/* Where a command runs. */
enum work_executor {
    WORK_NOWHERE = 0, /* there is nothing to do: it ends when it could start */
    WORK_ON_HOST,
    WORK_ON_DEVICE,
    WORK_EXECUTORS,
};

/* A box of bytes moved by the host: rows of region[0] bytes, region[1] rows, region[2] slices. */
struct box {
    uint8_t *dst;
    const uint8_t *src;
    size_t region[3];
    size_t dst_row, dst_slice, src_row, src_slice; /* pitches in bytes */
};

struct fill {
    uint8_t *dst;
    size_t bytes;
    uint8_t pattern[sizeof(cl_double16)];
    size_t pattern_bytes;
};

/* Texels of one value in a box of an image. */
struct texel_fill {
    uint8_t *dst;
    size_t region[3]; /* in texels */
    size_t row, slice, texel_bytes;
    uint8_t texel[sizeof(cl_float4)];
};

struct device_copy {
    uint64_t dst_va, src_va, bytes;
};

struct native_kernel {
    void(CL_CALLBACK *function)(void *);
    void *arguments;
};

struct svm_free {
    void(CL_CALLBACK *function)(cl_command_queue, cl_uint, void **, void *);
    void *user;
    void **pointers;
    cl_uint count;
};

#define EVENT_VARIANT_BYTES 96u

/* Says where the strings lie that a kernel prints. */
struct print_source {
    const struct ppu_program_view *view; /* of the image with the kernel; NULL: nothing prints */
    uint64_t code_va;                    /* where its code is on the device */
    uint32_t tables;                     /* PPU_SANITIZER_HAS_*: the kernel checks itself, and needs them */
    cl_context context;                  /* for names of allocations; NULL: they are not known */
    uint32_t cta[3], grid[3];            /* of a launch; zeros: it is none, or several */
    uint32_t edge[3];                    /* of its last work-groups, 0: as `cta` */
    uint64_t offset[3];                  /* of its global ids */
};

/* Bytes of a buffer on the device; `bytes` 0: none. */
struct work_span {
    uint64_t va, bytes;    /* of the first row; 0 bytes: there are none */
    uint64_t row, slice;   /* from one to the next */
    uint64_t rows, slices; /* behind the first */
};

/* Describes what a command does. */
struct work {
    enum work_executor executor;
    /* On the host: does it; CL_SUCCESS or an error. */
    cl_int (*run)(cl_event event);
    /* On the device: takes what build() needs in that context; NULL: nothing. */
    enum ppu_err (*prepare)(cl_event event, struct ppu_context *context);
    /* Adds its methods to the block, for the device. They end with everything idle. */
    void (*build)(cl_event event, struct ppu_block *block, struct ppu_stream *stream);
    /* Makes what the work owns its own, after a copy of its bytes: such work can be repeated. False: no memory. */
    bool (*own)(struct work *work);
    /* Frees what the work owns; NULL: nothing. */
    void (*drop)(struct work *work);
    void (*ended)(struct work *work);  /* with the lock, before anybody is told, unless it has been dropped; or NULL */
    void *needs[2];                    /* objects in use until the command has ended; may be NULL */
    struct print_source prints;        /* on the device */
    struct work_span reads, writes;    /* of a command that moves bytes, where it may race with kernels */
    uint64_t printf_va;                /* where to; given by the submitter before build() */
    char variant[EVENT_VARIANT_BYTES]; /* of a kernel: which runs; "": it is no kernel */
    union {
        struct box box;
        struct fill fill;
        struct texel_fill texel_fill;
        struct device_copy copy;
        struct native_kernel native_kernel;
        struct svm_free svm_free;
        void *owned;
    };
};

/* Times of a command, ns of the device; as CL_PROFILING_COMMAND_QUEUED and the following. */
enum event_time {
    TIME_QUEUED,
    TIME_SUBMIT,
    TIME_START,
    TIME_END,
    EVENT_TIMES,
};

struct _cl_event {
    struct object object;
    cl_context context;
    cl_command_queue queue; /* NULL: user event */
    cl_command_type type;
    uint32_t recorded; /* its number for tools; 0: of no queue */
    struct work work;
    cl_int status;
    uint64_t time_ns[EVENT_TIMES];
    uint64_t issued_ns; /* when it was given to the device, by the host's clock */
    uint64_t took_ns;   /* on the device, as the host sees it; 0: it has not ended well */

    cl_event *dependents; /* commands that wait for this one */
    size_t dependent_count, dependent_room;
    size_t unmet;     /* events this one waits for */
    size_t covered;   /* those of them that are in the submitter this one will run in: order is kept there */
    uint64_t after;   /* tracks of launches that it comes after (footprint.h) */
    uint32_t track;   /* + 1, of a command that may race with others; 0: it has none */
    bool gated;       /* it comes after a user event that had not ended */
    bool failed;      /* one of them has ended with an error */
    uint32_t failure; /* which failure of its queue it is; 0: none, or that of another command */
    bool listed;      /* is or was in a ready list */
    uint32_t awaited; /* threads that sleep until it has ended */
    size_t open_at;   /* in the queue's open commands */
    struct submitter *submitter;
    struct ppu_event done; /* in the submitter */
    uint32_t flight_index; /* of its times in the submitter */
    cl_event next;         /* in a ready list, later in the context's list of ended commands */
    struct call *calls;
};

/* A callback of the program, due when the status has come down to `trigger`. */
struct call {
    struct call *next;
    cl_event event; /* in use */
    cl_int trigger;
    cl_int status; /* as it is told */
    void(CL_CALLBACK *function)(cl_event, cl_int, void *);
    void *user;
};

/* CL_SUCCESS when the list is as the specification wants it, all of it in `context`. */
cl_int wait_list_check(cl_context context, cl_uint count, const cl_event *events);

/* The function that enqueued it. */
const char *event_command_name(const struct _cl_event *event);

/* A command that waits for nothing yet; NULL: no memory. */
cl_event event_new(cl_context context, cl_command_queue queue, cl_command_type type);

/* Gives back what the work owns and needs, once. Without the context's lock. */
void work_drop(struct work *work);

/* The following with the context's lock. */

/* Gives it to its queue when nothing keeps it from starting. */
void event_look(cl_event event);
/* `event` waits for `other`, unless that has ended. False: no memory. */
bool event_wait_for(cl_event event, cl_event other);
/* It is in a submitter now: what comes after it in the same queue may follow. */
void event_issued(cl_event event);
/* It has come as far as SUBMITTED or RUNNING. */
void event_reach(cl_event event, cl_int status);
/* It has ended, with CL_COMPLETE or an error. */
void event_end(cl_event event, cl_int status);
void context_unlock_and_dispatch(cl_context context);
/* Returns when it has ended, with its status. Gives the lock up meanwhile. */
cl_int event_await(cl_event event);
/* The program is told of the command's status, which is returned. */
cl_int event_tell(cl_event event);

#endif
