/* SPDX-License-Identifier: MIT */
/* Moves bytes: reads, writes, copies, fills, maps. */
#ifndef OPENCL_API_TRANSFER_H
#define OPENCL_API_TRANSFER_H

#include "opencl/api/event.h"

/* Work that moves bytes from one place of the host's to another. */
struct work transfer_bytes(void *dst, const void *src, size_t bytes);
/* Work that moves rows of bytes. */
struct work transfer_box(const struct box *box);
/* The same work, for which these are in use; NULL is none. */
struct work transfer_needing(struct work work, cl_mem first, cl_mem second);
/* Where a command of the host reads or writes so many bytes of a buffer, from its offset on. */
struct work_span transfer_span(cl_mem buffer, size_t offset, size_t bytes);
/* Tells where the bytes of a box are for the PPU: `region` and pitches as those of struct box. */
struct work_span transfer_rows(cl_mem memory, size_t offset, const size_t region[3], size_t row, size_t slice);
/* The queue must be for the host, the object of its context, and the list good. */
cl_int transfer_check(cl_command_queue queue, cl_mem memory, cl_uint count, const cl_event *events);
/* Work that repeats a pattern; false: not a pattern, or `bytes` is no multiple of it. */
bool transfer_fill(struct work *work, void *dst, size_t bytes, const void *pattern, size_t pattern_bytes);
bool transfer_migrate_flags_are_good(cl_mem_migration_flags flags);

#endif
