/* SPDX-License-Identifier: MIT */
/* Schedules instructions within a block (instruction scheduling): moves loads up, next to each other. */
#ifndef COMPILER_MIR_SCHEDULE_H
#define COMPILER_MIR_SCHEDULE_H

#include "compiler/mir/regalloc.h"

/*
 * Moves loads up within their blocks, over what they do not depend on, while the registers that are live there stay
 * well below the limits. A load passes other loads. It passes no instruction with a hazard between their registers, no
 * store, atomic operation, fence or barrier, and no ordered access.
 */
void schedule_loads(struct mir *mir, const struct register_limits *limits);

#endif
