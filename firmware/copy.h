/* SPDX-License-Identifier: MIT */
/* Queues copies of channels (method COPY); each counts for its channel until the copy engine reports its end. */
#ifndef FIRMWARE_COPY_H
#define FIRMWARE_COPY_H

#include <stdbool.h>

#include "firmware/channel.h"
#include "firmware/ring.h"

enum copy_result {
    COPY_STARTED,
    COPY_NO_ROOM, /* the queue is full: try again when one has ended */
    COPY_FAULT,   /* dma_failure() says where */
};

/* Needs caps. */
void copy_init(void);

/* Queues a copy within the channel's address space. Nothing is to be done for length 0. */
enum copy_result copy_start(struct channel *channel, ppu_va_t from, ppu_va_t to, uint64_t len_bytes);

/* Queues one for a command of a task (commands.h), which goes on when the copy has ended; `position` is for faults. */
enum copy_result copy_start_of(struct task *task, uint64_t position, ppu_va_t from, ppu_va_t to, uint64_t len_bytes);

/* Ends all queued copies of a channel, each with its event. */
void copy_cancel(const struct channel *channel);

/* Takes an entry of the copy ring. */
void copy_event(const union ring_entry *entry);

#endif
