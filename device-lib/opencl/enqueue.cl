/* SPDX-License-Identifier: MIT */
/*
 * Tasks that threads enqueue: OpenCL C 6.15.13 (ppu/child.h, ppu/nest.h; docs/design/opencl.md). clang's calls are made
 * calls of these functions, and its queues and events addresses, by compiler/irpass/lower_enqueue.c.
 */
#include "enqueue/event.h"
#include "enqueue/launch.h"

#define WAITS_FOR_PARENT 3u                               /* CLK_ENQUEUE_FLAGS_WAIT_KERNEL, _WAIT_WORK_GROUP */
#define STREAM_BITS (sizeof(struct ppu_device_queue) - 1) /* of a queue's address */

/* The stream that a queue stands for, in the lowest bits of its address: 0 none, else its number + 1. */
INLINE uint stream_of(device_queue_t queue)
{
    uint low = (uint)((ulong)queue & STREAM_BITS);

    return low != 0 ? low - 1 : PPU_STREAM_NONE;
}

/* ---- enqueue_kernel, enqueue_marker ---- */

/* 0, or an error. */
INLINE int fill(record_t own, record_t record, constant struct ppu_child *child, const private struct range *range,
                uint bytes, uint events, uint locals, const private ulong *sizes, ulong event)
{
    global struct ppu_enqueue *shared = enqueue_of(own);
    global uchar *param = record->param;
    uint at = block_at(child, locals), used;

    copy_task(&record->tmd, child);
    if (!set_space(&record->tmd, range, max_group(shared, child))) {
        return ERROR_RANGE;
    }
    if (at + (bytes + 15u) / 16u * 16u + events * sizeof(struct ppu_device_wait) > PPU_NEST_INLINE_PARAM) {
        return ERROR_RESOURCES;
    }
    used = put_locals(param, child->tmd.shared_bytes, locals, sizes);
    if (used == UINT_MAX) {
        return ERROR_SIZE;
    }
    if (used > shared->sm_shared || used > PPU_MAX_SHARED || !set_private(nest_of(own), record)) {
        return ERROR_RESOURCES;
    }
    put64(param, 0, (ulong)param + at);
    put64(param, at - sizeof(struct ppu_child_head), event);
    put64(param, at - sizeof(struct ppu_child_head) + 8, 0);
    put_facts(param, child);
    put_range(param, child->launch_at, range);
    record->tmd.shared_bytes = used;
    record->tmd.param_va = (ulong)param;
    record->tmd.param_bytes = at - sizeof(struct ppu_child_head);
    return 0;
}

/* What every form of enqueuing needs; 0 or an error. */
INLINE int check(record_t own, device_queue_t queue)
{
    device_queue_t at = (device_queue_t)((ulong)queue & ~STREAM_BITS);

    if (own == 0 || nest_of(own)->enqueue_va == 0 || at == 0 || at->head.version != PPU_DEVICE_QUEUE_VERSION ||
        at->head.size_bytes != sizeof(struct ppu_device_queue) || ((ulong)queue & STREAM_BITS) > PPU_GROUP_TMDQS) {
        return ERROR_QUEUE;
    }
    return __ppu_sr(PPU_SR_DEPTH) >= nest_of(own)->depth ? ERROR_RESOURCES : 0;
}

/* A record that was taken can only be given back by a task: one that does nothing. */
INLINE void give_up(record_t own, record_t record)
{
    make_finisher(record, 0, 0);
    record->status.stream = PPU_STREAM_NONE;
    record->finisher = PPU_TASK_NULL;
    add(&own->group.work, 1);
    __ppu_start(record->status.task);
}

/* A task that is not armed yet. */
struct prepared {
    record_t record;
    ppu_task_t finisher;  /* PPU_TASK_NULL: no event */
    device_event_t event; /* NULL: none is wanted */
    global struct ppu_device_wait *waits;
};

/* 0, or an error, after which nothing is left of it. */
INLINE int prepare(record_t own, device_queue_t queue, const private struct range *range,
                   constant struct ppu_child *child, const private uchar *block, uint bytes, uint events, uint locals,
                   const private ulong *sizes, bool wants_event, private struct prepared *out)
{
    global struct ppu_nest *nest = nest_of(own);
    device_event_t event = wants_event ? new_event(nest, 2) : 0;
    ppu_task_t task = 0, finisher = PPU_TASK_NULL;
    record_t record = 0;
    int error = wants_event && event == 0 ? ERROR_EVENT : 0;

    if (error == 0) {
        task = take_record(nest);
        error = task == 0 ? ERROR_FULL : 0;
    }
    if (error == 0) {
        record = record_at(nest, task);
        set_status(record, task, __ppu_sr(PPU_SR_TASK), stream_of(queue));
        error = fill(own, record, child, range, bytes, events, locals, sizes, (ulong)event);
        if (error == 0 && event != 0) {
            finisher = take_record(nest);
            error = finisher == 0 ? ERROR_FULL : 0;
        }
        if (error != 0) {
            give_up(own, record);
        }
    }
    if (error != 0) {
        if (event != 0) {
            heap_give(nest, (ulong)event);
        }
        return error;
    }
    global uchar *at = record->param + block_at(child, locals);
    __builtin_memcpy(at, block, bytes);
    if (event != 0) {
        record_t last = record_at(nest, finisher);
        set_status(last, finisher, __ppu_sr(PPU_SR_TASK), PPU_STREAM_NONE);
        make_finisher(last, (ulong)event, 0);
        record->finisher = finisher;
    }
    out->record = record;
    out->finisher = finisher;
    out->event = event;
    out->waits = (global struct ppu_device_wait *)(at + (bytes + 15u) / 16u * 16u);
    return 0;
}

#define DEFINE_ENQUEUE(name, space)                                                                                   \
    int LIBRARY __ppu_enqueue_##name(device_queue_t queue, uint flags, const private struct range *range,             \
                                     constant struct ppu_child *child, const private uchar *block, uint bytes,        \
                                     uint events, const space device_event_t *list, device_event_t *ret, uint locals, \
                                     const private ulong *sizes)                                                      \
    {                                                                                                                 \
        record_t own = own_record();                                                                                  \
        struct prepared task;                                                                                         \
        int error = check(own, queue);                                                                                \
                                                                                                                      \
        if (error == 0 && !are_events_##name(events, list)) {                                                         \
            error = ERROR_EVENTS;                                                                                     \
        }                                                                                                             \
        if (error == 0) {                                                                                             \
            error = prepare(own, queue, range, child, block, bytes, events, locals, sizes, ret != 0, &task);          \
        }                                                                                                             \
        if (error != 0) {                                                                                             \
            return told(error, flags);                                                                                \
        }                                                                                                             \
        if (ret != 0) {                                                                                               \
            *ret = task.event;                                                                                        \
        }                                                                                                             \
        arm_##name(own, task.record, task.finisher, (flags & WAITS_FOR_PARENT) != 0, events, list, task.waits);       \
        return 0;                                                                                                     \
    }

DEFINE_ENQUEUE(p, private)
DEFINE_ENQUEUE(g, generic)

/* A marker is the end of its event, which waits for others. */
int LIBRARY __ppu_enqueue_marker(uint flags, device_queue_t queue, uint events, const device_event_t *list,
                                 device_event_t *ret)
{
    record_t own = own_record();
    int error = check(own, queue);
    ppu_task_t task = 0;

    if (error == 0 && (events == 0 || !are_events_g(events, list))) {
        error = ERROR_EVENTS;
    }
    if (error == 0 && finisher_bytes() + events * sizeof(struct ppu_device_wait) > PPU_NEST_INLINE_PARAM) {
        error = ERROR_RESOURCES;
    }
    if (error != 0) {
        return told(error, flags);
    }
    global struct ppu_nest *nest = nest_of(own);
    device_event_t event = ret != 0 ? new_event(nest, 2) : 0;
    if (ret != 0 && event == 0) {
        return told(ERROR_EVENT, flags);
    }
    task = take_record(nest);
    if (task == 0) {
        if (event != 0) {
            heap_give(nest, (ulong)event);
        }
        return told(ERROR_FULL, flags);
    }
    record_t record = record_at(nest, task);
    set_status(record, task, __ppu_sr(PPU_SR_TASK), stream_of(queue));
    make_finisher(record, (ulong)event, 0);
    record->finisher = ITSELF;
    if (event != 0) {
        __ppu_stamp((ulong)event->began);
        __ppu_stamp((ulong)event->left);
        *ret = event;
    }
    arm_g(own, record, PPU_TASK_NULL, false, events, list,
          (global struct ppu_device_wait *)(record->param + finisher_bytes()));
    return 0;
}

/* ---- what kernels do at their begin and end ---- */

INLINE global struct ppu_child_head *head_of(const uchar *block)
{
    return (global struct ppu_child_head *)(ulong)block - 1;
}

void LIBRARY __ppu_child_begin(const uchar *block)
{
    device_event_t event = (device_event_t)head_of(block)->event;

    if (event != 0 && __ppu_sr(PPU_SR_TID) == 0 &&
        (__ppu_sr(PPU_SR_CTA_X) | __ppu_sr(PPU_SR_CTA_Y) | __ppu_sr(PPU_SR_CTA_Z)) == 0) {
        __ppu_stamp((ulong)event->began);
    }
}

void LIBRARY __ppu_child_end(const uchar *block)
{
    global struct ppu_child_head *head = head_of(block);
    device_event_t event = (device_event_t)head->event;

    if (event != 0 && __ppu_sr(PPU_SR_TID) == 0) {
        __ppu_stamp((ulong)event->left);
    }
    if (head->heap != 0 && add((global uint *)(head + 1), 0xffffffffu) == 1) {
        heap_give_to((global struct ppu_heap *)head->heap, (ulong)head);
    }
}

/* The last work-item of the grid starts what waited for that. */
void LIBRARY __ppu_kernel_end(void)
{
    record_t own = own_record();
    uint groups = __ppu_sr(PPU_SR_NCTA_X) * __ppu_sr(PPU_SR_NCTA_Y) * __ppu_sr(PPU_SR_NCTA_Z);
    uint items = groups * __ppu_sr(PPU_SR_NTID_X) * __ppu_sr(PPU_SR_NTID_Y) * __ppu_sr(PPU_SR_NTID_Z);

    if (own == 0 || add(&own->ended, 1) + 1 != items) {
        return;
    }
    global struct ppu_nest *nest = nest_of(own);
    ppu_task_t task = exchange(&own->deferred, PPU_TASK_NULL);
    while (task != PPU_TASK_NULL) {
        record_t record = record_at(nest, task);
        task = record->deferred_next; /* read before the task may start, and end */
        count_down(record, 1);
    }
}

/* ---- built-in functions ---- */

device_queue_t LIBRARY __ppu_default_queue(void)
{
    record_t own = own_record();
    global struct ppu_enqueue *shared = own != 0 ? enqueue_of(own) : 0;

    return shared != 0 ? (device_queue_t)shared->default_queue : 0;
}

uint LIBRARY __ppu_child_max_group(constant struct ppu_child *child)
{
    record_t own = own_record();

    return own != 0 && nest_of(own)->enqueue_va != 0 ? max_group(enqueue_of(own), child) : child->tmd.wave;
}

uint LIBRARY __ppu_child_group_multiple(constant struct ppu_child *child)
{
    return child->tmd.wave;
}

/* ---- cl_ppu_nested_streams (docs/spec/opencl.md) ---- */

device_queue_t LIBRARY ppu_create_stream(void)
{
    device_queue_t queue = __ppu_default_queue();

    return queue != 0 ? (device_queue_t)((ulong)queue + 1 + add(&own_record()->group.streams, 1) % PPU_GROUP_TMDQS) : 0;
}

/* What was launched into it goes on. */
int LIBRARY ppu_destroy_stream(device_queue_t queue)
{
    uint low = (uint)((ulong)queue & STREAM_BITS);

    return low >= 1 && low <= PPU_GROUP_TMDQS ? 0 : ERROR_QUEUE;
}
