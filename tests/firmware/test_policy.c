/* SPDX-License-Identifier: MIT */
/* Tests policies of the scheduler: what each changes in which task runs next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ppu/macros.h"
#include "tests/firmware/stream.h"

#define TMD_VA (MOCK_MEMORY_VA + 15u * 64u * PPU_KIB)
#define NONE UINT32_MAX
#define MS 1000000ull

static struct stream stream;

static uint16_t set(uint32_t policy, uint32_t value)
{
    const uint32_t arg[] = { policy, value };
    return mock_admin(PPU_ADMIN_POLICY, arg, 2).status;
}

static int setup(void **state)
{
    (void)state;
    mock_start();
    stream = stream_open(mock_context(), 0, 256, 7, 0);
    return 0;
}

/* The correlation is what start_log names. */
static void launch_in(uint32_t tmdq, uint32_t correlation, uint8_t priority, uint16_t flags)
{
    struct ppu_tmd tmd = mock_tmd(correlation);
    tmd.priority = priority;
    tmd.flags = flags;
    tmd.watchdog_ns = 0;
    stream_launch(&stream, TMD_VA, &tmd, tmdq);
    stream_submit(&stream);
}

static void launch(uint32_t correlation, uint8_t priority, uint16_t flags)
{
    launch_in(NONE, correlation, priority, flags);
}

static void end(uint32_t slot)
{
    mock_slot_event(slot, PPU_SLOT_DONE, 0);
    mock_settle();
}

static void fill_slots(uint8_t priority)
{
    for (uint32_t i = 0; i < MOCK_SLOTS; i++) {
        launch(1000 + i, priority, 0);
    }
    assert_int_equal(mock.started, MOCK_SLOTS);
}

static uint32_t stopped_slots(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < MOCK_SLOTS; i++) {
        count += mock.slot_task[i] && mock.slot_command[i] == PPU_SLOT_CMD_STOP;
    }
    return count;
}

static void values(void **state)
{
    (void)state;
    struct row {
        uint32_t number, least, most, first;
    };
    static const struct row rows[] = {
#define PPU_POLICY(name, number, least, most, first, reg, doc) { number, least, most, first },
#include "ppu/policy.def"
#undef PPU_POLICY
    };
    for (uint32_t i = 0; i < PPU_POLICIES; i++) {
        const struct row *row = &rows[i];
        assert_int_equal(mock_query(PPU_KEY_POLICY, row->number), row->first);
        assert_int_equal(set(row->number, row->most + 1), PPU_FAULT_ADMIN_ARG);
        assert_int_equal(set(row->number, row->least - 1), PPU_FAULT_ADMIN_ARG);
        assert_int_equal(mock_query(PPU_KEY_POLICY, row->number), row->first);
        assert_int_equal(set(row->number, row->most), 0);
        assert_int_equal(mock_query(PPU_KEY_POLICY, row->number), row->most);
        assert_int_equal(set(row->number, row->least), 0);
        assert_int_equal(mock_query(PPU_KEY_POLICY, row->number), row->least);
    }
    assert_int_equal(set(PPU_POLICIES, 1), PPU_FAULT_ADMIN_ARG);
    const uint32_t arg[] = { PPU_KEY_POLICY, PPU_POLICIES };
    assert_int_equal(mock_admin(PPU_ADMIN_QUERY, arg, 2).status, PPU_FAULT_NO_OBJECT);
}

/* Urgent tasks without end, and one that is not: it runs after as many as the policy says. */
static void ageing(void **state)
{
    (void)state;
    const uint32_t ages[] = { 1, 2, 7, 20 };
    for (uint32_t a = 0; a < PPU_ARRAY_SIZE(ages); a++) {
        mock_stop();
        setup(NULL);
        assert_int_equal(set(PPU_POLICY_AGE, ages[a]), 0);
        fill_slots(7);
        launch(1, 0, 0);
        for (uint32_t i = 0; i < 30; i++) {
            launch(100 + i, 5, 0);
        }
        uint32_t passed = 0;
        for (;; passed++) {
            end(0);
            if (mock.start_log[mock.started - 1] == 1) {
                break;
            }
        }
        assert_int_equal(passed, ages[a] - 1);
    }
}

static void slices(void **state)
{
    (void)state;
    fill_slots(3);
    launch(1, 3, 0);
    mock_advance(9 * MS);
    assert_int_equal(stopped_slots(), 0);
    mock_advance(2 * MS);
    assert_in_range(stopped_slots(), 1, MOCK_SLOTS);
    for (uint32_t slot = 0; slot < MOCK_SLOTS; slot++) {
        if (mock.slot_command[slot] == PPU_SLOT_CMD_STOP) {
            mock_slot_event(slot, PPU_SLOT_STOPPED, 0);
        }
    }
    mock_settle();
    /* It was first; those that gave way are behind it. */
    assert_int_equal(mock.start_log[MOCK_SLOTS], 1);
}

static void slices_of_another_length(void **state)
{
    (void)state;
    assert_int_equal(set(PPU_POLICY_SLICE_US, 100), 0);
    fill_slots(3);
    launch(1, 3, 0);
    mock_advance(MS / 5);
    assert_in_range(stopped_slots(), 1, MOCK_SLOTS);
}

static void no_slices(void **state)
{
    (void)state;
    assert_int_equal(set(PPU_POLICY_SLICE_US, 0), 0);
    fill_slots(3);
    launch(1, 3, 0);
    mock_advance(1000 * MS);
    assert_int_equal(stopped_slots(), 0);
    /* A more urgent one does not wait for slices. */
    launch(2, 4, 0);
    assert_int_equal(stopped_slots(), 1);
}

static void head_and_tail(void **state)
{
    (void)state;
    fill_slots(3);
    launch(1, 3, 0);
    launch(2, 3, PPU_TMD_HEAD);
    launch(3, 3, 0);
    launch(4, 3, PPU_TMD_HEAD);
    const uint32_t expected[] = { 4, 2, 1, 3 };
    for (uint32_t i = 0; i < 4; i++) {
        end(0);
        assert_int_equal(mock.start_log[MOCK_SLOTS + i], expected[i]);
    }
}

/* Tasks that go to the head of the list without end: the one that was there has its turn. */
static void ageing_within_a_list(void **state)
{
    (void)state;
    const uint32_t ages[] = { 1, 2, 7, 20 };
    for (uint32_t a = 0; a < PPU_ARRAY_SIZE(ages); a++) {
        mock_stop();
        setup(NULL);
        assert_int_equal(set(PPU_POLICY_AGE, ages[a]), 0);
        fill_slots(3);
        for (uint32_t n = 1; n <= 3; n++) {
            launch(n, 3, 0);
        }
        for (uint32_t n = 1; n <= 3; n++) {
            uint32_t passed = 0;
            for (;; passed++) {
                launch(100 + passed, 3, PPU_TMD_HEAD);
                end(0);
                if (mock.start_log[mock.started - 1] < 100) {
                    break;
                }
            }
            assert_int_equal(mock.start_log[mock.started - 1], n);
            assert_in_range(passed, ages[a] - 1, ages[a]);
        }
    }
}

/* One that becomes ready when a slot has come free does not overtake those that wait for it. */
static void no_overtaking(void **state)
{
    (void)state;
    launch_in(0, 1, 3, 0);
    launch_in(0, 2, 3, 0);
    for (uint32_t i = 1; i < MOCK_SLOTS; i++) {
        launch(1000 + i, 3, 0);
    }
    launch(3, 3, 0);
    end(0);
    assert_int_equal(mock.start_log[MOCK_SLOTS], 3);
    end(1);
    assert_int_equal(mock.start_log[MOCK_SLOTS + 1], 2);
}

int main(void)
{
#define TEST(name, function)                       \
    {                                              \
        name, function, setup, mock_teardown, NULL \
    }
    const struct CMUnitTest tests[] = {
        TEST("policies have limits and can be read [A4]", values),
        TEST("the least urgent task runs after as many others as the policy says [A4]", ageing),
        TEST("equals take turns by slices; who gave way comes last [A4 A5]", slices),
        TEST("slices of another length [A4]", slices_of_another_length),
        TEST("without slices equals keep their slots, the more urgent evict all the same [A4 A5]", no_slices),
        TEST("head and tail insertion [A4]", head_and_tail),
        TEST("one is passed over by those that go to the head as often as the policy says [A4]", ageing_within_a_list),
        TEST("what becomes ready beside a free slot does not overtake [A4]", no_overtaking),
    };
    return cmocka_run_group_tests_name("firmware: policies", tests, NULL, NULL);
}
