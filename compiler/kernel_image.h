/* SPDX-License-Identifier: MIT */
/* Writes program images (ppu/image.h). */
#ifndef COMPILER_KERNEL_IMAGE_H
#define COMPILER_KERNEL_IMAGE_H

#include "compiler/base/compilation.h"

void kernel_image_write(struct compilation *compilation, struct bytes *image);

#endif
