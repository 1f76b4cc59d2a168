/* SPDX-License-Identifier: MIT */
/* Writes what kernels print to standard output, from records in a buffer of a submitter (struct ppu_printf_buffer). */
#ifndef OPENCL_SUBMIT_PRINTF_H
#define OPENCL_SUBMIT_PRINTF_H

#include "opencl/api/event.h"

/* Size of a submitter's buffer, with its head; CL_DEVICE_PRINTF_BUFFER_SIZE tells it. */
#define PRINTF_BUFFER_BYTES (1u << 20)
/* With what kernels that check themselves have behind it. */
#define PRINTF_CELLS_AT (PRINTF_BUFFER_BYTES + (uint32_t)sizeof(struct ppu_sanitizer_table))
#define PRINTF_CELLS_BYTES ((uint32_t)sizeof(struct ppu_sanitizer_cells))

/* Characters that a launch writes at most: formats can make any number of a record of eight bytes. */
#define PRINTF_MOST_BYTES (64u << 20)

/* A buffer of PRINTF_BUFFER_BYTES zeros, seen by the host, gets ready for its first launch. */
void printf_begin(struct ppu_printf_buffer *buffer);
/*
 * Writes what a launch of a kernel from there has left to standard output, in one piece, and makes the buffer ready for
 * the next launch. NULL, or a sentence that says why what came last is lost.
 * Records that make no sense end the output. Kernels may go on writing to the buffer: it is read once.
 * What kernels report that check themselves goes to standard error, and `*reports` gets it; to be freed, or NULL.
 */
const char *printf_end(struct ppu_printf_buffer *buffer, const struct print_source *source, char **reports);
/* Where the ranges lie that no such kernel may reach: in memory of PRINTF_CELLS_AT bytes at least. */
struct ppu_sanitizer_table *printf_ranges(struct ppu_printf_buffer *buffer);

#endif
