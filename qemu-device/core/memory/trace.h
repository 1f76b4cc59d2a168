/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the trace buffer. */
#ifndef QEMU_DEVICE_CORE_MEMORY_TRACE_H
#define QEMU_DEVICE_CORE_MEMORY_TRACE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "ppu/trace.h"

struct core;
struct snap;

void trace_emit(struct core *core, enum ppu_trace_type type, uint32_t correlation, uint32_t id0, uint32_t id1,
                uint32_t id2); /* [any] */
/* Several records in a row, by trace_add() between the two; false: nothing is recorded, and nothing to end. [any] */
bool trace_begin(struct core *core);
void trace_add(struct core *core, uint64_t time_ns, enum ppu_trace_type type, uint32_t correlation, uint32_t id0,
               uint32_t id1, uint32_t id2);
void trace_end(struct core *core);

struct trace {
    pthread_mutex_t lock;
    uint32_t base;
    uint32_t size; /* records; 0: off; also read without the lock */
    uint32_t next;
    const uint8_t *warps_until; /* in the ring; NULL: off; also read without the lock */
};

void trace_setup(struct core *core); /* TRACE_BASE was written [lock] */
void trace_reset(struct core *core);
void trace_mark(struct core *core, uint32_t mark, uint32_t unit); /* [any] */
/* A tool asks for records of warps. [any] */
bool trace_wants_warps(const struct core *core);
void trace_save(struct core *core, struct snap *snap);
void trace_load(struct core *core, struct snap *snap);

#endif
