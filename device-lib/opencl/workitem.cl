/* SPDX-License-Identifier: MIT */
/* Implements the work-item functions: OpenCL C 6.15.1. A dimension that does not exist has size 1 and number 0. */
#include "primitive.h"

static uint __attribute__((always_inline)) pick(uint dimension, uint x, uint y, uint z, uint other)
{
    return dimension == 0 ? x : dimension == 1 ? y : dimension == 2 ? z : other;
}

static ulong __attribute__((always_inline)) launch64(uint offset)
{
    return __ppu_launch(offset) | (ulong)__ppu_launch(offset + 4) << 32;
}

uint BUILTIN get_work_dim(void)
{
    return __ppu_launch(LAUNCH_WORK_DIM);
}

size_t BUILTIN get_local_id(uint d)
{
    return pick(d, __ppu_sr(PPU_SR_TID_X), __ppu_sr(PPU_SR_TID_Y), __ppu_sr(PPU_SR_TID_Z), 0);
}

size_t BUILTIN get_group_id(uint d)
{
    return pick(d, __ppu_sr(PPU_SR_CTA_X), __ppu_sr(PPU_SR_CTA_Y), __ppu_sr(PPU_SR_CTA_Z), 0);
}

size_t BUILTIN get_local_size(uint d)
{
    return pick(d, __ppu_sr(PPU_SR_SIZE_X), __ppu_sr(PPU_SR_SIZE_Y), __ppu_sr(PPU_SR_SIZE_Z), 1);
}

size_t BUILTIN get_enqueued_local_size(uint d)
{
    return pick(d, __ppu_sr(PPU_SR_NTID_X), __ppu_sr(PPU_SR_NTID_Y), __ppu_sr(PPU_SR_NTID_Z), 1);
}

size_t BUILTIN get_num_groups(uint d)
{
    return pick(d, __ppu_sr(PPU_SR_NCTA_X), __ppu_sr(PPU_SR_NCTA_Y), __ppu_sr(PPU_SR_NCTA_Z), 1);
}

size_t BUILTIN get_global_size(uint d)
{
    return (get_num_groups(d) - 1) * get_enqueued_local_size(d) +
           pick(d, __ppu_sr(PPU_SR_LAST_X), __ppu_sr(PPU_SR_LAST_Y), __ppu_sr(PPU_SR_LAST_Z), 1);
}

size_t BUILTIN get_global_offset(uint d)
{
    return d == 0   ? launch64(LAUNCH_GLOBAL_OFFSET(0))
           : d == 1 ? launch64(LAUNCH_GLOBAL_OFFSET(1))
           : d == 2 ? launch64(LAUNCH_GLOBAL_OFFSET(2))
                    : 0;
}

size_t BUILTIN get_global_id(uint d)
{
    return get_group_id(d) * get_enqueued_local_size(d) + get_global_offset(d) + get_local_id(d);
}

size_t BUILTIN get_local_linear_id(void)
{
    return __ppu_sr(PPU_SR_TID);
}

size_t BUILTIN get_global_linear_id(void)
{
    return ((get_global_id(2) - get_global_offset(2)) * get_global_size(1) + get_global_id(1) - get_global_offset(1)) *
               get_global_size(0) +
           get_global_id(0) - get_global_offset(0);
}
