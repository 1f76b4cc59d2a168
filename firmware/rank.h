/* SPDX-License-Identifier: MIT */
/*
 * Decides whose CTAs come next on the SMs (A4, A5): gives each slot its rank (SLOT_RANK). That is the priority of its
 * task, above which are the slots of a favoured address space (share.h). While tasks of several priorities run, a look
 * every PPU_POLICY_PREEMPT_US finds those that wait for room: they preempt lower ones, and one that had nothing on SMs
 * for PPU_POLICY_AGE looks goes before all others of its address space until it has.
 */
#ifndef FIRMWARE_RANK_H
#define FIRMWARE_RANK_H

#include <stdbool.h>
#include <stdint.h>

/* Needs timers. */
void rank_init(void);

/* Tasks of several priorities run. */
void rank_look_later(void);

/* Gives the slot, which has a task, the rank that is its own now. */
void rank_write(uint32_t slot);

#endif
