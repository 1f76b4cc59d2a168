/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens and checks barriers of a CTA. */
#ifndef QEMU_DEVICE_CORE_ENGINE_BARRIER_H
#define QEMU_DEVICE_CORE_ENGINE_BARRIER_H

struct exec;
struct lanes;
struct sm;
struct sm_cta;

void engine_barrier_open(struct sm *sm, struct sm_cta *cta);
/* These lanes have arrived at a barrier, or ended: opens it, or calls it a fault, when nobody else will come. */
void engine_barrier_check(struct exec *x, const struct lanes *mask);

#endif
