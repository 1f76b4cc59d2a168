/* SPDX-License-Identifier: MIT */
/* Tells on a terminal what a command is at, once it has been at it for two seconds. */
#ifndef TOOLS_PROGRESS_PROGRESS_H
#define TOOLS_PROGRESS_PROGRESS_H

/*
 * Begins such a line on standard error, with the seconds in it, when that is a terminal and TERM is not dumb; elsewhere
 * nothing is ever printed. Only the thread that begins ends, and it prints nothing between. exit() ends it, too.
 */
void progress_begin(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Erases the line. Does nothing when none was begun. */
void progress_end(void);

#endif
