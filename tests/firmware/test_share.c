/* SPDX-License-Identifier: MIT */
/* Address spaces share slots and the time of the SMs, whatever the number of their tasks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/firmware/mock_hal.h"
#include "tests/firmware/random.h"
#include "tests/firmware/stream.h"

#define TMD_VA (MOCK_MEMORY_VA + 0xf0000)
#define FAVOURED ((PPU_SLOT_LEVEL_MASK + 1u) | PPU_SLOT_CLAIMS)
#define MS 1000000ull
#define LARGE 1u /* correlations: of the context that has many tasks, and of the other */
#define SMALL 1000u

static struct stream large;
static struct stream small;

static int setup(void **state)
{
    (void)state;
    mock_start();
    large = stream_open(mock_context(), 0, 32, 7, 0);
    small = stream_open(mock_context(), 1, 32, 7, 0);
    return 0;
}

static void launch(struct stream *s, uint32_t correlation, uint32_t priority)
{
    struct ppu_tmd tmd = mock_tmd(correlation);
    tmd.priority = (uint8_t)priority;
    stream_launch(s, TMD_VA, &tmd, PPU_STREAM_NONE);
    stream_submit(s);
}

static uint32_t correlation_in(uint32_t slot)
{
    return mock.slot_task[slot] ? ((struct ppu_tmd *)(void *)(mock.vram + mock.slot_task[slot]))->correlation : 0;
}

static uint32_t slot_of(uint32_t correlation)
{
    for (uint32_t i = 0; i < MOCK_SLOTS; i++) {
        if (correlation_in(i) == correlation) {
            return i;
        }
    }
    fail_msg("task %u has no slot", correlation);
    return 0;
}

static uint32_t rank(uint32_t slot)
{
    return mock.reg[PPU_REG_SLOT_RANK / 4 + slot];
}

static void end(uint32_t slot)
{
    mock.slot_command[slot] = 0;
    mock_slot_event(slot, PPU_SLOT_DONE, 0);
    mock_settle();
}

/* A ms goes by; SMs spend so much on each. */
static void spend(uint32_t large_us, uint32_t small_us)
{
    mock.reg[PPU_REG_CTX_TIME_US / 4 + large.context] += large_us;
    mock.reg[PPU_REG_CTX_TIME_US / 4 + small.context] += small_us;
    mock_advance(MS);
}

static uint32_t ranked(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < MOCK_SLOTS; i++) {
        count += mock.slot_task[i] && rank(i) != 0;
    }
    return count;
}

static void alone(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        launch(&large, LARGE + i, 0);
    }
    uint64_t deadline = mock.reg[PPU_REG_TIMER_LO / 4] | (uint64_t)mock.reg[PPU_REG_TIMER_HI / 4] << 32;
    assert_true(deadline > mock.now_ns + 5 * MS); /* nobody looks */
    for (uint32_t i = 0; i < 5; i++) {
        spend(4000, 0);
    }
    assert_int_equal(ranked(), 0);
}

static void a_newcomer_is_favoured(void **state)
{
    (void)state;
    launch(&large, LARGE, 0);
    launch(&small, SMALL, 0);
    assert_int_equal(rank(slot_of(SMALL)), FAVOURED);
    assert_int_equal(rank(slot_of(LARGE)), 0);
}

static void who_has_less_is_favoured(void **state)
{
    (void)state;
    launch(&large, LARGE, 0);
    launch(&large, LARGE + 1, 0);
    launch(&small, SMALL, 0);
    spend(900, 900);
    spend(900, 900);
    assert_int_equal(ranked(), 0);
    spend(4000, 0);
    assert_int_equal(rank(slot_of(SMALL)), FAVOURED);
    assert_int_equal(ranked(), 1);
    spend(0, 3000); /* not yet as much */
    assert_int_equal(rank(slot_of(SMALL)), FAVOURED);
    spend(0, 500);
    assert_int_equal(ranked(), 0);
    spend(0, 2000);
    assert_int_equal(rank(slot_of(SMALL)), 0);
    assert_int_equal(rank(slot_of(LARGE)), FAVOURED);
    assert_int_equal(rank(slot_of(LARGE + 1)), FAVOURED);
    /* A task that starts meanwhile is as its context is. */
    end(slot_of(LARGE));
    mock.reg[PPU_REG_SLOT_RANK / 4] = mock.reg[PPU_REG_SLOT_RANK / 4 + 3] = 0;
    launch(&large, LARGE + 2, 0);
    assert_int_equal(rank(slot_of(LARGE + 2)), FAVOURED);
    end(slot_of(SMALL));
    spend(4000, 0);
    assert_int_equal(ranked(), 0);
}

/* Who comes and goes is not owed the time in which it was not there, and has what it had. */
static void no_savings(void **state)
{
    (void)state;
    launch(&large, LARGE, 0);
    launch(&small, SMALL, 0);
    spend(0, 9000);
    assert_int_equal(rank(slot_of(LARGE)), FAVOURED);
    end(slot_of(SMALL));
    launch(&small, SMALL + 1, 0);
    assert_int_equal(rank(slot_of(SMALL + 1)), 0);
}

static void a_slot_for_each(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 12; i++) {
        launch(&large, LARGE + i, 7);
    }
    assert_int_equal(mock.started, MOCK_SLOTS - 1);
    launch(&small, SMALL, 0);
    assert_int_equal(mock.started, MOCK_SLOTS);
    (void)slot_of(SMALL);
    /* Another waits, as all slots are taken, and has its turn among those of the flood. */
    launch(&small, SMALL + 1, 7);
    end(slot_of(LARGE));
    end(slot_of(LARGE + 1));
    (void)slot_of(SMALL + 1);
    for (uint32_t i = 0; i < 40; i++) {
        for (uint32_t slot = 0; slot < MOCK_SLOTS; slot++) {
            if (mock.slot_task[slot]) {
                end(slot);
            }
        }
    }
    assert_int_equal(mock.started, 14);
}

/* Tasks of several contexts and priorities in random order: each starts once, and none while a slot is free for it. */
static void random_tasks(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    uint32_t launched = 0;
    for (uint32_t i = 0; i < 3000; i++) {
        struct stream *s = random_below(&seed, 4) ? &large : &small;
        if (random_below(&seed, 2) && mock_query(PPU_KEY_CHANNEL_PENDING, s->channel) < 60) {
            launch(s, 1 + i, random_below(&seed, PPU_PRIORITIES));
            launched++;
        }
        uint32_t slot = random_below(&seed, MOCK_SLOTS);
        if (mock.slot_task[slot] && random_below(&seed, 2)) {
            end(slot);
        }
        spend(random_below(&seed, 2000), random_below(&seed, 2000));
        for (uint32_t n = 0; n < MOCK_SLOTS; n++) {
            if (mock.slot_task[n] && mock.slot_command[n] == PPU_SLOT_CMD_STOP) {
                mock.slot_command[n] = 0;
                mock_slot_event(n, PPU_SLOT_STOPPED, 0);
                mock_settle();
                launched++; /* it starts again */
            }
        }
    }
    for (uint32_t i = 0; i < 4000; i++) {
        if (mock.slot_task[i % MOCK_SLOTS]) {
            end(i % MOCK_SLOTS);
        }
    }
    assert_int_equal(mock.started, launched);
    assert_int_equal(mock_query(PPU_KEY_CONTEXT_TASKS, large.context), 0);
    assert_int_equal(mock_query(PPU_KEY_CONTEXT_TASKS, small.context), 0);
}

/* All slots are taken, and more of the other context's tasks wait, of this priority. */
static uint32_t crowded(uint32_t priority)
{
    launch(&small, SMALL, 0);
    for (uint32_t i = 0; i < MOCK_SLOTS + 4; i++) {
        launch(&large, LARGE + i, i < MOCK_SLOTS - 1 ? 0 : priority);
    }
    return slot_of(SMALL);
}

static void the_only_task_keeps_its_slot(void **state)
{
    (void)state;
    static const uint32_t priorities[] = { 0, 7 };
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t slot = crowded(priorities[i]);
        uint32_t gave_way = 0;
        mock_advance(100 * MS); /* ten slices */
        for (uint32_t n = 0; n < MOCK_SLOTS; n++) {
            gave_way += mock.slot_command[n] == PPU_SLOT_CMD_STOP;
        }
        assert_int_equal(mock.slot_command[slot], 0);
        assert_true(gave_way != 0);
        mock_teardown(state);
        setup(state);
    }
}

/* One of two does, and any for another of its own context. */
static void others_give_way(void **state)
{
    (void)state;
    launch(&small, SMALL + 1, 0);
    uint32_t slot = crowded(0);
    uint32_t other = slot_of(SMALL + 1);
    mock_advance(100 * MS);
    assert_int_equal((mock.slot_command[slot] == PPU_SLOT_CMD_STOP) + (mock.slot_command[other] == PPU_SLOT_CMD_STOP),
                     1);
    launch(&small, SMALL + 2, 0);
    mock_advance(100 * MS);
    assert_int_equal(mock.slot_command[slot], PPU_SLOT_CMD_STOP);
    assert_int_equal(mock.slot_command[other], PPU_SLOT_CMD_STOP);
}

static uint32_t stopped_of_small(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < MOCK_SLOTS; i++) {
        count += correlation_in(i) >= SMALL && mock.slot_command[i] == PPU_SLOT_CMD_STOP;
    }
    return count;
}

static void stop_all(void)
{
    for (uint32_t i = 0; i < MOCK_SLOTS; i++) {
        if (mock.slot_task[i] && mock.slot_command[i] == PPU_SLOT_CMD_STOP) {
            mock.slot_command[i] = 0;
            mock_slot_event(i, PPU_SLOT_STOPPED, 0);
        }
    }
    mock_settle();
}

/* Who has given its slot up counts as before when it has another. */
static void they_give_way_again(void **state)
{
    (void)state;
    launch(&small, SMALL + 1, 0);
    (void)crowded(0);
    for (uint32_t turn = 0; turn < 3; turn++) {
        mock_advance(100 * MS);
        assert_int_equal(stopped_of_small(), 1);
        stop_all();
        for (uint32_t i = 0; i < MOCK_SLOTS; i++) {
            if (correlation_in(i) < SMALL) {
                end(i);
                launch(&large, LARGE, 0);
            }
        }
        (void)slot_of(SMALL);
        (void)slot_of(SMALL + 1);
    }
}

int main(void)
{
#define TEST(name, function)                       \
    {                                              \
        name, function, setup, mock_teardown, NULL \
    }
    const struct CMUnitTest tests[] = {
        TEST("a context that is alone is not looked at", alone),
        TEST("a context that comes is favoured", a_newcomer_is_favoured),
        TEST("the context that has had less time is favoured", who_has_less_is_favoured),
        TEST("who comes again has what it had", no_savings),
        TEST("a flood of tasks leaves a slot for each other context [A5]", a_slot_for_each),
        TEST("the only task of a context keeps its slot, however many others wait [A5]", the_only_task_keeps_its_slot),
        TEST("one of two tasks gives way, and any to its own context [A5]", others_give_way),
        TEST("who gave way once does so again [A5]", they_give_way_again),
        TEST("random tasks of two contexts all run [A4 A5]", random_tasks),
    };
    return cmocka_run_group_tests_name("firmware: shares", tests, NULL, NULL);
}
