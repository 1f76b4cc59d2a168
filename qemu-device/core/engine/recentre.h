/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lets the firmware move token queues back to the middle of their space (E7). */
#ifndef QEMU_DEVICE_CORE_ENGINE_RECENTRE_H
#define QEMU_DEVICE_CORE_ENGINE_RECENTRE_H

#include <stdbool.h>

struct exec;
struct lanes;
struct ppu_insn;

/*
 * Looks, before a branch or yield of `mask`, whether it may come to an end of the queue's space. True: it may, the
 * firmware has been asked, and the warp is stalled before the instruction. False: the instruction can be executed.
 */
bool engine_recentre_waits(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask);

#endif
