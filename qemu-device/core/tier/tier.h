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

/* How far a translation is; from TIER_IS_THERE on it stays so. */
enum tier_state {
    TIER_IS_COUNTED, /* executions of the loop are counted, also from launch to launch */
    TIER_IS_SOUGHT,  /* it is looked for */
    TIER_IS_ABSENT,  /* it is not kept: it comes when tier_translate() is called */
    TIER_IS_ASKED,   /* it is made */
    TIER_IS_THERE,
    TIER_IS_NEVER,
};

/*
 * NULL: there is none, and everything is interpreted. It takes config->engine_tier_socket, and closes it at the end.
 * The program at its other end is spoken to when the first loop is warm.
 */
struct tier *tier_new(const struct core_config *config);
void tier_free(struct tier *tier);
/* Executions of each instruction of a loop by an SM, on the average, before a translation is looked for. */
uint32_t tier_kept_threshold(const struct tier *tier);
#define TIER_HOT_LANES (2u << 20)
/* The same by all SMs, before one is made. */
static inline uint32_t tier_hot_times(uint32_t wave)
{
    return TIER_HOT_LANES / wave;
}
/* Counts a loop; NULL: there is no memory, or no room. The caller has the entry until tier_give(). [any] */
struct tier_entry *tier_count(struct tier *tier, const struct tier_unit *unit);
/* SMs have so many loops that others may find no room. [any] */
bool tier_is_crowded(struct tier *tier);
/* The loop is warm, with former launches. `times`: executions by the SM since it has the entry, as below. [any] */
bool tier_is_warm(const struct tier *tier, const struct tier_entry *entry, uint32_t times);
/*
 * Looks for a translation of a loop of which more may be known than when `counted` was taken, which is given back.
 * `context`: whose kernel asks; contexts are answered in turn, and of each the loop that was taken last goes first.
 * NULL: there is no memory, or no room. [any]
 */
struct tier_entry *tier_seek(struct tier *tier, const struct tier_unit *unit, struct tier_entry *counted,
                             uint32_t context);
/* `times`: how often the SM has executed each instruction of the loop, on the average. */
void tier_give(struct tier *tier, struct tier_entry *entry, uint32_t times);
/* Has it made, where it is absent and the loop is hot, with former launches. `times`: as above, so far. [any] */
void tier_translate(struct tier *tier, struct tier_entry *entry, uint32_t times, uint32_t context);
/* Where loops are translated before they go on: waits for an answer, or until somebody waits for the SM. */
void tier_await(struct tier *tier, const struct tier_entry *entry, const uint32_t *attention);
/* *translation: NULL unless it is there. [any] */
enum tier_state tier_look(const struct tier_entry *entry, const struct tier_translation **translation);
/* Counts translations that were made. [any] */
uint64_t tier_made(const struct tier *tier);

#endif
