/* SPDX-License-Identifier: MIT */
/* A way of one queue to the device: a channel whose commands run one after the other. */
#ifndef OPENCL_SUBMIT_SUBMITTER_H
#define OPENCL_SUBMIT_SUBMITTER_H

#include "opencl/api/event.h"

/* Commands of a lane that are with the device. The channel has room for all of them, so that enqueuing never waits. */
#define LANE_DEPTH 32u

struct lane {
    cl_command_queue queue;
    struct ppu_channel *channel;
    struct ppu_stream *stream;
    struct ppu_memory *times;    /* a pair of semaphores for each place in `flight`: begin, end */
    cl_event flight[LANE_DEPTH]; /* under the context's lock; a ring */
    uint32_t first, count;
    struct ppu_memory *printed; /* where kernels print to; NULL: none of them has so far */
    cl_event printing;          /* in flight, with that memory; NULL: none. There is at most one */
    bool broken;                /* its channel cannot be used again */
    bool threaded;
    pthread_t thread; /* waits for the commands in flight */
    pthread_cond_t work;
};

/* The lane's thread sleeps until there is something in flight. Errors leave nothing behind. */
enum ppu_err lane_open(struct lane *lane, cl_command_queue queue);
/* The address space it works in. */
struct ppu_context *lane_space(const struct lane *lane);
/* Nothing is in flight any more. */
void lane_close(struct lane *lane);
/* True when there is room in flight for the command. */
bool lane_takes(const struct lane *lane, const struct _cl_event *event);
/* With the context's lock, when the lane takes it: gives the command to the device. */
void lane_issue(struct lane *lane, cl_event event);

#endif
