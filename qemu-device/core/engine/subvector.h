/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Executes sub-vector mode (D3 to D8). */
#ifndef QEMU_DEVICE_CORE_ENGINE_SUBVECTOR_H
#define QEMU_DEVICE_CORE_ENGINE_SUBVECTOR_H

#include <stdbool.h>

#include "qemu-device/core/sm/lanes.h"
#include "qemu-device/core/sm/step.h"

struct exec;
struct ppu_insn;
struct warp;

/* SVENTER, SVLEAVE, SVBEGIN, SVEND, and the last two over halves of 64 lanes. */
enum step engine_subvector(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask);
/* No lane of the running part is left in the segment: the next part goes on, or all behind the end; false: none is
 * left. */
bool subvector_next(struct exec *x);
/* Lanes of the part that runs, wherever in the segment they are. */
struct lanes subvector_running(const struct warp *w);

#endif
