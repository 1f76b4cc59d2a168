/* SPDX-License-Identifier: MIT */
/* Checks which time a thread has worked: not what others have of its processor, whichever clock tells it. */
#define _POSIX_C_SOURCE 200809L /* clocks, nanosleep */

#include "qemu-device/core/sm/work_clock.h"
#include "tests/engine/rig.h"

#include <time.h>

#define MS 1000000u
#define ROUNDS 10000u

static uint64_t thread_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void sleep_ns(long ns)
{
    const struct timespec time = { .tv_nsec = ns };

    nanosleep(&time, NULL);
}

/* A thread that sleeps has lost its processor, as one has whose processor others got. */
static void sleep_does_not_count(void **state)
{
    (void)state;
    struct work_clock clock = { 0 };
    uint64_t since_ns = 0;

    for (uint32_t i = 0; i < 3; i++) {
        const uint64_t before_ns = thread_ns();
        work_clock_spent(&clock, &since_ns);
        const uint64_t began_ns = since_ns;
        sleep_ns(20 * MS);
        const uint64_t spent_ns = work_clock_spent(&clock, &since_ns);

        assert_true(since_ns - began_ns >= 20 * MS);
        assert_true(spent_ns <= thread_ns() - before_ns + WORK_CLOCK_NS);
    }
}

/* Sleep before the beginning takes nothing off either. */
static void work_counts(void **state)
{
    (void)state;
    struct work_clock clock = { 0 };
    uint64_t since_ns = 0;

    work_clock_spent(&clock, &since_ns);
    sleep_ns(5 * MS);
    work_clock_spent(&clock, &since_ns);
    const uint64_t before_ns = thread_ns();
    while (thread_ns() - before_ns < 10 * MS) {
    }
    /* The two clocks need not be equally fast. */
    assert_true(work_clock_spent(&clock, &since_ns) >= 99 * (10 * MS / 100));
}

/* Parts of a time are as long as the whole, and the thread's clock is read only when its last reading is old. */
static void short_times(void **state)
{
    (void)state;
    struct work_clock clock = { 0 };
    uint64_t since_ns = 0, sum_ns = 0;

    work_clock_spent(&clock, &since_ns);
    const uint64_t began_ns = since_ns, before_ns = thread_ns();
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const struct work_clock last = clock;
        sum_ns += work_clock_spent(&clock, &since_ns);
        const bool is_old = since_ns - last.wall_ns >= WORK_CLOCK_NS;
        assert_int_equal(clock.wall_ns, is_old ? since_ns : last.wall_ns);
        assert_true(is_old || clock.thread_ns == last.thread_ns);
    }
    assert_true(sum_ns <= since_ns - began_ns);
    assert_true(sum_ns + WORK_CLOCK_NS >= 99 * ((thread_ns() - before_ns) / 100));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "a thread that sleeps does not work", sleep_does_not_count, NULL, NULL, NULL },
        { "a thread's work counts in full", work_counts, NULL, NULL, NULL },
        { "short times are told without the thread's clock", short_times, NULL, NULL, NULL },
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
