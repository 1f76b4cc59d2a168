/* SPDX-License-Identifier: MIT */
/* Keeps breakpoints: as they were typed, and where they are in the programs that are loaded. */
#ifndef TOOLS_DBG_POINTS_H
#define TOOLS_DBG_POINTS_H

#include "tools/dbg/session.h"

/* A program was loaded: all are looked for in all, and set. */
void points_resolve(struct session *session);
/* The device is gone. */
void points_forget_sites(struct session *session);
/* The breakpoint that a number of the device belongs to; NULL: it was removed. */
struct point *points_of_site(struct session *session, uint32_t site, bool is_watch);
/* The breakpoint is set at the address of an instruction. */
bool points_has_site(const struct point *point, uint64_t address);

#endif
