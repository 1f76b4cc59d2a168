/* SPDX-License-Identifier: MIT */
/* Tests how long a launch waits for its variant: what the user may say, and what is decided, without a device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "opencl/variants/variant_patience.h"
#include "ppu/macros.h"

#define CASES 20000u
#define MS 1000000ull

static void words(void **state)
{
    static const struct {
        const char *text;
        bool good, fixed;
        uint64_t ns;
    } cases[] = {
        { "auto", true, false, 0 },
        { "never", true, true, 0 },
        { "0", true, true, 0 },
        { "always", true, true, VARIANT_FOR_EVER },
        { "1", true, true, VARIANT_FOR_EVER },
        { "0ms", true, true, 0 },
        { "250ms", true, true, 250 * MS },
        { "3s", true, true, 3000 * MS },
        { "86400s", true, true, 86400000 * MS },
        { "86401s", false, false, 0 },
        { "86400001ms", false, false, 0 },
        { "18446744073709551616ms", false, false, 0 },
        { "2", false, false, 0 },
        { "-1ms", false, false, 0 },
        { "+1ms", false, false, 0 },
        { " 1ms", false, false, 0 },
        { "1ms ", false, false, 0 },
        { "1us", false, false, 0 },
        { "ms", false, false, 0 },
        { "", false, false, 0 },
        { "Always", false, false, 0 },
    };

    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        struct variant_patience patience = { false, 0 };
        assert_int_equal(variant_patience_read(cases[i].text, &patience), cases[i].good);
        assert_int_equal(patience.fixed, cases[i].fixed);
        assert_true(patience.ns == cases[i].ns);
    }
}

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ull;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

/* Small and large numbers alike; sometimes 0. */
static uint64_t draw_number(uint64_t *state, uint32_t bits)
{
    return draw(state) % 8 == 0 ? 0 : draw(state) >> (64 - 1 - draw(state) % bits);
}

/* In whole numbers, of what the variant is expected to take in place of the base: a launch that waits never ends later
 * than one that does not, if the forecast is right, and at most twice as late if the compiler never ends. */
static void model(void **state)
{
    const char *text = getenv("PPU_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);
    uint32_t waited = 0;

    (void)state;
    print_message("# PPU_SEED=%" PRIu64 "\n", seed);
    for (uint32_t i = 0; i < CASES; i++) {
        const struct variant_forecast f = {
            .items = draw_number(&seed, 20),
            .base = { draw_number(&seed, 30), draw_number(&seed, 12) },
            .variant = { draw_number(&seed, 30), draw_number(&seed, 12) },
            .percent = (uint32_t)(draw(&seed) % 101),
            .compile_ns = draw_number(&seed, 30),
            .since_ns = draw_number(&seed, 30),
        };
        const struct variant_patience patience = { false, 0 };
        double base = f.base.items != 0 ? (double)f.base.ns / (double)f.base.items * (double)f.items : 0;
        double measured = f.variant.items != 0 ? (double)f.variant.ns / (double)f.variant.items * (double)f.items : 0;
        double with = measured > 0 ? measured : base * f.percent / 100;
        double compile = (double)(f.compile_ns != 0 ? f.compile_ns : VARIANT_COMPILE_NS);
        double left = compile > (double)f.since_ns ? compile - (double)f.since_ns : 0;
        double wait = (double)variant_wait_ns(&patience, &f);
        double close = 2 + base / 1e9; /* of two sums in another order */
        if (wait > 0) {
            assert_true(left + with <= base + close);
            assert_true(wait <= base - with + close && wait <= base + close);
            waited++;
        } else {
            assert_true(left + with >= base - close);
        }
    }
    assert_in_range(waited, CASES / 50, CASES / 2); /* both happen often */
}

/* By hand: 1000 items of 1 ms with the base; half a second until a compilation has been measured. */
static void examples(void **state)
{
    static const struct {
        const char *what;
        struct variant_forecast forecast;
        uint64_t wait_ns;
    } cases[] = {
        { "nothing measured", { 1000, { 0, 0 }, { 0, 0 }, 60, 0, 0 }, 0 },
        { "400 ms to gain, 500 expected", { 1000, { MS, 1 }, { 0, 0 }, 60, 0, 0 }, 0 },
        { "400 ms to gain, 300 measured", { 1000, { MS, 1 }, { 0, 0 }, 60, 300 * MS, 0 }, 400 * MS },
        { "400 ms to gain, 200 left", { 1000, { MS, 1 }, { 0, 0 }, 60, 0, 300 * MS }, 400 * MS },
        { "late already", { 1000, { MS, 1 }, { 0, 0 }, 60, 300 * MS, 900 * MS }, 400 * MS },
        { "variants gain 9 of 10", { 1000, { 10 * MS, 10 }, { MS, 10 }, 60, 0, 0 }, 900 * MS },
        { "variants gain nothing", { 1000, { MS, 1 }, { MS, 1 }, 60, MS, 0 }, 0 },
        { "variants are slower", { 1000, { MS, 1 }, { 2 * MS, 1 }, 60, MS, 0 }, 0 },
        { "ids alone", { 1000, { MS, 1 }, { 0, 0 }, 95, 0, 0 }, 0 },
        { "no items", { 0, { MS, 1 }, { 0, 0 }, 60, 1, 0 }, 0 },
    };
    const struct variant_patience by_gain = { false, 0 }, told = { true, 7 };

    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        print_message("# %s\n", cases[i].what);
        assert_true(variant_wait_ns(&by_gain, &cases[i].forecast) == cases[i].wait_ns);
        assert_true(variant_wait_ns(&told, &cases[i].forecast) == 7);
    }
}

/* A 25th of what a compilation takes: 20 ms until one has been measured. */
static void earned(void **state)
{
    static const struct {
        const char *what;
        struct variant_forecast forecast;
        bool earned;
    } cases[] = {
        { "nothing measured", { 1000, { 0, 0 }, { 0, 0 }, 60, 0, 0 }, false },
        { "short launches so far", { 1, { 19 * MS, 1000 }, { 0, 0 }, 60, 0, 0 }, false },
        { "many of them", { 1, { 20 * MS, 1000 }, { 0, 0 }, 60, 0, 0 }, true },
        { "a long one to come", { 1000, { MS, 50 }, { 0, 0 }, 60, 0, 0 }, true },
        { "one that is not long enough", { 900, { MS, 50 }, { 0, 0 }, 60, 0, 0 }, false },
        { "a compiler that is slower than expected", { 1, { 39 * MS, 1000 }, { 0, 0 }, 60, 1000 * MS, 0 }, false },
        { "by another variant, as the base never ran", { 1, { 0, 0 }, { 20 * MS, 1000 }, 60, 0, 0 }, true },
        { "not long enough by another variant", { 900, { 0, 0 }, { MS, 50 }, 60, 0, 0 }, false },
        { "by the base and another variant", { 1, { 12 * MS, 1000 }, { 8 * MS, 1000 }, 60, 0, 0 }, true },
        { "a compiler that is faster", { 1, { 4 * MS, 1000 }, { 0, 0 }, 60, 100 * MS, 0 }, true },
    };
    const struct variant_patience by_gain = { false, 0 }, told = { true, 0 };

    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        print_message("# %s\n", cases[i].what);
        assert_int_equal(variant_is_earned(&by_gain, &cases[i].forecast), cases[i].earned);
        assert_true(variant_is_earned(&told, &cases[i].forecast));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "what the user may say [F3]", words, NULL, NULL, NULL },
        { "waiting is worth it, or does not happen [F3]", model, NULL, NULL, NULL },
        { "by hand [F3]", examples, NULL, NULL, NULL },
        { "a compilation is worth it when launches take long [F3]", earned, NULL, NULL, NULL },
    };

    return cmocka_run_group_tests_name("opencl: patience", tests, NULL, NULL);
}
