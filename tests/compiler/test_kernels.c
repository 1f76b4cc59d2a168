/* SPDX-License-Identifier: MIT */
/* Whole kernels from OpenCL C against plain C, in every variant of compilation. */
#include "device.h"

#include <stdlib.h>
#include <string.h>

static int setup(void **state)
{
    *state = device_new();
    return 0;
}

static int teardown(void **state)
{
    device_free(*state);
    return 0;
}

/* Calls `check` once a variant, with the file compiled for it. */
static void in_variants(struct device *device, const char *file, void (*check)(struct device *device))
{
    for (uint32_t v = 0; v < device_variant_count; v++) {
        device->variant = &device_variants[v];
        device_load_file(device, file, "-cl-std=CL1.2 -ffp-contract=off");
        check(device);
    }
}

static void expect(const struct device *device, const char *what, uint32_t i, int32_t got, int32_t wanted)
{
    if (got != wanted) {
        fail_msg("%s, %s: element %u is %d, not %d", device->variant->name, what, i, got, wanted);
    }
}

/* ---- the comparison set ---- */

static void check_saxpy(struct device *device)
{
    const uint32_t n = 1000;

    device_kernel(device, "saxpy");
    device_int(device, 0, (int32_t)n - 10);
    device_float(device, 1, 1.5f);
    float *x = device_buffer(device, 2, n * 4), *y = device_buffer(device, 3, n * 4);
    for (uint32_t i = 0; i < n; i++) {
        x[i] = (float)i;
        y[i] = 0.25f * (float)i;
    }
    device_run_threads(device, n, 100);
    for (uint32_t i = 0; i < n; i++) {
        float before = 0.25f * (float)i;
        assert_true(y[i] == (i < n - 10 ? before + 1.5f * (float)i : before));
    }
}

static void check_sgemm(struct device *device)
{
    const uint32_t n = 48;

    device_kernel(device, "sgemm");
    device_int(device, 0, (int32_t)n);
    float *a = device_buffer(device, 1, n * n * 4), *b = device_buffer(device, 2, n * n * 4);
    float *c = device_buffer(device, 3, n * n * 4);
    for (uint32_t i = 0; i < n * n; i++) {
        a[i] = (float)(i % 17) - 3.5f;
        b[i] = (float)(i % 13) * 0.5f;
    }
    device_run(device, n / 16, n / 8, 16, 8);
    for (uint32_t i = 0; i < n * n; i++) {
        float sum = 0;
        for (uint32_t k = 0; k < n; k++) {
            sum += a[i / n * n + k] * b[k * n + i % n];
        }
        assert_true(c[i] == sum);
    }
}

static int32_t mandelbrot_turns(float cx, float cy, int32_t limit)
{
    float x = 0, y = 0;
    int32_t turns = 0;

    while (turns < limit && x * x + y * y <= 4.0f) {
        float next = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next;
        turns++;
    }
    return turns;
}

static void check_mandelbrot(struct device *device)
{
    const int32_t width = 37, height = 21, limit = 60;
    const float x0 = -2.0f, y0 = -1.0f, dx = 0.0625f, dy = 0.09375f;

    device_kernel(device, "mandelbrot");
    int32_t *out = device_buffer(device, 0, (uint32_t)(width * height) * 4);
    device_int(device, 1, width);
    device_int(device, 2, height);
    device_float(device, 3, x0);
    device_float(device, 4, y0);
    device_float(device, 5, dx);
    device_float(device, 6, dy);
    device_int(device, 7, limit);
    device_run(device, 5, 6, 8, 4);
    for (int32_t i = 0; i < width * height; i++) {
        int32_t row = i / width;
        float cx = x0 + (float)(i % width) * dx, cy = y0 + (float)row * dy;
        expect(device, "mandelbrot", (uint32_t)i, out[i], mandelbrot_turns(cx, cy, limit));
    }
}

static void check_histogram(struct device *device)
{
    const uint32_t n = 3000;
    uint32_t expected[256] = { 0 };

    device_kernel(device, "histogram");
    uint8_t *in = device_buffer(device, 0, n);
    uint32_t *counts = device_buffer(device, 1, sizeof(expected));
    device_int(device, 2, (int32_t)n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t value = (i * i >> 3) % 256;
        in[i] = (uint8_t)value;
        expected[value]++;
    }
    device_run_threads(device, n, 96);
    assert_memory_equal(counts, expected, sizeof(expected));
}

#define BFS_NODES 600
#define BFS_DEGREE 3

static int32_t bfs_edge(int32_t e)
{
    return (int32_t)((uint32_t)e * 2654435761u >> 8) % BFS_NODES;
}

static void bfs_expected(int32_t *level)
{
    bool changed = true;

    for (int32_t i = 0; i < BFS_NODES; i++) {
        level[i] = i == 0 ? 0 : -1;
    }
    for (int32_t now = 0; changed; now++) {
        changed = false;
        for (int32_t e = 0; e < BFS_NODES * BFS_DEGREE; e++) {
            if (level[e / BFS_DEGREE] == now && level[bfs_edge(e)] < 0) {
                level[bfs_edge(e)] = now + 1;
                changed = true;
            }
        }
    }
}

static void check_bfs(struct device *device)
{
    int32_t expected[BFS_NODES];

    device_kernel(device, "bfs");
    int32_t *first = device_buffer(device, 0, 4 * (BFS_NODES + 1));
    int32_t *edges = device_buffer(device, 1, 4 * BFS_NODES * BFS_DEGREE);
    int32_t *level = device_buffer(device, 2, 4 * BFS_NODES);
    int32_t *changed = device_buffer(device, 3, 4);
    device_int(device, 4, BFS_NODES);
    for (int32_t i = 0; i <= BFS_NODES; i++) {
        first[i] = i * BFS_DEGREE;
    }
    for (int32_t e = 0; e < BFS_NODES * BFS_DEGREE; e++) {
        edges[e] = bfs_edge(e);
    }
    memset(level, 0xff, 4 * BFS_NODES);
    level[0] = 0;
    *changed = 1;
    for (int32_t now = 0; *changed != 0; now++) {
        *changed = 0;
        device_int(device, 5, now);
        device_run_threads(device, BFS_NODES, 128);
    }
    bfs_expected(expected);
    for (uint32_t i = 0; i < BFS_NODES; i++) {
        expect(device, "bfs", i, level[i], expected[i]);
    }
}

static void check_compare(struct device *device)
{
    check_saxpy(device);
    check_sgemm(device);
    check_mandelbrot(device);
    check_histogram(device);
    check_bfs(device);
}

static void compare(void **state)
{
    in_variants(*state, "compare", check_compare);
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
        expect(device, kernel, t, out[t], model((int32_t)t));
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
        expect(device, "barriers", i, out[i], expected[i / 50][i % 50]);
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
    expect(device, kernel, 0, *count, 90);
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
        expect(device, "chain", t, out[t], (int32_t)(t * t));
    }

    device_kernel(device, "pairs");
    device_buffer(device, 0, 4 * 64);
    out = device_buffer(device, 1, 4 * 64);
    device_run(device, 1, 1, 64, 1);
    for (uint32_t t = 1; t < 64; t += 2) {
        expect(device, "pairs", t, out[t], (int32_t)t - 1 + 5);
    }

    device_kernel(device, "tickets");
    device_buffer(device, 0, 4);
    device_buffer(device, 1, 4);
    int32_t *sum = device_buffer(device, 2, 4);
    device_run(device, 1, 1, 60, 1);
    expect(device, "tickets", 0, *sum, 60 * 100 + 15 * (0 + 0 + 1 + 3));
}

static void locks(void **state)
{
    in_variants(*state, "locks", check_locks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "the comparison set computes what C does [A7][E11]", compare, setup, teardown, NULL },
        { "lanes part and meet in loops, switches, gotos [E3][E11]", control, setup, teardown, NULL },
        { "locks within a warp finish, in both idioms [E8]", locks, setup, teardown, NULL },
    };

    return cmocka_run_group_tests_name("compiler: kernels", tests, NULL, NULL);
}
