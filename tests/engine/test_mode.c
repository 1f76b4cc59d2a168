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

/* ---- shared registers where the control unit chooses: narrow and wide CTAs (D4, D8) ---- */

#define CTAS 96u
#define PRIVATE 8u
#define SHARED 56u
#define WIDE_FIT 4u    /* CTAs of 128 * 64 words */
#define NARROW_FIT 11u /* of 128 * 8 + 32 * 56 */

/* The kernel above, each thread with a line of its own if it is to miss, else all with one. What it computes with is in
 * registers that parts may share, the last of them too. */
static struct ppu_tmd prepare_sharing(struct rig *rig, bool misses)
{
    static const char text[] =
        ".kernel k\n.vregs 8\n.shared_vregs 56\n.mayshare\nldp.b64 s0, [0]\nldp.b32 s2, [8]\nldp.b32 s3, [12]\n"
        "rdsr v0, %tid\nrdsr s4, %cta.x\nmov v1, s3\nmul v1, v0, v1\nmov v4, 0\n"
        "again: sventer 312\nmov v8, v1\nmov v9, 32\nmov v63, 0\n"
        "loop: ldg.b32 v10, [s0+v8]\nadd v63, v63, v10\nadd v8, v8, 4\nsub v9, v9, 1\nisetp.ne p0, v9, 0\n"
        "@p0 bra loop\nadd v4, v4, v63\n"
        "svleave\nsub s2, s2, 1\nisetp.ne.s p1, s2, 0\n@p1 bra again\n"
        "mul s4, s4, 128\nadd v1, v0, s4\nshl v1, v1, 2\nstg.b32 v4, [s0+v1+0x8000]\nexit\n";
    struct {
        uint64_t data;
        uint32_t rounds, stride;
    } params = { DATA_VA, 4, misses ? LINE : 0 };
    uint32_t *words = rig_data(rig, 0);

    for (uint32_t i = 0; i < THREADS * WORDS; i++) {
        words[i] = i;
    }
    memset(rig_data(rig, 0x8000), 0, CTAS * THREADS * 4);
    rig_load_text(rig, text);
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    tmd.wave = THREADS;
    rig_shape(&tmd, CTAS, 1, THREADS, 1);
    rig_params(rig, 0, &tmd, &params, sizeof(params));
    return tmd;
}

static struct rig *sharing_rig(bool modelled)
{
    struct core_config config = board_small_config(0);

    config.sms = 1;
    config.sm_ctas = 16;
    config.sm_warps = 64;
    config.sm_vregs = WIDE_FIT * THREADS * (PRIVATE + SHARED);
    config.cache_model = modelled;
    rig_small_caches(&config);
    return rig_new_config(&config);
}

/* What was seen of CTAs on the SM while the task ran. */
struct widths {
    uint32_t most;   /* at once */
    uint32_t wide;   /* places that had a wide one, counted at each look */
    uint32_t narrow; /* the same of narrow ones */
};

static struct widths run_widths(struct rig *rig, const struct ppu_tmd *tmd, bool misses)
{
    struct sm *sm = &(*core_sm_pool(rig->board->core))->sm[0];
    const uint32_t *out = rig_data(rig, 0x8000);
    struct widths seen = { .most = 0 };
    struct outcome outcome;
    enum sm_activity activity;

    rig_start(rig, 0, tmd);
    for (uint32_t turn = 0; turn < 20000 && rig->board->core->dist.slot[0].state != PPU_SLOT_FREE; turn++) {
        uint32_t words = 0;

        sm_run(sm, 200, &activity);
        for (uint32_t i = 0; i < sm->config->sm_ctas; i++) {
            const struct sm_cta *cta = &sm->cta[i];

            seen.wide += cta->used && cta->cta.wide;
            seen.narrow += cta->used && !cta->cta.wide;
            words += cta->used ? THREADS * PRIVATE + (cta->cta.wide ? THREADS : PPU_LANES) * SHARED : 0;
        }
        assert_int_equal(sm->used.vregs, words);
        assert_int_equal(rig->board->core->dist.used[0].vregs, words);
        assert_true(words <= sm->config->sm_vregs);
        seen.most = PPU_MAX(sm->ctas_used, seen.most);
        board_settle(rig->board);
    }
    assert_true(rig_wait(rig, 0, &outcome));
    assert_int_equal(outcome.event.kind, PPU_SLOT_DONE);
    for (uint32_t t = 0; t < CTAS * THREADS; t++) {
        const uint32_t first = misses ? WORDS * (t % THREADS) : 0;

        assert_int_equal(out[t], 4 * (WORDS * first + WORDS * (WORDS - 1) / 2));
    }
    return seen;
}

/* Launch and word choose for all CTAs; an SM holds as many as the registers that they take let. */
static void width_of_ctas(void **state)
{
    static const struct {
        uint32_t mode, miss_rate, flags, fit;
        bool wide, narrow;
    } cases[] = {
        { PPU_MODE_NORMAL, PPU_MISS_ABOVE, 0, WIDE_FIT, true, false },
        { PPU_MODE_SUBVECTOR, PPU_MISS_BELOW, 0, NARROW_FIT, false, true },
        { PPU_MODE_AUTO, PPU_MISS_BELOW, 0, WIDE_FIT, true, false },
        { PPU_MODE_AUTO, PPU_MISS_ABOVE, 0, NARROW_FIT, false, true },
        { PPU_MODE_AUTO, PPU_MISS_RATE(511), 0, WIDE_FIT, true, false },
        { PPU_MODE_AUTO, PPU_MISS_RATE(512), 0, NARROW_FIT, false, true },
    };
    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        struct rig *rig = sharing_rig(false);
        struct ppu_tmd tmd = prepare_sharing(rig, true);

        tmd.mode = (uint8_t)cases[i].mode;
        tmd.miss_rate = (uint16_t)cases[i].miss_rate;
        const struct widths seen = run_widths(rig, &tmd, true);
        assert_int_equal(seen.most, cases[i].fit);
        assert_int_equal(seen.wide != 0, cases[i].wide);
        assert_int_equal(seen.narrow != 0, cases[i].narrow);
        assert_int_equal(counted(rig, cases[i].wide ? PPU_COUNTER_OPEN_PARTS : PPU_COUNTER_OPEN_NORMAL), 0);
        rig_free(rig);
    }
}

/* The first CTAs are wide. Where their segments miss often, those that come later are narrow, and more at once; but
 * some are wide, so that the rate is known. */
static void rate_chooses_width(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        const bool modelled = i % 2 != 0, misses = i / 2 != 0;
        struct rig *rig = sharing_rig(modelled);
        struct ppu_tmd tmd = prepare_sharing(rig, misses);

        const struct widths seen = run_widths(rig, &tmd, misses);
        printf("# %s, %s: %u CTAs at once, %llu segments part by part and %llu not\n",
               modelled ? "measured" : "predicted", misses ? "misses" : "hits", seen.most,
               (unsigned long long)counted(rig, PPU_COUNTER_OPEN_PARTS),
               (unsigned long long)counted(rig, PPU_COUNTER_OPEN_NORMAL));
        assert_true(seen.wide != 0);
        if (!misses) {
            assert_int_equal(seen.most, WIDE_FIT);
            assert_int_equal(counted(rig, PPU_COUNTER_OPEN_PARTS), 0);
        } else {
            assert_true(seen.most > WIDE_FIT * 13 / 10 + 1);
            assert_true(seen.narrow != 0);
            assert_true(counted(rig, PPU_COUNTER_OPEN_PARTS) > counted(rig, PPU_COUNTER_OPEN_NORMAL));
        }
        rig_free(rig);
    }
}

/* CTAs that would not fit an SM as wide ones are narrow; a launch that wants them wide is refused. A co-resident grid
 * has narrow ones, and so finds room. */
static void wide_ones_need_room(void **state)
{
    struct rig *rig = sharing_rig(false);
    struct ppu_tmd tmd = prepare_sharing(rig, true);

    (void)state;
    tmd.flags |= PPU_TMD_CORESIDENT;
    tmd.grid[0] = NARROW_FIT;
    rig_run_done(rig, &tmd);
    assert_int_equal(counted(rig, PPU_COUNTER_OPEN_NORMAL), 0);
    tmd.mode = PPU_MODE_NORMAL;
    struct outcome outcome = rig_run(rig, &tmd);
    assert_int_equal(outcome.event.kind, PPU_SLOT_REFUSED);
    assert_int_equal(outcome.event.arg, PPU_FAULT_TMD_CORESIDENT);
    tmd.flags &= ~PPU_TMD_CORESIDENT;
    rig_shape(&tmd, 1, 1, 5 * THREADS, 1);
    outcome = rig_run(rig, &tmd);
    assert_int_equal(outcome.event.kind, PPU_SLOT_REFUSED);
    assert_int_equal(outcome.event.arg, PPU_FAULT_TMD_RESOURCES);
    tmd.mode = PPU_MODE_AUTO;
    tmd.miss_rate = PPU_MISS_BELOW;
    rig_run_done(rig, &tmd);
    assert_int_equal(counted(rig, PPU_COUNTER_OPEN_NORMAL), 0);
    rig_free(rig);
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
        { "launch and word choose how many registers CTAs share [D4][D6][D8]", width_of_ctas, NULL, NULL, NULL },
        { "the control unit chooses it for each CTA by the rate, and more are there [D4][D8]", rate_chooses_width, NULL,
          NULL, NULL },
        { "CTAs share where they fit only so [D4][D8]", wide_ones_need_room, NULL, NULL, NULL },
        { "rates about the threshold do not make the mode flap [D8]", it_does_not_flap, setup_modelled, rig_teardown,
          NULL },
    };

    return cmocka_run_group_tests_name("engine: the mode of segments", tests, NULL, NULL);
}
