/* SPDX-License-Identifier: MIT */
/* Defines fault codes, from fault.def, and the record by which the firmware reports a fault to the host. */
#ifndef PPU_FAULT_H
#define PPU_FAULT_H

#include "ppu/base.h"

enum ppu_fault {
    PPU_FAULT_NONE = 0,
#define PPU_FAULT(name, code, scope, retryable, payload, location, error, text) PPU_FAULT_##name = (code),
#include "ppu/fault.def"
#undef PPU_FAULT
};

enum ppu_fault_scope {
    PPU_SCOPE_NONE = 0,
    PPU_SCOPE_TASK = 1,
    PPU_SCOPE_CHANNEL = 2,
};

/*
 * Where a fault happened. Its record names that location by the fields said here, besides `channel` and `correlation`.
 * A BLOCK's fault without a word is a TASK's: one that was launched before, or by a thread.
 */
enum ppu_fault_location {
    PPU_LOCATION_LANES = 0,   /* cta, warp, lanes, pass; pc: the instruction */
    PPU_LOCATION_CTA = 1,     /* cta */
    PPU_LOCATION_TASK = 2,    /* no more: no single thread is to blame */
    PPU_LOCATION_TASKQ = 3,   /* pc: number of the task's queue */
    PPU_LOCATION_BLOCK = 4,   /* pc: GP index << 32 | word of the block at which the method begins */
    PPU_LOCATION_ENTRY = 5,   /* pc: GP index << 32 */
    PPU_LOCATION_RING = 6,    /* the channel */
    PPU_LOCATION_COPY = 7,    /* a descriptor of the copy engine; only the firmware sees it */
    PPU_LOCATION_REQUEST = 8, /* an admin request: the one that is answered */
};

#define PPU_NO_CHANNEL 0xffffffffu

/*
 * Error record: who, what, where, why. The firmware writes one for each fault into
 * the error ring; a channel also keeps its first (QUERY keys CHANNEL_FAULT_*).
 */
struct ppu_error_record {
    struct ppu_struct_header head;
    uint16_t code;  /* fault.def */
    uint8_t access; /* enum ppu_access, for memory faults */
    uint8_t sm;
    uint32_t channel; /* PPU_NO_CHANNEL when none is to blame */
    uint32_t context;
    uint64_t address; /* fault.def says what it is */
    uint64_t pc;      /* enum ppu_fault_location says what it is */
    uint64_t time_ns;
    uint32_t correlation;
    uint32_t lanes;
    uint16_t warp;
    uint16_t pass;
    uint32_t cta[3];
};
PPU_ASSERT_SIZE(struct ppu_error_record, 64);

/* Error ring in VRAM. tail: firmware; head: host; lost: records the ring had no room for. */
#define PPU_ERROR_RING_ENTRIES 64u
struct ppu_error_ring {
    uint32_t tail;
    uint32_t lost;
    uint32_t reserved0[14];
    uint32_t head;
    uint32_t reserved1[15];
    struct ppu_error_record entry[PPU_ERROR_RING_ENTRIES];
};
PPU_ASSERT_SIZE(struct ppu_error_ring, 128 + 64 * PPU_ERROR_RING_ENTRIES);

#endif
