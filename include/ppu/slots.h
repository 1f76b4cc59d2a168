/* SPDX-License-Identifier: MIT */
/* Says how many slots of the task table tasks up to a priority may have together (A5). */
#ifndef PPU_SLOTS_H
#define PPU_SLOTS_H

#include "ppu/limits.h"

#define PPU_SLOTS_LEAST_KEPT (2u * PPU_PRIORITIES) /* a machine with fewer slots keeps none */

/*
 * All but one for each priority above: tasks that never end, and cannot be saved, would else hold every slot, and a
 * more urgent one none.
 */
static inline uint32_t ppu_slots_up_to(uint32_t slots, uint32_t priority)
{
    return slots < PPU_SLOTS_LEAST_KEPT ? slots : slots - (PPU_PRIORITIES - 1u - priority);
}

#endif
