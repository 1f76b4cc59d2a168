/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Produces the event rings. */
#ifndef QEMU_DEVICE_CORE_MEMORY_RING_H
#define QEMU_DEVICE_CORE_MEMORY_RING_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "ppu/ring.h"

struct core;
struct snap;

/* Appends PPU_RING_ENTRY_BYTES. False: full (start, fault and token rings only), try again later. [any] */
bool ring_push(struct core *core, enum ppu_ring_id id, const void *entry);

/* The producer's side of an event ring; under its lock. */
struct ring {
    pthread_mutex_t lock;
    uint32_t base;
    uint32_t size; /* entries; 0: no ring */
    uint32_t tail;
};

void ring_setup(struct core *core, uint32_t id); /* RING_BASE was written [lock] */
void ring_reset(struct core *core, uint32_t id);
void ring_save(struct core *core, struct snap *snap);
void ring_load(struct core *core, struct snap *snap);

#endif
