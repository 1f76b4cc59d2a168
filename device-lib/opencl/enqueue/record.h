/* SPDX-License-Identifier: MIT */
/*
 * Records of tasks: taking one, filling it, and starting the task.
 *
 * A task that is enqueued is counted at once in the group of the task that enqueues it, so that this one does not
 * complete before it. It starts when `unmet` comes to 0: whoever takes the last one starts it.
 */
#ifndef DEVICE_LIB_OPENCL_ENQUEUE_RECORD_H
#define DEVICE_LIB_OPENCL_ENQUEUE_RECORD_H

#include "ppu/child.h"
#include "ppu/devlib.h"
#include "ppu/nest.h"
#include "primitive.h"
#include "word.h"

typedef global struct ppu_nest_task *record_t;

#define ITSELF PPU_TASK_WAITING /* finisher of a marker: no task has this handle */
#define FAILED_WAIT (-14)       /* status of what waited for something that failed */

/* The kernel that ends events, and what the compiler writes about it. */
extern constant struct ppu_child __ppu_finish_child;

/* ---- where this thread is ---- */

/* NULL: this task cannot launch. */
INLINE record_t own_record(void)
{
    return (record_t)(__ppu_sr(PPU_SR_NEST_LO) | (ulong)__ppu_sr(PPU_SR_NEST_HI) << 32);
}

INLINE global struct ppu_nest *nest_of(record_t record)
{
    return (global struct ppu_nest *)record->nest_va;
}

INLINE global struct ppu_enqueue *enqueue_of(record_t record)
{
    return (global struct ppu_enqueue *)nest_of(record)->enqueue_va;
}

INLINE record_t record_at(global struct ppu_nest *nest, ppu_task_t task)
{
    return (record_t)((ulong)nest + PPU_NEST_TASKS_AT(nest->tasks)) + (PPU_TASK_INDEX(task) - nest->first);
}

INLINE ulong launch64(uint offset)
{
    return __ppu_launch(offset) | (ulong)__ppu_launch(offset + 4) << 32;
}

/* ---- records ---- */

/* 0: all are in use. */
INLINE ppu_task_t take_record(global struct ppu_nest *nest)
{
    global ppu_task_t *ring = (global ppu_task_t *)(nest + 1);

    for (;;) {
        uint head = load(&nest->free_head);
        if (load(&nest->free_tail) == head) {
            return 0;
        }
        ppu_task_t task = *(volatile global ppu_task_t *)&ring[head & (nest->tasks - 1)];
        if (replace(&nest->free_head, head, head + 1)) {
            return task;
        }
    }
}

INLINE void copy_task(global struct ppu_tmd *to, constant struct ppu_child *child)
{
    constant ulong *words = (constant ulong *)&child->tmd;

#pragma nounroll
    for (uint i = 0; i < sizeof(struct ppu_tmd) / 8 - 9; i++) {
        ((global ulong *)to)[i] = words[i];
    }
    to->code_va = launch64(LAUNCH_CODE_VA);
}

INLINE void set_status(record_t record, ppu_task_t task, ppu_task_t parent, uint stream)
{
    record->status.task = task;
    record->status.next_stream = PPU_TASK_NULL;
    record->status.group = parent;
    record->status.stream = stream;
    record->finisher = PPU_TASK_NULL;
    record->failed = 0;
}

INLINE void put64(global uchar *param, uint at, ulong value)
{
    *(global ulong *)(param + at) = value;
}

/* The facts that all tasks of a launch share: as this task has them. */
INLINE void put_facts(global uchar *param, constant struct ppu_child *child)
{
    if (child->launch_at != 0) {
        put64(param, child->launch_at + LAUNCH_CODE_VA, launch64(LAUNCH_CODE_VA));
        put64(param, child->launch_at + LAUNCH_PRINTF_VA, launch64(LAUNCH_PRINTF_VA));
        put64(param, child->launch_at + LAUNCH_VARIABLES_VA, launch64(LAUNCH_VARIABLES_VA));
    }
}

INLINE uint finisher_bytes(void)
{
    return (max(__ppu_finish_child.tmd.param_bytes, 16u) + 15u) / 16u * 16u;
}

/* The task that ends an event, or nothing when that is 0. */
INLINE void make_finisher(record_t record, ulong event, int status)
{
    global uchar *param = record->param;

    copy_task(&record->tmd, &__ppu_finish_child);
    record->tmd.param_va = (ulong)param;
    record->tmd.param_bytes = finisher_bytes();
    put64(param, 0, event);
    put64(param, 8, (uint)status);
    put_facts(param, &__ppu_finish_child);
}

INLINE void follow(record_t group, record_t record, uint stream)
{
    record->status.stream = stream;
    __ppu_follow((ulong)&group->group.last_task[stream], record->status.task, (ulong)record);
}

/* In the stream that it was enqueued to, if any; its finisher follows it in any case. */
INLINE void start_all(record_t parent, record_t record, ppu_task_t finisher, uint stream)
{
    if (finisher == PPU_TASK_NULL && stream == PPU_STREAM_NONE) {
        __ppu_start(record->status.task);
        return;
    }
    if (stream == PPU_STREAM_NONE) {
        stream = add(&parent->group.streams, 1) % PPU_GROUP_TMDQS;
    }
    follow(parent, record, stream);
    if (finisher != PPU_TASK_NULL) {
        follow(parent, record_at(nest_of(record), finisher), stream);
    }
}

/* Everything it waited for is there. Who asks may be any task; the parent counted it when it was enqueued. */
INLINE void start(record_t record)
{
    global struct ppu_nest *nest = nest_of(record);
    ppu_task_t finisher = record->finisher;

    if (record->failed != 0) {
        make_finisher(record, finisher == ITSELF ? *(global ulong *)record->param : 0, FAILED_WAIT);
    }
    finisher = finisher == ITSELF ? PPU_TASK_NULL : finisher;
    if (record->failed != 0 && finisher != PPU_TASK_NULL) {
        record_t last = record_at(nest, finisher);
        make_finisher(last, *(global ulong *)last->param, FAILED_WAIT);
    }
    start_all(record_at(nest, record->status.group), record, finisher, record->status.stream);
}

INLINE void count_down(record_t record, uint n)
{
    if (add(&record->unmet, 0u - n) == n) {
        start(record);
    }
}

#endif
