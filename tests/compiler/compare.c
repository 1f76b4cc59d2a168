/* SPDX-License-Identifier: MIT */
#include "tests/compiler/compare.h"

#include "ppu/macros.h"

#include <string.h>

static void run_saxpy(struct device *device)
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

static void run_sgemm(struct device *device)
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

static void run_mandelbrot(struct device *device)
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
        device_expect(device, "mandelbrot", (uint32_t)i, out[i], mandelbrot_turns(cx, cy, limit));
    }
}

static void run_histogram(struct device *device)
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

static void run_bfs(struct device *device)
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
        device_expect(device, "bfs", i, level[i], expected[i]);
    }
}

const struct comparison comparisons[] = {
    { "saxpy", run_saxpy },         { "sgemm", run_sgemm }, { "mandelbrot", run_mandelbrot },
    { "histogram", run_histogram }, { "bfs", run_bfs },
};
const uint32_t comparison_count = PPU_ARRAY_SIZE(comparisons);
