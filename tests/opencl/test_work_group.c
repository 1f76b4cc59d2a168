/* SPDX-License-Identifier: MIT */
/* Tests shapes of work-groups, without a device. PPU_SEED chooses the first ranges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "opencl/submit/work_group.h"
#include "ppu/macros.h"

#define ROUNDS 20000u
#define WAVE 128u
#define SMS 8u

static uint64_t state;

static uint32_t below(uint32_t n)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((state >> 33) % n);
}

static void expect(const uint32_t cta[3], uint32_t x, uint32_t y, uint32_t z)
{
    if (cta[0] != x || cta[1] != y || cta[2] != z) {
        fail_msg("%u x %u x %u in place of %u x %u x %u", cta[0], cta[1], cta[2], x, y, z);
    }
}

static void divisors_are_chosen(void **unused)
{
    static const struct {
        size_t range[3], most;
        uint32_t cta[3];
    } cases[] = {
        { { 4096, 1, 1 }, 1024, { 1024, 1, 1 } },    { { 4096, 1, 1 }, 1000, { 512, 1, 1 } },
        { { 997, 1, 1 }, 512, { 1, 1, 1 } },         { { 997, 1, 1 }, 1024, { 997, 1, 1 } },
        { { 100, 100, 100 }, 1024, { 100, 10, 1 } }, { { 3, 1, 4096 }, 1024, { 3, 1, 256 } },
        { { 1, 1, 1 }, 1024, { 1, 1, 1 } },          { { (size_t)1 << 40, 1, 1 }, 1024, { 1024, 1, 1 } },
    };

    (void)unused;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        uint32_t cta[3] = { 0 };

        work_group_choose(cases[i].range, cases[i].most, cta);
        expect(cta, cases[i].cta[0], cases[i].cta[1], cases[i].cta[2]);
    }
}

/* Of 8 SMs each has four work-groups at least. */
static void shapes_are_changed(void **unused)
{
    static const struct {
        size_t range[3];
        uint32_t asked[3], cta[3];
    } cases[] = {
        { { 1 << 20, 1, 1 }, { 64, 1, 1 }, { 1024, 1, 1 } },
        { { 1 << 14, 1, 1 }, { 64, 1, 1 }, { 512, 1, 1 } }, /* all SMs */
        { { 2048, 1, 1 }, { 128, 1, 1 }, { 128, 1, 1 } },   /* few threads: as asked */
        { { 4096, 4096, 1 }, { 32, 8, 1 }, { 128, 8, 1 } }, /* a row is a warp */
        { { 4096, 4096, 1 }, { 16, 16, 1 }, { 128, 8, 1 } },
        { { 4096, 4096, 1 }, { 256, 1, 1 }, { 256, 4, 1 } }, /* a row never gets shorter */
        { { 64, 64, 4096 }, { 8, 8, 4 }, { 64, 16, 1 } },
        { { 1 << 20, 1, 1 }, { 1024, 1, 1 }, { 1024, 1, 1 } },
        /* no divisors that make rows of warps: the last has what is left */
        { { 128 * 1009, 1, 1 }, { 128, 1, 1 }, { 1024, 1, 1 } },
        { { 997 * 512, 1, 1 }, { 1, 1, 1 }, { 1024, 1, 1 } },
        { { 1000003, 1, 1 }, { 64, 1, 1 }, { 1024, 1, 1 } },
        { { 2047, 2047, 1 }, { 89, 1, 1 }, { 128, 8, 1 } },
        { { 1999, 1999, 1 }, { 16, 16, 1 }, { 128, 8, 1 } },
        { { 300, 4000, 1 }, { 100, 10, 1 }, { 128, 8, 1 } },
        { { 127, 4096, 1 }, { 127, 1, 1 }, { 127, 8, 1 } },
        { { 500, 30, 30 }, { 4, 3, 5 }, { 128, 8, 1 } },
    };

    (void)unused;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        uint32_t cta[3] = { cases[i].asked[0], cases[i].asked[1], cases[i].asked[2] };
        const bool changed = work_group_reshape(cases[i].range, 1024, WAVE, SMS, cta);

        expect(cta, cases[i].cta[0], cases[i].cta[1], cases[i].cta[2]);
        assert_int_equal(changed,
                         cta[0] != cases[i].asked[0] || cta[1] != cases[i].asked[1] || cta[2] != cases[i].asked[2]);
    }
}

static uint32_t threads_of(const uint32_t cta[3])
{
    return cta[0] * cta[1] * cta[2];
}

/* Warps of all work-groups of a size. */
static uint64_t warps(const size_t range[3], const uint32_t cta[3])
{
    uint64_t sum = 0;
    size_t at[3];

    for (at[2] = 0; at[2] < range[2]; at[2] += cta[2]) {
        for (at[1] = 0; at[1] < range[1]; at[1] += cta[1]) {
            for (at[0] = 0; at[0] < range[0]; at[0] += cta[0]) {
                size_t threads = 1;
                for (uint32_t i = 0; i < 3; i++) {
                    threads *= PPU_MIN(range[i] - at[i], cta[i]);
                }
                sum += (threads + WAVE - 1) / WAVE;
            }
        }
    }
    return sum;
}

/* Whatever is asked: what is done instead fits, and wastes few lanes, or none more where it divides the range. */
static void any_shape_is_right(void **unused)
{
    const char *seed = getenv("PPU_SEED");

    (void)unused;
    state = seed ? strtoull(seed, NULL, 0) : 20261126;
    printf("# seed %llu (PPU_SEED)\n", (unsigned long long)state);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t asked[3], cta[3];
        size_t range[3], items = 1;
        uint32_t room = 1u << below(11);
        const uint32_t other = 32u << below(6), most = PPU_MAX(room, other);
        bool divides = true;

        for (uint32_t i = 0; i < 3; i++) {
            cta[i] = asked[i] = 1 + below(room);
            room /= asked[i];
            range[i] = round % 2 != 0 ? (size_t)asked[i] * (1 + below(9)) : 1 + below(i == 0 ? 600 : 12);
            items *= range[i];
        }
        const bool changed = work_group_reshape(range, most, WAVE, 1 + below(64), cta);
        assert_int_equal(changed, memcmp(cta, asked, sizeof(cta)) != 0);
        for (uint32_t i = 0; i < 3; i++) {
            assert_true(cta[i] > 0);
            divides &= cta[i] != 0 && range[i] % cta[i] == 0;
        }
        assert_true(threads_of(cta) <= most);
        if (changed && warps(range, cta) > warps(range, asked)) {
            assert_true(cta[0] % WAVE == 0 && !divides);
            assert_true(4 * warps(range, cta) * WAVE <= 5 * items);
        }
    }
}

static void programs_can_have_what_they_ask_for(void **unused)
{
    (void)unused;
    unsetenv("PPU_WORK_GROUPS");
    assert_false(work_group_as_asked());
    setenv("PPU_WORK_GROUPS", "", 1);
    assert_false(work_group_as_asked());
    setenv("PPU_WORK_GROUPS", "auto", 1);
    assert_false(work_group_as_asked());
    setenv("PPU_WORK_GROUPS", "asked", 1);
    assert_true(work_group_as_asked());
    setenv("PPU_WORK_GROUPS", "askedd", 1); /* told, and as none */
    assert_false(work_group_as_asked());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "the largest divisors make a work-group", divisors_are_chosen, NULL, NULL, NULL },
        { "work-groups that nobody sees get another shape", shapes_are_changed, NULL, NULL, NULL },
        { "any shape fits and wastes few lanes", any_shape_is_right, NULL, NULL, NULL },
        { "a program can have the work-groups that it asks for", programs_can_have_what_they_ask_for, NULL, NULL,
          NULL },
    };

    return cmocka_run_group_tests_name("shapes of work-groups", tests, NULL, NULL);
}
