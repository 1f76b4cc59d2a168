/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Executes sub-vector mode (D3 to D8). */
#ifndef QEMU_DEVICE_CORE_ENGINE_SUBVECTOR_H
#define QEMU_DEVICE_CORE_ENGINE_SUBVECTOR_H

#include <stdbool.h>

#include "qemu-device/core/sm/lanes.h"
#include "qemu-device/core/sm/step.h"

struct dist_task;
struct exec;
struct ppu_insn;
struct sm;
struct warp;

/* SVENTER, SVLEAVE, SVBEGIN, SVEND. */
enum step engine_subvector(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask);
/* No lane of the running part is left in the segment: the next part goes on, or all behind the end; false: none is
 * left. */
bool subvector_next(struct exec *x);
/* Lanes of the part that runs, wherever in the segment they are. */
struct lanes subvector_running(const struct warp *w);
/* A warp of the task starts: in sub-vector mode, if the task says so (D6). */
void subvector_start(struct warp *w, const struct dist_task *task);
/* Registers as the warp's mode has them. */
void subvector_rows(struct exec *x);
void subvector_init(struct sm *sm);

#endif
