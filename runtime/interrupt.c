/* SPDX-License-Identifier: MIT */
#include "runtime/interrupt.h"

#include "ppu/regs.h"
#include "runtime/deadline.h"

void interrupts_init(struct interrupts *interrupts, struct ppu_transport *transport,
                     void (*on_error_vector)(void *opaque), void *opaque)
{
    pthread_condattr_t attributes;

    *interrupts = (struct interrupts){ .transport = transport, .on_error_vector = on_error_vector, .opaque = opaque };
    pthread_mutex_init(&interrupts->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&interrupts->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

void interrupts_fini(struct interrupts *interrupts)
{
    pthread_cond_destroy(&interrupts->changed);
    pthread_mutex_destroy(&interrupts->lock);
}

uint64_t interrupts_mark(struct interrupts *interrupts)
{
    pthread_mutex_lock(&interrupts->lock);
    uint64_t mark = interrupts->arrivals;
    pthread_mutex_unlock(&interrupts->lock);
    return mark;
}

static bool arrived(const struct interrupts *interrupts, uint32_t vectors, uint64_t mark)
{
    for (uint32_t vector = 0; vector < PPU_MAX_VECTORS; vector++) {
        if ((vectors >> vector & 1u) != 0 && interrupts->latest[vector] > mark) {
            return true;
        }
    }
    return false;
}

/* Called with the lock, gives it up meanwhile. */
static void listen_for_all(struct interrupts *interrupts, uint64_t timeout_ns)
{
    interrupts->listening = true;
    pthread_mutex_unlock(&interrupts->lock);
    uint32_t vectors = interrupts->transport->ops->wait(interrupts->transport, timeout_ns);
    if ((vectors & 1u << PPU_VECTOR_ERROR) != 0) {
        interrupts->on_error_vector(interrupts->opaque);
    }
    pthread_mutex_lock(&interrupts->lock);
    interrupts->listening = false;
    interrupts->arrivals++;
    for (uint32_t vector = 0; vector < PPU_MAX_VECTORS; vector++) {
        if ((vectors >> vector & 1u) != 0) {
            interrupts->latest[vector] = interrupts->arrivals;
        }
    }
    /* Also after a timeout: another thread takes over listening. */
    pthread_cond_broadcast(&interrupts->changed);
}

static void sleep_until_changed(struct interrupts *interrupts, uint64_t deadline_ns)
{
    struct timespec until = { .tv_sec = (time_t)(deadline_ns / NS_PER_S), .tv_nsec = (long)(deadline_ns % NS_PER_S) };

    if (deadline_ns == UINT64_MAX) {
        pthread_cond_wait(&interrupts->changed, &interrupts->lock);
    } else {
        pthread_cond_timedwait(&interrupts->changed, &interrupts->lock, &until);
    }
}

bool interrupts_wait(struct interrupts *interrupts, uint32_t vectors, uint64_t mark, uint64_t deadline_ns)
{
    pthread_mutex_lock(&interrupts->lock);
    while (!arrived(interrupts, vectors, mark)) {
        uint64_t left_ns = deadline_left(deadline_ns);
        if (left_ns == 0) {
            break;
        }
        if (interrupts->listening) {
            sleep_until_changed(interrupts, deadline_ns);
        } else {
            listen_for_all(interrupts, left_ns);
        }
    }
    bool came = arrived(interrupts, vectors, mark);
    pthread_mutex_unlock(&interrupts->lock);
    return came;
}
