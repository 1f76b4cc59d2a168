/* SPDX-License-Identifier: MIT */
/*
 * Defines channels (A2): a channel is a circular queue of GP entries, each of which points to a command block.
 *
 * Who writes what: the owner writes ring entries and then GP_PUT, through the
 * channel's doorbell page; the firmware alone writes GP_GET. Entries in
 * [GET, PUT) belong to the firmware. Empty: GET == PUT. Full: next(PUT) == GET.
 */
#ifndef PPU_CHANNEL_H
#define PPU_CHANNEL_H

#include "ppu/base.h"

/*
 * GP entry: 64 bits. Bits 0-47 virtual address of the block (4-byte aligned),
 * bits 48-63 its length in 32-bit words, header included.
 */
typedef uint64_t ppu_gp_entry_t;
#define PPU_GP_ENTRY_BYTES 8u
#define PPU_GP_LEN_SHIFT 48u
#define PPU_GP_VA_MASK 0x0000fffffffffffcull
#define PPU_GP_RESERVED_MASK 3ull

#define PPU_GP_MIN_ENTRIES 2u
#define PPU_GP_MAX_ENTRIES (1u << 20)

static inline ppu_gp_entry_t ppu_gp_entry(uint64_t va, uint32_t len_words)
{
    return (va & PPU_GP_VA_MASK) | ((uint64_t)len_words << PPU_GP_LEN_SHIFT);
}

/* Next index of a ring whose entry count may be any number. */
static inline uint32_t ppu_gp_next(uint32_t index, uint32_t count)
{
    return index + 1u == count ? 0u : index + 1u;
}

/* Registers of a doorbell page (BAR2 + channel * PPU_DOORBELL_STRIDE). */
#define PPU_DB_PUT 0x0u  /* W: GP_PUT, rings the doorbell; R: GP_PUT */
#define PPU_DB_GET 0x4u  /* R: GP_GET */
#define PPU_DB_RING 0x8u /* W: rings the doorbell only (a semaphore was released by plain stores) */

/* Command block: header, then methods (method.def). */
#define PPU_BLOCK_VERSION 1u
#define PPU_BLOCK_MAX_WORDS (PPU_COPY_SYNC_MAX / 4u)

#define PPU_ENQUEUE_MAX_WORDS                                                               \
    (PPU_BLOCK_MAX_WORDS - 6u) /* of methods within ENQUEUE: all but header, method, stream \
                                */

/* A list with a launch in it: words of methods, and the bytes that its kernel's parameters leave free for them. */
#define PPU_ENQUEUE_GRID_WORDS 64u
#define PPU_ENQUEUE_GRID_BYTES (24u + 4u * PPU_ENQUEUE_GRID_WORDS)

struct ppu_block_header {
    struct ppu_struct_header head; /* version, size of this header in bytes */
    uint32_t len_words;            /* of the whole block; equals the GP entry's length */
    uint32_t correlation;          /* repeated by traces, faults and events */
    uint32_t reserved;             /* zero */
};
PPU_ASSERT_SIZE(struct ppu_block_header, 16);

/* Method word: bits 0-11 method, bits 12-15 zero, bits 16-27 count of data words, bits 28-31 zero. */
#define PPU_METHOD_WORD(method, count) ((uint32_t)(method) | ((uint32_t)(count) << 16))
#define PPU_METHOD_ID(word) ((word)&0xfffu)
#define PPU_METHOD_COUNT(word) (((word) >> 16) & 0xfffu)
#define PPU_METHOD_RESERVED_MASK 0xf000f000u

enum ppu_method {
#define PPU_METHOD(name, id, count, title, doc) PPU_METHOD_##name = (id),
#include "ppu/method.def"
#undef PPU_METHOD
};

/* Fields of a channel's life as the host sees them (key PPU_KEY_CHANNEL_STATE of QUERY). */
enum ppu_channel_state {
    PPU_CHANNEL_CLOSED = 0,
    PPU_CHANNEL_IDLE = 1,    /* open, nothing to fetch */
    PPU_CHANNEL_RUNNING = 2, /* executing a block */
    PPU_CHANNEL_PARKED = 3,  /* an acquire that has not passed yet */
    PPU_CHANNEL_WAITING = 4, /* wait-for-idle, or a resource that will come free */
    PPU_CHANNEL_FAULTED = 5, /* stopped; CHANNEL_RESET opens it again */
};

#endif
