/* SPDX-License-Identifier: MIT */
/*
 * Tests queue tasks through the whole firmware: who is told what when entries are published, taken, and the queue is
 * closed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ppu/macros.h"
#include "ppu/nest.h"
#include "ppu/save.h"
#include "ppu/taskq.h"
#include "tests/firmware/random.h"
#include "tests/firmware/stream.h"

#define ENTRIES 256u
#define ENTRY_BYTES 32u
#define TMD_VA (MOCK_MEMORY_VA + 15u * 64u * PPU_KIB)
#define NONE UINT32_MAX
#define S 1000000000ull

static uint32_t context;
static uint32_t number;
static struct stream stream;

static uint32_t queue_offset(void)
{
    return mock_info()->heap_base;
}

static struct ppu_taskq_head *head(void)
{
    return (struct ppu_taskq_head *)(void *)(mock.vram + queue_offset());
}

static struct ppu_taskq_entry *entry(uint32_t ticket)
{
    return (struct ppu_taskq_entry *)(void *)((char *)(head() + 1) + ticket % ENTRIES * ENTRY_BYTES);
}

static struct ppu_admin_msg open_queue(uint32_t of_context, uint32_t offset, uint32_t entries, uint32_t entry_bytes)
{
    const uint32_t arg[] = { of_context, offset, entries, entry_bytes };
    return mock_admin(PPU_ADMIN_TASKQ_OPEN, arg, 4);
}

static uint16_t close_queue(uint32_t which)
{
    return mock_admin(PPU_ADMIN_TASKQ_CLOSE, &which, 1).status;
}

static void empty_queue(void)
{
    *head() = (struct ppu_taskq_head){ .entries = ENTRIES, .entry_bytes = ENTRY_BYTES };
    for (uint32_t i = 0; i < ENTRIES; i++) {
        *entry(i) = (struct ppu_taskq_entry){ .sequence = i };
    }
}

static int setup(void **state)
{
    (void)state;
    mock_start();
    context = mock_context();
    empty_queue();
    struct ppu_admin_msg reply = open_queue(context, queue_offset(), ENTRIES, ENTRY_BYTES);
    assert_int_equal(reply.status, 0);
    number = reply.arg[0];
    stream = stream_open(context, 0, 16, 7, 0);
    return 0;
}

/* ---- a producer ---- */

static uint32_t reserve(void)
{
    uint32_t ticket = PPU_TASKQ_TICKET(head()->tail);
    head()->tail += 2;
    return ticket;
}

/* True when the task is to be told. */
static bool publish(uint32_t ticket)
{
    entry(ticket)->sequence = ticket + 1;
    return head()->armed != 0;
}

static bool push(void)
{
    return publish(reserve());
}

static void tell(void)
{
    struct ppu_start_event event = { .handle = head()->armed, .former = head()->armed, .context = context };
    head()->armed = 0;
    mock_push(PPU_RING_START, &event);
    mock_settle();
}

static void feed(uint32_t which)
{
    stream_method(&stream, PPU_METHOD_FEED, 1, &which);
    stream_submit(&stream);
}

/* ---- the device ---- */

static struct ppu_tmd *copy_in(uint32_t slot)
{
    return (struct ppu_tmd *)(void *)(mock.vram + mock.slot_task[slot]);
}

/* The slot has taken all it was told of, and has parked; the CTAs free their entries. */
static void park(uint32_t slot)
{
    uint64_t limit = copy_in(slot)->taskq_limit;
    uint32_t told = mock.reg[PPU_REG_SLOT_LIMIT / 4 + slot];
    limit += told && (int32_t)(told - (uint32_t)limit) > 0 ? told - (uint32_t)limit : 0;
    for (uint64_t n = copy_in(slot)->next_cta; n < limit; n++) {
        assert_int_equal(entry((uint32_t)n)->sequence, (uint32_t)n + 1);
        entry((uint32_t)n)->sequence = (uint32_t)n + ENTRIES;
    }
    copy_in(slot)->next_cta = copy_in(slot)->ctas_done = limit;
    mock.reg[PPU_REG_SLOT_LIMIT / 4 + slot] = 0;
    mock_slot_event(slot, PPU_SLOT_PARKED, 0);
    mock_settle();
}

static struct ppu_tmd queue_tmd(uint32_t which)
{
    struct ppu_tmd tmd = mock_tmd(5);
    tmd.kind = PPU_TMD_TASKQ;
    tmd.taskq = which;
    memcpy(tmd.grid, (uint32_t[3]){ 1, 1, 1 }, sizeof(tmd.grid));
    return tmd;
}

static void launch(uint32_t which)
{
    struct ppu_tmd tmd = queue_tmd(which);
    stream_launch(&stream, TMD_VA, &tmd, NONE);
    stream_submit(&stream);
}

static uint64_t pending(void)
{
    return mock_query(PPU_KEY_CHANNEL_PENDING, stream.channel);
}

/* The record of the one fault there is; the channel works again. */
static struct ppu_error_record is_fault(uint16_t code, uint64_t address)
{
    struct ppu_error_record record;
    assert_true(mock_error(&record));
    assert_int_equal(record.code, code);
    assert_int_equal(record.address, address);
    assert_int_equal(stream_state(&stream), PPU_CHANNEL_FAULTED);
    assert_int_equal(mock_admin(PPU_ADMIN_CHANNEL_RESET, &stream.channel, 1).status, 0);
    stream.put = 0;
    return record;
}

/* ---- tests ---- */

static void an_empty_queue_takes_no_slot(void **state)
{
    (void)state;
    launch(number);
    assert_int_equal(mock.started, 0);
    assert_int_not_equal(head()->armed, 0);
    assert_true(push());
    tell();
    assert_int_equal(mock.started, 1);
    assert_true(copy_in(0)->taskq_limit == 1);
    park(0);
    assert_int_equal(mock.started, 1);
    assert_int_equal(pending(), 1);
    push();
    feed(number);
    assert_int_equal(mock.started, 2);
    assert_true(copy_in(0)->taskq_limit == 2);
    park(0);
    head()->tail |= PPU_TASKQ_CLOSED;
    feed(number);
    assert_int_equal(pending(), 0);
    assert_int_equal(head()->armed, 0);
    assert_int_equal(close_queue(number), 0);
}

static void entries_before_the_launch(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 200; i++) { /* more than one look takes in */
        assert_false(push());
    }
    head()->tail |= PPU_TASKQ_CLOSED;
    launch(number);
    assert_int_equal(mock.started, 1);
    while (pending()) {
        park(0);
    }
    assert_int_equal(entry(199)->sequence, 199 + ENTRIES);
    assert_int_equal(entry(200)->sequence, 200);
}

static void a_running_slot_is_told(void **state)
{
    (void)state;
    push();
    launch(number);
    assert_true(push());
    tell();
    assert_int_equal(mock.reg[PPU_REG_SLOT_LIMIT / 4], 2);
    assert_int_not_equal(head()->armed, 0);
    /* A gap is waited for. */
    uint32_t gap = reserve();
    push();
    tell();
    assert_int_equal(mock.reg[PPU_REG_SLOT_LIMIT / 4], 2);
    publish(gap);
    tell();
    assert_int_equal(mock.reg[PPU_REG_SLOT_LIMIT / 4], 4);
}

static void an_entry_told_of_while_the_slot_parks(void **state)
{
    (void)state;
    push();
    launch(number);
    copy_in(0)->next_cta = copy_in(0)->ctas_done = 1;
    mock_slot_event(0, PPU_SLOT_PARKED, 0);
    push();
    tell();
    assert_int_equal(mock.started, 2);
    assert_true(copy_in(0)->taskq_limit == 2);
}

/* Its only CTA never ends, and other threads of the task tell of entries each ms. True: its limit of 10 s stops it. */
static bool is_stopped_in_time(bool steps)
{
    struct ppu_tmd tmd = queue_tmd(number);

    tmd.watchdog_ns = 10 * S;
    push();
    stream_launch(&stream, TMD_VA, &tmd, NONE);
    stream_submit(&stream);
    for (uint32_t ms = 0; ms < 10002; ms++) {
        if (mock.slot_task[0] == 0) {
            return ms >= 9999;
        }
        struct ppu_start_event event = { .handle = head()->armed, .former = head()->armed, .context = context };
        mock_push(PPU_RING_START, &event);
        if (steps && ms == 5000) {
            mock_slot_step(0);
        }
        mock_advance(S / 1000);
    }
    return mock.slot_task[0] == 0;
}

static void tellers_gain_no_time(void **state)
{
    (void)state;
    assert_true(is_stopped_in_time(false));
}

static void a_cta_that_ends_gains_time(void **state)
{
    (void)state;
    assert_false(is_stopped_in_time(true));
    mock_advance(4 * S);
    assert_int_not_equal(mock.slot_task[0], 0);
    mock_advance(2 * S);
    assert_int_equal(mock.slot_task[0], 0);
}

static void a_stale_teller_harms_nobody(void **state)
{
    (void)state;
    struct ppu_error_record record;
    const uint32_t handles[] = { PPU_TASK_HANDLE(3, 1), PPU_TASK_HANDLE(3, 2), 0xffffffff, PPU_TASK_HANDLE(5119, 1) };
    for (uint32_t i = 0; i < 4; i++) {
        struct ppu_start_event event = { .handle = handles[i], .former = handles[i], .context = context };
        mock_push(PPU_RING_START, &event);
        mock_settle();
    }
    assert_false(mock_error(&record));
    /* Nor does a teller of another address space. */
    launch(number);
    struct ppu_start_event event = { .handle = head()->armed, .former = head()->armed, .context = context + 1 };
    push();
    mock_push(PPU_RING_START, &event);
    mock_settle();
    assert_int_equal(mock.started, 0);
}

/* By the entry and the queue, which is not the first that was opened. */
static void a_hole_is_reported(void **state)
{
    (void)state;
    number = open_queue(context, queue_offset(), ENTRIES, ENTRY_BYTES).arg[0];
    assert_int_not_equal(number, 0);
    push();
    uint32_t hole = reserve();
    push();
    launch(number);
    park(0);
    mock_advance(60 * S);
    assert_int_equal(pending(), 1);
    head()->tail |= PPU_TASKQ_CLOSED;
    feed(number);
    mock_advance(9 * S);
    assert_int_equal(pending(), 1);
    mock_advance(2 * S);
    assert_int_equal(is_fault(PPU_FAULT_TASKQ_HOLE, hole).pc, number);
    assert_int_equal(close_queue(number), 0);
}

static void a_hole_is_filled_in_time(void **state)
{
    (void)state;
    uint32_t hole = reserve();
    uint32_t second = reserve();
    launch(number);
    head()->tail |= PPU_TASKQ_CLOSED;
    feed(number);
    mock_advance(9 * S);
    publish(hole);
    tell();
    park(0);
    mock_advance(9 * S);
    assert_int_equal(pending(), 1);
    publish(second);
    tell();
    park(0);
    assert_int_equal(pending(), 0);
}

static void tasks_without_a_queue_of_their_own(void **state)
{
    (void)state;
    launch(number + 1);
    is_fault(PPU_FAULT_TMD_TASKQ, offsetof(struct ppu_tmd, taskq));
    launch(UINT32_MAX);
    is_fault(PPU_FAULT_TMD_TASKQ, offsetof(struct ppu_tmd, taskq));
    feed(PPU_TASKQS);
    is_fault(PPU_FAULT_NO_TASKQ, PPU_TASKQS);
    feed(number);
    assert_int_equal(stream_state(&stream), PPU_CHANNEL_IDLE);
    launch(number);
    assert_int_equal(close_queue(number), PPU_FAULT_IN_USE);
    struct stream other = stream_open(context, 1, 16, 7, 0);
    struct ppu_tmd tmd = queue_tmd(number);
    stream_launch(&other, TMD_VA, &tmd, NONE);
    stream_submit(&other);
    assert_int_equal(stream_state(&other), PPU_CHANNEL_FAULTED);
    assert_int_equal(pending(), 1);
    /* Nor one after it has ended. */
    head()->tail |= PPU_TASKQ_CLOSED;
    feed(number);
    assert_int_equal(pending(), 0);
    struct ppu_error_record record;
    assert_true(mock_error(&record));
    launch(number);
    is_fault(PPU_FAULT_TMD_TASKQ, offsetof(struct ppu_tmd, taskq));
}

static uint16_t reopen_queue(uint32_t which)
{
    return mock_admin(PPU_ADMIN_TASKQ_REOPEN, &which, 1).status;
}

/* Each task takes from entry 0 on what the driver has emptied, however far the one before came. */
static void opened_again(void **state)
{
    (void)state;
    assert_int_equal(reopen_queue(number + 1), PPU_FAULT_NO_OBJECT);
    assert_int_equal(reopen_queue(UINT32_MAX), PPU_FAULT_NO_OBJECT);
    for (uint32_t round = 0; round < 3; round++) {
        const uint32_t entries = 10 + 100 * round;
        uint32_t started = mock.started;
        launch(number);
        assert_int_equal(mock.started, started);
        assert_int_equal(reopen_queue(number), PPU_FAULT_IN_USE);
        for (uint32_t i = 0; i < entries; i++) {
            push();
        }
        head()->tail |= PPU_TASKQ_CLOSED;
        tell();
        assert_int_equal(mock.started, started + 1);
        while (pending()) {
            park(0);
        }
        assert_int_equal(entry(entries - 1)->sequence, entries - 1 + ENTRIES);
        assert_int_equal(head()->armed, 0);
        assert_int_equal(reopen_queue(number), 0);
        empty_queue();
    }
    assert_int_equal(close_queue(number), 0);
    assert_int_equal(reopen_queue(number), PPU_FAULT_NO_OBJECT);
}

/* The producer that was to tell cannot know that the task has ended, the queue been closed, and its number be
 * another's. */
static void told_of_a_queue_that_was_closed(void **state)
{
    (void)state;
    assert_int_equal(close_queue(number), 0);
    feed(number);
    assert_int_equal(stream_state(&stream), PPU_CHANNEL_IDLE);

    uint32_t other = mock_context();
    assert_int_equal(open_queue(other, queue_offset(), ENTRIES, ENTRY_BYTES).arg[0], number);
    struct stream others = stream_open(other, 1, 16, 7, 0);
    struct ppu_tmd tmd = queue_tmd(number);
    stream_launch(&others, TMD_VA, &tmd, NONE);
    stream_submit(&others);
    uint32_t armed = head()->armed;
    assert_int_not_equal(armed, 0);
    push();
    feed(number);
    assert_int_equal(stream_state(&stream), PPU_CHANNEL_IDLE);
    assert_int_equal(mock.started, 0);
    assert_int_equal(head()->armed, armed);
    stream_method(&others, PPU_METHOD_FEED, 1, &number);
    stream_submit(&others);
    assert_int_equal(mock.started, 1);
}

static void a_channel_is_reset_with_its_queue_task(void **state)
{
    (void)state;
    for (uint32_t slot = 0; slot < 2; slot++) {
        uint32_t which = open_queue(context, queue_offset(), ENTRIES, ENTRY_BYTES).arg[0];
        head()->tail = slot ? 2 : 0;
        entry(0)->sequence = slot;
        launch(which);
        assert_int_equal(mock.started, slot);
        assert_int_equal(mock_admin(PPU_ADMIN_CHANNEL_RESET, &stream.channel, 1).status, 0);
        stream.put = 0;
        assert_int_equal(pending(), 0);
        assert_int_equal(head()->armed, 0);
        assert_int_equal(close_queue(which), 0);
    }
}

#define NEST_TASKS 64u

static struct ppu_nest *nest(void)
{
    return (struct ppu_nest *)(void *)(mock.vram + queue_offset() + 2 * PPU_MIB);
}

static void open_nest(void)
{
    uint64_t va = MOCK_VRAM_VA + queue_offset() + 2 * PPU_MIB;
    const uint32_t arg[] = { context, (uint32_t)va, (uint32_t)(va >> 32), queue_offset() + 2 * PPU_MIB, NEST_TASKS, 2 };
    assert_int_equal(mock_admin(PPU_ADMIN_NEST_OPEN, arg, 6).status, 0);
}

#define PLACES 2u
#define STATE_BYTES (64u * PPU_KIB)

/* The same, and CTAs that wait for their children can be saved. */
static void open_nest_that_saves(void)
{
    uint32_t at = queue_offset() + 2 * PPU_MIB;
    uint64_t va = MOCK_VRAM_VA + at;
    const uint32_t arg[] = {
        context, (uint32_t)va,     (uint32_t)(va >> 32),     at,          NEST_TASKS,
        2,       at + 2 * PPU_MIB, 2 * PLACES * STATE_BYTES, STATE_BYTES, PLACES,
    };
    assert_int_equal(mock_admin(PPU_ADMIN_NEST_OPEN, arg, 10).status, 0);
}

/* A task of the queue with these flags takes an entry. */
static void run_queue_task(uint32_t flags)
{
    struct ppu_tmd tmd = queue_tmd(number);
    tmd.flags = flags;
    stream_launch(&stream, TMD_VA, &tmd, NONE);
    stream_submit(&stream);
    push();
    tell();
}

/* A CTA in this slot launches a task, which starts. */
static void launch_child(uint32_t slot)
{
    ppu_task_t handle = ((ppu_task_t *)(void *)(nest() + 1))[nest()->free_head++ % NEST_TASKS];
    struct ppu_nest_task *record = (struct ppu_nest_task *)(void *)((char *)nest() + PPU_NEST_TASKS_AT(NEST_TASKS)) +
                                   (PPU_TASK_INDEX(handle) - nest()->first);
    struct ppu_nest_task *parent = (struct ppu_nest_task *)(void *)(mock.vram + copy_in(slot)->nest_va - MOCK_VRAM_VA);
    struct ppu_start_event event = { .slot = slot, .task = mock.slot_task[slot], .handle = handle, .context = context };
    record->tmd = mock_tmd(9);
    record->status.group = copy_in(slot)->task;
    record->status.stream = PPU_STREAM_NONE;
    record->place = 0;
    record->cta = 0;
    parent->group.work++;
    mock_push(PPU_RING_START, &event);
    mock_settle();
}

/* Its queue is closed and empty, and it is about to wait for its child, when its channel is reset: the child is killed,
 * and nobody takes it from the count. */
static void a_reset_as_the_task_ends(void **state)
{
    (void)state;
    open_nest();
    run_queue_task(PPU_TMD_LAUNCH);
    launch_child(0);
    assert_int_equal(mock.started, 2);
    park(0);
    struct ppu_start_event event = { .handle = head()->armed, .former = head()->armed, .context = context };
    head()->tail |= PPU_TASKQ_CLOSED;
    head()->armed = 0;
    mock_push(PPU_RING_START, &event);
    assert_int_equal(mock_admin(PPU_ADMIN_CHANNEL_RESET, &stream.channel, 1).status, 0);
    assert_int_equal(pending(), 0);
    assert_int_equal(mock_query(PPU_KEY_CONTEXT_TASKS, context), 0);
}

static struct ppu_cta_group *group(uint32_t slot)
{
    return (struct ppu_cta_group *)(void *)(mock.vram + copy_in(slot)->groups_vram);
}

static struct ppu_save *save_of(uint32_t slot)
{
    return (struct ppu_save *)(void *)(mock.vram + copy_in(slot)->save_vram);
}

/*
 * A CTA waits for its child, in its place, and the slot parks. An entry comes, for which the task gets a slot, and
 * there the CTA goes on when its child has ended. When the slot parks again nothing waits, so that the close ends the
 * task.
 */
static void a_cta_that_has_waited_is_forgotten(void **state)
{
    (void)state;
    open_nest_that_saves();
    run_queue_task(PPU_TMD_LAUNCH | PPU_TMD_MAY_WAIT | PPU_TMD_CTA_GROUPS);
    *group(0) = (struct ppu_cta_group){ 0, PPU_CTA_WORK(0) + 1 };
    launch_child(0);
    assert_int_equal(mock.started, 2);
    save_of(0)->state = PPU_SAVE_WAITING;
    copy_in(0)->next_cta = 1;
    mock_slot_event(0, PPU_SLOT_PARKED, 1);
    mock_settle();
    assert_int_equal(mock.started, 2);
    push();
    tell();
    assert_int_equal(mock.started, 3);
    mock_slot_event(1, PPU_SLOT_DONE, 0);
    mock_settle();
    assert_int_equal(group(0)->work, PPU_CTA_WORK(0));
    save_of(0)->state = PPU_SAVE_FREE;
    park(0);
    head()->tail |= PPU_TASKQ_CLOSED;
    tell();
    assert_int_equal(pending(), 0);
}

static void what_cannot_be_opened(void **state)
{
    (void)state;
    uint32_t offset = queue_offset();
    assert_int_equal(open_queue(context + 1, offset, ENTRIES, ENTRY_BYTES).status, PPU_FAULT_NO_OBJECT);
    const uint32_t wrong[][4] = {
        { offset + 64, ENTRIES, ENTRY_BYTES, 1 },
        { 0, ENTRIES, ENTRY_BYTES, 1 },
        { MOCK_VRAM_BYTES - 64 * PPU_KIB, PPU_TASKQ_MAX_ENTRIES, PPU_TASKQ_MAX_ENTRY_BYTES, 1 },
        { 0xffff0000, ENTRIES, ENTRY_BYTES, 1 },
        { offset, 1, ENTRY_BYTES, 2 },
        { offset, 3, ENTRY_BYTES, 2 },
        { offset, 2 * PPU_TASKQ_MAX_ENTRIES, ENTRY_BYTES, 2 },
        { offset, ENTRIES, 0, 3 },
        { offset, ENTRIES, 24, 3 },
        { offset, ENTRIES, PPU_TASKQ_MAX_ENTRY_BYTES + 16, 3 },
    };
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(wrong); i++) {
        struct ppu_admin_msg reply = open_queue(context, wrong[i][0], wrong[i][1], wrong[i][2]);
        assert_int_equal(reply.status, PPU_FAULT_ADMIN_ARG);
        assert_int_equal(reply.payload, wrong[i][3]);
    }
    assert_int_equal(close_queue(number + 1), PPU_FAULT_NO_OBJECT);
    for (uint32_t i = 1; i < PPU_TASKQS; i++) {
        assert_int_equal(open_queue(context, offset, ENTRIES, ENTRY_BYTES).status, 0);
    }
    assert_int_equal(open_queue(context, offset, ENTRIES, ENTRY_BYTES).status, PPU_FAULT_NO_RESOURCE);
    assert_int_equal(close_queue(7), 0);
    assert_int_equal(open_queue(context, offset, ENTRIES, ENTRY_BYTES).arg[0], 7);
}

/* Producers publish in any order and tell when they are to; the slot parks whenever it likes: every entry is taken. */
static void random_producers(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    uint32_t taken[8];
    uint32_t open = 0;
    uint32_t pushed = 0;
    launch(number);
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t ticket = PPU_TASKQ_TICKET(head()->tail);
        switch (random_below(&seed, 4)) {
        case 0:
        case 1:
            if (open < 8 && entry(ticket)->sequence == ticket) {
                taken[open++] = reserve();
            }
            break;
        case 2:
            if (open) {
                uint32_t which = random_below(&seed, open);
                bool told = publish(taken[which]);
                taken[which] = taken[--open];
                pushed++;
                if (told) {
                    tell();
                }
            }
            break;
        default:
            if (mock.slot_task[0]) {
                park(0);
            }
            break;
        }
    }
    while (open) {
        publish(taken[--open]);
        pushed++;
    }
    head()->tail |= PPU_TASKQ_CLOSED;
    tell();
    while (pending()) {
        assert_int_not_equal(mock.slot_task[0], 0);
        park(0);
    }
    for (uint32_t n = pushed; n < pushed + ENTRIES; n++) {
        assert_int_equal(entry(n)->sequence, n);
    }
    assert_true(pushed > 1000);
}

/* Whatever is written into the queue, the firmware goes on, and the channel can be reset. */
static void scribbled_queue(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    for (uint32_t round = 0; round < 60; round++) {
        uint32_t which = open_queue(context, queue_offset(), ENTRIES, ENTRY_BYTES).arg[0];
        launch(which);
        for (uint32_t i = 0; i < 20; i++) {
            uint32_t ticket = random_below(&seed, ENTRIES);
            entry(ticket)->sequence = random_below(&seed, 2) ? ticket + 1 : (uint32_t)random_next(&seed);
            head()->tail = (uint32_t)random_next(&seed);
            head()->armed = random_below(&seed, 2) ? head()->armed : (uint32_t)random_next(&seed);
            if (head()->armed && random_below(&seed, 2)) {
                tell();
            }
            if (stream_state(&stream) == PPU_CHANNEL_IDLE) {
                feed(which);
            }
            mock_advance(S);
        }
        assert_int_equal(mock_admin(PPU_ADMIN_CHANNEL_RESET, &stream.channel, 1).status, 0);
        stream.put = 0;
        assert_int_equal(pending(), 0);
        assert_int_equal(close_queue(which), 0);
        for (struct ppu_error_record record; mock_error(&record);) {
        }
    }
}

int main(void)
{
#define TEST(name, function)                       \
    {                                              \
        name, function, setup, mock_teardown, NULL \
    }
    const struct CMUnitTest tests[] = {
        TEST("a task whose queue is empty takes no slot, and ends when it is closed [A6 A13]",
             an_empty_queue_takes_no_slot),
        TEST("entries before the launch, more than a look takes in [A6]", entries_before_the_launch),
        TEST("a slot that runs is told of entries, up to the first gap [A6]", a_running_slot_is_told),
        TEST("an entry that is told of while the slot parks [A6]", an_entry_told_of_while_the_slot_parks),
        TEST("a queue task whose threads only tell of entries gains no time [A6]", tellers_gain_no_time),
        TEST("a CTA that ends gives its queue task time anew [A6]", a_cta_that_ends_gains_time),
        TEST("a stale or foreign teller harms nobody [A6]", a_stale_teller_harms_nobody),
        TEST("an entry that is never published is reported after the queue is closed [A6]", a_hole_is_reported),
        TEST("an entry that is published late is none [A6]", a_hole_is_filled_in_time),
        TEST("a queue has one task; others are refused [A6]", tasks_without_a_queue_of_their_own),
        TEST("a queue is opened again, for one more task each time [A6]", opened_again),
        TEST("a queue that has been closed since is told of [A6]", told_of_a_queue_that_was_closed),
        TEST("a channel is reset while its queue task waits or runs [A6]", a_channel_is_reset_with_its_queue_task),
        TEST("a queue task ends whose CTA has waited for a child [A6 B7]", a_cta_that_has_waited_is_forgotten),
        TEST("a channel is reset as its queue task ends, whose child runs [A6 B8]", a_reset_as_the_task_ends),
        TEST("queues that cannot be opened [A6]", what_cannot_be_opened),
        TEST("producers in random order, every entry taken [A6]", random_producers),
        TEST("random words in the queue [A6]", scribbled_queue),
    };
    return cmocka_run_group_tests_name("firmware: queue tasks", tests, NULL, NULL);
}
