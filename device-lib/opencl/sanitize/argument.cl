/* SPDX-License-Identifier: MIT */
/* Compares arguments of built-in functions among the work-items that call them: compiler/irpass/sanitize/argument.c. */
#include "cell.h"
#include "ppu/pipe.h"
#include "ppu/surface.h"

typedef constant struct ppu_surface *surface_t;

/* The cell of a value that the whole group must agree about. */
INLINE uint call_cell(cells_t all, uint call)
{
    return call < PPU_SANITIZER_CALLS && group_number() < PPU_SANITIZER_CALL_GROUPS
               ? cell_of(all, PPU_SANITIZER_KEY_CALL | (ulong)call << 24 | group_number(), 0)
               : NO_CELL;
}

/* Who has come first, when it has noted that already. */
INLINE void put_other(global uint *words, ulong other)
{
    const uint tid = (uint)(other >> 32), x = __ppu_sr(PPU_SR_SIZE_X), y = __ppu_sr(PPU_SR_SIZE_Y);

    words[PPU_SANITIZER_OTHER_FORMAT] = (uint)other;
    words[PPU_SANITIZER_OTHER_LOCAL_ID] = tid % x;
    words[PPU_SANITIZER_OTHER_LOCAL_ID + 1] = tid / x % y;
    words[PPU_SANITIZER_OTHER_LOCAL_ID + 2] = tid / x / y;
    words[PPU_SANITIZER_OTHER_GROUP_ID] = __ppu_sr(PPU_SR_CTA_X);
    words[PPU_SANITIZER_OTHER_GROUP_ID + 1] = __ppu_sr(PPU_SR_CTA_Y);
    words[PPU_SANITIZER_OTHER_GROUP_ID + 2] = __ppu_sr(PPU_SR_CTA_Z);
}

/*
 * `call`: values that this work-item has compared before. The first to come leaves its value, turned so that none is
 * 0, and then who it is. So two values are taken for the same, and no other is for a different one.
 */
void CALLED __ppu_sanitizer_agrees(uint format, uint call, ulong value)
{
    cells_t all = cells();
    const uint cell = call_cell(all, call);
    const ulong mine = ~value != 0 ? ~value : 1;
    ulong first = cell != NO_CELL ? load64(&all->read[cell]) : mine;

    if (first == 0) {
        __opencl_atomic_compare_exchange_strong((volatile global atomic_ulong *)&all->read[cell], &first, mine,
                                                memory_order_relaxed, memory_order_relaxed, memory_scope_device);
        if (first == 0) {
            exchange(&all->write[cell], (ulong)__ppu_sr(PPU_SR_TID) << 32 | (format + 1));
            return;
        }
    }
    if (first != mine) {
        global uint *words = record_begin(format);
        if (words != 0) {
            put_report(words, value, ~first, 0, 0);
            put_other(words, load64(&all->write[cell]));
        }
    }
}

#define LANE_BITS 7u /* of PPU_MAX_WAVE */

/* True when all work-items that are together give the same lane. */
INLINE bool is_same_lane(uint lane)
{
    bool same = true;

#pragma unroll
    for (uint i = 0; i < LANE_BITS; i++) {
        const bool bit = (lane >> i & 1) != 0;
        same &= __ppu_vote_all(bit) == __ppu_vote_any(bit);
    }
    return same;
}

/* `lane`: of whom a sub-group is given the value. */
void CALLED __attribute__((convergent)) __ppu_sanitizer_lane(uint format, uint lane)
{
    const uint wave = __ppu_sr(PPU_SR_WAVE), left = work_items() - __ppu_sr(PPU_SR_WARP) * wave;
    const uint size = left < wave ? left : wave;

    if (!is_same_lane(lane) || lane >= size) {
        report(format, lane, size, 0, 0);
    }
}

/* ---- pipes ---- */

/* True when the cell was taken from its order by a reservation that nobody has committed (device-lib/opencl/pipe.cl). */
INLINE bool is_reserved(global struct ppu_pipe *ring, uint cell, bool reads)
{
    volatile global atomic_uint *at = (volatile global atomic_uint *)(ring + 1) + cell;
    const uint state = __opencl_atomic_load(at, memory_order_relaxed, memory_scope_device), turn = state / 2;
    const ulong next = load64(reads ? &ring->read : &ring->write);

    return state == (reads ? PPU_PIPE_FULL(turn) : PPU_PIPE_FREE(turn)) && ((ulong)turn << 32 | cell) < next;
}

void CALLED __ppu_sanitizer_reservation(uint format, global struct ppu_pipe *ring, ulong id, uint reads)
{
    if (id == PPU_PIPE_NO_RESERVATION || (uint)id >= ring->packets || !is_reserved(ring, (uint)id, reads != 0)) {
        report(format, id, 0, 0, 0);
    }
}

/* ---- images ---- */

/* Three types of each kind of integers follow one another (CL_SIGNED_INT8 ... CL_UNSIGNED_INT32). */
#define SIGNED_CHANNELS 0x10d7u
#define UNSIGNED_CHANNELS 0x10dau
#define CHANNEL_WIDTHS 3u

void CALLED __ppu_sanitizer_channels(uint format, surface_t surface, uint wanted)
{
    const uint type = surface->type;
    const uint found = type - SIGNED_CHANNELS < CHANNEL_WIDTHS     ? PPU_SANITIZER_SIGNED_CHANNELS
                       : type - UNSIGNED_CHANNELS < CHANNEL_WIDTHS ? PPU_SANITIZER_UNSIGNED_CHANNELS
                                                                   : PPU_SANITIZER_FLOATS;

    if (found != wanted) {
        report(format, type, 0, 0, 0);
    }
}

INLINE void report_coordinate(uint format, int c, uint size)
{
    report(format, (ulong)(long)c, size, 0, 0);
}

/* A sampler with an address mode says what is outside. */
void CALLED __ppu_sanitizer_texel(uint format, surface_t surface, ulong sampler, int x, int y, int z)
{
    if ((sampler & PPU_SAMPLER_ADDRESS) != 0) {
        return;
    }
    if ((uint)x >= surface->width) {
        report_coordinate(format, x, surface->width);
    } else if ((uint)y >= surface->height) {
        report_coordinate(format, y, surface->height);
    } else if ((uint)z >= surface->depth) {
        report_coordinate(format, z, surface->depth);
    }
}
