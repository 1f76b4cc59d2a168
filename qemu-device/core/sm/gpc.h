/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Models what the SMs of a GPC share (A1, A10): a cache between first and second level for instructions and parameters,
 * and a TLB behind theirs. It counts who finds there what another SM of the GPC has brought in. As caches, it is there
 * when the device models them, and holds no data.
 */
#ifndef QEMU_DEVICE_CORE_SM_GPC_H
#define QEMU_DEVICE_CORE_SM_GPC_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "ppu/limits.h"
#include "qemu-device/core/sm/cache_model.h"

struct core_config;
struct dist_task;
struct sm;

/* Its counters, in the order of their registers. */
#define GPC_COUNTER_ROWS(X) X(L15_HITS) X(L15_MISSES) X(TLB_HITS) X(TLB_MISSES)

enum gpc_counter {
#define GPC_COUNTER(name) GPC_##name,
    GPC_COUNTER_ROWS(GPC_COUNTER)
#undef GPC_COUNTER
        GPC_COUNTERS,
};

struct gpc {
    pthread_mutex_t lock; /* below all others; guards what follows */
    bool exists;
    struct cache l15;
    struct cache tlb;                /* its lines are pages of address spaces */
    uint64_t started[PPU_MAX_SLOTS]; /* dist_task.start of the task whose code was seen last */
    uint64_t count[GPC_COUNTERS];
};

/* False: out of memory. */
bool gpc_init(struct gpc *gpc, const struct core_config *config);
void gpc_free(struct gpc *gpc);
/* As after reset. */
void gpc_empty(struct gpc *gpc);
/* The first CTA of a task on an SM: the first of them in the GPC drops what the cache has; parameters are fetched. */
void gpc_see_task(struct sm *sm, const struct dist_task *task);
/* The SM decodes an instruction that lies there in VRAM, the first of its line. */
void gpc_fetch(struct sm *sm, const uint8_t *insn);
/* The SM has walked the tables, since its own TLB has no entry for this page. */
void gpc_translate(struct sm *sm, uint32_t context, uint64_t page_va);
/* Translations of an address space are gone. */
void gpc_flush(struct gpc *gpc);
/* What the GPC has counted. */
uint64_t gpc_count(struct gpc *gpc, enum gpc_counter counter);

#endif
