/* SPDX-License-Identifier: MIT */
/*
 * Tests indexes of every kind (kernels/addresses.cl) in every variant: whatever form of address the compiler takes,
 * each element is the one that C says. Which forms it takes: passes/lane_offsets.cl, passes/strength_reduce.cl.
 */
#include "ppu/macros.h"
#include "tests/compiler/device.h"

#include <stdio.h>
#include <string.h>

#define N 16u
#define CELLS (N * N)
#define MIDDLE 128u

static int32_t cell(uint32_t i)
{
    return (int32_t)(i * 2654435761u >> 8) % 1000;
}

static int32_t *put_cells(struct device *device, uint32_t argument, uint32_t count)
{
    int32_t *cells = device_buffer(device, argument, count * 4);

    for (uint32_t i = 0; i < count; i++) {
        cells[i] = cell(i);
    }
    return cells;
}

/* The pointer then leads to element `to` of the buffer that lies first in memory. */
static void move_argument(struct device *device, uint32_t argument, uint32_t to)
{
    uint64_t va = DATA_VA + 4ull * to;

    device_value(device, argument, &va, sizeof(va));
}

static void negative(struct device *device)
{
    const int32_t shift = 50;

    device_kernel(device, "negative");
    put_cells(device, 0, CELLS);
    int32_t *out = device_buffer(device, 1, N * 4);
    int32_t *where = device_buffer(device, 3, N * 4);
    move_argument(device, 0, MIDDLE);
    device_int(device, 2, shift);
    for (uint32_t i = 0; i < N; i++) {
        where[i] = cell(i) % 100;
    }
    device_run_threads(device, N, N);
    for (uint32_t i = 0; i < N; i++) {
        int32_t wanted = cell(MIDDLE + i - (uint32_t)shift) + 10 * cell(MIDDLE + (uint32_t)where[i]) +
                         100 * cell(MIDDLE + (uint32_t)shift - i);
        device_expect(device, "negative", i, out[i], wanted);
    }
}

static void wraps(struct device *device)
{
    const uint32_t n = 9;

    device_kernel(device, "wraps");
    put_cells(device, 0, CELLS);
    int32_t *out = device_buffer(device, 1, N * 4);
    device_int(device, 2, (int32_t)n);
    device_run_threads(device, N, N);
    for (uint32_t i = 0; i < N; i++) {
        int32_t wanted = i != 0 ? cell(i - 1) : 0;
        for (uint32_t k = 0; k < n; k++) {
            wanted += cell(k * 4 + i);
        }
        device_expect(device, "wraps", i, out[i], wanted);
    }
}

static int32_t all_of(uint32_t row, uint32_t column)
{
    int32_t sum = 0;

    for (uint32_t k = 0; k < N; k++) {
        sum += cell(row * N + k) * 3 + cell(k * N + column);
    }
    return sum;
}

static int32_t some_of(uint32_t row, uint32_t column)
{
    int32_t sum = 0;

    for (uint32_t k = column & 3; k < N - (row & 3); k += 1 + (column & 1)) {
        sum += cell(row * N + k) * 3 + cell(k * N + column);
    }
    return sum;
}

static int32_t around(uint32_t y, uint32_t x)
{
    uint32_t at = y * N + x;

    if (x < 1 || y < 1 || x >= N - 1 || y >= N - 1) {
        return 0;
    }
    return cell(at - 1) + cell(at + 1) * 3 + cell(at - N) * 5 + cell(at + N) * 7;
}

static const struct {
    const char *kernel;
    uint32_t bytes; /* of n */
    int32_t (*wanted)(uint32_t row, uint32_t column);
} squares[] = {
    { "rows", 4, all_of }, { "rows_unsigned", 4, all_of }, { "rows_wide", 4, all_of }, { "rows_wider", 8, all_of },
    { "down", 4, all_of }, { "apart", 4, some_of },        { "stencil", 4, around },
};

static void square(struct device *device, uint32_t which)
{
    const uint64_t n = N;

    device_kernel(device, squares[which].kernel);
    put_cells(device, 0, CELLS);
    int32_t *out = device_buffer(device, 1, CELLS * 4);
    device_value(device, 2, &n, squares[which].bytes);
    device_run(device, 2, 2, N / 2, N / 2);
    for (uint32_t i = 0; i < CELLS; i++) {
        device_expect(device, squares[which].kernel, i, out[i], squares[which].wanted(i / N, i % N));
    }
}

struct pair {
    char name;
    int32_t value[3];
};

static void sizes(struct device *device)
{
    device_kernel(device, "sizes");
    put_cells(device, 0, CELLS);
    int32_t *out = device_buffer(device, 1, N * 4);
    const struct pair *pairs = device_buffer(device, 2, CELLS * sizeof(struct pair));
    const uint8_t *bytes = device_buffer(device, 3, CELLS);
    int32_t *threes = device_buffer(device, 4, N * 16);
    for (uint32_t i = 0; i < 4 * N; i++) {
        threes[i] = cell(i + 7);
    }
    device_int(device, 5, N);
    device_run_threads(device, N, N);
    for (uint32_t i = 0; i < N; i++) {
        int32_t sum = 0;
        for (uint32_t k = 0; k < N; k++) {
            int32_t in_pair = cell(k * N + i);
            uint8_t in_bytes = (uint8_t)cell(k + i);
            device_expect(device, "structures", i * N + k, pairs[i * N + k].value[k % 3], in_pair);
            device_expect(device, "bytes", i * N + k, bytes[i * N + k], in_bytes);
            sum += cell(4 * i + 1 + 7) + (int32_t)k + in_pair + in_bytes;
        }
        device_expect(device, "sizes", i, out[i], sum);
    }
}

static void addresses(void **state)
{
    struct device *device = *state;

    for (uint32_t v = 0; v < device_variant_count; v++) {
        device->variant = &device_variants[v];
        device_load_file(device, "addresses", "-cl-std=CL1.2");
        negative(device);
        wraps(device);
        for (uint32_t i = 0; i < PPU_ARRAY_SIZE(squares); i++) {
            square(device, i);
        }
        sizes(device);
    }
}

/* ---- what launches must keep to ---- */

static uint32_t assumes(struct device *device, const char *body)
{
    char source[256];

    snprintf(source, sizeof(source), "kernel void k(global int *o, int n, uint m, long w) { %s }", body);
    device_load(device, source, "-cl-std=CL1.2");
    device_kernel(device, "k");
    return device->kernel.assumes;
}

static void small_ids(void **state)
{
    struct device *device = *state;
    struct ppu_kernel_entry entry = { .assumes = 0 };

    assert_int_equal(assumes(device, "int i = get_global_id(0); if (i < n) o[i] = 1;"), PPU_KERNEL_SMALL_IDS);
    assert_int_equal(assumes(device, "uint i = get_global_id(0); if (i < m) o[i] = 1;"), 0);
    assert_int_equal(assumes(device, "size_t i = get_global_id(0); if (i < m) o[i] = 1;"), 0);
    assert_int_equal(assumes(device, "int i = get_local_id(0); o[i] = 1;"), 0);
    assert_int_equal(assumes(device, "int i = get_global_id(0); if (i == n) o[0] = i;"), 0);
    assert_true(ppu_kernel_takes_ids(&entry, 1ull << 40, 1ull << 31));
    assert_false(ppu_kernel_takes_ids(&entry, UINT64_MAX - 4, 4));
    entry.assumes = PPU_KERNEL_SMALL_IDS;
    assert_true(ppu_kernel_takes_ids(&entry, 0, 1ull << 31));
    assert_false(ppu_kernel_takes_ids(&entry, 0, (1ull << 31) + 1));
    assert_false(ppu_kernel_takes_ids(&entry, 1ull << 31, 1));
    assert_false(ppu_kernel_takes_ids(&entry, 1ull << 32, 1));
}

/* ---- what may be done with launches ---- */

static uint32_t allows(struct device *device, const char *parameters, const char *body)
{
    char source[512];

    snprintf(source, sizeof(source),
             "int helper(int i) { return i + get_group_id(0); }\n"
             "kernel void other(global int *o) { o[get_local_id(0)] = 1; }\n"
             "kernel void k(global int *o%s) { %s }",
             parameters, body);
    device_load(device, source, "-cl-std=CL3.0");
    device_kernel(device, "k");
    return device->kernel.allows & PPU_KERNEL_ANY_CTA;
}

/* Kernels without loops, and those whose loops all threads of a warp leave together. */
static void gains(void **state)
{
    static const struct {
        const char *body;
        uint32_t gains;
    } cases[] = {
        { "o[get_global_id(0)] = 1;", PPU_KERNEL_GAINS_LARGE_CTAS | PPU_KERNEL_GAINS_ROWS },
        { "int i = get_global_id(0); if (o[i] > 3) o[i] = sin((float)i) * 100;",
          PPU_KERNEL_GAINS_LARGE_CTAS | PPU_KERNEL_GAINS_ROWS },
        { "int i = get_global_id(0); for (int k = 0; k < 3; k++) o[i + k] = k;",
          PPU_KERNEL_GAINS_LARGE_CTAS | PPU_KERNEL_GAINS_ROWS },
        { "int i = get_global_id(0); for (int k = 0; k < o[i]; k++) o[i] += k;", 0 },
        { "while (atomic_add(o, 1) != 7) { }", 0 },
        { "int i = get_global_id(0); for (int k = 0; k < n; k++) o[i] += o[i + k];", PPU_KERNEL_GAINS_ROWS },
        { "int i = get_global_id(0); if (i < 9) return;\n"
          "for (int k = 0; k < n; k++) if (o[i] > k) o[i] += o[i + k];",
          PPU_KERNEL_GAINS_ROWS },
        { "int i = get_global_id(0); for (int k = 0; k < n; k++) { if (o[i] == k) return; o[i + k] = k; }", 0 },
        { "int i = get_global_id(0); for (int k = 0; k < n; k++) { if (o[i] == k) break; o[i + k] = k; }", 0 },
        { "int i = get_global_id(0);\n"
          "for (int k = 0; k < n; k++) for (int j = 0; j < i; j++) o[i] += o[i + k + j];",
          0 },
        { "int i = get_global_id(0);\n"
          "for (int k = 0; k < n; k++) for (int j = 0; j < k; j++) o[i] += o[i + k + j];",
          PPU_KERNEL_GAINS_ROWS },
    };
    const uint32_t asked = PPU_KERNEL_GAINS_LARGE_CTAS | PPU_KERNEL_GAINS_ROWS;
    struct device *device = *state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        allows(device, ", int n", cases[i].body);
        if ((device->kernel.gains & asked) != cases[i].gains) {
            fail_msg("gains %u: %s", device->kernel.gains, cases[i].body);
        }
    }
}

/* All that shows a group to a thread: where it is not used, launches may have any. */
static void any_groups(void **state)
{
    static const char *const blind[] = {
        "o[get_global_id(0)] = 1;",
        "o[get_global_id(1) * 100 + get_global_id(0)] = get_work_dim();",
        "int i = get_global_id(0); o[i] = sin((float)i) * 100; mem_fence(CLK_GLOBAL_MEM_FENCE);",
        "atomic_add(o, 1);",
        "if (get_global_id(0) == 3) printf(\"%d\\n\", o[0]);",
        "o[get_global_id(0)] = get_global_size(0);",
        "o[get_global_id(0)] = get_global_offset(0);",
        "o[get_global_linear_id()] = 1;",
    };
    static const char *const seen[] = {
        "o[get_global_id(0)] = get_local_id(0);",
        "o[get_global_id(0)] = get_local_linear_id();",
        "o[get_global_id(0)] = get_local_size(0);",
        "o[get_global_id(0)] = get_enqueued_local_size(0);",
        "o[get_global_id(0)] = get_group_id(0);",
        "o[get_global_id(0)] = get_num_groups(0);",
        "o[0] = helper(3);",
        "other(o);",
        "barrier(CLK_GLOBAL_MEM_FENCE); o[get_global_id(0)] = 1;",
        "local int l; if (o[1]) l = o[0]; o[get_global_id(0)] = atomic_inc(&l);",
        "local int l[8]; event_t e = async_work_group_copy(l, o, 8, 0); wait_group_events(1, &e); o[0] = l[1];",
    };
    struct device *device = *state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(blind); i++) {
        if (allows(device, "", blind[i]) != PPU_KERNEL_ANY_CTA) {
            fail_msg("no thread sees its group: %s", blind[i]);
        }
    }
    for (size_t i = 0; i < PPU_ARRAY_SIZE(seen); i++) {
        if (allows(device, "", seen[i]) != 0) {
            fail_msg("threads see their group: %s", seen[i]);
        }
    }
    assert_int_equal(allows(device, ", local int *l", "o[get_global_id(0)] = 1;"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "indexes of all kinds reach their elements [A7]", addresses, device_setup, device_teardown, NULL },
        { "who needs small ids says so", small_ids, device_setup, device_teardown, NULL },
        { "who has no loop gains from large work-groups", gains, device_setup, device_teardown, NULL },
        { "only who cannot see its group lets it have any size", any_groups, device_setup, device_teardown, NULL },
    };

    return cmocka_run_group_tests_name("compiler: addresses", tests, NULL, NULL);
}
