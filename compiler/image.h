/* SPDX-License-Identifier: MIT */
/* Program images (ppu/image.h) from what was compiled. */
#ifndef COMPILER_IMAGE_H
#define COMPILER_IMAGE_H

#include "unit.h"

void image_write(struct unit *unit, struct bytes *image);

#endif
