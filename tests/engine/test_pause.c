/* SPDX-License-Identifier: MIT */
/* How long who stops an SM waits for it, whatever its kernel does: in instructions, and in time. */
#define _POSIX_C_SOURCE 200809L /* clocks */

#include "core_state.h"
#include "sm_state.h"
#include "worst.h"

#include <time.h>

#define BUDGET 4096u
#define PAUSES 9u
#define MOST_NS 10000000ull

/* Instructions that the warp executes when somebody calls after it has begun. */
static void looks_after(const struct worst *worst)
{
    struct bench *bench = worst_bench(worst, 0);
    struct sm *sm = &(*core_sm_pool(bench->machine->core))->sm[0];
    enum sm_activity activity;
    uint32_t executed, first = worst_start(bench, worst);

    do {
        sm_run(sm, 1, &activity);
    } while (sm->warp[0].pc < first);
    assert_int_equal(sm->warp[0].state, WARP_READY);
    sm->attention = 1;
    executed = engine_run(sm, 0, BUDGET);
    if (executed > worst->waits) {
        fail_msg("%s: %u instructions until the SM looked, not %u", worst->name, executed, worst->waits);
    }
    bench_free(bench);
}

static void looks_soon(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < WORSTS; i++) {
        looks_after(&worsts[i]);
    }
}

#ifndef __SANITIZE_ADDRESS__
static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t pause_ns(struct bench *bench)
{
    const struct timespec nap = { 0, 3000000 };
    uint64_t begin, end;

    nanosleep(&nap, NULL);
    begin = now_ns();
    core_pause(bench->machine->core);
    end = now_ns();
    core_resume(bench->machine->core);
    return end - begin;
}

/* A host that is busy makes some of them long, but not all. */
static void stops_soon(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < WORSTS; i++) {
        struct bench *bench = worst_bench(&worsts[i], 1);
        uint64_t least = UINT64_MAX, most = 0;

        worst_start(bench, &worsts[i]);
        for (uint32_t n = 0; n < PAUSES; n++) {
            const uint64_t ns = pause_ns(bench);
            least = ns < least ? ns : least;
            most = ns > most ? ns : most;
        }
        printf("# %s: %.3f to %.3f ms\n", worsts[i].name, (double)least / 1e6, (double)most / 1e6);
        assert_int_equal((*core_sm_pool(bench->machine->core))->sm[0].ctas_used, 1);
        assert_true(least < MOST_NS);
        bench_free(bench);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "an SM looks who waits for it soon, whatever its kernel does", looks_soon, NULL, NULL, NULL },
#ifndef __SANITIZE_ADDRESS__
        { "an SM stops within 10 ms, whatever its kernel does", stops_soon, NULL, NULL, NULL },
#endif
    };

    return cmocka_run_group_tests_name("engine: being stopped", tests, NULL, NULL);
}
