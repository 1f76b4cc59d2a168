/* SPDX-License-Identifier: MIT */
/* printf: calls become records in the launch's buffer (ppu/image.h); the format strings go into the image. */
#ifndef COMPILER_PRINTF_H
#define COMPILER_PRINTF_H

#include "unit.h"

void printf_lower(struct unit *unit);

#endif
