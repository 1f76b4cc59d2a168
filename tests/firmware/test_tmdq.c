/* SPDX-License-Identifier: MIT */
/*
 * Tests B4 and B6 against each other: launchers and the scheduler in every order of their accesses. Then long random
 * histories against a model.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/caps.h"
#include "firmware/hal.h"
#include "firmware/task.h"
#include "firmware/tmdq.h"
#include "ppu/macros.h"
#include "tests/firmware/mock_hal.h"
#include "tests/firmware/orders.h"
#include "tests/firmware/random.h"

#define TASKS 4u

static struct task *task[TASKS];
static uint32_t launched;
static uint32_t starts[TASKS];
static struct task *runs_now;
static bool overlap;
static bool woken;   /* the group's count was zero after the last launch: its owner may reuse it */
static bool touched; /* and was touched nevertheless */

/* tmdq.c is built with this before each access. */
void tmdq_step(void);
/* For mistakes that are seeded into tmdq.c (test_mutations.py). */
void tmdq_zero(void);
void tmdq_swapped_out(void);

void tmdq_step(void)
{
    if (orders_running()) {
        touched = touched || woken;
        orders_step();
    }
}

static const struct ppu_group *group(void)
{
    return (const struct ppu_group *)(void *)(mock.vram + layout.groups.off) + 1;
}

/* Whoever waits for the group is woken when its count is zero; only threads that have all launched wait. */
void tmdq_zero(void)
{
    woken = woken || (orders_running() && group()->work == 0 && orders_others_done());
}

/* A thread that is not in its critical section may be away until what was launched has completed. */
void tmdq_swapped_out(void)
{
    while (orders_running() && group()->work != 0) {
        orders_step();
    }
}

static void started(struct task *which)
{
    for (uint32_t i = 0; i < TASKS; i++) {
        starts[i] += task[i] == which;
    }
    overlap = overlap || runs_now;
    runs_now = which;
}

/* A launcher, as a thread of the PPU would be: appends and, when it is first, sends a start request. */
static void append(uint32_t n)
{
    launched++;
    enum tmdq_append_result result = tmdq_append(task[n]);
    assert_int_not_equal(result, TMDQ_APPEND_BROKEN);
    if (result == TMDQ_FIRST) {
        started(task[n]);
    }
}

/* The scheduler's part for the task that runs. The record of a task with a pending launcher stays. */
static void complete(void)
{
    struct task *done = runs_now;
    struct task *next = NULL;
    if (!done) {
        return;
    }
    runs_now = NULL;
    done->state = TASK_LINKING; /* from the exchange on a launcher may free it */
    switch (tmdq_complete(done, &next)) {
    case TMDQ_EMPTY:
        task_free(done);
        break;
    case TMDQ_NEXT:
        started(next);
        task_free(done);
        break;
    case TMDQ_PENDING:
        break;
    case TMDQ_COMPLETE_BROKEN:
        fail_msg("the TMDQ is broken");
    }
    tmdq_zero();
}

static void append_1(void)
{
    append(1);
}

static void append_2(void)
{
    append(2);
}

static void append_1_and_2(void)
{
    append(1);
    append(2);
}

static void complete_once(void)
{
    complete();
}

static void complete_twice(void)
{
    complete();
    complete();
}

/* Task 0 runs; tasks 1 and up are about to be launched into the same TMDQ. */
static void world_begin(void)
{
    task_init();
    tmdq_init();
    memset(starts, 0, sizeof(starts));
    launched = 0;
    runs_now = NULL;
    overlap = false;
    woken = false;
    touched = false;
    for (uint32_t i = 0; i < TASKS; i++) {
        task[i] = task_new(1);
        task[i]->context = 1;
        task[i]->stream = 5;
    }
    append(0);
}

/* Drains the TMDQ and checks that what was launched ran once each, one at a time, and nothing is left. */
static void world_end(void)
{
    while (runs_now) {
        complete();
    }
    assert_false(overlap);
    assert_false(touched);
    for (uint32_t i = 0; i < launched; i++) {
        assert_int_equal(starts[i], 1);
    }
    assert_int_equal(group()->work, 0);
    assert_int_equal(group()->last_task[5], PPU_TASK_NULL);
    assert_int_equal(task_count_free(), layout.tasks - (TASKS - launched));
}

static int setup(void **state)
{
    (void)state;
    mock_reset();
    caps = (struct caps){ .contexts = 4 };
    layout = (struct layout){ .groups = { 0x10000 }, .status = { 0x20000 }, .tasks = 64, .records = 64 };
    return 0;
}

static void append_against_complete(void **state)
{
    (void)state;
    const struct orders orders = { world_begin, { append_1, complete_once }, world_end };
    assert_true(orders_all(&orders) > 10);
}

static void two_launchers_against_complete(void **state)
{
    (void)state;
    const struct orders orders = { world_begin, { append_1, append_2, complete_once }, world_end };
    assert_true(orders_all(&orders) > 1000);
}

/* All that was launched completes: the group's count is zero in the end, and its owner goes on. */
static void until_the_group_is_idle(void **state)
{
    (void)state;
    const struct orders orders = { world_begin, { append_1, complete_twice }, world_end };
    assert_true(orders_all(&orders) > 10);
}

static void launcher_against_two_completions(void **state)
{
    (void)state;
    const struct orders orders = { world_begin, { append_1_and_2, complete_twice }, world_end };
    assert_true(orders_all(&orders) > 100);
}

/* Too many orders to run them all. */
static void two_launchers_against_two_completions(void **state)
{
    (void)state;
    const struct orders orders = { world_begin, { append_1, append_2, complete_twice }, world_end };
    orders_random(&orders, 20000);
}

#define MOST_STREAMS 300u
#define MOVES 20u
/* Words go up and down from the middle of one of two places, by fewer than MOST_STREAMS words a move. */
#define PLACE_MIDDLE (MOVES * MOST_STREAMS * 4)

/*
 * Now and then there are more streams, and the words of all are elsewhere, or some words further up, or as many as
 * before some words further down. *at: where they are.
 */
static void move_words(uint32_t *at, uint64_t *seed)
{
    const uint32_t before = tmdq_count(2), end = *at + before * 4;
    uint32_t count = before + random_below(seed, MOST_STREAMS - before + 1), to;

    switch (random_below(seed, 3)) {
    case 0: /* the other place */
        to = layout.heap_base + PLACE_MIDDLE + (*at < layout.heap_base + 2 * PLACE_MIDDLE ? 2 * PLACE_MIDDLE : 0);
        memset(hal_vram((ppu_vram_t){ to }), 0, MOST_STREAMS * 4);
        break;
    case 1:
        to = *at + random_below(seed, before) * 4;
        memset(hal_vram((ppu_vram_t){ end }), 0, to + count * 4 - PPU_MIN(end, to + count * 4));
        break;
    default:
        count = before;
        to = *at - random_below(seed, before) * 4;
        break;
    }
    tmdq_move(2, (ppu_vram_t){ to }, count);
    for (uint32_t word = *at; word < end; word += 4) { /* they are the driver's again */
        if (word < to || word >= to + count * 4) {
            memset(hal_vram((ppu_vram_t){ word }), 0x5a, 4);
        }
    }
    *at = to;
}

/* Many streams and tasks, launched and completed in random order, against a list for each stream. */
static void random_history(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    static struct task *queue[MOST_STREAMS][TASK_RECORDS];
    static uint32_t length[MOST_STREAMS];
    memset(length, 0, sizeof(length));
    task_init();
    tmdq_init();
    layout.heap_base = 0x40000;
    uint32_t at = layout.heap_base + PLACE_MIDDLE;
    memset(hal_vram((ppu_vram_t){ at }), 0, MOST_STREAMS * 4);
    tmdq_move(2, (ppu_vram_t){ at }, tmdq_count(2));
    for (uint32_t i = 0; i < MOVES * 10000; i++) {
        if (i % 10000 == 9999) {
            move_words(&at, &seed);
        }
        uint32_t stream = random_below(&seed, tmdq_count(2));
        if (random_below(&seed, 2) == 0) {
            struct task *made = task_new(2);
            if (!made) {
                continue;
            }
            made->context = 2;
            made->stream = (uint16_t)stream;
            assert_int_equal(tmdq_append(made), length[stream] ? TMDQ_BEHIND : TMDQ_FIRST);
            queue[stream][length[stream]++] = made;
        } else if (length[stream]) {
            struct task *next = NULL;
            enum tmdq_complete_result result = tmdq_complete(queue[stream][0], &next);
            assert_int_equal(result, length[stream] > 1 ? TMDQ_NEXT : TMDQ_EMPTY);
            assert_true(length[stream] == 1 || next == queue[stream][1]);
            task_free(queue[stream][0]);
            memmove(queue[stream], queue[stream] + 1, --length[stream] * sizeof(struct task *));
        }
    }
}

/*
 * Whatever another side writes into the words, the result is the task that was appended behind, or BROKEN: a task that
 * is passed over would wait for ever.
 */
static void scribbled_words(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    for (uint32_t i = 0; i < 100000; i++) {
        world_begin();
        append(1);
        struct ppu_group *words = (struct ppu_group *)(void *)(mock.vram + layout.groups.off) + 1;
        uint32_t value = random_below(&seed, 4) ? (uint32_t)random_next(&seed)
                                                : PPU_TASK_HANDLE(random_below(&seed, 8), random_below(&seed, 3));
        if (random_below(&seed, 2)) {
            words->last_task[5] = value;
        } else {
            task_status(task[random_below(&seed, 2)])->next_stream = value;
        }
        if (random_below(&seed, 2)) {
            (void)tmdq_append(task[2]);
        }
        struct task *next = NULL;
        enum tmdq_complete_result result = tmdq_complete(task[0], &next);
        assert_int_not_equal(result, TMDQ_EMPTY);
        if (result == TMDQ_NEXT) {
            assert_ptr_equal(next, task[1]);
        }
    }
}

static void handles_go_stale(void **state)
{
    (void)state;
    task_init();
    struct task *first = task_new(0);
    ppu_task_t handle = first->handle;
    assert_ptr_equal(task_find(handle), first);
    task_free(first);
    assert_null(task_find(handle));
    /* The same record comes back under every other generation, 0 left out, before its handle is seen again. */
    uint32_t reused = 0;
    for (uint32_t i = 0; i < layout.tasks * PPU_TASK_GENERATIONS; i++) {
        struct task *again = task_new(0);
        assert_int_not_equal(PPU_TASK_GENERATION(again->handle), 0);
        if (again == first) {
            reused++;
        }
        if (again->handle == handle) {
            break;
        }
        assert_null(task_find(handle));
        task_free(again);
    }
    assert_int_equal(reused, PPU_TASK_GENERATIONS - 1);
    assert_null(task_find(PPU_TASK_NULL));
    assert_null(task_find(PPU_TASK_WAITING));
    assert_null(task_find(PPU_TASK_HANDLE(layout.tasks, 1)));
}

int main(void)
{
#define TEST(name, function)                       \
    {                                              \
        name, function, setup, mock_teardown, NULL \
    }
    const struct CMUnitTest tests[] = {
        TEST("launch against completion, every order of accesses [B4] [B6]", append_against_complete),
        TEST("two launches against completion, every order [B4] [B6]", two_launchers_against_complete),
        TEST("two launches of a thread against two completions, every order [B4] [B6]",
             launcher_against_two_completions),
        TEST("launch against completions until the group is idle, every order [B4] [B6] [B7]", until_the_group_is_idle),
        TEST("two launchers against two completions, random orders [B4] [B6]", two_launchers_against_two_completions),
        TEST("random histories of many TMDQs follow a model [B2] [B6]", random_history),
        TEST("scribbled words give a task of the same TMDQ or an error [B6]", scribbled_words),
        TEST("handles go stale and come back last [B5]", handles_go_stale),
    };
    return cmocka_run_group_tests_name("firmware: TMDQs", tests, NULL, NULL);
}
