/* SPDX-License-Identifier: MIT */
/* Remembers which call made which memory, also after its end, for reports of kernels that check themselves. */
#ifndef OPENCL_API_ALLOCATION_H
#define OPENCL_API_ALLOCATION_H

#include "opencl/api/context.h"
#include "ppu/sanitizer.h"

#define ALLOCATION_ENDED_MOST 1024u /* that are remembered; the oldest are forgotten first */
#define ALLOCATION_TEXT_BYTES 160u

struct allocation;

/* From now on allocations are remembered. */
void allocation_begin(void);
/*
 * `function` made it: a string literal. `owned_bytes`: from the address on, that belong to it alone; the bytes behind
 * `bytes` are then nobody's. NULL: nothing is remembered, or there is no memory.
 */
struct allocation *allocation_new(cl_context context, const char *function, uint64_t va, uint64_t bytes,
                                  uint64_t owned_bytes);
/* The memory has been given back. NULL is none. */
void allocation_end(struct allocation *allocation);
/* Writes what no pointer of the context's kernels may reach. */
void allocation_ranges(cl_context context, struct ppu_sanitizer_table *to);
/*
 * Says what lies or lay at the address, as "clCreateBuffer, call 2, 64 bytes"; what has just so many bytes, where there
 * is such. False: nothing is known.
 */
bool allocation_tell(cl_context context, uint64_t va, uint64_t bytes, char text[ALLOCATION_TEXT_BYTES]);

#endif
