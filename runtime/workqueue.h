/* SPDX-License-Identifier: MIT */
/* A work queue as its owner sees it. */
#ifndef PPU_RUNTIME_WORKQUEUE_H
#define PPU_RUNTIME_WORKQUEUE_H

#include "channel.h"
#include "ppu/workq.h"

struct ppu_workqueue {
    struct ppu_channel channel; /* the queue's own: threads fill it, so it has neither ring nor staging here */
    struct ppu_channel *owner;  /* whose blocks begin its rounds and wait for them */
    uint32_t rounds;            /* begun so far; with the owner's lock */
};

#endif
