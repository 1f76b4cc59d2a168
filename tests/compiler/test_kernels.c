/* SPDX-License-Identifier: MIT */
/* Tests whole kernels from OpenCL C against plain C, in every variant of compilation. */
#include "tests/compiler/compare.h"

#include <stdlib.h>
#include <string.h>

/* Calls `check` once a variant, with the file compiled for it. */
static void in_variants(struct device *device, const char *file, void (*check)(struct device *device))
{
    for (uint32_t v = 0; v < device_variant_count; v++) {
        device->variant = &device_variants[v];
        device_load_file(device, file, "-cl-std=CL1.2 -ffp-contract=off");
        check(device);
    }
}

/* ---- the comparison set ---- */

static void check_compare(struct device *device)
{
    for (uint32_t i = 0; i < comparison_count; i++) {
        comparisons[i].run(device);
    }
}

static void compare(void **state)
{
    in_variants(*state, "compare", check_compare);
}

static void by_hand(void **state)
{
    struct device *device = *state;

    device_load_file(device, "compare", "-cl-std=CL1.2");
    device_load_assembly(device, "compare");
    check_compare(device);
}

/* ---- flow of control ---- */

#define THREADS 150u

static int32_t model_work_and_break(int32_t t)
{
    int32_t sum = 0;

    for (int32_t i = 0; i < 40; i++) {
        if (i * 7 % 11 == t % 11 && i > 3) {
            return sum + 1000 * t;
        }
        sum = i % 3 == t % 3 ? sum + i : sum ^ (2 * i + 1);
    }
    return sum;
}

static int32_t model_nested(int32_t t)
{
    int32_t sum = 0;

    for (int32_t i = 0; i < 12; i++) {
        for (int32_t j = 0; j < t % 5 + i && ((i + j) % 4 == t % 4 || j != 6); j++) {
            if ((i + j) % 4 == t % 4) {
                continue;
            }
            if (i * j == 63 + t % 7) {
                return sum + 7777;
            }
            sum += i * 10 + j;
        }
        if (sum > 3000 + 100 * (t % 9)) {
            break;
        }
    }
    return sum;
}

static int32_t model_switches(int32_t t)
{
    int32_t v = t;

    for (int32_t i = 0; i < 5; i++) {
        int32_t which = (v + i) % 7;
        if (which == 5) {
            v -= 9;
            continue;
        }
        if (which == 0) {
            v += 3;
        } else if (which == 1 || which == 2) {
            v = (which == 1 ? v * 2 : v) ^ 5;
        } else {
            v += i;
        }
        v &= 0xffff;
    }
    return v;
}

static int32_t model_gotos(int32_t t)
{
    int32_t v = t, n = 0;
    bool top = t % 3 != 0;

    for (;;) {
        if (top) {
            v = v * 3 + 1;
            if (v % 5 == 0) {
                break;
            }
        }
        v ^= n;
        n++;
        top = n < t % 13;
        if (!top && !(n < 9 && v % 2 == 0)) {
            break;
        }
    }
    return v + 100000 * n;
}

static int32_t model_uniform_around(int32_t t)
{
    int32_t sum = 0, scale = 3;

    for (int32_t i = 0; i < 9; i++) {
        for (int32_t x = t + i; x > 1; x = x % 2 == 0 ? x / 2 : 3 * x + 1) {
            sum += scale;
        }
        scale = scale * 5 % 17;
    }
    return sum + scale * 1000000;
}

static void check_model(struct device *device, const char *kernel, int32_t limit, int32_t (*model)(int32_t t))
{
    device_kernel(device, kernel);
    int32_t *out = device_buffer(device, 0, 4 * THREADS);
    if (limit != 0) {
        device_int(device, 1, limit);
    }
    device_run_threads(device, THREADS, 75);
    for (uint32_t t = 0; t < THREADS; t++) {
        device_expect(device, kernel, t, out[t], model((int32_t)t));
    }
}

static void check_barriers(struct device *device)
{
    int32_t expected[2][50];

    device_kernel(device, "barriers");
    int32_t *out = device_buffer(device, 0, 4 * 100);
    device_local(device, 1, 4 * 50);
    device_run(device, 2, 1, 50, 1);
    for (int32_t g = 0; g < 2; g++) {
        int32_t before[50];
        for (int32_t l = 0; l < 50; l++) {
            expected[g][l] = g * 50 + l;
        }
        for (int32_t i = 0; i < 4; i++) {
            memcpy(before, expected[g], sizeof(before));
            for (int32_t l = 0; l < 50; l++) {
                expected[g][l] += before[(l + i + 1) % 50];
            }
        }
    }
    for (uint32_t i = 0; i < 100; i++) {
        device_expect(device, "barriers", i, out[i], expected[i / 50][i % 50]);
    }
}

static void check_control(struct device *device)
{
    check_model(device, "work_and_break", 0, model_work_and_break);
    check_model(device, "nested", 12, model_nested);
    check_model(device, "switches", 0, model_switches);
    check_model(device, "gotos", 0, model_gotos);
    check_model(device, "uniform_around", 9, model_uniform_around);
    check_barriers(device);
}

static void control(void **state)
{
    in_variants(*state, "control", check_control);
}

/* ---- locks ---- */

static void check_lock(struct device *device, const char *kernel)
{
    device_kernel(device, kernel);
    device_buffer(device, 0, 4);
    int32_t *count = device_buffer(device, 1, 4);
    device_run(device, 2, 1, 45, 1);
    device_expect(device, kernel, 0, *count, 90);
}

static void check_locks(struct device *device)
{
    check_lock(device, "lock_inside");
    check_lock(device, "lock_before");

    device_kernel(device, "chain");
    device_buffer(device, 0, 4);
    int32_t *out = device_buffer(device, 1, 4 * 64);
    device_run(device, 1, 1, 64, 1);
    for (uint32_t t = 0; t < 64; t++) {
        device_expect(device, "chain", t, out[t], (int32_t)(t * t));
    }

    device_kernel(device, "pairs");
    device_buffer(device, 0, 4 * 64);
    out = device_buffer(device, 1, 4 * 64);
    device_run(device, 1, 1, 64, 1);
    for (uint32_t t = 1; t < 64; t += 2) {
        device_expect(device, "pairs", t, out[t], (int32_t)t - 1 + 5);
    }

    device_kernel(device, "tickets");
    device_buffer(device, 0, 4);
    device_buffer(device, 1, 4);
    int32_t *sum = device_buffer(device, 2, 4);
    device_run(device, 1, 1, 60, 1);
    device_expect(device, "tickets", 0, *sum, 60 * 100 + 15 * (0 + 0 + 1 + 3));
}

static void locks(void **state)
{
    in_variants(*state, "locks", check_locks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "the comparison set computes what C does [A7]", compare, device_setup, device_teardown, NULL },
        { "the comparison set written by hand computes it too [A7]", by_hand, device_setup, device_teardown, NULL },
        { "lanes part and meet in loops, switches, gotos [E3][E11]", control, device_setup, device_teardown, NULL },
        { "locks within a warp finish, in both idioms [E8]", locks, device_setup, device_teardown, NULL },
    };

    return cmocka_run_group_tests_name("compiler: kernels", tests, NULL, NULL);
}
