/* SPDX-License-Identifier: MIT */
/* Program images (ppu/image.h) from what was compiled. */
#ifndef COMPILER_KERNEL_IMAGE_H
#define COMPILER_KERNEL_IMAGE_H

#include "compiler/base/compilation.h"

void kernel_image_write(struct compilation *compilation, struct bytes *image);

#endif
