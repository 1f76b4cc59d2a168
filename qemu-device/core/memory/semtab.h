/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps the semaphore table: words of memory that somebody waits for. */
#ifndef QEMU_DEVICE_CORE_MEMORY_SEMTAB_H
#define QEMU_DEVICE_CORE_MEMORY_SEMTAB_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "ppu/limits.h"

struct core;
struct snap;

/* A SEM_RELEASE wrote the payload at this address: report and disarm whoever waits for it. [any] */
void semtab_touch(struct core *core, bool system, uint64_t address);

/* Armed words, found by a hash of their address; under the lock. */
#define SEMTAB_BUCKETS 256u
#define SEMTAB_NONE PPU_MAX_ARMED

struct sem_watch {
    bool armed;
    bool system;
    uint64_t address; /* VRAM offset or bus address of the payload */
    uint32_t tag;
    uint32_t next; /* in the same bucket, SEMTAB_NONE at the end */
};

struct semtab {
    pthread_mutex_t lock;
    uint32_t armed_count; /* also read without the lock */
    uint32_t bucket[SEMTAB_BUCKETS];
    struct sem_watch entry[PPU_MAX_ARMED];
};

void semtab_arm(struct core *core, uint32_t entry, bool system, uint64_t address, uint32_t tag);
void semtab_disarm(struct core *core, uint32_t entry);
void semtab_reset(struct core *core);
void semtab_save(struct core *core, struct snap *snap);
void semtab_load(struct core *core, struct snap *snap);

#endif
