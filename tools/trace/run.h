/* SPDX-License-Identifier: MIT */
/* Runs a program and watches it from its first record to its last. */
#ifndef TOOLS_TRACE_RUN_H
#define TOOLS_TRACE_RUN_H

#include "tools/trace/clock.h"
#include "tools/trace/watch.h"

#define RUN_WANTED_NS (2ull * CLOCK_NS_PER_S) /* programs record so long after the tool has last asked */

/* SIGINT and SIGTERM end the recording instead of the tool. */
void run_catch_signals(void);
/* The signal that came; 0: none. */
int run_interrupted(void);
/* Returns the program's exit status, or 128 and the signal that ended it. Ends the tool when it cannot be started. */
int run_program(struct watch *watch, char **program);

#endif
