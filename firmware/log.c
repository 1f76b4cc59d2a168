/* SPDX-License-Identifier: MIT */
#include "firmware/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "firmware/hal.h"
#include "firmware/layout.h"
#include "firmware/shared.h"

static struct ppu_log_ring *ring;
static uint32_t written;

void log_init(void)
{
    ring = hal_vram(layout.log);
    written = 0;
    shared_publish(&ring->tail, 0);
}

void log_print(const char *format, ...)
{
    char line[LOG_LINE_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    for (const char *c = line; *c; c++) {
        ring->text[written++ % PPU_LOG_BYTES] = *c;
        hal_write(PPU_REG_LOG_PUTC, (uint8_t)*c);
    }
    shared_publish(&ring->tail, written);
}
