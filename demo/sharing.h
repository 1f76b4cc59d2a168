/* SPDX-License-Identifier: MIT */
/* Shows two address spaces that use the PPU at the same time (A9). */
#ifndef DEMO_SHARING_H
#define DEMO_SHARING_H

#include "demo/report.h"

/* `image`: as of user_open(). */
void sharing_show(struct report *report, struct ppu_device *device, const char *image);

#endif
