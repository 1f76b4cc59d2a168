/* SPDX-License-Identifier: MIT */
/* Shows lanes of one warp that wait for each other, and that all of them end (E6). */
#ifndef DEMO_LANES_H
#define DEMO_LANES_H

#include "demo/report.h"
#include "demo/user.h"

void lanes_show(struct report *report, const struct user *user);

#endif
