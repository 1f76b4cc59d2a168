/* SPDX-License-Identifier: MIT */
/*
 * Tests CTAs that are short and follow one another in the place of the first (qemu-device/core/sm/in_place.h). One
 * machine has an SM that does so; the other has the same SM in slices of virtual time, where each CTA is placed anew.
 * Memory, faults and counters are the same.
 */
#include "ppu/macros.h"
#include "qemu-device/core/sm/pool.h"
#include "tests/engine/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CTAS 200u
#define MOST_THREADS 256u
#define LEAST_REPLACED (CTAS / 5 * 4) /* the others are the first ones, and those in which an SM's turn ended */
#define HALF (DATA_BYTES / 2)         /* results, then what is loaded */

struct pair {
    struct rig *each; /* places each CTA */
    struct rig *reuses;
    uint64_t random;
};

#define PARAMS \
    "ldp.b64 s0, [0]\nldp.b64 s2, [8]\nrdsr s4, %cta.x\nrdsr s5, %ntid.x\nrdsr v0, %tid\nmad v1, s4, s5, v0\n"

static const char *const kernels[] = {
    /* registers, scalars, predicates and shared memory that nobody wrote are 0; the next CTA would see those of this */
    ".kernel k\n.vregs 16\n" PARAMS
    "shl v2, v0, 2\nlds.b32 v3, [v2]\nadd v3, v3, v9\nadd v3, v3, s9\n@p3 add v3, v3, 1\n"
    "ldg.b32 v4, [s2+v1*4]\nadd v4, v4, v3\nsts.b32 v4, [v2]\nbar 0\nshl s6, s5, 2\nsub v5, s6, v2\nlds.b32 v7, [v5-4]\n"
    "bar 0\nadd v9, v7, 1\nmov s9, 5\nisetp.eq p3, v0, v0\nxor v7, v7, v1\nbar 0\nstg.b32 v7, [s0+v1*4]\nexit\n",
    /* warps turn as often as each wants, and some lanes end before a barrier */
    ".kernel k\n.vregs 16\n" PARAMS "and v2, v0, 7\nisetp.eq p0, v2, 3\n@p0 exit\nldg.b32 v3, [s2+v1*4]\nbar 0\n"
    "mov v4, 0\nrdsr s6, %warp\nadd s6, s6, 2\nagain: mad v4, v4, v3, v1\nadd s6, s6, -1\nisetp.ne.s p7, s6, 0\n"
    "@p7 bra again\nbar 0\nstg.b32 v4, [s0+v1*4]\nexit\n",
    /* no barrier, and lanes that part */
    ".kernel k\n.vregs 16\n" PARAMS "ldg.b32 v3, [s2+v1*4]\nand v4, v3, 1\nisetp.eq p0, v4, 0\nssy end\n@p0 bra even\n"
    "mul v3, v3, 3\nadd v3, v3, 1\nsync end\neven: shr v3, v3, 1\nsync end\nend: stg.b32 v3, [s0+v1*4]\nexit\n",
    /* many barriers */
    ".kernel k\n.vregs 16\n" PARAMS "ldg.b32 v3, [s2+v1*4]\nshl v2, v0, 2\nmov s6, 60\n"
    "again: sts.b32 v3, [v2]\nbar 0\nlds.b32 v4, [v2]\nmad v3, v4, v4, v1\nadd s6, s6, -1\n"
    "isetp.ne.s p7, s6, 0\n@p7 bra again\nstg.b32 v3, [s0+v1*4]\nexit\n",
};

static struct rig *machine(uint32_t sm_threads)
{
    struct core_config config = board_small_config(sm_threads);

    config.sms = 1;
    return rig_new_config(&config);
}

static int setup(void **state)
{
    struct pair *const p = calloc(1, sizeof(*p));

    assert_non_null(p);
    p->each = machine(0);
    p->reuses = machine(1);
    p->random = random_seed();
    *state = p;
    return 0;
}

static int teardown(void **state)
{
    struct pair *const p = *state;

    rig_free(p->each);
    rig_free(p->reuses);
    free(p);
    return 0;
}

static struct ppu_tmd prepare(struct rig *rig, uint32_t slot, uint32_t wave, uint32_t threads, uint64_t from)
{
    const uint64_t params[] = { DATA_VA, from };
    struct ppu_tmd tmd = rig_tmd(rig, "k");

    tmd.wave = (uint8_t)wave;
    tmd.shared_bytes = MOST_THREADS * sizeof(uint32_t);
    rig_shape(&tmd, CTAS, 1, threads, 1);
    rig_params(rig, slot, &tmd, params, sizeof(params));
    return tmd;
}

static void fill(struct pair *p, const char *text)
{
    random_bytes(&p->random, rig_data(p->each, 0), DATA_BYTES);
    memcpy(rig_data(p->reuses, 0), rig_data(p->each, 0), DATA_BYTES);
    rig_load_text(p->each, text);
    rig_load_text(p->reuses, text);
}

static uint64_t replaced(const struct pair *p)
{
    return sm_replaced_ctas(p->reuses->board->core);
}

static const uint64_t *counts(const struct rig *rig)
{
    return (const uint64_t *)(const void *)(rig->board->vram + TMD_AT(0) + offsetof(struct ppu_tmd_copy, count));
}

static void are_alike(const struct pair *p)
{
    assert_memory_equal(rig_data(p->each, 0), rig_data(p->reuses, 0), DATA_BYTES);
    assert_memory_equal(counts(p->each), counts(p->reuses), PPU_COUNTERS * sizeof(uint64_t));
}

/* CTAs of so many threads, of which the last may have fewer. */
static void follow_of(struct pair *p, const char *text, uint32_t wave, uint32_t threads, uint32_t fewer)
{
    const uint64_t before = replaced(p);

    fill(p, text);
    struct ppu_tmd each = prepare(p->each, 0, wave, threads, DATA_VA + HALF);
    struct ppu_tmd reuses = prepare(p->reuses, 0, wave, threads, DATA_VA + HALF);
    each.edge[0] = reuses.edge[0] = (uint16_t)(threads - fewer);
    rig_run_done(p->each, &each);
    rig_run_done(p->reuses, &reuses);
    are_alike(p);
    assert_true(replaced(p) >= before + LEAST_REPLACED);
}

static void follow(void **state)
{
    static const uint32_t threads[] = { 128, MOST_THREADS, 200, 33 }; /* some warps of the last two are not full */
    struct pair *const p = *state;

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(kernels); i++) {
        for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
            for (uint32_t n = 0; n < PPU_ARRAY_SIZE(threads); n++) {
                printf("# kernel %u, wave %u, %u threads\n", i, wave, threads[n]);
                follow_of(p, kernels[i], wave, threads[n], 0);
                follow_of(p, kernels[i], wave, threads[n], 29);
            }
        }
    }
    assert_int_equal(sm_replaced_ctas(p->each->board->core), 0);
}

/* Thread `thread` is the first that loads from beyond the memory. */
static void fault_at(struct pair *p, uint32_t wave, uint32_t thread)
{
    const uint64_t from = DATA_VA + DATA_BYTES - thread * sizeof(uint32_t);

    fill(p, kernels[0]);
    const struct ppu_tmd each = prepare(p->each, 0, wave, MOST_THREADS, from);
    const struct ppu_tmd reuses = prepare(p->reuses, 0, wave, MOST_THREADS, from);
    const struct outcome a = rig_run(p->each, &each), b = rig_run(p->reuses, &reuses);
    assert_int_equal(a.event.kind, PPU_SLOT_KILLED);
    assert_int_equal(b.event.kind, PPU_SLOT_KILLED);
    assert_true(a.faulted && b.faulted);
    assert_memory_equal(&a.fault, &b.fault, sizeof(a.fault));
}

static void faults(void **state)
{
    static const uint32_t cta[] = { 0, 3, 9, 17, 100, CTAS - 1 };
    struct pair *const p = *state;

    for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
        for (uint32_t i = 0; i < PPU_ARRAY_SIZE(cta); i++) {
            printf("# wave %u, CTA %u\n", wave, cta[i]);
            fault_at(p, wave, cta[i] * MOST_THREADS + i * 40);
        }
    }
}

/*
 * Each CTA adds itself up. The one whose number is in the data waits until ten more have, by its second warp; the first
 * waits at a barrier for that.
 */
static const char waits[] =
    ".kernel k\n.vregs 16\n" PARAMS
    "ldp.b32 s8, [16]\nmov s10, 1\nmov v2, 1\nisetp.ne p0, v0, 0\nmov v7, 0\nmov v8, 0\n"
    "@!p0 atomg.add.relaxed.dev _, [s0+v7], v2\nisetp.ne.s p1, s4, s8\n@p1 bra on\nrdsr s6, %warp\nisetp.eq.s p1, s6, 0\n@p1 bra on\n"
    "add s7, s8, 11\nagain: atomg.add.acquire.dev v4, [s0+v7], v8\nreadfirst s9, v4\nisetp.lt.s p2, s9, s7\n"
    "@p2 bra again\non: bar 0\nadd v1, v1, 1\nstg.b32 v2, [s0+v1*4]\nexit\n";

static void others_come(void **state)
{
    struct pair *const p = *state;

    for (uint32_t at = 5; at < CTAS - 20; at += 35) {
        const struct {
            uint64_t data, none;
            uint32_t cta, zero;
        } params = { DATA_VA, 0, at, 0 };
        const uint64_t before = replaced(p);

        printf("# CTA %u\n", at);
        fill(p, waits);
        memset(rig_data(p->reuses, 0), 0, DATA_BYTES);
        struct ppu_tmd tmd = prepare(p->reuses, 0, PPU_MAX_WAVE, MOST_THREADS, 0);
        rig_params(p->reuses, 0, &tmd, &params, sizeof(params));
        rig_run_done(p->reuses, &tmd);
        assert_int_equal(*(uint32_t *)rig_data(p->reuses, 0), CTAS);
        for (uint32_t i = 1; i <= CTAS * MOST_THREADS; i++) {
            assert_int_equal(((uint32_t *)rig_data(p->reuses, 0))[i], 1);
        }
        assert_true(replaced(p) > before);
    }
}

/* A grid that would take minutes is killed; the next task finds the SM as it was. */
static void killed(void **state)
{
    struct pair *const p = *state;
    struct rig *const rig = p->reuses;
    struct outcome outcome;

    for (uint32_t round = 0; round < 20; round++) {
        const uint64_t before = replaced(p);

        fill(p, ".kernel k\n.vregs 16\n" PARAMS "shl v2, v0, 2\nsts.b32 v0, [v2]\nbar 0\nlds.b32 v3, [v2]\nexit\n");
        struct ppu_tmd endless = prepare(rig, 0, PPU_MAX_WAVE, MOST_THREADS, DATA_VA);
        endless.grid[0] = 1u << 30;
        rig_start(rig, 0, &endless);
        while (replaced(p) < before + 300 * round) {
            rig_step(rig);
        }
        rig_command(rig, 0, PPU_SLOT_CMD_KILL);
        assert_true(rig_wait(rig, 0, &outcome));
        assert_int_equal(outcome.event.kind, PPU_SLOT_KILLED);
        assert_false(outcome.faulted);
        fill(p, kernels[0]);
        const struct ppu_tmd each = prepare(p->each, 0, PPU_MAX_WAVE, MOST_THREADS, DATA_VA + HALF);
        const struct ppu_tmd after = prepare(rig, 0, PPU_MAX_WAVE, MOST_THREADS, DATA_VA + HALF);
        rig_run_done(p->each, &each);
        rig_run_done(rig, &after);
        are_alike(p);
    }
}

/* What stands at a barrier, and what was taken with it, goes on in another machine. */
static void moved(void **state)
{
    struct pair *const p = *state;
    struct ppu_slot_event event;
    uint32_t moves = 0;

    fill(p, kernels[0]);
    const struct ppu_tmd each = prepare(p->each, 0, PPU_LANES, MOST_THREADS, DATA_VA + HALF);
    rig_run_done(p->each, &each);
    for (bool ended = false; moves < 40; moves += !ended) {
        ended = false;
        const struct ppu_tmd tmd = prepare(p->reuses, 0, PPU_LANES, MOST_THREADS, DATA_VA + HALF);
        rig_start(p->reuses, 0, &tmd);
        for (uint32_t left = 1000; !ended && left != 0; left--) {
            if (left % 8 == 0) {
                p->reuses = rig_moved(p->reuses);
                moves++;
            }
            rig_step(p->reuses);
            ended = ring_pop(p->reuses->board, PPU_RING_SLOT, &event);
        }
        assert_true(ended);
        assert_int_equal(event.kind, PPU_SLOT_DONE);
        are_alike(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "CTAs that are short follow one another in one place [A7][A8]", follow, setup, teardown, NULL },
        { "one of them that faults is where each has a place of its own", faults, setup, teardown, NULL },
        { "others come beside one that waits for them [A8]", others_come, setup, teardown, NULL },
        { "they are killed among others [A6]", killed, setup, teardown, NULL },
        { "a snapshot of them goes on in another machine", moved, setup, teardown, NULL },
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
