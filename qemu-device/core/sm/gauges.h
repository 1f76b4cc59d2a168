/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads what is on an SM, what it has spent, and the host threads that run SMs, for those who watch. All [any]. */
#ifndef QEMU_DEVICE_CORE_SM_GAUGES_H
#define QEMU_DEVICE_CORE_SM_GAUGES_H

#include <stdint.h>

struct core;

struct sm_gauges {
    uint64_t busy_ns; /* of all address spaces */
    uint32_t ctas;
    uint32_t passes;
    uint32_t vregs;
    uint32_t shared_bytes;
    uint32_t thread;
};

struct sm_gauges sm_gauges(struct core *core, uint32_t number);
/* Host threads; 0: slices. */
uint32_t sm_threads(struct core *core);
/* Processor time that a thread has used; 0: it is not known. */
uint64_t sm_thread_ns(struct core *core, uint32_t thread);

#endif
