/* SPDX-License-Identifier: MIT */
/*
 * Decides how long a thread polls before it sleeps. Waking up a sleeping processor takes longer than a small block
 * does, so it pays when waits are short; when they are long it takes a processor from others for nothing. So the time
 * follows the waits: it grows from one short wait to the next, to no more than PPU_POLL_MOST_NS, and is zero after one
 * that was longer than that.
 *
 * Between two looks it gives way to other threads (sched_yield), so that one that was just woken up does not wait for
 * it. But one that computes has the processor for a whole turn of the scheduler then, where a sleeper would have come
 * first. So after a turn of PPU_POLL_CROWDED_NS nobody looks for a time, which doubles while that does not help.
 */
#ifndef PPU_POLL_H
#define PPU_POLL_H

#include <stdint.h>

#include "ppu/macros.h"

#define PPU_POLL_FIRST_NS 50000u
#define PPU_POLL_MOST_NS 200000u
#define PPU_POLL_CROWDED_NS 1000000u
#define PPU_POLL_LEAST_PAUSE_NS 5000000u
#define PPU_POLL_MOST_PAUSE_NS 160000000u

/* Zeros at first. Times are of any one clock that never goes back. */
struct ppu_poll {
    uint32_t window_ns; /* how long to look */
    uint32_t pause_ns;  /* how long not to, when it was crowded last */
    uint64_t resume_ns; /* when that is over */
};

/* A wait begins: how long to look in it. */
static inline uint32_t ppu_poll_begin(const struct ppu_poll *poll, uint64_t now_ns)
{
    return now_ns >= poll->resume_ns ? poll->window_ns : 0;
}

/* It has taken so long, looking and sleeping. */
static inline void ppu_poll_end(struct ppu_poll *poll, uint64_t waited_ns)
{
    if (waited_ns > PPU_POLL_MOST_NS) {
        poll->window_ns = 0;
    } else if (waited_ns > poll->window_ns) {
        uint32_t twice = 2u * poll->window_ns;
        poll->window_ns = twice == 0 ? PPU_POLL_FIRST_NS : PPU_MIN(twice, PPU_POLL_MOST_NS);
    }
}

/* A turn between two looks took PPU_POLL_CROWDED_NS or more: looking has ended. */
static inline void ppu_poll_crowded(struct ppu_poll *poll, uint64_t now_ns)
{
    if (now_ns - poll->resume_ns > poll->pause_ns) { /* looking went well for as long as the pause was */
        poll->pause_ns = PPU_POLL_LEAST_PAUSE_NS;
    } else {
        uint32_t twice = 2u * poll->pause_ns;
        poll->pause_ns = PPU_MIN(twice, PPU_POLL_MOST_PAUSE_NS);
    }
    poll->resume_ns = now_ns + poll->pause_ns;
}

#endif
