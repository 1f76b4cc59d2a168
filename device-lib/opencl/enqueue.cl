/* SPDX-License-Identifier: MIT */
/*
 * Enqueues tasks by threads: OpenCL C 6.15.13 (ppu/child.h, ppu/nest.h; docs/design/opencl.md). clang's calls are made
 * calls of these functions, and its queues and events addresses, by compiler/irpass/lower_enqueue.c.
 */
#include "enqueue/event.h"
#include "enqueue/launch.h"
#include "enqueue/taskq.h"

#define WAITS_FOR_PARENT 3u                               /* CLK_ENQUEUE_FLAGS_WAIT_KERNEL, _WAIT_WORK_GROUP */
#define STREAM_BITS (sizeof(struct ppu_device_queue) - 1) /* of a queue's address */

/* The stream that a queue stands for, in the lowest bits of its address: 0 none, else its number + 1. */
INLINE uint stream_of(device_queue_t queue)
{
    uint low = (uint)((ulong)queue & STREAM_BITS);

    return low != 0 ? low - 1 : PPU_STREAM_NONE;
}

/* ---- enqueue_kernel, enqueue_marker ---- */

/* Holds what a call asks for. */
struct request {
    uint flags;
    const private struct range *range;
    constant struct ppu_child *child;
    const private uchar *block;
    uint bytes;  /* of the block */
    uint events; /* that the task waits for */
    uint locals; /* shared memory arguments */
    const private ulong *sizes;
    bool is_entry; /* of a task queue: no record is its own yet, which could keep private memory */
};

INLINE uint whole(uint bytes)
{
    return (bytes + 15u) / 16u * 16u;
}

/* A piece of the heap for a block of so many bytes, and private memory behind it: of fewer work-groups if need be. */
INLINE ulong take_block(record_t record, uint bytes, uint behind)
{
    const uint one = work_group_private(&record->tmd);
    global struct ppu_nest *nest = nest_of(record);
    ulong piece = heap_take(nest, sizeof(struct ppu_child_head) + bytes + behind);

    while (piece == 0 && behind > one) {
        behind = max(behind / one / 2, 1u) * one;
        piece = heap_take(nest, sizeof(struct ppu_child_head) + bytes + behind);
    }
    if (piece == 0) {
        return 0;
    }
    if (behind != 0) {
        record->tmd.local_va = piece + sizeof(struct ppu_child_head) + bytes;
        record->tmd.local_size = behind;
    }
    return piece + sizeof(struct ppu_child_head);
}

/*
 * Copies the block, with its head, behind the parameters or, when there is no room or it has private memory `behind` it,
 * to a piece of the heap. What it returns is the block's address; 0: the heap has no such piece.
 */
INLINE ulong put_block(record_t record, const private struct request *request, ulong event, uint behind)
{
    uint at = block_at(request->child, request->locals);
    uint bytes = whole(request->bytes) + request->events * sizeof(struct ppu_device_wait);
    bool inside = behind == 0 && at + bytes <= PPU_NEST_INLINE_PARAM;
    ulong block = inside ? (ulong)record->param + at : take_block(record, max(bytes, 16u), behind);

    if (block == 0) {
        return 0;
    }
    __builtin_memcpy((global uchar *)block, request->block, request->bytes);
    global struct ppu_child_head *head = (global struct ppu_child_head *)block - 1;
    head->event = event;
    head->heap = inside ? 0 : nest_of(record)->heap_va;
    if (!inside) {
        *(global uint *)block = work_items(&record->tmd);
    }
    return block;
}

/* 0, or an error. */
INLINE int fill(record_t own, record_t record, const private struct request *request, ulong event)
{
    constant struct ppu_child *child = request->child;
    global struct ppu_enqueue *shared = enqueue_of(own);
    global uchar *param = record->param;
    uint at = block_at(child, request->locals), used, behind = 0;

    copy_task(&record->tmd, child);
    set_urgency(&record->tmd, request->flags);
    if (!set_space(&record->tmd, request->range, max_work_group(shared, child))) {
        return ERROR_RANGE;
    }
    if (at > PPU_NEST_INLINE_PARAM) {
        return ERROR_RESOURCES;
    }
    used = put_locals(param, child->tmd.shared_bytes, request->locals, request->sizes);
    if (used == UINT_MAX) {
        return ERROR_SIZE;
    }
    if (request->is_entry) {
        behind = task_private(&record->tmd);
    } else if (!set_private(nest_of(own), record, &behind)) {
        return ERROR_RESOURCES;
    }
    if (used > shared->sm_shared || used > PPU_MAX_SHARED) {
        return ERROR_RESOURCES;
    }
    ulong block = put_block(record, request, event, behind);
    if (block == 0) {
        return ERROR_RESOURCES;
    }
    put64(param, 0, block);
    put_implicit_args(param, child);
    if (request->is_entry) { /* who takes it need not be of this launch, whose cells are gone with it */
        put_first_group(param, child, PPU_SANITIZER_NO_GROUPS);
    }
    put_range(param, child->implicit_at, request->range);
    record->tmd.shared_bytes = used;
    record->tmd.param_va = (ulong)param;
    record->tmd.param_bytes = at - sizeof(struct ppu_child_head);
    return 0;
}

/* Checks what every form of enqueuing needs; 0 or an error. */
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
INLINE void give_up(record_t record)
{
    global struct ppu_nest *nest = nest_of(record);

    if (record->status.task == PPU_TASK_NULL) {
        if (record->local_va != 0) {
            heap_give(nest, record->local_va);
        }
        heap_give(nest, (ulong)record);
        return;
    }
    make_finisher(record, 0, 0);
    record->status.stream = PPU_STREAM_NONE;
    record->finisher = PPU_TASK_NULL;
    count_tasks(record, 1);
    __ppu_start(record->status.task);
}

/* Says what a task is to the records that there are. */
struct standing {
    bool keeps;     /* it keeps its record */
    bool waits;     /* for events, or its parent's end */
    bool has_event; /* and keeps its record for nothing else */
};

/*
 * One that keeps its record is parked where none that does is above it but the root: so those above need not wait for
 * it. Nor does one that waits take the last records from those that it may wait for.
 */
INLINE bool may_park(record_t own, uint stream, const private struct standing *standing)
{
    bool below_root = keeper_of(own)->status.task == root_of(own);

    return stream == PPU_STREAM_NONE && (!standing->keeps || (standing->has_event && below_root));
}

/* A record for a task, or a parked one; NULL: there is neither. */
INLINE record_t new_record(record_t own, uint stream, const private struct standing *standing)
{
    global struct ppu_nest *nest = nest_of(own);
    bool parks = may_park(own, stream, standing);
    uint spare = parks && standing->waits    ? 2 * spare_of(nest)
                 : parks && !standing->keeps ? spare_of(nest) / 2
                                             : spare_of(nest);
    ppu_task_t task = take_record(nest, spare);
    record_t record = task != 0 ? record_at(nest, task) : parks ? (record_t)heap_take(nest, PPU_PARKED_BYTES) : 0;

    if (record == 0) {
        return 0;
    }
    if (task == 0) {
        record->nest_va = (ulong)nest;
        record->local_va = 0;
        record->local_size = 0;
    }
    set_status(record, task, root_of(own), stream == PPU_STREAM_NONE ? keeper_of(own) : own, stream);
    return record;
}

/* The task that ends an event behind a task; false: there is no record for it. */
INLINE bool take_finisher(record_t own, record_t record, ulong event)
{
    global struct ppu_nest *nest = nest_of(own);

    if (record->status.task == PPU_TASK_NULL) {
        record->finisher = LATER;
        record->deferred = event;
        return true;
    }
    ppu_task_t finisher = take_record(nest, spare_of(nest));
    if (finisher == 0) {
        return false;
    }
    record_t last = record_at(nest, finisher);
    set_status(last, finisher, root_of(own), record_at(nest, record->status.group), PPU_STREAM_NONE);
    make_finisher(last, event, 0);
    record->finisher = finisher;
    return true;
}

/* 0, or an error, after which nothing is left of it. */
INLINE int prepare(record_t own, device_queue_t queue, const private struct request *request, bool wants_event,
                   bool waits, private record_t *out)
{
    global struct ppu_nest *nest = nest_of(own);
    bool saved = keeps_record(false, request->child->tmd.flags);
    const struct standing standing = { wants_event || saved, waits, wants_event && !saved };
    device_event_t event = wants_event ? new_event(nest, 2) : 0;
    record_t record = new_record(own, stream_of(queue), &standing);
    int error = wants_event && event == 0 ? ERROR_EVENT : record == 0 ? ERROR_FULL : 0;

    if (error == 0) {
        error = fill(own, record, request, (ulong)event);
        if (error == 0 && event != 0 && !take_finisher(own, record, (ulong)event)) {
            give_block(nest, record);
            error = ERROR_FULL;
        }
    }
    if (error != 0) {
        if (record != 0) {
            give_up(record);
        }
        if (event != 0) {
            heap_give(nest, (ulong)event);
        }
    }
    *out = record;
    return error;
}

INLINE device_event_t event_of(record_t record)
{
    return (device_event_t)((global struct ppu_child_head *)*(global ulong *)record->param - 1)->event;
}

/* Behind the block. */
INLINE global struct ppu_device_wait *waits_of(record_t record, uint bytes)
{
    return (global struct ppu_device_wait *)(*(global ulong *)record->param + whole(bytes));
}

/* What the reports of checked kernels know of the order of tasks (sanitize/race_nested.cl). */
ulong __ppu_sanitizer_after(uint first);
uint __ppu_sanitizer_enqueues(uint clock, uint waits, uint stream, ulong after, ulong tmd);

/* Lets checks know of a task, before it may start. */
INLINE void tell_checks(record_t record, const private struct request *request, uint clock, uint stream, ulong after,
                        bool has_event)
{
    uint first = __ppu_sanitizer_enqueues(clock, request->flags & WAITS_FOR_PARENT, stream + 1, after,
                                          (ulong)&record->tmd);

    put_first_group(record->param, request->child, first);
    if (has_event && first != PPU_SANITIZER_NO_GROUPS) {
        event_of(record)->first_group = first;
    }
}

/* `checked`: in kernels that note what they do; `clock` is PPU_SANITIZER_CLOCK and when, or not known. */
#define DEFINE_ENQUEUE(name, how, space, checked)                                                                     \
    int LIBRARY __ppu_enqueue_##name(device_queue_t queue, uint flags, const private struct range *range,             \
                                     constant struct ppu_child *child, const private uchar *block, uint bytes,        \
                                     uint events, const space device_event_t *list, device_event_t *ret, uint locals, \
                                     const private ulong *sizes, uint clock)                                          \
    {                                                                                                                 \
        const struct request request = { flags, range, child, block, bytes, events, locals, sizes, false };           \
        record_t own = own_record(), record;                                                                          \
        int error = check(own, queue);                                                                                \
                                                                                                                      \
        if (error == 0 && !are_events_##how(events, list)) {                                                          \
            error = ERROR_EVENTS;                                                                                     \
        }                                                                                                             \
        if (error == 0) {                                                                                             \
            error = prepare(own, queue, &request, ret != 0, events != 0 || (flags & WAITS_FOR_PARENT) != 0, &record); \
        }                                                                                                             \
        if (error != 0) {                                                                                             \
            return told(error, flags);                                                                                \
        }                                                                                                             \
        if (checked) {                                                                                                \
            ulong after = 0;                                                                                          \
            for (uint i = 0; i < events; i++) {                                                                       \
                after |= __ppu_sanitizer_after((uint)list[i]->first_group);                                           \
            }                                                                                                         \
            tell_checks(record, &request, clock, stream_of(queue), after, ret != 0);                                  \
        }                                                                                                             \
        if (ret != 0) {                                                                                               \
            *ret = event_of(record);                                                                                  \
        }                                                                                                             \
        arm_##how(own, record, (flags & WAITS_FOR_PARENT) != 0, events, list, waits_of(record, bytes));               \
        return 0;                                                                                                     \
    }

DEFINE_ENQUEUE(p, p, private, false)
DEFINE_ENQUEUE(g, g, generic, false)
DEFINE_ENQUEUE(checked_p, p, private, true)
DEFINE_ENQUEUE(checked_g, g, generic, true)

/* ---- blocks for task queues ---- */

/* What is parked is given back when no entry has it. */
INLINE int append_parked(task_queue_t queue, record_t parked)
{
    uint ticket = 0;
    int error = take_ticket(queue, &ticket);

    if (error == 0) {
        entry_t entry = entry_at(queue, ticket);
        entry->kind = PPU_TASKQ_PARKED;
        entry->task = PPU_TASK_NULL;
        *(global ulong *)(entry + 1) = (ulong)parked;
        publish(queue, entry, ticket);
    }
    return error;
}

/*
 * The entry has the address of a parked task, so that it takes no record until a work-group starts it, which is to be
 * its parent. Until then its parent is whoever appends it.
 */
int LIBRARY __ppu_enqueue_entry(device_queue_t given, uint flags, const private struct range *range,
                                constant struct ppu_child *child, const private uchar *block, uint bytes, uint locals,
                                const private ulong *sizes)
{
    const struct request request = { flags, range, child, block, bytes, 0, locals, sizes, true };
    task_queue_t queue = taskq_of(given);
    record_t own = own_record();

    if (queue == 0 || own == 0 || nest_of(own)->enqueue_va == 0) {
        return told(ERROR_QUEUE, flags);
    }
    global struct ppu_nest *nest = nest_of(own);
    record_t parked = (record_t)heap_take(nest, PPU_PARKED_BYTES);
    if (parked == 0) {
        return told(ERROR_RESOURCES, flags);
    }
    parked->nest_va = (ulong)nest;
    parked->local_va = 0;
    parked->local_size = 0;
    set_status(parked, PPU_TASK_NULL, root_of(own), keeper_of(own), PPU_STREAM_NONE);
    int error = fill(own, parked, &request, 0);
    if (error == 0) {
        error = append_parked(queue, parked);
        if (error != 0) {
            give_block(nest, parked);
        }
    }
    if (error != 0) {
        give_up(parked);
    }
    return told(error, flags);
}

/* ---- markers ---- */

/* A marker is the end of its event, which waits for others. */
int LIBRARY __ppu_enqueue_marker(uint flags, device_queue_t queue, uint events, const device_event_t *list,
                                 device_event_t *ret)
{
    record_t own = own_record();
    int error = check(own, queue);

    if (error == 0 && (events == 0 || !are_events_g(events, list))) {
        error = ERROR_EVENTS;
    }
    if (error == 0 && finisher_bytes() + events * sizeof(struct ppu_device_wait) > PPU_NEST_INLINE_PARAM) {
        error = ERROR_RESOURCES;
    }
    if (error != 0) {
        return told(error, flags);
    }
    const struct standing standing = { false, true, false };
    global struct ppu_nest *nest = nest_of(own);
    device_event_t event = ret != 0 ? new_event(nest, 2) : 0;
    if (ret != 0 && event == 0) {
        return told(ERROR_EVENT, flags);
    }
    record_t record = new_record(own, stream_of(queue), &standing);
    if (record == 0) {
        if (event != 0) {
            heap_give(nest, (ulong)event);
        }
        return told(ERROR_FULL, flags);
    }
    make_finisher(record, (ulong)event, 0);
    record->finisher = ITSELF;
    if (event != 0) {
        __ppu_stamp((ulong)event->began);
        __ppu_stamp((ulong)event->left);
        *ret = event;
    }
    arm_g(own, record, false, events, list, (global struct ppu_device_wait *)(record->param + finisher_bytes()));
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
    device_event_t event = (device_event_t)head_of(block)->event;

    if (event != 0 && __ppu_sr(PPU_SR_TID) == 0) {
        __ppu_stamp((ulong)event->left);
    }
}

/*
 * The last that a work-item does: private memory may lie behind the block, and whoever takes the piece next has it. What
 * gives it back is one exchange, behind which there is nothing but the end.
 */
void LIBRARY __ppu_child_give(const uchar *block)
{
    global struct ppu_child_head *head = head_of(block);

    if (head->heap != 0 && add((global uint *)(head + 1), 0xffffffffu) == 1) {
        heap_give_to((global struct ppu_heap *)head->heap, (ulong)head);
    }
}

/* The last work-item of the grid starts what waited for that. */
void LIBRARY __ppu_kernel_end(void)
{
    record_t own = own_record();
    uint items = ((__ppu_sr(PPU_SR_NCTA_X) - 1) * __ppu_sr(PPU_SR_NTID_X) + __ppu_sr(PPU_SR_LAST_X)) *
                 ((__ppu_sr(PPU_SR_NCTA_Y) - 1) * __ppu_sr(PPU_SR_NTID_Y) + __ppu_sr(PPU_SR_LAST_Y)) *
                 ((__ppu_sr(PPU_SR_NCTA_Z) - 1) * __ppu_sr(PPU_SR_NTID_Z) + __ppu_sr(PPU_SR_LAST_Z));

    if (own == 0 || add(&own->ended, 1) + 1 != items) {
        return;
    }
    ulong at = exchange64(&own->deferred, 0);
    while (at != 0) {
        record_t record = (record_t)at;
        at = record->next; /* read before the task may start, and end */
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

uint LIBRARY __ppu_child_max_work_group(constant struct ppu_child *child)
{
    record_t own = own_record();

    return own != 0 && nest_of(own)->enqueue_va != 0 ? max_work_group(enqueue_of(own), child) : child->tmd.wave;
}

uint LIBRARY __ppu_child_work_group_multiple(constant struct ppu_child *child)
{
    return child->tmd.wave;
}

/* Work-items of a work-group that is whole; 0: the range cannot be. */
INLINE uint range_threads(constant struct ppu_child *child, const private struct range *range)
{
    const uint most = __ppu_child_max_work_group(child);
    const bool chosen = range->local_size[0] == 0;
    uint threads = 1;

    for (uint i = 0; i < range->dim && i < 3 && threads != 0; i++) {
        const ulong size = chosen ? choose_work_group((uint)range->global_size[i], most / threads) : range->local_size[i];
        threads = size <= most / threads ? threads * (uint)size : 0;
    }
    return threads;
}

uint LIBRARY __ppu_child_sub_groups(constant struct ppu_child *child, const private struct range *range)
{
    return (range_threads(child, range) + child->tmd.wave - 1) / child->tmd.wave;
}

uint LIBRARY __ppu_child_sub_group_size(constant struct ppu_child *child, const private struct range *range)
{
    return min((uint)child->tmd.wave, range_threads(child, range));
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
