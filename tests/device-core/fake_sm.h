/* SPDX-License-Identifier: MIT */
/*
 * Makes SMs without an instruction set: they take CTAs, keep them for a random time and end them in random order. The
 * test says how they misbehave and is told of every CTA that ran.
 */
#ifndef TESTS_DEVICE_CORE_FAKE_SM_H
#define TESTS_DEVICE_CORE_FAKE_SM_H

#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/cta.h"

/* What SMs do; set before work is there. */
struct fake_plan {
    uint32_t end_in;   /* a resident CTA ends with a chance of 1 in end_in at a step; 0: never */
    uint32_t fault_in; /* and faults with a chance of 1 in fault_in; 0: never */
    /* A CTA ended by itself. Called by the thread of its SM. */
    void (*ended)(void *opaque, uint32_t sm, const struct dist_cta *cta);
    void *opaque;
};

void fake_plan_set(struct core *core, const struct fake_plan *plan);
/* CTAs that are on SMs now. */
uint32_t fake_resident(struct core *core);

#endif
