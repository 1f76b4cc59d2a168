/* SPDX-License-Identifier: MIT */
/* Finds processes in /proc, and asks what they are. */
#ifndef TOOLS_TRACE_PROCESS_H
#define TOOLS_TRACE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#define PROCESS_COMMAND_BYTES 256u

/* The command line; its name, or "" when there is none. Bytes that cannot be shown are '?'. */
void process_command(uint32_t pid, char text[PROCESS_COMMAND_BYTES]);
bool process_is_there(uint32_t pid);
/* Calls found() for each process of this machine that may be looked at. */
void process_each(void (*found)(void *opaque, uint32_t pid), void *opaque);

#endif
