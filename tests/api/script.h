/* SPDX-License-Identifier: MIT */
/*
 * Makes trees of launches that follow a script (tests/kernels/script.s), and checks the rules that any run of one must
 * obey. Node 0 is the host: its children are launched by it, in order. The others are grids.
 */
#ifndef TESTS_API_SCRIPT_H
#define TESTS_API_SCRIPT_H

#include "tests/api/api.h"

#define SCRIPT_HOST 0u
#define SCRIPT_NO_STREAM 0xffffffffu

/* A node as its grid reads it. The test sets what is marked (t), before script_launch(). */
struct script_node {
    uint64_t script, log;
    uint32_t number;
    uint32_t first, children; /* their numbers */
    uint32_t waits;           /* (t) 1: waits for its children */
    uint32_t turns;           /* (t) spins so long before it launches */
    uint32_t awaits;          /* (t) script_gate(): then it waits for that node to begin */
    uint32_t marked;          /* (t) 1: its launcher passes the marks of device-lib/asm/nest.s */
    uint32_t gate;            /* (t) script_gate(): its launcher waits for that node to begin before */
    uint64_t tmd;
    uint32_t stream; /* (t) of its parent's grid, below 32, or SCRIPT_NO_STREAM; of the host's: any of `streams` */
    uint32_t begun;
};

/* What the test says of a node besides. */
struct script_plan {
    uint32_t ctas, threads; /* threads a CTA; thread t of n launches the children t, t + n, ... */
    bool launches;          /* its task may launch; true as soon as it has children */
};

struct script {
    struct api *api;
    struct ppu_context *context;
    struct ppu_channel *channel;
    const struct ppu_kernel *kernel;
    struct ppu_memory *memory; /* nodes, then TMDs */
    struct ppu_memory *log;
    struct script_node *node;
    struct script_plan *plan;
    uint32_t count;
    uint32_t most;
    struct ppu_stream *const *streams; /* of the host, as launched */
    struct ppu_event event;            /* of everything launched */
};

/* An empty script for a context with a nest: node 0 alone. */
void script_begin(struct script *script, struct api *api, struct ppu_context *context, struct ppu_channel *channel,
                  uint32_t most);
/* Memory is the fixture's; this frees what is not. */
void script_end(struct script *script);
/* Forgets every node but the host. */
void script_clear(struct script *script);
/* Adds children of a node that has none: one thread, stream 0, no children. Returns the number of the first. */
uint32_t script_children(struct script *script, uint32_t parent, uint32_t count);
/* As a node's `awaits` or `gate`. */
uint32_t script_gate(uint32_t node);
/* A random tree below a node. */
void script_grow(struct script *script, uint32_t parent, uint32_t nodes, uint32_t streams, uint64_t *random);

/* Launches the host's children, child c into streams[its stream]. */
void script_start(struct script *script, struct ppu_stream *const *streams);
/* The same, and makes the event of their end. */
void script_launch(struct script *script, struct ppu_stream *const *streams);
/* The same, and waits until all is done. */
enum ppu_err script_run(struct script *script, struct ppu_stream *const *streams);
/* Opens a gate from the host: the node counts as begun. */
void script_open(struct script *script, uint32_t node);
/* Entries of the log that say that threads of the node have begun, have ended. */
uint32_t script_begun(const struct script *script, uint32_t node);
uint32_t script_ended(const struct script *script, uint32_t node);
/* Waits until threads of the node have begun (ended); false after LONG_NS. */
bool script_wait_begun(const struct script *script, uint32_t node);
bool script_wait_ended(const struct script *script, uint32_t node);

/*
 * Fails the test unless every thread of every node ran once, and (B2, B7, B8): of two tasks in one TMDQ the second
 * began after the first and all below it had ended; what one thread launched into a stream began in that order; what
 * waits ended after all below its children.
 */
void script_check(const struct script *script);

#endif
