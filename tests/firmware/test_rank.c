/* SPDX-License-Identifier: MIT */
/*
 * Tests ranks of slots: by priority, for those that wait for room on SMs, and for those that were passed over too
 * long.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ppu/macros.h"
#include "tests/firmware/mock_hal.h"
#include "tests/firmware/random.h"
#include "tests/firmware/stream.h"

#define TMD_VA (MOCK_MEMORY_VA + 0xf0000)
#define MS 1000000ull
#define NONE UINT32_MAX

static struct stream stream;

static int setup(void **state)
{
    (void)state;
    mock_start();
    stream = stream_open(mock_context(), 0, 32, 7, 0);
    return 0;
}

/* The slot that the task got. */
static uint32_t launch(uint32_t correlation, uint32_t priority)
{
    struct ppu_tmd tmd = mock_tmd(correlation);
    tmd.priority = (uint8_t)priority;
    stream_launch(&stream, TMD_VA, &tmd, PPU_STREAM_NONE);
    stream_submit(&stream);
    for (uint32_t i = 0; i < MOCK_SLOTS; i++) {
        if (mock.slot_task[i] &&
            ((struct ppu_tmd *)(void *)(mock.vram + mock.slot_task[i]))->correlation == correlation) {
            return i;
        }
    }
    return NONE;
}

static void end(uint32_t slot)
{
    mock.slot_command[slot] = 0;
    mock_slot_event(slot, PPU_SLOT_DONE, 0);
    mock_settle();
}

static uint32_t rank(uint32_t slot)
{
    return mock.reg[PPU_REG_SLOT_RANK / 4 + slot];
}

/* A ms goes by. The slots of the first mask wait for room, those of the second have CTAs on SMs. */
static void look(uint32_t waiting, uint32_t on_sms)
{
    mock.reg[PPU_REG_SLOT_WAITING / 4] = waiting;
    for (uint32_t i = 0; i < MOCK_SLOTS; i++) {
        if (mock.slot_task[i]) {
            mock_slot_room(i, on_sms & (1u << i));
        }
    }
    mock_advance(MS);
}

static void nobody_looks(void **state)
{
    (void)state;
    uint32_t one = launch(1, 3), other = launch(2, 3);
    for (uint32_t i = 0; i < 3; i++) {
        look(1u << one | 1u << other, 0);
    }
    assert_int_equal(rank(one), 3);
    assert_int_equal(rank(other), 3);
    uint64_t deadline = mock.reg[PPU_REG_TIMER_LO / 4] | (uint64_t)mock.reg[PPU_REG_TIMER_HI / 4] << 32;
    assert_true(deadline > mock.now_ns + 5 * MS);
}

static void who_waits_preempts(void **state)
{
    (void)state;
    uint32_t low = launch(1, 1), middle = launch(2, 4), high = launch(3, 7);
    const uint32_t all = 1u << low | 1u << middle | 1u << high;
    look(0, all);
    assert_int_equal(rank(high), 7);
    look(1u << high | 1u << low, all);
    assert_int_equal(rank(high), 7 | PPU_SLOT_PREEMPTS);
    assert_int_equal(rank(middle), 4);
    assert_int_equal(rank(low), 1); /* nobody is below it */
    look(1u << middle, all);
    assert_int_equal(rank(high), 7);
    assert_int_equal(rank(middle), 4 | PPU_SLOT_PREEMPTS);
    look(0, all);
    assert_int_equal(rank(middle), 4);
    /* An SM serves a claim when it is made: as long as a slot waits it is made again. */
    look(1u << high, all);
    mock.reg[PPU_REG_SLOT_RANK / 4 + high] = 0;
    look(1u << high, all);
    assert_int_equal(rank(high), 7 | PPU_SLOT_PREEMPTS);
    end(low);
    look(1u << high, all);
    assert_int_equal(rank(high), 7 | PPU_SLOT_PREEMPTS); /* over the middle one */
    end(middle);
    look(1u << high, all);
    assert_int_equal(rank(high), 7);
}

static void the_bound_is_a_policy(void **state)
{
    (void)state;
    const uint32_t arg[] = { PPU_POLICY_PREEMPT_US, 5000 };
    assert_int_equal(mock_admin(PPU_ADMIN_POLICY, arg, 2).status, 0);
    (void)launch(1, 1);
    uint32_t high = launch(2, 7);
    for (uint32_t i = 0; i < 4; i++) {
        look(1u << high, 0);
        assert_int_equal(rank(high), 7);
    }
    look(1u << high, 0);
    look(1u << high, 0);
    assert_int_equal(rank(high), 7 | PPU_SLOT_PREEMPTS);
}

/* A slot that has nothing on SMs goes first after so many looks, until it has had something. */
static void passed_over(void **state)
{
    (void)state;
    const uint32_t age = mock_query(PPU_KEY_POLICY, PPU_POLICY_AGE);
    uint32_t low = launch(1, 1), high = launch(2, 7);
    const uint32_t both = 1u << low | 1u << high;
    for (uint32_t i = 0; i < age - 1; i++) {
        look(both, 1u << high);
        assert_int_equal(rank(low), 1);
    }
    look(both, 1u << high);
    assert_int_equal(rank(low), PPU_SLOT_LEVELS | PPU_SLOT_PREEMPTS);
    look(both, 1u << high);
    assert_int_equal(rank(low), PPU_SLOT_LEVELS | PPU_SLOT_PREEMPTS);
    look(both, both);
    assert_int_equal(rank(low), 1);
    assert_int_equal(rank(high), 7 | PPU_SLOT_PREEMPTS);
    /* One that has something on SMs, or wants nothing, is not passed over. */
    for (uint32_t i = 0; i < 2 * age; i++) {
        look(both, both);
        look(1u << high, 1u << high);
        assert_int_equal(rank(low), 1);
    }
}

/* Favoured address spaces are above all levels, and keep theirs among themselves. */
static void favoured(void **state)
{
    (void)state;
    (void)launch(1, 7);
    struct stream first = stream;
    stream = stream_open(mock_context(), 1, 32, 7, 0);
    uint32_t slot = launch(2, 2), above = launch(3, 5);
    mock.reg[PPU_REG_CTX_TIME_US / 4 + first.context] += 4000;
    look(1u << above, 0);
    assert_int_equal(rank(slot), 2 | (PPU_SLOT_LEVEL_MASK + 1u) | PPU_SLOT_CLAIMS);
    assert_int_equal(rank(above), 5 | (PPU_SLOT_LEVEL_MASK + 1u) | PPU_SLOT_CLAIMS | PPU_SLOT_PREEMPTS);
    stream = first;
}

/* What each slot's rank must be, said plainly. */
struct model {
    uint32_t priority, ran, passed;
    bool runs, preempts;
};

static void model_look(struct model model[], uint32_t waiting, uint32_t on_sms, uint32_t age)
{
    uint32_t lowest = PPU_PRIORITIES;
    for (uint32_t i = 0; i < MOCK_SLOTS; i++) {
        lowest = model[i].runs ? PPU_MIN(model[i].priority, lowest) : lowest;
    }
    for (uint32_t i = 0; i < MOCK_SLOTS; i++) {
        bool waits = waiting & (1u << i);
        model[i].passed = waits && !(on_sms & (1u << i)) ? model[i].passed + 1 : 0;
        model[i].preempts = waits && (model[i].passed >= age || model[i].priority > lowest);
    }
}

/* Whether the looks go on is not the model's: one task of another priority is always there. */
static void random_looks(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    struct model model[MOCK_SLOTS] = { 0 };
    const uint32_t arg[] = { PPU_POLICY_AGE, 3 };
    assert_int_equal(mock_admin(PPU_ADMIN_POLICY, arg, 2).status, 0);
    model[launch(1, 0)] = (struct model){ .runs = true };
    model[launch(2, 7)] = (struct model){ .runs = true, .priority = 7 };
    for (uint32_t i = 3; i < 2000; i++) {
        uint32_t slot = 2 + random_below(&seed, MOCK_SLOTS - 2);
        if (model[slot].runs && random_below(&seed, 4) == 0) {
            end(slot);
            model[slot] = (struct model){ 0 };
        } else if (!model[slot].runs && random_below(&seed, 2)) {
            uint32_t priority = random_below(&seed, PPU_PRIORITIES);
            slot = launch(i, priority);
            model[slot] = (struct model){ .runs = true, .priority = priority };
        }
        uint32_t waiting = random_below(&seed, 1u << MOCK_SLOTS), on_sms = random_below(&seed, 1u << MOCK_SLOTS);
        look(waiting, on_sms);
        model_look(model, waiting, on_sms, 3);
        for (uint32_t n = 0; n < MOCK_SLOTS; n++) {
            uint32_t level = model[n].passed >= 3 ? PPU_SLOT_LEVELS : model[n].priority;
            if (model[n].runs) {
                assert_int_equal(rank(n), level | (model[n].preempts ? PPU_SLOT_PREEMPTS : 0));
            }
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
        TEST("nobody looks while all tasks have one priority [A4]", nobody_looks),
        TEST("a slot that waits for room preempts those below it [A5]", who_waits_preempts),
        TEST("for how long it waits is a policy [A5]", the_bound_is_a_policy),
        TEST("a slot that was passed over goes first until it has run [A4]", passed_over),
        TEST("a favoured address space is above all levels [A4]", favoured),
        TEST("ranks of random tasks are those of a model [A4] [A5]", random_looks),
    };
#undef TEST
    return cmocka_run_group_tests_name("ranks", tests, NULL, NULL);
}
