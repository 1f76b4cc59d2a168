/* SPDX-License-Identifier: MIT */
/* Tests timers against a model: which fire when, and what the hardware timer is set to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/timer.h"
#include "tests/firmware/mock_hal.h"
#include "tests/firmware/random.h"

#define MODEL_TIMERS 200u

static struct timer timers[MODEL_TIMERS];
static uint64_t model_deadline[MODEL_TIMERS]; /* 0: not running */
static uint64_t last_fired_ns;

static void fired(struct timer *timer)
{
    uint64_t *deadline = &model_deadline[timer - timers];
    assert_int_not_equal(*deadline, 0);
    assert_true(*deadline <= mock.now_ns);
    assert_true(*deadline >= last_fired_ns);
    last_fired_ns = *deadline;
    *deadline = 0;
}

static uint64_t hardware_deadline(void)
{
    return mock.reg[PPU_REG_TIMER_LO / 4] | (uint64_t)mock.reg[PPU_REG_TIMER_HI / 4] << 32;
}

static uint64_t model_first(void)
{
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < MODEL_TIMERS; i++) {
        first = model_deadline[i] && model_deadline[i] < first ? model_deadline[i] : first;
    }
    return first;
}

/* Time begins so that the low half of the clock wraps on the way. */
static void timers_fire_in_order(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    memset(timers, 0, sizeof(timers));
    memset(model_deadline, 0, sizeof(model_deadline));
    for (uint32_t i = 0; i < MODEL_TIMERS; i++) {
        timers[i].fire = fired;
    }
    timers_init();
    mock.now_ns = 0xfff00000ull;
    for (uint32_t i = 0; i < 100000; i++) {
        uint32_t n = random_below(&seed, MODEL_TIMERS);
        switch (random_below(&seed, 4)) {
        case 0:
        case 1: {
            uint64_t delay = 1 + random_below(&seed, 10000);
            timer_start(&timers[n], delay);
            model_deadline[n] = mock.now_ns + delay;
            break;
        }
        case 2:
            timer_stop(&timers[n]);
            model_deadline[n] = 0;
            break;
        default:
            mock.now_ns += random_below(&seed, 500);
            if (mock.now_ns >= hardware_deadline()) {
                last_fired_ns = 0;
                while (timers_run(16)) {
                }
                assert_true(model_first() > mock.now_ns);
            }
            break;
        }
        assert_true(hardware_deadline() <= model_first());
    }
    assert_true(mock.now_ns > UINT32_MAX);
}

static void a_timer_fires_a_bounded_number(void **state)
{
    (void)state;
    memset(timers, 0, sizeof(timers));
    memset(model_deadline, 0, sizeof(model_deadline));
    timers_init();
    for (uint32_t i = 0; i < 20; i++) {
        timers[i].fire = fired;
        timer_start(&timers[i], 10);
        model_deadline[i] = mock.now_ns + 10;
    }
    mock.now_ns += 10;
    last_fired_ns = 0;
    assert_true(timers_run(16));
    assert_true(model_first() <= mock.now_ns);
    assert_false(timers_run(16));
    assert_int_equal(model_first(), UINT64_MAX);
}

int main(void)
{
#define TEST(name, function)                            \
    {                                                   \
        name, function, mock_setup, mock_teardown, NULL \
    }
    const struct CMUnitTest tests[] = {
        TEST("timers fire in order, once, across the wrap of the low half [C8]", timers_fire_in_order),
        TEST("timers fire a bounded number at once [C8]", a_timer_fires_a_bounded_number),
    };
    return cmocka_run_group_tests_name("firmware: timers", tests, NULL, NULL);
}
