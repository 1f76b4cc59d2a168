/* SPDX-License-Identifier: MIT */
/*
 * Gives up, for good, what a program does not need: all that is left holds for what it executes. A part that this
 * kernel does not have is left out, but for the filter of system calls.
 */
#ifndef TOOLS_CONFINE_CONFINE_H
#define TOOLS_CONFINE_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

/* Says what may be done with the files below a path. */
enum confine_access {
    CONFINE_READ,    /* read, execute */
    CONFINE_WRITE,   /* write, too; of a directory: what is in it, but no sockets */
    CONFINE_SOCKETS, /* of a directory: make sockets in it */
};

struct confine_path {
    const char *path;
    enum confine_access access;
};

/* Everything of these returns NULL, or the operation that failed, with errno. */

/* files.c: no other files can be opened. A path that does not exist is left out. */
const char *confine_files(const struct confine_path *paths, size_t count);
/* calls.c: no other system calls than those of calls.def; `tcp`: sockets may listen at an address of the network. */
const char *confine_calls(bool tcp);
/* calls.c: from then on a process only computes, and writes to a descriptor that is open. */
const char *confine_computing(int output);
/* rights.c: a network of its own that leads nowhere, unless `tcp`; no capabilities, and none to come. */
const char *confine_rights(bool tcp);
/*
 * guard.c: starts a process that is told of the program's clients at `descriptor` (ppu/guard.h), and ends their
 * connections when the program has died.
 */
const char *confine_guard(int descriptor);

#endif
