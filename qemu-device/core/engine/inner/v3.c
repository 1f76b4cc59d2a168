/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compiles the engine for x86-64-v3: AVX2, FMA. */
#include "qemu-device/core/engine/levels.h"

#ifdef ENGINE_HAS_LEVELS
#define ENGINE_LEVEL v3
#include "qemu-device/core/engine/inner/loop.c.inc"
#endif
