/* SPDX-License-Identifier: MIT */
/* Algorithms whose grids launch themselves: Fibonacci numbers, quicksort, the Mandelbrot set by Mariani and Silver. */
#include "tests/api/api.h"

#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "ppu/tmd.h"

/* The TMD of a kernel that launches itself, where its threads can read it. */
static uint64_t describe(struct api *api, const struct ppu_kernel *kernel, uint32_t threads)
{
    const struct ppu_launch launch = { .grid = { 1 }, .cta = { threads } };
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, sizeof(struct ppu_tmd));

    check(ppu_kernel_describe(kernel, &launch, ppu_memory_host(memory)));
    return api_va(api, memory);
}

/* ---- Fibonacci: parents wait for two children each ---- */

static uint32_t fibonacci(uint32_t n)
{
    uint32_t a = 0, b = 1;

    for (; n > 0; n--) {
        uint32_t next = a + b;
        a = b;
        b = next;
    }
    return a;
}

static void fibonacci_tree(void **state)
{
    struct api *api = *state;
    const struct ppu_kernel *kernel = api_kernel(api, api->context, "fibonacci", "fibonacci");
    const uint32_t most = machine_is_slow() ? 12 : 15;
    const uint32_t grids = 2 * fibonacci(most + 1) - 1;

    check(ppu_context_nest(api->context, &(struct ppu_nest_options){ .state_bytes = 12 * 1024 }));
    struct ppu_memory *cells = api_memory(api, PPU_MEMORY_VRAM, 64ull * grids);
    struct ppu_memory *words = api_memory(api, PPU_MEMORY_VRAM, 4096); /* counter, result */
    for (uint32_t n = 0; n <= most; n++) {
        const uint64_t params[] = {
            describe(api, kernel, 32), api_va(api, cells), api_va(api, words), api_va(api, words) + 64, n, 0
        };
        api_set_word(words, 0, 0);
        check(api_run(api, kernel, 1, 32, params, sizeof(params)));
        assert_int_equal(api_word(words, 64), fibonacci(n));
        assert_int_equal(api_word(words, 0), 2 * fibonacci(n + 1) - 2); /* every grid but the first */
    }
}

/* ---- quicksort: nobody waits, the host's task completes with the last grid ---- */

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static void sort(struct api *api, const struct ppu_kernel *kernel, uint64_t tmd, struct ppu_memory *memory,
                 struct ppu_memory *cells, uint32_t count)
{
    const struct {
        uint64_t tmd, words, cells, counter;
        uint32_t first, end;
        uint64_t zero;
    } params = { tmd, api_va(api, memory), api_va(api, cells) + 64, api_va(api, cells), 0, count, 0 };
    uint32_t *words = ppu_memory_host(memory), *expected = calloc(count, sizeof(*expected));

    assert_non_null(expected);
    memcpy(expected, words, count * sizeof(*words));
    qsort(expected, count, sizeof(*expected), compare);
    api_set_word(cells, 0, 0);
    check(api_run(api, kernel, 1, 32, &params, sizeof(params)));
    assert_memory_equal(words, expected, count * sizeof(*words));
    free(expected);
}

static void quicksort(void **state)
{
    struct api *api = *state;
    const uint32_t count = machine_is_slow() ? 2000 : 8000;
    const struct ppu_kernel *kernel = api_kernel(api, api->context, "quicksort", "quicksort");
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 4ull * count);
    struct ppu_memory *cells = api_memory(api, PPU_MEMORY_VRAM, 64ull * 2 * count + 64);
    const uint64_t tmd = describe(api, kernel, 32);
    uint32_t *words = ppu_memory_host(memory);
    uint64_t random = api_seed();

    check(ppu_context_nest(api->context, NULL));
    for (uint32_t i = 0; i < count; i++) {
        words[i] = api_random(&random);
    }
    sort(api, kernel, tmd, memory, cells, count);
    sort(api, kernel, tmd, memory, cells, count); /* sorted already */
    for (uint32_t i = 0; i < count; i++) {
        words[i] = api_random(&random) % 50;
    }
    sort(api, kernel, tmd, memory, cells, count);
}

/* One value everywhere: the worst case, whose tree would be as deep as the range is long. */
static void quicksort_too_deep(void **state)
{
    struct api *api = *state;
    const uint32_t count = 300;
    const struct ppu_kernel *kernel = api_kernel(api, api->context, "quicksort", "quicksort");
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 4ull * count);
    struct ppu_memory *cells = api_memory(api, PPU_MEMORY_VRAM, 64ull * 2 * count + 64);
    uint32_t *words = ppu_memory_host(memory);

    check(ppu_context_nest(api->context, &(struct ppu_nest_options){ .depth = 5 }));
    for (uint32_t i = 0; i < count; i++) {
        words[i] = 7;
    }
    sort(api, kernel, describe(api, kernel, 32), memory, cells, count);
}

/* ---- Mandelbrot: rectangles whose border has one value are filled ---- */

#define WIDTH 120u
#define HEIGHT 90u
#define SMALL 8u
#define TURNS 50u
#define LEFT (-(int32_t)(2.3 * (1 << 28)))
#define TOP (-(int32_t)(1.2 * (1 << 28)))
#define STEP ((int32_t)(3.2 / WIDTH * (1 << 28)))

struct picture {
    uint8_t value[HEIGHT][WIDTH], mark[HEIGHT][WIDTH];
    uint32_t grids, deepest, evaluated, filled;
};

static uint8_t turns(uint32_t x, uint32_t y)
{
    const int32_t re = (int32_t)x * STEP + LEFT, im = (int32_t)y * STEP + TOP;
    int64_t a = 0, b = 0;
    uint8_t n = 0;

    for (; n < TURNS && a * a + b * b <= 4ll << 56; n++) {
        int64_t next = ((a * a - b * b) >> 28) + re;
        b = ((a * b) >> 27) + im;
        a = next;
    }
    return n;
}

static void evaluate(struct picture *picture, uint32_t x, uint32_t y, uint8_t depth)
{
    picture->value[y][x] = turns(x, y);
    picture->mark[y][x] = depth;
    picture->evaluated++;
}

static bool edge(uint32_t i, uint32_t j, uint32_t width, uint32_t height)
{
    return i == 0 || j == 0 || i == width - 1 || j == height - 1;
}

/* The same tree as the kernel's: a rectangle that is nobody's child is on the list when its parent has been worked
 * off. */
static void draw(struct picture *picture)
{
    struct rectangle {
        uint32_t x, y, width, height;
        uint8_t depth;
    } list[2048] = { { 0, 0, WIDTH, HEIGHT, 1 } };
    uint32_t count = 1;

    for (uint32_t n = 0; n < count; n++) {
        const struct rectangle r = list[n];
        bool same = true;
        picture->grids++;
        picture->deepest = PPU_MAX(r.depth, picture->deepest);
        for (uint32_t pass = 0; pass < 2; pass++) { /* border, inside */
            for (uint32_t k = 0; k < r.width * r.height; k++) {
                uint32_t i = k % r.width, j = k / r.width, x = r.x + i, y = r.y + j;
                if (edge(i, j, r.width, r.height) != (pass == 0)) {
                    continue;
                }
                if (pass == 0 || (!same && (r.width <= SMALL || r.height <= SMALL))) {
                    evaluate(picture, x, y, r.depth);
                } else if (same) {
                    picture->value[y][x] = picture->value[r.y][r.x];
                    picture->mark[y][x] = r.depth + 128;
                    picture->filled++;
                }
                same &= pass == 1 || picture->value[y][x] == picture->value[r.y][r.x];
            }
        }
        if (!same && r.width > SMALL && r.height > SMALL) {
            for (uint32_t q = 0; q < 4; q++) {
                uint32_t w = r.width / 2, h = r.height / 2;
                assert_true(count < PPU_ARRAY_SIZE(list));
                list[count++] =
                    (struct rectangle){ r.x + (q & 1 ? w : 0), r.y + (q & 2 ? h : 0), q & 1 ? r.width - w : w,
                                        q & 2 ? r.height - h : h, (uint8_t)(r.depth + 1) };
            }
        }
    }
}

struct mandelbrot_params {
    uint64_t tmd, values, marks, statistics, cells;
    uint32_t x, y, width, height, pitch;
    int32_t re, im, step;
    uint32_t turns, small, zero[4];
};

_Static_assert(sizeof(struct mandelbrot_params) == 96, "as the kernel has it");

/* What a test of the Mandelbrot set has in VRAM. */
struct mandelbrot {
    struct ppu_memory *values, *marks, *statistics;
    enum ppu_err err;
};

/* The whole picture on a nest of this depth. */
static struct mandelbrot mandelbrot_run(struct api *api, uint32_t depth)
{
    const struct ppu_kernel *kernel = api_kernel(api, api->context, "mandelbrot", "mandelbrot");
    struct mandelbrot run = {
        .values = api_memory(api, PPU_MEMORY_VRAM, WIDTH * HEIGHT),
        .marks = api_memory(api, PPU_MEMORY_VRAM, WIDTH * HEIGHT),
        .statistics = api_memory(api, PPU_MEMORY_VRAM, 64),
    };
    const struct mandelbrot_params params = {
        .tmd = describe(api, kernel, 64),
        .values = api_va(api, run.values),
        .marks = api_va(api, run.marks),
        .statistics = api_va(api, run.statistics),
        .cells = api_va(api, api_memory(api, PPU_MEMORY_VRAM, 2048 * 128)),
        .width = WIDTH,
        .height = HEIGHT,
        .pitch = WIDTH,
        .re = LEFT,
        .im = TOP,
        .step = STEP,
        .turns = TURNS,
        .small = SMALL,
    };

    check(ppu_context_nest(api->context, &(struct ppu_nest_options){ .depth = depth }));
    run.err = api_run(api, kernel, 1, 64, &params, sizeof(params));
    return run;
}

static void mandelbrot(void **state)
{
    static struct picture expected;
    struct mandelbrot run = mandelbrot_run(*state, 24);

    check(run.err);
    draw(&expected);
    assert_memory_equal(ppu_memory_host(run.values), expected.value, sizeof(expected.value));
    assert_memory_equal(ppu_memory_host(run.marks), expected.mark, sizeof(expected.mark));
    assert_int_equal(api_word(run.statistics, 0), expected.grids);
    assert_int_equal(api_word(run.statistics, 4), expected.deepest);
    assert_int_equal(api_word(run.statistics, 8), expected.evaluated);
    assert_int_equal(api_word(run.statistics, 12), expected.filled);
    assert_int_equal(api_word(run.statistics, 20), 0);
    assert_true(expected.deepest >= 4 && expected.filled > WIDTH * HEIGHT / 8);
}

/* Refused launches: the threads evaluate alone what they could not give away. */
static void mandelbrot_refused(void **state)
{
    static struct picture expected;
    struct mandelbrot run = mandelbrot_run(*state, 3);

    check(run.err);
    draw(&expected);
    assert_memory_equal(ppu_memory_host(run.values), expected.value, sizeof(expected.value));
    assert_int_equal(api_word(run.statistics, 4), 3);
    assert_true(api_word(run.statistics, 20) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        api_test("Fibonacci numbers by a tree of grids that wait [B1 B7]", fibonacci_tree),
        api_test("quicksort by a tree of grids that do not wait [B1 B8]", quicksort),
        api_test("quicksort goes on alone when it is too deep to launch [B3]", quicksort_too_deep),
        api_test("the Mandelbrot set by a tree of grids [B1 B8]", mandelbrot),
        api_test("the Mandelbrot set with refused launches [B3]", mandelbrot_refused),
    };

    return cmocka_run_group_tests_name("api: recursion", tests, api_machine_setup, api_machine_teardown);
}
