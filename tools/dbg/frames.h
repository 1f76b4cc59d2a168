/* SPDX-License-Identifier: MIT */
/* Lists the functions that the focus's lane is in: those that were inlined, and those that have called. */
#ifndef TOOLS_DBG_FRAMES_H
#define TOOLS_DBG_FRAMES_H

#include "tools/dbg/session.h"

struct frame {
    struct info_frame at;
    uint32_t insn;    /* that it is at: the focus's, or that of a call */
    uint32_t inlined; /* of the functions at this instruction: 0 the innermost */
};

/* The innermost first; how many. 0: there is no debug information, or no kernel stands still. */
uint32_t frames_list(struct session *session, struct frame frames[INFO_DEPTH]);
/* The frame that the focus has chosen; false: there is none of this number. */
bool frames_chosen(struct session *session, struct frame *frame);

/* The instruction is a call; *target is the function's first instruction then. */
bool frames_is_call(const struct loaded *loaded, uint32_t insn, uint32_t *target);

#endif
