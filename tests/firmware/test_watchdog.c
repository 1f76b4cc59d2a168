/* SPDX-License-Identifier: MIT */
/* Tests the watchdog: whose limit a task has, which time counts, and that a kill without an answer is repeated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ppu/macros.h"
#include "tests/firmware/stream.h"

#define TMD_VA (MOCK_MEMORY_VA + 15u * 64u * PPU_KIB)
#define MS 1000000ull
#define NO_LIMIT 0u
#define NO_TMDQ UINT32_MAX
#define WATCHED 1u /* correlation of the task that the tests look at */
#define URGENT 7u

static struct stream stream;

static void set_policy(uint32_t policy, uint32_t value)
{
    const uint32_t arg[] = { policy, value };
    assert_int_equal(mock_admin(PPU_ADMIN_POLICY, arg, 2).status, 0);
}

static int setup(void **state)
{
    (void)state;
    mock_start();
    set_policy(PPU_POLICY_SLICE_US, 0); /* hours would have millions of slices */
    stream = stream_open(mock_context(), 0, 16, 7, 0);
    return 0;
}

static void launch_with(uint32_t correlation, uint8_t priority, uint64_t limit_ns)
{
    struct ppu_tmd tmd = mock_tmd(correlation);
    tmd.priority = priority;
    tmd.watchdog_ns = limit_ns;
    stream_launch(&stream, TMD_VA, &tmd, NO_TMDQ);
    stream_submit(&stream);
}

/* It is the first task, so it gets slot 0. */
static void launch(uint64_t limit_ns)
{
    launch_with(WATCHED, 0, limit_ns);
}

static bool runs(void)
{
    return mock.slot_task[0] != 0;
}

static void assert_ended_by_watchdog(uint64_t limit_ns)
{
    struct ppu_error_record record;
    assert_false(runs());
    assert_true(mock_error(&record));
    assert_int_equal(record.code, PPU_FAULT_WATCHDOG);
    assert_int_equal(record.channel, stream.channel);
    assert_int_equal(record.address, limit_ns);
    assert_false(mock_error(&record));
    assert_int_equal(mock_query(PPU_KEY_CHANNEL_STATE, stream.channel), PPU_CHANNEL_FAULTED);
    assert_int_equal(mock_query(PPU_KEY_CHANNEL_FAULT_CODE, stream.channel), PPU_FAULT_WATCHDOG);
}

static void reset_channel(void)
{
    assert_int_equal(mock_admin(PPU_ADMIN_CHANNEL_RESET, &stream.channel, 1).status, 0);
    stream.put = 0;
}

/* A policy caps what TMDs say; without one an hour is the most. */
static const struct {
    uint64_t own_ns;
    uint32_t policy_ms;
    uint64_t limit_ms;
} limits[] = {
    { 3 * MS, NO_LIMIT, 3 }, { UINT64_MAX, NO_LIMIT, PPU_MAX_LIMIT_MS }, { NO_LIMIT, 7, 7 }, { 1000 * MS, 7, 7 },
    { 5 * MS, 7, 5 },
};

static void ends_at_its_limit(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(limits); i++) {
        set_policy(PPU_POLICY_LIMIT_MS, limits[i].policy_ms);
        launch(limits[i].own_ns);
        mock_advance((limits[i].limit_ms - 1) * MS);
        assert_true(runs());
        mock_advance(MS);
        assert_ended_by_watchdog(limits[i].limit_ms * MS);
        reset_channel();
    }
}

/* A policy holds for tasks that are accepted later. */
static void runs_without_a_limit(void **state)
{
    (void)state;
    launch(NO_LIMIT);
    set_policy(PPU_POLICY_LIMIT_MS, 7);
    mock_advance(3 * PPU_MAX_LIMIT_MS * MS);
    assert_true(runs());
}

/* Waiting for room costs nothing, and neither does a look in between. */
static void counts_time_on_sms(void **state)
{
    (void)state;
    launch(3 * MS);
    mock_advance(2 * MS);
    mock_slot_room(0, false);
    mock_advance(60000 * MS);
    assert_true(runs());
    mock_slot_room(0, true);
    mock_advance(MS / 2);
    assert_true(runs());
    mock_advance(2 * MS);
    assert_ended_by_watchdog(3 * MS);
}

/* A more urgent task takes its slot for a while. */
static void keeps_what_is_left(void **state)
{
    (void)state;
    launch(10 * MS);
    for (uint32_t i = 1; i < MOCK_SLOTS; i++) {
        launch_with(1 + i, URGENT, NO_LIMIT);
    }
    mock_advance(4 * MS);
    launch_with(100, URGENT, NO_LIMIT);
    mock_slot_event(0, PPU_SLOT_STOPPED, 0);
    mock_settle();
    mock_advance(1000 * MS);
    mock_slot_event(0, PPU_SLOT_DONE, 0);
    mock_settle();
    assert_int_equal(mock.start_log[mock.started - 1], WATCHED);
    mock_advance(5 * MS);
    assert_true(runs());
    mock_advance(MS);
    assert_ended_by_watchdog(10 * MS);
}

static uint32_t kills(void)
{
    uint32_t found = mock.slot_command[0] == PPU_SLOT_CMD_KILL;
    mock.slot_command[0] = 0;
    return found;
}

static void repeats_a_kill(void **state)
{
    (void)state;
    mock.hold_kills = true;
    launch(3 * MS);
    mock_advance(3 * MS);
    for (uint32_t second = 0; second < 3; second++) {
        assert_int_equal(kills(), 1);
        mock_advance(999 * MS);
        assert_int_equal(kills(), 0);
        mock_advance(MS);
    }
    assert_non_null(strstr(mock.log, "slot 0: not dead 1000 ms after it was killed"));
    assert_int_equal(kills(), 1);
    mock_slot_event(0, PPU_SLOT_KILLED, 0);
    mock_settle();
    assert_ended_by_watchdog(3 * MS);
    mock_advance(5000 * MS);
    assert_int_equal(kills(), 0);
}

int main(void)
{
#define TEST(name, function)                       \
    {                                              \
        name, function, setup, mock_teardown, NULL \
    }
    const struct CMUnitTest tests[] = {
        TEST("the watchdog ends a task at its own limit, or at that of the policy [A5]", ends_at_its_limit),
        TEST("a task has no time limit but that of a policy [A5]", runs_without_a_limit),
        TEST("the watchdog counts only time in which CTAs are on SMs [A5]", counts_time_on_sms),
        TEST("a task that was evicted has what was left of its limit [A5]", keeps_what_is_left),
        TEST("a kill is repeated each second until the slot has ended [A5]", repeats_a_kill),
    };
    return cmocka_run_group_tests_name("firmware: watchdog", tests, NULL, NULL);
}
