/* SPDX-License-Identifier: MIT */
/*
 * Tests built-in functions that kernels can check by themselves (functions.cl): vectors against their elements,
 * geometry, loads and stores of vectors and halves, atomics, fences.
 */
#include "ppu/macros.h"
#include "tests/compiler/device.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define CHECKS 256u

static const float numbers[32] = { 0.0f,     -0.0f,     1.0f,   -1.5f,     2.25f,  INFINITY, NAN,    -INFINITY,
                                   1e-40f,   -FLT_MIN,  0.1f,   65504.0f,  -7.75f, 3e38f,    1e-3f,  -1e-3f,
                                   -1e-40f,  5.0f,      -1.0f,  1.5f,      NAN,    1e20f,    -3.25f, INFINITY,
                                   0x1p-24f, 0x1p-149f, -2.25f, -65519.0f, 1e-7f,  8.5f,     0.33f,  -0.0f };
/* Of vectors that have a length: at most 9 each. */
static const float lengths[8] = { 1.5f, -2.25f, 8.0f, 0.1f, -3.0f, 4.75f, 0.5f, -8.5f };
static const int32_t integers[8] = { 0, -1, 0x7fffff, -0x800000, 12345, 0x40000000, 1000, -77 };
/* Within what a half holds, between two halves, below the smallest normal one. */
static const float halves[16] = { 0.0f,     -1.0f,      0.333333f, -0.1f,   2049.0f,  65504.0f, 1e-5f, -3e-7f,
                                  0x1p-24f, 0x1.8p-25f, -2.7f,     1000.3f, -4097.0f, 0.9999f,  1e-8f, 6e-5f };

static const float whole_numbers[8] = { 0, 1, 2, 3, 4, 1001, 65536, 4194303 };

struct group {
    const char *kernel;
    const void *in;
    uint32_t in_bytes;
    uint32_t checks;
};

static const struct group groups[] = {
    { "vectors", numbers, sizeof(numbers), 120 },
    { "large_vectors", numbers + 10, 12 * sizeof(float), 6 },
    { "geometry", lengths, sizeof(lengths), 49 },
    { "zeros", whole_numbers, sizeof(whole_numbers), 132 },
    { "integers", integers, sizeof(integers), 23 },
    { "moves", NULL, 1024, 20 },
    { "halves", halves, sizeof(halves), 51 },
    { "global_atomics", NULL, 8, 47 },
    { "local_atomics", NULL, 8, 47 },
    { "fences", NULL, 8, 6 },
};

static void check_group(struct device *device, const struct group *group)
{
    device_kernel(device, group->kernel);
    uint8_t *in = device_buffer(device, 0, group->in_bytes);
    int32_t *checks = device_buffer(device, 1, 4 * CHECKS);
    for (uint32_t i = 0; i < group->in_bytes; i++) {
        in[i] = (uint8_t)(group->in ? ((const uint8_t *)group->in)[i] : i * 37 + i / 256);
    }
    device_run_threads(device, 1, 1);
    for (uint32_t i = 0; i < CHECKS; i++) {
        device_expect(device, group->kernel, i, checks[i], i < group->checks);
    }
}

static void functions(void **state)
{
    struct device *device = *state;

    device_load_file(device, "../functions", "-cl-std=CL3.0 -ffp-contract=off");
    for (size_t g = 0; g < PPU_ARRAY_SIZE(groups); g++) {
        check_group(device, &groups[g]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "vectors, geometry, loads and stores, atomics, fences [A7]", functions, device_setup, device_teardown, NULL },
    };

    return cmocka_run_group_tests_name("compiler: functions", tests, NULL, NULL);
}
