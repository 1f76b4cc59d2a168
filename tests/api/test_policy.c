/* SPDX-License-Identifier: MIT */
/* Tests the scheduler's policies through the library: children inherit or do not, and grids give way. */
#include "tests/api/api.h"

#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "ppu/nest.h"
#include "ppu/slots.h"
#include "ppu/tmd.h"
#include "runtime/deadline.h"

enum { TMD_AT = 0, COUNTERS_AT = 256, CELL_AT = 320 };

#define SCRATCH_BYTES ((1024u + PPU_NEST_MAX_TASKS) * 128u)
#define PARENT_PRIORITY 5u
#define CHILDREN 6u

struct tree_params {
    uint64_t tmd, counters, scratch;
    uint32_t level, fanout;
    uint64_t cell;
    uint32_t streams, zero;
};

/* Tasks that were started with each priority since `number`. */
static void count_starts(struct api *api, uint32_t number, uint32_t starts[PPU_PRIORITIES])
{
    struct ppu_trace_record records[64];
    uint32_t count;

    while ((count = ppu_trace_read(api->device, PPU_TRACE_OF_FIRMWARE, &number, records, 64)) != 0) {
        for (uint32_t i = 0; i < count; i++) {
            if (records[i].type == PPU_TRACE_TASK_START) {
                starts[records[i].id[2] % PPU_PRIORITIES]++;
            }
        }
    }
}

/* One parent of priority 5, whose children's TMDs say 0. */
static void run_family(struct api *api, uint32_t starts[PPU_PRIORITIES])
{
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 4096);
    const struct ppu_kernel *tree = api_kernel(api, api->context, "tree", "tree");
    const struct ppu_launch child = { .grid = { 1 }, .cta = { 32 } };
    const uint64_t va = api_va(api, memory);
    const struct tree_params params = {
        .tmd = va + TMD_AT,
        .counters = va + COUNTERS_AT,
        .scratch = api_va(api, api_memory(api, PPU_MEMORY_VRAM, SCRATCH_BYTES)),
        .level = 1,
        .fanout = CHILDREN,
        .cell = va + CELL_AT,
        .streams = 4,
    };
    const struct ppu_launch parent = {
        .grid = { 1 }, .cta = { 32 }, .params = &params, .param_bytes = sizeof(params), .priority = PARENT_PRIORITY
    };
    struct ppu_channel *channel = NULL;
    struct ppu_stream *stream = NULL;
    struct ppu_event event;
    uint32_t from = ppu_trace_next(api->device, PPU_TRACE_OF_FIRMWARE);

    check(ppu_kernel_describe(tree, &child, ppu_memory_host(memory)));
    check(ppu_channel_create(api->context, &(struct ppu_channel_options){ .priority = 7 }, &channel));
    check(ppu_stream_create(channel, &stream));
    check(ppu_stream_launch(stream, tree, &parent, &event));
    check(ppu_event_wait(&event, LONG_NS));
    assert_int_equal(api_word(memory, CELL_AT), CHILDREN + 1);
    count_starts(api, from, starts);
    check(ppu_channel_destroy(channel));
    check(ppu_stream_destroy(stream));
}

static void inheritance(void **state)
{
    struct api *api = *state;

    check(ppu_context_nest(api->context, NULL));
    for (uint32_t inherit = 0; inherit < 2; inherit++) {
        uint32_t starts[PPU_PRIORITIES] = { 0 };
        check(ppu_device_policy(api->device, PPU_POLICY_INHERIT, inherit));
        assert_int_equal(api_query(api, PPU_KEY_POLICY, PPU_POLICY_INHERIT), inherit);
        run_family(api, starts);
        assert_int_equal(starts[0], inherit ? 0 : CHILDREN);
        /* The parent is started once more when its children have completed. */
        assert_in_range(starts[PARENT_PRIORITY], 1 + (inherit ? CHILDREN : 0), 2 + (inherit ? CHILDREN : 0));
    }
}

/* ---- time limit ---- */

/* What PPU_WATCHDOG_MS says is a policy of the device that is opened; what it cannot say is named. */
static void environment_limits_time(void **state)
{
    static const char *const bad[] = { "", "x", "-1", "1s", "3600001" };
    struct ppu_transport *transport = ((struct api *)*state)->transport;
    const struct ppu_device_options options = { .firmware = machine_firmware() };
    struct ppu_device *device = NULL;
    struct ppu_error error;

    assert_int_equal(api_query(*state, PPU_KEY_POLICY, PPU_POLICY_LIMIT_MS), 0);
    api_close(*state);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(bad); i++) {
        setenv("PPU_WATCHDOG_MS", bad[i], 1);
        assert_int_equal(ppu_device_open(transport, &options, &device, &error), PPU_ERR_BAD_ARG);
        assert_non_null(strstr(error.text, "PPU_WATCHDOG_MS"));
    }
    setenv("PPU_WATCHDOG_MS", "1234", 1);
    *state = api_open(transport, LONG_NS);
    unsetenv("PPU_WATCHDOG_MS");
    assert_int_equal(api_query(*state, PPU_KEY_POLICY, PPU_POLICY_LIMIT_MS), 1234);
}

/* ---- eviction ---- */

#define CTA_THREADS 64u
#define CTAS 512u /* more than have room at once */
#define THREADS (CTAS * CTA_THREADS)
#define EVICTIONS 3u
#define WORK_NS 1500000000ull
#define FEW_TURNS 20u

/* Waits until so many tasks of the most urgent priority have been started since `number`. */
static void wait_started(struct api *api, uint32_t number, uint32_t count)
{
    uint64_t deadline_ns = deadline_after(LONG_NS);
    uint32_t starts[PPU_PRIORITIES];

    do {
        assert_true(deadline_left(deadline_ns) != 0);
        memset(starts, 0, sizeof(starts));
        count_starts(api, number, starts);
    } while (starts[PPU_PRIORITIES - 1] < count);
}

/* More urgent grids take every slot, until the gate is opened. */
static void take_every_slot(struct api *api, struct ppu_channel *channel, struct ppu_stream *const *stream,
                            struct ppu_memory *gate)
{
    const uint32_t slots = ppu_device_info(api->device)->slots;
    const struct ppu_kernel *spin = api_kernel(api, api->context, "spin", "spin_until");
    const uint64_t va = api_va(api, gate);
    const struct ppu_launch launch = {
        .grid = { 1 }, .cta = { 1 }, .params = &va, .param_bytes = sizeof(va), .priority = PPU_PRIORITIES - 1
    };
    uint32_t from = ppu_trace_next(api->device, PPU_TRACE_OF_FIRMWARE);
    struct ppu_block *block = NULL;
    struct ppu_event event;

    api_set_word(gate, 0, 0);
    check(ppu_block_begin(channel, &block));
    for (uint32_t i = 0; i < slots; i++) {
        ppu_block_launch(block, stream[i], spin, &launch);
    }
    check(ppu_block_submit(block, &event));
    wait_started(api, from, slots);
    api_set_word(gate, 0, 1);
    check(ppu_event_wait(&event, LONG_NS));
    api_forget_programs(1);
}

/* Launches a grid that notices when a CTA of it does not run exactly once, or loses its state
 * (tests/kernels/save.s). */
static void launch_work(struct api *api, const char *kernel, struct ppu_memory *memory, uint64_t turns,
                        struct ppu_event *event)
{
    const uint64_t va = api_va(api, memory);
    const uint64_t params[] = { va, va + 4ull * THREADS, turns };
    const struct ppu_launch launch = {
        .grid = { CTAS }, .cta = { CTA_THREADS }, .params = params, .param_bytes = sizeof(params)
    };

    api_set_word(memory, 4ull * THREADS, 0);
    check(ppu_stream_launch(api->stream, api_kernel(api, api->context, "save", kernel), &launch, event));
}

/* Turns with which the grid takes about WORK_NS alone, however fast the machine is. */
static uint64_t turns_of_work(struct api *api, struct ppu_memory *memory)
{
    struct ppu_event event;

    launch_work(api, "works", memory, 1, &event); /* what only the first launch takes */
    check(ppu_event_wait(&event, LONG_NS));
    uint64_t begin_ns = clock_ns();
    launch_work(api, "works", memory, FEW_TURNS, &event);
    check(ppu_event_wait(&event, LONG_NS));
    uint64_t taken_ns = clock_ns() - begin_ns;
    return 1 + FEW_TURNS * WORK_NS / (taken_ns + 1);
}

static void evict(struct api *api, const char *kernel, struct ppu_channel *channel, struct ppu_stream *const *stream,
                  struct ppu_memory *memory, struct ppu_memory *gate)
{
    const uint64_t turns = turns_of_work(api, memory);
    uint32_t from = ppu_trace_next(api->device, PPU_TRACE_OF_FIRMWARE), starts[PPU_PRIORITIES] = { 0 };
    struct ppu_event event;

    launch_work(api, kernel, memory, turns, &event);
    for (uint32_t i = 0; i < EVICTIONS; i++) {
        take_every_slot(api, channel, stream, gate);
    }
    check(ppu_event_wait(&event, LONG_NS));
    count_starts(api, from, starts);
    print_message("# %s: started %u times\n", kernel, starts[0]);
    assert_true(starts[0] > 1);
    assert_int_equal(api_word(memory, 4ull * THREADS), THREADS);
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(api_word(memory, 4ull * i), 3 * i + (i % 2 ? 10 : 1) + (i ^ 1) + i);
    }
}

static void eviction(void **state)
{
    struct api *api = *state;
    const uint32_t slots = ppu_device_info(api->device)->slots;
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 4 * (THREADS + 1));
    struct ppu_memory *gate = api_memory(api, PPU_MEMORY_VRAM, 4);
    struct ppu_stream *stream[PPU_MAX_SLOTS] = { NULL };
    struct ppu_channel *channel = NULL;

    check(ppu_context_nest(api->context, &(struct ppu_nest_options){ .depth = 2, .ctas = 16 }));
    check(ppu_channel_create(api->context, &(struct ppu_channel_options){ .priority = PPU_PRIORITIES - 1 }, &channel));
    for (uint32_t i = 0; i < slots; i++) {
        check(ppu_stream_create(channel, &stream[i]));
    }
    evict(api, "works", channel, stream, memory, gate);
    evict(api, "works_saved", channel, stream, memory, gate);
    check(ppu_channel_destroy(channel));
    for (uint32_t i = 0; i < slots; i++) {
        check(ppu_stream_destroy(stream[i]));
    }
}

/* One slot is free at a time: what waits for it starts in the order of the list. */
static void head_insertion(void **state)
{
    enum { TAIL = 6, FLAGS_AT = 64, ORDER_AT = 1024, SEM_AT = 4096 };
    struct api *api = *state;
    const uint32_t slots = ppu_slots_up_to(ppu_device_info(api->device)->slots, 0);
    const struct ppu_kernel *wait = api_kernel(api, api->context, "spin", "spin_until");
    const struct ppu_kernel *count = api_kernel(api, api->context, "counter", "counter");
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 8192);
    const uint64_t va = api_va(api, memory);
    struct ppu_stream *stream[PPU_MAX_SLOTS + TAIL + 2] = { NULL };
    struct ppu_block *block = NULL;

    check(ppu_device_policy(api->device, PPU_POLICY_SLICE_US, 0)); /* those that run keep their slots */
    for (uint32_t i = 0; i < slots + TAIL + 2; i++) {
        check(ppu_stream_create(api->channel, &stream[i]));
    }
    for (uint32_t i = 0; i < slots; i++) {
        const uint64_t flag = va + FLAGS_AT + 4 * i;
        const struct ppu_launch launch = { .grid = { 1 }, .cta = { 1 }, .params = &flag, .param_bytes = sizeof(flag) };
        check(ppu_stream_launch(stream[i], wait, &launch, NULL));
    }
    check(ppu_block_begin(api->channel, &block));
    for (uint32_t i = 0; i <= TAIL + 1; i++) {
        const uint64_t params[] = { va, va + ORDER_AT + 4 * i };
        const struct ppu_launch launch = {
            .grid = { 1 }, .cta = { 1 }, .params = params, .param_bytes = sizeof(params), .head = i >= TAIL
        };
        ppu_block_launch(block, stream[slots + i], count, &launch);
    }
    ppu_block_release(block, (ppu_va_t){ va + SEM_AT }, 1, false);
    check(ppu_block_submit(block, NULL));
    assert_true(api_wait_word(memory, SEM_AT + offsetof(struct ppu_sem, payload), 1));
    assert_int_equal(api_word(memory, 0), 0);
    api_set_word(memory, FLAGS_AT, 1);
    assert_true(api_wait_word(memory, 0, TAIL + 2));
    for (uint32_t i = 1; i < slots; i++) {
        api_set_word(memory, FLAGS_AT + 4 * i, 1);
    }
    check(api_finish(api->channel));
    /* The later of those at the head is before the other. */
    assert_int_equal(api_word(memory, ORDER_AT + 4 * (TAIL + 1)), 0);
    assert_int_equal(api_word(memory, ORDER_AT + 4 * TAIL), 1);
    for (uint32_t i = 0; i < TAIL; i++) {
        assert_int_equal(api_word(memory, ORDER_AT + 4 * i), 2 + i);
    }
    for (uint32_t i = 0; i < slots + TAIL + 2; i++) {
        check(ppu_stream_destroy(stream[i]));
    }
}

static void limits(void **state)
{
    struct api *api = *state;

    assert_int_equal(ppu_device_policy(api->device, PPU_POLICY_AGE, 0), PPU_ERR_BAD_ARG);
    assert_int_equal(ppu_device_policy(api->device, PPU_POLICIES, 0), PPU_ERR_BAD_ARG);
    assert_int_equal(api_query(api, PPU_KEY_POLICY, PPU_POLICY_AGE), 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        api_test("children inherit their parent's priority, or do not [A4]", inheritance),
        api_test("a grid is evicted, drained or saved as it chose, and each CTA runs once [A5]", eviction),
        api_test("tasks inserted at the head start before those that wait [A4]", head_insertion),
        api_test("policies that cannot be [A4]", limits),
        api_test("PPU_WATCHDOG_MS limits the time of tasks, or is refused [A5]", environment_limits_time),
    };

    return cmocka_run_group_tests_name("api: policies", tests, api_machine_setup, api_machine_teardown);
}
