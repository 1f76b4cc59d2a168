/* SPDX-License-Identifier: MIT */
/* Asks an open device to show its state (ppu/state.h), and takes a copy of that. */
#ifndef RUNTIME_DEVICE_STATE_H
#define RUNTIME_DEVICE_STATE_H

#include "runtime/state/view.h"

#include "ppu.h"

/* Freed with view_free() after PPU_OK. DEVICE_LOST: nobody answers. */
enum ppu_err device_state_take(struct ppu_device *device, struct view *view);

#endif
