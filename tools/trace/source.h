/* SPDX-License-Identifier: MIT */
/* Finds the source of a program whose record has none: files, by the name in the image. */
#ifndef TOOLS_TRACE_SOURCE_H
#define TOOLS_TRACE_SOURCE_H

#include "tools/trace/profile.h"

/* Looks in this folder before others; NULL: none. */
void source_look_in(const char *folder);
/* The text of the file, to free(); NULL: it is not found. */
char *source_of(const struct profile_program *program);

#endif
