/* SPDX-License-Identifier: MIT */
/*
 * Takes records of tasks, fills them, and starts the tasks.
 *
 * A task that is enqueued is counted at once in the group of the task that enqueues it, so that this one does not
 * complete before it. It starts when `unmet` comes to 0: whoever takes the last one starts it.
 */
#ifndef DEVICE_LIB_OPENCL_ENQUEUE_RECORD_H
#define DEVICE_LIB_OPENCL_ENQUEUE_RECORD_H

#include "heap.h"
#include "ppu/child.h"
#include "ppu/devlib.h"
#include "ppu/nest.h"
#include "ppu/sanitizer.h"
#include "primitive.h"
#include "word.h"

typedef global struct ppu_nest_task *record_t;

#define ITSELF PPU_TASK_WAITING /* finisher of a marker: no task has this handle */
#define LATER 0xfffffffeu       /* finisher of a parked task: it gets one with its record */
#define FAILED_WAIT (-14)       /* status of what waited for something that failed */

/* The kernel that ends events, and what the compiler writes about it. */
extern constant struct ppu_child __ppu_finish_child;
/* The kernel that moves parked tasks into records, and what the compiler writes about it. */
extern constant struct ppu_child __ppu_unpark_child;

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

/* A task that keeps its record until all below it has ended. */
INLINE bool keeps_record(bool has_event, uint flags)
{
    return has_event || (flags & PPU_TMD_MAY_WAIT) != 0;
}

/* The task that counts what this thread enqueues: the nearest one that keeps its record. */
INLINE record_t keeper_of(record_t own)
{
    bool keeps = __ppu_sr(PPU_SR_DEPTH) == 1 || keeps_record(own->finisher != PPU_TASK_NULL, own->tmd.flags);

    return keeps ? own : record_at(nest_of(own), own->status.group);
}

INLINE ppu_task_t root_of(record_t own)
{
    return __ppu_sr(PPU_SR_DEPTH) == 1 ? own->status.task : own->root;
}

INLINE ulong launch64(uint offset)
{
    return __ppu_launch(offset) | (ulong)__ppu_launch(offset + 4) << 32;
}

/* ---- records ---- */

/* Takes a free record, but leaves `spare` free; 0: there are no more. */
INLINE ppu_task_t take_record(global struct ppu_nest *nest, uint spare)
{
    global ppu_task_t *ring = (global ppu_task_t *)(nest + 1);

    for (;;) {
        uint head = load(&nest->free_head);
        if (load(&nest->free_tail) - head <= spare) {
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
    to->code_va = launch64(IMPLICIT_CODE_VA);
}

/* Counts the records that a task which keeps its record leaves to others. */
INLINE uint spare_of(global struct ppu_nest *nest)
{
    return nest->tasks / PPU_PASSING_SHARE;
}

/* The group of a CTA of the task; NULL: they have none of their own. */
INLINE global struct ppu_cta_group *cta_group(record_t task, uint place)
{
    return task->groups_va != 0 ? (global struct ppu_cta_group *)task->groups_va + place : 0;
}

/* The CTA of `parent` that counts what this thread enqueues: its own, or the one that counts its task. */
INLINE void set_origin(record_t record, record_t parent)
{
    record_t own = own_record();
    global struct ppu_cta_group *group = cta_group(own, __ppu_sr(PPU_SR_PLACE));

    record->place = parent == own ? __ppu_sr(PPU_SR_PLACE) : own->place;
    record->cta = parent != own ? own->cta : group != 0 ? group->cta : 0;
}

/*
 * Counts tasks for the record's parent, and for the CTA of it that the record names, unless that has ended: its place
 * may be another's (task.h).
 */
INLINE void count_tasks(record_t record, uint tasks)
{
    record_t parent = record_at(nest_of(record), record->status.group);
    global struct ppu_cta_group *group = cta_group(parent, record->place);

    while (group != 0) {
        uint work = load(&group->work);
        if (load(&group->cta) != record->cta || replace(&group->work, work, work + tasks)) {
            break;
        }
    }
    add(&parent->group.work, tasks);
}

/* A task that is a child of `parent`. PPU_TASK_NULL: it is parked. */
INLINE void set_status(record_t record, ppu_task_t task, ppu_task_t root, record_t parent, uint stream)
{
    record->status.task = task;
    record->status.next_stream = PPU_TASK_NULL;
    record->status.group = parent->status.task;
    record->status.stream = stream;
    record->root = root;
    record->finisher = PPU_TASK_NULL;
    record->failed = 0;
    set_origin(record, parent);
}

INLINE void put64(global uchar *param, uint at, ulong value)
{
    *(global ulong *)(param + at) = value;
}

/* The implicit arguments that all tasks of a launch share, as this task has them. */
INLINE void put_implicit_args(global uchar *param, constant struct ppu_child *child)
{
    if (child->implicit_at != 0) {
        put64(param, child->implicit_at + IMPLICIT_CODE_VA, launch64(IMPLICIT_CODE_VA));
        put64(param, child->implicit_at + IMPLICIT_PRINTF_VA, launch64(IMPLICIT_PRINTF_VA));
        put64(param, child->implicit_at + IMPLICIT_VARIABLES_VA, launch64(IMPLICIT_VARIABLES_VA));
        *(global uint *)(param + child->implicit_at + IMPLICIT_TABLES) = __ppu_launch(IMPLICIT_TABLES);
    }
}

/* Numbers the groups of a task for checks (ppu/sanitizer.h); NO_GROUPS: they are not looked at. */
INLINE void put_first_group(global uchar *param, constant struct ppu_child *child, uint first)
{
    if (child->implicit_at != 0) {
        global uint *tables = (global uint *)(param + child->implicit_at + IMPLICIT_TABLES);
        *tables = (*tables & ((1u << PPU_SANITIZER_FIRST_GROUP) - 1)) | first << PPU_SANITIZER_FIRST_GROUP;
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
    put_implicit_args(param, &__ppu_finish_child);
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

/* ---- parked tasks ---- */

/* A task of this thread's tree, which moves what is parked there. */
INLINE void start_unparking(record_t own, global struct ppu_nest *nest)
{
    record_t keeper = keeper_of(own);
    ppu_task_t task;

    do { /* what passes leaves some free */
        task = take_record(nest, 0);
    } while (task == 0);
    record_t record = record_at(nest, task);
    set_status(record, task, root_of(own), keeper, PPU_STREAM_NONE);
    copy_task(&record->tmd, &__ppu_unpark_child);
    record->tmd.param_va = (ulong)record->param;
    record->tmd.param_bytes = (max(__ppu_unpark_child.tmd.param_bytes, 16u) + 15u) / 16u * 16u;
    put_implicit_args(record->param, &__ppu_unpark_child);
    count_tasks(record, 1);
    __ppu_start(task);
}

INLINE void park_in(global ulong *list, record_t parked)
{
    ulong first;

    do {
        first = load64(list);
        *(volatile global ulong *)&parked->next = first;
    } while (!replace64(list, first, (ulong)parked));
}

/* Nothing but a record is missing. Its list is the root's of whoever comes here, as that one is there until we end. */
INLINE void park(record_t parked)
{
    record_t own = own_record();
    global struct ppu_nest *nest = nest_of(own);
    record_t root = record_at(nest, root_of(own));

    park_in(parked->finisher == LATER ? &root->parked_keepers : &root->parked, parked);
    if (exchange(&root->unparks, 1) == 0) {
        start_unparking(own, nest);
    }
}

/* The newest first, so that few wait at once; only one thread of a tree takes. NULL: there is none. */
INLINE record_t take_parked(global ulong *list)
{
    ulong first;

    do {
        first = load64(list);
    } while (first != 0 && !replace64(list, first, *(volatile global ulong *)&((record_t)first)->next));
    return (record_t)first;
}

/* Moves it into a record, and starts it, and the task that ends its event behind it, if it has one. */
INLINE void unpark(global struct ppu_nest *nest, record_t parked, ppu_task_t task, ppu_task_t finisher)
{
    record_t record = record_at(nest, task), parent = record_at(nest, parked->status.group);
    ulong block = *(global ulong *)parked->param - (ulong)parked->param;

    record->status.task = task;
    record->status.next_stream = PPU_TASK_NULL;
    record->status.group = parked->status.group;
    record->status.stream = PPU_STREAM_NONE;
    record->finisher = finisher;
    record->root = parked->root;
    for (uint i = offsetof(struct ppu_nest_task, tmd); i < offsetof(struct ppu_nest_task, local_va); i += 8) {
        *(global ulong *)((ulong)record + i) = *(global ulong *)((ulong)parked + i);
    }
    if (block < PPU_NEST_INLINE_PARAM) {
        put64(record->param, 0, (ulong)record->param + block);
    }
    record->tmd.param_va = (ulong)record->param;
    if (parked->local_va != 0) {
        if (record->local_va != 0) {
            heap_give(nest, record->local_va);
        }
        record->local_va = parked->local_va;
        record->local_size = parked->local_size;
    }
    if (finisher != PPU_TASK_NULL) {
        record_t last = record_at(nest, finisher);
        set_status(last, finisher, parked->root, parent, PPU_STREAM_NONE);
        last->place = parked->place;
        last->cta = parked->cta;
        make_finisher(last, parked->deferred, parked->failed != 0 ? FAILED_WAIT : 0);
    }
    heap_give(nest, (ulong)parked);
    start_all(parent, record, finisher, PPU_STREAM_NONE);
}

/* Moves parked tasks into records. Tasks that keep their records wait until others leave some. */
INLINE void unpark_all(global struct ppu_nest *nest, record_t root)
{
    ppu_task_t task = 0, finisher = 0;

    for (;;) {
        record_t parked = take_parked(&root->parked);
        if (parked != 0) {
            ppu_task_t passing;
            do {
                passing = take_record(nest, 0);
            } while (passing == 0);
            unpark(nest, parked, passing, PPU_TASK_NULL);
        } else if (load64(&root->parked_keepers) == 0) {
            break;
        } else {
            task = task != 0 ? task : take_record(nest, spare_of(nest));
            finisher = finisher != 0 || task == 0 ? finisher : take_record(nest, spare_of(nest));
            if (finisher != 0) {
                unpark(nest, take_parked(&root->parked_keepers), task, finisher);
                task = finisher = 0;
            }
        }
    }
}

/* ---- start ---- */

/* It runs as soon as it may, and its finisher behind it. */
INLINE void begin(record_t record, ppu_task_t finisher)
{
    if (record->status.task == PPU_TASK_NULL) {
        park(record);
    } else {
        start_all(record_at(nest_of(record), record->status.group), record, finisher, record->status.stream);
    }
}

/* The block of a task that will not run. */
INLINE void give_block(global struct ppu_nest *nest, record_t record)
{
    global struct ppu_child_head *head = (global struct ppu_child_head *)*(global ulong *)record->param - 1;

    if (head->heap != 0) {
        heap_give(nest, (ulong)head);
    }
}

/* Everything it waited for is there. Who asks may be any task; the parent counted it when it was enqueued. */
INLINE void start(record_t record)
{
    global struct ppu_nest *nest = nest_of(record);
    ppu_task_t finisher = record->finisher;

    if (record->failed != 0) {
        if (finisher != ITSELF) {
            give_block(nest, record);
        }
        make_finisher(record, finisher == ITSELF ? *(global ulong *)record->param : 0, FAILED_WAIT);
    }
    finisher = finisher == ITSELF ? PPU_TASK_NULL : finisher;
    if (record->failed != 0 && finisher != PPU_TASK_NULL && finisher != LATER) {
        record_t last = record_at(nest, finisher);
        make_finisher(last, *(global ulong *)last->param, FAILED_WAIT);
    }
    begin(record, finisher);
}

INLINE void count_down(record_t record, uint n)
{
    if (add(&record->unmet, 0u - n) == n) {
        start(record);
    }
}

#endif
