/* SPDX-License-Identifier: MIT */
#include "firmware/vector.h"

#include "firmware/hal.h"
#include "firmware/stats.h"
#include "firmware/trace.h"

void vector_raise(uint32_t vector, uint32_t channel, uint32_t correlation)
{
    /* Recorded first: whoever is woken finds the record. */
    stats_count(PPU_KEY_INTERRUPTS);
    trace_write(PPU_TRACE_INTERRUPT, correlation, vector, channel, 0);
    hal_write(PPU_REG_VECTOR_RAISE, vector);
}
