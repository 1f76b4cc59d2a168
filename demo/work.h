/* SPDX-License-Identifier: MIT */
/* Gives the PPU work, and compares each piece with what the CPU makes of the same input. */
#ifndef DEMO_WORK_H
#define DEMO_WORK_H

#include "demo/report.h"
#include "demo/user.h"

/* Runs everything, a line each. `path`: the file whose bytes are counted. */
void work_show(struct report *report, const struct user *user, const char *path);

#endif
