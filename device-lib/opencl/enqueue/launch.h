/* SPDX-License-Identifier: MIT */
/* Describes what a task is launched with: index space, parameters, private memory; and the errors of that. */
#ifndef DEVICE_LIB_OPENCL_ENQUEUE_LAUNCH_H
#define DEVICE_LIB_OPENCL_ENQUEUE_LAUNCH_H

#include "heap.h"
#include "ppu/limits.h"
#include "record.h"

/* As clang lays out ndrange_t. */
struct range {
    uint dim;
    size_t offset[3], global_size[3], local_size[3];
};

#define SAYS_WHY 0x80000000u /* the program was built with -g: errors are told apart */
#define ERROR_FAILURE (-101) /* CLK_ENQUEUE_FAILURE ... */
#define ERROR_QUEUE (-102)
#define ERROR_RANGE (-160)
#define ERROR_EVENTS (-57)
#define ERROR_FULL (-161)
#define ERROR_SIZE (-51)
#define ERROR_EVENT (-100)
#define ERROR_RESOURCES (-5)
#define LOCAL_ALIGN 128u        /* of shared memory arguments, as the host gives them */
#define LOCAL_WORK_GROUPS 8u    /* work-groups of a task that have private memory in use at once, at most */
#define PRIVATE_MOST (1u << 29) /* bytes of them, where one does not need more */
#define RECORD_SHARE 4u         /* of its part of the heap, a record keeps one in so many bytes at most */
#define GOOD_GROUP 256u

typedef global struct ppu_device_queue *device_queue_t;

INLINE int told(int error, uint flags)
{
    return error == 0 || (flags & SAYS_WHY) != 0 ? error : ERROR_FAILURE;
}

/* ---- index space ---- */

INLINE uint max_work_group(global struct ppu_enqueue *shared, constant struct ppu_child *child)
{
    uint wave = child->tmd.wave;
    uint warps = shared->sm_vregs / ppu_warp_vregs(wave, child->tmd.vregs, child->tmd.shared_vregs);
    uint most = min(warps * wave, shared->sm_lanes);

    return min(most, (uint)PPU_MAX_CTA_THREADS) / wave * wave;
}

/* A divisor of `n` that is large and at most `most`. */
INLINE uint choose_work_group(uint n, uint most)
{
    if (n <= most) {
        return n;
    }
    uint size = min(most, GOOD_GROUP);
    while (n % size != 0) {
        size--;
    }
    return size;
}

/* False: the range cannot be. */
INLINE bool set_space(global struct ppu_tmd *tmd, const private struct range *range, uint most)
{
    bool chosen = range->local_size[0] == 0, good = range->dim >= 1 && range->dim <= 3;
    uint threads = 1;

#pragma unroll
    for (uint i = 0; i < 3; i++) {
        bool used = i < range->dim;
        ulong items = used ? range->global_size[i] : 1, work_group = used ? range->local_size[i] : 1;
        uint n = (uint)items, size = chosen ? choose_work_group(n, most / threads) : (uint)work_group;
        good = good && items >> 32 == 0 && work_group >> 32 == 0 && n != 0 && size != 0 && size <= most / threads;
        if (good) {
            const uint left = n % size, groups = n / size + (left != 0);
            tmd->cta[i] = (ushort)size;
            tmd->edge[i] = (ushort)left;
            tmd->grid[i] = groups;
            threads *= size;
            good = groups <= (i == 0 ? PPU_MAX_GRID_X : PPU_MAX_GRID_YZ);
        }
    }
    return good;
}

INLINE uint work_items(global struct ppu_tmd *tmd)
{
    uint items = 1;

    for (uint i = 0; i < 3; i++) {
        items *= (tmd->grid[i] - 1) * tmd->cta[i] + ppu_tmd_last((const struct ppu_tmd *)tmd, i);
    }
    return items;
}

/* Sets what flags of enqueue_kernel say about when the task starts. */
INLINE void set_urgency(global struct ppu_tmd *tmd, uint flags)
{
    uint priority = flags >> PPU_ENQUEUE_PRIORITY_SHIFT & PPU_ENQUEUE_PRIORITY_MASK;

    tmd->flags |= (flags & PPU_ENQUEUE_HEAD) != 0 ? PPU_TMD_HEAD : 0;
    if (priority != 0) {
        tmd->priority = min(priority - 1, PPU_PRIORITIES - 1);
    }
}

/* ---- parameters ---- */

/* Where the block lies behind the parameters. */
INLINE uint block_at(constant struct ppu_child *child, uint locals)
{
    uint bytes = child->implicit_at != 0 ? child->tmd.param_bytes : 8 + 8 * locals;

    return (bytes + 15u) / 16u * 16u + sizeof(struct ppu_child_head);
}

/* The implicit arguments that are the launch's own. */
INLINE void put_range(global uchar *param, uint at, const private struct range *range)
{
    for (uint i = 0; i < 3 && at != 0; i++) {
        put64(param, at + LAUNCH_GLOBAL_OFFSET(i), i < range->dim ? range->offset[i] : 0);
    }
    if (at != 0) {
        *(global uint *)(param + at + LAUNCH_WORK_DIM) = range->dim; /* alone: other words follow */
    }
}

/* Shared memory arguments; bytes of shared memory a work-group, UINT_MAX: a size is 0 or too large. */
INLINE uint put_locals(global uchar *param, uint shared, uint locals, const private ulong *sizes)
{
    for (uint i = 0; i < locals; i++) {
        shared = shared > 0 ? (shared + LOCAL_ALIGN - 1) / LOCAL_ALIGN * LOCAL_ALIGN : LOCAL_ALIGN;
        if (sizes[i] == 0 || sizes[i] > PPU_MAX_SHARED || shared > PPU_MAX_SHARED) {
            return UINT_MAX;
        }
        put64(param, 8 + 8 * i, shared);
        shared += (uint)sizes[i];
    }
    return shared;
}

/* Bytes of private memory of a work-group of the task. */
INLINE uint work_group_private(global struct ppu_tmd *tmd)
{
    uint wave = tmd->wave, threads = ppu_tmd_threads((const struct ppu_tmd *)tmd);

    return (threads + wave - 1) / wave * wave * tmd->local_bytes;
}

/* Bytes of private memory of the work-groups that may run at once: of fewer than wanted when that is very much. */
INLINE uint task_private(global struct ppu_tmd *tmd)
{
    const uint one = work_group_private(tmd), most = one != 0 ? max(PRIVATE_MOST / one, 1u) : 0;

    return one * min(min(tmd->grid[0], LOCAL_WORK_GROUPS), most);
}

/* True when all records could keep so much and leave half of the heap: else it is given back when the task ends. */
INLINE bool may_stay(global struct ppu_nest *nest, uint bytes)
{
    return bytes <= ((global struct ppu_heap *)nest->heap_va)->bytes / nest->tasks / RECORD_SHARE;
}

/*
 * Private memory that stays with the record, or, when `*behind` is not 0, so many bytes that the task needs behind its
 * block. False: there is none.
 */
INLINE bool set_private(global struct ppu_nest *nest, record_t record, private uint *behind)
{
    global struct ppu_tmd *tmd = &record->tmd;
    const uint one = work_group_private(tmd);

    *behind = 0;
    if (one == 0) {
        return true;
    }
    if (record->local_va == 0 || record->local_size < one) {
        const uint all = task_private(tmd);
        if (!may_stay(nest, all)) {
            *behind = all;
            return true;
        }
        if (record->local_va != 0) {
            heap_give(nest, record->local_va);
        }
        record->local_size = all;
        record->local_va = heap_take(nest, all);
    }
    tmd->local_va = record->local_va;
    tmd->local_size = record->local_size;
    return record->local_va != 0;
}

#endif
