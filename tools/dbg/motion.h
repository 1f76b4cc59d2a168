/* SPDX-License-Identifier: MIT */
/* Says where kernels have stopped, for both ways that they go. */
#ifndef TOOLS_DBG_MOTION_H
#define TOOLS_DBG_MOTION_H

#include "tools/dbg/session.h"

/* Says what an event is; false: it is nothing to stop for. */
bool motion_look_at(struct session *session, const struct ppu_debug_event *event);
/* Says why the way back or forth has come to an end, and where. */
void motion_say_turning(struct session *session, const struct ppu_debug_event *event);
/* A step, back or forth, has led where it was to lead, which is said; `begin`: the next one, if there are more. */
void motion_end_step(struct session *session, void (*begin)(struct session *session));
/* An event while the way leads back. */
void back_look_at(struct session *session, const struct ppu_debug_event *event);

#endif
