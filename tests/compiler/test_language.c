/* SPDX-License-Identifier: MIT */
/* Tests constructs of OpenCL C against plain C, in every variant of compilation. */
#include "ppu/macros.h"
#include "tests/compiler/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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
    struct pair *out = device_buffer(device, 0, THREADS * sizeof(s));
    device_value(device, 1, &s, sizeof(s));
    struct pair *in = device_buffer(device, 2, THREADS * sizeof(s));
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

static void differences(struct device *device)
{
    device_kernel(device, "differences");
    int32_t *out = device_buffer(device, 0, 4 * THREADS);
    device_buffer(device, 1, 4 * THREADS);
    device_run_threads(device, THREADS, GROUP);
    for (int32_t t = 0; t < (int32_t)THREADS; t++) {
        int32_t first = t % 2 != 0 ? t % 7 + 1 : t % 5;
        device_expect(device, "differences", (uint32_t)t, out[t], first * 10007 - t % 7 * 101 + t);
    }
}

static void chosen_pointers(struct device *device)
{
    device_kernel(device, "chosen_pointers");
    int32_t *out = device_buffer(device, 0, 4 * THREADS);
    device_run_threads(device, THREADS, GROUP);
    for (uint32_t t = 0; t < THREADS; t++) {
        device_expect(device, "chosen pointers", t, out[t], 1);
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
    struct ppu_printf_buffer *buffer = rig_data(device->rig, 0x100000);
    uint32_t records = 0;

    device_kernel(device, "prints");
    device_int(device, 0, 12);
    device->printf_va = DATA_VA + 0x100000;
    buffer->capacity = 28; /* four records of six words, and a half */
    buffer->used = 0;
    device_run(device, 1, 1, 12, 1);
    device->printf_va = 0;
    assert_int_equal(buffer->used, 6 * 6);
    assert_string_equal(device->rig->program.text + device->rig->program.formats[buffer->words[1]], "%d of %d is %f\n");
    for (uint32_t at = 0; at + 6 <= 28; at += 6, records++) {
        double half;
        assert_int_equal(buffer->words[at], 6);
        assert_int_equal(buffer->words[at + 1], buffer->words[1]);
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

static void private_atomics(struct device *device)
{
    device_kernel(device, "private_atomics");
    int32_t *out = device_buffer(device, 0, 4 * THREADS);
    uint64_t *wide = device_buffer(device, 1, 8 * THREADS);
    device_run_threads(device, THREADS, GROUP);
    for (int32_t t = 0; t < (int32_t)THREADS; t++) {
        int32_t x0 = t, x1 = 7, expected = t % 2 == 0 ? 7 : 8, sum = x0;
        x0 += 3;
        sum = sum * 31 + x0;
        x0 = x0 > 50 ? x0 : 50;
        sum = sum * 31 + (x1 == expected);
        if (x1 == expected) {
            x1 = 100;
        } else {
            expected = x1;
        }
        sum = sum * 31 + x1;
        x1 = t;
        assert_int_equal(out[t], sum * 31 + x0 * 7 + x1 + expected);
        assert_true(wide[t] == 5 - ((uint64_t)t << 33));
    }
}

static void copies(struct device *device)
{
    device_kernel(device, "copies");
    int32_t *in = device_buffer(device, 0, 4 * THREADS), *out = device_buffer(device, 1, 12 * THREADS);
    int16_t *four = device_buffer(device, 2, 8 * THREADS), *back = device_buffer(device, 3, 8 * THREADS);
    device_local(device, 4, 4 * GROUP);
    for (uint32_t i = 0; i < THREADS; i++) {
        in[i] = (int32_t)(i * i);
        four[4 * i + i % 4] = (int16_t)(i + 1);
    }
    device_run(device, THREADS / GROUP, 1, GROUP, 1);
    assert_memory_equal(four, back, 8 * (size_t)THREADS);
    for (uint32_t i = 0; i < THREADS; i++) {
        uint32_t next = i / GROUP * GROUP + (i + 1) % GROUP;
        assert_int_equal(out[3 * i], 2 * next * next);
        assert_int_equal(out[3 * i + 1], 0);
    }
}

static void address_spaces(struct device *device)
{
    device_kernel(device, "address_spaces");
    uint64_t *out = device_buffer(device, 0, 64 * 6 * 4);
    device->global_offset[0] = 7;
    device->global_offset[1] = 1ull << 33;
    device_run(device, 2, 2, 3, 2);
    memset(device->global_offset, 0, sizeof(device->global_offset));
    for (uint64_t i = 0; i < 24; i++) {
        uint64_t x = i % 6, y = i / 6;
        const uint64_t expected[8] = { x + 7,
                                       y + (1ull << 33),
                                       7 + 1000 * (1ull << 33),
                                       6 * 100 + 4 * 10 + 1,
                                       x / 3 * 10 + y / 2,
                                       x % 3 * 10 + y % 2,
                                       2 * 100 + 2 * 10 + 2,
                                       y % 2 * 3 + x % 3 };
        assert_memory_equal(&out[8 * i], expected, sizeof(expected));
    }
}

struct with_three {
    int8_t c;
    float f[4] __attribute__((aligned(16)));
    int16_t s[4];
};

static int16_t to_short(int32_t v)
{
    return (int16_t)(v > INT16_MAX ? INT16_MAX : v < INT16_MIN ? INT16_MIN : v);
}

static void threes(struct device *device)
{
    device_kernel(device, "threes");
    int32_t *packed = device_buffer(device, 0, 12 * THREADS), *in = device_buffer(device, 1, 16 * THREADS);
    struct with_three *structs = device_buffer(device, 2, sizeof(*structs) * THREADS);
    double *wide = device_buffer(device, 3, 24 * THREADS);
    for (uint32_t i = 0; i < 4 * THREADS; i++) {
        in[i] = (int32_t)(i * 37 % 101) - 30;
    }
    device_run_threads(device, THREADS, GROUP);
    for (int32_t t = 0; t < (int32_t)THREADS; t++) {
        const int32_t *i = &in[4 * t], v[3] = { i[2] + 1, i[0] + 2, i[1] + t };
        assert_int_equal(structs[t].c, (int8_t)t);
        for (uint32_t k = 0; k < 3; k++) {
            assert_int_equal(packed[3 * t + (int32_t)k], v[k] > t ? -v[k] : v[k]);
            assert_true(wide[3 * t + (int32_t)k] == v[k] / 4.0);
            assert_true(structs[t].f[k] == (float)v[(k + 1) % 3] * 0.5f);
            assert_int_equal(structs[t].s[k], to_short(v[k] * 1000));
        }
    }
}

static void wides(struct device *device)
{
    device_kernel(device, "wides");
    uint8_t *bytes = device_buffer(device, 0, 16 * THREADS), before[16 * THREADS];
    uint16_t *shorts = device_buffer(device, 1, 16 * THREADS);
    int32_t *truths = device_buffer(device, 2, 4 * THREADS);
    for (uint32_t i = 0; i < 16 * THREADS; i++) {
        bytes[i] = before[i] = (uint8_t)(i * 29 % 97 + (i > 800 ? 60 : 1));
    }
    device_run_threads(device, THREADS, GROUP);
    for (uint32_t t = 0; t < THREADS; t++) {
        static const uint8_t order[16] = { 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15 };
        const uint8_t *b = &before[16 * (size_t)t];
        bool any = false, all = true;
        for (uint32_t i = 0; i < 16; i++) {
            uint32_t from = order[i] == 15 ? 15 : order[i], n = t & 7;
            uint32_t turned = (uint8_t)(b[from] << n | b[from] >> (8 - n)), sum = turned + 200;
            assert_int_equal(bytes[16 * t + i], sum > 255 ? 255 : sum);
            any |= b[i] > 128;
            all &= b[i] != 0;
        }
        for (uint32_t i = 0; i < 8; i++) {
            assert_int_equal(shorts[8 * t + i], b[7 - i] << 8 | b[15 - i]);
        }
        assert_int_equal(truths[t], any * 4 + all * 2 + (b[0] == t));
    }
}

static void half_vectors(struct device *device)
{
    /* The values lie between 1 and the half above it, then come -1/3, half of the smallest (2^-25), and a large one. */
    static const float in[4] = { 1.0f + 0x1p-11f + 0x1p-13f, -1.0f / 3, 0x1p-25f, 65519.0f };
    static const uint16_t expected[4][4] = {
        { 0x3c00, 0xb555, 0x0000, 0x7bff }, /* towards zero */
        { 0x3c01, 0xb555, 0x0001, 0x7c00 }, /* up */
        { 0x3c00, 0xb556, 0x0000, 0x7bff }, /* down */
        { 0x3c01, 0xb555, 0x0000, 0x7bff }, /* to nearest */
    };

    device_kernel(device, "half_vectors");
    uint16_t *h = device_buffer(device, 0, 4 * 8), *aligned = device_buffer(device, 1, 8);
    float *back = device_buffer(device, 2, sizeof(in));
    memcpy(back, in, sizeof(in));
    device_run(device, 1, 1, 1, 1);
    assert_memory_equal(h, expected, sizeof(expected));
    assert_memory_equal(aligned, expected, 6);
    assert_int_equal(aligned[3], 0);
    assert_true(back[0] == 1.0f + 0x1p-10f && back[2] == 0 && back[3] == 65504.0f);
}

/* A string's address in the buffer is that of its bytes behind the code: the host has them in the image. */
static const char *text_at(const struct device *device, const uint32_t *words)
{
    uint64_t va = words[0] | (uint64_t)words[1] << 32;

    assert_true(va > CODE_VA && va < CODE_VA + device->rig->program.header->code_bytes);
    return (const char *)device->rig->program.code + (va - CODE_VA);
}

static void print_more(struct device *device)
{
    struct ppu_printf_buffer *buffer = rig_data(device->rig, 0x100000);
    const struct ppu_program_view *program = &device->rig->program;
    uint32_t seen = 0;

    device_kernel(device, "print_more");
    int32_t *out = device_buffer(device, 0, 8);
    device->printf_va = DATA_VA + 0x100000;
    buffer->capacity = 1000;
    buffer->used = 0;
    device_run(device, 1, 1, 2, 1);
    device->printf_va = 0;
    assert_int_equal(buffer->used, 2 * 11); /* head, string, four integers, long, character */
    for (const uint32_t *r = buffer->words; r < buffer->words + buffer->used; r += r[0]) {
        char line[100], expected[100];
        uint64_t wide = r[8] | (uint64_t)r[9] << 32;
        assert_string_equal(program->text + program->formats[r[1]], "%s: %v4d %lx%c\n");
        snprintf(line, sizeof(line), "%s: %d,%d,%d,%d %lx%c\n", text_at(device, &r[2]), (int32_t)r[4], (int32_t)r[5],
                 (int32_t)r[6], (int32_t)r[7], (unsigned long)wide, (char)r[10]);
        snprintf(expected, sizeof(expected), "%s: %d,-1,2,3 %lxz\n", r[4] == 0 ? "first" : "other", (int32_t)r[4],
                 0x123456789abcdef0ul + r[4]);
        assert_string_equal(line, expected);
        seen |= 1u << r[4];
    }
    assert_int_equal(seen, 3);
    assert_true(out[0] == 0 && out[1] == 0);
}

static void group_sizes(struct device *device)
{
    device_kernel(device, "required");
    assert_true(device->kernel.cta[0] == 8 && device->kernel.cta[1] == 4 && device->kernel.cta[2] == 1);
    int32_t *out = device_buffer(device, 0, 4 * 64);
    device_run(device, 2, 1, 8, 4);
    for (uint32_t i = 0; i < 64; i++) {
        assert_int_equal(out[i], 804);
    }
    device_kernel(device, "hinted");
    assert_int_equal(device->kernel.cta[0], 0); /* a hint binds nobody */
    out = device_buffer(device, 0, 4 * THREADS);
    device_run_threads(device, THREADS, GROUP);
    assert_int_equal(out[THREADS - 1], GROUP);
}

static void variables(struct device *device)
{
    for (int32_t launch = 1; launch <= 3; launch++) {
        device_kernel(device, "variables");
        int32_t *out = device_buffer(device, 0, 4 * 64);
        int32_t hidden = -4 * launch - launch * (launch - 1) / 2;
        device_run(device, 1, 1, 1, 1);
        assert_int_equal(out[0], hidden);
        assert_int_equal(out[1], 3 + 2 * (launch - 1));
        assert_int_equal(out[2], launch);
    }
}

static void held_addresses(struct device *device)
{
    for (int32_t launch = 1; launch <= 2; launch++) {
        device_kernel(device, "held_addresses");
        int32_t *out = device_buffer(device, 0, 4 * 6);
        device_run(device, 1, 1, 1, 1);
        device_expect(device, "held addresses", 0, out[0], 3000 + 2);
        device_expect(device, "held addresses", 1, out[1], 1 + 20 + 300 + 1000);
        device_expect(device, "held addresses", 2, out[2], 50 + launch);
        device_expect(device, "held addresses", 3, out[3], 80 + 10 * launch + 40);
        device_expect(device, "held addresses", 4, out[4], 7);
        device_expect(device, "held addresses", 5, out[5], 1);
    }
}

struct row {
    int32_t a[16];
};

static int32_t sum_of(const struct row *row, uint32_t from, uint32_t count)
{
    int32_t sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        sum += row->a[(from + i) % 16];
    }
    return sum;
}

static void give_rows(struct device *device, struct row *s, struct row *u)
{
    for (int32_t i = 0; i < 16; i++) {
        s->a[i] = 100 + i;
        u->a[i] = 7 * i - 1000;
    }
    device_value(device, 1, s, sizeof(*s));
    device_value(device, 2, u, sizeof(*u));
}

static void rows_read(struct device *device)
{
    struct row s, u;

    device_kernel(device, "by_value_read");
    const int32_t *out = device_buffer(device, 0, 12 * THREADS);
    give_rows(device, &s, &u);
    device_run_threads(device, THREADS, GROUP);
    for (uint32_t t = 0; t < THREADS; t++) {
        const struct row *chosen = t % 2 == 1 ? &s : &u;
        assert_int_equal(out[3 * t], chosen->a[t % 16]);
        assert_int_equal(out[3 * t + 1], t % 3 == 0 ? s.a[t % 16] : u.a[(t + 1) % 16]);
        assert_int_equal(out[3 * t + 2], sum_of(chosen, t, t % 8));
    }
}

static void rows_written(struct device *device)
{
    struct row s, u;

    device_kernel(device, "by_value_written");
    const int32_t *out = device_buffer(device, 0, 8 * THREADS);
    give_rows(device, &s, &u);
    device_int(device, 3, 9000);
    device_run_threads(device, THREADS, GROUP);
    for (uint32_t t = 0; t < THREADS; t++) {
        struct row own_s = s, own_u = u;
        own_s.a[t % 16] = 9000;
        own_u.a[3] += (int32_t)t;
        (t % 2 == 1 ? &own_s : &own_u)->a[5] *= 2;
        assert_int_equal(out[2 * t], sum_of(&own_s, 0, 16));
        assert_int_equal(out[2 * t + 1], sum_of(&own_u, 0, 16));
    }
}

struct big {
    int32_t n;
    struct row rows[100];
    int8_t tag;
};

static void outside_structures(struct device *device)
{
    struct big s = { .n = 12345, .tag = -7 };
    struct row small;
    const int8_t c = -3;

    device_kernel(device, "outside_structures");
    const int32_t *out = device_buffer(device, 0, 4 * THREADS);
    int32_t *in = device_buffer(device, 4, 4 * THREADS);
    for (int32_t i = 0; i < 1600; i++) {
        s.rows[i / 16].a[i % 16] = i * i;
        small.a[i % 16] = -i;
        in[i % (int32_t)THREADS] = 17 * i;
    }
    device_value(device, 1, &s, sizeof(s));
    device_value(device, 2, &c, sizeof(c));
    device_value(device, 3, &small, sizeof(small));
    device_run_threads(device, THREADS, GROUP);
    for (uint32_t t = 0; t < THREADS; t++) {
        const struct row *row = t % 2 == 1 ? &s.rows[t] : &small;
        device_expect(device, "structures outside", t, out[t],
                      s.rows[t].a[t % 16] * c + s.n + s.tag + row->a[3] + in[t] + (int32_t)THREADS);
    }
}

#define WIDE 16u /* elements of a vector */
#define VECTORS 32u

/* Vectors of even numbers count, of odd eights they count the other way. */
static double sum_of_vectors(const double values[VECTORS][WIDE], uint32_t element)
{
    double sum = 0;

    for (uint32_t i = 0; i < VECTORS; i++) {
        sum += i / 8 % 2 == 0 ? values[i][element] : -values[i][element];
    }
    return sum;
}

static void outside_values(struct device *device)
{
    enum { E = VECTORS + 1, F, IN, G, S, L, H, I };
    double values[VECTORS][WIDE];
    const int8_t e = -5;
    const int16_t f[4] = { 1, -200, 3, 0 };
    const uint16_t g = 10;
    const int64_t h = 70;
    const uint8_t bytes[4] = { 1, 250, 3, 0 };
    struct row s;

    device_kernel(device, "outside_values");
    const int32_t *out = device_buffer(device, 0, 4 * THREADS);
    int32_t *in = device_buffer(device, IN, 4 * THREADS);
    for (uint32_t i = 0; i < VECTORS * WIDE; i++) {
        values[i / WIDE][i % WIDE] = i * 3 % 101;
        s.a[i % 16] = (int32_t)i;
        in[i % THREADS] = (int32_t)(i * 1000);
    }
    for (uint32_t i = 0; i < VECTORS; i++) {
        device_value(device, 1 + i, values[i], sizeof(values[i]));
    }
    device_value(device, E, &e, sizeof(e));
    device_value(device, F, f, sizeof(f));
    device_value(device, G, &g, sizeof(g));
    device_value(device, S, &s, sizeof(s));
    device_local(device, L, 4 * GROUP);
    device_value(device, H, &h, sizeof(h));
    device_value(device, I, bytes, sizeof(bytes));
    device_run_threads(device, THREADS, GROUP);
    for (uint32_t t = 0; t < THREADS; t++) {
        int32_t wanted = e + (int32_t)(t % 4) * (int32_t)(h + f[1]) + in[t] + s.a[(t + 1) % 16] + bytes[1] + bytes[2] +
                         10 + (int32_t)(sum_of_vectors(values, 1) + 2 * sum_of_vectors(values, 15));
        device_expect(device, "values outside", t, out[t], wanted);
    }
}

#define OWN 4096u /* bytes of each work-item of long_copies */

static void long_copies(struct device *device)
{
    const size_t n = 100;
    uint8_t *model = calloc(THREADS, OWN);

    assert_non_null(model);
    device_kernel(device, "long_copies");
    uint8_t *all = device_buffer(device, 0, THREADS * OWN);
    int32_t *tables = device_buffer(device, 1, 2 * 1200);
    device_int(device, 2, (int32_t)n);
    for (int32_t i = 0; i < 600; i++) {
        tables[i] = i * i * 77;
    }
    for (int32_t t = 0; t < (int32_t)THREADS; t++) {
        uint8_t *own = model + (size_t)t * OWN;
        const size_t more = (size_t)t;
        int32_t copy[300];
        memcpy(copy, tables + (size_t)t % 2 * 300, sizeof(copy));
        for (int32_t i = 0; i < 300; i += 7) {
            copy[i * t % 300] += i;
        }
        memcpy(own, copy, sizeof(copy));
        memcpy(own + 1300, own + 1, n + more);
        memset(own + 1600, t, n + more);
        memset(own + 2000, 0x5a, 600);
        memcpy(own + 2700, own, 700);
        memmove(own + 2750, own + 2700, n * 2 + more);
        memmove(own + 2690, own + 2700, 500 + more);
    }
    device_run_threads(device, THREADS, GROUP);
    for (uint32_t i = 0; i < THREADS * OWN; i++) {
        device_expect(device, "long copies", i, all[i], model[i]);
    }
    free(model);
}

static void pointers(struct device *device)
{
    device_kernel(device, "pointers");
    int32_t *out = device_buffer(device, 0, 4 * THREADS);
    device_run_threads(device, THREADS, GROUP);
    for (int32_t t = 0; t < (int32_t)THREADS; t++) {
        int32_t shared = t % (int32_t)GROUP + t;
        device_expect(device, "pointers", (uint32_t)t, out[t], (t % 2 == 0 ? 11 + 300 : 1 + 1300) + shared * 10000 + 5);
    }
}

static void nulls(struct device *device)
{
    device_kernel(device, "nulls");
    int32_t *out = device_buffer(device, 0, 4 * THREADS);
    device_run_threads(device, THREADS, GROUP);
    for (int32_t t = 0; t < (int32_t)THREADS; t++) {
        int32_t expected = (t % 2 == 0 ? 64 * t : 3) + (t % 3 == 0 ? 1000 * (t + 1) : 12) + 16;
        device_expect(device, "nulls", (uint32_t)t, out[t], expected);
    }
}

static void atomics_anywhere(struct device *device)
{
    device_kernel(device, "atomics_anywhere");
    device_buffer(device, 0, 8 * THREADS);
    int32_t *out = device_buffer(device, 1, 4 * THREADS);
    device_run_threads(device, THREADS, GROUP);
    for (uint32_t t = 0; t < THREADS; t++) {
        uint32_t expected = t % 2 == 0 ? 45 : 46, sum = 40, x = 45;
        sum = sum * 7 + (x == expected);
        x = x == expected ? 100 + t : x;
        sum = sum * 7 + 45; /* `expected` is what was there, or stays */
        x = x < 60 ? 60 : x;
        sum = sum * 7 + x;
        sum = sum * 7 + t;
        uint64_t word = (t - (1ull << 33)) ^ 0xff00000000ull;
        sum = sum * 7 + (uint32_t)(word >> 33);
        x = (uint32_t)word;
        if (t % 4 == 0) {
            sum = sum * 7 + x;
            x ^= 0x55;
        }
        uint32_t own = t % 3 == 0 ? x : 40, global = t % 3 == 2 ? x : 40;
        device_expect(device, "atomics anywhere", t, out[t], (int32_t)(sum * 7 + own + global));
    }
}

static void language(void **state)
{
    static void (*const checks[])(struct device *) = {
        structures,     constants,      vectors,
        generics,       atomics,        prints,
        halves,         normals,        private_atomics,
        copies,         address_spaces, threes,
        wides,          half_vectors,   print_more,
        group_sizes,    variables,      long_copies,
        rows_read,      rows_written,   outside_structures,
        outside_values, pointers,       atomics_anywhere,
        nulls,          held_addresses, chosen_pointers,
        differences,
    };
    struct device *device = *state;

    for (uint32_t v = 0; v < device_variant_count; v++) {
        device->variant = &device_variants[v];
        device_load_file(device, "language", "-cl-std=CL3.0 -ffp-contract=off");
        for (size_t c = 0; c < PPU_ARRAY_SIZE(checks); c++) {
            checks[c](device);
        }
    }
}

/* ---- scalar registers ---- */

#define UNIFORMS 70

/* More tables, and more values that are the same for all lanes and live through a loop, than there are registers. */
static char *uniforms_source(void)
{
    char *source = calloc(UNIFORMS, 400);
    size_t at = 0;

    assert_non_null(source);
    for (int i = 0; i < UNIFORMS; i++) {
        at += (size_t)sprintf(source + at, "constant int t%d[3] = { %d, %d, %d };\n", i, i, i + 1, 7 * i);
    }
    at += (size_t)sprintf(source + at, "kernel void uniforms(global ulong *out, global const ulong *in, int n) {\n"
                                       "  size_t t = get_global_id(0); ulong sum = t;\n");
    for (int i = 0; i < UNIFORMS; i++) {
        at += (size_t)sprintf(source + at, "  ulong v%d = in[%d] * n;\n", i, i);
    }
    at += (size_t)sprintf(source + at, "  for (int i = 0; i < n; i++) {\n");
    for (int i = 0; i < UNIFORMS; i++) {
        at += (size_t)sprintf(source + at, "    sum = sum * 3 + (v%d ^ in[n + i]) + t%d[(t + i) %% 3];\n", i, i);
    }
    sprintf(source + at, "  }\n  out[t] = sum;\n}\n");
    return source;
}

static void uniforms(void **state)
{
    struct device *device = *state;
    char *source = uniforms_source();
    const uint32_t n = 3;

    for (uint32_t v = 0; v < device_variant_count; v++) {
        device->variant = &device_variants[v];
        device_load(device, source, "");
        device_kernel(device, "uniforms");
        uint64_t *out = device_buffer(device, 0, 8 * THREADS), *in = device_buffer(device, 1, 8 * UNIFORMS);
        device_int(device, 2, (int32_t)n);
        for (uint64_t i = 0; i < UNIFORMS; i++) {
            in[i] = i * i * 0x123456789;
        }
        device_run_threads(device, THREADS, GROUP);
        for (uint64_t t = 0; t < THREADS; t++) {
            uint64_t sum = t;
            for (uint32_t i = 0; i < n; i++) {
                for (uint64_t k = 0; k < UNIFORMS; k++) {
                    const uint64_t table[3] = { k, k + 1, 7 * k };
                    sum = sum * 3 + ((in[k] * n) ^ in[n + i]) + table[(t + i) % 3];
                }
            }
            assert_true(out[t] == sum);
        }
    }
    free(source);
}

/* ---- calls ---- */

static int32_t model_accumulate(int32_t by)
{
    const int32_t own[3] = { by, by * by, 7 };

    return own[by % 3] + 100 + by % 8;
}

static int32_t model_collatz(int32_t x)
{
    int32_t turns = 0;

    for (; x > 1; turns++) {
        x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    }
    return turns;
}

static int32_t model_calls(int32_t t, int32_t n, const int32_t *in)
{
    int32_t sum = t, parts = 2;

    for (int32_t i = 0; i < n; i++) {
        sum += (t + i) % 4 == 1 ? (i + t) * (i + t) : model_accumulate(i + t % 5);
    }
    sum += model_collatz(t) * 3;
    for (int32_t i = 0; i < t % 7; i++) {
        sum += in[i];
        parts ^= in[i] * i;
    }
    sum += 2 + parts * 3 + 15 + (t % 2 != 0 ? 1000 : 0) + (t % 3 == 0 ? 50000 : 0);
    return sum + (int32_t)(t % 2 != 0 ? (1ll << 33) + (int8_t)t : (int64_t)(t * 2.5) - (1ll << 33));
}

static void calls(void **state)
{
    struct device *device = *state;

    for (uint32_t v = 0; v < device_variant_count; v++) {
        device->variant = &device_variants[v];
        device_load_file(device, "calls", "-cl-std=CL3.0 -ffp-contract=off");
        device_kernel(device, "calls");
        int32_t *out = device_buffer(device, 0, 4 * THREADS), *in = device_buffer(device, 1, 28);
        float *vectors = device_buffer(device, 2, 16 * THREADS);
        device_int(device, 3, 9);
        for (int32_t i = 0; i < 7; i++) {
            in[i] = 3 * i + 1;
        }
        device_run_threads(device, THREADS, GROUP);
        for (int32_t t = 0; t < (int32_t)THREADS; t++) {
            device_expect(device, "calls", (uint32_t)t, out[t], model_calls(t, 9, in));
            assert_true(vectors[4 * t] == (float)t * 0.5f + 3 && vectors[4 * t + 3] == 1.5f + (float)t);
        }
    }
}

#define READ PPU_REFERENCE_READ
#define WRITTEN PPU_REFERENCE_WRITE
#define ESCAPES (READ | WRITTEN | PPU_REFERENCE_ESCAPES)

#define THREAD PPU_REFERENCE_BY_THREAD
#define LOOP PPU_REFERENCE_BY_LOOP
#define ANY PPU_REFERENCE_BY_ANY
#define DISJOINT PPU_REFERENCE_DISJOINT
#define FORMS (THREAD | LOOP | ANY | DISJOINT)

/* How they index it. */
static void forms(void **state)
{
    static const struct {
        const char *kernel;
        uint8_t arguments[4];
        struct ppu_reach reach[4];
    } wanted[] = {
        { "own",
          { THREAD | DISJOINT, THREAD | DISJOINT, THREAD, 0 },
          { { 4, 0, 4 }, { 8, 0, 8 }, { 4, 0, 8 }, { 0, 0, 0 } } },
        { "turns", { LOOP | THREAD, LOOP, ANY, 0 }, { { 0, 0, 0 } } },
        { "kept", { ANY, ANY, 0, 0 }, { { 0, 0, 0 } } },
        { "cut", { THREAD, THREAD | DISJOINT, 0, 0 }, { { 0, 0, 0 }, { -16, 2, 10 }, { 0, -4, 12 }, { 0, 0, 0 } } },
        { "chosen", { THREAD | ANY, THREAD | ANY, THREAD | DISJOINT, 0 }, { { 0, 0, 0 } } },
        { "rows", { THREAD, THREAD, THREAD | DISJOINT, 0 }, { { 0, 0, 0 } } },
    };
    struct device *device = *state;

    device->variant = &device_variants[0];
    device_load_file(device, "../references", "-cl-std=CL3.0 -cl-uniform-work-group-size");
    for (size_t k = 0; k < PPU_ARRAY_SIZE(wanted); k++) {
        device_kernel(device, wanted[k].kernel);
        for (uint32_t a = 0; a < 4; a++) {
            uint32_t entry = device->kernel.argument_first + a;
            const struct ppu_argument_entry *argument = &device->rig->program.arguments[entry];
            device_expect(device, wanted[k].kernel, a, argument->references & FORMS, wanted[k].arguments[a]);
            assert_memory_equal(&argument->reach, &wanted[k].reach[a], sizeof(argument->reach));
        }
    }
}

/* What kernels do with the memory behind each argument. */
static void references(void **state)
{
    static const struct {
        const char *kernel;
        uint8_t arguments[4];
    } wanted[] = {
        { "plain", { READ, WRITTEN, READ | WRITTEN, 0 } },
        { "through", { READ, WRITTEN, READ, PPU_REFERENCE_BOUND } }, /* phis, choices, casts, inlined functions */
        { "together", { READ | WRITTEN, READ | WRITTEN, WRITTEN, 0 } },
        { "kept", { ESCAPES, ESCAPES, READ | WRITTEN, 0 } },
        { "unused", { 0, 0, 0, 0 } },
    };
    struct device *device = *state;

    for (uint32_t v = 0; v < 2; v++) { /* optimised, and not */
        device->variant = &device_variants[v];
        device_load_file(device, "../references", "-cl-std=CL3.0");
        for (size_t k = 0; k < PPU_ARRAY_SIZE(wanted); k++) {
            device_kernel(device, wanted[k].kernel);
            for (uint32_t a = 0; a < 4; a++) {
                uint32_t entry = device->kernel.argument_first + a;
                device_expect(device, wanted[k].kernel, a, device->rig->program.arguments[entry].references & ~FORMS,
                              wanted[k].arguments[a]);
            }
        }
    }
}

static void waits(void **state)
{
    struct device *device = *state;

    for (uint32_t v = 0; v < device_variant_count; v++) {
        device->variant = &device_variants[v];
        device_load_file(device, "waits", "");
        device_kernel(device, "direct");
        assert_int_equal(device->kernel.flags & ~PPU_TMD_SUBVECTOR, PPU_TMD_MAY_WAIT | PPU_TMD_CTA_GROUPS);
        device_kernel(device, "called"); /* through two functions, in a branch */
        assert_int_equal(device->kernel.flags & ~PPU_TMD_SUBVECTOR, PPU_TMD_MAY_WAIT | PPU_TMD_CTA_GROUPS);
        device_kernel(device, "never");
        assert_int_equal(device->kernel.flags & ~PPU_TMD_SUBVECTOR, 0);
    }
}

#define LANES 8u
#define TURNS 3000 /* more than yields go before one that lets some lanes pass */

/* In which order eight work-items came through, so many times. */
static const int32_t *turns_of(struct device *device, const char *kernel, uint32_t rounds)
{
    device_kernel(device, kernel);
    const int32_t *out = device_buffer(device, 0, 4 * LANES * rounds);
    device_buffer(device, 1, 4);
    device_run(device, 1, 1, LANES, 1);
    return out;
}

static void yields(void **state)
{
    static const struct {
        const char *kernel;
        uint32_t rounds;
        uint32_t last; /* round in which the first work-item is the last */
    } wanted[] = { { "order", 1, 0 }, { "never", 1, 1 }, { "third", 3, 2 } };
    struct device *device = *state;

    for (uint32_t v = 0; v < device_variant_count; v++) {
        device->variant = &device_variants[v];
        device_load_file(device, "yields", "");
        for (uint32_t k = 0; k < PPU_ARRAY_SIZE(wanted); k++) {
            const int32_t *out = turns_of(device, wanted[k].kernel, wanted[k].rounds);
            for (uint32_t i = 0; i < wanted[k].rounds; i++) {
                device_expect(device, wanted[k].kernel, i, out[LANES * i],
                              (int32_t)(LANES * i + (i == wanted[k].last ? LANES - 1 : 0)));
            }
        }
        const int32_t *out = turns_of(device, "counted", 1);
        for (int32_t lane = 0; lane < (int32_t)LANES; lane++) {
            device_expect(device, "counted", (uint32_t)lane, out[lane], TURNS - 64 * lane);
        }
        out = turns_of(device, "counted_alike", 1);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            device_expect(device, "counted alike", lane, out[lane], TURNS * (TURNS - 1) / 2);
        }
        out = turns_of(device, "undone", 1);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            device_expect(device, "undone", lane, out[lane], lane % 2 == 0 ? 2 : 1);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "structures, vectors, address spaces, atomics, printf, halves [A7]", language, device_setup, device_teardown,
          NULL },
        { "more uniform values than scalar registers", uniforms, device_setup, device_teardown, NULL },
        { "functions that are called, also where lanes parted [E12]", calls, device_setup, device_teardown, NULL },
        { "the image says which arguments' memory is read, written, escapes, and which end loops [F1]", references,
          device_setup, device_teardown, NULL },
        { "the image says how memory is indexed, and whether work-items keep apart [F1][F8]", forms, device_setup,
          device_teardown, NULL },
        { "work-items let others go first where the program says so [E3][E6]", yields, device_setup, device_teardown,
          NULL },
        { "kernels that reach a wait for children are flagged, others are not [B7]", waits, device_setup,
          device_teardown, NULL },
    };

    return cmocka_run_group_tests_name("compiler: language", tests, NULL, NULL);
}
