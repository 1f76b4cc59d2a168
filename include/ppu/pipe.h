/* SPDX-License-Identifier: MIT */
/*
 * Defines OpenCL's pipes as they lie in memory: a ring of packets that threads fill and empty. A place in the order of
 * packets is a turn of the ring, in its high half, and a cell of it. A cell's state says which turn it is free for or
 * full in, so that reservations may be committed in any order.
 */
#ifndef PPU_PIPE_H
#define PPU_PIPE_H

#include "ppu/base.h"

#define PPU_PIPE_ALIGN 128u               /* of the packets: the largest of a type of OpenCL C */
#define PPU_PIPE_FREE(turn) (2u * (turn)) /* for being written in that turn */
#define PPU_PIPE_FULL(turn) (2u * (turn) + 1u)
#define PPU_PIPE_NO_RESERVATION \
    UINT64_MAX /* CLK_NULL_RESERVE_ID; a reservation is its first cell, and how many << 32 */

/* A pipe of zeros but for the first two fields is empty. */
struct ppu_pipe {
    uint32_t packet_bytes;
    uint32_t packets; /* cells, at least 1 */
    uint64_t write;   /* the place that is reserved next for writing */
    uint64_t read;    /* the same for reading */
    uint32_t filled;  /* packets that have been written, and not reserved for reading */
    uint32_t reserved;
    /* uint32_t state[packets]; then, aligned to PPU_PIPE_ALIGN, the packets */
};
PPU_ASSERT_SIZE(struct ppu_pipe, 32);

/* Where the packets begin; `packets` is below 2^32, so that nothing overflows. */
static inline uint64_t ppu_pipe_packets_at(uint64_t packets)
{
    return (sizeof(struct ppu_pipe) + 4 * packets + PPU_PIPE_ALIGN - 1) / PPU_PIPE_ALIGN * PPU_PIPE_ALIGN;
}

/* Bytes of a pipe. Both are below 2^32, but not 0xffffffff. */
static inline uint64_t ppu_pipe_bytes(uint64_t packet_bytes, uint64_t packets)
{
    return ppu_pipe_packets_at(packets) + packet_bytes * packets;
}

#endif
