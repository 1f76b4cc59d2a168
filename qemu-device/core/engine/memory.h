/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Executes atomics, and accesses that the fast path does not reach: faults, system memory, misses. */
#ifndef QEMU_DEVICE_CORE_ENGINE_MEMORY_H
#define QEMU_DEVICE_CORE_ENGINE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/ring.h"
#include "qemu-device/core/sm/step.h"

struct cache_lines;
struct exec;
struct lanes;
struct ppu_insn;

enum step engine_mem(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask);
enum step engine_atomic(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask);
enum step engine_release(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask);
/* The lines that lanes of a pass will touch. */
void engine_mem_lines(const struct exec *x, const struct ppu_insn *insn, uint32_t pass, uint32_t set,
                      struct cache_lines *lines);
enum ppu_access engine_mem_access(const struct ppu_insn *insn);
/* Address of the word of a lane's local memory. */
uint64_t engine_local_va(const struct exec *x, uint32_t lane, uint32_t offset);
/* The request of the warp is done: writes results; STEP_NEXT, or STEP_FAULT. */
enum step engine_mem_finish(struct exec *x, const struct ppu_insn *insn);
/* True: the instruction writes one of these bytes of the host's memory in one of the lanes. */
bool engine_mem_writes(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask, const uint8_t *first,
                       uint32_t bytes);

#endif
