/* SPDX-License-Identifier: MIT */
/* Follows one flight recorder (ppu/trace.h) while others write it. */
#ifndef TOOLS_TRACE_FOLLOW_H
#define TOOLS_TRACE_FOLLOW_H

#include <stdbool.h>

#include "ppu/trace.h"

#define FOLLOW_PAUSE_MOST_MS 2u

struct follow {
    const struct ppu_trace_ring *ring; /* NULL: there is none */
    uint32_t size;                     /* records, a power of two, as when it was begun */
    uint32_t next;                     /* number of the record that is wanted next */
    bool many;                         /* many writers: the latest records may be incomplete */
    uint64_t waits_since_ns;           /* for record `next` to be complete; 0: it does not */
};

/* Begins with the oldest record that is still there. */
void follow_begin(struct follow *follow, const struct ppu_trace_ring *ring, uint32_t size, bool many);
/* Record `number` and those after it are wanted: those that were overwritten are lost. Called before the first
 * follow_read(). */
void follow_from(struct follow *follow, uint32_t number);
/* Copies at most `most` records. *lost is how many were overwritten before or among them. */
uint32_t follow_read(struct follow *follow, uint64_t now_ns, struct ppu_trace_record *records, uint32_t most,
                     uint64_t *lost);
/* How long to wait before the next look, in ms, after one that found so many records and a pause of `last_ms`. While
 * records come it is short, so that none of the shortest recorder (the device's) is overwritten. */
uint32_t follow_pause_ms(uint32_t last_ms, uint32_t found);
/* Counts the records before number `end` of a recorder that can be read no more that were neither read nor lost. */
uint32_t follow_left(const struct follow *follow, uint32_t end);

#endif
