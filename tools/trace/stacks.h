/* SPDX-License-Identifier: MIT */
/* Reads the stacks of the firmware's functions out of a record, as a tree: the flame graph. */
#ifndef TOOLS_TRACE_STACKS_H
#define TOOLS_TRACE_STACKS_H

#include <stdio.h>

#include "tools/trace/map.h"
#include "tools/trace/mcu_counts.h"

struct stacks_node {
    uint32_t name; /* text */
    uint32_t parent;
    uint32_t child, sibling; /* the first of its children, the next of its parent's; 0: there is none */
    uint64_t insns;          /* without those of its children */
    uint64_t total;          /* with them */
};

/* Node 0 is the root; its children are PPUs. A parent has a lower number than its children. */
struct stacks {
    struct texts texts;
    struct stacks_node *node;
    uint32_t nodes;     /* 0: the record has no stacks */
    struct map by_name; /* parent, name -> node */
    uint64_t missing;
};

/* NULL: done; else why the bytes are no record. Lines that are malformed are skipped. */
const char *stacks_read(struct stacks *stacks, const void *bytes, size_t size);
/* Reads the stacks that a machine has counted. */
void stacks_of_counts(struct stacks *stacks, const struct mcu_counts *counts);
void stacks_free(struct stacks *stacks);

/* A function wherever it was called. */
struct stacks_function {
    uint32_t name;
    uint64_t insns, total; /* a function that calls itself counts once in `total` */
};

/* The functions with most instructions of their own first; free() it. */
struct stacks_function *stacks_functions(const struct stacks *stacks, uint32_t *count);
/* Writes folded stacks, as flame-graph programs read them. */
void stacks_fold(const struct stacks *stacks, FILE *to);

#endif
