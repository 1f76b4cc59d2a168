/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts between number formats. */
#ifndef QEMU_DEVICE_CORE_ENGINE_CONVERT_H
#define QEMU_DEVICE_CORE_ENGINE_CONVERT_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/image.h"

/* Whether the rounding says anything: not where whole numbers stay whole, nor where a float has all of the source's. */
static inline bool convert_rounds(uint32_t stype, uint32_t dtype)
{
    const bool wider = stype >= PPU_TYPE_F16 && dtype > stype;
    const bool small = stype <= PPU_TYPE_S32 && dtype == PPU_TYPE_F64;

    return (stype >= PPU_TYPE_F16 || dtype >= PPU_TYPE_F16) && !wider && !small;
}

/* Whether saturation says anything: a float always saturates when it becomes a whole number. */
static inline bool convert_saturates(uint32_t stype, uint32_t dtype)
{
    return stype < PPU_TYPE_F16 || dtype >= PPU_TYPE_F16;
}

uint64_t engine_convert(uint64_t bits, uint32_t stype, uint32_t dtype, uint32_t round, bool sat);

#endif
