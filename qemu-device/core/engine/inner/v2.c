/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compiles the engine for x86-64-v2. */
#include "qemu-device/core/engine/levels.h"

#ifdef ENGINE_HAS_LEVELS
#define ENGINE_LEVEL v2
#define ENGINE_IN_FUNCTIONS 1 /* for hosts without AVX2, which are few: half the time to compile */
#include "qemu-device/core/engine/inner/loop.c.inc"
#endif
