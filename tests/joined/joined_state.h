/* SPDX-License-Identifier: MIT */
/* Holds the state of the joined machine. */
#ifndef TESTS_JOINED_JOINED_STATE_H
#define TESTS_JOINED_JOINED_STATE_H

#include <pthread.h>
#include <setjmp.h>

#include "ppu/boot.h"
#include "tests/joined/host.h"
#include "tests/joined/joined.h"

/* What the MCU is to do at its next access to the device. */
enum mcu_order {
    MCU_GO_ON = 0,
    MCU_CRASH = 1,
    MCU_LOCK_UP = 2,
};

struct joined {
    struct ppu_transport transport;
    struct core *core;
    struct core_config config;
    uint8_t *vram;
    int vram_fd;
    int firmware_fd;
    char firmware_path[32];

    pthread_mutex_t lock;   /* the host lock */
    pthread_cond_t changed; /* with the host lock: anything that a thread may wait for */
    bool ending;
    bool paused;
    uint64_t started_ns;  /* monotonic time at virtual time 0 */
    uint64_t paused_ns;   /* virtual time while paused */
    uint64_t deadline_ns; /* of the core's timer, virtual */
    uint32_t guest_errors;

    /* Kick: asked for by threads that may not take the host lock. */
    pthread_mutex_t kick_lock;
    pthread_cond_t kicked;
    bool kick;
    pthread_t service_thread;

    /* MCU */
    pthread_t mcu_thread;
    jmp_buf mcu_exit;
    uint32_t mcu_wanted; /* counts releases and holds: odd, it is to run */
    uint32_t mcu_now;    /* the value of mcu_wanted that it runs by */
    uint32_t irq_level;  /* a bit for each line */
    enum mcu_order order;
    uint8_t dtcm[PPU_MCU_DTCM_BYTES];

    struct joined_bus bus;

    /* Vectors raised and not yet taken by the transport's wait(). */
    pthread_mutex_t vector_lock;
    pthread_cond_t vector_raised;
    uint32_t vectors;
};

/* hal_host.c: what the firmware runs on; there is only one. */
void hal_attach(struct joined *joined);
/* transport.c */
void joined_transport_init(struct joined *joined);
/* The virtual clock [any]. */
uint64_t joined_now(struct joined *joined);

#endif
