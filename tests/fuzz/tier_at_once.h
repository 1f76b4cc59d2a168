/* SPDX-License-Identifier: MIT */
/*
 * Translates units in the process of a fuzz target, before the SM goes on, by the sources of ppu-tier.so: it is in the
 * place of qemu-device/core/tier/tier.c. So no thread and no time decide what is executed, and the translator is
 * covered. A machine has it when engine_tier of its configuration is TIER_AT_ONCE, without SM threads too.
 */
#ifndef TESTS_FUZZ_TIER_AT_ONCE_H
#define TESTS_FUZZ_TIER_AT_ONCE_H

#include <stdbool.h>
#include <stdint.h>

/* What has been done in this process. */
struct tier_at_once_counts {
    uint64_t asked;             /* units that warps came to */
    uint64_t given;             /* those of them that have code */
    uint64_t entered;           /* times that warps entered code */
    uint64_t executed;          /* instructions that they went through there */
    uint64_t executed_straight; /* those of them in straight units */
    uint64_t executed_whole;    /* those of them of warps from begin to end, whose CTA has no place on the SM */
};

/* False: this host has nothing that the tier makes code for. */
bool tier_at_once_works(void);
/* Whether CTAs may be run from begin to end by one translation, in machines that are made from now on. */
void tier_at_once_set_whole(bool whole);
struct tier_at_once_counts tier_at_once_counts(void);

#endif
