/* SPDX-License-Identifier: MIT */
/* Gives streams tasks of several commands (B15), which run in order with grids and hold up no other stream. */
#ifndef DEMO_COMMANDS_H
#define DEMO_COMMANDS_H

#include "demo/report.h"
#include "demo/user.h"

/* Checks that each task found what the one before had left, and shows what one took. */
void commands_show(struct report *report, const struct user *user);

#endif
