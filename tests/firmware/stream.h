/* SPDX-License-Identifier: MIT */
/* Builds command blocks in a context's memory and puts them into the ring of a channel, as a test sees it. */
#ifndef TESTS_FIRMWARE_STREAM_H
#define TESTS_FIRMWARE_STREAM_H

#include "tests/firmware/mock_hal.h"

struct stream {
    uint32_t context;
    uint32_t channel;
    uint64_t ring_va;
    uint32_t entries;
    uint32_t put;
    uint64_t block_va; /* where the next block goes */
    uint32_t len;      /* words in it so far */
};

/* Opens a channel with its ring and blocks in the `number`th 64 KiB of the context's memory. */
struct stream stream_open(uint32_t context, uint32_t number, uint32_t entries, uint32_t priority, uint32_t vector);

void stream_method(struct stream *stream, uint32_t method, uint32_t count, const uint32_t *data);
void stream_acquire(struct stream *stream, uint64_t sem_va, uint32_t value, uint32_t compare);
void stream_release(struct stream *stream, uint64_t sem_va, uint32_t value);
/* Writes the TMD at `tmd_va` and launches it. */
void stream_launch(struct stream *stream, uint64_t tmd_va, const struct ppu_tmd *tmd, uint32_t tmdq);
void stream_copy(struct stream *stream, uint64_t from, uint64_t to, uint32_t len_bytes);

/* Ends the block, puts its entry into the ring and rings the doorbell. */
void stream_submit(struct stream *stream);
/* The same with a GP entry and correlation of the test's choice, and no doorbell. */
void stream_put(struct stream *stream, uint64_t entry);
uint64_t stream_close_block(struct stream *stream, uint32_t correlation);

uint32_t stream_get(const struct stream *stream);
uint32_t stream_state(const struct stream *stream);

#endif
