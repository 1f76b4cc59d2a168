/* SPDX-License-Identifier: MIT */
/*
 * Fetches, decodes and executes command blocks (method.def).
 *
 * One buffer holds the block of the channel that executes. A channel that goes on after others had
 * their turn fetches its block again: the block stays the owner's until GP_GET has passed its
 * entry. Each fetch is checked from its header on, and only the fetched copy is used.
 */
#ifndef FIRMWARE_BLOCK_H
#define FIRMWARE_BLOCK_H

#include "firmware/channel.h"

enum block_result {
    BLOCK_MORE,    /* so many methods were executed, others follow */
    BLOCK_DONE,    /* the last method was executed: the entry is done with */
    BLOCK_NONE,    /* the ring is empty */
    BLOCK_STOPPED, /* the channel is no longer RUNNING */
};

void block_init(void);

/* Executes methods of a RUNNING channel to the end of a block, at most *left and takes them off; fetches its next block
 * when it is in none. */
enum block_result block_run(struct channel *channel, uint32_t *left);

/* Forgets where in a block the channel is. */
void block_end(struct channel *channel);

#endif
