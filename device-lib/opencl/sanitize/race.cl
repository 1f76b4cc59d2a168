/* SPDX-License-Identifier: MIT */
/* Finds data races and barriers that not all work-items reach. What was done to memory is noted in cells (cell.h). */
#include "nest.h"

/* ---- data races ---- */

/* Who this is, when, and where in the source; `when`: barriers passed, and kernels enqueued (ppu/sanitizer.h). */
INLINE ulong self(uint format, uint when)
{
    return (ulong)work_item_number() << PPU_SANITIZER_NOTE_ID | (ulong)when << PPU_SANITIZER_NOTE_WHEN | (format + 1);
}

/* True when nothing in their kernel orders what the other did before what this one does now. */
INLINE bool is_apart(ulong other, ulong me)
{
    ulong differs = other ^ me;

    return other != 0 && differs >> PPU_SANITIZER_NOTE_ID != 0 &&
           (differs >> PPU_SANITIZER_NOTE_GROUP != 0 ||
            (differs >> PPU_SANITIZER_NOTE_BARRIERS & PPU_SANITIZER_EPOCHS) == 0);
}

/* The same, also of what is enqueued. */
INLINE bool is_unordered(cells_t all, ulong other, ulong me)
{
    return is_apart(other, me) && !is_nest_ordered(all, other, me);
}

/* The same for two work-items of a group between the same barriers: who is ordered with the one is with the other. */
INLINE bool is_beside(ulong other, ulong me)
{
    ulong differs = other ^ me;

    return differs >> PPU_SANITIZER_NOTE_GROUP == 0 && (differs & 0xffff0000u) == 0;
}

/* One that has learned of others by an atomic operation or a fence may know that they are done. */
INLINE bool has_acquired(void)
{
    cells_t all = cells();
    uint group = group_cell(all);

    return group == NO_CELL || all->write[group] != 0;
}

INLINE void report_race(uint format, ulong address, ulong value, ulong other)
{
    global uint *words = has_acquired() ? 0 : record_begin(format);

    if (words != 0) {
        put_report(words, address, 0, 0, value);
        words[PPU_SANITIZER_OTHER_FORMAT] = (uint)other & PPU_SANITIZER_FORMATS;
        put_other(words, (uint)(other >> PPU_SANITIZER_NOTE_GROUP),
                  (uint)(other >> PPU_SANITIZER_NOTE_ID) & PPU_SANITIZER_IDS);
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

INLINE bool can_tell(uint format, uint when)
{
    return format < PPU_SANITIZER_FORMATS && barriers_of(when) < PPU_SANITIZER_EPOCHS &&
           group_number() < PPU_SANITIZER_GROUPS;
}

/* The cell of a place in memory; NO_CELL: what is done there cannot be told, or there is no room. */
INLINE uint cell_at(cells_t all, uint format, ulong address, uint width_log2, uint what, uint when)
{
    return can_tell(format, when) ? cell_of(all, memory_key(address, width_log2, what), width_log2) : NO_CELL;
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
    if (is_apart(before, me)) {
        exchange(other, before);
    }
}

/* One of two notes that nothing orders with what this work-item does; else one that something does, or 0. */
INLINE ulong unordered_of(cells_t all, global ulong *last, global ulong *other, ulong me)
{
    ulong found = load64(last);

    return is_unordered(all, found, me) ? found : load64(other);
}

/* `other`, when nothing orders it; else such a load, if the kernel notes any. */
INLINE ulong unordered_read(cells_t all, uint cell, ulong other, ulong me, uint what)
{
    if ((what & PPU_SANITIZER_NOTE_READS) == 0 || is_unordered(all, other, me)) {
        return other;
    }
    return unordered_of(all, &all->read[cell], &all->other_read[cell], me);
}

/* The same of an atomic operation. */
INLINE ulong unordered_update(cells_t all, uint cell, ulong other, ulong me, uint what)
{
    if ((what & PPU_SANITIZER_NOTE_UPDATES) == 0 || is_unordered(all, other, me)) {
        return other;
    }
    return unordered_of(all, &all->update[cell], &all->other_update[cell], me);
}

void CALLED __ppu_sanitizer_reads(uint format, ulong address, uint width_log2, uint what, uint when)
{
    cells_t all = cells();
    ulong me = self(format, when);
    uint cell = cell_at(all, format, address, width_log2, what, when);

    if (cell == NO_CELL) {
        return;
    }
    note(&all->read[cell], &all->other_read[cell], me);
    ulong other = unordered_update(all, cell, load64(&all->write[cell]), me, what);
    if (is_unordered(all, other, me)) {
        report_race(format, address, 0, other);
    }
}

void CALLED __ppu_sanitizer_writes(uint format, ulong address, uint width_log2, uint what, uint when, ulong value)
{
    cells_t all = cells();
    ulong me = self(format, when);
    uint cell = cell_at(all, format, address, width_log2, what, when);

    if (cell == NO_CELL) {
        return;
    }
    ulong other = load64(&all->write[cell]) != me ? exchange(&all->write[cell], me) : 0;
    other = unordered_read(all, cell, other, me, what);
    other = unordered_update(all, cell, other, me, what);
    if (is_unordered(all, other, me)) {
        report_race(format, address, value, other);
    }
}

/* An atomic operation that writes: it races with plain accesses alone. */
void CALLED __ppu_sanitizer_updates(uint format, ulong address, uint width_log2, uint what, uint when, ulong value)
{
    cells_t all = cells();
    ulong me = self(format, when);
    uint cell = cell_at(all, format, address, width_log2, what, when);

    if (cell == NO_CELL) {
        return;
    }
    note(&all->update[cell], &all->other_update[cell], me);
    ulong other = unordered_read(all, cell, load64(&all->write[cell]), me, what);
    if (is_unordered(all, other, me)) {
        report_race(format, address, value, other);
    }
}

/* An atomic load: it races with plain stores alone, and is not noted, as atomic operations would be taken for others. */
void CALLED __ppu_sanitizer_looks(uint format, ulong address, uint width_log2, uint what, uint when)
{
    cells_t all = cells();
    ulong me = self(format, when);
    uint cell = cell_at(all, format, address, width_log2, what, when);
    ulong other = cell != NO_CELL ? load64(&all->write[cell]) : 0;

    if (is_unordered(all, other, me)) {
        report_race(format, address, 0, other);
    }
}

void CALLED __ppu_sanitizer_acquires(void)
{
    cells_t all = cells();
    uint group = group_cell(all);

    if (group != NO_CELL && all->write[group] == 0) {
        exchange(&all->write[group], 1);
        all->acquired = 1;
    }
}

/* ---- barriers ---- */

INLINE uint barrier_cell(cells_t all, uint epoch)
{
    return epoch < PPU_SANITIZER_EPOCHS
               ? cell_of(all, PPU_SANITIZER_KEY_BARRIER | (ulong)(epoch & 1) << 32 | group_number(), 0)
               : NO_CELL;
}

/* Before a barrier: counts who comes to it, and from where. */
void CALLED __ppu_sanitizer_arrives(uint format, uint when)
{
    const uint epoch = barriers_of(when);
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
void CALLED __ppu_sanitizer_passes(uint format, uint when)
{
    const uint epoch = barriers_of(when);
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

/* ---- what a whole sub-group comes to ---- */

INLINE uint active_lanes(void)
{
    return __builtin_popcount(__ppu_active(0)) + __builtin_popcount(__ppu_active(1)) +
           __builtin_popcount(__ppu_active(2)) + __builtin_popcount(__ppu_active(3));
}

/* Behind it: all that live have come. */
void CALLED __attribute__((convergent)) __ppu_sanitizer_met(uint format)
{
    const uint wave = __ppu_sr(PPU_SR_WAVE), left = work_items() - __ppu_sr(PPU_SR_WARP) * wave;
    const uint size = left < wave ? left : wave, came = active_lanes();
    cells_t all = cells();
    const uint group = came < size ? group_cell(all) : NO_CELL;

    if (group != NO_CELL && exchange(&all->read[group], 1) == 0) { /* what comes later is a consequence */
        report(format, came, 0, size, 0);
    }
}
