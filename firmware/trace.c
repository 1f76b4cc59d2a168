/* SPDX-License-Identifier: MIT */
#include "firmware/trace.h"

#include "firmware/layout.h"

static FW_DMA struct ppu_trace_words words; /* the device takes them before the store to FW_TRACE_ADD completes */

void trace_init(void)
{
    hal_write(PPU_REG_FW_TRACE_SIZE, TRACE_FW_RECORDS);
    hal_write(PPU_REG_FW_TRACE_BASE, layout.fw_trace.off);
}

/* Never inline: tools that count instructions know a record by this function (tools/mcu/ppu-mcu.c). */
__attribute__((noinline)) void trace_write(enum ppu_trace_type type, uint32_t correlation, uint32_t id0, uint32_t id1,
                                           uint32_t id2)
{
    words.type = type;
    words.correlation = correlation;
    words.id[0] = id0;
    words.id[1] = id1;
    words.id[2] = id2;
    hal_write(PPU_REG_FW_TRACE_ADD, hal_mcu_address(&words));
}

uint64_t trace_latest_ns(void)
{
    return words.time_ns;
}
