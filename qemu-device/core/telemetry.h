/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows readers of VRAM what device and firmware do, in the state area (ppu/state.h), when they ask. All [lock]. */
#ifndef QEMU_DEVICE_CORE_TELEMETRY_H
#define QEMU_DEVICE_CORE_TELEMETRY_H

struct core;

/* Brings the state area up to date. Does nothing where there is none. */
void telemetry_update(struct core *core);

#endif
