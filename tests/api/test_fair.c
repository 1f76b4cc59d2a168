/* SPDX-License-Identifier: MIT */
/*
 * Tests one context beside another that can neither starve nor harm it. An empty kernel runs beside programs that take
 * all they can get. Shares of SM time are measured, and CTAs are taken off their SMs and come back.
 */
#include "tests/api/api.h"
#include "tests/api/hostile.h"

#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "ppu/taskq.h"
#include "runtime/context.h"
#include "runtime/deadline.h"
#include "runtime/taskq.h"

#define SOON_NS (4000ull * NS_PER_MS) /* far below the time limit of whoever holds the SMs, far above what it takes */
#define FEED_LIMIT_NS (200ull * NS_PER_MS)

/* The other context, whose work must not suffer. */
struct victim {
    struct ppu_context *context;
    struct ppu_channel *channel;
    struct ppu_stream *stream;
};

static struct victim victim_open(struct api *api)
{
    struct victim victim = { 0 };

    check(ppu_context_create(api->device, &victim.context));
    check(ppu_channel_create(victim.context, NULL, &victim.channel));
    check(ppu_stream_create(victim.channel, &victim.stream));
    return victim;
}

static void victim_close(const struct victim *victim, uint32_t programs)
{
    check(ppu_channel_destroy(victim->channel));
    check(ppu_stream_destroy(victim->stream));
    api_forget_programs(programs);
    check(ppu_context_destroy(victim->context));
}

static enum ppu_err run(const struct victim *victim, const struct ppu_kernel *kernel, uint64_t *took_ns)
{
    const struct ppu_launch launch = { .grid = { 1 }, .cta = { 1 } };
    struct ppu_event event;
    uint64_t begin = clock_ns();

    check(ppu_stream_launch(victim->stream, kernel, &launch, &event));
    enum ppu_err err = ppu_event_wait(&event, SOON_NS);
    *took_ns = clock_ns() - begin;
    return err;
}

/* The test's own context is where hostile programs run; its teardown destroys what a failed test has left. */
static struct hostile_run hostile_begin(struct api *api)
{
    const char *folder = getenv("PPU_KERNELS");
    struct hostile_run run = { .context = api->context, .channel = api->channel, .stream = api->stream };
    struct ppu_error error;

    if (hostile_load(&run, folder ? folder : "build/kernels", &error) != PPU_OK) {
        fail_msg("%s", error.text);
    }
    return run;
}

static void hostile_end(struct hostile_run *run)
{
    check(hostile_stop(run));
    check(hostile_unload(run));
}

/* ---- tests ---- */

static void beside(struct api *api, const struct hostile *hostile)
{
    const struct victim victim = victim_open(api);
    const struct ppu_kernel *nothing = api_kernel(api, victim.context, "fair", "nothing");
    struct hostile_run hostiles_run = hostile_begin(api);
    uint64_t alone = 0, worst = 0, took = 0;

    assert_int_equal(run(&victim, nothing, &alone), PPU_OK);
    check(hostile->start(&hostiles_run));
    sleep_ns(100 * NS_PER_MS);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(run(&victim, nothing, &took), PPU_OK);
        worst = PPU_MAX(took, worst);
        sleep_ns(5 * NS_PER_MS);
    }
    print_message("# %s: %.2f ms, alone %.2f ms\n", hostile->name, (double)worst / 1e6, (double)alone / 1e6);
    hostile_end(&hostiles_run);
    victim_close(&victim, 1);
}

static void empty_kernels(void **state)
{
    for (uint32_t i = 0; i < hostiles_count; i++) {
        beside(*state, &hostiles[i]);
    }
}

/* It tells of entries without an end; none of its CTAs ends, so that it gains no time by that. */
static void self_feeding_is_stopped(void **state)
{
    struct api *api = *state;
    const struct victim victim = victim_open(api);
    const struct ppu_kernel *nothing = api_kernel(api, victim.context, "fair", "nothing");
    struct hostile_run hostile = hostile_begin(api);
    struct ppu_event event;
    struct ppu_error error;
    uint64_t took = 0;

    check(hostile_self_feeding(&hostile, FEED_LIMIT_NS, &event));
    assert_int_equal(run(&victim, nothing, &took), PPU_OK);
    assert_int_equal(ppu_event_wait(&event, LONG_NS), PPU_ERR_TIMEOUT);
    ppu_channel_error(api->channel, &error);
    assert_int_equal(error.record.code, PPU_FAULT_WATCHDOG);
    assert_int_equal(error.record.address, FEED_LIMIT_NS);
    assert_int_equal(run(&victim, nothing, &took), PPU_OK);
    hostile_end(&hostile);
    victim_close(&victim, 1);
}

#define SHARE_US 300000u
#define WINDOW_US 800000u              /* of the SMs' time, in which shares are measured */
#define SHARE_NS (6000ull * NS_PER_MS) /* below the time limit of those who want everything */

/* What an SM has spent is charged when it has other CTAs, or now and then: until then it has time of before on it. */
static void wait_charged(struct api *api, uint32_t context)
{
    const uint64_t end = clock_ns() + SHARE_NS;
    const uint32_t begin = (uint32_t)api_query(api, PPU_KEY_CONTEXT_TIME_US, context);

    while (clock_ns() < end && (uint32_t)api_query(api, PPU_KEY_CONTEXT_TIME_US, context) - begin < SHARE_US / 2) {
        sleep_ns(20 * NS_PER_MS);
    }
}

/* What the context has of so much time of the SMs, in which both have work. */
static double part_of(struct api *api, uint32_t one, uint32_t other)
{
    const uint32_t of[2] = { one, other };
    const uint64_t end = clock_ns() + SHARE_NS;
    uint32_t begin[2], had[2] = { 0, 0 };

    for (uint32_t i = 0; i < 2; i++) {
        begin[i] = (uint32_t)api_query(api, PPU_KEY_CONTEXT_TIME_US, of[i]);
    }
    while (had[0] + had[1] < WINDOW_US && clock_ns() < end) {
        sleep_ns(20 * NS_PER_MS);
        for (uint32_t i = 0; i < 2; i++) {
            had[i] = (uint32_t)api_query(api, PPU_KEY_CONTEXT_TIME_US, of[i]) - begin[i];
        }
    }
    assert_true(had[0] + had[1] >= WINDOW_US);
    return (double)had[0] / (double)(had[0] + had[1]);
}

/* Waits until the context has had some time: it has begun. */
static void wait_begun(struct api *api, uint32_t context)
{
    const uint32_t begin = (uint32_t)api_query(api, PPU_KEY_CONTEXT_TIME_US, context);
    const uint64_t end = clock_ns() + LONG_NS;

    while ((uint32_t)api_query(api, PPU_KEY_CONTEXT_TIME_US, context) - begin < 20000 && clock_ns() < end) {
        sleep_ns(5 * NS_PER_MS);
    }
}

/* One task against many, of CTAs that fit side by side, and of those that fill an SM. */
static void shares(void **state)
{
    static const struct {
        enum ppu_err (*start)(struct hostile_run *run);
        const char *kernel;
        uint32_t threads;
    } rows[] = { { hostile_task_flood, "endless", 64 },
                 { hostile_task_flood, "endless_wide", 128 },
                 { hostile_endless_wide, "endless_wide", 128 } };
    struct api *api = *state;

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(rows); i++) {
        const struct victim victim = victim_open(api);
        const struct ppu_launch launch = { .grid = { 100 }, .cta = { rows[i].threads } };

        struct hostile_run hostile = hostile_begin(api);
        check(rows[i].start(&hostile));
        wait_begun(api, ppu_context_id(api->context));
        check(ppu_stream_launch(victim.stream, api_kernel(api, victim.context, "fair", rows[i].kernel), &launch, NULL));
        wait_begun(api, ppu_context_id(victim.context));
        wait_charged(api, ppu_context_id(victim.context));
        double part = part_of(api, ppu_context_id(victim.context), ppu_context_id(api->context));
        print_message("# row %u: the smaller has %.3f of the time\n", i, part);
        assert_true(part >= 0.4);
        hostile_end(&hostile);
        check(ppu_channel_reset(victim.channel));
        victim_close(&victim, 1);
    }
}

#define WALK_CTAS 96u
#define WALK_THREADS (WALK_CTAS * 64u)
#define WALK_STEPS 300u

static uint32_t walk_begin(uint32_t thread)
{
    return thread * 2654435761u + 12345u;
}

/* Threads of a pair see each other's value at each step. */
static void walk_expected(uint32_t pair, uint32_t value[2])
{
    value[0] = walk_begin(2 * pair);
    value[1] = walk_begin(2 * pair + 1);
    for (uint32_t step = 0; step < WALK_STEPS; step++) {
        const uint32_t old[2] = { value[0], value[1] };
        value[0] = (old[0] * 1664525u + 1013904223u) ^ old[1];
        value[1] = (old[1] * 1664525u + 1013904223u) ^ old[0];
    }
}

static void assert_walked(const struct ppu_memory *memory)
{
    for (uint32_t pair = 0; pair < WALK_THREADS / 2; pair++) {
        uint32_t value[2];

        walk_expected(pair, value);
        assert_int_equal(api_word(memory, 8ull * pair), value[0]);
        assert_int_equal(api_word(memory, 8ull * pair + 4), value[1]);
    }
}

static void launch_walk(struct api *api, const struct ppu_memory *memory, struct ppu_event *event)
{
    const struct {
        uint64_t out;
        uint32_t steps, zero;
    } params = { api_va(api, memory), WALK_STEPS, 0 };
    const struct ppu_launch launch = {
        .grid = { WALK_CTAS }, .cta = { 64 }, .params = &params, .param_bytes = sizeof(params)
    };

    check(ppu_stream_launch(api->stream, api_kernel(api, api->context, "fair", "walk"), &launch, event));
}

static uint32_t taken_off(struct api *api, uint32_t from)
{
    struct ppu_trace_record records[64];
    uint32_t count, found = 0;

    while ((count = ppu_trace_read(api->device, PPU_TRACE_OF_DEVICE, &from, records, 64)) != 0) {
        for (uint32_t i = 0; i < count; i++) {
            found += records[i].type == PPU_TRACE_CTA_SAVE;
        }
    }
    return found;
}

/* Another context's CTAs fill SMs again and again; what they displace goes on as if nothing had been. */
static void displaced_and_back(void **state)
{
    struct api *api = *state;
    const struct victim victim = victim_open(api);
    const struct ppu_kernel *wide = api_kernel(api, victim.context, "fair", "endless_wide");
    const struct ppu_launch all = { .grid = { 100 }, .cta = { 128 } };
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, WALK_THREADS * 4);
    uint32_t off = 0;

    for (uint32_t round = 0; round < api_rounds(6); round++) {
        uint32_t from = ppu_trace_next(api->device, PPU_TRACE_OF_DEVICE);
        struct ppu_event event;

        memset(ppu_memory_host(memory), 0, WALK_THREADS * 4);
        launch_walk(api, memory, &event);
        while (!ppu_event_done(&event)) {
            check(ppu_stream_launch(victim.stream, wide, &all, NULL));
            sleep_ns(8 * NS_PER_MS);
            check(ppu_channel_reset(victim.channel));
        }
        check(ppu_event_wait(&event, LONG_NS));
        assert_walked(memory);
        off += taken_off(api, from);
    }
    print_message("# %u CTAs were taken off\n", off);
    assert_true(off != 0);
    victim_close(&victim, 2);
}

/* Whoever is off its SMs is killed, and its context ends. */
static void ended_while_off(void **state)
{
    struct api *api = *state;

    for (uint32_t round = 0; round < api_rounds(5); round++) {
        const struct victim victim = victim_open(api);
        const struct ppu_launch all = { .grid = { 100 }, .cta = { 128 } };
        struct hostile_run hostile = hostile_begin(api);

        check(ppu_stream_launch(victim.stream, api_kernel(api, victim.context, "fair", "endless_wide"), &all, NULL));
        sleep_ns(3 * NS_PER_MS);
        check(hostile_endless_wide(&hostile));
        sleep_ns((round + 1) * 2 * NS_PER_MS);
        check(ppu_channel_reset(victim.channel));
        victim_close(&victim, 1);
        hostile_end(&hostile);
    }
}

/* The machine is stopped, saved and loaded while CTAs are off their SMs. */
static void reloaded_while_off(void **state)
{
    struct api *api = *state;
    const struct victim victim = victim_open(api);
    const struct ppu_kernel *wide = api_kernel(api, victim.context, "fair", "endless_wide");
    const struct ppu_launch all = { .grid = { 100 }, .cta = { 128 } };
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, WALK_THREADS * 4);
    struct ppu_event event;

    launch_walk(api, memory, &event);
    check(ppu_stream_launch(victim.stream, wide, &all, NULL));
    for (uint32_t i = 0; i < 10 && !ppu_event_done(&event); i++) {
        const char *why = NULL;

        sleep_ns(3 * NS_PER_MS);
        if (!machine_pause()) {
            break;
        }
        if (!machine_reload(&why)) {
            fail_msg("%s", why ? why : "not reloaded");
        }
        machine_resume();
    }
    check(ppu_channel_reset(victim.channel));
    check(ppu_event_wait(&event, LONG_NS));
    assert_walked(memory);
    victim_close(&victim, 2);
}

static void quotas(void **state)
{
    struct api *api = *state;
    const uint32_t tasks = PPU_RESOURCE_OBJECT(ppu_context_id(api->context), PPU_RESOURCE_TASKS);
    const uint32_t queues = PPU_RESOURCE_OBJECT(ppu_context_id(api->context), PPU_RESOURCE_TASKQS);
    const struct ppu_taskq_options options = { .data_bytes = 16 };
    struct ppu_taskq *queue = NULL, *more = NULL;

    assert_int_equal(api_query(api, PPU_KEY_CONTEXT_QUOTA, tasks), api_query(api, PPU_KEY_TASKS_TOTAL, 0));
    assert_int_equal(ppu_context_quota(api->context, PPU_RESOURCE_TASKS, 0), PPU_ERR_BAD_ARG);
    check(ppu_context_quota(api->context, PPU_RESOURCE_TASKQS, 1));
    assert_int_equal(api_query(api, PPU_KEY_CONTEXT_QUOTA, queues), 1);
    check(ppu_taskq_create(api->context, &options, &queue));
    assert_int_equal(ppu_taskq_create(api->context, &options, &more), PPU_ERR_NO_RESOURCE);
    assert_int_equal(api_query(api, PPU_KEY_CONTEXT_HELD, queues), 1);
    check(ppu_taskq_destroy(queue));
    assert_int_equal(api_query(api, PPU_KEY_CONTEXT_HELD, queues), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        api_test("an empty kernel ends soon beside whatever another context does [A8]", empty_kernels),
        api_test("a queue task that feeds itself for ever is stopped by its watchdog [A6 A8]", self_feeding_is_stopped),
        api_test("two contexts that want everything share the time of the SMs [A8]", shares),
        api_test("CTAs that another context displaces come back and compute the same [A14]", displaced_and_back),
        api_test("CTAs that are off their SMs can be ended, and their context closed", ended_while_off),
        api_test("a snapshot holds CTAs that are off their SMs", reloaded_while_off),
        api_test("quotas of a context are set and read", quotas),
    };
    return cmocka_run_group_tests_name("contexts beside each other", tests, api_machine_setup, api_machine_teardown);
}
