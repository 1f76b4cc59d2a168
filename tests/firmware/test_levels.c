/* SPDX-License-Identifier: MIT */
/* Tests how tasks that never end, and cannot be saved, leave a slot to each priority above theirs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ppu/macros.h"
#include "tests/firmware/random.h"
#include "tests/firmware/stream.h"

#define SLOTS 24u
#define TMD_VA (MOCK_MEMORY_VA + 15u * 64u * PPU_KIB)
#define TOP (PPU_PRIORITIES - 1u)
#define STEPS 4000u
#define MOST_WAITING 40u

static struct stream stream;

static int setup(void **state)
{
    (void)state;
    mock_start_with_slots(SLOTS, 4);
    stream = stream_open(mock_context(), 0, 256, TOP, 0);
    return 0;
}

static void launch(struct stream *on, uint32_t priority)
{
    struct ppu_tmd tmd = mock_tmd(1);
    tmd.priority = (uint8_t)priority;
    tmd.watchdog_ns = 0;
    stream_launch(on, TMD_VA, &tmd, PPU_STREAM_NONE);
    stream_submit(on);
}

static const struct ppu_tmd *tmd_in(uint32_t slot)
{
    return mock.slot_task[slot] ? (const struct ppu_tmd *)(const void *)(mock.vram + mock.slot_task[slot]) : NULL;
}

/* Slots that have tasks up to the priority. */
static uint32_t held_up_to(uint32_t priority)
{
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        count += tmd_in(slot) && tmd_in(slot)->priority <= priority;
    }
    return count;
}

static void launch_many(uint32_t priority, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        launch(&stream, priority);
    }
}

/* Nothing ends here: whoever finds no slot at once never gets one. */
static void endless_tasks_leave_one_to_each_level(void **state)
{
    (void)state;
    for (uint32_t priority = 0; priority < PPU_PRIORITIES; priority++) {
        launch_many(priority, priority == 0 ? 2 * SLOTS : 1);
        assert_int_equal(mock.started, SLOTS - TOP + priority);
        assert_int_equal(held_up_to(priority), mock.started);
    }
    launch_many(TOP, 4);
    assert_int_equal(mock.started, SLOTS);
}

static void the_most_urgent_have_all(void **state)
{
    (void)state;
    launch_many(TOP, 2 * SLOTS);
    assert_int_equal(mock.started, SLOTS);
}

/* Slots are kept for levels of an address space that runs, not from one that does not. */
static void another_address_space_gets_one(void **state)
{
    (void)state;
    struct stream other = stream_open(mock_context(), 1, 256, TOP, 0);
    launch_many(0, 2 * SLOTS);
    assert_int_equal(mock.started, SLOTS - TOP);
    launch(&other, 0);
    assert_int_equal(mock.started, SLOTS - TOP + 1);
    launch(&other, 0);
    assert_int_equal(mock.started, SLOTS - TOP + 1);
}

/* Urgent tasks come and go, and always have all slots that they may: the least urgent gets its turn all the same. */
static void ageing_reaches_below(void **state)
{
    (void)state;
    launch_many(5, 2 * SLOTS);
    launch(&stream, 0);
    for (uint32_t ended = 0; held_up_to(0) == 0; ended++) {
        assert_true(ended < 100);
        launch(&stream, 5);
        mock_slot_event(ended % (SLOTS - 2), PPU_SLOT_DONE, 0);
        mock_settle();
        assert_int_equal(held_up_to(5), SLOTS - 2);
    }
}

static void fewer_slots_are_everybodys(void **state)
{
    mock_teardown(state);
    mock_start_with_slots(2 * PPU_PRIORITIES - 1, 4);
    stream = stream_open(mock_context(), 0, 256, TOP, 0);
    launch_many(0, SLOTS);
    assert_int_equal(mock.started, 2 * PPU_PRIORITIES - 1);
}

/* True when a task of this priority may have a slot. */
static bool may_start(uint32_t priority)
{
    bool may = true;
    for (uint32_t level = priority; level <= TOP; level++) {
        may = may && held_up_to(level) < SLOTS - (TOP - level);
    }
    return may;
}

static void check_all(const uint32_t *launched, const uint32_t *ended)
{
    uint32_t started[PPU_PRIORITIES] = { 0 };
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        if (tmd_in(slot)) {
            started[tmd_in(slot)->priority]++;
        }
    }
    for (uint32_t level = 0; level <= TOP; level++) {
        assert_true(held_up_to(level) <= SLOTS - (TOP - level));
        bool waits = launched[level] - ended[level] != started[level];
        assert_false(waits && may_start(level));
    }
}

/* Against a model: no level has more than it may, and none waits that may have one. */
static void random_levels(void **state)
{
    (void)state;
    uint64_t random = random_seed();
    uint32_t launched[PPU_PRIORITIES] = { 0 }, ended[PPU_PRIORITIES] = { 0 }, waiting = 0;
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t slot = random_below(&random, SLOTS);
        if (tmd_in(slot) && (waiting == MOST_WAITING || random_below(&random, 2) == 0)) {
            bool stops = mock.slot_command[slot] == PPU_SLOT_CMD_STOP && random_below(&random, 2) == 0;
            ended[tmd_in(slot)->priority] += !stops;
            waiting -= stops ? 0 : 1;
            mock.slot_command[slot] = 0;
            mock_slot_event(slot, stops ? PPU_SLOT_STOPPED : PPU_SLOT_DONE, 0);
            mock_settle();
        } else if (waiting < MOST_WAITING) {
            uint32_t priority = random_below(&random, PPU_PRIORITIES);
            launched[priority]++;
            waiting++;
            launch(&stream, priority);
        }
        check_all(launched, ended);
    }
}

/* Tasks whose CTAs all wait for children keep their slots until somebody finds none. */
static void who_finds_no_slot_takes_those_that_linger(void **state)
{
    (void)state;
    launch_many(TOP, SLOTS);
    assert_int_equal(mock.started, SLOTS);
    assert_int_equal(mock.reg[PPU_REG_SLOT_LINGER / 4], 1);
    launch_many(TOP, 2);
    assert_int_equal(mock.reg[PPU_REG_SLOT_LINGER / 4], 0);
    mock_slot_event(3, PPU_SLOT_DONE, 0);
    mock_settle();
    assert_int_equal(mock.started, SLOTS + 1);
    assert_int_equal(mock.reg[PPU_REG_SLOT_LINGER / 4], 0);
    mock_slot_event(3, PPU_SLOT_DONE, 0);
    mock_settle();
    assert_int_equal(mock.started, SLOTS + 2);
    assert_int_equal(mock.reg[PPU_REG_SLOT_LINGER / 4], 1);
}

/* So does one that lacks a slot of its level, though some are free. */
static void who_lacks_a_slot_of_its_level_does_so_too(void **state)
{
    (void)state;
    launch_many(0, SLOTS - TOP);
    assert_int_equal(mock.reg[PPU_REG_SLOT_LINGER / 4], 1);
    launch(&stream, 0);
    assert_int_equal(mock.started, SLOTS - TOP);
    assert_int_equal(mock.reg[PPU_REG_SLOT_LINGER / 4], 0);
}

static bool any_is_stopped(void)
{
    bool any = false;
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        any = any || mock.slot_command[slot] == PPU_SLOT_CMD_STOP;
    }
    return any;
}

/* Nobody who runs gives way while one who does not has a slot. */
static void slots_that_linger_go_before_evictions(void **state)
{
    (void)state;
    for (uint32_t priority = 0; priority < PPU_PRIORITIES; priority++) {
        launch_many(priority, priority == 0 ? SLOTS - TOP : 1);
    }
    assert_int_equal(mock.started, SLOTS);
    mock.lingering = 1ull << 3;
    launch(&stream, TOP);
    assert_int_equal(mock.started, SLOTS + 1);
    assert_false(any_is_stopped());
    launch(&stream, TOP);
    assert_int_equal(mock.started, SLOTS + 1);
    assert_true(any_is_stopped());
}

int main(void)
{
#define TEST(name, function)                       \
    {                                              \
        name, function, setup, mock_teardown, NULL \
    }
    const struct CMUnitTest tests[] = {
        TEST("endless tasks of each priority leave a slot to the next [A4 A5]", endless_tasks_leave_one_to_each_level),
        TEST("the most urgent tasks may have all slots [A5]", the_most_urgent_have_all),
        TEST("an address space without a slot gets one that is kept for a level [A9]", another_address_space_gets_one),
        TEST("urgent tasks that have all slots of their level are passed by age [A4]", ageing_reaches_below),
        TEST("who finds no slot takes those of tasks that wait [A13 B7]", who_finds_no_slot_takes_those_that_linger),
        TEST("who lacks a slot of its level takes those of tasks that wait [A5 B7]",
             who_lacks_a_slot_of_its_level_does_so_too),
        TEST("tasks that wait give their slots before any is evicted [A5 B7]", slots_that_linger_go_before_evictions),
        TEST("of few slots none is kept for a level [A5]", fewer_slots_are_everybodys),
        TEST("random tasks get the slots that a model gives them [A4 A5]", random_levels),
    };
    return cmocka_run_group_tests_name("firmware: slots of levels", tests, NULL, NULL);
}
