/* SPDX-License-Identifier: MIT */
#include "tests/api/script.h"

#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "ppu/tmd.h"
#include "runtime/deadline.h"

#define NODE_PARAM_BYTES 48u
#define TMD_STRIDE 256u
#define LOG_AT 64u
#define THREADS_MOST 8u
#define BRANCHES_MOST 7u

/* Kinds of log entries: the low bits. */
enum { LOG_BEGUN = 0, LOG_ENDED = 1, LOG_FAILED = 2 };

_Static_assert(sizeof(struct script_node) == 64, "as the kernel has it");

/* ---- making one ---- */

void script_begin(struct script *script, struct api *api, struct ppu_context *context, struct ppu_channel *channel,
                  uint32_t most)
{
    *script = (struct script){ .api = api, .context = context, .channel = channel, .most = most };
    script->kernel = api_kernel(api, context, "script", "script");
    check(
        ppu_memory_create(context, PPU_MEMORY_VRAM, most * (sizeof(struct script_node) + TMD_STRIDE), &script->memory));
    check(ppu_memory_create(context, PPU_MEMORY_VRAM, LOG_AT + most * 4ull * 2 * THREADS_MOST, &script->log));
    script->node = ppu_memory_host(script->memory);
    script->plan = calloc(most, sizeof(script->plan[0]));
    assert_non_null(script->plan);
    script_clear(script);
}

void script_end(struct script *script)
{
    check(ppu_memory_free(script->memory));
    check(ppu_memory_free(script->log));
    free(script->plan);
}

void script_clear(struct script *script)
{
    script->count = 1;
    script->node[SCRIPT_HOST] = (struct script_node){ .number = SCRIPT_HOST };
    script->plan[SCRIPT_HOST] = (struct script_plan){ .ctas = 1, .threads = 1 };
}

static uint64_t va_of(const struct script *script, const struct ppu_memory *memory)
{
    return ppu_memory_va(memory, script->context).va;
}

static uint32_t tmd_offset(const struct script *script, uint32_t node)
{
    return script->most * (uint32_t)sizeof(struct script_node) + node * TMD_STRIDE;
}

uint32_t script_children(struct script *script, uint32_t parent, uint32_t count)
{
    uint32_t first = script->count;

    assert_true(first + count <= script->most && script->node[parent].children == 0);
    script->node[parent].first = first;
    script->node[parent].children = count;
    script->plan[parent].launches = true;
    for (uint32_t i = first; i < first + count; i++) {
        script->node[i] = (struct script_node){
            .script = va_of(script, script->memory),
            .log = va_of(script, script->log),
            .number = i,
            .tmd = va_of(script, script->memory) + tmd_offset(script, i),
        };
        script->plan[i] = (struct script_plan){ .ctas = 1, .threads = 1 };
    }
    script->count += count;
    return first;
}

uint32_t script_gate(uint32_t node)
{
    return node + 1;
}

void script_grow(struct script *script, uint32_t parent, uint32_t nodes, uint32_t streams, uint64_t *random)
{
    uint32_t end = script->count + nodes;
    uint32_t next = parent;

    /* Each node in turn gets some of those that are left; the last ones get none. */
    while (script->count < end) {
        uint32_t left = end - script->count;
        uint32_t count = 1 + api_random(random) % BRANCHES_MOST;
        uint32_t first = script_children(script, next, PPU_MIN(count, left));
        for (uint32_t i = first; i < script->count; i++) {
            script->node[i].waits = api_random(random) % 2;
            script->node[i].turns = api_random(random) % 4 == 0 ? api_random(random) % 2000 : 0;
            script->node[i].stream = api_random(random) % 8 == 0 ? SCRIPT_NO_STREAM : api_random(random) % streams;
            script->plan[i].threads = api_random(random) % 4 == 0 ? 1 + api_random(random) % THREADS_MOST : 1;
        }
        next = next == parent ? first : next + 1;
    }
}

/* ---- running it ---- */

/* Its task may do what it needs to, and no more. */
static void describe(struct script *script, uint32_t node)
{
    const struct ppu_launch launch = { .grid = { script->plan[node].ctas }, .cta = { script->plan[node].threads } };
    struct ppu_tmd tmd;

    check(ppu_kernel_describe(script->kernel, &launch, &tmd));
    if (script->node[node].waits == 0) {
        tmd.flags &= (uint16_t)~PPU_TMD_MAY_WAIT;
    }
    if (!script->plan[node].launches) {
        tmd.flags &= (uint16_t)~PPU_TMD_LAUNCH;
    }
    tmd.param_va = va_of(script, script->memory) + node * sizeof(struct script_node);
    tmd.param_bytes = NODE_PARAM_BYTES;
    tmd.correlation = node; /* so that traces and faults name it */
    memcpy((char *)ppu_memory_host(script->memory) + tmd_offset(script, node), &tmd, sizeof(tmd));
}

static uint32_t tmdq_of(const struct script *script, uint32_t parent, uint32_t child)
{
    uint32_t stream = script->node[child].stream;

    return parent == SCRIPT_HOST ? ppu_stream_index(script->streams[stream]) : stream;
}

void script_start(struct script *script, struct ppu_stream *const *streams)
{
    const struct script_node *host = &script->node[SCRIPT_HOST];
    struct ppu_block *block = NULL;

    script->streams = streams;
    memset(ppu_memory_host(script->log), 0, ppu_memory_bytes(script->log));
    for (uint32_t i = 0; i < script->most; i++) {
        script->node[i].begun = 0;
    }
    for (uint32_t i = 1; i < script->count; i++) {
        describe(script, i);
    }
    for (uint32_t i = 0; i < host->children; i++) {
        const struct script_node *child = &script->node[host->first + i];
        check(ppu_block_begin(script->channel, &block));
        ppu_block_launch_tmd(block, (ppu_va_t){ child->tmd }, tmdq_of(script, SCRIPT_HOST, child->number));
        check(ppu_block_submit(block, NULL));
    }
}

void script_launch(struct script *script, struct ppu_stream *const *streams)
{
    struct ppu_block *block = NULL;

    script_start(script, streams);
    check(ppu_block_begin(script->channel, &block));
    check(ppu_block_submit(block, &script->event));
}

enum ppu_err script_run(struct script *script, struct ppu_stream *const *streams)
{
    script_launch(script, streams);
    return ppu_event_wait(&script->event, LONG_NS);
}

void script_open(struct script *script, uint32_t node)
{
    api_set_word(script->memory, node * sizeof(struct script_node) + offsetof(struct script_node, begun), 1);
}

/* ---- its log ---- */

static uint32_t log_entries(const struct script *script)
{
    uint32_t count = api_word(script->log, 0);
    uint32_t most = (uint32_t)((ppu_memory_bytes(script->log) - LOG_AT) / sizeof(uint32_t));

    assert_true(count <= most);
    return count;
}

static uint32_t count_of(const struct script *script, uint32_t entry)
{
    uint32_t found = 0;

    for (uint32_t i = log_entries(script); i-- > 0;) {
        found += api_word(script->log, LOG_AT + 4 * i) == entry;
    }
    return found;
}

uint32_t script_begun(const struct script *script, uint32_t node)
{
    return count_of(script, 4 * node + LOG_BEGUN);
}

uint32_t script_ended(const struct script *script, uint32_t node)
{
    return count_of(script, 4 * node + LOG_ENDED);
}

static bool wait_entry(const struct script *script, uint32_t entry)
{
    uint64_t deadline_ns = deadline_after(LONG_NS);

    while (count_of(script, entry) == 0) {
        if (deadline_left(deadline_ns) == 0) {
            return false;
        }
        sleep_ns(100 * NS_PER_US);
    }
    return true;
}

bool script_wait_begun(const struct script *script, uint32_t node)
{
    return wait_entry(script, 4 * node + LOG_BEGUN);
}

bool script_wait_ended(const struct script *script, uint32_t node)
{
    return wait_entry(script, 4 * node + LOG_ENDED);
}

/* ---- the rules ---- */

/* When things happened to a node: places in the log. */
struct life {
    uint32_t begun, ended; /* entries */
    uint32_t first_begun;  /* place of the first such entry */
    uint32_t first_ended;  /* of the first thread that ended */
    uint32_t last_ended;   /* of the last */
    uint32_t tree_ended;   /* of the last in the node's whole tree */
};

static void life_add(const struct script *script, struct life *life, uint32_t position, uint32_t entry)
{
    uint32_t node = entry / 4;

    assert_in_range(node, 1, script->count - 1);
    switch (entry % 4) {
    case LOG_BEGUN:
        life[node].first_begun = life[node].begun++ == 0 ? position : life[node].first_begun;
        break;
    case LOG_ENDED:
        life[node].first_ended = life[node].ended++ == 0 ? position : life[node].first_ended;
        life[node].last_ended = position;
        break;
    default:
        fail_msg("node %u could not be launched", node);
    }
}

static struct life *lives(const struct script *script)
{
    struct life *life = calloc(script->count, sizeof(*life));

    assert_non_null(life);
    for (uint32_t i = 0; i < log_entries(script); i++) {
        life_add(script, life, i, api_word(script->log, LOG_AT + 4 * i));
    }
    for (uint32_t i = script->count; i-- > 1;) { /* children have higher numbers */
        const struct script_node *node = &script->node[i];
        life[i].tree_ended = life[i].last_ended;
        for (uint32_t c = node->first; c < node->first + node->children; c++) {
            if (life[c].tree_ended > life[i].tree_ended) {
                life[i].tree_ended = life[c].tree_ended;
            }
        }
    }
    return life;
}

static void check_ran_once(const struct script *script, const struct life *life, uint32_t node)
{
    uint32_t threads = script->plan[node].ctas * script->plan[node].threads;

    if (life[node].begun != threads || life[node].ended != threads) {
        fail_msg("node %u of %u threads: %u begun, %u ended", node, threads, life[node].begun, life[node].ended);
    }
}

/* a was launched before b, at least when one thread launched both. They are in one TMDQ. */
static void check_pair(const struct script *script, const struct life *life, uint32_t a, uint32_t b, bool one_thread)
{
    if (one_thread && life[a].first_begun > life[b].first_begun) {
        fail_msg("node %u of stream %u ran before node %u, which was launched first", b, script->node[b].stream, a);
    }
    if (life[a].first_begun < life[b].first_begun ? life[a].tree_ended > life[b].first_begun
                                                  : life[b].tree_ended > life[a].first_begun) {
        fail_msg("nodes %u and %u of stream %u ran at once", a, b, script->node[a].stream);
    }
}

static void check_children(const struct script *script, const struct life *life, uint32_t parent)
{
    const struct script_node *node = &script->node[parent];
    uint32_t threads = script->plan[parent].ctas * script->plan[parent].threads;
    uint32_t end = node->first + node->children;

    for (uint32_t b = node->first; b < end; b++) {
        for (uint32_t a = node->first; a < b; a++) {
            uint32_t tmdq = tmdq_of(script, parent, a);
            if (tmdq != SCRIPT_NO_STREAM && tmdq == tmdq_of(script, parent, b)) {
                check_pair(script, life, a, b, (b - a) % threads == 0);
            }
        }
        uint32_t waited = script->plan[parent].ctas == 1 ? life[parent].first_ended : life[parent].last_ended;
        if (node->waits && life[b].tree_ended > waited) {
            fail_msg("node %u did not wait for node %u", parent, b);
        }
    }
}

void script_check(const struct script *script)
{
    struct life *life = lives(script);

    for (uint32_t i = 1; i < script->count; i++) {
        check_ran_once(script, life, i);
    }
    for (uint32_t i = 0; i < script->count; i++) {
        check_children(script, life, i);
    }
    free(life);
}
