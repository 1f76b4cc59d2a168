/* SPDX-License-Identifier: MIT */
/*
 * Tests thread-group contexts of CTAs (ppu/task.h): a child of a CTA that has ended completes while the device gives
 * the place to another CTA, which launches, in every order of their accesses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/nest.h"
#include "firmware/shared.h"
#include "ppu/nest.h"
#include "tests/firmware/orders.h"
#include "tests/firmware/stream.h"

#define TMD_VA (MOCK_MEMORY_VA + 15u * 64u * PPU_KIB)
#define PLACES 2u
#define PLACE 1u
#define FORMER 5u
#define LATTER 9u
#define SAVE_BYTES (64u * PPU_KIB)

static struct task *parent;
static bool woken; /* the latter's last child is said to have completed */

static struct ppu_cta_group *group(void)
{
    return (struct ppu_cta_group *)(void *)(mock.vram + nest_groups(parent)) + PLACE;
}

static int setup(void **state)
{
    (void)state;
    mock_start();
    uint32_t context = mock_context();
    uint32_t place = mock_info()->heap_base + 2 * PPU_MIB;
    uint64_t va = MOCK_VRAM_VA + place;
    const uint32_t arg[] = {
        context, (uint32_t)va,        (uint32_t)(va >> 32),    place,      PPU_NEST_MIN_TASKS,
        2,       place + 2 * PPU_MIB, 2 * PLACES * SAVE_BYTES, SAVE_BYTES, PLACES,
    };
    assert_int_equal(mock_admin(PPU_ADMIN_NEST_OPEN, arg, 10).status, 0);
    struct stream stream = stream_open(context, 0, 16, 7, 0);
    struct ppu_tmd tmd = mock_tmd(5);
    tmd.flags = PPU_TMD_LAUNCH | PPU_TMD_MAY_WAIT | PPU_TMD_CTA_GROUPS;
    stream_launch(&stream, TMD_VA, &tmd, PPU_STREAM_NONE);
    stream_submit(&stream);
    parent = task_of_tmd(mock.slot_task[0]);
    assert_non_null(parent);
    assert_int_not_equal(nest_groups(parent), 0);
    return 0;
}

/* The former CTA has launched two tasks and ended. */
static void begin(void)
{
    *group() = (struct ppu_cta_group){ FORMER, PPU_CTA_WORK(FORMER) + 2 };
    woken = false;
}

static void former_child(void)
{
    (void)nest_child_done(parent, PLACE, FORMER);
}

/* The device, and a thread of the CTA that begins. */
static void latter_launches(void)
{
    shared_publish(&group()->cta, LATTER);
    shared_publish(&group()->work, PPU_CTA_WORK(LATTER));
    shared_add(&group()->work, 1);
}

static void latter_launches_and_its_child_ends(void)
{
    latter_launches();
    woken = nest_child_done(parent, PLACE, LATTER);
}

static void one_is_left(void)
{
    assert_int_equal(group()->cta, LATTER);
    assert_int_equal(group()->work, PPU_CTA_WORK(LATTER) + 1);
}

static void none_is_left(void)
{
    assert_int_equal(group()->work, PPU_CTA_WORK(LATTER));
    assert_true(woken);
}

static void a_place_changes_hands(void **state)
{
    (void)state;
    const struct orders orders = { begin, { former_child, latter_launches }, one_is_left };
    const struct orders done = { begin, { former_child, latter_launches_and_its_child_ends }, none_is_left };

    assert_true(orders_all(&orders) > 10);
    assert_true(orders_all(&done) > 20);
}

static uint32_t launched;

static void thread(void)
{
    shared_add(&group()->work, 1);
    launched++;
}

static void two_in_work(void)
{
    assert_int_equal(group()->work, PPU_CTA_WORK(FORMER) + 2 + 2 - 1);
}

static void launches_beside_a_completion(void **state)
{
    (void)state;
    const struct orders orders = { begin, { former_child, thread, thread }, two_in_work };

    assert_true(orders_all(&orders) > 10);
}

/* What threads write is no place, no CTA, no count: nothing happens. */
static void what_is_not_there(void **state)
{
    (void)state;
    begin();
    assert_false(nest_child_done(parent, PLACES, FORMER));
    assert_false(nest_child_done(parent, UINT32_MAX, FORMER));
    assert_false(nest_child_done(parent, PLACE, FORMER + 0x10000u));
    assert_int_equal(group()->work, PPU_CTA_WORK(FORMER) + 2);
    assert_false(nest_child_done(parent, PLACE, FORMER));
    assert_true(nest_child_done(parent, PLACE, FORMER));
    assert_false(nest_child_done(parent, PLACE, FORMER));
    assert_int_equal(group()->work, PPU_CTA_WORK(FORMER));
}

/* A thread that waits for entries of a work queue goes on when there may be some, and not before. */
static void entries_of_a_work_queue(void **state)
{
    (void)state;
    begin();
    group()->work |= PPU_CTA_WORK_ENTRIES;
    assert_false(nest_child_done(parent, PLACE, FORMER));
    assert_false(nest_child_done(parent, PLACE, FORMER));
    nest_entries_came(parent);
    assert_int_equal(group()->work, PPU_CTA_WORK(FORMER));
}

int main(void)
{
#define TEST(name, function)                       \
    {                                              \
        name, function, setup, mock_teardown, NULL \
    }
    const struct CMUnitTest tests[] = {
        TEST("a CTA that begins is not told of the children of the one before it [B3 B12]", a_place_changes_hands),
        TEST("launches beside a completion are all counted [B6 B13]", launches_beside_a_completion),
        TEST("a child that names no CTA changes nothing [B6]", what_is_not_there),
        TEST("a CTA that waits for entries is no CTA without children [B7 C4]", entries_of_a_work_queue),
    };
    return cmocka_run_group_tests_name("contexts of CTAs", tests, NULL, NULL);
}
