/* SPDX-License-Identifier: MIT */
/*
 * Waits for interrupts by any number of threads, without a thread of our own: whoever waits while nobody else listens
 * to the transport does so, for all.
 *
 * No interrupt is lost: take a mark, look at the state, then wait for what came after the mark.
 */
#ifndef RUNTIME_INTERRUPT_H
#define RUNTIME_INTERRUPT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/transport.h"

struct interrupts {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool listening;                   /* some thread is inside transport->wait() */
    uint64_t arrivals;                /* runs freely */
    uint64_t latest[PPU_MAX_VECTORS]; /* value of `arrivals` at the vector's last interrupt */
    struct ppu_transport *transport;
    void (*on_error_vector)(void *opaque); /* called before anyone learns of PPU_VECTOR_ERROR */
    void *opaque;
};

void interrupts_init(struct interrupts *interrupts, struct ppu_transport *transport,
                     void (*on_error_vector)(void *opaque), void *opaque);
void interrupts_fini(struct interrupts *interrupts);

uint64_t interrupts_mark(struct interrupts *interrupts);
/* False: none of `vectors` came after `mark` until the deadline. */
bool interrupts_wait(struct interrupts *interrupts, uint32_t vectors, uint64_t mark, uint64_t deadline_ns);

#endif
