/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares what an SM needs from the engine, and what its operations need from the slow path. */
#ifndef QEMU_DEVICE_CORE_ENGINE_ENGINE_H
#define QEMU_DEVICE_CORE_ENGINE_ENGINE_H

#include <stdint.h>

#include "ppu/ring.h"
#include "qemu-device/core/sm/step.h"

struct exec;
struct lanes;
struct ppu_insn;
struct sm;

/* Runs a ready warp for at most `budget` instructions; returns how many it executed. */
uint32_t engine_run(struct sm *sm, uint32_t index, uint32_t budget);
/* The instruction at the warp's pc, whatever it is. */
enum step engine_execute(struct exec *x);
/* An instruction that has been checked, with lanes to execute it. */
enum step engine_dispatch(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask);
/* The main loop has answered: finishes the access, without going on. */
void engine_settle(struct sm *sm, uint32_t index);
enum step engine_fault(struct exec *x, uint16_t code, enum ppu_access access, uint64_t address, uint32_t pass,
                       uint32_t lanes);
/* The instruction is one that must not stand here. */
enum step engine_insn_fault(struct exec *x, uint16_t code, const struct lanes *mask);
/* The instruction waits after it has begun: lanes of it are left. */
void engine_leave(struct exec *x, const struct lanes *left);

#endif
