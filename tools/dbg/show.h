/* SPDX-License-Identifier: MIT */
/* Prints what stands still: tasks, CTAs, warps, lanes, registers, variables, source and code. */
#ifndef TOOLS_DBG_SHOW_H
#define TOOLS_DBG_SHOW_H

#include "tools/dbg/session.h"

void show_kernels(struct session *session);
/* How much can be taken back. */
void show_record(struct session *session);
void show_tasks(struct session *session);
void show_ctas(struct session *session);
void show_warps(struct session *session);
void show_lanes(struct session *session);
void show_tokens(struct session *session);
void show_registers(struct session *session);
void show_locals(struct session *session);
void show_points(struct session *session);
void show_backtrace(struct session *session);
/* Ten lines around the focus, or around a line; 0: those behind the last. */
void show_list(struct session *session, uint32_t line);
void show_code(struct session *session);

#endif
