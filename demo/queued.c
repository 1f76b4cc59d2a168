/* SPDX-License-Identifier: MIT */
#include "demo/queued.h"

#include <inttypes.h>

#include "demo/clock.h"
#include "ppu/tmd.h"

#define LAUNCHES 1024u
#define CTA_THREADS 128u
#define ENTRIES (2u * LAUNCHES + 3u) /* a launch takes one, and one more for the acquire behind it */
#define PARAMETERS 16u               /* of a launch, bytes */

/* As the kernels have them. */
struct params {
    uint64_t queue, tmd, list, scratch;
};

struct list {
    uint32_t ran, refused, zero[2];
    uint32_t of_number[LAUNCHES];
};

/* What threads and the program both see. */
struct queued {
    struct ppu_workq *queue;
    struct ppu_memory *tmd, *list, *scratch;
};

static struct queued queued_new(const struct user *user)
{
    const struct ppu_workq_options options = { .entries = ENTRIES };
    struct queued queued = {
        .tmd = user_memory(user, PPU_MEMORY_VRAM, sizeof(struct ppu_tmd)),
        .list = user_memory(user, PPU_MEMORY_VRAM, sizeof(struct list)),
        .scratch = user_memory(user, PPU_MEMORY_VRAM, (uint64_t)LAUNCHES * PARAMETERS),
    };

    need(ppu_workq_create(user->channel, &options, &queued.queue), "a work queue");
    return queued;
}

static void queued_free(const struct queued *queued)
{
    need(ppu_workq_destroy(queued->queue), "a work queue given back");
    need(ppu_memory_free(queued->tmd), "memory given back");
    need(ppu_memory_free(queued->list), "memory given back");
    need(ppu_memory_free(queued->scratch), "memory given back");
}

/* One block: the grid that fills the queue, and the round in which its work runs. */
static enum ppu_err run_round(const struct user *user, const struct queued *queued)
{
    const struct params params = { ppu_workq_va(queued->queue).va, user_va(user, queued->tmd),
                                   user_va(user, queued->list), user_va(user, queued->scratch) };
    const struct ppu_launch launch = {
        .grid = { LAUNCHES / CTA_THREADS }, .cta = { CTA_THREADS }, .params = &params, .param_bytes = sizeof(params)
    };
    const struct ppu_launch noted = { .grid = { 1 }, .cta = { 1 } };
    struct ppu_block *block = NULL;
    struct ppu_event event;

    need(ppu_kernel_describe(user_kernel(user, "note"), &noted, ppu_memory_host(queued->tmd)),
         "a task for threads to launch");
    need(ppu_block_begin(user->channel, &block), "a command block");
    ppu_block_launch(block, user->stream, user_kernel(user, "queued"), &launch);
    ppu_block_round(block, queued->queue);
    enum ppu_err err = ppu_block_submit(block, &event);
    return err == PPU_OK ? ppu_event_wait(&event, DEMO_WAIT_NS) : err;
}

static bool each_once(const struct list *list)
{
    bool once = list->ran == LAUNCHES && list->refused == 0;

    for (uint32_t i = 0; i < LAUNCHES; i++) {
        once = once && list->of_number[i] == 1;
    }
    return once;
}

void queued_show(struct report *report, const struct user *user)
{
    const struct queued queued = queued_new(user);

    report_section("Work that threads queue");
    double before_ms = clock_ms();
    enum ppu_err err = run_round(user, &queued);
    double ms = clock_ms() - before_ms;
    if (err != PPU_OK) {
        report_check(report, false, "queued by threads", "%s", user_reason(user, err));
    } else {
        report_check(report, each_once(ppu_memory_host(queued.list)), "queued by threads",
                     "%9s    launches, each ran once; by the CPU one", grouped(LAUNCHES).text);
        report_line("a launch of the queue", "%9.1f us    of %.2f ms for all, with the grid that fills it",
                    ms * 1e3 / LAUNCHES, ms);
    }
    queued_free(&queued);
}
