/* SPDX-License-Identifier: MIT */
/*
 * Tests feeding a queue task (A6, A12). Producers, who are threads or the host, the firmware, the device and whoever
 * closes the queue run in every order of their accesses for small cases, in random ones for larger.
 * device-lib/asm/taskq.s in C is the thread's part.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/block.h"
#include "firmware/caps.h"
#include "firmware/channel.h"
#include "firmware/commands.h"
#include "firmware/completion.h"
#include "firmware/context.h"
#include "firmware/copy.h"
#include "firmware/dma.h"
#include "firmware/fault.h"
#include "firmware/launch.h"
#include "firmware/layout.h"
#include "firmware/log.h"
#include "firmware/nest.h"
#include "firmware/policy.h"
#include "firmware/ring.h"
#include "firmware/shared.h"
#include "firmware/stats.h"
#include "firmware/taskq.h"
#include "firmware/timer.h"
#include "firmware/tmdq.h"
#include "firmware/tmu.h"
#include "firmware/trace.h"
#include "firmware/watchdog.h"
#include "firmware/wdu.h"
#include "firmware/workq.h"
#include "ppu/taskq.h"
#include "tests/firmware/mock_hal.h"
#include "tests/firmware/orders.h"

#define PIECES 8u
#define PLACE (24u * PPU_MIB) /* of the queue in VRAM */
#define ENTRY_BYTES 32u

static uint32_t entries; /* of the queue */
static uint32_t number;
static uint32_t context;
static struct channel *channel; /* that launched the task */
static uint32_t order[PIECES];  /* pieces in the order of their tickets */
static uint32_t taken;          /* tickets */
static uint32_t ran;            /* CTAs that have read their entry */
static uint32_t feeds;          /* FEED methods that the firmware has yet to execute */
static bool closed;

static struct ppu_taskq_head *head(void)
{
    return (struct ppu_taskq_head *)(void *)(mock.vram + PLACE);
}

static struct ppu_taskq_entry *entry(uint32_t ticket)
{
    return (struct ppu_taskq_entry *)(void *)((char *)(head() + 1) + ticket % entries * ENTRY_BYTES);
}

static uint32_t *data(uint32_t ticket)
{
    return (uint32_t *)(void *)(entry(ticket) + 1);
}

/* ---- producers ---- */

/* A start request of a thread. */
static void request(ppu_task_t task)
{
    struct ppu_start_event event = { .handle = task, .former = task };
    mock_push(PPU_RING_START, &event);
}

/* The host's method. */
static void feed(ppu_task_t task)
{
    (void)task;
    feeds++;
}

static void tell(void (*say)(ppu_task_t task))
{
    ppu_task_t task = shared_exchange(&head()->armed, PPU_TASK_NULL);
    if (task != PPU_TASK_NULL) {
        say(task);
    }
}

/* A place that is not free yet is waited for. False: the queue is closed. */
static bool take_ticket(uint32_t piece, uint32_t *ticket)
{
    for (;;) {
        uint32_t tail = shared_read(&head()->tail);
        *ticket = PPU_TASKQ_TICKET(tail);
        if (tail & PPU_TASKQ_CLOSED) {
            return false;
        }
        if (shared_read(&entry(*ticket)->sequence) == *ticket && shared_replace(&head()->tail, tail, tail + 2)) {
            order[taken++] = piece;
            return true;
        }
    }
}

static void publish(uint32_t ticket, uint32_t piece, void (*say)(ppu_task_t task))
{
    entry(ticket)->kind = PPU_TASKQ_DATA;
    *data(ticket) = piece;
    shared_publish(&entry(ticket)->sequence, ticket + 1);
    tell(say);
}

static void push(uint32_t piece, void (*say)(ppu_task_t task))
{
    uint32_t ticket;
    if (take_ticket(piece, &ticket)) {
        publish(ticket, piece, say);
    }
}

static void close_queue(void)
{
    orders_step();
    head()->tail |= PPU_TASKQ_CLOSED;
    closed = true;
    tell(feed);
}

/* Those that had taken ticket 0, or 1, when the orders begin. */
static void publish_0(void)
{
    publish(0, order[0], request);
}

static void publish_1(void)
{
    publish(1, order[1], feed);
}

static void thread_of_one(void)
{
    push(0, request);
}

static void thread_of_two(void)
{
    push(0, request);
    push(1, request);
}

static void host_of_four(void)
{
    for (uint32_t i = 2; i < 6; i++) {
        push(i, feed);
    }
}

static void host_that_closes(void)
{
    push(2, feed);
    close_queue();
}

/* ---- the firmware: one event a turn ---- */

static bool ring_waits(enum ppu_ring_id id)
{
    return rings[id].header->tail != rings[id].head;
}

static bool firmware_can(void)
{
    return feeds || ring_waits(PPU_RING_START) || ring_waits(PPU_RING_SLOT);
}

static bool take(enum ppu_ring_id id, union ring_entry *event)
{
    return ring_waits(id) && ring_pop(&rings[id], rings[id].header->tail, event);
}

static void serve(void)
{
    union ring_entry event;
    if (take(PPU_RING_SLOT, &event)) {
        wdu_slot_event(&event);
    } else if (take(PPU_RING_START, &event)) {
        wdu_start_event(&event);
    } else {
        feeds--;
        taskq_feed(number, context);
    }
    while (taskq_serve_more(1)) {
    }
    completion_run_deferred(1);
}

static void firmware(void)
{
    for (;;) {
        orders_wait(firmware_can);
        serve();
    }
}

/* ---- the device: slot 0, which hands out a CTA a turn ---- */

static struct ppu_tmd *copy(void)
{
    return (struct ppu_tmd *)(void *)(mock.vram + mock.slot_task[0]);
}

static bool slot_runs(void)
{
    return mock.slot_task[0] != 0;
}

/* SLOT_LIMIT raises what the copy says; one that was written to an earlier task of the slot does not. */
static uint32_t limit(void)
{
    uint32_t told = mock.reg[PPU_REG_SLOT_LIMIT / 4];
    return told > copy()->taskq_limit ? told : (uint32_t)copy()->taskq_limit;
}

static void cta(uint32_t position)
{
    assert_int_equal(entry(position)->sequence, position + 1);
    assert_true(position < taken);
    assert_int_equal(*data(position), order[position]);
    *data(position) = UINT32_MAX;
    entry(position)->sequence = position + entries;
    ran++;
}

static void device_turn(void)
{
    if (copy()->next_cta < limit()) {
        cta((uint32_t)copy()->next_cta);
        copy()->ctas_done = ++copy()->next_cta;
    } else {
        mock_slot_event(0, PPU_SLOT_PARKED, 0);
    }
}

static void device(void)
{
    for (;;) {
        orders_wait(slot_runs);
        device_turn();
    }
}

/* Fewer orders: the device has its turn when the firmware has nothing to do. */
static void settle(void)
{
    while (firmware_can() || slot_runs()) {
        if (firmware_can()) {
            serve();
        } else {
            device_turn();
        }
    }
}

static void firmware_and_device(void)
{
    for (;;) {
        settle();
        orders_wait(firmware_can);
    }
}

/* ---- the world ---- */

static void init_firmware(void)
{
    layout_init();
    timers_init();
    ring_init();
    dma_init();
    trace_init();
    log_init();
    fault_init();
    stats_init();
    policy_init();
    task_init();
    taskq_init();
    nest_init();
    tmdq_init();
    tmu_init();
    watchdog_init();
    wdu_init();
    copy_init();
    context_init();
    commands_init();
    channel_init();
    workq_init();
    completion_init();
    block_init();
}

static void launch(void)
{
    struct ppu_tmd *tmd = mock_at(MOCK_MEMORY_VA);
    uint16_t code = 0;
    uint64_t payload = 0;
    *tmd = mock_tmd(1);
    tmd->kind = PPU_TMD_TASKQ;
    tmd->taskq = number;
    memcpy(tmd->grid, (uint32_t[3]){ 1, 1, 1 }, sizeof(tmd->grid));
    assert_int_equal(launch_task(channel, (ppu_va_t){ MOCK_MEMORY_VA }, PPU_STREAM_NONE, 0, &code, &payload),
                     LAUNCH_ACCEPTED);
}

/* A task that waits for entries of an empty queue. */
static void world_begin(void)
{
    init_firmware();
    memset(mock.slot_task, 0, sizeof(mock.slot_task));
    mock.reg[PPU_REG_SLOT_LIMIT / 4] = 0;
    taken = 0;
    ran = 0;
    feeds = 0;
    closed = false;
    assert_true(context_open(layout.pt_base, layout.pt_base, &context));
    *head() = (struct ppu_taskq_head){ .entries = entries, .entry_bytes = ENTRY_BYTES };
    for (uint32_t i = 0; i < entries; i++) {
        *entry(i) = (struct ppu_taskq_entry){ .sequence = i };
    }
    const struct taskq_plan plan = { context, { PLACE }, entries, ENTRY_BYTES };
    assert_true(taskq_open(&plan, &number));
    channel = channel_open(context, (ppu_va_t){ MOCK_MEMORY_VA }, 4, 7, 0);
    assert_non_null(channel);
    launch();
    assert_int_not_equal(head()->armed, PPU_TASK_NULL);
}

static bool task_has_ended(void)
{
    return channel->pending == 0;
}

/* Whoever made the queue needs it no more, though a FEED may be on its way. */
static void owner(void)
{
    orders_wait(task_has_ended);
    assert_int_equal(taskq_close(number), PPU_FAULT_NONE);
}

/* The same, and ticket 0 is taken. */
static void world_with_ticket(void)
{
    uint32_t ticket;
    world_begin();
    assert_true(take_ticket(0, &ticket));
}

/* And ticket 1. */
static void world_with_tickets(void)
{
    uint32_t ticket;
    world_with_ticket();
    assert_true(take_ticket(1, &ticket));
}

/* The same, and entry 0 was there: the slot runs. */
static void world_that_runs(void)
{
    world_with_tickets();
    publish_0();
    serve();
    assert_true(slot_runs());
}

/* Nobody can go on: every entry was read, and the task has completed or waits to be told of more. */
static void world_end(void)
{
    settle();
    assert_int_equal(ran, taken);
    assert_false(slot_runs());
    assert_int_not_equal(channel->state, PPU_CHANNEL_FAULTED);
    assert_int_equal(channel->pending, closed ? 0 : 1);
    assert_int_equal(head()->armed == PPU_TASK_NULL, closed);
    for (uint32_t i = taken; i < taken + entries; i++) {
        assert_int_equal(entry(i)->sequence, i);
    }
}

static int setup(void **state)
{
    (void)state;
    mock_reset();
    mock.reg[PPU_REG_ARMED / 4] = MOCK_CHANNELS;
    assert_int_equal(caps_init(), 0);
    return 0;
}

static void producers(void **state)
{
    (void)state;
    const struct orders orders = { world_begin, { thread_of_one, host_that_closes }, world_end };
    entries = 2;
    assert_true(orders_all(&orders) > 100);
}

static void an_entry(void **state)
{
    (void)state;
    const struct orders orders = { world_begin, { thread_of_one, firmware, device }, world_end };
    entries = 2;
    assert_true(orders_all(&orders) > 50);
}

static void two_entries(void **state)
{
    (void)state;
    const struct orders orders = { world_with_tickets, { publish_0, publish_1, firmware_and_device }, world_end };
    entries = 2;
    assert_true(orders_all(&orders) > 1000);
}

static void an_entry_while_the_slot_runs(void **state)
{
    (void)state;
    const struct orders orders = { world_that_runs, { publish_1, firmware, device }, world_end };
    entries = 2;
    assert_true(orders_all(&orders) > 100);
}

static void a_close(void **state)
{
    (void)state;
    const struct orders orders = { world_with_ticket,
                                   { publish_0, close_queue, firmware_and_device, owner },
                                   world_end };
    entries = 2;
    assert_true(orders_all(&orders) > 1000);
}

static void around_the_queue(void **state)
{
    (void)state;
    const struct orders orders = { world_begin, { thread_of_two, host_of_four, firmware, device }, world_end };
    entries = 2;
    orders_random(&orders, 10000);
}

static void until_it_is_closed(void **state)
{
    (void)state;
    const struct orders orders = { world_begin, { thread_of_two, host_that_closes, firmware, device }, world_end };
    entries = 2;
    orders_random(&orders, 10000);
}

int main(void)
{
#define TEST(name, function)                       \
    {                                              \
        name, function, setup, mock_teardown, NULL \
    }
    const struct CMUnitTest tests[] = {
        TEST("a thread, the host and the close, every order [A6]", producers),
        TEST("a thread feeds a task that waits, every order [A6 A12]", an_entry),
        TEST("a thread and the host publish at once, every order [A6]", two_entries),
        TEST("an entry is published while the slot runs and parks, every order [A6]", an_entry_while_the_slot_runs),
        TEST("a queue is closed, and destroyed, while an entry is on its way, every order [A6]", a_close),
        TEST("a thread and the host go around a small queue, random orders [A6]", around_the_queue),
        TEST("producers against the close, random orders [A6]", until_it_is_closed),
    };
    return cmocka_run_group_tests_name("firmware: feeding queue tasks", tests, NULL, NULL);
}
