/* SPDX-License-Identifier: MIT */
/*
 * Orders kernels that kernels enqueue (struct ppu_sanitizer_node in ppu/sanitizer.h) with those that enqueue them, and
 * with one another, in programs that do (NESTED). What is not known orders: then nothing is reported.
 */
#ifndef DEVICE_LIB_OPENCL_SANITIZE_NEST_H
#define DEVICE_LIB_OPENCL_SANITIZE_NEST_H

#include "cell.h"

/* Group and id, as notes have them. */
INLINE uint work_item_number(void)
{
    return group_number() << (PPU_SANITIZER_NOTE_GROUP - PPU_SANITIZER_NOTE_ID) | __ppu_sr(PPU_SR_TID);
}

INLINE uint barriers_of(uint when)
{
    return when >> (PPU_SANITIZER_NOTE_BARRIERS - PPU_SANITIZER_NOTE_WHEN);
}

/* Threads of a group along a dimension: the last one may have fewer. */
INLINE uint group_size(uint group, uint groups, uint whole, uint last)
{
    return group + 1 == groups ? last : whole;
}

/* The shape of a grid in x and y. */
struct shape {
    uint first, grid[2], cta[2], edge[2];
};

INLINE struct shape own_shape(void)
{
    return (struct shape){ first_group(),
                           { __ppu_sr(PPU_SR_NCTA_X), __ppu_sr(PPU_SR_NCTA_Y) },
                           { __ppu_sr(PPU_SR_NTID_X), __ppu_sr(PPU_SR_NTID_Y) },
                           { __ppu_sr(PPU_SR_LAST_X), __ppu_sr(PPU_SR_LAST_Y) } };
}

#ifdef NESTED

#define NO_NODE PPU_SANITIZER_NODES
#define STEPS_MOST 64u /* from two nodes to the one above both */

INLINE uint group_of(uint work_item)
{
    return work_item >> (PPU_SANITIZER_NOTE_GROUP - PPU_SANITIZER_NOTE_ID);
}

INLINE ulong bit_of(uint node)
{
    return 1ul << node % PPU_SANITIZER_AFTER_BITS;
}

INLINE void or64(global ulong *at, ulong bits)
{
    __opencl_atomic_fetch_or((volatile global atomic_ulong *)at, bits, memory_order_relaxed, memory_scope_device);
}

/* The node that has the group. NO_NODE: it is not to be found; another thread may be about to write one. */
INLINE uint node_of(cells_t all, uint group)
{
    const uint count = (uint)(load64(&all->numbers) >> 32);
    uint low = 0;

#pragma unroll
    for (uint step = PPU_SANITIZER_NODES / 2; step != 0; step /= 2) {
        uint first = low + step < count ? *(volatile global uint *)&all->node[low + step].first : 0;
        low += first != 0 && first <= group ? step : 0;
    }
    return group - all->node[low].first < all->node[low].work_groups ? low : NO_NODE;
}

INLINE struct shape shape_of(cells_t all, uint group)
{
    struct shape shape = own_shape();
    const uint node = all->numbers != 0 ? node_of(all, group) : NO_NODE;

    if (node != NO_NODE) {
        global struct ppu_sanitizer_node *at = &all->node[node];
        shape = (struct shape){
            at->first, { at->grid[0], at->grid[1] }, { at->cta[0], at->cta[1] }, { at->edge[0], at->edge[1] }
        };
    }
    return shape;
}

INLINE global ulong *stream_of_node(cells_t all, global struct ppu_sanitizer_node *node)
{
    return &all->streams[(node->parent * 31 + node->stream) % PPU_SANITIZER_STREAMS];
}

INLINE bool group_has_acquired(cells_t all, uint group)
{
    uint cell = cell_of_group(all, group);

    return cell == NO_CELL || all->write[cell] != 0;
}

/* Nodes below this number that the group has enqueued have ended, as it has waited for them. */
INLINE uint waited_by(cells_t all, uint group)
{
    uint cell = cell_of_group(all, group);

    return cell == NO_CELL ? NO_NODE : (uint)all->other_update[cell];
}

/* What is known of the way up from a node to one above it, or to its sister. */
struct way {
    uint top;    /* the last node on it */
    ulong bits;  /* of the nodes on it */
    ulong after; /* what comes before some node on it */
    bool acquired;
};

INLINE void go_up(cells_t all, private struct way *way, private uint *node)
{
    global struct ppu_sanitizer_node *at = &all->node[*node];

    way->top = *node;
    way->bits |= bit_of(*node);
    way->after |= at->after | (at->stream != 0 ? *stream_of_node(all, at) : 0);
    way->acquired |= group_has_acquired(all, group_of(at->by));
    *node = at->parent;
}

/* A kernel and one below it: the enqueuing work-item's own acts until then, and its group's before a barrier. */
INLINE bool is_before_child(global struct ppu_sanitizer_node *child, ulong after, ulong other)
{
    const uint who = (uint)(other >> PPU_SANITIZER_NOTE_ID), when = (uint)other >> PPU_SANITIZER_NOTE_WHEN;

    if ((after & PPU_SANITIZER_AFTER_PARENT) != 0) {
        return true;
    }
    if (who == child->by) {
        return when <= child->when;
    }
    return group_of(who) == group_of(child->by) && barriers_of(when) < barriers_of(child->when);
}

/* Two that one kernel has enqueued: by a stream, events, or as the group waited for the one first. */
INLINE bool is_before_sister(cells_t all, const private struct way *other, const private struct way *own)
{
    global struct ppu_sanitizer_node *first = &all->node[other->top], *second = &all->node[own->top];

    return (own->after & (other->bits | PPU_SANITIZER_AFTER_LEARNED)) != 0 ||
           (first->stream != 0 && first->stream == second->stream) ||
           (group_of(first->by) == group_of(second->by) && other->top < second->waited);
}

/* True when what the other noted comes before what this work-item does, by what was enqueued and waited for. */
bool CALLED __ppu_sanitizer_is_nest_ordered(ulong other, ulong me)
{
    cells_t all = cells();
    const uint own_group = (uint)(me >> PPU_SANITIZER_NOTE_GROUP);
    const uint other_group = (uint)(other >> PPU_SANITIZER_NOTE_GROUP);
    struct way own_way = { 0, 0, 0, false }, other_way = { 0, 0, 0, false };

    if (own_group == other_group) { /* the one may have waited for what the other enqueued */
        return waited_by(all, own_group) != 0;
    }
    uint own = node_of(all, own_group), at = node_of(all, other_group);
    if (own == NO_NODE || at == NO_NODE) {
        return true;
    }
    if (own == at) {
        return false;
    }
    for (uint i = 0; i < STEPS_MOST; i++) { /* what is above has a smaller number */
        if (own > at) {
            go_up(all, &own_way, &own);
        } else if (own < at) {
            go_up(all, &other_way, &at);
        }
    }
    const uint waited = waited_by(all, own_group);
    const bool learned = own_way.after != 0 || (own_way.bits != 0 && all->node[own_way.top].waited != 0) || waited != 0;
    if (own != at || (own_way.after & PPU_SANITIZER_AFTER_ALL) != 0 || own_way.acquired ||
        (learned && all->acquired != 0)) {
        return true;
    }
    if (other_way.bits == 0) {
        return is_before_child(&all->node[own_way.top], own_way.after, other);
    }
    if (own_way.bits == 0) {
        return group_of(all->node[other_way.top].by) == own_group && other_way.top < waited;
    }
    return is_before_sister(all, &other_way, &own_way);
}

INLINE bool is_nest_ordered(cells_t all, ulong other, ulong me)
{
    return all->numbers != 0 && __ppu_sanitizer_is_nest_ordered(other, me);
}

#else

INLINE struct shape shape_of(cells_t all, uint group)
{
    return own_shape();
}

INLINE bool is_nest_ordered(cells_t all, ulong other, ulong me)
{
    return false;
}

#endif

/* The work-item of a note, by the group's number and the id in it. */
INLINE void put_other(global uint *words, uint group, uint id)
{
    const struct shape shape = shape_of(cells(), group);
    const uint number = group - shape.first;
    const uint group_x = number % shape.grid[0], group_y = number / shape.grid[0] % shape.grid[1];
    const uint x = group_size(group_x, shape.grid[0], shape.cta[0], shape.edge[0]);
    const uint y = group_size(group_y, shape.grid[1], shape.cta[1], shape.edge[1]);

    words[PPU_SANITIZER_OTHER_LOCAL_ID] = id % x;
    words[PPU_SANITIZER_OTHER_LOCAL_ID + 1] = id / x % y;
    words[PPU_SANITIZER_OTHER_LOCAL_ID + 2] = id / x / y;
    words[PPU_SANITIZER_OTHER_GROUP_ID] = group_x;
    words[PPU_SANITIZER_OTHER_GROUP_ID + 1] = group_y;
    words[PPU_SANITIZER_OTHER_GROUP_ID + 2] = number / shape.grid[0] / shape.grid[1];
}

#endif
