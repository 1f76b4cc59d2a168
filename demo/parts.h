/* SPDX-License-Identifier: MIT */
/* Shows warps whose parts take turns: more of them at once, and the machine's choice by what misses the cache (D). */
#ifndef DEMO_PARTS_H
#define DEMO_PARTS_H

#include "demo/report.h"
#include "demo/user.h"

void parts_show(struct report *report, const struct user *user);

#endif
