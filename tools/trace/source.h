/* SPDX-License-Identifier: MIT */
/* Reads sources from files; finds that of a program whose record has none, by the name in the image. */
#ifndef TOOLS_TRACE_SOURCE_H
#define TOOLS_TRACE_SOURCE_H

#include "tools/trace/profile.h"

/* The text of a regular file, with a 0 behind it, to free(); NULL: errno says why not. */
char *source_read(const char *path);
/* Looks in this folder before others; NULL: none. */
void source_look_in(const char *folder);
/* The text of the file, to free(); NULL: it is not found. */
char *source_of(const struct profile_program *program);

#endif
