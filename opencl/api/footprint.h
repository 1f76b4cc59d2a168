/* SPDX-License-Identifier: MIT */
/*
 * Finds data races between launches, and between a launch and a command of the host, that nothing orders
 * (docs/spec/sanitizers.md). While such a command is in flight it has a track of its context; a mask of tracks says
 * which of them a command comes after. What a launch has done to memory is taken from its cells when it has ended, and
 * compared with what was in flight beside it. What a command of the host does is known when it is enqueued.
 */
#ifndef OPENCL_API_FOOTPRINT_H
#define OPENCL_API_FOOTPRINT_H

#include "opencl/api/event.h"
#include "ppu/sanitizer.h"

#define FOOTPRINT_TRACKS 64u /* launches and commands in flight that are looked at; bits of a mask */

struct footprints;

/* With the context's lock: the command comes after the other one, which has not ended. */
void footprint_follow(cl_event event, const struct _cl_event *other);
/*
 * The same: all that the command comes after is known. A launch that notes what it does gets a track, and a command of
 * the host that moves bytes of buffers.
 */
void footprint_begin(cl_event event);
/*
 * The same: nothing keeps the command from starting any more. When it has waited for the host, to which it was
 * up whether it let the command go before or after others ended, those that have ended count as before it.
 */
void footprint_issue(cl_event event);
/* The same: the command has ended. */
void footprint_end(cl_event event);
/*
 * Without the lock, when the launch has ended and before anybody is told: takes what it has noted, and tells of races
 * with others that have ended before. Adds to `reports`, as sanitizer_report().
 */
void footprint_compare(cl_event event, const struct ppu_sanitizer_cells *cells, char **reports);
/* Frees those of a context that ends. */
void footprints_free(struct footprints *footprints);

#endif
