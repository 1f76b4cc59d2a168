/* SPDX-License-Identifier: MIT */
/* Tests threads that launch tasks, to any depth: trees whose parents wait for their children. */
#include "tests/api/api.h"

#include <string.h>

#include "ppu/macros.h"
#include "ppu/nest.h"
#include "ppu/tmd.h"

#define SCRATCH_BYTES ((1024u + PPU_NEST_MAX_TASKS) * 128u)

struct tree_params {
    uint64_t tmd, counters, scratch;
    uint32_t level, fanout;
    uint64_t cell;
    uint32_t streams, zero;
};

struct tree {
    struct api *api;
    const struct ppu_kernel *kernel;
    struct ppu_memory *memory; /* TMD at 0, counters at 256, root cell at 320 */
    struct tree_params params;
};

enum { TMD_AT = 0, COUNTERS_AT = 256, CELL_AT = 320 };

static struct tree tree_of_groups(struct api *api, const struct ppu_nest_options *options, uint32_t group)
{
    struct tree tree = { .api = api, .kernel = api_kernel(api, api->context, "tree", "tree") };
    const struct ppu_launch launch = { .grid = { 1 }, .cta = { 32 }, .group = group };

    check(ppu_context_nest(api->context, options));
    tree.memory = api_memory(api, PPU_MEMORY_VRAM, 4096);
    check(ppu_kernel_describe(tree.kernel, &launch, ppu_memory_host(tree.memory)));
    tree.params = (struct tree_params){
        .tmd = api_va(api, tree.memory) + TMD_AT,
        .counters = api_va(api, tree.memory) + COUNTERS_AT,
        .scratch = api_va(api, api_memory(api, PPU_MEMORY_VRAM, SCRATCH_BYTES)),
        .cell = api_va(api, tree.memory) + CELL_AT,
        .streams = 4,
    };
    return tree;
}

static struct tree tree_new(struct api *api, const struct ppu_nest_options *options)
{
    return tree_of_groups(api, options, PPU_LAUNCH_GROUP_KERNEL);
}

static uint32_t nodes(uint32_t level, uint32_t fanout)
{
    uint32_t count = 1;

    while (level-- != 0) {
        count = count * fanout + 1;
    }
    return count;
}

static enum ppu_err tree_run(struct tree *tree, uint32_t level, uint32_t fanout)
{
    memset((char *)ppu_memory_host(tree->memory) + COUNTERS_AT, 0, 128);
    tree->params.level = level;
    tree->params.fanout = fanout;
    return api_run(tree->api, tree->kernel, 1, 32, &tree->params, sizeof(tree->params));
}

static void tree_is_whole(struct tree *tree, uint32_t level, uint32_t fanout)
{
    check(tree_run(tree, level, fanout));
    assert_int_equal(api_word(tree->memory, COUNTERS_AT + 4), 0);
    assert_int_equal(api_word(tree->memory, COUNTERS_AT), nodes(level, fanout));
    assert_int_equal(api_word(tree->memory, COUNTERS_AT + 8), nodes(level, fanout));
    assert_int_equal(api_word(tree->memory, CELL_AT), nodes(level, fanout));
}

static void one_child(void **state)
{
    struct tree tree = tree_new(*state, NULL);

    tree_is_whole(&tree, 0, 1);
    tree_is_whole(&tree, 1, 1);
}

static void trees(void **state)
{
    struct tree tree = tree_new(*state, NULL);

    for (uint32_t streams = 1; streams <= 32; streams *= 8) {
        tree.params.streams = streams;
        tree_is_whole(&tree, 1, 40);
        tree_is_whole(&tree, 5, 2);
        tree_is_whole(&tree, 3, 6);
    }
}

/* Each task's CTA is a context of its own, but for the first. */
static void trees_of_ctas(void **state)
{
    struct tree tree = tree_of_groups(*state, NULL, PPU_LAUNCH_GROUP_CTA);

    tree_is_whole(&tree, 1, 40);
    tree_is_whole(&tree, 5, 2);
    tree_is_whole(&tree, 3, 6);
}

static void deep(void **state)
{
    struct tree tree = tree_new(*state, &(struct ppu_nest_options){ .depth = 257, .state_bytes = 12 * 1024 });

    tree_is_whole(&tree, 256, 1);
}

static void too_deep(void **state)
{
    struct tree tree = tree_new(*state, &(struct ppu_nest_options){ .depth = 3 });

    check(tree_run(&tree, 5, 2));
    assert_int_equal(api_word(tree.memory, COUNTERS_AT), 7);
    assert_int_equal(api_word(tree.memory, COUNTERS_AT + 4), 8);
    assert_int_equal(api_word(tree.memory, CELL_AT), 7);
}

static void no_record(void **state)
{
    struct tree tree = tree_new(*state, &(struct ppu_nest_options){ .tasks = 64 });

    check(tree_run(&tree, 2, 70));
    uint32_t started = api_word(tree.memory, COUNTERS_AT);
    assert_true(api_word(tree.memory, COUNTERS_AT + 4) > 0);
    assert_true(started > 1 && started < nodes(2, 70));
    assert_int_equal(api_word(tree.memory, COUNTERS_AT + 8), started);
    assert_int_equal(api_word(tree.memory, CELL_AT), started);
    tree_is_whole(&tree, 1, 8);
}

static void many(void **state)
{
    struct tree tree = tree_new(*state, &(struct ppu_nest_options){ .tasks = 1024 });
    uint32_t rounds = machine_is_slow() ? 3 : 2;

    tree.params.streams = 32;
    for (uint32_t i = 0; i < rounds; i++) {
        tree_is_whole(&tree, 1, 1000);
        tree_is_whole(&tree, 9, 2);
    }
}

static void needs_a_nest(void **state)
{
    struct api *api = *state;
    const struct ppu_kernel *kernel = api_kernel(api, api->context, "tree", "tree");
    struct tree_params params = { 0 };
    struct ppu_error error;

    assert_int_equal(api_run(api, kernel, 1, 32, &params, sizeof(params)), PPU_ERR_BAD_TMD);
    assert_int_equal(ppu_channel_error(api->channel, &error), PPU_ERR_BAD_TMD);
    assert_int_equal(error.record.code, PPU_FAULT_TMD_NEST);
    check(ppu_context_nest(api->context, NULL));
    assert_int_equal(ppu_context_nest(api->context, NULL), PPU_ERR_BUSY);
}

/* The compiler's flag decides: a kernel that reaches a wait gets what it needs for that, or is refused. */
static void compiled_waits(void **state)
{
    struct api *api = *state;
    const struct ppu_kernel *direct = api_kernel(api, api->context, "cl-waits", "direct");
    const struct ppu_kernel *called = api_kernel(api, api->context, "cl-waits", "called");
    const struct ppu_kernel *never = api_kernel(api, api->context, "cl-waits", "never");
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 256);
    uint64_t va = api_va(api, memory);

    check(api_run(api, never, 1, 32, &va, sizeof(va)));
    assert_int_equal(api_run(api, direct, 1, 32, &va, sizeof(va)), PPU_ERR_BAD_TMD);
    assert_int_equal(ppu_channel_error(api->channel, &(struct ppu_error){ 0 }), PPU_ERR_BAD_TMD);
    check(ppu_context_nest(api->context, NULL));
    check(ppu_channel_reset(api->channel));
    check(api_run(api, direct, 1, 32, &va, sizeof(va)));
    assert_int_equal(api_word(memory, 4 * 31), 2);
    api_set_word(memory, 4 * 31, 12345);
    check(api_run(api, called, 1, 32, &va, sizeof(va)));
    assert_int_equal(api_word(memory, 4 * 31), 12346);
}

/* What 256 levels of kernels with 64 KiB of state and 4,096 launches take: records, save areas, and the firmware's
 * copies. */
static void large_pools(void **state)
{
    const uint32_t state_bytes = 64 * PPU_KIB;
    const struct ppu_nest_options options = {
        /* The joined machine has less VRAM. */
        .tasks = machine_is_slow() ? 1024 : PPU_NEST_MAX_TASKS,
        .depth = 256,
        .state_bytes = machine_is_slow() ? 12 * PPU_KIB : state_bytes,
    };
    const uint32_t copies = PPU_NEST_MAX_TASKS * (PPU_NEST_MAX_PARAM + 256u);
    struct tree tree = tree_new(*state, &options);

    assert_true(PPU_NEST_BYTES(PPU_NEST_MAX_TASKS, options.depth) + options.depth * state_bytes + copies <=
                32 * PPU_MIB);
    tree_is_whole(&tree, 100, 1);
    tree_is_whole(&tree, 1, machine_is_slow() ? 500 : PPU_NEST_MAX_TASKS - 1);
}

/* A kernel whose state does not fit its places is refused before it runs. */
static void state_too_large(void **state)
{
    struct tree tree = tree_new(*state, &(struct ppu_nest_options){ .state_bytes = 1024 });
    struct ppu_error error;

    assert_int_equal(tree_run(&tree, 0, 1), PPU_ERR_BAD_TMD);
    ppu_channel_error(tree.api->channel, &error);
    assert_int_equal(error.record.code, PPU_FAULT_TMD_SAVE);
    assert_int_equal(api_word(tree.memory, COUNTERS_AT), 0);
}

/* A block of two grids and a copy: the grids end long before what they launch, and the event comes after all of it. */
static void several_commands(void **state)
{
    enum {
        EACH = 60,
        CTAS = 64,
        COUNT_AT = 256,
        REFUSED_AT = 320,
        PARAMS_AT = 384,
        FROM = 1024,
        TO = 2048,
        BYTES = 512
    };
    struct api *api = *state;
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, 4096);
    const struct ppu_kernel *flood = api_kernel(api, api->context, "pressure", "flood");
    const uint64_t va = api_va(api, memory);
    const uint64_t leaf[] = { va + COUNT_AT, 0 };
    const uint64_t params[] = { va, va + PARAMS_AT, va + REFUSED_AT, EACH };
    const struct ppu_launch launch = { .grid = { 1 }, .cta = { 1 }, .params = params, .param_bytes = sizeof(params) };
    uint8_t *host = ppu_memory_host(memory);
    struct ppu_stream *other = NULL;
    struct ppu_block *block = NULL;
    struct ppu_event event;

    check(ppu_context_nest(api->context, NULL));
    check(ppu_stream_create(api->channel, &other));
    check(ppu_kernel_describe(api_kernel(api, api->context, "taskq", "leaf"),
                              &(struct ppu_launch){ .grid = { CTAS }, .cta = { 32 } }, (struct ppu_tmd *)(void *)host));
    memcpy(host + PARAMS_AT, leaf, sizeof(leaf));
    memset(host + FROM, 0x5a, BYTES);
    for (uint32_t round = 1; round <= 5; round++) {
        memset(host + TO, 0, BYTES);
        check(ppu_block_begin(api->channel, &block));
        ppu_block_launch(block, api->stream, flood, &launch);
        ppu_block_copy(block, (ppu_va_t){ va + TO }, (ppu_va_t){ va + FROM }, BYTES);
        ppu_block_launch(block, other, flood, &launch);
        check(ppu_block_submit(block, &event));
        check(ppu_event_wait(&event, LONG_NS));
        assert_int_equal(api_word(memory, COUNT_AT), round * 2 * EACH * CTAS);
        assert_int_equal(api_word(memory, REFUSED_AT), 0);
        assert_memory_equal(host + TO, host + FROM, BYTES);
    }
    check(ppu_stream_destroy(other));
}

struct sisters {
    const struct ppu_kernel *kernel;
    struct ppu_memory *memory; /* TMD at 0, the kernel's words behind it */
    struct {
        uint64_t tmd, words;
        uint32_t setter, others_leave;
        uint64_t zero;
    } params;
};

enum { WORDS_AT = 256, SISTERS = 40, FOLLOWERS = 8 };

static struct sisters sisters_new(struct api *api, const struct ppu_nest_options *options)
{
    struct sisters sisters = { .kernel = api_kernel(api, api->context, "sisters", "sisters"),
                               .memory = api_memory(api, PPU_MEMORY_VRAM, 4096) };
    const struct ppu_launch child = { .grid = { 1 }, .cta = { 32 }, .watchdog_ns = 2000000000 };

    check(ppu_context_nest(api->context, options));
    check(ppu_kernel_describe(api_kernel(api, api->context, "sisters", "child"), &child,
                              ppu_memory_host(sisters.memory)));
    sisters.params.tmd = api_va(api, sisters.memory);
    sisters.params.words = sisters.params.tmd + WORDS_AT;
    return sisters;
}

static enum ppu_err sisters_run(struct api *api, const struct sisters *sisters, uint32_t ctas, uint32_t group)
{
    const struct ppu_launch launch = { .grid = { ctas },
                                       .cta = { 32 },
                                       .params = &sisters->params,
                                       .param_bytes = sizeof(sisters->params),
                                       .group = group };
    struct ppu_event event;

    memset((char *)ppu_memory_host(sisters->memory) + WORDS_AT, 0, 12);
    check(ppu_stream_launch(api->stream, sisters->kernel, &launch, &event));
    return ppu_event_wait(&event, LONG_NS);
}

/* The children of all others wait for CTA 0, which waits for its own child only. */
static void sisters_do_not_wait(void **state)
{
    struct api *api = *state;
    struct sisters sisters = sisters_new(api, &(struct ppu_nest_options){ .ctas = 4, .state_bytes = 12 * PPU_KIB });

    for (uint32_t ctas = 2; ctas <= 4; ctas++) {
        check(sisters_run(api, &sisters, ctas, PPU_LAUNCH_GROUP_CTA));
        assert_int_equal(api_word(sisters.memory, WORDS_AT + 4), ctas);
        assert_int_equal(api_word(sisters.memory, WORDS_AT + 8), ctas);
    }
    /* More than there are places: those that end make room. */
    check(sisters_run(api, &sisters, SISTERS, PPU_LAUNCH_GROUP_CTA));
    assert_int_equal(api_word(sisters.memory, WORDS_AT + 8), SISTERS);
}

/* Each CTA has the place of one that has ended, whose child waits for the last. */
static void children_outlive_their_cta(void **state)
{
    struct api *api = *state;
    struct sisters sisters = sisters_new(api, &(struct ppu_nest_options){ .ctas = 1, .state_bytes = 12 * PPU_KIB });

    sisters.params.setter = FOLLOWERS - 1;
    sisters.params.others_leave = 1;
    check(sisters_run(api, &sisters, FOLLOWERS, PPU_LAUNCH_GROUP_CTA));
    assert_int_equal(api_word(sisters.memory, WORDS_AT + 4), FOLLOWERS);
    assert_int_equal(api_word(sisters.memory, WORDS_AT + 8), FOLLOWERS);
}

/* With one context for the grid CTA 0 waits for the others' children too. */
static void a_grid_waits_as_one(void **state)
{
    struct api *api = *state;
    struct sisters sisters = sisters_new(api, &(struct ppu_nest_options){ .ctas = 4, .state_bytes = 12 * PPU_KIB });

    assert_int_equal(sisters_run(api, &sisters, 2, PPU_LAUNCH_GROUP_GRID), PPU_ERR_TIMEOUT);
    assert_int_equal(api_word(sisters.memory, WORDS_AT + 8), 0);
}

/* The most CTAs of one block's tasks that had begun and not ended, by the device's records since `next`. */
static uint32_t begun_at_once(struct api *api, uint32_t next, uint32_t correlation)
{
    struct ppu_trace_record record = { 0 };
    uint32_t begun = 0, most = 0;

    while (ppu_trace_read(api->device, PPU_TRACE_OF_DEVICE, &next, &record, 1) == 1) {
        if (record.correlation == correlation) {
            begun += record.type == PPU_TRACE_CTA_START;
            begun -= record.type == PPU_TRACE_CTA_END;
            most = PPU_MAX(most, begun);
        }
    }
    return most;
}

/* Whoever begins before the last of them waits for it. */
static void begin_beside_each_other(struct api *api, struct sisters *sisters, uint32_t ctas, uint32_t beside)
{
    const struct ppu_launch launch = { .grid = { ctas },
                                       .cta = { 32 },
                                       .params = &sisters->params,
                                       .param_bytes = sizeof(sisters->params),
                                       .group = PPU_LAUNCH_GROUP_CTA };
    struct ppu_tmd *child = ppu_memory_host(sisters->memory);
    uint32_t next = ppu_trace_next(api->device, PPU_TRACE_OF_DEVICE);
    struct ppu_block *block = NULL;
    struct ppu_event event;

    memset((char *)ppu_memory_host(sisters->memory) + WORDS_AT, 0, 12);
    child->correlation = UINT32_MAX;
    sisters->params.setter = beside - 1;
    check(ppu_block_begin(api->channel, &block));
    ppu_block_launch(block, api->stream, sisters->kernel, &launch);
    uint32_t correlation = ppu_block_correlation(block);
    check(ppu_block_submit(block, &event));
    check(ppu_event_wait(&event, LONG_NS));
    assert_int_equal(api_word(sisters->memory, WORDS_AT + 4), ctas);
    assert_int_equal(api_word(sisters->memory, WORDS_AT + 8), ctas);
    assert_in_range(begun_at_once(api, next, correlation), beside, ctas);
}

/* Nothing is asked for. */
static void sixteen_wait_beside_each_other(void **state)
{
    struct api *api = *state;
    struct sisters sisters = sisters_new(api, NULL);

    begin_beside_each_other(api, &sisters, 200, 15);
    begin_beside_each_other(api, &sisters, 200, 16);
}

/* As many as may be asked for. */
static void as_many_as_asked_for(void **state)
{
    struct api *api = *state;
    const struct ppu_nest_options options = { .ctas = PPU_SAVE_PLACES, .depth = 2, .state_bytes = 12 * PPU_KIB };
    struct sisters sisters = sisters_new(api, &options);

    begin_beside_each_other(api, &sisters, 200, PPU_SAVE_PLACES);
}

/* Nothing but what is kept for each depth: a task at a time, one CTA at a time. */
static void only_what_is_kept(void **state)
{
    const struct ppu_nest_options options = { .depth = 8, .state_bytes = 12 * PPU_KIB, .save_bytes = 8 * 12 * PPU_KIB };
    struct tree tree = tree_new(*state, &options);

    tree_is_whole(&tree, 1, 40);
    tree_is_whole(&tree, 5, 2);
    tree_is_whole(&tree, 3, 6);
}

/* The largest area that VRAM has room for, in sixteenths of it, is the first's. The second is told that there is no
 * room, and gets as much when the first has gone. */
static void save_areas_fill_vram(void **state)
{
    struct api *api = *state;
    const uint64_t heap = ppu_device_heap_bytes(api->device);
    struct ppu_nest_options options = { .tasks = 64, .depth = 4, .state_bytes = 12 * PPU_KIB };
    struct ppu_context *first = NULL, *second = NULL;
    enum ppu_err err = PPU_ERR_NO_VRAM;

    check(ppu_context_create(api->device, &first));
    check(ppu_context_create(api->device, &second));
    for (uint32_t sixteenths = 16; err == PPU_ERR_NO_VRAM && sixteenths != 0; sixteenths--) {
        options.save_bytes = (uint32_t)(heap / 16 * sixteenths);
        err = ppu_context_nest(first, &options);
    }
    check(err);
    assert_int_equal(ppu_context_nest(second, &options), PPU_ERR_NO_VRAM);
    check(ppu_context_destroy(first));
    check(ppu_context_nest(second, &options));
    check(ppu_context_destroy(second));
    struct tree tree = tree_new(api, &(struct ppu_nest_options){ .tasks = 64 });
    tree_is_whole(&tree, 3, 3);
}

/* Address spaces have nests as long as there are records for them. */
static void as_many_nests_as_records(void **state)
{
    struct api *api = *state;
    const struct ppu_nest_options options = { .tasks = 64, .depth = 2, .state_bytes = 12 * PPU_KIB, .ctas = 1 };
    struct ppu_context *context[PPU_MAX_CONTEXTS] = { NULL };
    const struct ppu_device_info *info = ppu_device_info(api->device);
    uint64_t records = PPU_MIN(info->vram_bytes / (64 * PPU_KIB), PPU_NEST_MAX_TASKS);
    /* The fixture has an address space. */
    uint32_t most = PPU_MIN((uint32_t)(records / options.tasks), info->contexts - 1), opened = 0;
    enum ppu_err err = PPU_OK;

    while (err == PPU_OK) {
        assert_in_range(opened, 0, most);
        err = ppu_context_create(api->device, &context[opened]);
        err = err == PPU_OK ? ppu_context_nest(context[opened], &options) : err;
        opened += err == PPU_OK;
    }
    /* The areas for CTAs that the device takes off SMs may fill a small VRAM before. */
    assert_true(err == PPU_ERR_NO_RESOURCE ? opened == most : err == PPU_ERR_NO_VRAM && opened > 1);
    for (uint32_t i = 0; i <= opened; i++) {
        check(ppu_context_destroy(context[i]));
    }
}

static void places_that_cannot_be(void **state)
{
    struct api *api = *state;
    const struct ppu_nest_options wrong[] = {
        { .ctas = PPU_SAVE_PLACES + 1 },
        { .state_bytes = 16 * PPU_MIB + 1 },
        { .depth = 4, .state_bytes = 4096, .save_bytes = 4 * 4096 - 1 },
        { .depth = 65, .tasks = 64 },
    };

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(wrong); i++) {
        assert_int_equal(ppu_context_nest(api->context, &wrong[i]), PPU_ERR_BAD_ARG);
    }
    check(ppu_context_nest(api->context, NULL));
}

static void groups_of_kernels_that_wait(void **state)
{
    struct api *api = *state;
    struct sisters sisters = sisters_new(api, NULL);
    struct ppu_tmd tmd;
    struct ppu_launch launch = { .grid = { 1 }, .cta = { 32 }, .group = PPU_LAUNCH_GROUP_CTA };

    check(ppu_kernel_describe(sisters.kernel, &launch, &tmd));
    assert_true(tmd.flags & PPU_TMD_CTA_GROUPS);
    assert_int_equal(ppu_kernel_describe(api_kernel(api, api->context, "sisters", "child"), &launch, &tmd),
                     PPU_ERR_BAD_ARG);
    launch.group = PPU_LAUNCH_GROUP_CTA + 1;
    assert_int_equal(ppu_kernel_describe(sisters.kernel, &launch, &tmd), PPU_ERR_BAD_ARG);
}

/* A channel is reset in the middle of a tree; the same nest serves the next one in full. */
static void resets(struct api *api, const struct ppu_nest_options *options)
{
    struct tree tree = tree_new(api, options);
    uint64_t seed = api_seed();

    for (uint32_t i = 0; i < 20; i++) {
        const struct ppu_launch launch = {
            .grid = { 1 }, .cta = { 32 }, .params = &tree.params, .param_bytes = sizeof(tree.params)
        };

        tree.params.level = 6;
        tree.params.fanout = 3;
        check(ppu_stream_launch(api->stream, tree.kernel, &launch, NULL));
        while (api_word(tree.memory, COUNTERS_AT) < api_random(&seed) % 40) {
        }
        check(ppu_channel_reset(api->channel));
        tree_is_whole(&tree, 4, 3);
    }
}

static void reset_in_the_middle(void **state)
{
    resets(*state, &(struct ppu_nest_options){ .tasks = 256 });
}

static void reset_while_tasks_wait_for_places(void **state)
{
    const struct ppu_nest_options options = {
        .tasks = 256, .depth = 8, .state_bytes = 12 * PPU_KIB, .save_bytes = 8 * 12 * PPU_KIB + 4096
    };

    resets(*state, &options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        api_test("a thread launches a task and waits for it [B1 B7]", one_child),
        api_test("trees of tasks, parents waiting, in 1 to 32 streams [B1 B2 B7 B8]", trees),
        api_test("trees of tasks whose CTAs wait for their own children [B3 B7]", trees_of_ctas),
        api_test("256 levels [B1 B7 B9]", deep),
        api_test("a launch that would be too deep fails [B3]", too_deep),
        api_test("a launch without a free record fails and is no hang [B3]", no_record),
        api_test("many launches, none lost [B4 B6]", many),
        api_test("pools for 256 levels and 4,096 launches take less than 32 MiB [B3]", large_pools),
        api_test("a kernel with more state than the places have is refused [B3 B7]", state_too_large),
        api_test("a kernel that launches needs a nest [B3]", needs_a_nest),
        api_test("a compiled kernel that may wait says so [B7]", compiled_waits),
        api_test("several commands have ended when all they launched has [B8 B15]", several_commands),
        api_test("a CTA waits for its own children, not for its sisters' [B3 B7]", sisters_do_not_wait),
        api_test("children of a CTA that has ended hold up nobody in its place [B3 B12]", children_outlive_their_cta),
        api_test("a grid that is one context waits as one [B3 B7]", a_grid_waits_as_one),
        api_test("only a kernel that may wait has contexts for its CTAs [B3]", groups_of_kernels_that_wait),
        api_test("a channel is reset in the middle of a tree [B12]", reset_in_the_middle),
        api_test("sixteen CTAs wait beside each other, of 200 [B7]", sixteen_wait_beside_each_other),
        api_test("as many CTAs wait beside each other as was asked for [B3 B7]", as_many_as_asked_for),
        api_test("a nest goes on with a place for each depth and no more [B7 B9]", only_what_is_kept),
        api_test("save areas that VRAM has no room for are refused [B3]", save_areas_fill_vram),
        api_test("there are nests as long as there are records [B3]", as_many_nests_as_records),
        api_test("sizes of places that cannot be are refused [B3]", places_that_cannot_be),
        api_test("a channel is reset while tasks wait for places [B9 B12]", reset_while_tasks_wait_for_places),
    };

    return cmocka_run_group_tests_name("api: nested tasks", tests, api_machine_setup, api_machine_teardown);
}
