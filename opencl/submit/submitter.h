/* SPDX-License-Identifier: MIT */
/* Submits commands of one queue through a channel, one after the other. */
#ifndef OPENCL_SUBMIT_SUBMITTER_H
#define OPENCL_SUBMIT_SUBMITTER_H

#include "opencl/api/event.h"

/* Commands of a submitter that are with the device. The channel has room for all of them, so that enqueuing never
 * waits. */
#define SUBMITTER_DEPTH 32u

struct submitter {
    cl_command_queue queue;
    struct ppu_channel *channel;
    struct ppu_stream *stream;
    struct ppu_memory *times;         /* a pair of semaphores for each place in `flight`: begin, end */
    cl_event flight[SUBMITTER_DEPTH]; /* under the context's lock; a ring */
    uint32_t first, count;
    struct print_memory *printed; /* where the kernel that is begun next, or `printing`, prints to; NULL: none does */
    cl_event printing;            /* in flight, with that memory; NULL: none. There is at most one */
    struct ppu_program *warm_up;  /* a kernel that was launched when the PPU was new; NULL: none */
    uint64_t ended_ns;            /* when the last command has, by the host's clock; of the thread */
    uint64_t notice_ns;           /* after so long the program is told what a command waits for */
    bool broken;                  /* its channel cannot be used again */
    bool failing;                 /* what is in flight has failed, and is about to be told: nothing joins it */
    bool threaded;
    pthread_t thread; /* waits for the commands in flight */
    pthread_cond_t work;
};

/* The submitter's thread sleeps until there is something in flight. Errors leave nothing behind. */
enum ppu_err submitter_open(struct submitter *submitter, cl_command_queue queue);
/* The address space it works in. */
struct ppu_context *submitter_space(const struct submitter *submitter);
/* Nothing is in flight any more. */
void submitter_close(struct submitter *submitter);
/* True when there is room in flight for the command. */
bool submitter_takes(const struct submitter *submitter, const struct _cl_event *event);
/* Waits for what a command became, and tells the context's callback now and then why it is not done. */
enum ppu_err submitter_wait(const struct submitter *submitter, const struct _cl_event *event,
                            const struct ppu_event *done);
/*
 * With the context's lock, when the submitter takes the command: gets what is needed to begin it. False: that is with
 * others, and the queue is told when it can be had.
 */
bool submitter_prepare(struct submitter *submitter, cl_event event);
/* With the context's lock, after that: gives the command to the device. */
void submitter_issue(struct submitter *submitter, cl_event event);

#endif
