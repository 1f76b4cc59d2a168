/* SPDX-License-Identifier: MIT */
/* Finds data races and barriers as race.cl does, in programs whose kernels enqueue kernels, and numbers these. */
#define NESTED
#include "race.cl"

/* What comes before a task that waits for the event of another. `first`: the first group of that one. */
ulong CALLED __ppu_sanitizer_after(uint first)
{
    cells_t all = cells();
    const uint node = all != 0 && first != 0 ? node_of(all, first) : NO_NODE;

    if (node == NO_NODE) { /* user events, too: whoever sets one may tell anything */
        return PPU_SANITIZER_AFTER_ALL;
    }
    global struct ppu_sanitizer_node *at = &all->node[node];
    const bool same_group = group_of(at->by) == group_number(), same_parent = at->parent == node_of(all, group_number());
    const bool knows_more = at->stream != 0 || (!same_group && at->waited != 0) ||
                            (!same_parent && (at->after & PPU_SANITIZER_AFTER_PARENT) != 0);
    return bit_of(node) | at->after | (knows_more ? PPU_SANITIZER_AFTER_ALL : 0);
}

/* The launch itself is the first node. */
INLINE void begin_nodes(cells_t all)
{
    const struct shape shape = own_shape();
    const ulong groups = (ulong)shape.grid[0] * shape.grid[1] * __ppu_sr(PPU_SR_NCTA_Z);
    ulong none = 0;

    if (groups >= PPU_SANITIZER_GROUPS) {
        return;
    }
    global struct ppu_sanitizer_node *root = &all->node[0];
    root->work_groups = (uint)groups;
    for (uint i = 0; i < 2; i++) {
        root->grid[i] = shape.grid[i];
        root->cta[i] = shape.cta[i];
        root->edge[i] = shape.edge[i];
    }
    __opencl_atomic_compare_exchange_strong((volatile global atomic_ulong *)&all->numbers, &none, 1ul << 32 | groups,
                                            memory_order_relaxed, memory_order_relaxed, memory_scope_device);
}

/*
 * Numbers for a node and its groups; 0: there are none left. A node has so few groups that all the lanes of a device,
 * which may come here together, do not make the lower half overflow.
 */
INLINE ulong take_numbers(cells_t all, uint groups)
{
    ulong had = load64(&all->numbers);

    if (had != 0 && had >> 32 < PPU_SANITIZER_NODES && (uint)had < PPU_SANITIZER_GROUPS) {
        had = __opencl_atomic_fetch_add((volatile global atomic_ulong *)&all->numbers, 1ul << 32 | groups,
                                        memory_order_relaxed, memory_scope_device);
        return had >> 32 < PPU_SANITIZER_NODES && (uint)had + groups <= PPU_SANITIZER_GROUPS ? had : 0;
    }
    return 0;
}

/*
 * A task that is enqueued: makes a node of it. What is returned is the number of its first group, NO_GROUPS when nothing
 * can be told of it. `clock`: CLOCK and when, else it is not known; `tmd`: address of its struct ppu_tmd.
 */
uint CALLED __ppu_sanitizer_enqueues(uint clock, uint waits, uint stream, ulong after, ulong tmd)
{
    cells_t all = cells();
    const global struct ppu_tmd *task = (const global struct ppu_tmd *)tmd;
    const ulong groups = (ulong)task->grid[0] * task->grid[1] * task->grid[2];

    if (all == 0 || groups > PPU_SANITIZER_NODE_GROUPS) {
        return PPU_SANITIZER_NO_GROUPS;
    }
    if (all->numbers == 0) {
        begin_nodes(all);
    }
    const uint parent = node_of(all, group_number());
    const ulong numbers = parent != NO_NODE ? take_numbers(all, (uint)groups) : 0;
    if (numbers == 0) {
        return PPU_SANITIZER_NO_GROUPS;
    }
    global struct ppu_sanitizer_node *node = &all->node[numbers >> 32];
    node->work_groups = (uint)groups;
    node->parent = parent;
    node->by = work_item_number();
    node->when = clock & ~PPU_SANITIZER_CLOCK;
    node->waited = waited_by(all, group_number());
    node->after = after | (waits != 0 ? PPU_SANITIZER_AFTER_PARENT : 0) |
                  ((clock & PPU_SANITIZER_CLOCK) == 0 ? PPU_SANITIZER_AFTER_ALL : 0);
    node->stream = stream;
    for (uint i = 0; i < 2; i++) {
        node->grid[i] = task->grid[i];
        node->cta[i] = task->cta[i];
        node->edge[i] = task->edge[i] != 0 ? task->edge[i] : task->cta[i];
    }
    if (stream != 0) {
        or64(stream_of_node(all, node), bit_of((uint)(numbers >> 32)) | node->after |
                                            (node->waited != 0 ? PPU_SANITIZER_AFTER_LEARNED : 0));
    }
    __opencl_atomic_store((volatile global atomic_uint *)&node->first, (uint)numbers, memory_order_release,
                          memory_scope_device);
    return (uint)numbers;
}

/* Before a work-item waits for what its group has enqueued: how many nodes there are. */
uint CALLED __ppu_sanitizer_waits(void)
{
    cells_t all = cells();

    return all != 0 ? (uint)(load64(&all->numbers) >> 32) : 0;
}

/* Behind that. */
void CALLED __ppu_sanitizer_waited(uint nodes)
{
    cells_t all = cells();
    uint group = nodes != 0 ? group_cell(all) : NO_CELL;

    if (group != NO_CELL) {
        __opencl_atomic_fetch_max((volatile global atomic_uint *)&all->other_update[group], nodes, memory_order_relaxed,
                                  memory_scope_device);
    }
}
