/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Executes operations on predicates, special registers, and across lanes. */
#ifndef QEMU_DEVICE_CORE_ENGINE_LANE_H
#define QEMU_DEVICE_CORE_ENGINE_LANE_H

#include <stdbool.h>
#include <stdint.h>

struct exec;
struct lanes;
struct ppu_insn;

uint32_t engine_special(const struct exec *x, uint32_t sr, uint32_t lane);
bool engine_lane(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask);

#endif
