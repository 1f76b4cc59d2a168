/* SPDX-License-Identifier: MIT */
/* Tests the model of the caches: beside an obvious one, and by kernels whose hits and misses are known beforehand. */
#include "ppu/macros.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/sm/cache_model.h"
#include "qemu-device/core/sm/cache_window.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/warp.h"
#include "tests/engine/model_cache.h"
#include "tests/engine/rig.h"

#include <stdlib.h>
#include <string.h>

#define LINE RIG_LINE
#define ACCESSES 20000u
#define STEPS_MAX 100000u
#define STEP_INSNS 37u

/* ---- one cache ---- */

static void like_a_list(void **state)
{
    static const struct {
        uint32_t bytes, ways, line;
    } shapes[] = { { 128, 1, 128 }, { 4096, 4, 128 }, { 4096, 32, 128 }, { 1024, 1, 32 }, { 65536, 8, 128 } };
    uint64_t random = random_seed();

    (void)state;
    for (size_t n = 0; n < PPU_ARRAY_SIZE(shapes); n++) {
        struct model_cache model = model_cache_new(shapes[n].bytes, shapes[n].ways, shapes[n].line);
        const uint32_t lines = 2 * shapes[n].bytes / shapes[n].line;
        uint32_t hits = 0, accesses = random_rounds(ACCESSES);
        struct cache cache;

        assert_true(cache_alloc(&cache, shapes[n].bytes, shapes[n].ways, shapes[n].line));
        for (uint32_t i = 0; i < accesses; i++) {
            uint64_t line = (uint64_t)random_below(&random, lines) << (random_below(&random, 2) * 40);
            bool fetch = random_below(&random, 4) != 0;

            if (random_below(&random, 50) == 0) {
                cache_drop(&cache, line);
                model_cache_drop(&model, line);
                continue;
            }
            bool hit = cache_use(&cache, line, fetch);
            assert_int_equal(hit, model_cache_use(&model, line, fetch));
            hits += hit;
        }
        assert_true(hits > accesses / 50);
        cache_empty(&cache);
        assert_false(cache_use(&cache, model.have[0].line, false));
        cache_free(&cache);
    }
}

/* ---- kernels, on one SM with a first level of 64 lines in 16 sets, and a second of 128 in 32 ---- */

#define HEAD \
    ".kernel k\n.vregs 16\nldp.b64 s0, [0]\nldp.b32 s2, [8]\nldp.b32 s3, [12]\nrdsr v0, %tid.x\nrdsr s4, %cta.x\n"

struct params {
    uint64_t data;
    uint32_t turns;
    uint32_t step;
};

static struct rig *modelled(uint32_t sms, uint32_t threads)
{
    struct core_config config = board_small_config(threads);

    config.sms = sms;
    config.cache_model = true;
    rig_small_caches(&config);
    return rig_new_config(&config);
}

static int setup(void **state)
{
    *state = modelled(1, 0);
    return 0;
}

static struct ppu_tmd prepare(struct rig *rig, const char *text, uint32_t ctas, uint32_t turns, uint32_t step)
{
    const struct params params = { DATA_VA, turns, step };

    rig_load_text(rig, text);
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    rig_shape(&tmd, ctas, 1, PPU_LANES, 1);
    rig_params(rig, 0, &tmd, &params, sizeof(params));
    return tmd;
}

static const uint64_t *counts(const struct rig *rig)
{
    return (const uint64_t *)(const void *)(rig->board->vram + TMD_AT(0) + offsetof(struct ppu_tmd_copy, count));
}

#define EXPECT(l1_hits, l1_misses, l2_hits, l2_misses)               \
    assert_int_equal(counts(rig)[PPU_COUNTER_L1_HITS], l1_hits);     \
    assert_int_equal(counts(rig)[PPU_COUNTER_L1_MISSES], l1_misses); \
    assert_int_equal(counts(rig)[PPU_COUNTER_L2_HITS], l2_hits);     \
    assert_int_equal(counts(rig)[PPU_COUNTER_L2_MISSES], l2_misses)

/* `turns` lines one after the other, twice. */
static const char rows[] = HEAD "mov s6, 2\nshl v1, v0, 2\n"
                                "again: mov v2, v1\nmov s5, s2\n"
                                "loop: ldg.b32 v3, [s0+v2]\nadd v2, v2, 128\nsub s5, s5, 1\nisetp.ne.s p0, s5, 0\n"
                                "@p0 bra loop\nsub s6, s6, 1\nisetp.ne.s p0, s6, 0\n@p0 bra again\nexit\n";

static void row_walk(void **state)
{
    struct rig *rig = *state;
    struct ppu_tmd tmd = prepare(rig, rows, 1, 64, 0);

    rig_run_done(rig, &tmd);
    EXPECT(64, 64, 0, 64); /* all stay */
    rig_run_done(rig, &tmd);
    EXPECT(64, 64, 64, 0); /* a task finds the first level empty, the second as it was left */
    tmd = prepare(rig, rows, 1, 80, 0);
    rig_run_done(rig, &tmd);
    /* Five lines for each of four ways of all sets: the one that comes is the one that went. The second level has the
     * 64 of before, then all. */
    EXPECT(0, 160, 144, 16);
}

/* A column: each lane its row, `step` bytes apart, word for word. */
static const char columns[] = HEAD "mul v1, v0, s3\nmov s5, s2\n"
                                   "loop: ldg.b32 v3, [s0+v1]\nadd v1, v1, 4\nsub s5, s5, 1\nisetp.ne.s p0, s5, 0\n"
                                   "@p0 bra loop\nexit\n";

static void column_walk(void **state)
{
    struct rig *rig = *state;
    struct ppu_tmd tmd = prepare(rig, columns, 1, 32, 128);

    rig_run_done(rig, &tmd);
    EXPECT(31 * 32, 32, 0, 32);
    tmd = prepare(rig, columns, 1, 32, 512);
    rig_run_done(rig, &tmd);
    /* Rows of four lines: 32 lines in 4 of the 16 sets, 8 for each of 4 ways. In 8 of the 32 sets of the second level
     * there are 4 for 4 ways: they stay; 8 lines are there from the first task, every fourth of its 32. */
    EXPECT(0, 32 * 32, 31 * 32 + 8, 24);
}

/* 32 x 32 words: row 32 * CTA of the product at 8192, of A at 0 and B at 4096. */
static const char product[] = HEAD "shl v1, v0, 2\nadd v2, v1, 0x1000\nmul s4, s4, 128\nmov v5, s4\nadd v1, v1, s4\n"
                                   "mov v6, 0\nmov s5, 32\n"
                                   "loop: ldg.b32 v3, [s0+v5]\nldg.b32 v4, [s0+v2]\nffma v6, v3, v4, v6\n"
                                   "add v5, v5, 4\nadd v2, v2, 128\nsub s5, s5, 1\nisetp.ne.s p0, s5, 0\n@p0 bra loop\n"
                                   "stg.b32 v6, [s0+v1+0x2000]\nexit\n";

static void matrix_product(void **state)
{
    struct rig *rig = *state;
    struct ppu_tmd tmd = prepare(rig, product, 32, 0, 0);

    rig_run_done(rig, &tmd);
    /* Both factors fill the first level exactly; the product's 32 lines only pass by. */
    EXPECT(32 * 32 * 2 - 64, 64, 0, 64 + 32);
}

/* What stores and atomics do to a line. */
static void writes(void **state)
{
    struct rig *rig = *state;
    struct ppu_tmd tmd = prepare(rig,
                                 HEAD "shl v1, v0, 2\nmov v2, 1\n"
                                      "stg.b32 v2, [s0+v1]\n"      /* not brought into the first level: L2 misses */
                                      "ldg.b32 v3, [s0+v1]\n"      /* L1 misses, L2 hits */
                                      "stg.b32 v2, [s0+v1]\n"      /* L2 hits */
                                      "ldg.b32 v3, [s0+v1]\n"      /* L1 hits: the store left it */
                                      "atomg.add _, [s0+v1], v2\n" /* L2 hits */
                                      "ldg.b32 v3, [s0+v1]\n"      /* L1 misses: the atomic took it; L2 hits */
                                      "ldg.b32 s8, [s0]\n"         /* one for all: L1 hits */
                                      "semrel [s0], 1\nexit\n",    /* L2 hits */
                                 1, 0, 0);

    rig_run_done(rig, &tmd);
    EXPECT(2, 2, 5, 1);
}

/* Lanes that lie anywhere: each different line once; a lane's bytes may lie in two. */
static void coalescing(void **state)
{
    struct rig *rig = *state;
    struct ppu_tmd tmd = prepare(rig,
                                 HEAD "and v1, v0, 3\nmul v1, v1, 256\nldg.b32 v3, [s0+v1]\n" /* four lines */
                                      "mov v1, 120\nldg.b128 v4, [s0+v1]\n"                   /* lines 0 and 1 */
                                      "shl v1, v0, 4\nldg.b128 v4, [s0+v1]\nexit\n",          /* lines 0 to 3 */
                                 1, 0, 0);

    rig_run_done(rig, &tmd);
    /* Lines 0, 2, 4, 6; 0, 1; 0, 1, 2, 3. */
    EXPECT(1 + 3, 4 + 1 + 1, 0, 6);
}

/* System memory is cached as VRAM is. */
static void system_memory(void **state)
{
    struct rig *rig = *state;
    struct ppu_tmd tmd = prepare(rig, columns, 1, 32, 128);
    const struct params params = { SYS_VA, 32, 128 };

    rig_params(rig, 0, &tmd, &params, sizeof(params));
    rig_run_done(rig, &tmd);
    EXPECT(31 * 32, 32, 0, 32);
}

/* ---- the window of a warp (D8) ---- */

static void window(void **state)
{
    struct rig *rig = *state;
    struct ppu_tmd tmd = prepare(rig, columns, 1, 32, 512);
    struct sm *sm = (*core_sm_pool(rig->board->core))->sm;
    enum sm_activity activity;
    uint32_t most = 0;

    rig_start(rig, 0, &tmd);
    while (sm_run(sm, 1, &activity), sm->ctas_used != 0) {
        const struct cache_window *seen = &sm->warp[sm->cta[0].warp[0]].window;

        assert_int_equal(seen->misses, seen->loads); /* every line of this walk misses */
        assert_true(seen->loads < CACHE_WINDOW);
        most = PPU_MAX(seen->loads, most);
    }
    assert_int_equal(most, 31 * 32); /* 1024 become 512 */
}

/* ---- snapshots, determinism, off ---- */

/* Runs the task of slot 0 to its end, a few instructions at a time; in between it may move to another machine. */
static struct rig *run_steps(struct rig *rig, const struct ppu_tmd *tmd, bool moves)
{
    struct ppu_slot_event event;

    rig_start(rig, 0, tmd);
    for (uint32_t step = 0; step < STEPS_MAX; step++) {
        struct sm_pool *pool = *core_sm_pool(rig->board->core);
        enum sm_activity activity;

        sm_run(&pool->sm[0], STEP_INSNS, &activity);
        if (ring_pop(rig->board, PPU_RING_SLOT, &event)) {
            assert_int_equal(event.kind, PPU_SLOT_DONE);
            return rig;
        }
        rig = moves ? rig_moved(rig) : rig;
    }
    fail_msg("the task did not end");
    return rig;
}

static void moved(void **state)
{
    struct rig *rig = *state, *other = modelled(1, 0);
    struct ppu_tmd tmd = prepare(rig, product, 4, 0, 0);

    rig = run_steps(rig, &tmd, false);
    tmd = prepare(other, product, 4, 0, 0);
    other = run_steps(other, &tmd, true);
    assert_memory_equal(counts(rig), counts(other), PPU_COUNTERS * sizeof(uint64_t));
    const struct sm_pool *a = *core_sm_pool(rig->board->core);
    const struct sm_pool *b = *core_sm_pool(other->board->core);
    assert_memory_equal(a->sm[0].l1.way, b->sm[0].l1.way, cache_state_bytes(&a->sm[0].l1));
    assert_memory_equal(a->l2.cache.way, b->l2.cache.way, cache_state_bytes(&a->l2.cache));
    rig_free(other);
}

/* The same again on a new machine: the same numbers, with slices on several SMs, and with one thread. */
static void deterministic(void **state)
{
    (void)state;
    for (uint32_t threads = 0; threads <= 1; threads++) {
        uint64_t first[PPU_COUNTERS] = { 0 };

        for (uint32_t run = 0; run < 3; run++) {
            struct rig *rig = modelled(threads == 0 ? 3 : 1, threads);
            struct ppu_tmd tmd = prepare(rig, columns, 60, 32, 512);

            rig_run_done(rig, &tmd);
            if (run == 0) {
                memcpy(first, counts(rig), sizeof(first));
            }
            assert_memory_equal(first, counts(rig), sizeof(first));
            assert_true(first[PPU_COUNTER_L1_MISSES] != 0 && first[PPU_COUNTER_L2_HITS] != 0);
            rig_free(rig);
        }
    }
}

/* SMs on threads of their own share the second level: nothing is lost. */
static void shared_by_threads(void **state)
{
    struct rig *rig = modelled(4, 2);
    struct ppu_tmd tmd = prepare(rig, columns, 60, 32, 512);
    const uint64_t *count = counts(rig);

    (void)state;
    rig_run_done(rig, &tmd);
    assert_int_equal(count[PPU_COUNTER_L1_HITS] + count[PPU_COUNTER_L1_MISSES], 60 * 32 * 32);
    assert_int_equal(count[PPU_COUNTER_L2_HITS] + count[PPU_COUNTER_L2_MISSES], count[PPU_COUNTER_L1_MISSES]);
    rig_free(rig);
}

/* A model that is off counts nothing, touches no tags, and is told by no feature bit. */
static void off(void **state)
{
    struct rig *rig = rig_new(0);
    struct ppu_tmd tmd = prepare(rig, rows, 1, 64, 0);
    const struct sm_pool *pool = *core_sm_pool(rig->board->core);

    rig_run_done(rig, &tmd);
    EXPECT(0, 0, 0, 0);
    assert_null(pool->l2.cache.way);
    for (uint32_t i = 0; i < pool->sm[0].l1.sets * pool->sm[0].l1.ways; i++) {
        assert_true(pool->sm[0].l1.way[i] == 0);
    }
    assert_int_equal(host_read(rig->board, PPU_REG_FEATURES) & PPU_FEATURE_CACHE_MODEL, 0);
    assert_int_equal(host_read(((struct rig *)*state)->board, PPU_REG_FEATURES) & PPU_FEATURE_CACHE_MODEL,
                     PPU_FEATURE_CACHE_MODEL);
    rig_free(rig);
}

/* The registers of the SM say the same as the task. */
static void registers(void **state)
{
    struct rig *rig = *state;
    struct ppu_tmd tmd = prepare(rig, rows, 1, 80, 0);

    rig_run_done(rig, &tmd);
    rig_run_done(rig, &tmd);
    assert_int_equal(host_read(rig->board, PPU_REG_SM_L1_HITS_LO), 0);
    assert_int_equal(host_read(rig->board, PPU_REG_SM_L1_MISSES_LO), 320);
    assert_int_equal(host_read(rig->board, PPU_REG_SM_L2_HITS_LO), 240);
    assert_int_equal(host_read(rig->board, PPU_REG_SM_L2_MISSES_LO), 80);
    core_reset(rig->board->core);
    board_settle(rig->board);
    assert_int_equal(host_read(rig->board, PPU_REG_SM_L2_MISSES_LO), 0);
}

/* Lasts until each SM has a CTA. */
static const char lasting[] =
    HEAD "mov v5, 20000\nagain: sub v5, v5, 1\nisetp.ne p0, v5, 0\n@p0 bra again\nldg.b32 v6, [s0]\nexit\n";

/* What the GPCs of a machine of four SMs have found, and have not, when each SM has run one CTA of a task. */
static void count_gpcs(uint32_t gpcs, uint64_t found[4])
{
    static const uint32_t at[] = { PPU_REG_GPC_L15_HITS_LO, PPU_REG_GPC_L15_MISSES_LO, PPU_REG_GPC_TLB_HITS_LO,
                                   PPU_REG_GPC_TLB_MISSES_LO };
    struct core_config config = board_small_config(0);

    config.sms = 4;
    config.gpcs = gpcs;
    config.cache_model = true;
    struct rig *rig = rig_new_config(&config);
    struct ppu_tmd tmd = prepare(rig, lasting, 4, 8, 0);
    rig_run_done(rig, &tmd);
    for (uint32_t i = 0; i < 4; i++) {
        found[i] = 0;
        for (uint32_t gpc = 0; gpc < gpcs; gpc++) {
            const uint32_t own = host_read(rig->board, at[i] + 4 * gpc);
            assert_int_equal(own * gpcs, host_read(rig->board, at[i]) * gpcs); /* all have done the same */
            found[i] += own;
        }
        assert_int_equal(host_read(rig->board, at[i] + 4 * gpcs), 0);
    }
    core_reset(rig->board->core);
    board_settle(rig->board);
    assert_int_equal(host_read(rig->board, PPU_REG_GPC_L15_MISSES_LO), 0);
    rig_free(rig);
}

/* The first SM of a GPC brings in instructions, parameters and translations; the others find them. */
static void sms_of_a_gpc_share(void **state)
{
    uint64_t alone[4], found[4];

    (void)state;
    count_gpcs(4, alone);
    assert_true(alone[0] == 0 && alone[1] != 0 && alone[2] == 0 && alone[3] != 0);
    for (uint32_t gpcs = 1; gpcs <= 2; gpcs++) {
        count_gpcs(gpcs, found);
        assert_int_equal(found[0] + found[1], alone[1]);
        assert_int_equal(found[1] * 4, alone[1] * gpcs);
        assert_int_equal(found[2] + found[3], alone[3]);
        assert_int_equal(found[3] * 4, alone[3] * gpcs);
    }
}

/* A task that starts sees the code and parameters that are there now, not what the cache of its GPC had. */
static void a_task_empties_what_gpcs_have(void **state)
{
    struct rig *rig = *state;
    struct ppu_tmd tmd = prepare(rig, rows, 1, 8, 0);

    rig_run_done(rig, &tmd);
    const uint32_t misses = host_read(rig->board, PPU_REG_GPC_L15_MISSES_LO);
    rig_run_done(rig, &tmd);
    assert_int_equal(host_read(rig->board, PPU_REG_GPC_L15_MISSES_LO), 2 * misses);
    assert_int_equal(host_read(rig->board, PPU_REG_GPC_L15_HITS_LO), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "a cache is a list of lines for each set [A10]", like_a_list, NULL, NULL, NULL },
        { "rows, twice: what fits stays, what does not misses [A10]", row_walk, setup, rig_teardown, NULL },
        { "columns: lines that share sets miss [A10]", column_walk, setup, rig_teardown, NULL },
        { "a product of matrices loads each line once [A10]", matrix_product, setup, rig_teardown, NULL },
        { "stores pass through the first level, atomics take the line out [A10]", writes, setup, rig_teardown, NULL },
        { "lanes of a pass in one line are one access [A10]", coalescing, setup, rig_teardown, NULL },
        { "system memory is cached too [A10]", system_memory, setup, rig_teardown, NULL },
        { "a warp knows what its latest loads missed [A10][D8]", window, setup, rig_teardown, NULL },
        { "a snapshot carries the caches and counts [A10]", moved, setup, rig_teardown, NULL },
        { "the same work misses the same [A10]", deterministic, NULL, NULL, NULL },
        { "SM threads share the second level [A10]", shared_by_threads, NULL, NULL, NULL },
        { "a model that is off counts nothing [A10]", off, setup, rig_teardown, NULL },
        { "registers of an SM and its reset [A10]", registers, setup, rig_teardown, NULL },
        { "SMs of a GPC share a cache of instructions and a TLB [A1][A10]", sms_of_a_gpc_share, NULL, NULL, NULL },
        { "a task that starts drops what the cache of its GPC has [A10][A11]", a_task_empties_what_gpcs_have, setup,
          rig_teardown, NULL },
    };

    return cmocka_run_group_tests_name("engine: caches", tests, NULL, NULL);
}
