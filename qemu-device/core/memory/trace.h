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

/* A ring of records in VRAM. */
struct trace_ring {
    uint32_t base;
    uint32_t size; /* records; 0: off */
    uint32_t next;
};

struct trace {
    pthread_mutex_t lock;
    struct trace_ring ring;     /* the device's; its size is also read without the lock */
    const uint8_t *warps_until; /* in the ring; NULL: off; also read without the lock */
    struct trace_ring firmware; /* the firmware's; without this lock [core lock] */
};

void trace_setup(struct core *core);          /* TRACE_BASE was written [lock] */
void trace_setup_firmware(struct core *core); /* FW_TRACE_BASE was written [lock] */
/* The firmware has a record at this MCU address. [lock] */
void trace_add_firmware(struct core *core, uint32_t mcu_addr);
void trace_reset(struct core *core);
void trace_mark(struct core *core, uint32_t mark, uint32_t unit); /* [any] */
/* A tool asks for records of warps. [any] */
bool trace_wants_warps(const struct core *core);
void trace_save(struct core *core, struct snap *snap);
void trace_load(struct core *core, struct snap *snap);

#endif
