/* SPDX-License-Identifier: MIT */
/* Reads a record from a file for the commands that show it, and warns about what it lacks. */
#ifndef TOOLS_TRACE_LOAD_H
#define TOOLS_TRACE_LOAD_H

#include "tools/trace/profile.h"
#include "tools/trace/stacks.h"
#include "tools/trace/timeline.h"

/* Ends the command with a sentence when there is no record in the file. */
void load_timeline(struct timeline *timeline, const char *path);
/* Does so with an open file. */
void load_stacks_file(struct stacks *stacks, int fd, const char *path);
void load_timeline_file(struct timeline *timeline, int fd, const char *path);
/* Reads the profile of a record, which may have none. */
void load_profile_file(struct profile *profile, int fd, const char *path);
/* Opens a record. */
int load_open(const char *path);

#endif
