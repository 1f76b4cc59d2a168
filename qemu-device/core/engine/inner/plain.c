/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compiles the engine in C that every host runs. */
#define ENGINE_LEVEL plain
#include "qemu-device/core/engine/inner/loop.c.inc"
