/* SPDX-License-Identifier: MIT */
/* Finds data races and barriers that not all work-items reach. What was done to memory is noted in cells (cell.h). */
#include "cell.h"

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

/* The same for two work-items of a group between the same barriers: who is ordered with the one is with the other. */
INLINE bool is_beside(ulong other, ulong me)
{
    ulong differs = other ^ me;

    return differs >> 42 == 0 && (differs >> 20 & 0xfff) == 0;
}

/* One that has learned of others by an atomic operation or a fence may know that they are done. */
INLINE bool has_acquired(void)
{
    cells_t all = cells();
    uint group = group_cell(all);

    return group == NO_CELL || all->write[group] != 0;
}

/* Threads of a group along a dimension: the last one may have fewer. */
INLINE uint group_size(uint group, uint groups, uint whole, uint last)
{
    return group + 1 == groups ? last : whole;
}

INLINE void put_other(global uint *words, uint number, uint tid)
{
    const uint groups_x = __ppu_sr(PPU_SR_NCTA_X), groups_y = __ppu_sr(PPU_SR_NCTA_Y);
    const uint group_x = number % groups_x, group_y = number / groups_x % groups_y;
    const uint x = group_size(group_x, groups_x, __ppu_sr(PPU_SR_NTID_X), __ppu_sr(PPU_SR_LAST_X));
    const uint y = group_size(group_y, groups_y, __ppu_sr(PPU_SR_NTID_Y), __ppu_sr(PPU_SR_LAST_Y));

    words[PPU_SANITIZER_OTHER_LOCAL_ID] = tid % x;
    words[PPU_SANITIZER_OTHER_LOCAL_ID + 1] = tid / x % y;
    words[PPU_SANITIZER_OTHER_LOCAL_ID + 2] = tid / x / y;
    words[PPU_SANITIZER_OTHER_GROUP_ID] = group_x;
    words[PPU_SANITIZER_OTHER_GROUP_ID + 1] = group_y;
    words[PPU_SANITIZER_OTHER_GROUP_ID + 2] = number / groups_x / groups_y;
}

INLINE void report_race(uint format, ulong address, ulong value, ulong other)
{
    global uint *words = has_acquired() ? 0 : record_begin(format);

    if (words != 0) {
        put_report(words, address, 0, 0, value);
        words[PPU_SANITIZER_OTHER_FORMAT] = (uint)other & 0xfffff;
        put_other(words, (uint)(other >> 42), (uint)(other >> 32) & 0x3ff);
    }
}

/* Local memory is another one for each group. */
INLINE ulong memory_key(ulong address, uint width_log2, uint what)
{
    ulong width = (ulong)width_log2 << 56;

    return (what & PPU_SANITIZER_NOTE_LOCAL) != 0
               ? PPU_SANITIZER_KEY_LOCAL | width | (ulong)group_number() << 20 | (address & 0xfffff)
               : PPU_SANITIZER_KEY_GLOBAL | width | address;
}

INLINE bool can_tell(uint format, uint epoch)
{
    return format < 0xfffff && epoch < PPU_SANITIZER_EPOCHS && group_number() < 1u << 22;
}

/* The cell of a place in memory; NO_CELL: what is done there cannot be told, or there is no room. */
INLINE uint cell_at(cells_t all, uint format, ulong address, uint width_log2, uint what, uint epoch)
{
    return can_tell(format, epoch) ? cell_of(all, memory_key(address, width_log2, what), width_log2) : NO_CELL;
}

/*
 * Notes who is the last to do something, and keeps one before that it is not ordered with. Two work-items that are
 * beside this one are enough: who races with this one races with one of them.
 */
INLINE void note(global ulong *last, global ulong *other, ulong me)
{
    ulong before = load64(last);

    if (before == me) {
        return;
    }
    if (is_beside(before, me)) {
        ulong two = load64(other);
        if (is_beside(two, me) && (two ^ before) >> 32 != 0) {
            return;
        }
    }
    before = exchange(last, me);
    if (is_unordered(before, me)) {
        exchange(other, before);
    }
}

/* One of two notes that nothing orders with what this work-item does; else one that something does, or 0. */
INLINE ulong unordered_of(global ulong *last, global ulong *other, ulong me)
{
    ulong found = load64(last);

    return is_unordered(found, me) ? found : load64(other);
}

/* `other`, when nothing orders it; else such a load, if the kernel notes any. */
INLINE ulong unordered_read(cells_t all, uint cell, ulong other, ulong me, uint what)
{
    if ((what & PPU_SANITIZER_NOTE_READS) == 0 || is_unordered(other, me)) {
        return other;
    }
    return unordered_of(&all->read[cell], &all->other_read[cell], me);
}

/* The same of an atomic operation. */
INLINE ulong unordered_update(cells_t all, uint cell, ulong other, ulong me, uint what)
{
    if ((what & PPU_SANITIZER_NOTE_UPDATES) == 0 || is_unordered(other, me)) {
        return other;
    }
    return unordered_of(&all->update[cell], &all->other_update[cell], me);
}

void CALLED __ppu_sanitizer_reads(uint format, ulong address, uint width_log2, uint what, uint epoch)
{
    cells_t all = cells();
    ulong me = self(format, epoch);
    uint cell = cell_at(all, format, address, width_log2, what, epoch);

    if (cell == NO_CELL) {
        return;
    }
    note(&all->read[cell], &all->other_read[cell], me);
    ulong other = unordered_update(all, cell, load64(&all->write[cell]), me, what);
    if (is_unordered(other, me)) {
        report_race(format, address, 0, other);
    }
}

void CALLED __ppu_sanitizer_writes(uint format, ulong address, uint width_log2, uint what, uint epoch, ulong value)
{
    cells_t all = cells();
    ulong me = self(format, epoch);
    uint cell = cell_at(all, format, address, width_log2, what, epoch);

    if (cell == NO_CELL) {
        return;
    }
    ulong other = load64(&all->write[cell]) != me ? exchange(&all->write[cell], me) : 0;
    other = unordered_read(all, cell, other, me, what);
    other = unordered_update(all, cell, other, me, what);
    if (is_unordered(other, me)) {
        report_race(format, address, value, other);
    }
}

/* An atomic operation that writes: it races with plain accesses alone. */
void CALLED __ppu_sanitizer_updates(uint format, ulong address, uint width_log2, uint what, uint epoch, ulong value)
{
    cells_t all = cells();
    ulong me = self(format, epoch);
    uint cell = cell_at(all, format, address, width_log2, what, epoch);

    if (cell == NO_CELL) {
        return;
    }
    note(&all->update[cell], &all->other_update[cell], me);
    ulong other = unordered_read(all, cell, load64(&all->write[cell]), me, what);
    if (is_unordered(other, me)) {
        report_race(format, address, value, other);
    }
}

/* An atomic load: it races with plain stores alone, and is not noted, as atomic operations would be taken for others. */
void CALLED __ppu_sanitizer_looks(uint format, ulong address, uint width_log2, uint what, uint epoch)
{
    cells_t all = cells();
    ulong me = self(format, epoch);
    uint cell = cell_at(all, format, address, width_log2, what, epoch);
    ulong other = cell != NO_CELL ? load64(&all->write[cell]) : 0;

    if (is_unordered(other, me)) {
        report_race(format, address, 0, other);
    }
}

void CALLED __ppu_sanitizer_acquires(void)
{
    cells_t all = cells();
    uint group = group_cell(all);

    if (group != NO_CELL && all->write[group] == 0) {
        exchange(&all->write[group], 1);
    }
}

/* ---- barriers ---- */

INLINE uint barrier_cell(cells_t all, uint epoch)
{
    return epoch < PPU_SANITIZER_EPOCHS
               ? cell_of(all, PPU_SANITIZER_KEY_BARRIER | (ulong)(epoch & 1) << 32 | group_number(), 0)
               : NO_CELL;
}

/* Before a barrier: counts who comes to it, and from where. `epoch`: barriers that this work-item has passed. */
void CALLED __ppu_sanitizer_arrives(uint format, uint epoch)
{
    cells_t all = cells();
    uint cell = barrier_cell(all, epoch);

    if (cell == NO_CELL) {
        return;
    }
    ulong me = (ulong)(epoch + 1) << 32 | (format + 1);
    ulong other = all->write[cell] != me ? exchange(&all->write[cell], me) : me;
    word_add((global uint *)&all->read[cell], 1);
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
    cells_t all = cells();
    uint cell = barrier_cell(all, epoch);

    if (cell == NO_CELL) {
        return;
    }
    uint due = (epoch / 2 + 1) * work_items(), came = word_add((global uint *)&all->read[cell], 0);
    uint group = came < due ? group_cell(all) : NO_CELL;
    if (group != NO_CELL && exchange(&all->read[group], 1) == 0) { /* what comes later is a consequence */
        report(format, came - epoch / 2 * work_items(), 0, work_items(), 0);
    }
}
