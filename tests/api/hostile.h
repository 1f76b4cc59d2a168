/* SPDX-License-Identifier: MIT */
/* Runs programs in one context that take all they can get of what contexts share. */
#ifndef TESTS_API_HOSTILE_H
#define TESTS_API_HOSTILE_H

#include <stdint.h>

#include "ppu.h"

#define HOSTILE_STREAMS 40u /* more than there are slots */

/* Where they run, which is the caller's, and what they have made, which hostile_stop() destroys. */
struct hostile_run {
    struct ppu_context *context;
    struct ppu_channel *channel;
    struct ppu_stream *stream;
    struct ppu_program *program; /* of tests/kernels/fair.s */
    struct ppu_channel *feeder;
    struct ppu_taskq *queue;
    struct ppu_memory *memory;
    struct ppu_stream *streams[HOSTILE_STREAMS];
};

struct hostile {
    const char *name;
    enum ppu_err (*start)(struct hostile_run *run); /* leaves running what it has started */
};

extern const struct hostile hostiles[];
extern const uint32_t hostiles_count;

/* Loads what they execute from this folder of kernels. [error] may be NULL. */
enum ppu_err hostile_load(struct hostile_run *run, const char *folder, struct ppu_error *error);
enum ppu_err hostile_unload(struct hostile_run *run);

/* Endless tasks in all streams; CTAs of a whole SM each. */
enum ppu_err hostile_task_flood(struct hostile_run *run);
enum ppu_err hostile_endless_wide(struct hostile_run *run);
/* A task of a queue that tells of entries for ever; watchdog_ns 0: the context's limit. */
enum ppu_err hostile_self_feeding(struct hostile_run *run, uint64_t watchdog_ns, struct ppu_event *event);

/* Ends it all by a reset of the channel. */
enum ppu_err hostile_stop(struct hostile_run *run);

#endif
