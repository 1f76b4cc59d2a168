/* SPDX-License-Identifier: MIT */
/*
 * Names the functions that the device library (device-lib/opencl/) leaves to the back end: each is an instruction or
 * two.
 */
#ifndef COMPILER_BASE_PRIMITIVE_H
#define COMPILER_BASE_PRIMITIVE_H

#include <stdbool.h>

#include "ppu/isa.h"

enum primitive {
    PRIMITIVE_NONE,
#define PRIMITIVE(name, text, cta) PRIMITIVE_##name,
#include "compiler/base/primitive.def"
};

/* PRIMITIVE_NONE when the name is no primitive's. */
enum primitive primitive_find(const char *name);
/* True when a thread can learn something about its CTA by it. */
bool primitive_tells_cta(enum primitive primitive);

#endif
