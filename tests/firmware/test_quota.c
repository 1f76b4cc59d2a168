/* SPDX-License-Identifier: MIT */
/*
 * Tests what address spaces share: none takes so much of it that another cannot run a task, or more than its quota.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/nest.h"
#include "firmware/quota.h"
#include "firmware/task.h"
#include "ppu/macros.h"
#include "ppu/taskq.h"
#include "ppu/workq.h"
#include "tests/firmware/mock_hal.h"
#include "tests/firmware/random.h"
#include "tests/firmware/stream.h"

#define TMD_VA (MOCK_MEMORY_VA + 0xf0000)
#define AREA_VA (MOCK_MEMORY_VA + 0xe0000)
#define BLOCK_METHODS 40u
#define ENTRIES 64u

static uint32_t flood; /* context that takes all it gets */
static uint32_t other;

static int setup(void **state)
{
    (void)state;
    mock_start();
    flood = mock_context();
    other = mock_context();
    return 0;
}

static uint16_t set(uint32_t context, uint32_t resource, uint32_t most)
{
    const uint32_t arg[] = { context, resource, most };
    return mock_admin(PPU_ADMIN_QUOTA, arg, 3).status;
}

static uint64_t held(uint32_t context, enum ppu_resource resource)
{
    return mock_query(PPU_KEY_CONTEXT_HELD, PPU_RESOURCE_OBJECT(context, resource));
}

static uint64_t quota(uint32_t context, enum ppu_resource resource)
{
    return mock_query(PPU_KEY_CONTEXT_QUOTA, PPU_RESOURCE_OBJECT(context, resource));
}

static uint32_t total(enum ppu_resource resource)
{
    return quota_pools[resource].total;
}

/* ---- what takes some of a resource; each asks for one more. 0, or how it was refused. ---- */

static uint16_t take_channel(uint32_t context)
{
    const uint32_t arg[] = { context, 0x100000, 0, 4, 0, 0 };
    return mock_admin(PPU_ADMIN_CHANNEL_CREATE, arg, 6).status;
}

static uint16_t take_queue(uint32_t context)
{
    const uint32_t arg[] = { context, mock_info()->heap_base, 2, 16 };
    return mock_admin(PPU_ADMIN_TASKQ_OPEN, arg, 4).status;
}

/* The queue lies in the `number`th MiB of the heap; all address spaces map all of it. */
static struct ppu_admin_msg create_workq(uint32_t context, uint32_t number)
{
    const uint32_t vram = mock_info()->heap_base + number * PPU_MIB;
    const uint64_t va = MOCK_VRAM_VA + vram;
    const uint32_t arg[] = { context, (uint32_t)va, (uint32_t)(va >> 32), vram, 4, 128, 0, 0, 0 };
    return mock_admin(PPU_ADMIN_WORKQ_CREATE, arg, 9);
}

static uint16_t take_workq(uint32_t context)
{
    return create_workq(context, 0).status;
}

/* A nest of so many records in the `number`th MiB. */
static uint16_t open_nest(uint32_t context, uint32_t number, uint32_t tasks)
{
    const uint32_t vram = mock_info()->heap_base + number * PPU_MIB;
    const uint64_t va = MOCK_VRAM_VA + vram;
    const uint32_t arg[] = { context, (uint32_t)va, (uint32_t)(va >> 32), vram, tasks, 1 };
    return mock_admin(PPU_ADMIN_NEST_OPEN, arg, PPU_ARRAY_SIZE(arg)).status;
}

static uint16_t take_nest(uint32_t context)
{
    return open_nest(context, 0, 128);
}

/* ---- tests ---- */

static void limits(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < PPU_RESOURCES; i++) {
        assert_int_equal(quota(flood, i), total(i));
        assert_int_equal(set(flood, i, 0), PPU_FAULT_ADMIN_ARG);
        assert_int_equal(set(flood, i, total(i) + 1), PPU_FAULT_ADMIN_ARG);
        assert_int_equal(quota(flood, i), total(i));
        assert_int_equal(set(flood, i, 1), 0);
        assert_int_equal(quota(flood, i), 1);
        assert_int_equal(quota(other, i), total(i));
        assert_int_equal(held(flood, i), 0);
    }
    assert_int_equal(set(flood, PPU_RESOURCES, 1), PPU_FAULT_ADMIN_ARG);
    assert_int_equal(set(MOCK_CONTEXTS, 0, 1), PPU_FAULT_NO_OBJECT);
    const uint32_t none[] = { PPU_KEY_CONTEXT_HELD, PPU_RESOURCE_OBJECT(flood, PPU_RESOURCES) };
    assert_int_equal(mock_admin(PPU_ADMIN_QUERY, none, 2).status, PPU_FAULT_NO_OBJECT);
    /* The next address space with this number begins with everything. */
    assert_int_equal(mock_admin(PPU_ADMIN_CONTEXT_DESTROY, &flood, 1).status, 0);
    assert_int_equal(mock_context(), flood);
    assert_int_equal(quota(flood, PPU_RESOURCE_TASKS), total(PPU_RESOURCE_TASKS));
}

/* What the driver asks for is refused with a fault that says why. */
static void requests_are_refused(void **state)
{
    (void)state;
    static const struct {
        enum ppu_resource resource;
        uint16_t (*take)(uint32_t context);
    } rows[] = {
        { PPU_RESOURCE_TASKQS, take_queue },
        { PPU_RESOURCE_WORKQS, take_workq },
        { PPU_RESOURCE_CHANNELS, take_channel },
    };
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(rows); i++) {
        uint32_t all = total(rows[i].resource);
        mock_teardown(NULL);
        setup(NULL);
        for (uint32_t n = 0; n < all - 1; n++) {
            assert_int_equal(rows[i].take(flood), 0);
        }
        assert_int_equal(rows[i].take(flood), PPU_FAULT_QUOTA);
        assert_int_equal(held(flood, rows[i].resource), all - 1);
        assert_int_equal(rows[i].take(other), 0);
        assert_int_equal(rows[i].take(other), PPU_FAULT_NO_RESOURCE);
        mock_teardown(NULL);
        setup(NULL);
        assert_int_equal(set(flood, rows[i].resource, 2), 0);
        assert_int_equal(rows[i].take(flood), 0);
        assert_int_equal(rows[i].take(flood), 0);
        assert_int_equal(rows[i].take(flood), PPU_FAULT_QUOTA);
    }
}

static void a_nest_within_its_quota(void **state)
{
    (void)state;
    assert_int_equal(set(flood, PPU_RESOURCE_NEST_TASKS, 127), 0);
    assert_int_equal(take_nest(flood), PPU_FAULT_QUOTA);
    assert_int_equal(held(flood, PPU_RESOURCE_NEST_TASKS), 0);
    assert_int_equal(set(flood, PPU_RESOURCE_NEST_TASKS, 128), 0);
    assert_int_equal(take_nest(flood), 0);
    assert_int_equal(held(flood, PPU_RESOURCE_NEST_TASKS), 128);
    assert_int_equal(mock_admin(PPU_ADMIN_CONTEXT_DESTROY, &flood, 1).status, 0);
    assert_int_equal(quota_pools[PPU_RESOURCE_NEST_TASKS].free, total(PPU_RESOURCE_NEST_TASKS));
}

/* The first context asks for the largest nest there is, then for smaller ones. */
static void take_largest_nest(uint32_t context)
{
    uint32_t tasks = PPU_NEST_MAX_TASKS;
    while (tasks > PPU_NEST_MIN_TASKS && open_nest(context, 0, tasks) != 0) {
        tasks /= 2;
    }
    assert_int_equal(open_nest(context, 0, PPU_NEST_MIN_TASKS), PPU_FAULT_IN_USE);
}

/* Nothing is kept for who has no nest: only the quotas of the others leave records. */
static void a_nest_for_each(void **state)
{
    (void)state;
    const uint32_t all = total(PPU_RESOURCE_NEST_TASKS);
    assert_true(PPU_IS_POWER_OF_TWO(all));
    take_largest_nest(flood);
    assert_int_equal(held(flood, PPU_RESOURCE_NEST_TASKS), all);
    assert_int_equal(open_nest(other, 2, PPU_NEST_MIN_TASKS), PPU_FAULT_NO_RESOURCE);

    mock_teardown(NULL);
    setup(NULL);
    assert_int_equal(set(flood, PPU_RESOURCE_NEST_TASKS, all / 2), 0);
    take_largest_nest(flood);
    assert_int_equal(held(flood, PPU_RESOURCE_NEST_TASKS), all / 2);
    assert_int_equal(open_nest(other, 2, all / 2), 0);
    assert_int_equal(held(other, PPU_RESOURCE_NEST_TASKS), all / 2);
}

/* Launches so many tasks, in blocks of some, as far as the channel gets. */
static void launch(struct stream *s, uint32_t count)
{
    struct ppu_tmd tmd = mock_tmd(s->channel + 1);
    while (count) {
        for (uint32_t i = 0; i < BLOCK_METHODS && count; i++, count--) {
            stream_launch(s, TMD_VA, &tmd, PPU_STREAM_NONE);
        }
        stream_submit(s);
    }
}

static uint64_t pending(const struct stream *s)
{
    return mock_query(PPU_KEY_CHANNEL_PENDING, s->channel);
}

/* Ends what is in a slot. */
static void end_one(void)
{
    for (uint32_t i = 0; i < MOCK_SLOTS; i++) {
        if (mock.slot_task[i]) {
            mock_slot_event(i, PPU_SLOT_DONE, 0);
            break;
        }
    }
    mock_settle();
}

static void a_record_for_each(void **state)
{
    (void)state;
    struct stream s = stream_open(flood, 0, ENTRIES, 7, 0);
    struct stream t = stream_open(other, 1, ENTRIES, 0, 0);
    uint32_t all = total(PPU_RESOURCE_TASKS);
    launch(&s, all + 20);
    assert_int_equal(stream_state(&s), PPU_CHANNEL_WAITING);
    assert_int_equal(pending(&s), all - 1);
    launch(&t, 2);
    assert_int_equal(pending(&t), 1);
    assert_int_equal(stream_state(&t), PPU_CHANNEL_WAITING);
    /* Nothing is lost: all run as records come free. */
    uint32_t before = mock.started;
    for (uint32_t i = 0; i < all + 40; i++) {
        end_one();
        mock_advance(200000);
    }
    assert_int_equal(mock.started - before, all + 20 + 2 - MOCK_SLOTS);
    assert_int_equal(pending(&s) + pending(&t), 0);
    assert_int_equal(quota_pools[PPU_RESOURCE_TASKS].free, all);
}

static void a_quota_of_records(void **state)
{
    (void)state;
    struct stream s = stream_open(flood, 0, ENTRIES, 7, 0);
    assert_int_equal(set(flood, PPU_RESOURCE_TASKS, 3), 0);
    launch(&s, 10);
    assert_int_equal(pending(&s), 3);
    assert_int_equal(set(flood, PPU_RESOURCE_TASKS, 5), 0);
    mock_advance(200000);
    assert_int_equal(pending(&s), 5);
    assert_int_equal(set(flood, PPU_RESOURCE_TASKS, 1), 0); /* those that it has it keeps */
    for (uint32_t i = 0; i < 10; i++) {
        end_one();
        mock_advance(200000);
    }
    assert_int_equal(mock.started, 10);
}

static void a_copy_for_each(void **state)
{
    (void)state;
    struct stream s = stream_open(flood, 0, ENTRIES, 7, 0);
    struct stream t = stream_open(other, 1, ENTRIES, 0, 0);
    for (uint32_t i = 0; i < total(PPU_RESOURCE_COPIES) + BLOCK_METHODS; i++) {
        stream_copy(&s, AREA_VA, AREA_VA + 256, 64);
        if (i % BLOCK_METHODS == 0) {
            stream_submit(&s);
        }
    }
    stream_submit(&s);
    assert_int_equal(pending(&s), total(PPU_RESOURCE_COPIES) - 1);
    stream_copy(&t, AREA_VA, AREA_VA + 256, 64);
    stream_submit(&t);
    assert_int_equal(pending(&t), 1);
    while (mock.copies) {
        mock_copy_end(0, 0);
        mock_settle();
        mock_advance(200000);
    }
    assert_int_equal(pending(&s) + pending(&t), 0);
    assert_int_equal(stream_state(&s), PPU_CHANNEL_IDLE);
    assert_int_equal(quota_pools[PPU_RESOURCE_COPIES].free, total(PPU_RESOURCE_COPIES));
}

static void a_quota_of_copies(void **state)
{
    (void)state;
    struct stream s = stream_open(flood, 0, ENTRIES, 7, 0);
    struct stream t = stream_open(other, 1, ENTRIES, 0, 0);
    assert_int_equal(set(flood, PPU_RESOURCE_COPIES, 3), 0);
    for (uint32_t i = 0; i < 10; i++) {
        stream_copy(&s, AREA_VA, AREA_VA + 256, 64);
    }
    stream_submit(&s);
    assert_int_equal(pending(&s), 3);
    assert_int_equal(held(flood, PPU_RESOURCE_COPIES), 3);
    assert_int_equal(stream_state(&s), PPU_CHANNEL_WAITING);
    for (uint32_t i = 0; i < 10; i++) {
        stream_copy(&t, AREA_VA, AREA_VA + 256, 64);
    }
    stream_submit(&t);
    assert_int_equal(pending(&t), 10);
    uint32_t copies = 0;
    for (; mock.copies; copies++) {
        assert_in_range(held(flood, PPU_RESOURCE_COPIES), 0, 3);
        mock_copy_end(0, 0);
        mock_settle();
        mock_advance(200000);
    }
    assert_int_equal(copies, 20);
    assert_int_equal(quota_pools[PPU_RESOURCE_COPIES].free, total(PPU_RESOURCE_COPIES));
}

static uint32_t slots_of(uint32_t context)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < MOCK_SLOTS; i++) {
        const struct ppu_tmd *tmd = (const struct ppu_tmd *)(const void *)(mock.vram + mock.slot_task[i]);
        count += mock.slot_task[i] && tmd->context == context;
    }
    return count;
}

static void a_quota_of_slots(void **state)
{
    (void)state;
    struct stream s = stream_open(flood, 0, ENTRIES, 7, 0);
    struct stream t = stream_open(other, 1, ENTRIES, 0, 0);
    assert_int_equal(set(flood, PPU_RESOURCE_SLOTS, 1), 0);
    launch(&s, 6);
    assert_int_equal(slots_of(flood), 1);
    assert_int_equal(held(flood, PPU_RESOURCE_SLOTS), 1);
    assert_int_equal(pending(&s), 6);
    launch(&t, 3);
    assert_int_equal(slots_of(other), MOCK_SLOTS - 1);
    for (uint32_t i = 0; i < 6 + 3; i++) {
        assert_in_range(slots_of(flood), 0, 1);
        end_one();
        mock_advance(200000);
    }
    assert_int_equal(mock.started, 6 + 3);
    assert_int_equal(pending(&s) + pending(&t), 0);
    assert_int_equal(quota_pools[PPU_RESOURCE_SLOTS].free, total(PPU_RESOURCE_SLOTS));
}

/* ---- tasks whose threads wait for entries of work queues ---- */

#define FLOODED 2u /* queues, in each of which each task of the flood waits */
#define WAITING_TASKS 32u

struct queue {
    uint32_t channel;
    uint32_t vram;
    struct ppu_workq_head *head;
};

/* A queue whose first round has begun, so that waiting for its entries is not in vain. */
static struct queue open_queue(uint32_t context, uint32_t number)
{
    const struct ppu_admin_msg reply = create_workq(context, number);
    const uint32_t vram = mock_info()->heap_base + number * PPU_MIB;
    struct queue queue = { reply.arg[0], vram, (struct ppu_workq_head *)(void *)(mock.vram + vram) };
    assert_int_equal(reply.status, 0);
    queue.head->x.payload = 1;
    mock_touch(MOCK_VRAM_VA + vram + offsetof(struct ppu_workq_head, x));
    mock_settle();
    assert_int_equal(queue.head->stall, PPU_WORKQ_GOES_ON);
    return queue;
}

static struct ppu_group *group_in(uint32_t slot)
{
    return &nest_record(task_of_tmd(mock.slot_task[slot]))->group;
}

/* A thread of the task in the slot waits for entries; what the firmware does about it is seen in the group. */
static void ask(uint32_t context, uint32_t slot, const struct queue *queue)
{
    const struct ppu_start_event event = {
        .handle = PPU_TASK_NULL,
        .former = PPU_WORKQ_REQUEST(queue->channel, queue->head->shadow_put),
        .task = mock.slot_task[slot],
        .context = context,
    };
    group_in(slot)->work++;
    mock_push(PPU_RING_START, &event);
    mock_settle();
}

/* An entry of the queue passes: somebody publishes the reservation that the queue stands before. */
static void pass_entry(const struct queue *queue)
{
    struct ppu_sem *sem = (struct ppu_sem *)(void *)(mock.vram + queue->vram + queue->head->sem_at);
    sem->payload = 1;
    mock_touch(MOCK_VRAM_VA + queue->vram + queue->head->sem_at);
    mock_settle();
}

/* Tasks in slots, whose threads can launch and wait. */
static void launch_askers(uint32_t context, uint32_t number, uint32_t count)
{
    struct stream s = stream_open(context, number, ENTRIES, PPU_PRIORITIES - 1, 0);
    struct ppu_tmd tmd = mock_tmd(1);
    tmd.priority = PPU_PRIORITIES - 1; /* slots are kept for those above */
    tmd.flags = PPU_TMD_LAUNCH;
    assert_int_equal(open_nest(context, 8 + number, PPU_NEST_MIN_TASKS), 0);
    for (uint32_t i = 0; i < count; i++) {
        stream_launch(&s, TMD_VA, &tmd, PPU_STREAM_NONE);
    }
    stream_submit(&s);
}

static uint32_t waiting(uint32_t context)
{
    return (uint32_t)held(context, PPU_RESOURCE_WAITERS);
}

/* The flood's tasks are in the first slots, that of the other in the one behind. */
static void begin_waiting(struct queue *queues, struct queue *others)
{
    mock_teardown(NULL);
    mock_start_with_slots(WAITING_TASKS + 1, MOCK_CONTEXTS);
    flood = mock_context();
    other = mock_context();
    launch_askers(flood, 0, WAITING_TASKS);
    launch_askers(other, 1, 1);
    assert_int_equal(mock.started, WAITING_TASKS + 1);
    for (uint32_t i = 0; i < FLOODED; i++) {
        queues[i] = open_queue(flood, i);
    }
    *others = open_queue(other, FLOODED);
}

static void a_waiter_for_each(void **state)
{
    (void)state;
    struct queue queues[FLOODED], others;
    begin_waiting(queues, &others);
    const uint32_t all = total(PPU_RESOURCE_WAITERS);
    assert_int_equal(all, FLOODED * WAITING_TASKS);
    for (uint32_t i = 0; i < all - 1; i++) {
        ask(flood, i / FLOODED, &queues[i % FLOODED]);
        assert_int_equal(waiting(flood), i + 1);
        assert_int_equal(group_in(i / FLOODED)->work, i % FLOODED + 1);
    }
    /* Whoever gets none is told to ask again. A task that waits already has its other threads wait with it. */
    const uint32_t last = WAITING_TASKS - 1;
    ask(flood, last, &queues[FLOODED - 1]);
    assert_int_equal(waiting(flood), all - 1);
    assert_int_equal(group_in(last)->work, 1);
    assert_int_equal(group_in(last)->refused, 0);
    ask(flood, last, &queues[0]);
    assert_int_equal(waiting(flood), all - 1);
    assert_int_equal(group_in(last)->work, 2);

    ask(other, WAITING_TASKS, &others);
    assert_int_equal(waiting(other), 1);
    assert_int_equal(group_in(WAITING_TASKS)->work, 1);
    assert_int_equal(quota_pools[PPU_RESOURCE_WAITERS].free, 0);

    pass_entry(&queues[0]);
    assert_int_equal(waiting(flood), WAITING_TASKS - 1);
    assert_int_equal(group_in(last)->work, 0);
    ask(flood, last, &queues[FLOODED - 1]);
    assert_int_equal(waiting(flood), WAITING_TASKS);
    assert_int_equal(waiting(other), 1);
    pass_entry(&others);
    assert_int_equal(group_in(WAITING_TASKS)->work, 0);
    /* The end of a queue ends the waiting, too. */
    assert_int_equal(mock_admin(PPU_ADMIN_CHANNEL_DESTROY, &queues[1].channel, 1).status, 0);
    for (uint32_t i = 0; i <= WAITING_TASKS; i++) {
        assert_int_equal(group_in(i)->work, 0);
        assert_int_equal(group_in(i)->refused, i < WAITING_TASKS);
    }
    assert_int_equal(waiting(flood) + waiting(other), 0);
    assert_int_equal(quota_pools[PPU_RESOURCE_WAITERS].free, all);
}

static void a_quota_of_waiters(void **state)
{
    (void)state;
    struct queue queues[FLOODED], others;
    begin_waiting(queues, &others);
    assert_int_equal(set(flood, PPU_RESOURCE_WAITERS, 3), 0);
    for (uint32_t i = 0; i < 10; i++) {
        ask(flood, i, &queues[0]);
        assert_int_equal(group_in(i)->work, i < 3);
        assert_int_equal(group_in(i)->refused, 0);
    }
    assert_int_equal(waiting(flood), 3);
    ask(other, WAITING_TASKS, &others);
    assert_int_equal(waiting(other), 1);
}

/* ---- errors ---- */

/* Threads of one address space ask for tasks that do not exist; a fault of another is still told. */
static void a_flood_of_errors(void **state)
{
    (void)state;
    struct ppu_error_record record;
    struct stream t = stream_open(other, 1, ENTRIES, 0, 0);
    for (uint32_t i = 0; i < 4 * PPU_ERROR_RING_ENTRIES; i++) {
        struct ppu_start_event event = { .handle = 0x7ffffff, .context = flood };
        mock_push(PPU_RING_START, &event);
        mock_settle();
    }
    uint32_t bad = 0xdead;
    stream_method(&t, 0xff, 1, &bad);
    stream_submit(&t);
    uint32_t of_flood = 0;
    while (mock_error(&record) && record.code == PPU_FAULT_BAD_START) {
        of_flood++;
    }
    assert_int_equal(of_flood, PPU_ERROR_RING_ENTRIES - 1);
    assert_int_equal(record.code, PPU_FAULT_METHOD_UNKNOWN);
    assert_int_equal(record.context, other);
    assert_false(mock_error(&record));
    /* Read entries count for nobody. */
    struct ppu_start_event event = { .handle = 0x7ffffff, .context = flood };
    mock_push(PPU_RING_START, &event);
    mock_settle();
    assert_true(mock_error(&record));
    mock_push(PPU_RING_START, &event);
    mock_settle();
    assert_int_equal(held(flood, PPU_RESOURCE_ERRORS), 1);
}

static void a_quota_of_errors(void **state)
{
    (void)state;
    struct ppu_error_record record;
    uint32_t of_flood = 0, of_other = 0;
    assert_int_equal(set(flood, PPU_RESOURCE_ERRORS, 5), 0);
    for (uint32_t i = 0; i < 20; i++) {
        struct ppu_start_event event = { .handle = 0x7ffffff, .context = i % 2 ? other : flood };
        mock_push(PPU_RING_START, &event);
        mock_settle();
        assert_in_range(held(flood, PPU_RESOURCE_ERRORS), 0, 5);
    }
    assert_int_equal(held(other, PPU_RESOURCE_ERRORS), 10);
    while (mock_error(&record)) {
        of_flood += record.context == flood;
        of_other += record.context == other;
    }
    assert_int_equal(of_flood, 5);
    assert_int_equal(of_other, 10);
}

/* A host that writes any head: the firmware goes on. */
static void a_scribbled_head(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    struct ppu_error_ring *ring = (struct ppu_error_ring *)(void *)(mock.vram + mock_info()->error_ring);
    for (uint32_t i = 0; i < 2000; i++) {
        struct ppu_start_event event = { .handle = 0x7ffffff, .context = random_below(&seed, MOCK_CONTEXTS) };
        ring->head = random_below(&seed, 2) ? ring->tail - random_below(&seed, 80) : (uint32_t)random_next(&seed);
        mock_push(PPU_RING_START, &event);
        mock_settle();
    }
    uint32_t all = quota_pools[PPU_RESOURCE_ERRORS].free;
    for (uint32_t i = 0; i < MOCK_CONTEXTS; i++) {
        all += quota_pools[PPU_RESOURCE_ERRORS].of[i].held;
    }
    assert_int_equal(all, PPU_ERROR_RING_ENTRIES);
}

/* ---- random operations against a model that says what must hold ---- */

#define SPACES 6u
#define TOTAL 24u

static void random_operations(void **state)
{
    (void)state;
    const enum ppu_resource r = PPU_RESOURCE_TASKS;
    uint64_t seed = random_seed();
    uint32_t has[SPACES] = { 0 }, most[SPACES], is_open = 0;
    quota_init();
    quota_total(r, TOTAL);
    for (uint32_t i = 0; i < 200000; i++) {
        uint32_t c = random_below(&seed, SPACES), sum = 0, empty = 0;
        for (uint32_t k = 0; k < SPACES; k++) {
            sum += has[k];
            empty += k != c && has[k] == 0 && (is_open >> k & 1u);
        }
        switch (random_below(&seed, 8)) {
        case 0:
            if (!(is_open >> c & 1u)) {
                quota_open(c);
                is_open |= 1u << c;
                most[c] = TOTAL;
            } else if (has[c] == 0) {
                quota_close(c);
                is_open &= ~(1u << c);
            }
            break;
        case 1:
            if (is_open >> c & 1u) {
                most[c] = 1 + random_below(&seed, TOTAL);
                assert_true(quota_set(c, r, most[c]));
            }
            break;
        case 2:
        case 3:
            if (has[c]) {
                quota_give(r, c);
                has[c]--;
            }
            break;
        default:
            if (is_open >> c & 1u) {
                bool may = sum < TOTAL && has[c] < most[c] && (has[c] == 0 || sum + empty < TOTAL);
                assert_int_equal(quota_take(r, c), may);
                has[c] += may;
            }
            break;
        }
        assert_int_equal(quota_pools[r].of[c].held, has[c]);
    }
}

int main(void)
{
#define TEST(name, function)                       \
    {                                              \
        name, function, setup, mock_teardown, NULL \
    }
    const struct CMUnitTest tests[] = {
        TEST("quotas have limits, can be read and end with the context", limits),
        TEST("requests beyond a quota, or for what is kept, are refused and say so", requests_are_refused),
        TEST("a nest has at most its quota of records", a_nest_within_its_quota),
        TEST("a nest for another context needs a quota of records for the first", a_nest_for_each),
        TEST("a flood of launches leaves a record for each other context and loses none [B5]", a_record_for_each),
        TEST("a channel waits at the quota of its context [B5]", a_quota_of_records),
        TEST("a flood of copies leaves a place for each other context and loses none", a_copy_for_each),
        TEST("copies of a channel wait at the quota of its context", a_quota_of_copies),
        TEST("a context has slots up to its quota, and another the rest", a_quota_of_slots),
        TEST("a flood of threads that wait for entries leaves a waiter to each other context [C4]", a_waiter_for_each),
        TEST("a context has waiters up to its quota, and another its own [C4]", a_quota_of_waiters),
        TEST("errors beyond the quota of a context are lost, and none of another", a_quota_of_errors),
        TEST("a flood of errors loses none of another context", a_flood_of_errors),
        TEST("any head of the error ring", a_scribbled_head),
        TEST("random operations against a model", random_operations),
    };
    return cmocka_run_group_tests_name("firmware: quotas", tests, NULL, NULL);
}
