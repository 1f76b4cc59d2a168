/* SPDX-License-Identifier: MIT */
/*
 * Knows what programs say to other vendors' devices of where to keep memory, what to tell and how to run queues: it is
 * taken, changes nothing, and the program is told so. Options of the compiler are its own (frontend/options.c).
 */
#ifndef OPENCL_API_VENDOR_H
#define OPENCL_API_VENDOR_H

#include <stdbool.h>

#include "opencl/api/context.h"

/* CL_MEM_USE_PERSISTENT_MEM_AMD, CL_MEM_FORCE_HOST_MEMORY_INTEL, CL_MEM_COMPRESSED_HINT_INTEL,
 * CL_MEM_UNCOMPRESSED_HINT_INTEL, CL_MEM_ALLOW_UNRESTRICTED_SIZE_INTEL */
#define VENDOR_MEMORY_FLAGS ((cl_mem_flags)(1u << 6 | 1u << 20 | 1u << 21 | 1u << 22 | 1u << 23))
/* CL_QUEUE_NO_SYNC_OPERATIONS_INTEL, CL_QUEUE_THREAD_LOCAL_EXEC_ENABLE_INTEL */
#define VENDOR_QUEUE_FLAGS ((cl_command_queue_properties)(1u << 29 | 1u << 31))

bool vendor_context_property(cl_context_properties name);
bool vendor_queue_property(cl_queue_properties name);
/* Tells the context's callback, if `found`, that the operation was given something of another vendor's. */
void vendor_note(cl_context context, const char *operation, const char *what, bool found);
void vendor_note_flags(cl_context context, const char *operation, cl_mem_flags flags);
/* The list of a context that has been made; NULL: it has none. */
void vendor_note_context(cl_context context, const cl_context_properties *properties);

#endif
