/* SPDX-License-Identifier: MIT */
/* Tells what kernels found that check themselves (docs/spec/sanitizers.md): on standard error, each place once. */
#ifndef OPENCL_SUBMIT_SANITIZER_H
#define OPENCL_SUBMIT_SANITIZER_H

#include "opencl/api/captured_launch.h"

/*
 * Writes where the objects of a launch's arguments lie behind its parameters, when its kernel asks. `*shared`: bytes
 * of shared memory that are in use, to which marks of arguments add, up to `most`.
 */
void sanitizer_bound(struct launch *launch, cl_kernel kernel, uint64_t most, uint64_t *shared);
/* True when no two pointers among the arguments lead to the same object, or to overlapping ones. */
bool sanitizer_arguments_disjoint(const struct launch *launch, cl_kernel kernel);
/*
 * The launch is about to be enqueued: what it writes without marks counts as written. `elsewhere`: it goes to a device
 * that has no marks.
 */
void sanitizer_note_writes(struct launch *launch, cl_kernel kernel, bool elsewhere);
/* The record of a report. Adds to `text`, which is malloc()ed or NULL, what has not been said before. */
void sanitizer_report(const struct print_source *source, uint32_t format, const uint32_t *words, uint32_t count,
                      char **text);
/* Tells of what the host has found itself, as sanitizer_report() does. */
void sanitizer_tell_report(const struct print_source *source, const struct ppu_sanitizer_report *report, char **text);
/* Gives what was said to the program's callback, and frees it. Without locks. */
void sanitizer_tell(cl_context context, char *text);

#endif
