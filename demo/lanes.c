/* SPDX-License-Identifier: MIT */
#include "demo/lanes.h"

#include "demo/clock.h"

#define CTAS 8u
#define CTA_THREADS 128u
#define TURNS 4u /* of each thread with the lock, as demo/lanes.s has them */
#define LANES 32u

/* As the kernels have it. */
struct memory {
    uint32_t lock, counted;
    uint32_t exchanged, ended;
};

/* How long it took; the memory is zeros before. */
static enum ppu_err run(const struct user *user, const char *kernel, uint32_t ctas, uint32_t threads,
                        struct ppu_memory *memory, double *ms)
{
    const uint64_t va = user_va(user, memory);
    const struct ppu_launch launch = { .grid = { ctas }, .cta = { threads }, .params = &va, .param_bytes = sizeof(va) };

    *(struct memory *)ppu_memory_host(memory) = (struct memory){ 0 };
    double before_ms = clock_ms();
    enum ppu_err err = user_run(user, user_kernel(user, kernel), &launch);
    *ms = clock_ms() - before_ms;
    return err;
}

static void show_lock(struct report *report, const struct user *user, struct ppu_memory *memory)
{
    const struct memory *result = ppu_memory_host(memory);
    double ms;
    enum ppu_err err = run(user, "locked", CTAS, CTA_THREADS, memory, &ms);

    if (err != PPU_OK) {
        report_check(report, false, "turns with one lock", "%s", user_reason(user, err));
        return;
    }
    report_check(report, result->counted == CTAS * CTA_THREADS * TURNS, "turns with one lock",
                 "%9s    of %s threads, 32 in a warp; %.2f us each", grouped(result->counted).text,
                 grouped(CTAS * CTA_THREADS).text, ms * 1e3 / (CTAS * CTA_THREADS * TURNS));
}

static void show_exchange(struct report *report, const struct user *user, struct ppu_memory *memory)
{
    const struct memory *result = ppu_memory_host(memory);
    double ms;
    enum ppu_err err = run(user, "undone", 1, LANES, memory, &ms);

    if (err != PPU_OK) {
        report_check(report, false, "lanes that undo others", "%s", user_reason(user, err));
        return;
    }
    report_check(report, result->ended == LANES, "lanes that undo others",
                 "%9s    of one warp, all have ended; %.2f ms", grouped(result->ended).text, ms);
}

void lanes_show(struct report *report, const struct user *user)
{
    struct ppu_memory *memory = user_memory(user, PPU_MEMORY_VRAM, sizeof(struct memory));

    report_section("Lanes that wait for each other");
    show_lock(report, user, memory);
    show_exchange(report, user, memory);
    need(ppu_memory_free(memory), "memory given back");
}
