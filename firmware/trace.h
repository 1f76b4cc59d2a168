/* SPDX-License-Identifier: MIT */
/* Writes the firmware's flight recorder (ppu/trace.h) and its marks. */
#ifndef FIRMWARE_TRACE_H
#define FIRMWARE_TRACE_H

#include "firmware/hal.h"
#include "ppu/trace.h"

/* Needs layout, and the protected range told to the device. */
void trace_init(void);

/* Ids are trace.def's. */
void trace_write(enum ppu_trace_type type, uint32_t correlation, uint32_t id0, uint32_t id1, uint32_t id2);

/* Time of the latest record, ns. */
uint64_t trace_latest_ns(void);

static inline void trace_mark(enum ppu_mark mark)
{
    hal_write(PPU_REG_MARK, mark);
}

#endif
