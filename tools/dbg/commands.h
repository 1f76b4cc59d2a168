/* SPDX-License-Identifier: MIT */
/* Executes commands of the debugger: gdb's words, and cuda-gdb's for the focus. */
#ifndef TOOLS_DBG_COMMANDS_H
#define TOOLS_DBG_COMMANDS_H

#include "tools/dbg/session.h"

/* False: the debugger is to end. */
bool command_execute(struct session *session, const char *line);
/* Executes the lines of a file; false: the debugger is to end. */
bool command_file(struct session *session, const char *path);

#endif
