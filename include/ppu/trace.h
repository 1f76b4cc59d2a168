/* SPDX-License-Identifier: MIT */
/*
 * Defines the trace rings, which are flight recorders in VRAM: one has what the firmware says, the other what the
 * device does; the device writes both. `tail` runs freely; record n is at n modulo the size; the oldest are
 * overwritten. While a record is being written its sequence is PPU_TRACE_TORN() of its number: a reader copies a
 * record, and the copy is good when the sequence was its number before and after.
 */
#ifndef PPU_TRACE_H
#define PPU_TRACE_H

#include "ppu/base.h"

#define PPU_TRACE_VERSION 2u
#define PPU_TRACE_TORN(number) ((number) ^ 0x80000000u) /* no reader of this place waits for it */
#define PPU_TRACE_UNIT_MCU 0xffffffffu
#define PPU_TRACE_WARPS_SHIFT 20u /* of `warps_until` */

enum ppu_trace_type {
#define PPU_TRACE(name, type, id0, id1, id2, doc) PPU_TRACE_##name = (type),
#include "ppu/trace.def"
#undef PPU_TRACE
};

enum ppu_mark {
#define PPU_MARK(name, value, doc) PPU_MARK_##name = (value),
#include "ppu/mark.def"
#undef PPU_MARK
};
#define PPU_MARK_FIRST_KERNEL 0x1000u

enum ppu_trace_warp_state {
#define PPU_WARP_STATE(name, number, doc) PPU_TRACE_WARP_##name = (number),
#include "ppu/warp_state.def"
#undef PPU_WARP_STATE
};

struct ppu_trace_record {
    uint8_t version;
    uint8_t size_bytes;
    uint16_t type; /* enum ppu_trace_type */
    uint32_t correlation;
    uint64_t time_ns;
    uint32_t id[3];
    uint32_t sequence; /* low word of this record's number, written last (release) */
};
PPU_ASSERT_SIZE(struct ppu_trace_record, 32);

/* What the firmware says of a record of its own; the device adds the rest (FW_TRACE_ADD). */
struct ppu_trace_words {
    uint32_t type; /* enum ppu_trace_type */
    uint32_t correlation;
    uint32_t id[3];
    uint32_t reserved;
    uint64_t time_ns; /* the device writes what the record has */
};
PPU_ASSERT_SIZE(struct ppu_trace_words, 32);

struct ppu_trace_ring {
    struct ppu_struct_header head; /* PPU_TRACE_VERSION, sizeof(struct ppu_trace_record) */
    uint32_t size;                 /* records, a power of two */
    uint32_t tail;                 /* the device */
    /* A tool that wants records of warps writes the device's time here, some way ahead, again and again; in units of
     * 2^PPU_TRACE_WARPS_SHIFT ns, low word. 0: nobody does. Only the device's recorder has it. */
    uint32_t warps_until;
    uint32_t reserved[12];
    /* struct ppu_trace_record record[size] follows */
};
PPU_ASSERT_SIZE(struct ppu_trace_ring, 64);

/*
 * Copies record `number` from its place. False: the place holds another record by now, or is being written. Each word
 * is loaded with acquire, so that the second look at the sequence comes after them (partner: the writer's fence after
 * it has torn the sequence).
 */
static inline int ppu_trace_take(const struct ppu_trace_record *place, uint32_t number, struct ppu_trace_record *record)
{
    const uint32_t *from = (const uint32_t *)(const void *)place;
    uint32_t *to = (uint32_t *)(void *)record;

    if (__atomic_load_n(&place->sequence, __ATOMIC_ACQUIRE) != number) {
        return 0;
    }
    for (uint32_t i = 0; i < sizeof(*place) / sizeof(*from); i++) {
        to[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
    }
    return __atomic_load_n(&place->sequence, __ATOMIC_ACQUIRE) == number;
}

#endif
