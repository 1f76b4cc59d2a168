/* SPDX-License-Identifier: MIT */
/*
 * Defines the semaphore (C8): 16 bytes of memory that CPU and PPU reach. A release writes the time first and the
 * payload last, the payload with release order; an acquire reads the payload with acquire order.
 */
#ifndef PPU_SEM_H
#define PPU_SEM_H

#include "ppu/base.h"

struct ppu_sem {
    uint32_t payload;
    uint32_t zero;
    uint64_t time_ns; /* device time of the release, when asked for */
};
PPU_ASSERT_SIZE(struct ppu_sem, 16);
PPU_ASSERT_OFFSET(struct ppu_sem, time_ns, 8);

#define PPU_SEM_ALIGN 16u

enum ppu_sem_compare {
    PPU_SEM_EQUAL = 0,
    PPU_SEM_GREATER_EQUAL = 1, /* as a counter: signed difference */
};

/*
 * Fourth data word of SEM_ACQUIRE: compare, and optionally the channel of the work queue whose round the semaphore
 * ends. Should that channel fail, the acquire fails too, instead of waiting for ever.
 */
#define PPU_SEM_FROM(channel) (((channel) + 1u) << 8)
#define PPU_SEM_COMPARE(word) ((word)&0xffu)
#define PPU_SEM_HAS_FROM(word) ((word) >> 8 != 0)
#define PPU_SEM_FROM_CHANNEL(word) (((word) >> 8) - 1u)

/* True when an acquire of `wanted` succeeds on `payload`. */
static inline int ppu_sem_passes(uint32_t compare, uint32_t payload, uint32_t wanted)
{
    return compare == PPU_SEM_EQUAL ? payload == wanted : (int32_t)(payload - wanted) >= 0;
}

#endif
