/* SPDX-License-Identifier: MIT */
/*
 * Sends requests to the firmware's admin queue. Any number of threads; each waits for its own reply, replies come in
 * any order.
 */
#ifndef RUNTIME_ADMIN_H
#define RUNTIME_ADMIN_H

#include <pthread.h>
#include <stdbool.h>

#include "ppu.h"

struct ppu_device;

enum admin_state {
    ADMIN_FREE = 0,
    ADMIN_SENT = 1,
    ADMIN_ANSWERED = 2,
    ADMIN_ABANDONED = 3, /* nobody waits any more; freed when the reply comes */
};

/* Requests on their way are never more than the ring has entries, so it cannot be full. */
struct admin {
    pthread_mutex_t lock;
    struct ppu_admin_queue *queue; /* in VRAM */
    uint32_t request_tail;
    uint32_t reply_head;
    uint32_t lap; /* of the sequence numbers: seq = lap * entries + index in `pending` */
    struct {
        enum admin_state state;
        uint32_t seq;
        struct ppu_admin_msg reply;
    } pending[PPU_ADMIN_ENTRIES];
};

void admin_init(struct admin *admin, struct ppu_admin_queue *queue);
void admin_fini(struct admin *admin);

/*
 * Sends a request and waits for its reply. `args` has `arg_count` words; `results`
 * takes `result_count` words. A refusal is the error that its fault.def row names, told
 * in full as the device's error. TIMEOUT, DEVICE_LOST.
 */
enum ppu_err admin_call(struct ppu_device *device, enum ppu_admin_op op, const uint32_t *args, uint32_t arg_count,
                        uint32_t *results, uint32_t result_count);

#endif
