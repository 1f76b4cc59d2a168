/* SPDX-License-Identifier: MIT */
/*
 * Keeps a mark for each byte of a buffer that begins without a value: whether anything has written it. Kernels built
 * with -fsanitize=uninit set and read the marks (docs/spec/sanitizers.md). What the host writes is marked when its
 * command is enqueued, so that a byte may count as written too early, never too late.
 */
#ifndef OPENCL_API_MARKS_H
#define OPENCL_API_MARKS_H

#include "opencl/api/memory.h"
#include "ppu/sanitizer.h"

struct marks;

/* From now on buffers that begin without a value get marks. */
void marks_begin(void);
/* NULL, so that all bytes count as written: nobody asks for marks, it has a parent, or there is no room. */
struct marks *marks_new(cl_mem buffer);
/* NULL is none. */
void marks_free(struct marks *marks);
/* Address of the mark of the object's first byte, for the context's first device; 0: all its bytes count as written. */
uint64_t marks_va(cl_mem memory);
/* Something writes these bytes of the object, which the marks do not learn otherwise. */
void marks_set(cl_mem memory, size_t offset, size_t bytes);
/* Something may write any buffer of the context. */
void marks_set_context(cl_context context);
/* Writes which memory of the context has marks, and where they lie. */
void marks_table(cl_context context, struct ppu_sanitizer_table *to);

#endif
