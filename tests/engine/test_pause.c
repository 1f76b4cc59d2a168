/* SPDX-License-Identifier: MIT */
/* Tests how long it takes to stop an SM, whatever its kernel does: in instructions, and in time. */
#define _POSIX_C_SOURCE 200809L /* clocks */

#include "ppu/macros.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/engine/engine.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/turn.h"
#include "qemu-device/core/sm/warp.h"
#include "tests/engine/worst.h"

#include <stdlib.h>
#include <time.h>

#define BUDGET 4096u
#define ROUNDS 9u
#define MOST_NAPS 2000u
#define MOST_PARTS 24u                        /* looked at: a slice of 10,000 instructions without memory has fewer */
#define MOST_TRANSACTIONS (4u * PPU_MAX_WAVE) /* of an instruction: a gather of four words by each lane */
#define MOST_NS 10000000ull

/* Instructions that the warp executes when somebody calls after it has begun. */
static void looks_after(const struct worst *worst)
{
    struct rig *rig = worst_rig(worst, 0);
    struct sm *sm = &(*core_sm_pool(rig->board->core))->sm[0];
    enum sm_activity activity;
    uint32_t first = worst_start(rig, worst);

    do {
        sm_run(sm, 1, &activity);
    } while (sm->warp[0].pc < first);
    assert_int_equal(sm->warp[0].state, WARP_READY);
    sm->attention = 1;
    uint32_t executed = engine_run(sm, 0, BUDGET);
    if (executed > worst->waits) {
        fail_msg("%s: %u instructions until the SM looked, not %u", worst->name, executed, worst->waits);
    }
    rig_free(rig);
}

static void looks_soon(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < WORSTS; i++) {
        looks_after(&worsts[i]);
    }
}

static uint64_t ns_of(clockid_t id)
{
    struct timespec now;

    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Without threads the SMs run under the host's lock: a call does a part of a slice, and the timer is due again at
 * once. */
static void slices_are_done_in_parts(void **state)
{
    uint32_t ended = 0;

    (void)state;
    for (uint32_t i = 0; i < WORSTS; i++) {
        struct rig *rig = worst_rig(&worsts[i], 0);
        struct core *core = rig->board->core;
        const struct sm_pool *pool = *core_sm_pool(core);
        const uint64_t *count = pool->sm[0].count;
        uint64_t insns;
        uint32_t parts = 0;

        worst_start(rig, &worsts[i]);
        uint64_t begin = ns_of(CLOCK_THREAD_CPUTIME_ID);
        do {
            const uint64_t done = count[PPU_COUNTER_INSNS] + count[PPU_COUNTER_TRANSACTIONS];
            const uint64_t most = SM_SLICE_PART + SM_SLICE_TURN * (1 + MOST_TRANSACTIONS);

            assert_int_equal(sm_slice_deadline(core), core_now(core));
            sm_slice_run(core);
            assert_in_range(count[PPU_COUNTER_INSNS] + count[PPU_COUNTER_TRANSACTIONS] - done, 1, most);
            parts++;
        } while (pool->slice.underway && parts < MOST_PARTS);
        if (!pool->slice.underway) {
            insns = count[PPU_COUNTER_INSNS];
            assert_in_range(insns, SM_SLICE_NS, SM_SLICE_NS + SM_SLICE_TURN);
            assert_int_equal(sm_slice_deadline(core), core_now(core) + insns);
            ended++;
        }
        printf("# %s: %u parts, %llu instructions, each part %.3f ms of the processor\n", worsts[i].name, parts,
               (unsigned long long)count[PPU_COUNTER_INSNS],
               (double)(ns_of(CLOCK_THREAD_CPUTIME_ID) - begin) / 1e6 / parts);
        rig_free(rig);
    }
    assert_in_range(ended, 1, WORSTS - 1);
}

#ifndef __SANITIZE_ADDRESS__
enum call { PAUSE, SAVE, RESET, CALLS };

static const char *const call_names[CALLS] = { "core_pause", "core_save", "core_reset" };

/* The SM has the CTA and executes it: its thread begins late on a host that is busy. */
static void wait_for_begin(const struct sm *sm)
{
    const struct timespec nap = { 0, 3000000 };
    uint32_t naps = 0;

    while (__atomic_load_n(&sm->ctas_used, __ATOMIC_RELAXED) == 0) {
        nanosleep(&nap, NULL);
        assert_in_range(naps++, 0, MOST_NAPS);
    }
    nanosleep(&nap, NULL);
}

/* How long each call takes in a machine of its own, as its reset leaves nothing of it. */
static void time_calls(const struct worst *worst, uint64_t *ns)
{
    const struct timespec nap = { 0, 3000000 };
    struct rig *rig = worst_rig(worst, 1);
    struct core *core = rig->board->core;
    const struct sm *sm = &(*core_sm_pool(core))->sm[0];
    uint64_t at[2 * CALLS];
    size_t len = 0;

    worst_start(rig, worst);
    wait_for_begin(sm);
    at[0] = ns_of(CLOCK_MONOTONIC);
    core_pause(core);
    at[1] = ns_of(CLOCK_MONOTONIC);
    assert_int_equal(sm->ctas_used, 1);
    at[2] = ns_of(CLOCK_MONOTONIC);
    uint8_t *state = core_save(core, &len);
    at[3] = ns_of(CLOCK_MONOTONIC);
    assert_non_null(state);
    free(state);
    core_resume(core);
    nanosleep(&nap, NULL);
    at[4] = ns_of(CLOCK_MONOTONIC);
    core_reset(core);
    at[5] = ns_of(CLOCK_MONOTONIC);
    assert_int_equal(sm->ctas_used, 0);
    for (uint32_t call = 0; call < CALLS; call++) {
        ns[call] = at[2 * call + 1] - at[2 * call];
    }
    rig_free(rig);
}

static int compare_times(const void *a, const void *b)
{
    const uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

    return (one > other) - (one < other);
}

/* A host that is busy makes some of them long, but not half of them. */
static void stops_soon(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < WORSTS; i++) {
        uint64_t ns[CALLS][ROUNDS];

        for (uint32_t n = 0; n < ROUNDS; n++) {
            uint64_t of_round[CALLS];

            time_calls(&worsts[i], of_round);
            for (uint32_t call = 0; call < CALLS; call++) {
                ns[call][n] = of_round[call];
            }
        }
        const uint32_t middle = ROUNDS / 2;
        for (uint32_t call = 0; call < CALLS; call++) {
            qsort(ns[call], ROUNDS, sizeof(ns[call][0]), compare_times);
            printf("# %s: %s: %.3f to %.3f ms, median %.3f ms\n", worsts[i].name, call_names[call],
                   (double)ns[call][0] / 1e6, (double)ns[call][ROUNDS - 1] / 1e6, (double)ns[call][middle] / 1e6);
            assert_true(ns[call][middle] < MOST_NS);
        }
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "an SM looks who waits for it soon, whatever its kernel does", looks_soon, NULL, NULL, NULL },
        { "SMs without threads do a slice in parts", slices_are_done_in_parts, NULL, NULL, NULL },
#ifndef __SANITIZE_ADDRESS__
        { "an SM stops within 10 ms, whatever its kernel does", stops_soon, NULL, NULL, NULL },
#endif
    };

    return cmocka_run_group_tests_name("engine: being stopped", tests, NULL, NULL);
}
