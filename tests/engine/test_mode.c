/* SPDX-License-Identifier: MIT */
/* Tests the control unit: which mode segments run in that leave it open, and what it does to the caches. */
#include "ppu/macros.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/sm/cache_window.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/exec.h"
#include "qemu-device/core/sm/mode.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/warp.h"
#include "tests/engine/rig.h"

#include <stdio.h>
#include <string.h>

#define LINE RIG_LINE
#define THREADS 128u
#define ROUNDS 100u
#define WORDS (LINE / 4u)
#define PER 1024u

static struct rig *rig_of(bool modelled)
{
    struct core_config config = board_small_config(0);

    config.sms = 1;
    config.cache_model = modelled;
    rig_small_caches(&config);
    return rig_new_config(&config);
}

static int setup_modelled(void **state)
{
    *state = rig_of(true);
    return 0;
}

static int setup_without(void **state)
{
    *state = rig_of(false);
    return 0;
}

/* Each thread adds up the words of a line of its own, `rounds` times: a warp of 128 needs twice the first level. */
static const char lines[] =
    ".kernel k\n.vregs 8\nldp.b64 s0, [0]\nldp.b32 s2, [8]\nrdsr v0, %tid\nmul v1, v0, 128\nmov v4, 0\n"
    "again: sventer 256\nmov v2, v1\nmov v5, 32\n"
    "loop: ldg.b32 v3, [s0+v2]\nadd v4, v4, v3\nadd v2, v2, 4\nsub v5, v5, 1\nisetp.ne p0, v5, 0\n@p0 bra loop\n"
    "svleave\nsub s2, s2, 1\nisetp.ne.s p1, s2, 0\n@p1 bra again\n"
    "shl v1, v0, 2\nstg.b32 v4, [s0+v1+0x8000]\nexit\n";

static struct ppu_tmd prepare(struct rig *rig, uint32_t wave, uint32_t rounds)
{
    const uint64_t params[2] = { DATA_VA, rounds };
    uint32_t *words = rig_data(rig, 0);

    for (uint32_t i = 0; i < THREADS * WORDS; i++) {
        words[i] = i;
    }
    memset(rig_data(rig, 0x8000), 0, THREADS * 4);
    rig_load_text(rig, lines);
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    tmd.wave = (uint8_t)wave;
    rig_shape(&tmd, 1, 1, THREADS, 1);
    rig_params(rig, 0, &tmd, params, sizeof(params));
    return tmd;
}

static void results_are_right(struct rig *rig, uint32_t rounds)
{
    const uint32_t *out = rig_data(rig, 0x8000);

    for (uint32_t t = 0; t < THREADS; t++) {
        assert_int_equal(out[t], rounds * (WORDS * (WORDS * t) + WORDS * (WORDS - 1) / 2));
    }
}

static uint64_t counted(struct rig *rig, enum ppu_counter counter)
{
    return sm_count(rig->board->core, 0, counter);
}

/* How many of its segments the task runs part by part. */
static uint64_t parts_of(struct rig *rig, const struct ppu_tmd *tmd, uint32_t rounds)
{
    const uint64_t parts = counted(rig, PPU_COUNTER_OPEN_PARTS), normal = counted(rig, PPU_COUNTER_OPEN_NORMAL);
    const uint32_t warps = THREADS / tmd->wave;

    rig_run_done(rig, tmd);
    results_are_right(rig, rounds);
    assert_int_equal(counted(rig, PPU_COUNTER_OPEN_PARTS) - parts + counted(rig, PPU_COUNTER_OPEN_NORMAL) - normal,
                     rounds * warps);
    return counted(rig, PPU_COUNTER_OPEN_PARTS) - parts;
}

/* Program's word and launch, in the order of D6; the numbers are those of ROUNDS segments. */
static void words_and_launches(void **state)
{
    static const struct {
        uint32_t wave, mode, miss_rate, threshold, parts;
    } cases[] = {
        { 128, PPU_MODE_AUTO, PPU_MISS_BELOW, 512, 0 },
        { 128, PPU_MODE_AUTO, PPU_MISS_ABOVE, 512, ROUNDS },
        { 64, PPU_MODE_AUTO, PPU_MISS_ABOVE, 1024, 2 * ROUNDS },
        { 32, PPU_MODE_AUTO, PPU_MISS_ABOVE, 512, 0 }, /* it acts for waves larger than the lanes */
        { 32, PPU_MODE_SUBVECTOR, PPU_MISS_ABOVE, 512, 0 },
        { 128, PPU_MODE_AUTO, PPU_MISS_RATE(511), 512, 0 },
        { 128, PPU_MODE_AUTO, PPU_MISS_RATE(512), 512, ROUNDS },
        { 128, PPU_MODE_AUTO, PPU_MISS_RATE(0), 0, ROUNDS },
        { 128, PPU_MODE_AUTO, PPU_MISS_RATE(1024), 1025, 0 },
        { 128, PPU_MODE_NORMAL, PPU_MISS_ABOVE, 0, 0 },
        { 128, PPU_MODE_SUBVECTOR, PPU_MISS_BELOW, 1024, ROUNDS },
    };
    struct rig *rig = *state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        struct ppu_tmd tmd = prepare(rig, cases[i].wave, ROUNDS);

        tmd.mode = (uint8_t)cases[i].mode;
        tmd.miss_rate = (uint16_t)cases[i].miss_rate;
        mcu_write(rig->board, PPU_REG_MODE_THRESHOLD, cases[i].threshold);
        assert_int_equal(parts_of(rig, &tmd, ROUNDS), cases[i].parts);
    }
}

/* What normal mode misses is found out, and from then on all segments but those that look again run part by part. */
static void rate_is_found_out(void **state)
{
    struct rig *rig = *state;
    const bool modelled = core_config_of(rig->board->core)->cache_model;
    struct ppu_tmd tmd = prepare(rig, 128, ROUNDS);

    mcu_write(rig->board, PPU_REG_MODE_THRESHOLD, 512);
    mcu_write(rig->board, PPU_REG_MODE_WINDOW, 256);
    uint64_t parts = parts_of(rig, &tmd, ROUNDS);
    assert_true(parts >= ROUNDS - 2 - ROUNDS / SM_PROBE && parts < ROUNDS);
    mcu_write(rig->board, PPU_REG_MODE_THRESHOLD, PER + 1); /* more than there can be */
    assert_int_equal(parts_of(rig, &tmd, ROUNDS), 0);
    /* Waves of 64 fit: their rate is low. */
    tmd = prepare(rig, 64, ROUNDS);
    rig_shape(&tmd, 1, 1, 64, 1);
    mcu_write(rig->board, PPU_REG_MODE_THRESHOLD, 512);
    parts = counted(rig, PPU_COUNTER_OPEN_PARTS);
    rig_run_done(rig, &tmd);
    assert_int_equal(counted(rig, PPU_COUNTER_OPEN_PARTS), parts);
    assert_int_equal(counted(rig, PPU_COUNTER_L1_MISSES) != 0, modelled);
}

/* The modelled first level misses less when the control unit is let. */
static void misses_fall(void **state)
{
    struct rig *rig = *state;
    uint64_t misses[2];

    for (uint32_t automatic = 0; automatic < 2; automatic++) {
        struct ppu_tmd tmd = prepare(rig, 128, ROUNDS);
        uint64_t before = counted(rig, PPU_COUNTER_L1_MISSES);

        tmd.mode = automatic ? PPU_MODE_AUTO : PPU_MODE_NORMAL;
        (void)parts_of(rig, &tmd, ROUNDS);
        misses[automatic] = counted(rig, PPU_COUNTER_L1_MISSES) - before;
    }
    printf("# %llu lines missed in normal mode, %llu with the control unit\n", (unsigned long long)misses[0],
           (unsigned long long)misses[1]);
    assert_true(4 * misses[1] <= misses[0]);
}

/* Rates that come and go about the threshold: how often the mode changes. */
static uint32_t changes_of(struct rig *rig, uint32_t slack)
{
    struct sm_pool *pool = *core_sm_pool(rig->board->core);
    struct dist_task task = { .slot = 0, .start = 7, .tmd = prepare(rig, 128, 1) };
    struct sm_cta cta = { .used = true };
    struct warp w = { .passes = 4 };
    struct exec x = { .core = rig->board->core, .sm = &pool->sm[0], .cta = &cta, .w = &w, .task = &task, .passes = 4 };
    struct mode *mode = &pool->sm[0].mode[0];
    uint32_t changes = 0;

    mcu_write(rig->board, PPU_REG_MODE_HYSTERESIS, slack);
    *mode = (struct mode){ .start = task.start };
    for (uint32_t i = 0; i < 1000; i++) {
        const bool before = mode->subvector;

        mode->normal = (struct cache_window){ .loads = 500, .misses = 250 + (i * 7 % 40) - 20 };
        (void)sm_mode_subvector(&x);
        changes += mode->subvector != before;
    }
    return changes;
}

static void it_does_not_flap(void **state)
{
    struct rig *rig = *state;

    mcu_write(rig->board, PPU_REG_MODE_THRESHOLD, 512);
    uint32_t without = changes_of(rig, 0);
    assert_true(without > 100);
    assert_int_equal(changes_of(rig, 64), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "the launch goes before the program's word, and that before the rate [D6][D8]", words_and_launches,
          setup_modelled, rig_teardown, NULL },
        { "the same without a model of caches [D6][D8]", words_and_launches, setup_without, rig_teardown, NULL },
        { "the rate of normal mode is measured [D8]", rate_is_found_out, setup_modelled, rig_teardown, NULL },
        { "the rate of normal mode is predicted from samples [D8]", rate_is_found_out, setup_without, rig_teardown,
          NULL },
        { "warps miss less than a quarter where parts fit and warps do not [D8]", misses_fall, setup_modelled,
          rig_teardown, NULL },
        { "rates about the threshold do not make the mode flap [D8]", it_does_not_flap, setup_modelled, rig_teardown,
          NULL },
    };

    return cmocka_run_group_tests_name("engine: the mode of segments", tests, NULL, NULL);
}
