/* SPDX-License-Identifier: MIT */
/* Constructs of OpenCL C against plain C, in every variant of compilation. */
#include "device.h"

#include <math.h>
#include <string.h>

#define THREADS 90u
#define GROUP 45u

struct pair {
    int32_t a;
    int8_t b;
    int64_t c[3];
    int16_t d;
};

static void structures(struct device *device)
{
    const struct pair s = { 100, 7, { 11, -22, 33ll << 40 }, -9 };

    device_kernel(device, "structures");
    struct pair *out = device_buffer(device, 0, THREADS * sizeof(s)), *in;
    device_value(device, 1, &s, sizeof(s));
    in = device_buffer(device, 2, THREADS * sizeof(s));
    for (int32_t t = 0; t < (int32_t)THREADS; t++) {
        in[t] = (struct pair){ t, 1, { t, 2 * t, 3 * t }, 4 };
    }
    device_run_threads(device, THREADS, GROUP);
    for (int32_t t = 0; t < (int32_t)THREADS; t++) {
        struct pair p = { t + 100, (int8_t)(7 - t), { t, 2 * t, 3 * t }, -9 };
        p.c[t % 3] = s.c[(t + 1) % 3];
        assert_int_equal(out[t].a, p.a);
        assert_int_equal(out[t].b, p.b);
        assert_memory_equal(out[t].c, p.c, sizeof(p.c));
        assert_int_equal(out[t].d, p.d);
    }
}

static void constants(struct device *device)
{
    static const int32_t table[5] = { 7, -3, 11, 1 << 20, 5 }, more[4] = { 1, 2, 3, 4 };

    device_kernel(device, "constants");
    int32_t *out = device_buffer(device, 0, 4 * THREADS);
    memcpy(device_buffer(device, 1, sizeof(more)), more, sizeof(more));
    device_run_threads(device, THREADS, GROUP);
    for (uint32_t t = 0; t < THREADS; t++) {
        assert_int_equal(out[t], table[t % 5] + table[(t + 3) % 5] * 2 + more[t % 4]);
    }
}

static void vectors(struct device *device)
{
    device_kernel(device, "vectors");
    float *out = device_buffer(device, 0, 16 * THREADS);
    uint8_t *in = device_buffer(device, 1, 4 * THREADS);
    float *three = device_buffer(device, 2, 12 * THREADS);
    for (uint32_t i = 0; i < 4 * THREADS; i++) {
        in[i] = (uint8_t)(i * 7);
    }
    for (uint32_t i = 0; i < 3 * THREADS; i++) {
        three[i] = (float)i;
    }
    device_run_threads(device, THREADS, GROUP);
    for (uint32_t t = 0; t < THREADS; t++) {
        const uint8_t *u = in + 4 * (size_t)t;
        float x = (float)u[1] * 0.5f + (float)(3 * t), y = (float)u[0] * 0.5f + (float)(3 * t + 2);
        float z = (float)u[2] * 0.5f, w = (float)u[3] * 0.5f;
        assert_true(out[4 * t] == w && out[4 * t + 1] == x * x + y * y + z * z + w * w);
        assert_true(out[4 * t + 2] == x && out[4 * t + 3] == y);
        assert_true(three[3 * t + 2] == (float)(6 * t + 4));
    }
}

static void generics(struct device *device)
{
    device_kernel(device, "generics");
    int32_t *out = device_buffer(device, 0, 4 * THREADS), *in = device_buffer(device, 1, 4 * THREADS + 16);
    for (uint32_t i = 0; i < THREADS; i++) {
        in[i] = (int32_t)(i * i);
    }
    device_run(device, 2, 1, 40, 1);
    for (uint32_t t = 0; t < 80; t++) {
        uint32_t l = t % 40 / 4 * 4, g = t / 4 * 4;
        uint32_t expected = t % 3 == 0   ? 6 * t
                            : t % 3 == 1 ? 4000 + 4 * l + 6
                                         : g * g + (g + 1) * (g + 1) + (g + 2) * (g + 2) + (g + 3) * (g + 3);
        assert_int_equal(out[t], expected);
    }
}

static void atomics(struct device *device)
{
    device_kernel(device, "atomics");
    int32_t *count = device_buffer(device, 0, 4);
    uint64_t *wide = device_buffer(device, 1, 8);
    int32_t *old = device_buffer(device, 2, 4 * THREADS);
    device_run_threads(device, THREADS, GROUP);
    assert_int_equal(*count, 2 * THREADS);
    assert_true(*wide == (uint64_t)(THREADS - 1) << 33);
    for (uint32_t t = 0; t < THREADS; t++) {
        uint32_t first = t / GROUP * GROUP;
        assert_int_equal(old[t], GROUP * first + GROUP * (GROUP - 1) / 2);
    }
}

static void prints(struct device *device)
{
    struct ppu_printf_buffer *buffer = bench_data(device->bench, 0x100000);
    uint32_t records = 0;

    device_kernel(device, "prints");
    device_int(device, 0, 12);
    device->printf_va = DATA_VA + 0x100000;
    buffer->capacity = 28; /* four records of six words, and a half */
    buffer->used = 0;
    device_run(device, 1, 1, 12, 1);
    device->printf_va = 0;
    assert_int_equal(buffer->used, 6 * 6);
    assert_string_equal(device->bench->program.text + device->bench->program.formats[0], "%d of %d is %f\n");
    for (uint32_t at = 0; at + 6 <= 28; at += 6, records++) {
        double half;
        assert_int_equal(buffer->words[at], 6);
        assert_int_equal(buffer->words[at + 1], 0);
        assert_int_equal(buffer->words[at + 3], 12);
        memcpy(&half, &buffer->words[at + 4], sizeof(half));
        assert_true(half == buffer->words[at + 2] * 0.5);
    }
    assert_int_equal(records, 4);
}

static void halves(struct device *device)
{
    static const uint16_t in[4] = { 0x3c00, 0x4200, 0xb800, 0x0001 }; /* 1, 3, -0.5, 2^-24 */
    static const float doubled[4] = { 2, 6, -1, 0x1p-23f };

    device_kernel(device, "halves");
    uint16_t *h = device_buffer(device, 0, sizeof(in));
    float *out = device_buffer(device, 1, sizeof(doubled));
    memcpy(h, in, sizeof(in));
    device_run(device, 1, 1, 4, 1);
    for (uint32_t t = 0; t < 4; t++) {
        assert_true(out[t] == doubled[t] + 0.25f);
    }
    assert_int_equal(h[0], 0x4000);
}

static void normals(struct device *device)
{
    device_kernel(device, "normals");
    double *out = device_buffer(device, 0, 32 * THREADS);
    device_run_threads(device, THREADS, GROUP);
    for (uint32_t t = 0; t < THREADS; t++) {
        double x = t, length = sqrt(x * x + (x + 1) * (x + 1) + 13);
        assert_true(fabs(out[4 * t + 1] - (x + 1) / length) < 1e-12 && fabs(out[4 * t + 3] + 3 / length) < 1e-12);
    }
}

static void language(void **state)
{
    static void (*const checks[])(struct device *) = { structures, constants, vectors, generics,
                                                       atomics,    prints,    halves,  normals };
    struct device *device = *state;

    for (uint32_t v = 0; v < device_variant_count; v++) {
        device->variant = &device_variants[v];
        device_load_file(device, "language", "-cl-std=CL3.0 -ffp-contract=off");
        for (size_t c = 0; c < sizeof(checks) / sizeof(checks[0]); c++) {
            checks[c](device);
        }
    }
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "structures, vectors, address spaces, atomics, printf, halves [A7]", language, setup, teardown, NULL },
    };

    return cmocka_run_group_tests_name("compiler: language", tests, NULL, NULL);
}
