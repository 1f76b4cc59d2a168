/* SPDX-License-Identifier: MIT */
/* Gives up, for good, all that a process does not need for compiling. */
#ifndef COMPILER_FOREIGN_CONFINE_H
#define COMPILER_FOREIGN_CONFINE_H

#include <stdbool.h>

/*
 * From then on it has the memory and the time of foreign.h, opens no files and no sockets, starts nothing, writes to
 * its standard output and error alone, and makes no memory executable. False: not all of it could be had.
 */
bool confine(void);

/*
 * A process that becomes the translator of intermediate language gives up as much, but it may read files, which the
 * dynamic linker does, and execute what it has read. It still makes no files, sockets or processes.
 */
bool confine_translator(void);

#endif
