/* SPDX-License-Identifier: MIT */
/* Tests kernels: results against the CPU, grids, streams, faults of kernels, and the watchdog. */
#include "tests/api/api.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "runtime/block.h"
#include "runtime/deadline.h"
#include "runtime/memory.h"
#include "runtime/program.h"

static ppu_va_t at(uint64_t va)
{
    return (ppu_va_t){ va };
}

static uint32_t ctas_for(uint32_t threads, uint32_t cta)
{
    return (threads + cta - 1) / cta;
}

/* ---- results ---- */

struct saxpy_params {
    uint64_t x, y;
    uint32_t n;
    float a;
};

static void run_saxpy(struct api *api, enum ppu_memory_kind kind, uint32_t n, uint32_t cta)
{
    struct ppu_memory *x = api_memory(api, kind, n * 4ull);
    struct ppu_memory *y = api_memory(api, kind, n * 4ull);
    const struct saxpy_params params = { api_va(api, x), api_va(api, y), n, 2.5f };
    float *xs = ppu_memory_host(x), *ys = ppu_memory_host(y);

    for (uint32_t i = 0; i < n; i++) {
        xs[i] = (float)i * 0.25f;
        ys[i] = (float)(i % 1000);
    }
    check(
        api_run(api, api_kernel(api, api->context, "saxpy", "saxpy"), ctas_for(n, cta), cta, &params, sizeof(params)));
    for (uint32_t i = 0; i < n; i++) {
        float expected = 2.5f * ((float)i * 0.25f) + (float)(i % 1000);
        if (ys[i] != expected) {
            fail_msg("element %u of %u: %f instead of %f", i, n, (double)ys[i], (double)expected);
        }
    }
}

static void saxpy(void **state)
{
    run_saxpy(*state, PPU_MEMORY_VRAM, machine_is_slow() ? 64 * 1024 : 4 * 1024 * 1024, 256);
}

static void saxpy_system_memory(void **state)
{
    run_saxpy(*state, PPU_MEMORY_SYSTEM, machine_is_slow() ? 2048 : 16384, 128);
}

static void partial_warps(void **state)
{
    struct api *api = *state;
    const uint32_t sizes[] = { 1, 31, 32, 33, 63, 100, 255, 1024 };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(sizes); i++) {
        run_saxpy(api, PPU_MEMORY_VRAM, 3 * sizes[i] + 1, sizes[i]);
    }
}

/* The compiled kernels' arguments come in the order of their declaration. */
struct compiled_saxpy_params {
    uint32_t n;
    float a;
    uint64_t x, y;
};

static void compiled_saxpy(void **state)
{
    struct api *api = *state;
    const uint32_t n = 5000, cta = 96;
    struct ppu_memory *x = api_memory(api, PPU_MEMORY_VRAM, n * 4ull);
    struct ppu_memory *y = api_memory(api, PPU_MEMORY_VRAM, n * 4ull);
    const struct compiled_saxpy_params params = { n, 2.5f, api_va(api, x), api_va(api, y) };
    float *xs = ppu_memory_host(x), *ys = ppu_memory_host(y);

    for (uint32_t i = 0; i < n; i++) {
        xs[i] = (float)i * 0.25f;
        ys[i] = (float)(i % 1000);
    }
    check(api_run(api, api_kernel(api, api->context, "cl-compare", "saxpy"), ctas_for(n, cta), cta, &params,
                  sizeof(params)));
    for (uint32_t i = 0; i < n; i++) {
        assert_true(ys[i] == 2.5f * ((float)i * 0.25f) + (float)(i % 1000));
    }
}

static void compiled_lock(void **state)
{
    struct api *api = *state;
    struct ppu_memory *words = api_memory(api, PPU_MEMORY_VRAM, 8);
    const uint64_t params[2] = { api_va(api, words), api_va(api, words) + 4 };

    check(api_run(api, api_kernel(api, api->context, "cl-locks", "lock_before"), 3, 50, params, sizeof(params)));
    assert_int_equal(api_word(words, 4), 150);
}

struct reduce_params {
    uint64_t in, out;
    uint32_t n;
};

static void reduction(void **state)
{
    struct api *api = *state;
    const uint32_t n = machine_is_slow() ? 20000 : 1000000, cta = 256, ctas = ctas_for(n, cta);
    struct ppu_memory *in = api_memory(api, PPU_MEMORY_VRAM, n * 4ull);
    struct ppu_memory *out = api_memory(api, PPU_MEMORY_VRAM, ctas * 4ull);
    const struct reduce_params params = { api_va(api, in), api_va(api, out), n };
    uint32_t *ins = ppu_memory_host(in), expected = 0, sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        ins[i] = i * 2654435761u;
        expected += ins[i];
    }
    check(api_run(api, api_kernel(api, api->context, "reduce", "reduce"), ctas, cta, &params, sizeof(params)));
    for (uint32_t i = 0; i < ctas; i++) {
        sum += api_word(out, 4 * i);
    }
    assert_int_equal(sum, expected);
}

static void run_histogram(struct api *api, const char *name)
{
    const uint32_t n = machine_is_slow() ? 10000 : 200000;
    struct ppu_memory *in = api_memory(api, PPU_MEMORY_VRAM, n);
    struct ppu_memory *counts = api_memory(api, PPU_MEMORY_VRAM, 1024);
    const struct reduce_params params = { api_va(api, in), api_va(api, counts), n };
    uint32_t expected[256] = { 0 };
    uint8_t *ins = ppu_memory_host(in);
    uint64_t random = 5;

    for (uint32_t i = 0; i < n; i++) {
        ins[i] = (uint8_t)(api_random(&random) >> 28 | api_random(&random) % 7);
        expected[ins[i]]++;
    }
    check(
        api_run(api, api_kernel(api, api->context, "histogram", name), ctas_for(n, 256), 256, &params, sizeof(params)));
    assert_memory_equal(ppu_memory_host(counts), expected, sizeof(expected));
}

static void histograms(void **state)
{
    run_histogram(*state, "histogram");
    run_histogram(*state, "histogram_shared");
}

struct filter_params {
    uint64_t in, out;
    uint32_t width, height;
};

static uint8_t filtered(const uint8_t *in, int width, int height, int x, int y)
{
    uint32_t sum = 0;

    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            bool inside = x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height;
            sum += inside ? in[(y + dy) * width + x + dx] : 0;
        }
    }
    return (uint8_t)(sum / 9);
}

static void filter(void **state)
{
    struct api *api = *state;
    const int width = machine_is_slow() ? 75 : 301, height = machine_is_slow() ? 53 : 203;
    struct ppu_memory *in = api_memory(api, PPU_MEMORY_VRAM, (uint64_t)width * (uint64_t)height);
    struct ppu_memory *out = api_memory(api, PPU_MEMORY_VRAM, (uint64_t)width * (uint64_t)height);
    const struct filter_params params = { api_va(api, in), api_va(api, out), (uint32_t)width, (uint32_t)height };
    const struct ppu_launch launch = {
        .grid = { ctas_for((uint32_t)width, 16), ctas_for((uint32_t)height, 8), 1 },
        .cta = { 16, 8, 1 },
        .params = &params,
        .param_bytes = sizeof(params),
    };
    uint8_t *ins = ppu_memory_host(in);
    const uint8_t *outs = ppu_memory_host(out);
    uint64_t random = 9;
    struct ppu_event event;

    for (int i = 0; i < width * height; i++) {
        ins[i] = (uint8_t)api_random(&random);
    }
    check(ppu_stream_launch(api->stream, api_kernel(api, api->context, "filter2d", "filter2d"), &launch, &event));
    check(ppu_event_wait(&event, LONG_NS));
    for (int i = 0; i < width * height; i++) {
        assert_int_equal(outs[i], filtered(ins, width, height, i % width, i / width));
    }
}

static void divergence(void **state)
{
    struct api *api = *state;
    struct ppu_memory *out = api_memory(api, PPU_MEMORY_VRAM, 1024);
    const uint64_t params = api_va(api, out);
    const uint32_t threads = 70;

    check(api_run(api, api_kernel(api, api->context, "nested", "nested"), 1, threads, &params, sizeof(params)));
    for (uint32_t tid = 0; tid < threads; tid++) {
        uint32_t expected = 0;
        for (uint32_t i = 0; i <= tid; i++) {
            expected += i % 2 == 1 ? (i * 3 > tid ? i : 7) : 2 * i;
        }
        assert_int_equal(api_word(out, 4 * tid), expected);
    }
}

static const struct {
    uint32_t grid[3], cta[3];
} shapes[] = {
    { { 1, 1, 1 }, { 1, 1, 1 } },    { { 5, 1, 1 }, { 33, 1, 1 } },  { { 3, 4, 1 }, { 8, 4, 1 } },
    { { 2, 3, 4 }, { 4, 3, 5 } },    { { 1, 1, 7 }, { 1, 1, 64 } },  { { 64, 1, 1 }, { 1, 1, 1 } },
    { { 1, 1, 1 }, { 1024, 1, 1 } }, { { 2, 2, 2 }, { 2, 2, 256 } },
};

static void check_special(const uint32_t *word, const uint32_t *grid, const uint32_t *cta, uint32_t number)
{
    uint32_t threads = cta[0] * cta[1] * cta[2];
    uint32_t thread = number % threads, which = number / threads;
    const uint32_t expected[16] = {
        thread % cta[0],
        thread / cta[0] % cta[1],
        thread / cta[0] / cta[1],
        which % grid[0],
        which / grid[0] % grid[1],
        which / grid[0] / grid[1],
        cta[0],
        cta[1],
        cta[2],
        grid[0],
        grid[1],
        grid[2],
        thread,
        thread % 32,
        thread / 32,
        32,
    };

    for (int i = 0; i < 16; i++) {
        if (word[i] != expected[i]) {
            fail_msg("thread %u, register %d: %u instead of %u", number, i, word[i], expected[i]);
        }
    }
}

static void special_registers(void **state)
{
    struct api *api = *state;
    const struct ppu_kernel *kernel = api_kernel(api, api->context, "special", "special");

    for (size_t i = 0; i < PPU_ARRAY_SIZE(shapes); i++) {
        const uint32_t *g = shapes[i].grid, *c = shapes[i].cta;
        uint32_t total = g[0] * g[1] * g[2] * c[0] * c[1] * c[2];
        struct ppu_memory *out = api_memory(api, PPU_MEMORY_VRAM, total * 64ull);
        const uint64_t params = api_va(api, out);
        struct ppu_launch launch = { .params = &params, .param_bytes = sizeof(params) };
        struct ppu_event event;
        memcpy(launch.grid, g, sizeof(launch.grid));
        memcpy(launch.cta, c, sizeof(launch.cta));
        check(ppu_stream_launch(api->stream, kernel, &launch, &event));
        check(ppu_event_wait(&event, LONG_NS));
        for (uint32_t n = 0; n < total; n++) {
            check_special((const uint32_t *)ppu_memory_host(out) + 16 * n, g, c, n);
        }
    }
}

static void local_memory(void **state)
{
    struct api *api = *state;
    const struct ppu_kernel *kernel = api_kernel(api, api->context, "memory", "unified");
    struct ppu_memory *out = api_memory(api, PPU_MEMORY_VRAM, 1024);
    const uint64_t params = api_va(api, out);

    /* Every CTA writes the same: what matters is that none disturbs another's local memory. */
    check(api_run(api, kernel, 50, 96, &params, sizeof(params)));
    for (uint32_t i = 0; i < 96; i++) {
        assert_int_equal(api_word(out, 4 * i), 2 * i);
    }
}

static void threads_atomics(void **state)
{
    struct api *api = *state;
    const uint32_t ctas = 40, cta = 64, total = ctas * cta;
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 16 + total * 4);
    const uint64_t params[] = { api_va(api, memory), api_va(api, memory) + 16 };
    static bool seen[40 * 64];

    memset(seen, 0, sizeof(seen));
    check(api_run(api, api_kernel(api, api->context, "counter", "counter"), ctas, cta, params, sizeof(params)));
    assert_int_equal(api_word(memory, 0), total);
    for (uint32_t i = 0; i < total; i++) {
        uint32_t before = api_word(memory, 16 + 4 * i);
        assert_true(before < total && !seen[before]);
        seen[before] = true;
    }
}

/* ---- task descriptors, streams ---- */

static struct ppu_tmd tmd_for(const struct ppu_kernel *kernel, uint32_t grid, uint32_t cta, uint64_t param_va,
                              uint32_t param_bytes)
{
    return (struct ppu_tmd){
        .head = { PPU_TMD_VERSION, sizeof(struct ppu_tmd) },
        .kind = PPU_TMD_GRID,
        .code_va = kernel->program->code_va.va,
        .code_bytes = kernel->program->view.header->code_bytes,
        .entry = kernel->entry->entry,
        .vregs = kernel->entry->vregs,
        .shared_vregs = kernel->entry->shared_vregs,
        .wave = kernel->entry->wave,
        .cta = { cta, 1, 1 },
        .grid = { grid, 1, 1 },
        .param_va = param_va,
        .param_bytes = param_bytes,
    };
}

/* What is changed after the launch was executed has no effect: the firmware runs its own copy. */
static void tmd_anywhere(void **state)
{
    struct api *api = *state;
    const struct ppu_kernel *kernel = api_kernel(api, api->context, "spin", "spin_count");

    for (int kind = PPU_MEMORY_VRAM; kind <= PPU_MEMORY_SYSTEM; kind++) {
        struct ppu_memory *memory = api_memory(api, (enum ppu_memory_kind)kind, PPU_PAGE_64K);
        struct ppu_memory *done = api_memory(api, PPU_MEMORY_VRAM, 64);
        uint8_t *host = ppu_memory_host(memory);
        const uint64_t params[] = { 20000, api_va(api, done) };
        struct ppu_tmd tmd = tmd_for(kernel, 4, 32, api_va(api, memory) + 256, sizeof(params));
        struct ppu_block *block = NULL;
        memcpy(host, &tmd, sizeof(tmd));
        memcpy(host + 256, params, sizeof(params));
        check(ppu_block_begin(api->channel, &block));
        ppu_block_launch_tmd(block, at(api_va(api, memory)), 3);
        ppu_block_release(block, at(api_va(api, done) + 16), 1, false);
        check(ppu_block_submit(block, NULL));
        assert_true(api_wait_word(done, 16, 1));
        memset(host, 0xff, 512);
        check(api_finish(api->channel));
        assert_int_equal(api_word(done, 0), 4);
    }
}

/* Tasks of one stream: each sees all of the one before. */
static void stream_order(void **state)
{
    struct api *api = *state;
    const struct ppu_kernel *kernel = api_kernel(api, api->context, "counter", "counter");
    const uint32_t tasks = 30, threads = 64;
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 16 + tasks * threads * 4);

    for (uint32_t t = 0; t < tasks; t++) {
        const uint64_t params[] = { api_va(api, memory), api_va(api, memory) + 16 + t * threads * 4 };
        const struct ppu_launch launch = {
            .grid = { 2, 1, 1 },
            .cta = { threads / 2, 1, 1 },
            .params = params,
            .param_bytes = sizeof(params),
        };
        check(ppu_stream_launch(api->stream, kernel, &launch, NULL));
    }
    check(ppu_stream_wait(api->stream, LONG_NS));
    for (uint32_t i = 0; i < tasks * threads; i++) {
        assert_int_equal(api_word(memory, 16 + 4 * i) / threads, i / threads);
    }
    assert_int_equal(api_query(api, PPU_KEY_CONTEXT_TASKS, ppu_context_id(api->context)), 0);
    assert_int_equal(api_query(api, PPU_KEY_TASKS_FREE, 0), api_query(api, PPU_KEY_TASKS_TOTAL, 0));
}

/* A task waits for what a task of another stream writes: both run at once, also on one SM. */
static void streams_run_at_once(void **state)
{
    struct api *api = *state;
    const struct ppu_kernel *wait = api_kernel(api, api->context, "spin", "spin_until");
    const struct ppu_kernel *count = api_kernel(api, api->context, "counter", "counter");
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, PPU_PAGE_64K);
    struct ppu_stream *other = NULL;
    const uint64_t flag = api_va(api, memory);
    const uint64_t params[] = { flag, flag + 64 };
    const struct ppu_launch first = { .grid = { 2, 1, 1 }, .cta = { 32, 1, 1 }, .params = &flag, .param_bytes = 8 };
    const struct ppu_launch second = {
        .grid = { 1, 1, 1 },
        .cta = { 1, 1, 1 },
        .params = params,
        .param_bytes = sizeof(params),
    };

    check(ppu_stream_create(api->channel, &other));
    assert_int_not_equal(ppu_stream_index(other), ppu_stream_index(api->stream));
    check(ppu_stream_launch(api->stream, wait, &first, NULL));
    check(ppu_stream_launch(other, count, &second, NULL));
    check(ppu_stream_wait(api->stream, LONG_NS));
    check(ppu_stream_wait(other, LONG_NS));
    check(ppu_stream_destroy(other));
}

/* More streams than a context has at first. */
static void streams_in_order(void **state)
{
    struct api *api = *state;
    const struct ppu_kernel *kernel = api_kernel(api, api->context, "counter", "counter");
    const uint32_t streams = 40;
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, streams * 64);
    struct ppu_stream *stream[64];

    for (uint32_t i = 0; i < streams; i++) {
        check(ppu_stream_create(api->channel, &stream[i]));
    }
    for (uint32_t turn = 0; turn < 3; turn++) {
        for (uint32_t i = 0; i < streams; i++) {
            const uint64_t own_va = api_va(api, memory) + 64 * i;
            const uint64_t params[] = { own_va, own_va + 16 + 4 * turn };
            const struct ppu_launch launch = {
                .grid = { 1, 1, 1 },
                .cta = { 1, 1, 1 },
                .params = params,
                .param_bytes = sizeof(params),
            };
            check(ppu_stream_launch(stream[i], kernel, &launch, NULL));
        }
    }
    check(api_finish(api->channel));
    for (uint32_t i = 0; i < streams; i++) {
        for (uint32_t turn = 0; turn < 3; turn++) {
            assert_int_equal(api_word(memory, 64 * i + 16 + 4 * turn), turn);
        }
        check(ppu_stream_destroy(stream[i]));
    }
}

/* Stream 0 waits for the last of all others. Its own tasks keep their order while the context gets more streams. */
static void streams_hold_up_nobody(void **state)
{
    enum { STREAMS = 100, FIRST = 3, LATER = 3 };
    struct api *api = *state;
    const struct ppu_kernel *wait = api_kernel(api, api->context, "spin", "spin_until");
    const struct ppu_kernel *count = api_kernel(api, api->context, "counter", "counter");
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, PPU_PAGE_64K);
    const uint64_t flag = api_va(api, memory), own = flag + 4, others = flag + 8, out = flag + 64;
    const struct ppu_launch waits = { .grid = { 1 }, .cta = { 1 }, .params = &flag, .param_bytes = 8 };
    struct ppu_stream *stream[STREAMS];
    struct ppu_event event;

    check(ppu_stream_create(api->channel, &stream[0]));
    check(ppu_stream_launch(stream[0], wait, &waits, NULL));
    for (uint32_t i = 0; i < FIRST + LATER; i++) {
        const uint64_t params[] = { own, out + 4 * i };
        const struct ppu_launch launch = { .grid = { 1 }, .cta = { 1 }, .params = params, .param_bytes = 16 };
        for (uint32_t s = 1; i == FIRST && s < STREAMS; s++) {
            check(ppu_stream_create(api->channel, &stream[s]));
        }
        check(ppu_stream_launch(stream[0], count, &launch, NULL));
    }
    for (uint32_t s = 1; s < STREAMS; s++) {
        const uint64_t params[] = { others, out + 4 * (FIRST + LATER + s) };
        const struct ppu_launch launch = { .grid = { 1 }, .cta = { 1 }, .params = params, .param_bytes = 16 };
        check(ppu_stream_launch(stream[s], count, &launch, NULL));
    }
    assert_true(api_wait_word(memory, 8, STREAMS - 1));
    assert_int_equal(api_word(memory, 4), 0);
    api_set_word(memory, 0, 1);
    check(ppu_stream_launch(stream[1], wait, &waits, &event));
    check(ppu_event_wait(&event, LONG_NS));
    check(ppu_stream_wait(stream[0], LONG_NS));
    for (uint32_t i = 0; i < FIRST + LATER; i++) {
        assert_int_equal(api_word(memory, 64 + 4 * i), i);
    }
    for (uint32_t s = 0; s < STREAMS; s++) {
        check(ppu_stream_destroy(stream[s]));
    }
}

/* Each has a number of its own; one more is refused, and there is another when one has gone. */
static void as_many_streams_as_there_are(void **state)
{
    struct api *api = *state;
    const uint32_t most = ppu_device_info(api->device)->streams - 1; /* the fixture has one */
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 4096);
    const uint64_t params[] = { api_va(api, memory), api_va(api, memory) + 64 };
    const struct ppu_launch launch = { .grid = { 1 }, .cta = { 1 }, .params = params, .param_bytes = sizeof(params) };
    struct ppu_stream **stream = calloc(most, sizeof(struct ppu_stream *)), *more = NULL;
    uint8_t *seen = calloc(most + 1, 1);

    assert_non_null(stream);
    assert_non_null(seen);
    for (uint32_t i = 0; i < most; i++) {
        check(ppu_stream_create(api->channel, &stream[i]));
        assert_in_range(ppu_stream_index(stream[i]), 0, most);
        assert_int_equal(seen[ppu_stream_index(stream[i])]++, 0);
    }
    assert_int_equal(ppu_stream_create(api->channel, &more), PPU_ERR_NO_RESOURCE);
    check(ppu_stream_destroy(stream[7]));
    check(ppu_stream_create(api->channel, &stream[7]));
    check(ppu_stream_launch(stream[most - 1], api_kernel(api, api->context, "counter", "counter"), &launch, NULL));
    check(ppu_stream_wait(stream[most - 1], LONG_NS));
    assert_int_equal(api_word(memory, 0), 1);
    for (uint32_t i = 0; i < most; i++) {
        check(ppu_stream_destroy(stream[i]));
    }
    free(seen);
    free(stream);
}

static void idle_covers_tasks(void **state)
{
    struct api *api = *state;
    const struct ppu_kernel *kernel = api_kernel(api, api->context, "spin", "spin_count");
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 256);
    const uint64_t va = api_va(api, memory);
    const uint64_t params[] = { machine_is_slow() ? 2000 : 100000, va };
    const struct ppu_launch launch = {
        .grid = { 8, 1, 1 },
        .cta = { 32, 1, 1 },
        .params = params,
        .param_bytes = sizeof(params),
    };
    struct ppu_block *block = NULL;

    check(ppu_block_begin(api->channel, &block));
    ppu_block_launch(block, api->stream, kernel, &launch);
    ppu_block_wait_idle(block);
    ppu_block_copy(block, at(va + 64), at(va), 4);
    ppu_block_wait_idle(block);
    ppu_block_release(block, at(va + 16), 1, false);
    check(ppu_block_submit(block, NULL));
    assert_true(api_wait_word(memory, 16, 1));
    assert_int_equal(api_word(memory, 64), 8);
    check(api_finish(api->channel));
}

/* A word released by a thread wakes a channel that waits for it. */
static void thread_releases(void **state)
{
    struct api *api = *state;
    const struct ppu_kernel *kernel = api_kernel(api, api->context, "memory", "release");
    struct ppu_memory *sem = api_memory(api, PPU_MEMORY_VRAM, sizeof(struct ppu_sem));
    const struct {
        uint64_t sem;
        uint32_t value;
    } params = { api_va(api, sem), 42 };
    struct ppu_channel *waiting = NULL;
    struct ppu_block *block = NULL;
    struct ppu_event event;

    check(ppu_channel_create(api->context, NULL, &waiting));
    check(ppu_block_begin(waiting, &block));
    ppu_block_acquire(block, at(api_va(api, sem)), 42, PPU_SEM_EQUAL);
    check(ppu_block_submit(block, &event));
    check(api_run(api, kernel, 1, 32, &params, sizeof(params)));
    check(ppu_event_wait(&event, LONG_NS));
    check(ppu_channel_destroy(waiting));
}

/* ---- kernels that fault ---- */

static const struct {
    const char *kernel;
    uint64_t address;
    uint32_t fault;
    enum ppu_err err;
} faults[] = {
    { "fault_misaligned", 1ull << 33, PPU_FAULT_MISALIGNED, PPU_ERR_FAULT },
    { "fault_trap", 0, PPU_FAULT_TRAP, PPU_ERR_TRAP },
    { "fault_illegal", 0, PPU_FAULT_ILLEGAL, PPU_ERR_FAULT },
    { "fault_not_built", 0, PPU_FAULT_NOT_BUILT, PPU_ERR_FAULT },
    { "fault_register", 0, PPU_FAULT_BAD_REGISTER, PPU_ERR_FAULT },
    { "fault_jump", 0, PPU_FAULT_FETCH_RANGE, PPU_ERR_FAULT },
    { "fault_shared", 0, PPU_FAULT_SHARED_RANGE, PPU_ERR_FAULT },
    { "fault_local", 0, PPU_FAULT_LOCAL_RANGE, PPU_ERR_FAULT },
    { "fault_param", 0, PPU_FAULT_PARAM_RANGE, PPU_ERR_FAULT },
    { "fault_barrier", 0, PPU_FAULT_BARRIER, PPU_ERR_FAULT },
    { "fault_tokens", 0, PPU_FAULT_TOKEN_FULL, PPU_ERR_FAULT },
};

/* Each fault is told, and work of another channel that runs meanwhile ends well. */
static void kernels_fault(void **state)
{
    struct api *api = *state;
    const struct ppu_kernel *spin = api_kernel(api, api->context, "spin", "spin_until");
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 64);
    struct ppu_channel *other = NULL;
    struct ppu_stream *stream = NULL;
    struct ppu_event event;
    const uint64_t flag = api_va(api, memory);
    const struct ppu_launch launch = { .grid = { 1, 1, 1 }, .cta = { 32, 1, 1 }, .params = &flag, .param_bytes = 8 };

    check(ppu_channel_create(api->context, NULL, &other));
    check(ppu_stream_create(other, &stream));
    check(ppu_stream_launch(stream, spin, &launch, &event));
    for (size_t i = 0; i < PPU_ARRAY_SIZE(faults); i++) {
        const struct ppu_kernel *kernel = api_kernel(api, api->context, "faults", faults[i].kernel);
        struct ppu_error error;
        enum ppu_err err = api_run(api, kernel, 2, 64, &faults[i].address, 8);
        ppu_channel_error(api->channel, &error);
        if (err != faults[i].err || error.record.code != faults[i].fault) {
            fail_msg("%s: %s: %s", faults[i].kernel, ppu_error_name(err), error.text);
        }
        assert_int_equal(error.record.channel, ppu_channel_index(api->channel));
        assert_non_null(strstr(error.text, "CTA ("));
        check(ppu_channel_reset(api->channel));
        check(api_finish(api->channel));
        api_forget_programs(1);
        assert_false(ppu_event_done(&event));
    }
    api_set_word(memory, 0, 1);
    check(ppu_event_wait(&event, LONG_NS));
    check(ppu_channel_destroy(other));
    check(ppu_stream_destroy(stream));
}

/* The task may have ended when the request is looked at: then it is the device's error alone. */
static void start_request(void **state)
{
    struct api *api = *state;
    const struct ppu_kernel *kernel = api_kernel(api, api->context, "faults", "start_request");
    const uint64_t handle = 0x1234;
    uint64_t deadline_ns = deadline_after(LONG_NS);
    struct ppu_error error;

    enum ppu_err err = api_run(api, kernel, 1, 1, &handle, 8);
    assert_true(err == PPU_OK || err == PPU_ERR_FAULT);
    while (ppu_device_error_count(api->device) == 0 && deadline_left(deadline_ns) > 0) {
        sleep_ns(NS_PER_MS);
    }
    ppu_device_error(api->device, &error);
    assert_int_equal(error.record.code, PPU_FAULT_BAD_START);
    assert_int_equal(error.record.address, handle);
    assert_int_equal(error.record.context, ppu_context_id(api->context));
}

static void fault_is_precise(void **state)
{
    struct api *api = *state;
    const struct ppu_kernel *kernel = api_kernel(api, api->context, "faults", "fault_lane");
    const uint64_t address = 0x7770000;
    struct ppu_error error;

    assert_int_equal(api_run(api, kernel, 1, 96, &address, 8), PPU_ERR_FAULT);
    ppu_channel_error(api->channel, &error);
    assert_int_equal(error.record.code, PPU_FAULT_UNMAPPED);
    assert_int_equal(error.record.address, address);
    assert_int_equal(error.record.warp, 1);
    assert_int_equal(error.record.lanes, 1u << 5);
    uint64_t code = kernel->program->code_va.va;
    assert_in_range(error.record.pc, code + kernel->entry->entry, code + kernel->program->view.header->code_bytes - 8);
}

static void watchdog(void **state)
{
    struct api *api = *state;
    const struct ppu_kernel *kernel = api_kernel(api, api->context, "spin", "spin");
    const struct ppu_launch launch = {
        .grid = { 100, 1, 1 },
        .cta = { 64, 1, 1 },
        .watchdog_ns = 50 * NS_PER_MS,
    };
    struct ppu_event event;
    struct ppu_error error;

    for (int i = 0; i < 3; i++) {
        check(ppu_stream_launch(api->stream, kernel, &launch, &event));
        assert_int_equal(ppu_event_wait(&event, LONG_NS), PPU_ERR_TIMEOUT);
        ppu_channel_error(api->channel, &error);
        assert_int_equal(error.record.code, PPU_FAULT_WATCHDOG);
        assert_int_equal(error.record.address, 50 * NS_PER_MS);
        check(ppu_channel_reset(api->channel));
        check(api_finish(api->channel));
    }
}

/* An endless kernel: the wait ends by its own bound, and reset or destruction ends the kernel. */
static void endless(void **state)
{
    struct api *api = *state;
    const struct ppu_kernel *kernel = api_kernel(api, api->context, "spin", "spin");
    const struct ppu_launch launch = { .grid = { 1000, 1, 1 }, .cta = { 32, 1, 1 } };
    struct ppu_channel *channel = NULL;
    struct ppu_stream *stream = NULL;
    struct ppu_event event;

    check(ppu_stream_launch(api->stream, kernel, &launch, &event));
    uint64_t before = clock_ns();
    assert_int_equal(ppu_event_wait(&event, SHORT_NS), PPU_ERR_TIMEOUT);
    assert_true(clock_ns() - before >= SHORT_NS);
    check(ppu_channel_reset(api->channel));
    check(api_finish(api->channel));
    check(ppu_channel_create(api->context, NULL, &channel));
    check(ppu_stream_create(channel, &stream));
    check(ppu_stream_launch(stream, kernel, &launch, &event));
    assert_int_equal(ppu_event_wait(&event, SHORT_NS), PPU_ERR_TIMEOUT);
    check(ppu_channel_destroy(channel));
    check(ppu_stream_destroy(stream));
    check(api_finish(api->channel));
    assert_int_equal(api_query(api, PPU_KEY_TASKS_FREE, 0), api_query(api, PPU_KEY_TASKS_TOTAL, 0));
}

/* ---- co-resident grids ---- */

struct barrier_params {
    uint64_t arrived, passed;
    uint32_t threads;
};

/* CTAs wait for each other in both rounds; beside them another task takes room. */
static void grid_barrier(void **state)
{
    struct api *api = *state;
    const struct ppu_kernel *kernel = api_kernel(api, api->context, "barrier", "grid_barrier");
    struct ppu_memory *words = api_memory(api, PPU_MEMORY_VRAM, 128);
    uint64_t va = api_va(api, words);

    for (uint32_t ctas = 1; ctas <= 7; ctas += 2) {
        const struct barrier_params params = { va, va + 64, ctas * 100 };

        api_set_word(words, 0, 0);
        api_set_word(words, 64, 0);
        check(api_run(api, kernel, ctas, 100, &params, sizeof(params)));
        assert_int_equal(api_word(words, 0), 2 * ctas * 100);
        assert_int_equal(api_word(words, 64), ctas * 100);
    }
}

/* By the kernel's wish or by the launch's: what cannot be on the SMs at once is refused before any of it runs. */
static void grid_too_large_for_once(void **state)
{
    struct api *api = *state;
    struct ppu_memory *words = api_memory(api, PPU_MEMORY_VRAM, 128);
    uint64_t va = api_va(api, words);
    const struct barrier_params barrier = { va, va + 64, UINT32_MAX };
    const struct saxpy_params saxpy_all = { va, va, 0, 0.0f };

    for (uint32_t i = 0; i < 2; i++) {
        struct ppu_launch launch = { .grid = { 1u << 20 }, .cta = { 32 }, .coresident = i == 1 };
        const struct ppu_kernel *kernel = i == 0 ? api_kernel(api, api->context, "barrier", "grid_barrier")
                                                 : api_kernel(api, api->context, "saxpy", "saxpy");
        struct ppu_error error;

        launch.params = i == 0 ? (const void *)&barrier : (const void *)&saxpy_all;
        launch.param_bytes = i == 0 ? sizeof(barrier) : sizeof(saxpy_all);
        api_set_word(words, 0, 0);
        check(ppu_stream_launch(api->stream, kernel, &launch, NULL));
        assert_int_equal(api_wait_fault(api->channel, &error), PPU_ERR_BAD_TMD);
        assert_int_equal(error.record.code, PPU_FAULT_TMD_CORESIDENT);
        assert_int_equal(api_word(words, 0), 0);
        check(ppu_channel_reset(api->channel));
    }
}

static void launch_arguments(void **state)
{
    struct api *api = *state;
    const struct ppu_kernel *kernel = api_kernel(api, api->context, "saxpy", "saxpy");
    const struct saxpy_params params = { 0 };
    const struct ppu_kernel *none = NULL;
    struct ppu_program *program = NULL;
    struct ppu_error error;
    const struct ppu_launch wrong[] = {
        { .grid = { 1 }, .cta = { 32 }, .params = &params, .param_bytes = sizeof(params) - 1 },
        { .grid = { 1 }, .cta = { 32 }, .params = &params, .param_bytes = PPU_MAX_PARAM + 1 },
        { .grid = { 1 }, .cta = { 32 }, .params = &params, .param_bytes = sizeof(params), .priority = PPU_PRIORITIES },
        { .grid = { 1 }, .cta = { 32 }, .params = &params, .param_bytes = sizeof(params), .arguments_va = 0x100000000 },
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(wrong); i++) {
        assert_int_equal(ppu_stream_launch(api->stream, kernel, &wrong[i], NULL), PPU_ERR_BAD_ARG);
    }
    assert_int_equal(ppu_kernel_find((struct ppu_program *)(uintptr_t)kernel->program, "nothing", &none),
                     PPU_ERR_NOT_FOUND);
    assert_int_equal(ppu_program_load(api->context, "garbage", 7, &program, &error), PPU_ERR_BAD_IMAGE);
    assert_null(program);
    check(api_finish(api->channel));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        api_test("saxpy equals the CPU's [A6, A7]", saxpy),
        api_test("saxpy compiled from OpenCL C equals the CPU's [A7]", compiled_saxpy),
        api_test("a lock compiled from OpenCL C finishes [E8]", compiled_lock),
        api_test("saxpy in system memory equals the CPU's [A7]", saxpy_system_memory),
        api_test("partial warps give the same results [A14]", partial_warps),
        api_test("a reduction with shared memory and barriers equals the CPU's [A7]", reduction),
        api_test("histograms with global and shared atomics equal the CPU's [A7]", histograms),
        api_test("a 2-D filter equals the CPU's [A6]", filter),
        api_test("nested divergence gives each thread its own result [E4]", divergence),
        api_test("special registers tell each thread who it is [A7]", special_registers),
        api_test("local and shared memory through unified addresses [A7]", local_memory),
        api_test("every CTA runs exactly once, atomics lose nothing [A6, A7]", threads_atomics),
        api_test("descriptors run from VRAM and system memory, from a copy [A11]", tmd_anywhere),
        api_test("tasks of a stream run one after the other [B2, B5]", stream_order),
        api_test("tasks of different streams run at once [A8, B2]", streams_run_at_once),
        api_test("more streams than a context begins with keep their order [B3]", streams_in_order),
        api_test("a stream that waits holds up none of a hundred others [B2 B3]", streams_hold_up_nobody),
        api_test("there are as many streams as memory allows [B3]", as_many_streams_as_there_are),
        api_test("wait for idle covers tasks and their memory [C8]", idle_covers_tasks),
        api_test("a semaphore released by a thread wakes a channel [C8]", thread_releases),
        api_test("kernel faults are named, other channels go on [A9][E7]", kernels_fault),
        api_test("a start request for no task is reported [B1]", start_request),
        api_test("a fault names warp, lanes, address and instruction [A9]", fault_is_precise),
        api_test("the watchdog stops an endless kernel [A3]", watchdog),
        api_test("an endless kernel can be reset and destroyed away [A3]", endless),
        api_test("a barrier over a co-resident grid", grid_barrier),
        api_test("a co-resident grid that does not fit is refused [A11]", grid_too_large_for_once),
        api_test("bad launch arguments are refused by the library", launch_arguments),
    };

    return cmocka_run_group_tests(tests, api_machine_setup, api_machine_teardown);
}
