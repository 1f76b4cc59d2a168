/* SPDX-License-Identifier: MIT */
/*
 * Tests streams of threads and of the host: order, independence, sharing of TMDQs, and every race window of B4 and B6.
 */
#include "tests/api/script.h"

#include <string.h>

#include "ppu/macros.h"
#include "ppu/nest.h"
#include "ppu/regs.h"
#include "runtime/deadline.h"

#define STREAMS 40u /* more than there are TMDQs */
#define PLENTY 512u /* nodes of a script */
#define QUIET_NS (20 * NS_PER_MS)

/* Marks of device-lib/asm/nest.s */
enum { FILLED = 0x1001, COUNTED = 0x1002, NOT_LINKED = 0x1003, NOT_ASKED = 0x1004 };

static void open_nest(struct api *api)
{
    check(
        ppu_context_nest(api->context, &(struct ppu_nest_options){ .depth = 16, .state_bytes = 12 * 1024, .ctas = 2 }));
}

/* A script whose first node is a grid that the host launches. Returns that node. */
static uint32_t begin(struct script *script, struct api *api)
{
    open_nest(api);
    script_begin(script, api, api->context, api->channel, PLENTY);
    return script_children(script, SCRIPT_HOST, 1);
}

static void run(struct script *script)
{
    check(script_run(script, &script->api->stream));
    script_check(script);
}

/* ---- order ---- */

static void one_after_the_other(void **state)
{
    struct script script;
    uint32_t root = begin(&script, *state);
    uint32_t child = script_children(&script, root, 60);

    for (uint32_t i = 0; i < 60; i++) {
        script.node[child + i].stream = i % 3;
        script.node[child + i].turns = i % 7 == 0 ? 3000 : 0;
    }
    run(&script);
    script_end(&script);
}

/* A task counts as completed with all below it, whether it waits for that or not. */
static void after_the_subtree(void **state)
{
    struct script script;
    uint32_t root = begin(&script, *state);
    uint32_t child = script_children(&script, root, 6);

    for (uint32_t i = 0; i < 6; i++) {
        uint32_t below = script_children(&script, child + i, 4);
        script.node[child + i].waits = i % 2;
        for (uint32_t j = 0; j < 4; j++) {
            uint32_t last = script_children(&script, below + j, 1);
            script.node[below + j].stream = j;
            script.node[last].turns = 1000;
        }
    }
    run(&script);
    script_end(&script);
}

/* Tasks of other streams go on while the first of one stream waits for the last of them. */
static void streams_are_independent(void **state)
{
    struct script script;
    uint32_t root = begin(&script, *state);
    uint32_t child = script_children(&script, root, 30);

    script.node[child].awaits = script_gate(child + 29);
    script.node[child + 1].stream = 1;
    script.node[child + 1].awaits = script_gate(child + 28);
    for (uint32_t i = 2; i < 28; i++) {
        script.node[child + i].stream = i % 4; /* of the first two: behind what waits */
    }
    script.node[child + 28].stream = 2;
    script.node[child + 29].stream = 3;
    run(&script);
    script_end(&script);
}

/* The same between grids: stream 0 of one is not stream 0 of the other. */
static void streams_of_grids_are_independent(void **state)
{
    struct script script;
    uint32_t root = begin(&script, *state);
    uint32_t grid = script_children(&script, root, 2);
    uint32_t first = script_children(&script, grid, 2);
    uint32_t second = script_children(&script, grid + 1, 2);

    script.node[grid + 1].stream = 1;
    script.node[first].awaits = script_gate(second + 1);
    run(&script);
    script_end(&script);
}

/* Many threads launch into the same streams at once. */
static void launchers_at_once(void **state)
{
    struct script script;
    uint32_t root = begin(&script, *state);
    uint32_t child = script_children(&script, root, 160);

    script.plan[root] = (struct script_plan){ .ctas = 2, .threads = 4, .launches = true };
    script.node[root].waits = 1;
    for (uint32_t i = 0; i < 160; i++) {
        script.node[child + i].stream = i / 8 % 2;
    }
    for (uint32_t i = 0; i < 5; i++) {
        run(&script);
    }
    script_end(&script);
}

static void random_trees(void **state)
{
    struct script script;
    uint64_t random = api_seed();

    begin(&script, *state);
    for (uint32_t i = 0; i < api_rounds(machine_is_slow() ? 8 : 16); i++) {
        script_clear(&script);
        uint32_t root = script_children(&script, SCRIPT_HOST, 1 + api_random(&random) % 3);
        for (uint32_t j = root; j < script.node[SCRIPT_HOST].first + script.node[SCRIPT_HOST].children; j++) {
            script.node[j].waits = api_random(&random) % 2;
            script.node[j].turns = 500;
        }
        script_grow(&script, root, 40 + api_random(&random) % 100, 1u << api_random(&random) % 6, &random);
        run(&script);
    }
    script_end(&script);
}

/* ---- more streams than TMDQs ---- */

static void streams_share(void **state)
{
    struct script script;
    uint32_t root = begin(&script, *state);
    uint32_t child = script_children(&script, root, 2 * STREAMS);

    for (uint32_t i = 0; i < 2 * STREAMS; i++) {
        script.node[child + i].stream = i % STREAMS % PPU_GROUP_TMDQS;
    }
    run(&script);
    script_end(&script);
}

/* What a thread gets when it creates streams: numbers that another thread of the grid can use,
 * whatever their number. */
static void streams_are_numbers(void **state)
{
    struct api *api = *state;
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 4096);
    const uint64_t params[] = { api_va(api, memory), STREAMS };

    open_nest(api);
    check(api_run(api, api_kernel(api, api->context, "script", "streams"), 1, 1, params, sizeof(params)));
    for (uint32_t i = 0; i < STREAMS; i++) {
        assert_int_equal(api_word(memory, 4 * i), i % PPU_GROUP_TMDQS);
    }
}

static void host_streams(void **state)
{
    struct api *api = *state;
    struct ppu_stream *streams[STREAMS];
    struct script script;

    open_nest(api);
    script_begin(&script, api, api->context, api->channel, PLENTY);
    uint32_t root = script_children(&script, SCRIPT_HOST, 3 * STREAMS);
    for (uint32_t i = 0; i < STREAMS; i++) {
        check(ppu_stream_create(api->channel, &streams[i]));
    }
    for (uint32_t i = 0; i < 3 * STREAMS; i++) {
        script.node[root + i].stream = i % STREAMS;
        if (i % 5 == 0) {
            uint32_t below = script_children(&script, root + i, 2);
            script.node[below].turns = 500;
        }
    }
    check(script_run(&script, streams));
    script_check(&script);
    script_end(&script);
    for (uint32_t i = 0; i < STREAMS; i++) {
        check(ppu_stream_destroy(streams[i]));
    }
}

/* Every record of a nest is a launch that is pending: the first task of stream 0 waits for one that is
 * launched last. */
static void all_records_pending(void **state)
{
    struct api *api = *state;
    const uint32_t tasks = machine_is_slow() ? 256 : PPU_NEST_MAX_TASKS;
    struct script script;

    check(ppu_context_nest(api->context,
                           &(struct ppu_nest_options){ .tasks = tasks, .depth = 2, .state_bytes = 12 * 1024 }));
    script_begin(&script, api, api->context, api->channel, tasks + 1);
    uint32_t root = script_children(&script, SCRIPT_HOST, 1);
    uint32_t child = script_children(&script, root, tasks - 1);
    script.node[child].awaits = script_gate(child + tasks - 2);
    script.node[child + tasks - 2].stream = 1;
    run(&script);
    script_end(&script);
}

/* ---- race windows: what is held stands between two steps, and the others go on ---- */

/* Root launches A; then, when the host opens `gate`, B behind it in the same stream. A runs until the host opens
 * `end`. */
struct race {
    struct script script;
    uint32_t root, a, b, gate, end;
};

static void hook(struct api *api, uint32_t reg, uint32_t value)
{
    device_reg_write(api->device, reg, value);
    device_reg_read(api->device, reg);
}

static void hold(struct race *race, uint32_t mark)
{
    hook(race->script.api, PPU_REG_HOOK_HOLD_MARK, mark);
}

static void hold_also(struct race *race, uint32_t mark)
{
    hook(race->script.api, PPU_REG_HOOK_HOLD_ALSO, mark);
}

static void let_go(struct race *race)
{
    hook(race->script.api, PPU_REG_HOOK_RELEASE, 1);
}

/* Until so many are held; then the machine is stopped, saved and loaded where that can be. */
static void wait_held(struct race *race, uint32_t count)
{
    uint64_t deadline_ns = deadline_after(LONG_NS);
    const char *why = NULL;

    while (device_reg_read(race->script.api->device, PPU_REG_HOOK_HELD) != count) {
        assert_true(deadline_left(deadline_ns) != 0);
        sleep_ns(100 * NS_PER_US);
    }
    if (machine_pause()) {
        bool loaded = machine_reload(&why);
        machine_resume();
        assert_true(loaded);
        assert_int_equal(device_reg_read(race->script.api->device, PPU_REG_HOOK_HELD), count);
    }
}

static void wait_completions(struct race *race, uint64_t count)
{
    uint64_t deadline_ns = deadline_after(LONG_NS);

    while (api_query(race->script.api, PPU_KEY_COMPLETIONS, 0) < count) {
        assert_true(deadline_left(deadline_ns) != 0);
        sleep_ns(100 * NS_PER_US);
    }
}

static uint64_t completions(struct race *race)
{
    return api_query(race->script.api, PPU_KEY_COMPLETIONS, 0);
}

static void race_prepare(struct race *race, struct api *api)
{
    struct script *script = &race->script;

    race->root = begin(script, api);
    race->a = script_children(script, race->root, 2);
    race->b = race->a + 1;
    race->gate = script->most - 2; /* two nodes that never run: the host alone opens them */
    race->end = script->most - 1;
    script->node[race->a].awaits = script_gate(race->end);
    script->node[race->b].marked = 1;
    script->node[race->b].gate = script_gate(race->gate);
}

static void race_start(struct race *race)
{
    script_launch(&race->script, &race->script.api->stream);
    assert_true(script_wait_begun(&race->script, race->a));
}

static void race_finish(struct race *race)
{
    check(ppu_event_wait(&race->script.event, LONG_NS));
    script_check(&race->script);
}

/* Nothing of B for a while. */
static void b_does_not_begin(struct race *race)
{
    sleep_ns(QUIET_NS);
    assert_int_equal(script_begun(&race->script, race->b), 0);
}

/* The launcher stands between its two steps when the task before completes: the scheduler leaves WAITING. */
static void completes_before_the_link(struct race *race)
{
    uint64_t before = completions(race);

    hold(race, NOT_LINKED);
    script_open(&race->script, race->gate);
    wait_held(race, 1);
    script_open(&race->script, race->end);
    wait_completions(race, before + 1);
    b_does_not_begin(race);
    let_go(race);
}

/* Until a warp has come to a mark since record `number`: HELD counts one that is let go until it goes on. */
static void wait_marked(struct race *race, uint32_t number, uint32_t mark)
{
    struct ppu_device *device = race->script.api->device;
    uint64_t deadline_ns = deadline_after(LONG_NS);
    struct ppu_trace_record record = { 0 };

    while (record.type != PPU_TRACE_MARK || record.id[0] != mark) {
        assert_true(deadline_left(deadline_ns) != 0);
        if (ppu_trace_read(device, PPU_TRACE_OF_DEVICE, &number, &record, 1) == 0) {
            sleep_ns(100 * NS_PER_US);
        }
    }
}

/* ... and then stands before its start request. */
static void request_comes_late(struct race *race)
{
    uint64_t before = completions(race);
    uint32_t number = ppu_trace_next(race->script.api->device, PPU_TRACE_OF_DEVICE);

    hold(race, NOT_LINKED);
    script_open(&race->script, race->gate);
    wait_held(race, 1);
    script_open(&race->script, race->end);
    wait_completions(race, before + 1);
    hold_also(race, NOT_ASKED);
    hold(race, 0);
    wait_marked(race, number, NOT_ASKED);
    wait_held(race, 1);
    b_does_not_begin(race);
    let_go(race);
}

/* The launcher has linked when the task before completes: the scheduler starts B, and the launcher has nothing to
 * ask. */
static void completes_after_the_link(struct race *race)
{
    hold(race, NOT_ASKED);
    script_open(&race->script, race->gate);
    wait_held(race, 1);
    script_open(&race->script, race->end);
    assert_true(script_wait_ended(&race->script, race->b));
    assert_int_equal(script_ended(&race->script, race->root), 0);
    let_go(race);
}

/* A whole launch between the scheduler's look at last-task and its compare-and-swap. */
static void launched_before_the_swap(struct race *race)
{
    hold(race, PPU_MARK_TMDQ_LAST);
    script_open(&race->script, race->end);
    wait_held(race, 1);
    script_open(&race->script, race->gate);
    assert_true(script_wait_ended(&race->script, race->root));
    b_does_not_begin(race);
    let_go(race);
}

/* Half a launch there: last-task is exchanged, next-stream still null when the scheduler comes to it. */
static void exchanged_before_the_swap(struct race *race)
{
    hold(race, PPU_MARK_TMDQ_LAST);
    hold_also(race, NOT_LINKED);
    script_open(&race->script, race->end);
    wait_held(race, 1);
    script_open(&race->script, race->gate);
    wait_held(race, 2);
    uint64_t before_ns = ppu_device_time_ns(race->script.api->device);
    hold(race, 0);
    wait_held(race, 1);
    assert_true(ppu_device_time_ns(race->script.api->device) >= before_ns);
    b_does_not_begin(race);
    let_go(race);
}

/* The link is made after the scheduler has seen a later task, and before it writes WAITING. */
static void linked_before_waiting(struct race *race)
{
    hold(race, PPU_MARK_TMDQ_FOLLOWED);
    hold_also(race, NOT_LINKED);
    script_open(&race->script, race->gate);
    wait_held(race, 1);
    script_open(&race->script, race->end);
    wait_held(race, 2);
    hold_also(race, 0);
    assert_true(script_wait_ended(&race->script, race->root));
    b_does_not_begin(race);
    let_go(race);
}

/* The task before completes when the launcher has counted B and is in no TMDQ yet: B begins a new order. */
static void completes_before_the_exchange(struct race *race)
{
    uint64_t before = completions(race);

    hold(race, COUNTED);
    script_open(&race->script, race->gate);
    wait_held(race, 1);
    script_open(&race->script, race->end);
    wait_completions(race, before + 1);
    b_does_not_begin(race);
    let_go(race);
}

static const struct window {
    const char *name;
    void (*pass)(struct race *race);
} windows[] = {
    { "completes before the link", completes_before_the_link },
    { "the start request comes late", request_comes_late },
    { "completes after the link", completes_after_the_link },
    { "launched before the swap", launched_before_the_swap },
    { "exchanged before the swap", exchanged_before_the_swap },
    { "linked before WAITING", linked_before_waiting },
    { "completes before the exchange", completes_before_the_exchange },
};

#define WINDOWS PPU_ARRAY_SIZE(windows)

static void every_window(void **state)
{
    struct race race;

    race_prepare(&race, *state);
    for (uint32_t i = 0; i < WINDOWS; i++) {
        race_start(&race);
        windows[i].pass(&race);
        race_finish(&race);
    }
    script_end(&race.script);
}

/* The same for a parent that waits: it goes on when B has completed, and not when A has. */
static void every_window_with_a_parent_that_waits(void **state)
{
    static const uint32_t unless_root_ends[] = { 0, 1, 4, 6 };
    struct race race;

    race_prepare(&race, *state);
    race.script.node[race.root].waits = 1;
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(unless_root_ends); i++) {
        race_start(&race);
        windows[unless_root_ends[i]].pass(&race);
        race_finish(&race);
    }
    script_end(&race.script);
}

/* A CTA of the grid has counted a launch and not made it when the last child of another CTA completes. */
static void counted_and_not_launched(void **state)
{
    struct race race;

    race_prepare(&race, *state);
    race.script.node[race.root].waits = 1;
    race.script.plan[race.root].ctas = 2;
    race.script.node[race.b].stream = 1;
    race_start(&race);
    uint64_t before = completions(&race);
    hold(&race, COUNTED);
    script_open(&race.script, race.gate);
    wait_held(&race, 1);
    script_open(&race.script, race.end);
    wait_completions(&race, before + 1);
    sleep_ns(QUIET_NS);
    assert_int_equal(script_ended(&race.script, race.root), 0);
    let_go(&race);
    race_finish(&race);

    /* Not yet counted, it keeps nobody waiting. */
    race_start(&race);
    hold(&race, FILLED);
    script_open(&race.script, race.gate);
    wait_held(&race, 1);
    script_open(&race.script, race.end);
    assert_true(script_wait_ended(&race.script, race.root));
    assert_int_equal(script_ended(&race.script, race.root), 1);
    let_go(&race);
    race_finish(&race);
    script_end(&race.script);
}

/* Each window, and the channel is reset in it: the launcher dies between its steps, and the nest is whole again. */
static void reset_in_every_window(void **state)
{
    static const uint32_t marks[] = { FILLED, COUNTED, NOT_LINKED, NOT_ASKED };
    struct race race;

    race_prepare(&race, *state);
    for (uint32_t i = 0; i < 2 * PPU_ARRAY_SIZE(marks); i++) {
        race_start(&race);
        uint64_t before = completions(&race);
        hold(&race, marks[i / 2]);
        script_open(&race.script, race.gate);
        wait_held(&race, 1);
        if (i % 2) {
            script_open(&race.script, race.end);
            wait_completions(&race, before + 1);
        }
        check(ppu_channel_reset(race.script.channel));
        let_go(&race);
        race_start(&race);
        script_open(&race.script, race.gate);
        script_open(&race.script, race.end);
        race_finish(&race);
    }
    script_end(&race.script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        api_test("tasks of a stream run one after the other, in order [B2]", one_after_the_other),
        api_test("the next task of a stream waits for the subtree of the one before [B8]", after_the_subtree),
        api_test("streams of a grid are independent [B2]", streams_are_independent),
        api_test("a stream number means nothing in another grid [B11]", streams_of_grids_are_independent),
        api_test("threads that launch into the same streams at once [B4 B11]", launchers_at_once),
        api_test("random trees obey order, independence and waiting [B2 B4 B6 B7 B8]", random_trees),
        api_test("more streams than TMDQs share them, in order [B3]", streams_share),
        api_test("creating a stream gives a number, destroying it takes no time [B3 B11 B14]", streams_are_numbers),
        api_test("4,096 launches are pending [B3]", all_records_pending),
        api_test("streams of the host obey the same rules [B2 B3 B8 B10]", host_streams),
        api_test("every race window of launch and completion [B4 B6]", every_window),
        api_test("every race window with a parent that waits [B6 B7]", every_window_with_a_parent_that_waits),
        api_test("a launch that is counted and not made keeps its parent waiting [B13]", counted_and_not_launched),
        api_test("a reset in every race window [B12]", reset_in_every_window),
    };

    return cmocka_run_group_tests_name("api: streams", tests, api_machine_setup, api_machine_teardown);
}
