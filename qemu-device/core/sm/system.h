/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accesses to system memory, which the main loop does for SMs. */
#ifndef QEMU_DEVICE_CORE_SM_SYSTEM_H
#define QEMU_DEVICE_CORE_SM_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/limits.h"
#include "qemu-device/core/sm/access.h"

struct exec;
struct sm;

enum sys_state {
    SYS_NONE = 0,
    SYS_QUEUED = 1, /* SM: waits for the main loop; may be taken back by compare-and-swap */
    SYS_BUSY = 2,   /* main loop */
    SYS_DONE = 3,   /* main loop: results are there */
};

enum sys_kind {
    SYS_LOAD = 1,
    SYS_STORE = 2,
    SYS_ATOMIC = 3,
    SYS_RELEASE = 4, /* semaphore */
};

struct sys_word {
    uint64_t bus;
    uint64_t data;    /* in: value, or operand; out: value read */
    uint64_t operand; /* compare-and-swap: the value to compare with */
    uint8_t *host;    /* not NULL: this word of a mixed access lies in VRAM */
    uint8_t lane;
    uint8_t word;
    uint8_t bytes;
};

struct sys_request {
    uint32_t state; /* enum sys_state; SM and main loop, atomic */
    uint32_t kind;
    uint32_t count;
    uint32_t done; /* words performed; less than count: the bus refused the next */
    uint32_t aop;
    uint32_t lanes;
    uint32_t pass;
    bool with_time;
    struct sys_word word[PPU_LANES * SM_MAX_WORDS];
};

void sm_system_post(struct exec *x);                    /* SM: hands over the request that x->sm->sys[x->index] holds */
bool sm_system_take_back(struct sm *sm, uint32_t warp); /* SM: false when the main loop is at it */

#endif
