/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compiles the engine in C that every host runs. */
#include "qemu-device/core/engine/levels.h"

#define ENGINE_LEVEL plain
#ifdef ENGINE_HAS_LEVELS
#define ENGINE_IN_FUNCTIONS 1 /* hosts that have none better are few: half the time to compile */
#endif
#include "qemu-device/core/engine/inner/loop.c.inc"
