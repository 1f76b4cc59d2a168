/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Serves a debugger of kernels (ppu/debug.h), for whoever drives the core. */
#ifndef QEMU_DEVICE_CORE_DEBUGGER_H
#define QEMU_DEVICE_CORE_DEBUGGER_H

#include <stdbool.h>
#include <stdint.h>

struct core;

/* Looks whether a debugger asks, at `now_ns` of the host's time; true: there is one. To be called now and then, and
 * every PPU_DEBUG_LOOK_NS after it was true. [lock] */
bool core_debug(struct core *core, uint64_t now_ns);

#endif
