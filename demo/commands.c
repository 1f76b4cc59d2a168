/* SPDX-License-Identifier: MIT */
#include "demo/commands.h"

#include "demo/clock.h"

#define TASKS 256u
#define SEM_AT 64u /* in the words of a chain */
#define RESULTS_AT 128u
#define BYTES (RESULTS_AT + 4u * TASKS)

/* Tasks one after the other in a stream: each fills a word, lets a grid add 1 to it, and copies it to its result. */
struct chain {
    const struct user *user;
    struct ppu_stream *stream;
    struct ppu_memory *memory;
    uint64_t va;
};

static struct chain chain_new(const struct user *user)
{
    struct chain chain = { .user = user, .memory = user_memory(user, PPU_MEMORY_VRAM, BYTES) };

    chain.va = user_va(user, chain.memory);
    need(ppu_stream_create(user->channel, &chain.stream), "a stream");
    return chain;
}

static void chain_free(const struct chain *chain)
{
    need(ppu_stream_destroy(chain->stream), "a stream given back");
    need(ppu_memory_free(chain->memory), "memory given back");
}

static uint32_t value_of(uint32_t task)
{
    return 10 * task;
}

static ppu_va_t at(const struct chain *chain, uint32_t offset)
{
    return (ppu_va_t){ chain->va + offset };
}

static void as_one_task(const struct chain *chain, uint32_t task, const struct ppu_launch *launch)
{
    struct ppu_block *block = NULL;

    need(ppu_block_begin(chain->user->channel, &block), "a command block");
    ppu_block_commands(block, chain->stream);
    ppu_block_fill(block, at(chain, 0), value_of(task), 4);
    ppu_block_launch(block, chain->stream, user_kernel(chain->user, "count"), launch);
    ppu_block_copy(block, at(chain, RESULTS_AT + 4 * task), at(chain, 0), 4);
    ppu_block_commands_end(block);
    need(ppu_block_submit(block, NULL), "commands of a stream");
}

static void as_three_tasks(const struct chain *chain, uint32_t task, const struct ppu_launch *launch)
{
    need(ppu_stream_fill(chain->stream, at(chain, 0), value_of(task), 4, NULL), "a fill in a stream");
    need(ppu_stream_launch(chain->stream, user_kernel(chain->user, "count"), launch, NULL), "a grid in a stream");
    need(ppu_stream_copy(chain->stream, at(chain, RESULTS_AT + 4 * task), at(chain, 0), 4, NULL), "a copy in a stream");
}

/* Returns the time of a task in us, or a negative number when a result is wrong or the stream did not end. */
static double run_chain(const struct chain *chain,
                        void (*give)(const struct chain *chain, uint32_t task, const struct ppu_launch *launch))
{
    const uint64_t params[] = { chain->va };
    const struct ppu_launch launch = { .grid = { 1 }, .cta = { 1 }, .params = params, .param_bytes = sizeof(params) };
    const uint32_t *results = (const uint32_t *)ppu_memory_host(chain->memory) + RESULTS_AT / 4;
    double before_ms = clock_ms();

    for (uint32_t task = 0; task < TASKS; task++) {
        give(chain, task, &launch);
    }
    bool right = ppu_stream_wait(chain->stream, DEMO_WAIT_NS) == PPU_OK;
    double ms = clock_ms() - before_ms;
    for (uint32_t task = 0; task < TASKS; task++) {
        right = right && results[task] == value_of(task) + 1;
    }
    return right ? ms * 1e3 / TASKS : -1;
}

/* The first stream stands at a semaphore until the second, of the same channel, has done all of its tasks. */
static bool beside_one_that_waits(const struct chain *waits, const struct chain *goes_on)
{
    struct ppu_event held;

    need(ppu_stream_acquire(waits->stream, at(waits, SEM_AT), 1, PPU_SEM_GREATER_EQUAL), "an acquire in a stream");
    need(ppu_stream_event(waits->stream, &held), "an event of a stream");
    bool good = run_chain(goes_on, as_one_task) >= 0 && !ppu_event_done(&held);
    need(ppu_stream_release(goes_on->stream, at(waits, SEM_AT), 1, false), "a release in a stream");
    return ppu_event_wait(&held, DEMO_WAIT_NS) == PPU_OK && good;
}

void commands_show(struct report *report, const struct user *user)
{
    const struct chain first = chain_new(user), second = chain_new(user);

    report_section("Commands in a stream");
    double together_us = run_chain(&first, as_one_task);
    double apart_us = run_chain(&first, as_three_tasks);
    report_check(report, together_us >= 0 && apart_us >= 0, "tasks of three commands",
                 "%9u    each a fill, a grid and a copy, in this order", TASKS);
    report_line("a task", "%9.1f us    %.1f us as three tasks, one behind the other", together_us, apart_us);
    report_check(report, beside_one_that_waits(&first, &second), "beside one that waits",
                 "%9u    tasks of another stream of the channel, all have ended", TASKS);
    chain_free(&first);
    chain_free(&second);
}
