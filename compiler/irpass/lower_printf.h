/* SPDX-License-Identifier: MIT */
/* Lowers printf: calls become records in the launch's buffer (ppu/image.h); the format strings go into the image. */
#ifndef COMPILER_IRPASS_LOWER_PRINTF_H
#define COMPILER_IRPASS_LOWER_PRINTF_H

#include "compiler/base/compilation.h"

void lower_printf(struct compilation *compilation);
/* Number of a format in the image; the same for equal ones. */
uint32_t printf_format(struct compilation *compilation, const char *format);

#endif
