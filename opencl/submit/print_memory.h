/* SPDX-License-Identifier: MIT */
/*
 * Lends memory of an address space that kernels print to, and that those which check themselves keep notes in. Queues
 * share it, as it is 10 MiB for the latter, and few of a program's queues run kernels at one time.
 */
#ifndef OPENCL_SUBMIT_PRINT_MEMORY_H
#define OPENCL_SUBMIT_PRINT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "opencl/api/object.h"
#include "ppu.h"

struct print_memory {
    struct ppu_memory *memory; /* seen by the host; the launch before has left it as printf_begin() does */
    struct print_memory *next;
};

/* What an address space has of it. Zeros at first; the context's lock guards it. */
struct print_memories {
    struct print_memory *idle;
    uint32_t lent;
    cl_command_queue waiting; /* list of queues (next_printing) */
};

/*
 * Memory of so many bytes at least for one launch. PPU_ERR_BUSY: there is none until some is given back. Other errors
 * are those of ppu_memory_create().
 */
enum ppu_err print_memory_take(struct print_memories *memories, struct ppu_context *space, uint32_t bytes,
                               struct print_memory **taken);
/* Queues that wait may have something to start then. */
void print_memory_give(struct print_memories *memories, struct print_memory *given);

/* The queue is told (queue_look_again()) when memory is given back, or forgets that it wanted some. */
void print_memories_await(struct print_memories *memories, cl_command_queue queue);
void print_memories_forget(struct print_memories *memories, cl_command_queue queue);

/* What is not lent. */
void print_memories_free(struct print_memories *memories);

#endif
