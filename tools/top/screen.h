/* SPDX-License-Identifier: MIT */
/* Shows PPUs on a terminal until the user has seen enough. */
#ifndef TOOLS_TOP_SCREEN_H
#define TOOLS_TOP_SCREEN_H

#include "tools/top/sheet.h"

/* False: the terminal cannot do what is needed. Else it returns when the user quits. */
bool screen_run(struct devices *devices, uint32_t delay_ms);

#endif
