/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Executes divergence: branches, tokens, reconvergence (E). */
#ifndef QEMU_DEVICE_CORE_ENGINE_BRANCH_H
#define QEMU_DEVICE_CORE_ENGINE_BRANCH_H

#include <stdbool.h>
#include <stdint.h>

#include "qemu-device/core/sm/step.h"

struct exec;
struct lanes;
struct ppu_insn;
struct warp;

enum step engine_branch(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask);
/* Lets lanes go on when none is active; false: the warp waits at a barrier or is done. */
bool engine_pop(struct exec *x);
void engine_disable(struct warp *w, const struct lanes *set, uint32_t reason, uint32_t pc);
void engine_enable(struct warp *w, const struct lanes *set, uint32_t pc);
/* Moves all tokens so that the first lies at entry `first`; they fit there. */
void engine_tokens_move(struct exec *x, uint32_t first);
/* Drops tokens at the front that nobody waits for (E5). */
void engine_drop_stale(struct exec *x);

#endif
