/* SPDX-License-Identifier: MIT */
/*
 * Kernels compiled for facts about their launches, as launches get them: each computes bit for bit what the kernel
 * compiled for any launch does, and executes no more instructions than it should.
 */
#include "tests/compiler/device.h"

#include "ppu/macros.h"
#include "tools/ppucc/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 32u             /* turns, or the side of a matrix */
#define ITEMS 256u        /* work-items of one dimension */
#define WORDS (N * ITEMS) /* of a buffer */

/* A launch of a kernel: its arguments, and its groups and their size. */
struct launch {
    uint32_t most; /* instructions of one warp of 128, about; 0: no more than of the kernel compiled for any launch */
    const char *file, *facts; /* facts begin with the kernel's name */
    void (*arguments)(struct device *device);
    uint32_t gx, gy, x, y;
};

struct result {
    uint8_t *memory;
    uint32_t bytes;
    uint64_t instructions;
};

/* ---- arguments ---- */

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void random_words(struct device *device, uint32_t index)
{
    uint32_t *words = device_buffer(device, index, WORDS * sizeof(uint32_t)), state = index + 1;

    for (uint32_t i = 0; i < WORDS; i++) {
        words[i] = next(&state);
    }
}

static void small_floats(struct device *device, uint32_t index)
{
    float *numbers = device_buffer(device, index, WORDS * sizeof(float));

    for (uint32_t i = 0; i < WORDS; i++) {
        numbers[i] = (float)(i % (13 + index));
    }
}

static void matrices(struct device *device)
{
    device_int(device, 0, (int32_t)N);
    small_floats(device, 1);
    small_floats(device, 2);
    small_floats(device, 3);
}

/* Two buffers and a number. */
static void words(struct device *device)
{
    random_words(device, 0);
    random_words(device, 1);
    device_int(device, 2, (int32_t)N);
}

static void odd_words(struct device *device)
{
    words(device);
    device_int(device, 2, 27);
}

/* Where rows begin: each has up to 15 elements. */
static uint32_t firsts(struct device *device, uint32_t index)
{
    uint32_t *first = device_buffer(device, index, (ITEMS + 1) * sizeof(uint32_t)), state = 5;

    for (uint32_t i = 0; i < ITEMS; i++) {
        first[i + 1] = first[i] + next(&state) % 16;
    }
    return first[ITEMS];
}

static void rows(struct device *device)
{
    firsts(device, 0);
    random_words(device, 1);
    random_words(device, 2);
    device_int(device, 3, 9);
}

static void graph(struct device *device)
{
    uint32_t count = firsts(device, 0), state = 3;
    int32_t *edges = device_buffer(device, 1, count * sizeof(int32_t) + 4);

    for (uint32_t i = 0; i < count; i++) {
        edges[i] = (int32_t)(next(&state) % ITEMS);
    }
    int32_t *level = device_buffer(device, 2, ITEMS * sizeof(int32_t));
    for (uint32_t i = 0; i < ITEMS; i++) {
        level[i] = i % 3 == 0 ? 7 : i % 3 == 1 ? 2 : -1;
    }
    device_buffer(device, 3, 4);
    device_int(device, 4, (int32_t)ITEMS);
    device_int(device, 5, 7);
}

static void square(struct device *device)
{
    device_buffer(device, 0, N * N * sizeof(int32_t));
    device_int(device, 1, (int32_t)N);
    device_int(device, 2, (int32_t)N);
    device_float(device, 3, -2.0f);
    device_float(device, 4, -1.25f);
    device_float(device, 5, 2.5f / (float)N);
    device_float(device, 6, 2.5f / (float)N);
    device_int(device, 7, 24);
}

static void shape_of(struct device *device, int32_t w, int32_t h, int64_t d)
{
    random_words(device, 0);
    random_words(device, 1);
    device_int(device, 2, w);
    device_int(device, 3, h);
    device_value(device, 4, &d, sizeof(d));
}

/* Above all ids of 256 columns and 8 rows. */
static void all_above(struct device *device)
{
    shape_of(device, 256, 8, 300);
}

static void all_above_offset(struct device *device)
{
    device->global_offset[0] = 5;
    device->global_offset[1] = 2;
    shape_of(device, 261, 10, INT64_MAX);
}

static void not_above(struct device *device)
{
    shape_of(device, 100, -3, 255);
}

/* ---- the check ---- */

static uint8_t *copy_of(struct device *device)
{
    uint8_t *copy = malloc(device->data_used);

    assert_non_null(copy);
    return memcpy(copy, rig_data(device->rig, 0), device->data_used);
}

/* What is loaded, on the SMs and on the reference executor, which knows nothing of parts in code of their own. */
static struct result run(struct device *device, const struct launch *launch, const char *kernel)
{
    enum ppu_subvector_form form = device->variant->subvector.form;
    bool copies = form == PPU_SEGMENTS_DUPLICATE || form == PPU_SEGMENTS_LOOP;
    uint64_t before = device->warp_insns;

    device_kernel(device, kernel);
    memset(device->global_offset, 0, sizeof(device->global_offset));
    launch->arguments(device);
    uint8_t *reference = copies ? NULL : device_reference(device, launch->gx, launch->gy, launch->x, launch->y);
    device_run(device, launch->gx, launch->gy, launch->x, launch->y);
    struct result result = { copy_of(device), device->data_used, device->warp_insns - before };
    if (reference && memcmp(reference, result.memory, result.bytes) != 0) {
        fail_msg("%s, %s: the reference executor computes something else", kernel, device->variant->name);
    }
    free(reference);
    return result;
}

static void expect_same(const struct device *device, const char *kernel, const struct result *base,
                        const struct result *now)
{
    assert_int_equal(base->bytes, now->bytes);
    for (uint32_t i = 0; i < base->bytes; i++) {
        if (base->memory[i] != now->memory[i]) {
            fail_msg("%s, %s: byte %u differs", kernel, device->variant->name, i);
        }
    }
}

#define WAVES 3u
#define MOST_CODE_BYTES 8000u /* of one kernel for one kind of launch: loops are unrolled, but not however long */
#define RARE 3u               /* of the ways to compile that are rarer, each test takes the next ones */

static const struct device_variant waves[WAVES] = {
    { "waves of 32", "", 32, 0, 0, { 0 } },
    { "waves of 64", "", 64, 0, 0, { 0 } },
    { "waves of 128", "", 128, 0, 0, { 0 } },
};
static uint32_t rare;

static void check_variant(struct device *device, const struct launch *launch, const struct ppu_compiled *bitcode,
                          const struct facts_text *facts)
{
    uint32_t warps = launch->gx * launch->gy * ((launch->x * launch->y + 127) / 128);

    device_load_bitcode(device, bitcode, NULL);
    struct result base = run(device, launch, facts->kernel);
    device_load_bitcode(device, bitcode, &facts->facts);
    struct result now = run(device, launch, facts->kernel);
    expect_same(device, facts->kernel, &base, &now);
    if (device->variant == &waves[WAVES - 1]) {
        uint64_t most = launch->most != 0 ? (uint64_t)launch->most * warps : base.instructions;
        print_message("%s: %llu instructions of warps, %llu for any launch\n", facts->kernel,
                      (unsigned long long)now.instructions, (unsigned long long)base.instructions);
        assert_in_range(now.instructions, 1, most);
        assert_in_range(device->tmd.code_bytes, 1, MOST_CODE_BYTES);
    }
    free(base.memory);
    free(now.memory);
}

static struct device *shared; /* by all tests */

/* A test's state: a launch. */
static void check(void **state)
{
    const struct launch *launch = *state;
    struct device *device = shared;
    struct facts_text *facts = calloc(1, sizeof(*facts));
    char *source = device_read(launch->file);
    struct ppu_compiled bitcode;

    assert_non_null(facts);
    assert_true(facts_parse(launch->facts, facts));
    assert_int_equal(ppu_compile_source(source, strlen(source), NULL, &bitcode), PPU_COMPILE_OK);
    for (uint32_t i = 0; i < WAVES + RARE; i++) {
        device->variant = i < WAVES ? &waves[i] : &device_variants[rare++ % device_variant_count];
        check_variant(device, launch, &bitcode, facts);
    }
    ppu_compiled_free(&bitcode);
    free(source);
    free(facts);
}

/* ---- loops with two entries ---- */

static uint32_t collatz(uint32_t x)
{
    uint32_t turns = 0;

    for (; x > 1; turns++) {
        x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    }
    return turns;
}

/* However it is compiled. */
static void two_ways(void **state)
{
    (void)state;
    for (uint32_t v = 0; v < device_variant_count; v++) {
        shared->variant = &device_variants[v];
        device_load_file(shared, "variants", NULL);
        device_kernel(shared, "ways");
        memset(shared->global_offset, 0, sizeof(shared->global_offset));
        words(shared);
        device_run(shared, 1, 1, ITEMS, 1);
        const uint32_t *in = rig_data(shared->rig, 0), *out = in + WORDS;
        for (uint32_t i = 0; i < ITEMS; i++) {
            device_expect(shared, "turns", i, (int32_t)out[i], (int32_t)collatz(in[i] % N + 1));
        }
    }
}

/* ---- wrong facts ---- */

static const struct {
    const char *facts;
    void (*arguments)(struct device *device);
} lies[] = {
    { "shape g128x2x1", all_above },    { "shape g64x1x1", all_above }, { "shape g32x4x1", all_above },
    { "shape i2:x", not_above },        { "shape i3:y", not_above },    { "shape i4:x", not_above },
    { "shape i2:x", all_above_offset }, /* which is none: it is said of the launch before */
};

static bool is_noticed(const struct ppu_compiled *bitcode, const struct launch *launch, const struct facts_text *facts)
{
    device_load_bitcode(shared, bitcode, NULL);
    struct result base = run(shared, launch, facts->kernel);
    device_load_bitcode(shared, bitcode, &facts->facts);
    struct result now = run(shared, launch, facts->kernel);
    bool noticed = memcmp(base.memory, now.memory, base.bytes) != 0;
    free(base.memory);
    free(now.memory);
    return noticed;
}

static void wrong_shapes(void **state)
{
    struct facts_text *facts = calloc(1, sizeof(*facts));
    char *source = device_read("variants.cl");
    struct ppu_compiled bitcode;

    (void)state;
    assert_non_null(facts);
    shared->variant = &device_variants[0];
    assert_int_equal(ppu_compile_source(source, strlen(source), NULL, &bitcode), PPU_COMPILE_OK);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(lies); i++) {
        const struct launch launch = { .arguments = lies[i].arguments, .gx = 4, .gy = 2, .x = 64, .y = 4 };
        assert_true(facts_parse(lies[i].facts, facts));
        assert_int_equal(is_noticed(&bitcode, &launch, facts), lies[i].arguments != all_above_offset);
    }
    ppu_compiled_free(&bitcode);
    free(source);
    free(facts);
}

/* ---- words ---- */

static void common_bytes(void **state)
{
    static const struct {
        const char *text;
        bool good;
    } cases[] = {
        { "k 1-0=16*4@128,-4:2048", true },
        { "k 1-0=16*4@128,-4", false },
        { "k 1-0=16*4@128,-4:2048x", false },
        { "k 1-0=16*4@,-4:2048", false },
        { "k 1-0=16*4 @128,-4:1", false },
        { "k 1-0=16*4@128,-4:2048@1,1:1", false },
        { "k 1=0@128,-4:2048", false },
        { "k 1-0=17*4@128,-4:1", false },
        { "k 1!0@1,1:1", false },
    };
    struct facts_text *facts = calloc(1, sizeof(*facts));

    (void)state;
    assert_non_null(facts);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        assert_int_equal(facts_parse(cases[i].text, facts), cases[i].good);
    }
    assert_true(facts_parse(cases[0].text, facts));
    assert_int_equal(facts->pairs[0].start[0], 128);
    assert_int_equal(facts->pairs[0].start[1], -4);
    assert_int_equal(facts->pairs[0].bytes, 2048);
    free(facts);
}

static int setup(void **state)
{
    (void)state;
    shared = device_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    device_free(shared);
    return 0;
}

#define TEST(what, ...)                                   \
    {                                                     \
        what, check, NULL, NULL, (void *)&(struct launch) \
        {                                                 \
            __VA_ARGS__                                   \
        }                                                 \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST("mandelbrot: a branch with many targets that passes make does not stop a variant [F4]", 0, "compare.cl",
             "mandelbrot c1:20 c2:20 c7:18", square, 1, 4, N, N / 4),
        TEST("a branch with many targets in the source neither [F4]", 0, "variants.cl",
             "states s0 s1 a0:16 a1:16 c2:20", words, 1, 1, ITEMS, 1),
        TEST("a loop with two entries neither [F4]", 0, "variants.cl", "entries s0 s1 a0:16 a1:16 c2:20", words, 1, 1,
             ITEMS, 1),
        TEST("bfs: loops that lanes leave at different times are not unrolled [F4]", 0, "compare.cl",
             "bfs s0 s1 s2 s3 a0:16 a1:16 a2:16 a3:16", graph, 1, 1, ITEMS, 1),
        TEST("rows of different lengths: nor here [F4]", 0, "variants.cl", "rows s0 s1 s2 a0:16 a1:16 a2:16", rows, 1,
             1, ITEMS, 1),
        TEST("rows of one length are, also where lanes have parted [F4]", 230, "variants.cl",
             "guarded s0 s1 a0:16 a1:16", words, 1, 1, ITEMS, 1),
        TEST("a counter of 64 bits that reaches its limit does not stop a variant [F4]", 0, "variants.cl",
             "inclusive s0 s1 a0:16 a1:16", words, 1, 1, ITEMS, 1),
        TEST("a long loop with a barrier is not unrolled [F4]", 0, "variants.cl", "meets s0 s1 a0:16 a1:16 g64x1x1",
             words, ITEMS / 64, 1, 64, 1),
        TEST("vectors of three are stored [F4]", 0, "variants.cl", "threes s0 s1 a0:16 a1:16", words, ITEMS / 64, 1, 64,
             1),
        TEST("sgemm: an element of one matrix is a load, without an address of its own [F4]", 22 * N / 8 + 32,
             "compare.cl", "sgemm c0:20 s1 s2 s3 a1:16 a2:16 a3:16", matrices, 1, 4, N, N / 4),
        TEST("sgemm: nor where the side is not known [F4]", 30 * N / 8 + 70, "compare.cl",
             "sgemm s1 s2 s3 a1:16 a2:16 a3:16", matrices, 1, 4, N, N / 4),
        TEST("indexes that wrap stay what they are [F4]", 0, "variants.cl", "wraps s0 s1 a0:16 a1:16", odd_words, 1, 1,
             ITEMS, 1),
        TEST("indexes that must not be used do no harm to those that are [F4]", 0, "variants.cl",
             "below s0 s1 a0:16 a1:16 c2:1b", odd_words, 1, 1, ITEMS, 1),
        TEST("groups of a shape, and values above ids [F4]", 0, "variants.cl",
             "shape s0 s1 a0:16 a1:16 i2:x i3:y i4:xy g128x4x1", all_above, 2, 2, 128, 4),
        TEST("narrow groups: rows of several in a warp [F4]", 0, "variants.cl",
             "shape s0 s1 a0:16 a1:16 i2:x i3:y i4:xy g64x4x1", all_above, 4, 2, 64, 4),
        TEST("groups of one column [F4]", 0, "variants.cl", "shape s0 s1 i2:x i3:y g1x8x1", all_above, 256, 1, 1, 8),
        TEST("groups of one row [F4]", 0, "variants.cl", "shape s0 s1 g256x1x1", not_above, 1, 8, 256, 1),
        TEST("groups of which one size is known [F4]", 0, "variants.cl", "shape s0 s1 i4:y g0x4x0", all_above, 2, 2,
             128, 4),
        TEST("offsets [F4]", 0, "variants.cl", "shape s0 s1 i2:x i3:y i4:xy g32x8x1", all_above_offset, 8, 1, 32, 8),
        TEST("sizes that no group has are not believed [F4]", 0, "variants.cl", "shape g4096x4096x4096", not_above, 2,
             2, 128, 4),
        TEST("lanes that leave a loop at as many times as there are lanes [E3][F4]", 0, "variants.cl", "leave s0 s1",
             words, 1, 1, ITEMS, 1),
        { "a loop whose middle branches to both of its entries is compiled, without optimisation too [E8]", two_ways,
          NULL, NULL, NULL },
        { "shapes that are wrong are noticed [F4]", wrong_shapes, NULL, NULL, NULL },
        { "common bytes are read as they are printed [F2]", common_bytes, NULL, NULL, NULL },
    };

    return cmocka_run_group_tests_name("compiler: variants", tests, setup, teardown);
}
