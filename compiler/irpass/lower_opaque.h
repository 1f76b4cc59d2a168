/* SPDX-License-Identifier: MIT */
/*
 * Replaces clang's opaque types by what stands for them on the machine: queues and events are addresses of global
 * memory, an image is the address of its descriptor (ppu/surface.h), a sampler is a number.
 */
#ifndef COMPILER_IRPASS_LOWER_OPAQUE_H
#define COMPILER_IRPASS_LOWER_OPAQUE_H

#include "compiler/base/compilation.h"

void lower_opaque_types(struct compilation *compilation);

#endif
