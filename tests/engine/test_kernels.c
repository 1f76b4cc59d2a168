/* SPDX-License-Identifier: MIT */
/* Tests whole kernels against plain C. */
#include "ppu/macros.h"
#include "ppu/sem.h"
#include "tests/engine/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int setup_wave(void **state, uint32_t wave)
{
    struct rig *rig = rig_new(0);

    rig->wave = wave;
    *state = rig;
    return 0;
}

static int setup_wave64(void **state)
{
    return setup_wave(state, 64);
}

static int setup_wave128(void **state)
{
    return setup_wave(state, 128);
}

struct two_pointers {
    uint64_t in;
    uint64_t out;
    uint32_t a;
    uint32_t b;
};

static uint32_t ceil_div(uint32_t a, uint32_t b)
{
    return (a + b - 1) / b;
}

static void saxpy(void **state)
{
    static const uint32_t sizes[] = { 1, 31, 32, 33, 1000, 20000 };
    struct rig *rig = *state;
    float *x = rig_data(rig, 0), *y = rig_data(rig, 0x80000);
    float factor = 1.5f;

    rig_load_file(rig, "saxpy");
    for (size_t s = 0; s < PPU_ARRAY_SIZE(sizes); s++) {
        struct two_pointers params = { DATA_VA, DATA_VA + 0x80000, sizes[s], 0 };
        struct ppu_tmd tmd = rig_tmd(rig, "saxpy");

        memcpy(&params.b, &factor, sizeof(factor));
        for (uint32_t i = 0; i < 20000; i++) {
            x[i] = (float)i;
            y[i] = 0.25f * (float)i;
        }
        rig_shape(&tmd, ceil_div(sizes[s], 100), 1, 100, 1);
        rig_params(rig, 0, &tmd, &params, sizeof(params));
        rig_run_done(rig, &tmd);
        for (uint32_t i = 0; i < 20000; i++) {
            float before = 0.25f * (float)i;
            assert_true(y[i] == (i < sizes[s] ? before + factor * (float)i : before));
        }
    }
}

static void reduction(void **state)
{
    static const uint32_t ctas[] = { 1, 32, 64, 256 };
    struct rig *rig = *state;
    uint32_t *in = rig_data(rig, 0), *out = rig_data(rig, 0x80000);

    rig_load_file(rig, "reduce");
    for (uint32_t i = 0; i < 5000; i++) {
        in[i] = i * 2654435761u;
    }
    for (size_t c = 0; c < PPU_ARRAY_SIZE(ctas); c++) {
        struct two_pointers params = { DATA_VA, DATA_VA + 0x80000, 5000, 0 };
        struct ppu_tmd tmd = rig_tmd(rig, "reduce");
        uint32_t grid = ceil_div(5000, ctas[c]), sum = 0, expected = 0;

        rig_shape(&tmd, grid, 1, ctas[c], 1);
        rig_params(rig, 0, &tmd, &params, sizeof(params));
        rig_run_done(rig, &tmd);
        for (uint32_t i = 0; i < grid; i++) {
            sum += out[i];
        }
        for (uint32_t i = 0; i < 5000; i++) {
            expected += in[i];
        }
        assert_int_equal(sum, expected);
    }
}

static void histogram_of(struct rig *rig, const char *kernel, uint32_t n)
{
    uint8_t *in = rig_data(rig, 0);
    uint32_t *counts = rig_data(rig, 0x80000), expected[256] = { 0 };
    struct two_pointers params = { DATA_VA, DATA_VA + 0x80000, n, 0 };
    struct ppu_tmd tmd = rig_tmd(rig, kernel);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t value = (i * i >> 3) % 256;
        in[i] = (uint8_t)value;
        expected[value]++;
    }
    memset(counts, 0, sizeof(expected));
    rig_shape(&tmd, ceil_div(n, 128), 1, 128, 1);
    rig_params(rig, 0, &tmd, &params, sizeof(params));
    rig_run_done(rig, &tmd);
    assert_memory_equal(counts, expected, sizeof(expected));
}

static void histogram(void **state)
{
    rig_load_file(*state, "histogram");
    histogram_of(*state, "histogram", 10000);
    histogram_of(*state, "histogram_shared", 10000);
    histogram_of(*state, "histogram_shared", 77);
}

static uint32_t pixel(const uint8_t *in, int32_t w, int32_t h, int32_t x, int32_t y)
{
    return x < 0 || y < 0 || x >= w || y >= h ? 0 : in[y * w + x];
}

static void filter(void **state)
{
    static const uint32_t sizes[][2] = { { 1, 1 }, { 16, 16 }, { 37, 23 }, { 100, 3 } };
    struct rig *rig = *state;
    uint8_t *in = rig_data(rig, 0), *out = rig_data(rig, 0x80000);

    rig_load_file(rig, "filter2d");
    for (size_t s = 0; s < PPU_ARRAY_SIZE(sizes); s++) {
        uint32_t w = sizes[s][0], h = sizes[s][1];
        struct two_pointers params = { DATA_VA, DATA_VA + 0x80000, w, h };
        struct ppu_tmd tmd = rig_tmd(rig, "filter2d");

        for (uint32_t i = 0; i < w * h; i++) {
            in[i] = (uint8_t)(i * 37 + 11);
            out[i] = 0xee;
        }
        rig_shape(&tmd, ceil_div(w, 8), ceil_div(h, 6), 8, 6);
        rig_params(rig, 0, &tmd, &params, sizeof(params));
        rig_run_done(rig, &tmd);
        for (uint32_t i = 0; i < w * h; i++) {
            uint32_t sum = 0;
            for (int32_t d = 0; d < 9; d++) {
                sum += pixel(in, (int32_t)w, (int32_t)h, (int32_t)(i % w) + d % 3 - 1, (int32_t)(i / w) + d / 3 - 1);
            }
            assert_int_equal(out[i], sum / 9);
        }
    }
}

static void special_registers(void **state)
{
    struct rig *rig = *state;
    uint64_t params[2] = { DATA_VA, 0 };
    const uint16_t nt[3] = { 5, 3, 3 };
    const uint32_t nc[3] = { 3, 2, 4 }, wave = rig->wave != 0 ? rig->wave : 32;
    const uint32_t(*out)[16] = rig_data(rig, 0);

    rig_load_file(rig, "special");
    struct ppu_tmd tmd = rig_tmd(rig, "special");
    memcpy(tmd.cta, nt, sizeof(nt));
    memcpy(tmd.grid, nc, sizeof(nc));
    rig_params(rig, 0, &tmd, params, sizeof(params));
    rig_run_done(rig, &tmd);
    for (uint32_t i = 0; i < 5 * 3 * 3 * 3 * 2 * 4; i++) {
        uint32_t t = i % 45, c = i / 45;
        const uint32_t expected[16] = {
            t % 5, t / 5 % 3, t / 15, c % 3, c / 3 % 2, c / 6, 5, 3, 3, 3, 2, 4, t, t % wave, t / wave, wave,
        };
        assert_memory_equal(out[i], expected, sizeof(expected));
    }
}

#define OWN_CTAS 24u
#define OWN_THREADS 150u /* of a CTA */

/* Every thread of the grid writes all its special registers. */
static void own_program(char *text, size_t size)
{
    size_t len =
        (size_t)snprintf(text, size,
                         ".kernel own\n.vregs 8\nldp.b64 s0, [0]\nrdsr v0, %%tid\nrdsr v1, %%cta.z\n"
                         "rdsr v2, %%ncta.y\nrdsr v3, %%cta.y\nmad v1, v1, v2, v3\nrdsr v2, %%ncta.x\n"
                         "rdsr v3, %%cta.x\nmad v1, v1, v2, v3\nmov v2, %u\nmad v0, v1, v2, v0\nmul v0, v0, %u\n",
                         OWN_THREADS, PPU_SR_COUNT * 4);

#define PPU_SR(name, sr, number, of, most, doc) \
    len += (size_t)snprintf(text + len, size - len, "rdsr v1, %s\nstg.b32 v1, [s0+v0+%u]\n", sr, (number)*4u);
#include "ppu/isa.def"
    snprintf(text + len, size - len, "exit\n");
}

/* The thread's warp, CTA or task, or itself. */
static uint32_t owner_of(enum ppu_sr_of of, uint32_t thread, uint32_t wave)
{
    const uint32_t cta = thread / OWN_THREADS, warps = ceil_div(OWN_THREADS, wave);

    switch (of) {
    case PPU_SR_OF_THREAD:
        return thread;
    case PPU_SR_OF_WARP:
        return cta * warps + thread % OWN_THREADS / wave;
    case PPU_SR_OF_CTA:
        return cta;
    default:
        return 0;
    }
}

/* One value for each that has one of its own, and another for some other that is part of the same. */
static void check_owners(const uint32_t (*value)[PPU_SR_COUNT], uint32_t sr, uint32_t most, uint32_t wave)
{
    const enum ppu_sr_of of = ppu_sr_of(sr);
    bool differs = false;

    for (uint32_t i = 1; i < OWN_CTAS * OWN_THREADS; i++) {
        const bool alike = value[i][sr] == value[i - 1][sr];

        assert_in_range(value[i][sr], 0, most);
        assert_true(alike || owner_of(of, i, wave) != owner_of(of, i - 1, wave));
        differs |= !alike && (of == PPU_SR_OF_CTA || owner_of(of + 1, i, wave) == owner_of(of + 1, i - 1, wave));
    }
    const bool same = sr == PPU_SR_TASKQ_POS || sr == PPU_SR_PLACE || /* a grid has neither */
                      (sr >= PPU_SR_SIZE_X && sr <= PPU_SR_SIZE_Z);   /* all its CTAs are whole */
    assert_int_equal(differs, of != PPU_SR_OF_TASK && !same);
}

static void owners_of_special_registers(void **state)
{
    struct rig *rig = *state;
    const uint16_t nt[3] = { 5, 3, 10 };
    const uint32_t nc[3] = { 3, 2, 4 };
    const uint64_t params[2] = { DATA_VA, 0 };
    const uint32_t(*value)[PPU_SR_COUNT] = rig_data(rig, 0);
    char text[4096];

    own_program(text, sizeof(text));
    rig_load_text(rig, text);
    struct ppu_tmd tmd = rig_tmd(rig, "own");
    memcpy(tmd.cta, nt, sizeof(nt));
    memcpy(tmd.grid, nc, sizeof(nc));
    rig_params(rig, 0, &tmd, params, sizeof(params));
    rig_run_done(rig, &tmd);
#define PPU_SR(name, sr, number, of, most, doc) check_owners(value, number, most, tmd.wave);
#include "ppu/isa.def"
}

/* The word of each thread that there would be were all CTAs whole: its number, when it is there. */
#define RAGGED_WORDS 6u

/* The last CTA of each dimension has fewer threads. They are numbered by it, and a barrier waits for no more. */
static void ragged_ctas(void **state)
{
    struct rig *rig = *state;
    const uint16_t nt[3] = { 5, 3, 10 }, edge[3] = { 2, 0, 7 };
    const uint32_t nc[3] = { 3, 2, 4 };
    const uint64_t params[2] = { DATA_VA, 0 };
    const uint32_t(*out)[RAGGED_WORDS] = rig_data(rig, 0);
    uint32_t threads = 0;

    rig_load_text(rig,
                  ".kernel ragged\n.vregs 16\nldp.b64 s0, [0]\nrdsr v0, %cta.z\nrdsr v1, %ncta.y\n"
                  "rdsr v2, %cta.y\nmad v0, v0, v1, v2\nrdsr v1, %ncta.x\nrdsr v2, %cta.x\nmad v0, v0, v1, v2\n"
                  "mul v0, v0, 150\nrdsr v1, %tid\nadd v0, v0, v1\nmul v0, v0, 24\nbar 0\n"
                  "rdsr v4, %tid.x\nrdsr v5, %tid.y\nrdsr v6, %tid.z\nrdsr s8, %size.x\nrdsr s9, %size.y\n"
                  "rdsr s10, %size.z\nmov v7, s8\nmov v8, s9\nrdsr v9, %last.z\nmov s11, 100\nmad v9, v9, s11, s10\n"
                  "stg.b128 v4, [s0+v0]\nstg.b64 v8, [s0+v0+16]\nexit\n");
    struct ppu_tmd tmd = rig_tmd(rig, "ragged");
    memcpy(tmd.cta, nt, sizeof(nt));
    memcpy(tmd.edge, edge, sizeof(edge));
    memcpy(tmd.grid, nc, sizeof(nc));
    memset(rig_data(rig, 0), 0xff, OWN_CTAS * OWN_THREADS * sizeof(*out));
    rig_params(rig, 0, &tmd, params, sizeof(params));
    rig_run_done(rig, &tmd);
    for (uint32_t c = 0; c < OWN_CTAS; c++) {
        const uint32_t x = c % 3 == 2 ? 2 : 5, z = c / 6 == 3 ? 7 : 10;
        for (uint32_t t = 0; t < OWN_THREADS; t++) {
            const bool there = t < x * 3 * z;
            const uint32_t expected[RAGGED_WORDS] = { t % x, t / x % 3, t / x / 3, x, 3, 700 + z };
            const uint32_t absent[RAGGED_WORDS] = { UINT32_MAX, UINT32_MAX, UINT32_MAX,
                                                    UINT32_MAX, UINT32_MAX, UINT32_MAX };
            assert_memory_equal(out[c * OWN_THREADS + t], there ? expected : absent, sizeof(expected));
            threads += there;
        }
    }
    assert_int_equal(threads, (5 + 5 + 2) * (3 + 3) * (10 + 10 + 10 + 7));
}

static int compare_words(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static void counter(void **state)
{
    struct rig *rig = *state;
    uint32_t *count = rig_data(rig, 0), *seen = rig_data(rig, 0x1000), n = 41 * 70;
    uint64_t params[2] = { DATA_VA, DATA_VA + 0x1000 };

    rig_load_file(rig, "counter");
    struct ppu_tmd tmd = rig_tmd(rig, "counter");
    *count = 0;
    rig_shape(&tmd, 70, 1, 41, 1);
    rig_params(rig, 0, &tmd, params, sizeof(params));
    rig_run_done(rig, &tmd);
    assert_int_equal(*count, n);
    qsort(seen, n, sizeof(*seen), compare_words);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(seen[i], i);
    }
}

static uint32_t nested_model(uint32_t tid)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i <= tid; i++) {
        sum += i % 2 != 0 ? (i * 3 > tid ? i : 7) : 2 * i;
    }
    return sum;
}

static void nested(void **state)
{
    struct rig *rig = *state;
    uint32_t *out = rig_data(rig, 0);
    uint64_t params[2] = { DATA_VA, 0 };

    rig_load_file(rig, "nested");
    struct ppu_tmd tmd = rig_tmd(rig, "nested");
    rig_shape(&tmd, 1, 1, 200, 1);
    rig_params(rig, 0, &tmd, params, sizeof(params));
    rig_run_done(rig, &tmd);
    for (uint32_t i = 0; i < 200; i++) {
        assert_int_equal(out[i], nested_model(i));
    }
}

static void system_memory(void **state)
{
    struct rig *rig = *state;
    uint32_t *in = (uint32_t *)(void *)rig->board->sys, *out = in + 0x2000;
    struct two_pointers params = { SYS_VA, SYS_VA + 0x8000, 3000, 0 };

    rig_load_file(rig, "memory");
    struct ppu_tmd tmd = rig_tmd(rig, "copy_plus");
    for (uint32_t i = 0; i < 3001; i++) {
        in[i] = i * 7;
        out[i] = 0;
    }
    rig_shape(&tmd, 30, 1, 128, 1);
    rig_params(rig, 0, &tmd, &params, sizeof(params));
    rig_run_done(rig, &tmd);
    for (uint32_t i = 0; i < 3000; i++) {
        assert_int_equal(out[i], i * 7 + 1);
    }
    assert_int_equal(out[3000], 0);
}

static void system_atomics(void **state)
{
    struct rig *rig = *state;
    uint32_t *count = (uint32_t *)(void *)rig->board->sys;
    uint64_t params[2] = { SYS_VA, DATA_VA };

    rig_load_file(rig, "counter");
    struct ppu_tmd tmd = rig_tmd(rig, "counter");
    *count = 0;
    rig_shape(&tmd, 9, 1, 40, 1);
    rig_params(rig, 0, &tmd, params, sizeof(params));
    rig_run_done(rig, &tmd);
    assert_int_equal(*count, 360);
}

static void unified(void **state)
{
    struct rig *rig = *state;
    uint32_t *out = rig_data(rig, 0);
    uint64_t params[2] = { DATA_VA, 0 };

    rig_load_file(rig, "memory");
    struct ppu_tmd tmd = rig_tmd(rig, "unified");
    rig_shape(&tmd, 1, 1, 77, 1);
    rig_params(rig, 0, &tmd, params, sizeof(params));
    rig_run_done(rig, &tmd);
    for (uint32_t i = 0; i < 77; i++) {
        assert_int_equal(out[i], 2 * i);
    }
}

static void release(void **state)
{
    struct rig *rig = *state;
    struct ppu_sem *near = rig_data(rig, 0x40), *far = (struct ppu_sem *)(void *)(rig->board->sys + 0x40);
    struct two_pointers params = { DATA_VA + 0x40, 1234, 0, 0 };

    rig_load_file(rig, "memory");
    struct ppu_tmd tmd = rig_tmd(rig, "release");
    rig_params(rig, 0, &tmd, &params, sizeof(params));
    rig_run_done(rig, &tmd);
    assert_int_equal(near->payload, 1234);
    assert_int_not_equal(near->time_ns, 0);
    params.in = SYS_VA + 0x40;
    rig_params(rig, 0, &tmd, &params, sizeof(params));
    rig_run_done(rig, &tmd);
    assert_int_equal(far->payload, 1234);
    assert_int_not_equal(far->time_ns, 0);
}

/* Several tasks at once, more CTAs than fit. */
static void tasks_together(void **state)
{
    struct rig *rig = *state;
    struct ppu_tmd tmd[SLOTS];
    uint32_t *count = rig_data(rig, 0);

    rig_load_file(rig, "counter");
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        uint64_t params[2] = { DATA_VA + 4 * slot, DATA_VA + 0x10000 * (slot + 1) };
        count[slot] = 0;
        tmd[slot] = rig_tmd(rig, "counter");
        rig_shape(&tmd[slot], 50, 1, 64, 1);
        rig_params(rig, slot, &tmd[slot], params, sizeof(params));
    }
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        rig_start(rig, slot, &tmd[slot]);
    }
    for (uint32_t ended = 0; ended < SLOTS;) {
        struct ppu_slot_event event;
        while (ring_pop(rig->board, PPU_RING_SLOT, &event)) {
            assert_int_equal(event.kind, PPU_SLOT_DONE);
            assert_int_equal(event.ctas_done, 50);
            assert_true(event.warp_insns >= 50 * 2 * 11);
            ended++;
        }
        rig_step(rig);
    }
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        assert_int_equal(count[slot], 50 * 64);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "saxpy of many sizes, in slices [A6][A14]", saxpy, rig_setup_slices, rig_teardown, NULL },
        { "saxpy of many sizes, on threads [A6][A14]", saxpy, rig_setup_threads, rig_teardown, NULL },
        { "reduction in shared memory with barriers, in slices [A7]", reduction, rig_setup_slices, rig_teardown, NULL },
        { "reduction in shared memory with barriers, on threads [A7]", reduction, rig_setup_threads, rig_teardown,
          NULL },
        { "histogram by global and by shared atomics, in slices [A7]", histogram, rig_setup_slices, rig_teardown,
          NULL },
        { "histogram by global and by shared atomics, on threads [A7]", histogram, rig_setup_threads, rig_teardown,
          NULL },
        { "filter over a 2-D grid, in slices [A6]", filter, rig_setup_slices, rig_teardown, NULL },
        { "filter over a 2-D grid, on threads [A6]", filter, rig_setup_threads, rig_teardown, NULL },
        { "special registers: who has a value of its own, and how large it may be [A7]", owners_of_special_registers,
          rig_setup_slices, rig_teardown, NULL },
        { "the last CTA of a dimension has fewer threads", ragged_ctas, rig_setup_threads, rig_teardown, NULL },
        { "the last CTA of a dimension has fewer threads, in slices", ragged_ctas, rig_setup_slices, rig_teardown,
          NULL },
        { "special registers of every thread [A7]", special_registers, rig_setup_slices, rig_teardown, NULL },
        { "one counter for all CTAs, in slices [A7]", counter, rig_setup_slices, rig_teardown, NULL },
        { "one counter for all CTAs, on threads [A7]", counter, rig_setup_threads, rig_teardown, NULL },
        { "nested branches, loops and calls [E3][E4][E9]", nested, rig_setup_slices, rig_teardown, NULL },
        { "loads and stores to system memory, in slices [A9]", system_memory, rig_setup_slices, rig_teardown, NULL },
        { "loads and stores to system memory, on threads [A9]", system_memory, rig_setup_threads, rig_teardown, NULL },
        { "atomics on system memory, in slices [A9]", system_atomics, rig_setup_slices, rig_teardown, NULL },
        { "atomics on system memory, on threads [A9]", system_atomics, rig_setup_threads, rig_teardown, NULL },
        { "unified addresses select shared, local, global [A7]", unified, rig_setup_slices, rig_teardown, NULL },
        { "threads release semaphores near and far [C8]", release, rig_setup_slices, rig_teardown, NULL },
        { "four tasks at once, in slices [A8]", tasks_together, rig_setup_slices, rig_teardown, NULL },
        { "four tasks at once, on threads [A8]", tasks_together, rig_setup_threads, rig_teardown, NULL },
        { "saxpy of many sizes, waves of 64 [A6][A14][D1][D2]", saxpy, setup_wave64, rig_teardown, NULL },
        { "reduction in shared memory with barriers, waves of 64 [A7][D1]", reduction, setup_wave64, rig_teardown,
          NULL },
        { "histogram by global and by shared atomics, waves of 64 [A7][D1]", histogram, setup_wave64, rig_teardown,
          NULL },
        { "filter over a 2-D grid, waves of 64 [A6][D1]", filter, setup_wave64, rig_teardown, NULL },
        { "special registers: who has a value of its own, and how large it may be, waves of 64 [A7][D1]",
          owners_of_special_registers, setup_wave64, rig_teardown, NULL },
        { "special registers of every thread, waves of 64 [A7][D1]", special_registers, setup_wave64, rig_teardown,
          NULL },
        { "one counter for all CTAs, waves of 64 [A7][D1]", counter, setup_wave64, rig_teardown, NULL },
        { "nested branches, loops and calls, waves of 64 [E3][E4][E9][D1]", nested, setup_wave64, rig_teardown, NULL },
        { "loads and stores to system memory, waves of 64 [A9][D1]", system_memory, setup_wave64, rig_teardown, NULL },
        { "atomics on system memory, waves of 64 [A9][D1]", system_atomics, setup_wave64, rig_teardown, NULL },
        { "unified addresses select shared, local, global, waves of 64 [A7][D1]", unified, setup_wave64, rig_teardown,
          NULL },
        { "threads release semaphores near and far, waves of 64 [C8][D1]", release, setup_wave64, rig_teardown, NULL },
        { "saxpy of many sizes, waves of 128 [A6][A14][D1][D2]", saxpy, setup_wave128, rig_teardown, NULL },
        { "reduction in shared memory with barriers, waves of 128 [A7][D1]", reduction, setup_wave128, rig_teardown,
          NULL },
        { "histogram by global and by shared atomics, waves of 128 [A7][D1]", histogram, setup_wave128, rig_teardown,
          NULL },
        { "filter over a 2-D grid, waves of 128 [A6][D1]", filter, setup_wave128, rig_teardown, NULL },
        { "special registers: who has a value of its own, and how large it may be, waves of 128 [A7][D1]",
          owners_of_special_registers, setup_wave128, rig_teardown, NULL },
        { "special registers of every thread, waves of 128 [A7][D1]", special_registers, setup_wave128, rig_teardown,
          NULL },
        { "one counter for all CTAs, waves of 128 [A7][D1]", counter, setup_wave128, rig_teardown, NULL },
        { "nested branches, loops and calls, waves of 128 [E3][E4][E9][D1]", nested, setup_wave128, rig_teardown,
          NULL },
        { "loads and stores to system memory, waves of 128 [A9][D1]", system_memory, setup_wave128, rig_teardown,
          NULL },
        { "atomics on system memory, waves of 128 [A9][D1]", system_atomics, setup_wave128, rig_teardown, NULL },
        { "unified addresses select shared, local, global, waves of 128 [A7][D1]", unified, setup_wave128, rig_teardown,
          NULL },
        { "threads release semaphores near and far, waves of 128 [C8][D1]", release, setup_wave128, rig_teardown,
          NULL },
    };

    return cmocka_run_group_tests_name("engine: kernels", tests, NULL, NULL);
}
