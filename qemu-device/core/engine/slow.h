/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Executes instructions one by one, and ends them by a fault: what the main loop leaves to the slow path. */
#ifndef QEMU_DEVICE_CORE_ENGINE_SLOW_H
#define QEMU_DEVICE_CORE_ENGINE_SLOW_H

#include <stdint.h>

#include "ppu/ring.h"
#include "qemu-device/core/sm/step.h"

struct exec;
struct lanes;
struct ppu_insn;

/* The instruction at the warp's pc, whatever it is. */
enum step engine_execute(struct exec *x);
/* An instruction that has been checked, with lanes to execute it. */
enum step engine_dispatch(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask);
enum step engine_fault(struct exec *x, uint16_t code, enum ppu_access access, uint64_t address, uint32_t pass,
                       uint32_t lanes);
/* The instruction is one that must not stand here. */
enum step engine_insn_fault(struct exec *x, uint16_t code, const struct lanes *mask);
/* The instruction waits after it has begun: lanes of it are left. */
void engine_leave(struct exec *x, const struct lanes *left);

#endif
