/* SPDX-License-Identifier: MIT */
/* Puts work into work queues by threads (C3 to C6; docs/spec/opencl.md; as device-lib/asm/workq.s does). */
#include "enqueue/workq.h"

#define ERROR_VALUE (-30)     /* CL_INVALID_VALUE */
#define ERROR_OPERATION (-59) /* CL_INVALID_OPERATION */
#define MOST_PIECE (1u << 30) /* bytes of the heap */

/* ---- kernels ---- */

/* A launch whose block, with the private memory behind it, is a piece of the heap. */
struct work {
    constant struct ppu_child *child;
    const private struct range *range;
    const private uchar *block;
    uint bytes; /* of the block */
    uint locals;
    const private ulong *sizes;
    uint flags;
};

/* The piece for the block and, when the kernel has any, private memory; as many work-groups' as there is room for. */
INLINE ulong take_block(global struct ppu_nest *nest, global struct ppu_tmd *tmd, uint bytes)
{
    uint at = (sizeof(struct ppu_child_head) + max(bytes, 4u) + 15u) / 16u * 16u,
         work_groups = min(tmd->grid[0], LOCAL_WORK_GROUPS);
    ulong work_group = work_group_private(tmd), head = 0;

    do {
        head = at + work_group * work_groups <= MOST_PIECE ? heap_take(nest, at + (uint)work_group * work_groups) : 0;
        tmd->local_size = work_group * work_groups;
        work_groups /= 2;
    } while (head == 0 && work_group != 0 && work_groups != 0);
    tmd->local_va = work_group != 0 ? head + at : 0;
    return head;
}

INLINE void put_block(ulong head, global struct ppu_nest *nest, global struct ppu_tmd *tmd,
                      const private struct work *work)
{
    global struct ppu_child_head *to = (global struct ppu_child_head *)head;

    to->event = 0;
    to->heap = nest->heap_va;
    __builtin_memcpy((global uchar *)(to + 1), work->block, work->bytes);
    *(global uint *)(to + 1) = work_items(tmd);
}

/* Describes the launch in the entry's block; 0 or an error. */
INLINE int describe(global uint *block, const private struct work *work)
{
    record_t own = own_record();
    constant struct ppu_child *child = work->child;
    global struct ppu_tmd *tmd = (global struct ppu_tmd *)((ulong)block + PPU_CHILD_WORK_TMD);
    global uchar *param = (global uchar *)block + PPU_CHILD_WORK_PARAM;

    copy_task(tmd, child);
    set_urgency(tmd, work->flags);
    if (!set_space(tmd, work->range, max_work_group(enqueue_of(own), child))) {
        return ERROR_RANGE;
    }
    uint used = put_locals(param, child->tmd.shared_bytes, work->locals, work->sizes);
    if (used == UINT_MAX) {
        return ERROR_SIZE;
    }
    ulong head =
        used <= min(enqueue_of(own)->sm_shared, PPU_MAX_SHARED) ? take_block(nest_of(own), tmd, work->bytes) : 0;
    if (head == 0) {
        return ERROR_RESOURCES;
    }
    put_block(head, nest_of(own), tmd, work);
    put64(param, 0, head + sizeof(struct ppu_child_head));
    put_implicit_args(param, child);
    put_first_group(param, child, PPU_SANITIZER_NO_GROUPS); /* it may run when this launch has ended */
    put_range(param, child->implicit_at, work->range);
    tmd->shared_bytes = used;
    tmd->param_va = (ulong)param;
    tmd->param_bytes = block_at(child, work->locals) - sizeof(struct ppu_child_head);
    return 0;
}

#define LAUNCH_WORDS 4u

INLINE int add_launch(batch_t batch, const private struct work *work)
{
    global uint *at = add_words(batch, LAUNCH_WORDS, 1);

    if (at == 0) {
        return ERROR_FULL;
    }
    global uint *block = block_of(queue_of(batch), counter_of(batch, batch->piece));
    int error = describe(block, work);
    if (error != 0) {
        batch->words -= LAUNCH_WORDS;
        batch->launches = 0;
        return error;
    }
    ulong tmd = (ulong)block + PPU_CHILD_WORK_TMD;
    at[0] = PPU_METHOD_WORD(PPU_METHOD_LAUNCH, 3);
    at[1] = (uint)tmd;
    at[2] = (uint)(tmd >> 32);
    at[3] = PPU_STREAM_NONE;
    return 0;
}

/* The queue's work begins when the kernel that makes it has ended; it is in no stream. */
int LIBRARY __ppu_enqueue_work(device_queue_t given, uint flags, const private struct range *range,
                               constant struct ppu_child *child, const private uchar *block, uint bytes, uint locals,
                               const private ulong *sizes)
{
    const struct work work = { child, range, block, bytes, locals, sizes, flags };

    if (block_at(child, locals) > PPU_CHILD_WORK_BYTES - PPU_CHILD_WORK_PARAM) {
        return told(ERROR_RESOURCES, flags);
    }
    struct entered_batch entered = enter_batch(given);
    if (entered.error != 0) {
        return told(entered.error, flags);
    }
    int error = add_launch(entered.batch, &work);
    leave_batch(&entered);
    return told(error, flags);
}

/* ---- other commands (C6) ---- */

int LIBRARY ppu_enqueue_copy(device_queue_t given, global void *to, const global void *from, ulong bytes)
{
    if (bytes > UINT_MAX) {
        return ERROR_VALUE;
    }
    struct entered_batch entered = enter_batch(given);
    if (entered.error != 0) {
        return entered.error;
    }
    global uint *at = add_words(entered.batch, 6, 0);
    if (at != 0) {
        at[0] = PPU_METHOD_WORD(PPU_METHOD_COPY, 5);
        at[1] = (uint)(ulong)from;
        at[2] = (uint)((ulong)from >> 32);
        at[3] = (uint)(ulong)to;
        at[4] = (uint)((ulong)to >> 32);
        at[5] = (uint)bytes;
    }
    leave_batch(&entered);
    return at != 0 ? 0 : ERROR_FULL;
}

int LIBRARY ppu_enqueue_wait(device_queue_t given)
{
    struct entered_batch entered = enter_batch(given);

    if (entered.error != 0) {
        return entered.error;
    }
    global uint *at = add_words(entered.batch, 1, 0);
    if (at != 0) {
        at[0] = PPU_METHOD_WORD(PPU_METHOD_WAIT_IDLE, 0);
    }
    leave_batch(&entered);
    return at != 0 ? 0 : ERROR_FULL;
}

INLINE int enqueue_sem(device_queue_t given, enum ppu_method method, ulong sem, uint value, uint how)
{
    if (sem == 0 || sem % sizeof(struct ppu_sem) != 0) {
        return ERROR_VALUE;
    }
    struct entered_batch entered = enter_batch(given);
    if (entered.error != 0) {
        return entered.error;
    }
    global uint *at = add_words(entered.batch, 5, 0);
    if (at != 0) {
        put_sem(at, method, sem, value, how);
    }
    leave_batch(&entered);
    return at != 0 ? 0 : ERROR_FULL;
}

int LIBRARY ppu_enqueue_acquire(device_queue_t given, global void *semaphore, uint value)
{
    return enqueue_sem(given, PPU_METHOD_SEM_ACQUIRE, (ulong)semaphore, value, PPU_SEM_GREATER_EQUAL);
}

int LIBRARY ppu_enqueue_release(device_queue_t given, global void *semaphore, uint value)
{
    return enqueue_sem(given, PPU_METHOD_SEM_RELEASE, (ulong)semaphore, value, 0);
}

int LIBRARY ppu_release_semaphore(global void *semaphore, uint value)
{
    if (semaphore == 0 || (ulong)semaphore % sizeof(struct ppu_sem) != 0) {
        return ERROR_VALUE;
    }
    __ppu_fence(PPU_ORDER_RELEASE, PPU_SCOPE_OF_DEVICE);
    __ppu_release((ulong)semaphore, value);
    return 0;
}

/* ---- several commands as one piece of work (C3) ---- */

INLINE bool fits(work_queue_t queue, uint pieces)
{
    return pieces != 0 && pieces < PPU_WORKQ_MOST(queue->entries);
}

device_queue_t LIBRARY ppu_reserve_work(device_queue_t given, uint pieces)
{
    work_queue_t queue = workq_of(given);

    return queue != 0 && fits(queue, pieces) ? (device_queue_t)begin_batch(queue, pieces) : 0;
}

int LIBRARY ppu_publish_work(device_queue_t given)
{
    batch_t batch = batch_of(given);

    if (batch == 0) {
        return ERROR_QUEUE;
    }
    publish_batch(batch);
    return 0;
}

/* ---- room (C4) ---- */

/* Sleeps until shadow_put is another than this; false: in vain. */
INLINE bool sleep_until_moved(work_queue_t queue, uint shadow)
{
    record_t own = own_record();
    global struct ppu_cta_group *group = cta_group(own, __ppu_sr(PPU_SR_PLACE));
    uint refused = load(&own->group.refused);

    add(&own->group.work, 1);
    if (group != 0) {
        __opencl_atomic_fetch_or(ATOM(&group->work), PPU_CTA_WORK_ENTRIES, memory_order_seq_cst, memory_scope_device);
    }
    __ppu_request(PPU_TASK_NULL, PPU_WORKQ_REQUEST(queue->channel, shadow));
    __ppu_wait_children();
    return load(&own->group.refused) == refused;
}

int LIBRARY ppu_wait_room(device_queue_t given, uint pieces)
{
    work_queue_t queue = workq_of(given);
    uint put, shadow;
    bool in_vain = false;

    if (queue == 0 || !fits(queue, pieces)) {
        return queue == 0 ? ERROR_QUEUE : ERROR_VALUE;
    }
    while (free_entries(queue, &put, &shadow) <= pieces) {
        if (in_vain || stands_still(queue)) {
            return ERROR_FULL;
        }
        in_vain = !sleep_until_moved(queue, shadow); /* the enqueuing that failed has looked for a while */
    }
    return 0;
}

/* ---- rounds (C5) ---- */

uint LIBRARY ppu_work_round(device_queue_t given)
{
    work_queue_t queue = workq_of(given);

    return queue != 0 ? load(&queue->round) : 0;
}

/* An entry that was reserved in vain holds nothing but its acquire. */
int LIBRARY ppu_end_round(device_queue_t given, uint round)
{
    work_queue_t queue = workq_of(given);
    uint first = 0, words = HEADER_WORDS;

    if (queue == 0 || round == 0) {
        return queue == 0 ? ERROR_QUEUE : ERROR_OPERATION;
    }
    if (!reserve_entries(queue, 1, &first)) {
        return ERROR_FULL;
    }
    global uint *block = block_of(queue, first);
    bool ours = replace(&queue->round, round, round + 1);
    if (ours) {
        block[words++] = PPU_METHOD_WORD(PPU_METHOD_WAIT_IDLE, 0);
        words += put_sem(block + words, PPU_METHOD_SEM_RELEASE, (ulong)&queue->y, round, 0);
        words += put_sem(block + words, PPU_METHOD_SEM_ACQUIRE, (ulong)&queue->x, round + 1, PPU_SEM_EQUAL);
    }
    seal(queue, first, first, words);
    return ours ? 0 : ERROR_OPERATION;
}
