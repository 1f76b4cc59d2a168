/* SPDX-License-Identifier: MIT */
/* Keeps a work queue as its owner sees it. */
#ifndef RUNTIME_WORKQ_H
#define RUNTIME_WORKQ_H

#include "ppu/workq.h"
#include "runtime/channel.h"

struct ppu_workq {
    struct ppu_channel channel; /* the queue's own: threads fill it, so it has neither ring nor staging here */
    struct ppu_channel *owner;  /* whose blocks begin its rounds and wait for them */
    uint32_t rounds;            /* begun so far; with the owner's lock */
};

#endif
