/* SPDX-License-Identifier: MIT */
/*
 * Implements the client's side of a PPU's mailbox (ppu/mailbox.h), with the socket by which the two sides wake each
 * other up.
 */
#ifndef RUNTIME_NATIVE_MAILBOX_H
#define RUNTIME_NATIVE_MAILBOX_H

#include "ppu/mailbox.h"
#include "ppu/poll.h"

struct mailbox {
    struct ppu_mailbox *shared;
    int notify;           /* our end of the socket */
    struct ppu_poll poll; /* of whoever waits */
};

/* Where instructions are counted, waits until the MCU sleeps. False: it did not. */
bool mailbox_settle(const struct mailbox *mailbox, uint64_t timeout_ns);

/* Rings a channel, below PPU_MAX_CHANNELS. Any thread; of one channel one at a time. */
void mailbox_ring(struct mailbox *mailbox, uint32_t channel, uint32_t put);

/* Waits for vectors: those raised since the last call, 0 after timeout_ns, all when QEMU has gone. One thread at a
 * time. */
uint32_t mailbox_wait(struct mailbox *mailbox, uint64_t timeout_ns);

#endif
