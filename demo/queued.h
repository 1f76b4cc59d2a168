/* SPDX-License-Identifier: MIT */
/* Lets threads put launches into a work queue (demo/queued.s), which the PPU carries out without the CPU. */
#ifndef DEMO_QUEUED_H
#define DEMO_QUEUED_H

#include "demo/report.h"
#include "demo/user.h"

/* Counts that each launch ran once, and shows what one took. The context has room for tasks that threads launch. */
void queued_show(struct report *report, const struct user *user);

#endif
