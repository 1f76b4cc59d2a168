/* SPDX-License-Identifier: MIT */
/*
 * Tests trees that end before their time, and threads that write over their nest: the trees of others come to their
 * end.
 */
#include "tests/api/script.h"

#include <string.h>

#include "ppu/macros.h"
#include "ppu/nest.h"
#include "ppu/tmd.h"
#include "runtime/context.h"
#include "runtime/deadline.h"
#include "runtime/memory.h"

#define NODES 128u

/* A tree with a channel of its own; in the fixture's address space or another. */
struct party {
    struct api *api;
    struct ppu_context *context;
    struct ppu_channel *channel;
    struct ppu_stream *stream;
    struct script script;
};

static const struct ppu_nest_options nest = { .tasks = 512, .depth = 12, .state_bytes = 12 * 1024 };

static void party_begin(struct party *party, struct api *api, struct ppu_context *context)
{
    *party = (struct party){ .api = api, .context = context };
    check(ppu_channel_create(context, NULL, &party->channel));
    check(ppu_stream_create(party->channel, &party->stream));
    script_begin(&party->script, api, context, party->channel, NODES);
}

static void party_end(struct party *party)
{
    script_end(&party->script);
    check(ppu_channel_destroy(party->channel));
    check(ppu_stream_destroy(party->stream));
}

/* A new random tree, launched. Returns its first node. */
static uint32_t party_launch(struct party *party, uint64_t *random)
{
    script_clear(&party->script);
    uint32_t root = script_children(&party->script, SCRIPT_HOST, 1);
    script_grow(&party->script, root, NODES - 2, 8, random);
    script_launch(&party->script, &party->stream);
    return root;
}

static void party_finishes(struct party *party)
{
    check(ppu_event_wait(&party->script.event, LONG_NS));
    script_check(&party->script);
}

/* ---- a channel ends in the middle of its tree ---- */

/* Some node's descriptor is one that no task can run by: the tree ends there. */
static void break_a_node(struct party *party, uint64_t *random)
{
    struct script *script = &party->script;
    struct ppu_error error;

    script_clear(script);
    uint32_t root = script_children(script, SCRIPT_HOST, 1);
    script_grow(script, root, NODES - 2, 8, random);
    script->node[root].awaits = script_gate(NODES - 1);
    script_launch(script, &party->stream);
    script->node[root + 1 + api_random(random) % (NODES - 4)].tmd = ppu_memory_va(script->log, party->context).va;
    script_open(script, NODES - 1);
    api_wait_fault(party->channel, &error);
    assert_int_equal(error.code, PPU_ERR_BAD_TMD);
    check(ppu_channel_reset(party->channel));
}

static void reset_it(struct party *party, uint64_t *random)
{
    uint32_t root = party_launch(party, random);

    sleep_ns(api_random(random) % (2 * NS_PER_MS));
    check(ppu_channel_reset(party->channel));
    assert_true(script_begun(&party->script, root) <= 1);
}

static void destroy_it(struct party *party, uint64_t *random)
{
    party_launch(party, random);
    sleep_ns(api_random(random) % (2 * NS_PER_MS));
    check(ppu_channel_destroy(party->channel));
    check(ppu_channel_create(party->context, NULL, &party->channel));
    party->script.channel = party->channel;
}

/* One tree ends; one of the same address space and one of another do not notice. */
static void the_rest_goes_on(void **state)
{
    static void (*const end[])(struct party * party, uint64_t * random) = { break_a_node, reset_it, destroy_it };
    struct api *api = *state;
    struct ppu_context *other = NULL;
    struct party victim, neighbour, stranger;
    uint64_t random = api_seed();

    check(ppu_context_create(api->device, &other));
    check(ppu_context_nest(api->context, &nest));
    check(ppu_context_nest(other, &nest));
    party_begin(&victim, api, api->context);
    party_begin(&neighbour, api, api->context);
    party_begin(&stranger, api, other);
    for (uint32_t i = 0; i < api_rounds(12); i++) {
        party_launch(&neighbour, &random);
        party_launch(&stranger, &random);
        end[i % 3](&victim, &random);
        party_finishes(&neighbour);
        party_finishes(&stranger);
        party_launch(&victim, &random);
        party_finishes(&victim);
    }
    party_end(&victim);
    party_end(&neighbour);
    party_end(&stranger);
    api_forget_programs(3);
    check(ppu_context_destroy(other));
}

/* ---- threads that write over their nest ---- */

enum { WRITES = 1, REQUESTS = 2, LAUNCHES = 4, WAITS = 8 };

struct scribble_params {
    uint64_t nest, tmd, children;
    uint32_t ring_bytes, records, turns, seed, first, what;
};

_Static_assert(sizeof(struct scribble_params) == 48, "as the kernel has it");

/* An address space whose threads do what they must not; made anew each time. */
struct hostile {
    struct ppu_context *context;
    struct ppu_channel *channel;
    struct ppu_stream *stream;
    struct ppu_memory *memory;
    const struct ppu_kernel *kernel;
};

static void hostile_launch(struct hostile *hostile, struct api *api, uint32_t what, uint64_t *random)
{
    const struct ppu_launch child = { .grid = { 2 }, .cta = { 32 } };

    check(ppu_context_create(api->device, &hostile->context));
    check(ppu_context_nest(hostile->context, &nest));
    check(ppu_channel_create(hostile->context, NULL, &hostile->channel));
    check(ppu_stream_create(hostile->channel, &hostile->stream));
    check(ppu_memory_create(hostile->context, PPU_MEMORY_VRAM, 4096, &hostile->memory));
    hostile->kernel = api_kernel(api, hostile->context, "pressure", "scribble");
    uint64_t va = ppu_memory_va(hostile->memory, hostile->context).va;
    const struct ppu_nest *head = ppu_memory_host(hostile->context->nest);
    struct scribble_params params = {
        .nest = ppu_memory_va(hostile->context->nest, hostile->context).va,
        .tmd = va,
        .children = va + 256,
        .ring_bytes = PPU_NEST_TASKS_AT(nest.tasks),
        .records = nest.tasks,
        .turns = 200,
        .seed = api_random(random),
        .first = head->first,
        .what = what & ~(uint32_t)LAUNCHES,
    };
    check(ppu_kernel_describe(hostile->kernel, &child, ppu_memory_host(hostile->memory)));
    memcpy((char *)ppu_memory_host(hostile->memory) + 256, &params, sizeof(params));
    params.what = what;
    params.turns = 40;
    const struct ppu_launch launch = { .grid = { 2 }, .cta = { 32 }, .params = &params, .param_bytes = sizeof(params) };
    check(ppu_stream_launch(hostile->stream, hostile->kernel, &launch, NULL));
}

static void hostile_end(struct hostile *hostile, bool reset)
{
    if (reset) {
        check(ppu_channel_reset(hostile->channel));
    }
    check(ppu_channel_destroy(hostile->channel));
    check(ppu_stream_destroy(hostile->stream));
    api_forget_programs(1);
    check(ppu_memory_free(hostile->memory));
    check(ppu_context_destroy(hostile->context));
}

static void only_their_own_context(void **state)
{
    static const uint32_t what[] = {
        WRITES | LAUNCHES,
        REQUESTS,
        WRITES | LAUNCHES | WAITS,
        REQUESTS | LAUNCHES,
        WRITES | REQUESTS | LAUNCHES | WAITS,
    };
    struct api *api = *state;
    struct hostile hostile;
    struct party party;
    uint64_t random = api_seed();
    uint32_t faults = 0;

    check(ppu_context_nest(api->context, &nest));
    party_begin(&party, api, api->context);
    for (uint32_t i = 0; i < api_rounds(20); i++) {
        struct ppu_error error;
        hostile_launch(&hostile, api, what[i % PPU_ARRAY_SIZE(what)], &random);
        party_launch(&party, &random);
        party_finishes(&party);
        sleep_ns(api_random(&random) % (5 * NS_PER_MS));
        faults += ppu_channel_error(hostile.channel, &error) != PPU_OK;
        hostile_end(&hostile, i % 2 == 0);
        party_launch(&party, &random);
        party_finishes(&party);
    }
    print_message("# %u of %u ended with a fault, the others were ended\n", faults, api_rounds(20));
    assert_true(faults > 0);
    party_end(&party);
    assert_int_equal(api_query(api, PPU_KEY_TASKS_FREE, 0), api_query(api, PPU_KEY_TASKS_TOTAL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        api_test("a tree ends in the middle, and others go on [B12]", the_rest_goes_on),
        api_test("threads that write over their nest harm their own context alone [B4 B5 B12]", only_their_own_context),
    };

    return cmocka_run_group_tests_name("api: hostile", tests, api_machine_setup, api_machine_teardown);
}
