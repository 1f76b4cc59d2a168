/* SPDX-License-Identifier: MIT */
/* Tells the line of a function that the focus is in, and what of the code belongs to it for a step. */
#ifndef TOOLS_DBG_STRETCH_H
#define TOOLS_DBG_STRETCH_H

#include "tools/dbg/session.h"

enum stretch_part {
    STRETCH_LINE,        /* of the function itself */
    STRETCH_LINE_CALLED, /* also of what it has called, inlined or not */
    STRETCH_FUNCTION,    /* all lines of it, and what these have called */
};

struct stretch stretch_of_focus(struct session *session);
/* The instruction belongs to the part. */
bool stretch_has(const struct session *session, const struct stretch *stretch, enum stretch_part part, uint32_t insn);
/* Asks for the part's ranges, those around the focus where there are more than can be asked for. */
void stretch_ask(const struct session *session, const struct stretch *stretch, enum stretch_part part,
                 struct ppu_debug_request *request);
/*
 * These ask for the run of instructions around the focus that has one line, or for the focus's instruction and what it
 * calls. The run is less than the line where others' code lies in between, and fast to find.
 */
void stretch_ask_around(const struct session *session, enum stretch_part part, struct ppu_debug_request *request);
void stretch_ask_call(const struct session *session, struct ppu_debug_request *request);

#endif
