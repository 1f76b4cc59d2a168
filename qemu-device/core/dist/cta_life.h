/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares what SMs call when CTAs end, fault or leave. */
#ifndef QEMU_DEVICE_CORE_DIST_CTA_LIFE_H
#define QEMU_DEVICE_CORE_DIST_CTA_LIFE_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/counter.h"

struct core;
struct dist_cta;
struct dist_ends;
struct ppu_fault_event;

/* CTAs have ended by themselves, their memory transactions performed; none is held afterwards. [sm] */
void dist_done(struct core *core, uint32_t sm, struct dist_ends *ends);
/* The CTA was thrown away because its slot is being killed. [sm] */
void dist_killed(struct core *core, uint32_t sm, const struct dist_cta *cta, const uint64_t count[PPU_COUNTERS]);
/*
 * A CTA's fault: fills in slot, task, context and correlation, pushes the event and starts killing the slot.
 * False: the fault ring is full; the warp stalls and tries again. Later faults of a slot being killed are
 * swallowed (true). [sm]
 */
bool dist_fault(struct core *core, uint32_t sm, const struct dist_cta *cta, struct ppu_fault_event *event);
/* The CTA has left the SM, its state is in its place; `waits`: until its children have completed. [sm] */
void dist_saved(struct core *core, uint32_t sm, const struct dist_cta *cta, bool waits,
                const uint64_t count[PPU_COUNTERS]);
/* True when the slot is being killed: its CTAs must be given back with dist_killed(). [any] */
bool dist_killing(struct core *core, uint32_t slot);

#endif
