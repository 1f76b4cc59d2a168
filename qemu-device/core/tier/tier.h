/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Translates hot loops for all SMs of a device, in a thread of its own: the tier above the interpreter. */
#ifndef QEMU_DEVICE_CORE_TIER_TIER_H
#define QEMU_DEVICE_CORE_TIER_TIER_H

#include <stdbool.h>
#include <stdint.h>

struct core_config;
struct tier;
struct tier_entry;
struct tier_translation;
struct tier_unit;

/* What core_config.engine_tier says. */
enum tier_mode {
    TIER_OFF = 0,
    TIER_BESIDE = 1,  /* a loop that is hot is translated beside its execution */
    TIER_AT_ONCE = 2, /* every loop is translated before it goes on */
    TIER_MODES = 3,
};

/* NULL: there is none, and everything is interpreted. The module is loaded when the first loop is hot. */
struct tier *tier_new(const struct core_config *config);
void tier_free(struct tier *tier);
/* Executions of each instruction of a loop, on the average, before it is translated. */
uint32_t tier_threshold(const struct tier *tier);
/* Asks for a translation; NULL: there is no memory, or no room. The caller has it until tier_give(). [any] */
struct tier_entry *tier_take(struct tier *tier, const struct tier_unit *unit);
void tier_give(struct tier *tier, struct tier_entry *entry);
/* Where loops are translated before they go on: waits for the translation, or until somebody waits for the SM. */
void tier_await(struct tier *tier, const struct tier_entry *entry, const uint32_t *attention);
/* NULL: not yet, or, when *never is set, not at all. [any] */
const struct tier_translation *tier_ready(const struct tier_entry *entry, bool *never);
/* Counts translations that were made. [any] */
uint64_t tier_made(const struct tier *tier);

#endif
