/* SPDX-License-Identifier: MIT */
/*
 * Tests priorities of one context's tasks on SMs that are full. Urgent tasks get places, tasks that were taken off go
 * on as if nothing had been, and tasks that were passed over have a turn.
 */
#include "tests/api/api.h"

#include <stdio.h>
#include <string.h>

#include "ppu/macros.h"
#include "runtime/deadline.h"

#define SOON_NS (4000ull * NS_PER_MS) /* far above what it takes */
#define URGENT (PPU_PRIORITIES - 1u)
#define MIDDLE 4u

/* The kernels of fair.s in the test's context. */
static struct {
    const struct ppu_kernel *endless, *wide, *sections, *loads, *nothing, *walk;
} fair;

static void fair_load(struct api *api)
{
    fair.endless = api_kernel(api, api->context, "fair", "endless");
    fair.wide = api_kernel(api, api->context, "fair", "endless_wide");
    fair.sections = api_kernel(api, api->context, "fair", "endless_sections");
    fair.loads = api_kernel(api, api->context, "fair", "endless_loads");
    fair.nothing = api_kernel(api, api->context, "fair", "nothing");
    fair.walk = api_kernel(api, api->context, "fair", "walk");
}

/* A channel whose tasks have one priority. */
struct level {
    struct ppu_channel *channel;
    struct ppu_stream *stream;
    uint32_t priority;
};

static struct level level_open(struct api *api, uint32_t priority)
{
    struct level level = { .priority = priority };

    check(ppu_channel_create(api->context, &(struct ppu_channel_options){ .priority = priority }, &level.channel));
    check(ppu_stream_create(level.channel, &level.stream));
    return level;
}

static void level_close(const struct level *level)
{
    check(ppu_channel_destroy(level->channel));
    check(ppu_stream_destroy(level->stream));
}

static void launch(const struct level *level, const struct ppu_kernel *kernel, uint32_t ctas, uint32_t threads,
                   struct ppu_event *event)
{
    const struct ppu_launch all = { .grid = { ctas }, .cta = { threads }, .priority = level->priority };

    check(ppu_stream_launch(level->stream, kernel, &all, event));
}

/* ---- an urgent kernel beside what fills all SMs ---- */

static void endless(struct api *api, const struct level *level)
{
    (void)api;
    launch(level, fair.endless, 1000, 64, NULL);
}

static void endless_wide(struct api *api, const struct level *level)
{
    (void)api;
    launch(level, fair.wide, 100, 128, NULL);
}

static void endless_sections(struct api *api, const struct level *level)
{
    (void)api;
    launch(level, fair.sections, 1000, 64, NULL);
}

static void endless_gang(struct api *api, const struct level *level)
{
    (void)api;
    const struct ppu_launch all = { .grid = { 4 }, .cta = { 128 }, .coresident = true, .priority = level->priority };

    check(ppu_stream_launch(level->stream, fair.wide, &all, NULL));
}

static void endless_loads(struct api *api, const struct level *level)
{
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_SYSTEM, 4096);
    const uint64_t va = api_va(api, memory);
    const struct ppu_launch all = {
        .grid = { 1000 }, .cta = { 64 }, .params = &va, .param_bytes = 8, .priority = level->priority
    };

    check(ppu_stream_launch(level->stream, fair.loads, &all, NULL));
}

static const struct filler {
    const char *name;
    void (*start)(struct api *api, const struct level *level);
} fillers[] = {
    { "endless kernels", endless },
    { "CTAs that fill an SM each", endless_wide },
    { "a co-resident grid", endless_gang },
    { "critical sections without end", endless_sections },
    { "loads of system memory without end", endless_loads },
};

static void urgent_kernels(void **state)
{
    struct api *api = *state;

    fair_load(api);
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(fillers); i++) {
        const struct level low = level_open(api, 0), urgent = level_open(api, URGENT);
        uint64_t worst = 0;

        fillers[i].start(api, &low);
        sleep_ns(100 * NS_PER_MS);
        for (uint32_t n = 0; n < 5; n++) {
            struct ppu_event event;
            uint64_t begin_ns = clock_ns();

            launch(&urgent, fair.nothing, 1, 1, &event);
            assert_int_equal(ppu_event_wait(&event, SOON_NS), PPU_OK);
            worst = PPU_MAX(worst, clock_ns() - begin_ns);
        }
        print_message("# beside %s: %.2f ms\n", fillers[i].name, (double)worst / 1e6);
        level_close(&low);
        level_close(&urgent);
    }
}

/* ---- who is taken off goes on ---- */

#define WALK_CTAS 96u
#define WALK_THREADS (WALK_CTAS * 64u)
#define WALK_STEPS 300u

static void launch_walk(struct api *api, const struct level *level, const struct ppu_memory *memory,
                        struct ppu_event *event)
{
    const struct {
        uint64_t out;
        uint32_t steps, zero;
    } params = { api_va(api, memory), WALK_STEPS, 0 };
    const struct ppu_launch walk = { .grid = { WALK_CTAS },
                                     .cta = { 64 },
                                     .params = &params,
                                     .param_bytes = sizeof(params),
                                     .priority = level->priority };

    check(ppu_stream_launch(level->stream, fair.walk, &walk, event));
}

/* As one walk that nobody disturbed found it. */
static void assert_walked(const struct ppu_memory *memory, const struct ppu_memory *expected)
{
    assert_memory_equal(ppu_memory_host(memory), ppu_memory_host(expected), WALK_THREADS * 4);
}

static struct ppu_memory *undisturbed_walk(struct api *api, const struct level *level)
{
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, WALK_THREADS * 4);
    struct ppu_event event;

    launch_walk(api, level, memory, &event);
    check(ppu_event_wait(&event, LONG_NS));
    return memory;
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

/* Urgent CTAs of whole SMs come and go, of two levels, while `event` is not done; the machine is reloaded meanwhile. */
static void disturb(struct api *api, const struct level *middle, const struct level *urgent,
                    const struct ppu_event *event, bool reload)
{
    while (!ppu_event_done(event)) {
        const char *why = NULL;

        endless_wide(api, middle);
        sleep_ns(4 * NS_PER_MS);
        endless_wide(api, urgent);
        sleep_ns(4 * NS_PER_MS);
        if (reload && machine_pause()) {
            if (!machine_reload(&why)) {
                fail_msg("%s", why ? why : "not reloaded");
            }
            machine_resume();
        }
        check(ppu_channel_reset(urgent->channel));
        check(ppu_channel_reset(middle->channel));
        sleep_ns(2 * NS_PER_MS);
    }
}

static void walk_disturbed(struct api *api, uint32_t rounds, bool reload)
{
    fair_load(api);
    const struct level low = level_open(api, 0), middle = level_open(api, MIDDLE), urgent = level_open(api, URGENT);
    const struct ppu_memory *expected = undisturbed_walk(api, &low);
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, WALK_THREADS * 4);
    uint32_t off = 0;

    for (uint32_t round = 0; round < rounds; round++) {
        uint32_t from = ppu_trace_next(api->device, PPU_TRACE_OF_DEVICE);
        struct ppu_event event;

        memset(ppu_memory_host(memory), 0, WALK_THREADS * 4);
        launch_walk(api, &low, memory, &event);
        disturb(api, &middle, &urgent, &event, reload);
        check(ppu_event_wait(&event, LONG_NS));
        assert_walked(memory, expected);
        off += taken_off(api, from);
    }
    print_message("# %u CTAs were taken off\n", off);
    assert_true(off != 0 || reload);
    level_close(&low);
    level_close(&middle);
    level_close(&urgent);
}

static void displaced_and_back(void **state)
{
    walk_disturbed(*state, api_rounds(4), false);
}

static void reloaded(void **state)
{
    walk_disturbed(*state, api_rounds(2), true);
}

/* ---- places of the task's own ---- */

#define WORK_CTAS 8u
#define WORK_THREADS (WORK_CTAS * 64u)
#define WORK_TURNS 3000u
#define WORK_MOST_TURNS (WORK_TURNS << 8)

/*
 * A grid whose CTAs have places that they are saved in, all of them on SMs at once (tests/kernels/save.s), so many
 * turns long; returns how many CTAs were taken off.
 */
static uint32_t work_disturbed(struct api *api, const struct level level[3], struct ppu_memory *memory, uint32_t turns)
{
    const uint64_t va = api_va(api, memory);
    const uint64_t params[] = { va, va + 4ull * WORK_THREADS, turns };
    const struct ppu_launch work = {
        .grid = { WORK_CTAS }, .cta = { 64 }, .params = params, .param_bytes = sizeof(params)
    };
    const uint32_t from = ppu_trace_next(api->device, PPU_TRACE_OF_DEVICE);
    struct ppu_event event;

    memset(ppu_memory_host(memory), 0, 4ull * (WORK_THREADS + 1));
    check(ppu_stream_launch(level[0].stream, api_kernel(api, api->context, "save", "works_saved"), &work, &event));
    disturb(api, &level[1], &level[2], &event, false);
    check(ppu_event_wait(&event, LONG_NS));
    assert_int_equal(api_word(memory, 4ull * WORK_THREADS), WORK_THREADS);
    for (uint32_t i = 0; i < WORK_THREADS; i++) {
        assert_int_equal(api_word(memory, 4ull * i), 3 * i + (i % 2 ? 10 : 1) + (i ^ 1) + i);
    }
    return taken_off(api, from);
}

/* The work is as long as it has to be on this host for urgent CTAs to find it there. */
static void own_places(void **state)
{
    struct api *api = *state;

    fair_load(api);
    check(ppu_context_nest(api->context, &(struct ppu_nest_options){ .depth = 2, .ctas = WORK_CTAS }));
    const struct level level[] = { level_open(api, 0), level_open(api, MIDDLE), level_open(api, URGENT) };
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 4 * (WORK_THREADS + 1));
    uint32_t off = 0, turns = WORK_TURNS;

    for (; off == 0 && turns <= WORK_MOST_TURNS; turns *= 2) {
        off = work_disturbed(api, level, memory, turns);
    }
    print_message("# %u CTAs were taken off, of work that took %u turns\n", off, turns / 2);
    assert_true(off != 0);
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(level); i++) {
        level_close(&level[i]);
    }
}

/* ---- who is passed over ---- */

/* Urgent threads fill all SMs and wait for one that is not. */
static void spinners_wait_below(void **state)
{
    struct api *api = *state;
    const struct level low = level_open(api, 0), urgent = level_open(api, URGENT);
    struct ppu_memory *gate = api_memory(api, PPU_MEMORY_VRAM, 4096);
    const uint64_t params[] = { api_va(api, gate), api_va(api, gate) + 64 };
    const struct ppu_launch spin = {
        .grid = { 1000 }, .cta = { 64 }, .params = params, .param_bytes = 8, .priority = URGENT
    };
    const struct ppu_launch setter = { .grid = { 1 }, .cta = { 1 }, .params = params, .param_bytes = sizeof(params) };
    struct ppu_event waited, set;

    check(ppu_stream_launch(urgent.stream, api_kernel(api, api->context, "spin", "spin_until"), &spin, &waited));
    sleep_ns(50 * NS_PER_MS);
    check(ppu_stream_launch(low.stream, api_kernel(api, api->context, "counter", "counter"), &setter, &set));
    assert_int_equal(ppu_event_wait(&set, SOON_NS), PPU_OK);
    assert_int_equal(ppu_event_wait(&waited, LONG_NS), PPU_OK);
    level_close(&low);
    level_close(&urgent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        api_test("an urgent kernel runs beside what fills all SMs for ever [A3] [A4] [A5]", urgent_kernels),
        api_test("CTAs that were taken off for urgent ones go on [A5]", displaced_and_back),
        api_test("those of a task with places of its own do, too [A5]", own_places),
        api_test("a machine with such CTAs is saved and loaded [A5]", reloaded),
        api_test("urgent threads that wait for one that is not [A4]", spinners_wait_below),
    };

    return cmocka_run_group_tests_name("api: priorities", tests, api_machine_setup, api_machine_teardown);
}
