/* SPDX-License-Identifier: MIT */
/* Tests the range allocator against a plain map of units. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/range.h"

#define UNITS 200u
#define START 5u
#define HELD 64u
#define ROUNDS 20000u

static uint64_t seed(void)
{
    const char *text = getenv("PPU_SEED");
    uint64_t value = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);

    print_message("# PPU_SEED=%llu\n", (unsigned long long)value);
    return value;
}

static uint32_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*state >> 33);
}

/* First place where `bytes` fit, as the model sees it; UINT64_MAX: nowhere. */
static uint64_t model_find(const bool *used, uint64_t bytes, uint64_t align)
{
    for (uint64_t start = (START + align - 1) / align * align; start + bytes <= START + UNITS; start += align) {
        uint64_t run = 0;
        while (run < bytes && !used[start + run - START]) {
            run++;
        }
        if (run == bytes) {
            return start;
        }
    }
    return UINT64_MAX;
}

static bool model_is_free(const bool *used, uint64_t start, uint64_t bytes)
{
    bool free_range = start >= START && start + bytes <= START + UNITS;

    for (uint64_t i = 0; i < bytes && free_range; i++) {
        free_range = !used[start + i - START];
    }
    return free_range;
}

static void against_model(void **state)
{
    struct range_pool pool;
    bool used[UNITS] = { false };
    struct {
        uint64_t start, bytes;
    } held[HELD];
    uint32_t count = 0;
    uint64_t random = seed();

    (void)state;
    assert_true(range_pool_init(&pool, START, UNITS));
    for (uint32_t i = 0; i < ROUNDS; i++) {
        if (count < HELD && next(&random) % 2 == 0) {
            uint64_t bytes = 1 + next(&random) % 30, align = 1ull << next(&random) % 6, start = 0;
            uint64_t expected = model_find(used, bytes, align);
            if (next(&random) % 4 == 0) {
                start = next(&random) % (START + UNITS + 10);
                expected = model_is_free(used, start, bytes) ? start : UINT64_MAX;
                assert_int_equal(range_take_at(&pool, start, bytes), expected != UINT64_MAX);
            } else {
                assert_int_equal(range_take(&pool, bytes, align, &start), expected != UINT64_MAX);
            }
            if (expected != UINT64_MAX) {
                assert_int_equal(start, expected);
                memset(&used[start - START], 1, bytes);
                held[count].start = start;
                held[count++].bytes = bytes;
            }
        } else if (count > 0) {
            uint32_t n = next(&random) % count;
            range_give(&pool, held[n].start);
            memset(&used[held[n].start - START], 0, held[n].bytes);
            held[n] = held[--count];
        }
    }
    while (count > 0) {
        range_give(&pool, held[--count].start);
    }
    uint64_t all = 0;
    assert_true(range_take(&pool, UNITS, 1, &all));
    assert_int_equal(all, START);
    range_pool_fini(&pool);
}

static void edges(void **state)
{
    struct range_pool pool;
    uint64_t start = 0;

    (void)state;
    assert_true(range_pool_init(&pool, 1ull << 32, (0xfffeull << 32) - (1ull << 32)));
    assert_false(range_take(&pool, 0, 1, &start));
    assert_false(range_take(&pool, UINT64_MAX, 1, &start));
    assert_false(range_take_at(&pool, 1ull << 32, 0));
    assert_false(range_take_at(&pool, 1ull << 33, UINT64_MAX));
    assert_false(range_take(&pool, 1ull << 48, 1, &start));
    assert_true(range_take(&pool, 1ull << 40, 1ull << 40, &start));
    assert_int_equal(start, 1ull << 40);
    range_give(&pool, start);
    range_pool_fini(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "ranges are handed out as the model says [A9]", against_model, NULL, NULL, NULL },
        { "ranges of no or too many bytes are refused [A9]", edges, NULL, NULL, NULL },
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
