/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks barriers of a CTA: opens those that nobody else comes to. */
#ifndef QEMU_DEVICE_CORE_ENGINE_BARRIER_H
#define QEMU_DEVICE_CORE_ENGINE_BARRIER_H

struct exec;
struct lanes;

/* These lanes have arrived at a barrier, or ended: opens it, or calls it a fault, when nobody else will come. */
void engine_barrier_check(struct exec *x, const struct lanes *mask);

#endif
