/* SPDX-License-Identifier: MIT */
/* Schedules instructions: moves loads up, next to each other. */
#ifndef COMPILER_MIR_SCHEDULE_H
#define COMPILER_MIR_SCHEDULE_H

#include "compiler/mir/regalloc.h"

/*
 * Moves loads up within their blocks, over what they do not depend on, while the registers that are live there stay
 * well below the limits. Loads pass other loads; never stores, atomic operations, fences, barriers, ordered accesses.
 */
void schedule_loads(struct mir *mir, const struct register_limits *limits);

#endif
