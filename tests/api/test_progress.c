/* SPDX-License-Identifier: MIT */
/*
 * Tests forward progress of nested tasks on a machine of two SMs, whatever waits and whatever the CPU does (B9). Where
 * the machine is stopped and loaded from a snapshot on the way, the tree goes on.
 */
#include "tests/api/script.h"

#include <string.h>

#include "ppu/limits.h"
#include "ppu/nest.h"
#include "ppu/tmd.h"
#include "runtime/deadline.h"

#define NODES 400u

/* ---- grids whose CTAs wait for a child each ---- */

struct waits_params {
    uint64_t tmd, children, count, errors;
};

_Static_assert(sizeof(struct waits_params) == 32, "as the kernel has it");

enum { TMD_WAITS_AT = 0, TMD_LEAF_AT = 256, COUNT_AT = 512, ERRORS_AT = 516, TASKS_AT = 1024 };

struct waits {
    struct api *api;
    const struct ppu_kernel *kernel;
    struct ppu_memory *memory; /* TMDs, counts, then a word and parameters for each child */
    struct waits_params *child;
    uint32_t words_at; /* of a word a child */
    uint32_t group;    /* enum ppu_launch_group */
};

static struct waits waits_new(struct api *api, uint32_t children)
{
    struct waits waits = { .api = api, .kernel = api_kernel(api, api->context, "pressure", "each_waits") };
    uint32_t bytes = TASKS_AT + children * (uint32_t)sizeof(struct waits_params);

    waits.memory = api_memory(api, PPU_MEMORY_VRAM, bytes + children * sizeof(uint32_t));
    waits.child = (struct waits_params *)(void *)((uint8_t *)ppu_memory_host(waits.memory) + TASKS_AT);
    waits.words_at = bytes;
    return waits;
}

/* Describes the grid of the tasks that threads launch; those that have no children need not be able to wait. */
static void waits_describe(struct waits *waits, uint32_t offset, uint32_t threads, bool leaf)
{
    const struct ppu_launch launch = { .grid = { 1 }, .cta = { threads } };
    struct ppu_tmd *tmd = (struct ppu_tmd *)(void *)((uint8_t *)ppu_memory_host(waits->memory) + offset);

    check(ppu_kernel_describe(waits->kernel, &launch, tmd));
    if (leaf) {
        tmd->flags &= (uint16_t) ~(PPU_TMD_MAY_WAIT | PPU_TMD_LAUNCH);
    }
}

/* Child n says that it has run in word n; it has children itself when `tmd` is not 0, which begin at `first`. */
static void waits_set(struct waits *waits, uint32_t n, uint64_t tmd, uint32_t first)
{
    uint64_t va = api_va(waits->api, waits->memory);

    waits->child[n] = (struct waits_params){
        .tmd = tmd,
        .children = va + TASKS_AT + first * sizeof(struct waits_params),
        .count = va + waits->words_at + n * sizeof(uint32_t),
        .errors = va + ERRORS_AT,
    };
}

static void waits_run(struct waits *waits, uint32_t ctas, uint32_t threads, uint64_t tmd, uint32_t children)
{
    uint64_t va = api_va(waits->api, waits->memory);
    const struct waits_params params = { tmd, va + TASKS_AT, va + COUNT_AT, va + ERRORS_AT };
    const struct ppu_launch launch = {
        .grid = { ctas }, .cta = { threads }, .params = &params, .param_bytes = sizeof(params), .group = waits->group
    };
    struct ppu_event event;

    check(ppu_stream_launch(waits->api->stream, waits->kernel, &launch, &event));
    check(ppu_event_wait(&event, LONG_NS));
    assert_int_equal(api_word(waits->memory, COUNT_AT), ctas);
    assert_int_equal(api_word(waits->memory, ERRORS_AT), 0);
    for (uint32_t i = 0; i < children; i++) {
        assert_int_equal(api_word(waits->memory, waits->words_at + 4 * i), 1);
    }
}

/* CTAs so large that one fills an SM; they all wait, and so do their children, which are as large. */
static void full_of_waiting_parents(void **state)
{
    enum { PARENTS = 8, THREADS = 1024 };
    struct waits waits = waits_new(*state, 2 * PARENTS);
    uint64_t va = api_va(waits.api, waits.memory);

    check(ppu_context_nest(waits.api->context,
                           &(struct ppu_nest_options){ .depth = 3, .state_bytes = 384 * 1024, .ctas = 4 }));
    waits_describe(&waits, TMD_WAITS_AT, THREADS, false);
    waits_describe(&waits, TMD_LEAF_AT, THREADS, true);
    for (uint32_t i = 0; i < PARENTS; i++) {
        waits_set(&waits, i, va + TMD_LEAF_AT, PARENTS + i);
        waits_set(&waits, PARENTS + i, 0, 0);
    }
    waits_run(&waits, PARENTS, THREADS, va + TMD_WAITS_AT, 2 * PARENTS);
}

static void fill_places(struct api *api, uint32_t group)
{
    const uint32_t ctas = machine_is_slow() ? api_rounds(1500) : 65535;
    struct waits waits = waits_new(api, ctas);

    check(ppu_context_nest(waits.api->context,
                           &(struct ppu_nest_options){ .depth = 2, .state_bytes = 12 * 1024, .ctas = 8 }));
    waits_describe(&waits, TMD_LEAF_AT, 32, true);
    for (uint32_t i = 0; i < ctas; i++) {
        waits_set(&waits, i, 0, 0);
    }
    waits.group = group;
    waits_run(&waits, ctas, 32, api_va(waits.api, waits.memory) + TMD_LEAF_AT, ctas);
}

static void more_waiting_than_places(void **state)
{
    fill_places(*state, PPU_LAUNCH_GROUP_GRID);
}

static void more_waiting_by_themselves(void **state)
{
    fill_places(*state, PPU_LAUNCH_GROUP_CTA);
}

/* ---- many launches ---- */

enum { LEAF_AT = 256, RUN_AT = 512, REFUSED_AT = 768 };

/* What the kernels that launch many need: the TMD and parameters of what their threads launch, and counts. */
static struct ppu_memory *leaf_describe(struct api *api, const char *file, const char *name, uint32_t count_at)
{
    const struct ppu_launch launch = { .grid = { 1 }, .cta = { 1 } };
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 4096);
    const uint64_t params[] = { api_va(api, memory) + count_at, api_va(api, memory) + 1024 };

    check(ppu_kernel_describe(api_kernel(api, api->context, file, name), &launch, ppu_memory_host(memory)));
    memcpy((char *)ppu_memory_host(memory) + LEAF_AT, params, sizeof(params));
    return memory;
}

/* One grid of `name`, each of whose threads launches `each`. */
static enum ppu_err launch_many(struct api *api, const char *name, const struct ppu_memory *memory, uint32_t ctas,
                                uint32_t each)
{
    const uint64_t va = api_va(api, memory);
    const uint64_t params[] = { va, va + LEAF_AT, va + REFUSED_AT, each };

    return api_run(api, api_kernel(api, api->context, "pressure", name), ctas, 32, params, sizeof(params));
}

/* PPU_LONG=50 makes it a million on QEMU. */
static void many_launches(void **state)
{
    struct api *api = *state;
    const uint32_t rounds = api_rounds(machine_is_slow() ? 1 : 10);
    const uint32_t ctas = machine_is_slow() ? 50 : 64;

    check(ppu_context_nest(api->context, &(struct ppu_nest_options){ .state_bytes = 12 * 1024, .ctas = 8 }));
    struct ppu_memory *memory = leaf_describe(api, "counter", "counter", RUN_AT);
    for (uint32_t i = 1; i <= rounds; i++) {
        check(launch_many(api, "burst", memory, ctas, 1));
        assert_int_equal(api_word(memory, RUN_AT), i * ctas * 32);
        api_forget_programs(1);
    }
    assert_int_equal(api_word(memory, REFUSED_AT), 0);
    print_message("# %u launches\n", rounds * ctas * 32);
}

/* More launches than records: what was launched ends only when a launch has been refused, and then all are made. */
static void too_few_records(void **state)
{
    enum { EACH = 8 };
    struct api *api = *state;

    check(ppu_context_nest(api->context, &(struct ppu_nest_options){ .tasks = 64 }));
    struct ppu_memory *memory = leaf_describe(api, "spin", "spin_until", REFUSED_AT);
    uint64_t before = api_query(api, PPU_KEY_COMPLETIONS, 0);
    check(launch_many(api, "flood", memory, 1, EACH));
    assert_int_equal(api_query(api, PPU_KEY_COMPLETIONS, 0), before + 1 + 32 * EACH);
    assert_true(api_word(memory, REFUSED_AT) > 0);
}

/* ---- the CPU holds every channel ---- */

static void every_channel_is_held(void **state)
{
    struct api *api = *state;
    const uint32_t count = ppu_device_info(api->device)->channels - 1; /* the fixture has one */
    struct ppu_memory *sem = api_memory(api, PPU_MEMORY_VRAM, 4096);
    const ppu_va_t at = { api_va(api, sem) };
    struct ppu_channel *channel[PPU_MAX_CHANNELS] = { NULL };
    struct ppu_block *block = NULL;
    uint64_t random = api_seed();
    struct script script;

    check(ppu_context_nest(api->context, &(struct ppu_nest_options){ .state_bytes = 12 * 1024 }));
    script_begin(&script, api, api->context, api->channel, NODES);
    uint32_t root = script_children(&script, SCRIPT_HOST, 1);
    script.node[root].awaits = script_gate(NODES - 1);
    script_grow(&script, root, NODES / 2, 8, &random);
    script_start(&script, &api->stream);
    for (uint32_t i = 0; i < count + 1; i++) {
        if (i < count) {
            check(ppu_channel_create(api->context, &(struct ppu_channel_options){ .entries = 8 }, &channel[i]));
        }
        struct ppu_channel *held = i < count ? channel[i] : api->channel;
        check(ppu_block_begin(held, &block));
        ppu_block_acquire(block, at, 1, PPU_SEM_EQUAL);
        check(ppu_block_submit(block, NULL));
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t deadline_ns = deadline_after(LONG_NS);
        while (api_query(api, PPU_KEY_CHANNEL_STATE, ppu_channel_index(channel[i])) != PPU_CHANNEL_PARKED) {
            assert_true(deadline_left(deadline_ns) != 0);
        }
    }
    uint64_t blocks = api_query(api, PPU_KEY_BLOCKS, 0);
    uint64_t interrupts = api_query(api, PPU_KEY_INTERRUPTS, 0) + 1; /* that of the answer */
    script_open(&script, NODES - 1);
    for (uint32_t i = root; i < script.count; i++) {
        assert_true(script_wait_ended(&script, i));
    }
    assert_int_equal(api_query(api, PPU_KEY_INTERRUPTS, 0), interrupts);
    assert_int_equal(api_query(api, PPU_KEY_BLOCKS, 0), blocks);
    api_set_word(sem, 0, 1);
    for (uint32_t i = 0; i < count; i++) {
        ppu_channel_ring(channel[i]);
        check(api_finish(channel[i]));
        check(ppu_channel_destroy(channel[i]));
    }
    check(api_finish(api->channel));
    script_check(&script);
    script_end(&script);
}

/* ---- stops and snapshots in the middle of a tree ---- */

static void snapshots_in_a_tree(void **state)
{
    struct api *api = *state;
    uint64_t random = api_seed();
    struct script script;
    const char *why = NULL;
    uint32_t stops = 0;

    if (!machine_pause()) {
        skip();
    }
    machine_resume();
    check(ppu_context_nest(api->context, &(struct ppu_nest_options){ .state_bytes = 12 * 1024 }));
    script_begin(&script, api, api->context, api->channel, NODES);
    for (uint32_t i = 0; i < api_rounds(4); i++) {
        script_clear(&script);
        uint32_t root = script_children(&script, SCRIPT_HOST, 1);
        script.node[root].waits = i % 2;
        script_grow(&script, root, 200, 8, &random);
        script_launch(&script, &api->stream);
        while (!ppu_event_done(&script.event)) {
            sleep_ns(api_random(&random) % (500 * NS_PER_US));
            machine_pause();
            bool loaded = machine_reload(&why);
            machine_resume();
            if (!loaded) {
                fail_msg("the snapshot does not load: %s", why);
            }
            stops++;
        }
        check(ppu_event_wait(&script.event, LONG_NS));
        script_check(&script);
    }
    print_message("# %u snapshots\n", stops);
    script_end(&script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        api_test("SMs full of parents that wait [B7 B9]", full_of_waiting_parents),
        api_test("65,535 CTAs of a grid wait (1,500 where that takes long), with 8 places on 2 SMs [B7 B9]",
                 more_waiting_than_places),
        api_test("the same, each CTA a context of its own [B3 B7 B9]", more_waiting_by_themselves),
        api_test("launches by the ten thousand, none lost [B1 B4 B6]", many_launches),
        api_test("launches that have to try again, none lost [B3 B4]", too_few_records),
        api_test("a tree runs while the CPU holds every channel [B1 B9]", every_channel_is_held),
        api_test("stopped and loaded from snapshots in the middle of trees [B5 B7]", snapshots_in_a_tree),
    };

    api_machine = (struct machine_config){ .sms = 2, .counted = true };
    return cmocka_run_group_tests_name("api: progress", tests, api_machine_setup, api_machine_teardown);
}
