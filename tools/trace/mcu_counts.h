/* SPDX-License-Identifier: MIT */
/*
 * Defines the file in which the plugin of QEMU (tools/mcu) counts what microcontrollers execute, by the functions that
 * called each other and by record of the firmware. It is written while the machine runs, and outlives it.
 *
 * The head is followed by the names of the functions (each ends with a 0), and they by a tree for each microcontroller:
 * a node is a function that was called by the function of its parent. Node 0 is the root.
 */
#ifndef TOOLS_TRACE_MCU_COUNTS_H
#define TOOLS_TRACE_MCU_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "ppu/base.h"

#define MCU_COUNTS_MAGIC "PPUMCUCT"
#define MCU_COUNTS_VERSION 1u
#define MCU_COUNTS_NODES 32768u          /* of a microcontroller */
#define MCU_COUNTS_RECORDS (1u << 20)    /* latest ones that are kept; a power of two */
#define MCU_COUNTS_NAME_BYTES (1u << 20) /* of all names together, at most */
#define MCU_COUNTS_MOST_TREES 64u
#define MCU_COUNTS_PREFIX "mcu." /* a file is called mcu.PARENT.QEMU, by process numbers */

struct mcu_counts_head {
    char magic[8];
    struct ppu_struct_header head; /* MCU_COUNTS_VERSION, sizeof(struct mcu_counts_head) */
    uint32_t functions;
    uint32_t name_bytes; /* a multiple of 8 */
    uint32_t trees;
    uint32_t reserved[2];
};
PPU_ASSERT_SIZE(struct mcu_counts_head, 32);

struct mcu_counts_node {
    uint32_t parent;
    uint32_t function;
    uint64_t insns; /* without those of its children */
};
PPU_ASSERT_SIZE(struct mcu_counts_node, 16);

struct mcu_counts_tree {
    uint64_t insns;   /* all */
    uint64_t missing; /* instructions that found no free node, and count with the caller */
    uint32_t nodes;   /* used; release */
    uint32_t records; /* of the firmware's flight recorder, since it began; release */
    uint64_t reserved;
    struct mcu_counts_node node[MCU_COUNTS_NODES];
    uint32_t record[MCU_COUNTS_RECORDS]; /* instructions since the record before, of number modulo size */
};

/* A file in memory. */
struct mcu_counts {
    const struct mcu_counts_head *head;
    const char **name; /* of each function */
    size_t bytes;
};

static inline size_t mcu_counts_bytes(uint32_t name_bytes, uint32_t trees)
{
    return sizeof(struct mcu_counts_head) + name_bytes + (size_t)trees * sizeof(struct mcu_counts_tree);
}

static inline struct mcu_counts_tree *mcu_counts_trees(const struct mcu_counts_head *head)
{
    return (struct mcu_counts_tree *)(uintptr_t)((const char *)(head + 1) + head->name_bytes);
}

/* Maps a file, which stays open. NULL: done; else why not, and there is nothing to free. */
const char *mcu_counts_open(struct mcu_counts *counts, int fd);
void mcu_counts_close(struct mcu_counts *counts);
/* Writes folded stacks of a tree: a line for each node with instructions of its own, functions from the outermost on
 * with ; between them, and the number. */
void mcu_counts_fold(const struct mcu_counts *counts, uint32_t number, FILE *to);

#endif
