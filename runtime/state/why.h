/* SPDX-License-Identifier: MIT */
/* Says why a task does not run, or what a channel waits for, from what device and firmware show of themselves. */
#ifndef RUNTIME_STATE_WHY_H
#define RUNTIME_STATE_WHY_H

#include "ppu/why.h"
#include "runtime/state/view.h"

void why_task(const struct view *view, uint32_t handle, struct ppu_why *why);
void why_channel(const struct view *view, uint32_t channel, struct ppu_why *why);
/* Name of a reason, as in why.def. */
const char *why_name(enum ppu_why_reason reason);

#endif
