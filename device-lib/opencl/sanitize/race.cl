/* SPDX-License-Identifier: MIT */
/*
 * Finds data races and barriers that not all work-items reach. What was done to memory is noted in cells (struct
 * ppu_sanitizer_cell in ppu/sanitizer.h) behind the launch's printf buffer. A cell that is not to be had means that
 * nothing is reported, never that something wrong is.
 */
#include "report.h"

#define PROBES 4u

typedef global struct ppu_sanitizer_cell *cell_t;

INLINE ulong exchange(global ulong *at, ulong value)
{
    return __opencl_atomic_exchange((volatile global atomic_ulong *)at, value, memory_order_relaxed,
                                    memory_scope_device);
}

/* Two halves that were written at different times would be somebody who never was. */
INLINE ulong load64(global ulong *at)
{
    return __opencl_atomic_load((volatile global atomic_ulong *)at, memory_order_relaxed, memory_scope_device);
}

/* NULL: this launch has none. */
INLINE cell_t cells(void)
{
    if ((__ppu_launch(IMPLICIT_TABLES) & PPU_SANITIZER_HAS_CELLS) == 0) {
        return 0;
    }
    return (cell_t)((global uchar *)ranges() + sizeof(struct ppu_sanitizer_table));
}

/* A key never leaves its cell, and no key is 0. NULL: there is no room. */
INLINE cell_t cell_of(ulong key)
{
    cell_t all = cells();
    uint at = (uint)(key ^ key >> 32) * 0x9e3779b1u >> (32 - PPU_SANITIZER_CELLS_LOG2);

    if (all == 0) {
        return 0;
    }
#pragma unroll
    for (uint i = 0; i < PROBES; i++) {
        cell_t cell = &all[(at + i) & ((1u << PPU_SANITIZER_CELLS_LOG2) - 1)];
        ulong old = cell->key;
        if (old != key) {
            old = 0;
            __opencl_atomic_compare_exchange_strong((volatile global atomic_ulong *)&cell->key, &old, key,
                                                    memory_order_relaxed, memory_order_relaxed, memory_scope_device);
        }
        if (old == key || old == 0) {
            return cell;
        }
    }
    return 0;
}

INLINE uint group_number(void)
{
    return (__ppu_sr(PPU_SR_CTA_Z) * __ppu_sr(PPU_SR_NCTA_Y) + __ppu_sr(PPU_SR_CTA_Y)) * __ppu_sr(PPU_SR_NCTA_X) +
           __ppu_sr(PPU_SR_CTA_X);
}

INLINE ulong group_key(void)
{
    return PPU_SANITIZER_KEY_GROUP | group_number();
}

/* ---- data races ---- */

/* Who this is, when, and where in the source: work-item 32 bits, barriers passed 12, format + 1 20. */
INLINE ulong self(uint format, uint epoch)
{
    return (ulong)(group_number() << 10 | __ppu_sr(PPU_SR_TID)) << 32 | (ulong)epoch << 20 | (format + 1);
}

/* True when nothing orders what the other did before what this one does now. */
INLINE bool is_unordered(ulong other, ulong me)
{
    ulong differs = other ^ me;

    return other != 0 && differs >> 32 != 0 && (differs >> 42 != 0 || (differs >> 20 & 0xfff) == 0);
}

/* One that has learned of others by an atomic operation or a fence may know that they are done. */
INLINE bool has_acquired(void)
{
    cell_t group = cell_of(group_key());

    return group == 0 || group->write != 0;
}

INLINE void report_race(uint format, ulong address, ulong value, ulong other)
{
    uint number = (uint)(other >> 42), tid = (uint)(other >> 32) & 0x3ff;
    uint x = __ppu_sr(PPU_SR_NTID_X), y = __ppu_sr(PPU_SR_NTID_Y);
    uint groups_x = __ppu_sr(PPU_SR_NCTA_X), groups_y = __ppu_sr(PPU_SR_NCTA_Y);
    global uint *words = has_acquired() ? 0 : record_begin(format);

    if (words != 0) {
        put_report(words, address, 0, 0, value);
        words[PPU_SANITIZER_OTHER_FORMAT] = (uint)other & 0xfffff;
        words[PPU_SANITIZER_OTHER_LOCAL_ID] = tid % x;
        words[PPU_SANITIZER_OTHER_LOCAL_ID + 1] = tid / x % y;
        words[PPU_SANITIZER_OTHER_LOCAL_ID + 2] = tid / x / y;
        words[PPU_SANITIZER_OTHER_GROUP_ID] = number % groups_x;
        words[PPU_SANITIZER_OTHER_GROUP_ID + 1] = number / groups_x % groups_y;
        words[PPU_SANITIZER_OTHER_GROUP_ID + 2] = number / groups_x / groups_y;
    }
}

/* Local memory is another one for each group. */
INLINE ulong memory_key(ulong address, uint width_log2, uint is_local)
{
    ulong width = (ulong)width_log2 << 56;

    return is_local ? PPU_SANITIZER_KEY_LOCAL | width | (ulong)group_number() << 20 | (address & 0xfffff)
                    : PPU_SANITIZER_KEY_GLOBAL | width | address;
}

INLINE bool can_tell(uint format, uint epoch)
{
    return format < 0xfffff && epoch < PPU_SANITIZER_EPOCHS && group_number() < 1u << 22;
}

/* The cell of a place in memory; 0: what is done there cannot be told, or there is no room. */
INLINE cell_t cell_at(uint format, ulong address, uint width_log2, uint is_local, uint epoch)
{
    return can_tell(format, epoch) ? cell_of(memory_key(address, width_log2, is_local)) : 0;
}

/* Notes who is the last to do something, and keeps one before that it is not ordered with. */
INLINE void note(global ulong *last, global ulong *other, ulong me)
{
    if (*last != me) {
        ulong before = exchange(last, me);
        if (is_unordered(before, me)) {
            exchange(other, before);
        }
    }
}

/* One of two notes that nothing orders with what this work-item does; else one that something does, or 0. */
INLINE ulong unordered_of(global ulong *last, global ulong *other, ulong me)
{
    ulong found = load64(last);

    return is_unordered(found, me) ? found : load64(other);
}

void CALLED __ppu_sanitizer_reads(uint format, ulong address, uint width_log2, uint is_local, uint epoch)
{
    ulong me = self(format, epoch);
    cell_t cell = cell_at(format, address, width_log2, is_local, epoch);

    if (cell == 0) {
        return;
    }
    note(&cell->read, &cell->other_read, me);
    ulong other = load64(&cell->write);
    if (!is_unordered(other, me)) {
        other = unordered_of(&cell->update, &cell->other_update, me);
    }
    if (is_unordered(other, me)) {
        report_race(format, address, 0, other);
    }
}

void CALLED __ppu_sanitizer_writes(uint format, ulong address, uint width_log2, uint is_local, uint epoch, ulong value)
{
    ulong me = self(format, epoch);
    cell_t cell = cell_at(format, address, width_log2, is_local, epoch);

    if (cell == 0) {
        return;
    }
    ulong other = cell->write != me ? exchange(&cell->write, me) : 0;
    if (!is_unordered(other, me)) {
        other = unordered_of(&cell->read, &cell->other_read, me);
    }
    if (!is_unordered(other, me)) {
        other = unordered_of(&cell->update, &cell->other_update, me);
    }
    if (is_unordered(other, me)) {
        report_race(format, address, value, other);
    }
}

/* An atomic operation that writes: it races with plain accesses alone. */
void CALLED __ppu_sanitizer_updates(uint format, ulong address, uint width_log2, uint is_local, uint epoch, ulong value)
{
    ulong me = self(format, epoch);
    cell_t cell = cell_at(format, address, width_log2, is_local, epoch);

    if (cell == 0) {
        return;
    }
    note(&cell->update, &cell->other_update, me);
    ulong other = load64(&cell->write);
    if (!is_unordered(other, me)) {
        other = unordered_of(&cell->read, &cell->other_read, me);
    }
    if (is_unordered(other, me)) {
        report_race(format, address, value, other);
    }
}

/* An atomic load: it races with plain stores alone, and is not noted, as atomic operations would be taken for others. */
void CALLED __ppu_sanitizer_looks(uint format, ulong address, uint width_log2, uint is_local, uint epoch)
{
    ulong me = self(format, epoch);
    cell_t cell = cell_at(format, address, width_log2, is_local, epoch);
    ulong other = cell != 0 ? load64(&cell->write) : 0;

    if (is_unordered(other, me)) {
        report_race(format, address, 0, other);
    }
}

void CALLED __ppu_sanitizer_acquires(void)
{
    cell_t group = cell_of(group_key());

    if (group != 0 && group->write == 0) {
        exchange(&group->write, 1);
    }
}

/* ---- barriers ---- */

INLINE uint work_items(void)
{
    return __ppu_sr(PPU_SR_SIZE_X) * __ppu_sr(PPU_SR_SIZE_Y) * __ppu_sr(PPU_SR_SIZE_Z);
}

INLINE cell_t barrier_cell(uint epoch)
{
    return cell_of(PPU_SANITIZER_KEY_BARRIER | (ulong)(epoch & 1) << 32 | group_number());
}

/* Before a barrier: counts who comes to it, and from where. `epoch`: barriers that this work-item has passed. */
void CALLED __ppu_sanitizer_arrives(uint format, uint epoch)
{
    cell_t cell = epoch < PPU_SANITIZER_EPOCHS ? barrier_cell(epoch) : 0;

    if (cell == 0) {
        return;
    }
    ulong me = (ulong)(epoch + 1) << 32 | (format + 1);
    ulong other = cell->write != me ? exchange(&cell->write, me) : me;
    word_add((global uint *)&cell->read, 1);
    if (other >> 32 == me >> 32 && (uint)other != (uint)me) {
        global uint *words = record_begin(format);
        if (words != 0) {
            put_report(words, 0, 0, 0, 0);
            words[PPU_SANITIZER_OTHER_FORMAT] = (uint)other;
        }
    }
}

/* Behind it: all work-items of the group should have come. Nobody can have come to the one after the next yet. */
void CALLED __ppu_sanitizer_passes(uint format, uint epoch)
{
    cell_t cell = epoch < PPU_SANITIZER_EPOCHS ? barrier_cell(epoch) : 0;

    if (cell == 0) {
        return;
    }
    uint due = (epoch / 2 + 1) * work_items(), came = word_add((global uint *)&cell->read, 0);
    cell_t group = came < due ? cell_of(group_key()) : 0;
    if (group != 0 && exchange(&group->read, 1) == 0) { /* what comes later of this group is a consequence */
        report(format, came - epoch / 2 * work_items(), 0, work_items(), 0);
    }
}
