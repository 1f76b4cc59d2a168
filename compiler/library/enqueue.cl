/* SPDX-License-Identifier: MIT */
/*
 * Tasks that threads enqueue: OpenCL C 6.15.13 (ppu/child.h, ppu/nest.h; docs/design/opencl.md). clang's calls are made
 * calls of these functions, and its queues and events addresses, by ../enqueue.c.
 *
 * A task that is enqueued is counted at once in the group of the task that enqueues it, so that this one does not
 * complete before it. It starts when `unmet` comes to 0: whoever takes the last one starts it.
 */
#include "ppu/child.h"
#include "ppu/devlib.h"
#include "ppu/heap.h"
#include "ppu/limits.h"
#include "ppu/nest.h"
#include "ppu/workq.h"
#include "primitive.h"

#define INLINE static inline __attribute__((always_inline))
#define LIBRARY __attribute__((always_inline))

typedef global struct ppu_nest_task *record_t;
typedef global struct ppu_device_event *device_event_t;
typedef global struct ppu_device_queue *device_queue_t;

/* As clang lays out ndrange_t. */
struct range {
    uint dim;
    size_t offset[3], global_size[3], local_size[3];
};

#define WAITS_FOR_PARENT 3u       /* CLK_ENQUEUE_FLAGS_WAIT_KERNEL, _WAIT_WORK_GROUP */
#define SAYS_WHY 0x80000000u      /* the program was built with -g: errors are told apart */
#define ERROR_FAILURE (-101)      /* CLK_ENQUEUE_FAILURE ... */
#define ERROR_QUEUE (-102)
#define ERROR_RANGE (-160)
#define ERROR_EVENTS (-57)
#define ERROR_FULL (-161)
#define ERROR_SIZE (-51)
#define ERROR_EVENT (-100)
#define ERROR_RESOURCES (-5)
#define ITSELF PPU_TASK_WAITING   /* finisher of a marker: no task has this handle */
#define FAILED_WAIT (-14)         /* status of what waited for something that failed */
#define NO_EVENT 0xffffffffffffffffull /* CLK_NULL_EVENT */
#define LOCAL_ALIGN 128u          /* of shared memory arguments, as the host gives them */
#define LOCAL_GROUPS 8u           /* groups of a task that have private memory in use at once, at most */
#define GOOD_GROUP 256u
#define STREAM_BITS (sizeof(struct ppu_device_queue) - 1) /* of a queue's address */

/* The kernel that ends events, and what the compiler writes about it. */
extern constant struct ppu_child __ppu_finish_child;

#define ATOM(p) ((volatile global atomic_uint *)(p))
#define ATOM64(p) ((volatile global atomic_ulong *)(p))

INLINE uint add(global uint *p, uint n)
{
    return __opencl_atomic_fetch_add(ATOM(p), n, memory_order_seq_cst, memory_scope_device);
}

INLINE uint load(global uint *p)
{
    return __opencl_atomic_load(ATOM(p), memory_order_acquire, memory_scope_device);
}

INLINE ulong load64(global ulong *p)
{
    return __opencl_atomic_load(ATOM64(p), memory_order_acquire, memory_scope_device);
}

INLINE uint exchange(global uint *p, uint n)
{
    return __opencl_atomic_exchange(ATOM(p), n, memory_order_seq_cst, memory_scope_device);
}

INLINE ulong exchange64(global ulong *p, ulong n)
{
    return __opencl_atomic_exchange(ATOM64(p), n, memory_order_seq_cst, memory_scope_device);
}

INLINE bool replace(global uint *p, uint from, uint to)
{
    return __opencl_atomic_compare_exchange_strong(ATOM(p), &from, to, memory_order_seq_cst, memory_order_seq_cst,
                                                   memory_scope_device);
}

INLINE bool replace64(global ulong *p, ulong from, ulong to)
{
    return __opencl_atomic_compare_exchange_strong(ATOM64(p), &from, to, memory_order_seq_cst, memory_order_seq_cst,
                                                   memory_scope_device);
}

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

/* ---- heap (ppu/heap.h) ---- */

/* 0: it has no such piece left. `bytes` at most 2^30. */
INLINE ulong heap_take(global struct ppu_nest *nest, uint bytes)
{
    global struct ppu_heap *heap = (global struct ppu_heap *)nest->heap_va;
    uint class = max(32u - clz(bytes + 15u), PPU_HEAP_MIN_CLASS), piece = 0;

    if (heap == 0) {
        return 0;
    }
    for (;;) {
        ulong head = load64(&heap->free[class]);
        piece = (uint)head;
        if (piece == 0) {
            break;
        }
        uint next = *(volatile global uint *)((ulong)heap + piece);
        if (replace64(&heap->free[class], head, next | ((head >> 32) + 1) << 32)) {
            break;
        }
    }
    while (piece == 0) {
        uint used = load(&heap->used);
        if (used > heap->bytes || heap->bytes - used < 1u << class) {
            return 0;
        }
        piece = replace(&heap->used, used, used + (1u << class)) ? used : 0;
    }
    global struct ppu_heap_piece *at = (global struct ppu_heap_piece *)((ulong)heap + piece);
    at->in_class = class;
    return (ulong)(at + 1);
}

INLINE void heap_give_to(global struct ppu_heap *heap, ulong va)
{
    global struct ppu_heap_piece *piece = (global struct ppu_heap_piece *)va - 1;
    uint class = piece->in_class & (PPU_HEAP_CLASSES - 1);

    for (;;) {
        ulong head = load64(&heap->free[class]);
        *(volatile global uint *)&piece->next = (uint)head;
        if (replace64(&heap->free[class], head, (uint)((ulong)piece - (ulong)heap) | ((head >> 32) + 1) << 32)) {
            break;
        }
    }
}

INLINE void heap_give(global struct ppu_nest *nest, ulong va)
{
    heap_give_to((global struct ppu_heap *)nest->heap_va, va);
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

/* ---- events ---- */

INLINE void release(global struct ppu_nest *nest, device_event_t event)
{
    if (add(&event->references, 0xffffffffu) == 1) {
        heap_give(nest, (ulong)event);
    }
}

INLINE device_event_t new_event(global struct ppu_nest *nest, uint references)
{
    device_event_t event = (device_event_t)heap_take(nest, sizeof(struct ppu_device_event));

    if (event != 0) {
        event->references = references;
        event->status = 1;
        event->list = 0;
        event->capture = 0;
        for (uint i = 0; i < 4; i++) {
            event->began[i] = event->left[i] = event->ended[i] = 0;
        }
    }
    return event;
}

INLINE bool is_event(device_event_t event)
{
    return event != 0 && (ulong)event != NO_EVENT;
}

INLINE ulong time_of(global uint sem[4])
{
    return sem[2] | (ulong)sem[3] << 32;
}

INLINE void write_times(device_event_t event, global ulong *to)
{
    ulong began = time_of(event->began);

    to[0] = time_of(event->left) - began;
    to[1] = time_of(event->ended) - began;
}

INLINE void end_event(device_event_t event, int status)
{
    *(volatile global int *)&event->status = status;
    ulong at = exchange64(&event->list, PPU_DEVICE_EVENT_ENDED);
    global ulong *capture = (global ulong *)load64(&event->capture);

    if (capture != 0) {
        write_times(event, capture);
    }
    while (at != 0 && at != PPU_DEVICE_EVENT_ENDED) {
        global struct ppu_device_wait *wait = (global struct ppu_device_wait *)at;
        record_t record = (record_t)wait->task;
        at = wait->next; /* read before the task may start, and end */
        if (status < 0) {
            *(volatile global uint *)&record->failed = 1;
        }
        count_down(record, 1);
    }
}

kernel void __ppu_finish(global struct ppu_device_event *event, int status)
{
    if (event != 0) {
        __ppu_stamp((ulong)event->ended);
        end_event(event, status);
        release(nest_of(own_record()), event);
    }
}

/* True: it has ended already. */
INLINE bool wait_for(device_event_t event, record_t record, global struct ppu_device_wait *wait)
{
    wait->task = (ulong)record;
    for (;;) {
        ulong head = load64(&event->list);
        if (head == PPU_DEVICE_EVENT_ENDED) {
            if (event->status < 0) {
                *(volatile global uint *)&record->failed = 1;
            }
            return true;
        }
        *(volatile global ulong *)&wait->next = head;
        if (replace64(&event->list, head, (ulong)wait)) {
            return false;
        }
    }
}

/* Registers the task for its events and for its parent's end; starts it when nothing is left to wait for. */
#define DEFINE_ARM(name, space)                                                                           \
    INLINE void arm_##name(record_t own, record_t record, ppu_task_t last, bool deferred, uint events,                      \
                           const space device_event_t *list, global struct ppu_device_wait *waits)         \
    {                                                                                                      \
        uint met = 1; /* our own hold */                                                                   \
        if (events == 0 && !deferred) {                                                                    \
            add(&own->group.work, 1 + (last != PPU_TASK_NULL));                                            \
            start_all(own, record, last, record->status.stream);                                           \
            return;                                                                                        \
        }                                                                                                  \
        record->unmet = 1 + events + deferred;                                                             \
        add(&own->group.work, record->finisher == PPU_TASK_NULL || record->finisher == ITSELF ? 1 : 2);                                    \
        for (uint i = 0; i < events; i++) {                                                                \
            met += wait_for(list[i], record, &waits[i]);                                                   \
        }                                                                                                  \
        while (deferred) {                                                                                 \
            ppu_task_t first = load(&own->deferred);                                                       \
            *(volatile global uint *)&record->deferred_next = first;                                       \
            deferred = !replace(&own->deferred, first, record->status.task);                               \
        }                                                                                                  \
        count_down(record, met);                                                                           \
    }                                                                                                      \
                                                                                                           \
    INLINE bool are_events_##name(uint events, const space device_event_t *list)                           \
    {                                                                                                      \
        bool good = (events == 0) == (list == 0);                                                          \
        for (uint i = 0; i < events && good; i++) {                                                        \
            good = is_event(list[i]);                                                                      \
        }                                                                                                  \
        return good;                                                                                       \
    }

DEFINE_ARM(p, private)
DEFINE_ARM(g, generic)

/* ---- index space ---- */

INLINE uint max_group(global struct ppu_enqueue *shared, constant struct ppu_child *child)
{
    uint wave = child->tmd.wave, most = min(shared->sm_vregs / child->tmd.vregs, shared->sm_lanes);

    return min(most, (uint)PPU_MAX_CTA_THREADS) / wave * wave;
}

/* A divisor of `n` that is large and at most `most`. */
INLINE uint choose_group(uint n, uint most)
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
        ulong items = used ? range->global_size[i] : 1, group = used ? range->local_size[i] : 1;
        uint n = (uint)items, size = chosen ? choose_group(n, most / threads) : (uint)group;
        good = good && items >> 32 == 0 && group >> 32 == 0 && n != 0 && size != 0 && size <= most / threads;
        if (good) {
            tmd->cta[i] = size;
            tmd->grid[i] = n / size;
            threads *= size;
            good = n % size == 0 && n / size <= (i == 0 ? PPU_MAX_GRID_X : PPU_MAX_GRID_YZ);
        }
    }
    return good;
}

/* ---- parameters ---- */

/* Where the block lies behind the parameters. */
INLINE uint block_at(constant struct ppu_child *child, uint locals)
{
    uint bytes = child->launch_at != 0 ? child->tmd.param_bytes : 8 + 8 * locals;

    return (bytes + 15u) / 16u * 16u + sizeof(struct ppu_child_head);
}

/* The facts that are the launch's own. */
INLINE void put_range(global uchar *param, uint at, const private struct range *range)
{
    for (uint i = 0; i < 3 && at != 0; i++) {
        put64(param, at + LAUNCH_GLOBAL_OFFSET(i), i < range->dim ? range->offset[i] : 0);
    }
    if (at != 0) {
        put64(param, at + LAUNCH_WORK_DIM, range->dim);
    }
}

/* Shared memory arguments; bytes of shared memory a group, UINT_MAX: a size is 0 or too large. */
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

/* Private memory: a piece of the heap that stays with the record. False: there is none. */
INLINE bool set_private(global struct ppu_nest *nest, record_t record)
{
    global struct ppu_tmd *tmd = &record->tmd;
    uint wave = tmd->wave, threads = tmd->cta[0] * tmd->cta[1] * tmd->cta[2];
    uint group = (threads + wave - 1) / wave * wave * tmd->local_bytes;
    uint groups = min(tmd->grid[0], LOCAL_GROUPS);

    if (tmd->local_bytes == 0) {
        return true;
    }
    if (record->local_va == 0 || record->local_size < group) {
        if (record->local_va != 0) {
            heap_give(nest, record->local_va);
        }
        do {
            record->local_size = group * groups;
            record->local_va = heap_take(nest, record->local_size);
            groups /= 2;
        } while (record->local_va == 0 && groups != 0);
    }
    tmd->local_va = record->local_va;
    tmd->local_size = record->local_size;
    return record->local_va != 0;
}

/* ---- enqueue_kernel, enqueue_marker ---- */

/* 0, or an error; *place is where the block goes. */
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

INLINE int told(int error, uint flags)
{
    return error == 0 || (flags & SAYS_WHY) != 0 ? error : ERROR_FAILURE;
}

/* The stream that a queue stands for, in the lowest bits of its address: 0 none, else its number + 1. */
INLINE uint stream_of(device_queue_t queue)
{
    uint low = (uint)((ulong)queue & STREAM_BITS);

    return low != 0 ? low - 1 : PPU_STREAM_NONE;
}

/* What every form of enqueuing needs; 0 or an error. */
INLINE int check(record_t own, device_queue_t queue)
{
    device_queue_t at = (device_queue_t)((ulong)queue & ~STREAM_BITS);

    if (own == 0 || nest_of(own)->enqueue_va == 0 || at == 0 || at->head.version != PPU_DEVICE_QUEUE_VERSION || at->head.size_bytes != sizeof(struct ppu_device_queue) ||
        ((ulong)queue & STREAM_BITS) > PPU_GROUP_TMDQS) {
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

#define DEFINE_ENQUEUE(name, space)                                                                                 \
    int LIBRARY __ppu_enqueue_##name(device_queue_t queue, uint flags, const private struct range *range,            \
                                     constant struct ppu_child *child, const private uchar *block, uint bytes,      \
                                     uint events, const space device_event_t *list, device_event_t *ret,            \
                                     uint locals, const private ulong *sizes)                                       \
    {                                                                                                               \
        record_t own = own_record(), record;                                                                        \
        int error = check(own, queue);                                                                              \
        device_event_t event = 0;                                                                                   \
        ppu_task_t task = 0, last = 0;                                                                              \
                                                                                                                    \
        if (error == 0 && !are_events_##name(events, list)) {                                                       \
            error = ERROR_EVENTS;                                                                                   \
        }                                                                                                           \
        if (error != 0) {                                                                                           \
            return told(error, flags);                                                                              \
        }                                                                                                           \
        global struct ppu_nest *nest = nest_of(own);                                                                \
        if (ret != 0) {                                                                                             \
            event = new_event(nest, 2);                                                                             \
            error = event == 0 ? ERROR_EVENT : 0;                                                                   \
        }                                                                                                           \
        if (error == 0) {                                                                                           \
            task = take_record(nest);                                                                               \
            error = task == 0 ? ERROR_FULL : 0;                                                                     \
        }                                                                                                           \
        if (error == 0) {                                                                                           \
            record = record_at(nest, task);                                                                         \
            set_status(record, task, __ppu_sr(PPU_SR_TASK), stream_of(queue));                                      \
            error = fill(own, record, child, range, bytes, events, locals, sizes, (ulong)event);                    \
            if (error == 0 && event != 0) {                                                                         \
                last = take_record(nest);                                                                           \
                error = last == 0 ? ERROR_FULL : 0;                                                                 \
            }                                                                                                       \
            if (error != 0) {                                                                                       \
                give_up(own, record);                                                                               \
            }                                                                                                       \
        }                                                                                                           \
        if (error != 0) {                                                                                           \
            if (event != 0) {                                                                                       \
                heap_give(nest, (ulong)event);                                                                      \
            }                                                                                                       \
            return told(error, flags);                                                                              \
        }                                                                                                           \
        global uchar *at = record->param + block_at(child, locals);                                                 \
        __builtin_memcpy(at, block, bytes);                                                                         \
        if (event != 0) {                                                                                           \
            record_t finisher = record_at(nest, last);                                                              \
            set_status(finisher, last, __ppu_sr(PPU_SR_TASK), PPU_STREAM_NONE);                                     \
            make_finisher(finisher, (ulong)event, 0);                                                               \
            record->finisher = last;                                                                                \
            *ret = event;                                                                                           \
        }                                                                                                           \
        arm_##name(own, record, last, (flags & WAITS_FOR_PARENT) != 0, events, list,                                      \
                   (global struct ppu_device_wait *)(at + (bytes + 15u) / 16u * 16u));                              \
        return 0;                                                                                                   \
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
    arm_g(own, record, PPU_TASK_NULL, false, events, list, (global struct ppu_device_wait *)(record->param + finisher_bytes()));
    return 0;
}

/* ---- work queues (ppu/workq.h; as devlib/workq.s) ---- */

#define RESERVED 2u /* entries: the launch, and the acquire behind it */
#define LOOKS 64u   /* at a queue that is full, before the thread gives up */
#define BLOCK_HEAD 0x00100001u
#define LAUNCH_METHOD 0x00030004u
#define ACQUIRE_METHOD 0x00040001u

typedef global struct ppu_workq *work_queue_t;

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

/* ---- events ---- */

device_event_t LIBRARY __ppu_create_user_event(void)
{
    record_t own = own_record();
    device_event_t event = own != 0 ? new_event(nest_of(own), 1) : 0;

    if (event != 0) {
        __ppu_stamp((ulong)event->began);
        __ppu_stamp((ulong)event->left);
    }
    return event;
}

void LIBRARY __ppu_set_user_event_status(device_event_t event, int status)
{
    if (is_event(event) && status <= 0) {
        __ppu_stamp((ulong)event->ended);
        end_event(event, status);
    }
}

void LIBRARY __ppu_retain_event(device_event_t event)
{
    if (is_event(event)) {
        add(&event->references, 1);
    }
}

void LIBRARY __ppu_release_event(device_event_t event)
{
    if (is_event(event)) {
        release(nest_of(own_record()), event);
    }
}

bool LIBRARY __ppu_is_valid_event(device_event_t event)
{
    return is_event(event) && event->references != 0;
}

/* When the event has not ended, its end writes them. */
void LIBRARY __ppu_capture_event(device_event_t event, uint what, global ulong *to)
{
    if (is_event(event) && what == 1) {
        exchange64(&event->capture, (ulong)to);
        if (load64(&event->list) == PPU_DEVICE_EVENT_ENDED) {
            write_times(event, to);
        }
    }
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

/* ---- index spaces: as clang's ndrange_t ---- */

#define RANGE(dimensions, name, parameters, o, g, l)                       \
    void LIBRARY __ppu_range_##name parameters                             \
    {                                                                      \
        range->dim = dimensions;                                           \
        for (uint i = 0; i < 3; i++) {                                     \
            range->offset[i] = i < dimensions ? (o) : 0;                   \
            range->global_size[i] = i < dimensions ? (g) : 1;              \
            range->local_size[i] = i < dimensions ? (l) : 0;               \
        }                                                                  \
    }

RANGE(1, 1g, (private struct range *range, size_t global_size), 0, global_size, 0)
RANGE(1, 1gl, (private struct range *range, size_t global_size, size_t local_size), 0, global_size, local_size)
RANGE(1, 1ogl, (private struct range *range, size_t offset, size_t global_size, size_t local_size), offset, global_size,
      local_size)
#define RANGES(n)                                                                                                    \
    RANGE(n, n##g, (private struct range *range, const private size_t *g), 0, g[i], 0)                               \
    RANGE(n, n##gl, (private struct range *range, const private size_t *g, const private size_t *l), 0, g[i], l[i])  \
    RANGE(n, n##ogl, (private struct range *range, const private size_t *o, const private size_t *g, const private size_t *l), o[i], g[i], l[i])
RANGES(2)
RANGES(3)
