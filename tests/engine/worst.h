/* SPDX-License-Identifier: MIT */
/* Kernels whose instructions each take as long as any can, one behind the other: who stops an SM waits for them. */
#ifndef TESTS_ENGINE_WORST_H
#define TESTS_ENGINE_WORST_H

#include "tests/engine/rig.h"

struct worst {
    const char *name;
    const char *begin; /* s0: memory all of whose pages are of different sets of the TLB's; v0: the thread */
    const char *insn;
    uint32_t waits;   /* instructions of it at most until the SM looks whether anybody waits for it */
    bool cache_model; /* in a machine that models caches */
};

#define WORSTS 11u
extern const struct worst worsts[WORSTS];

/* A machine with one SM, on a thread of its own or in slices. */
struct rig *worst_rig(const struct worst *worst, uint32_t sm_threads);
/* Starts it: one CTA of one warp of 128 threads, which does not end. Returns where the instructions in question
 * begin. */
uint32_t worst_start(struct rig *rig, const struct worst *worst);

#endif
