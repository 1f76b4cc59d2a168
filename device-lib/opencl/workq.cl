/* SPDX-License-Identifier: MIT */
/* Puts work into work queues by threads (ppu/workq.h; as device-lib/asm/workq.s does). */
#include "enqueue/launch.h"
#include "ppu/workq.h"

#define RESERVED 2u /* entries: the launch, and the acquire behind it */
#define LOOKS 64u   /* at a queue that is full, before the thread gives up */
#define BLOCK_HEAD 0x00100001u
#define LAUNCH_METHOD 0x00030004u
#define ACQUIRE_METHOD 0x00040001u

typedef global struct ppu_workq_head *work_queue_t;

INLINE bool reserve(work_queue_t queue, uint *first)
{
    uint period = queue->period;

    for (uint looks = LOOKS; looks != 0;) {
        uint put = load(&queue->soft_put); /* and only then shadow_put: else what is free may seem more than it is */
        if (ppu_workq_distance(put, load(&queue->shadow_put), period) < RESERVED) {
            uint stall = load(&queue->stall);
            looks = stall == PPU_WORKQ_AT_X || stall == PPU_WORKQ_ENDED ? 0 : looks - 1;
        } else if (replace(&queue->soft_put, put, ppu_workq_add(put, RESERVED, period))) {
            *first = put;
            return true;
        }
    }
    return false;
}

INLINE uint entry_of(work_queue_t queue, uint counter)
{
    return counter % queue->entries;
}

INLINE global uint *block_of(work_queue_t queue, uint entry)
{
    return (global uint *)((ulong)queue + queue->block_at + (ulong)entry * queue->block_bytes);
}

INLINE ulong sem_of(work_queue_t queue, uint entry)
{
    return (ulong)queue + queue->sem_at + (ulong)entry * sizeof(struct ppu_sem);
}

/* The entry points to its block of so many words. */
INLINE void point(work_queue_t queue, uint entry, uint words)
{
    global uint *block = block_of(queue, entry);

    block[0] = BLOCK_HEAD;
    block[1] = words;
    block[2] = block[3] = 0;
    ((global ulong *)((ulong)queue + queue->ring_at))[entry] = (ulong)block | (ulong)words << 48;
}

INLINE void publish(work_queue_t queue, uint first)
{
    uint last = entry_of(queue, ppu_workq_add(first, RESERVED - 1, queue->period));
    global uint *block = block_of(queue, last);
    ulong sem = sem_of(queue, last);

    block[4] = ACQUIRE_METHOD;
    block[5] = (uint)sem;
    block[6] = (uint)(sem >> 32);
    block[7] = 1;
    block[8] = PPU_SEM_EQUAL;
    point(queue, last, 9);
    __ppu_fence(PPU_ORDER_RELEASE, PPU_SCOPE_OF_DEVICE);
    __ppu_release(sem_of(queue, entry_of(queue, ppu_workq_add(first, queue->period - 1, queue->period))), 1);
}

/* The queue's work begins when the kernel that makes it has ended; it is in no stream, and has no private memory. */
int LIBRARY __ppu_enqueue_work(device_queue_t given, uint flags, const private struct range *range,
                               constant struct ppu_child *child, const private uchar *block, uint bytes, uint locals,
                               const private ulong *sizes)
{
    work_queue_t queue = (work_queue_t)given;
    record_t own = own_record();
    uint first = 0, used;

    if (own == 0 || nest_of(own)->enqueue_va == 0 || queue == 0 || queue->head.size_bytes != sizeof(*queue)) {
        return told(ERROR_QUEUE, flags);
    }
    if (child->tmd.local_bytes != 0 || block_at(child, locals) > PPU_CHILD_WORK_BYTES - PPU_CHILD_WORK_PARAM) {
        return told(ERROR_RESOURCES, flags);
    }
    global struct ppu_nest *nest = nest_of(own);
    ulong head = heap_take(nest, sizeof(struct ppu_child_head) + max(bytes, 4u));
    if (head == 0) {
        return told(ERROR_RESOURCES, flags);
    }
    if (!reserve(queue, &first)) {
        heap_give(nest, head);
        return told(ERROR_FULL, flags);
    }
    uint entry = entry_of(queue, first);
    global uint *at = block_of(queue, entry);
    global struct ppu_tmd *tmd = (global struct ppu_tmd *)((ulong)at + PPU_CHILD_WORK_TMD);
    global uchar *param = (global uchar *)at + PPU_CHILD_WORK_PARAM;
    int error = 0;

    copy_task(tmd, child);
    tmd->flags |= (flags & PPU_ENQUEUE_HEAD) != 0 ? PPU_TMD_HEAD : 0;
    if (!set_space(tmd, range, max_group(enqueue_of(own), child))) {
        error = ERROR_RANGE;
    }
    used = put_locals(param, child->tmd.shared_bytes, locals, sizes);
    if (used == UINT_MAX) {
        error = ERROR_SIZE;
    } else if (used > enqueue_of(own)->sm_shared || used > PPU_MAX_SHARED) {
        error = ERROR_RESOURCES;
    }
    put64(param, 0, head + sizeof(struct ppu_child_head));
    put_facts(param, child);
    put_range(param, child->launch_at, range);
    tmd->shared_bytes = used;
    tmd->param_va = (ulong)param;
    tmd->param_bytes = block_at(child, locals) - sizeof(struct ppu_child_head);
    ((global ulong *)head)[0] = 0;
    ((global ulong *)head)[1] = nest->heap_va;
    __builtin_memcpy((global uchar *)head + sizeof(struct ppu_child_head), block, bytes);
    ((global uint *)head)[4] = tmd->grid[0] * tmd->grid[1] * tmd->grid[2] * tmd->cta[0] * tmd->cta[1] * tmd->cta[2];
    at[4] = LAUNCH_METHOD;
    at[5] = (uint)(ulong)tmd;
    at[6] = (uint)((ulong)tmd >> 32);
    at[7] = PPU_STREAM_NONE;
    /* What was reserved must be published: after an error, as a block of nothing. */
    point(queue, entry, error == 0 ? 8 : 4);
    publish(queue, first);
    if (error != 0) {
        heap_give(nest, head);
    }
    return told(error, flags);
}
