/* SPDX-License-Identifier: MIT */
/*
 * Runs the service thread, which lives as long as the process. It opens the device, because a machine ends with the
 * thread that started it, and it ends what cannot be ended by whoever happens to have the last use: queues, whose own
 * threads may have it.
 */
#ifndef OPENCL_SUBMIT_SERVICE_THREAD_H
#define OPENCL_SUBMIT_SERVICE_THREAD_H

#include <stdbool.h>

struct errand {
    void (*run)(struct errand *errand);
    /* The keeper's. */
    struct errand *next;
    bool waited, done;
};

/* Runs it soon, after the earlier ones. The errand is the keeper's until then. */
void service_thread_post(struct errand *errand);
/* Runs it and returns when it is done. */
void service_thread_call(struct errand *errand);
/* A thread whose end an errand may wait for calls this first: it must not wait for errands. */
void service_thread_excuse(void);
/* Returns when all that was to be run before has been: what had its last use then is given back. Not in a thread that
 * is excused: there it returns at once. */
void service_thread_drain(void);

#endif
