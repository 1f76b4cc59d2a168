/* SPDX-License-Identifier: MIT */
/* Tests several threads of the host, machines of several sizes, and stops and snapshots in the middle of work. */
#include "tests/api/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "runtime/deadline.h"

#define THREADS 4

static ppu_va_t at(uint64_t va)
{
    return (ppu_va_t){ va };
}

struct worker {
    struct api *api;
    struct ppu_context *context;
    struct ppu_channel *channel;
    uint32_t number;
    uint32_t rounds;
    enum ppu_err err;
    bool wrong;
};

/* Launches and copies on a stream of its own and looks at the results; the first error ends it. */
static enum ppu_err work(struct worker *worker, struct ppu_stream *stream, const struct ppu_kernel *kernel,
                         struct ppu_memory *memory)
{
    const uint64_t va = ppu_memory_va(memory, worker->context).va;
    enum ppu_err err = PPU_OK;

    for (uint32_t i = 1; i <= worker->rounds && err == PPU_OK; i++) {
        const uint64_t params[] = { va, va + 1024 };
        const struct ppu_launch launch = {
            .grid = { 2, 1, 1 },
            .cta = { 40, 1, 1 },
            .params = params,
            .param_bytes = sizeof(params),
        };
        struct ppu_event event;
        err = ppu_stream_launch(stream, kernel, &launch, NULL);
        if (err == PPU_OK) {
            err = ppu_stream_copy(stream, at(va + 512), at(va), 4, &event);
        }
        if (err == PPU_OK) {
            err = ppu_event_wait(&event, LONG_NS);
        }
        worker->wrong |= api_word(memory, 512) != 80 * i;
    }
    return err;
}

static void *worker_main(void *opaque)
{
    struct worker *worker = opaque;
    const char *folder = getenv("PPU_KERNELS");
    const struct ppu_kernel *kernel = NULL;
    struct ppu_program *program = NULL;
    struct ppu_memory *memory = NULL;
    struct ppu_stream *stream = NULL;
    char path[256];

    snprintf(path, sizeof(path), "%s/counter.ppu", folder ? folder : "build/kernels");
    worker->err = ppu_program_load_file(worker->context, path, &program, NULL);
    if (worker->err == PPU_OK) {
        worker->err = ppu_kernel_find(program, "counter", &kernel);
    }
    if (worker->err == PPU_OK) {
        worker->err = ppu_memory_create(worker->context, PPU_MEMORY_VRAM, PPU_PAGE_64K, &memory);
    }
    if (worker->err == PPU_OK) {
        worker->err = ppu_stream_create(worker->channel, &stream);
    }
    if (worker->err == PPU_OK) {
        worker->err = work(worker, stream, kernel, memory);
    }
    ppu_stream_destroy(stream);
    ppu_memory_free(memory);
    ppu_program_unload(program);
    return NULL;
}

static void run_workers(struct worker *worker)
{
    pthread_t thread[THREADS];

    for (uint32_t i = 0; i < THREADS; i++) {
        worker[i].number = i;
        worker[i].rounds = machine_is_slow() ? 40 : 100;
        assert_int_equal(pthread_create(&thread[i], NULL, worker_main, &worker[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(worker[i].err, PPU_OK);
        assert_false(worker[i].wrong);
    }
}

static void channel_each(void **state)
{
    struct api *api = *state;
    struct worker worker[THREADS];

    for (uint32_t i = 0; i < THREADS; i++) {
        worker[i] = (struct worker){ .api = api };
        check(ppu_context_create(api->device, &worker[i].context));
        check(ppu_channel_create(worker[i].context, NULL, &worker[i].channel));
    }
    run_workers(worker);
    for (uint32_t i = 0; i < THREADS; i++) {
        check(ppu_channel_destroy(worker[i].channel));
        check(ppu_context_destroy(worker[i].context));
    }
}

static void one_channel(void **state)
{
    struct api *api = *state;
    struct worker worker[THREADS];

    for (uint32_t i = 0; i < THREADS; i++) {
        worker[i] = (struct worker){ .api = api, .context = api->context, .channel = api->channel };
    }
    run_workers(worker);
}

/* Create and destroy from several threads at once. */
static void *churn_main(void *opaque)
{
    struct worker *worker = opaque;

    for (uint32_t i = 0; i < worker->rounds && worker->err == PPU_OK; i++) {
        struct ppu_context *context = NULL;
        struct ppu_channel *channel = NULL;
        worker->err = ppu_context_create(worker->api->device, &context);
        if (worker->err == PPU_OK) {
            worker->err = ppu_channel_create(context, NULL, &channel);
        }
        if (worker->err == PPU_OK) {
            worker->err = api_finish(channel);
        }
        ppu_channel_destroy(channel);
        ppu_context_destroy(context);
    }
    return NULL;
}

static void churn(void **state)
{
    struct worker worker[THREADS];
    pthread_t thread[THREADS];

    for (uint32_t i = 0; i < THREADS; i++) {
        worker[i] = (struct worker){ .api = *state, .rounds = 20 };
        assert_int_equal(pthread_create(&thread[i], NULL, churn_main, &worker[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(worker[i].err, PPU_OK);
    }
}

/* ---- machines of other sizes ---- */

struct mix_params {
    uint64_t in, out;
    uint32_t width, height;
};

/* Results of a filter and of a histogram: the same bytes whatever ran them. */
static void run_mix(struct ppu_transport *transport, uint8_t *result)
{
    struct api *api = api_open(transport, 0);
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 2 * PPU_PAGE_64K);
    const uint64_t va = api_va(api, memory);
    const struct mix_params filter = { va, va + 8192, 90, 90 };
    const struct mix_params histogram = { va + 8192 * 2, va + 65536, 8100, 0 };
    const struct ppu_launch launch = {
        .grid = { 6, 12, 1 },
        .cta = { 16, 8, 1 },
        .params = &filter,
        .param_bytes = sizeof(filter),
    };
    uint8_t *host = ppu_memory_host(memory);
    uint64_t random = 11;
    struct ppu_event event;

    for (int i = 0; i < 8100; i++) {
        host[i] = (uint8_t)api_random(&random);
        host[8192 * 2 + i] = host[i];
    }
    check(ppu_stream_launch(api->stream, api_kernel(api, api->context, "filter2d", "filter2d"), &launch, &event));
    check(ppu_event_wait(&event, LONG_NS));
    const struct ppu_kernel *count = api_kernel(api, api->context, "histogram", "histogram_shared");
    check(api_run(api, count, 34, 240, &histogram, sizeof(histogram)));
    memcpy(result, host + 8192, 8192);
    memcpy(result + 8192, host + 65536, 1024);
    api_close(api);
}

/* The number of SMs, of their threads, and of slots changes nothing. */
static void machine_sizes(void **state)
{
    static const struct machine_config machines[] = {
        { .sms = 1 },
        { .sms = 1, .sm_threads = 1, .slots = 1 },
        { .sms = 8, .sm_threads = 3 },
        { .sms = 3, .sm_threads = 2, .slots = 2 },
    };
    static uint8_t first[9216], other[9216];

    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(machines); i++) {
        run_mix(machine_start(&machines[i]), i == 0 ? first : other);
        machine_stop();
        assert_true(i == 0 || memcmp(first, other, sizeof(first)) == 0);
    }
}

/* ---- stops and snapshots in the middle of a kernel ---- */

static void pause_and_reload(void **state)
{
    struct api *api = *state;
    const struct ppu_kernel *kernel = api_kernel(api, api->context, "spin", "spin_count");
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, PPU_PAGE_64K);
    const uint64_t params[] = { 3000, api_va(api, memory) };
    const struct ppu_launch launch = {
        .grid = { 60, 1, 1 },
        .cta = { 64, 1, 1 },
        .params = params,
        .param_bytes = sizeof(params),
    };
    const char *why = NULL;
    struct ppu_event event;

    check(ppu_stream_launch(api->stream, kernel, &launch, &event));
    for (int i = 0; i < 12; i++) {
        sleep_ns(2 * NS_PER_MS);
        if (!machine_pause()) {
            skip();
        }
        uint32_t before = api_word(memory, 0);
        if (i % 2 == 0 && !machine_reload(&why)) {
            machine_resume();
            fail_msg("the snapshot does not load: %s", why);
        }
        sleep_ns(NS_PER_MS);
        assert_int_equal(api_word(memory, 0), before);
        machine_resume();
    }
    check(ppu_event_wait(&event, LONG_NS));
    assert_int_equal(api_word(memory, 0), 60);
}

int main(void)
{
    const struct CMUnitTest sizes[] = {
        { "results do not depend on SMs, threads or slots [A14, A5]", machine_sizes, NULL, NULL, NULL },
    };
    const struct CMUnitTest tests[] = {
        api_test("threads with a context and channel each [A3]", channel_each),
        api_test("threads on one channel [A3]", one_channel),
        api_test("threads that create and destroy objects [A9]", churn),
        api_test("stopped and reloaded in the middle of a kernel [A5]", pause_and_reload),
    };
    int failed = cmocka_run_group_tests(sizes, NULL, NULL);

    return failed + cmocka_run_group_tests(tests, api_machine_setup, api_machine_teardown);
}
