/* SPDX-License-Identifier: MIT */
/* Keeps a queue that a queue task takes from (A6, ppu/taskq.h). */
#ifndef RUNTIME_TASKQ_H
#define RUNTIME_TASKQ_H

#include "runtime/context.h"

struct ppu_taskq {
    struct ppu_context *context;
    struct ppu_memory *memory;
    uint32_t number;
    uint32_t entries;
    uint32_t entry_bytes;
};

#endif
