/* SPDX-License-Identifier: MIT */
/*
 * Tests places to be saved in (ppu/nest.h). Tasks of random depths and sizes get some, wait for some, wait no longer
 * and give theirs back. Each step is compared with the rules.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/nest.h"
#include "firmware/places.h"
#include "ppu/macros.h"
#include "ppu/save.h"
#include "tests/firmware/random.h"
#include "tests/firmware/stream.h"

#define TASKS 64u
#define DEPTH 40u
#define MOST 16u
#define STATE_BYTES (32u * PPU_KIB)
#define STEPS 20000u

/* ---- units ---- */

/* Against an array that names the run each unit is of. */
static void runs_of_units(void **state)
{
    uint64_t seed = random_seed();
    (void)state;
    for (uint32_t round = 0; round < 50; round++) {
        uint8_t run_of[PPU_NEST_UNITS] = { 0 }; /* 0: free */
        uint32_t units = random_below(&seed, PPU_NEST_UNITS + 1);
        struct places places;
        places_init(&places, units);
        for (uint32_t step = 0; step < 400; step++) {
            uint32_t wanted = 1 + random_below(&seed, random_below(&seed, 4) ? 6 : PPU_NEST_UNITS);
            uint32_t longest = 0, first = 0;
            for (uint32_t n = 0, length = 0; n < units && longest < wanted; n++) {
                length = run_of[n] ? 0 : length + 1;
                first = length > longest ? n + 1 - length : first;
                longest = PPU_MAX(longest, length);
            }
            struct places_run run = places_find(&places, wanted);
            assert_int_equal(run.units, longest);
            if (longest) {
                assert_int_equal(run.first, first);
            }
            if (longest && random_below(&seed, 2)) {
                run.units = 1 + random_below(&seed, longest);
                places_take(&places, run);
                memset(run_of + run.first, (int)(1 + run.first), run.units);
            }
            uint32_t at = units ? random_below(&seed, units) : 0;
            if (run_of[at] && random_below(&seed, 2)) {
                uint32_t begin = run_of[at] - 1u;
                places_give(&places, begin);
                for (uint32_t n = begin; n < units && run_of[n] == begin + 1; n++) {
                    run_of[n] = 0;
                }
            }
        }
    }
}

/* ---- a nest ---- */

enum life { NONE, HAS, WAITS };

struct holder {
    struct task *task;
    enum life life;
    uint32_t since; /* it waits */
};

static struct {
    uint32_t nest, context, save, save_bytes;
    struct holder of[TASKS];
    uint32_t now;
    uint64_t seed;
} model;

static uint32_t open_context(uint32_t save_bytes)
{
    uint32_t place = mock_info()->heap_base;
    uint64_t va = MOCK_VRAM_VA + place;
    model.context = mock_context();
    model.save = place + 4 * PPU_MIB;
    model.save_bytes = save_bytes;
    const uint32_t arg[] = { model.context, (uint32_t)va, (uint32_t)(va >> 32), place,       TASKS,
                             DEPTH,         model.save,   save_bytes,           STATE_BYTES, MOST };
    return mock_admin(PPU_ADMIN_NEST_OPEN, arg, PPU_ARRAY_SIZE(arg)).status;
}

static void begin_model(uint32_t save_bytes)
{
    mock_start();
    memset(&model, 0, sizeof(model));
    model.seed = random_seed();
    assert_int_equal(open_context(save_bytes), 0);
    model.nest = nest_of(model.context);
}

static uint32_t end_of(const struct ppu_tmd *tmd)
{
    return tmd->save_vram + tmd->save_count * tmd->save_bytes;
}

/* What it has is its own, large enough, within the area, and nothing is saved there. */
static void check_places(const struct task *task)
{
    const struct ppu_tmd *tmd = task_tmd(task);
    assert_in_range(tmd->save_count, 1, PPU_MIN(MOST, tmd->grid[0] * tmd->grid[1]));
    assert_true(ppu_save_bytes(tmd->cta[0] / 32, 32, 32u * tmd->vregs, 0, 0) <= tmd->save_bytes);
    assert_int_equal(tmd->save_vram % PPU_SAVE_ALIGN, 0);
    assert_true(tmd->save_vram >= model.save && end_of(tmd) <= model.save + model.save_bytes);
    for (uint32_t i = 0; i < tmd->save_count; i++) {
        const struct ppu_save *save = (void *)(mock.vram + tmd->save_vram + i * tmd->save_bytes);
        assert_int_equal(save->state, PPU_SAVE_FREE);
    }
    uint32_t groups_end = tmd->groups_vram + tmd->save_count * (uint32_t)sizeof(struct ppu_cta_group);
    assert_true(groups_end <= mock_info()->heap_base + PPU_NEST_BYTES(TASKS, DEPTH));
    for (uint32_t i = 0; i < TASKS; i++) {
        const struct task *other = model.of[i].task;
        if (model.of[i].life != HAS || other == task) {
            continue;
        }
        const struct ppu_tmd *theirs = task_tmd(other);
        assert_true(end_of(tmd) <= theirs->save_vram || end_of(theirs) <= tmd->save_vram);
        assert_true(groups_end <= theirs->groups_vram ||
                    theirs->groups_vram + theirs->save_count * sizeof(struct ppu_cta_group) <= tmd->groups_vram);
    }
}

static void fill_places(const struct task *task)
{
    const struct ppu_tmd *tmd = task_tmd(task);
    memset(mock.vram + tmd->save_vram, 0x5a, tmd->save_count * tmd->save_bytes);
}

static void has_places(struct holder *holder)
{
    check_places(holder->task);
    fill_places(holder->task);
    holder->life = HAS;
}

/* Of tasks that no channel launched; only whether there is one matters here. */
static struct task parent;

static void begin_task(struct holder *holder)
{
    holder->task = nest_borrow(model.nest);
    assert_non_null(holder->task);
    struct ppu_tmd *tmd = task_tmd(holder->task);
    *tmd = mock_tmd(1);
    tmd->flags = PPU_TMD_LAUNCH | PPU_TMD_MAY_WAIT | PPU_TMD_CTA_GROUPS;
    tmd->vregs = (uint16_t)(1 + random_below(&model.seed, 32));
    tmd->cta[0] = 32 * (1 + random_below(&model.seed, 4));
    tmd->grid[0] = 1 + random_below(&model.seed, 2 * MOST);
    tmd->grid[1] = 1 + random_below(&model.seed, 3);
    uint32_t depth = 1 + random_below(&model.seed, random_below(&model.seed, 3) ? 3 : DEPTH);
    if (depth > 1) {
        holder->task->parent = &parent;
        holder->task->depth = (uint16_t)depth;
    }
    assert_true(nest_can_save(model.nest, tmd));
    if (nest_admit(holder->task)) {
        has_places(holder);
        return;
    }
    assert_int_equal(holder->task->state, TASK_ADMITTED);
    holder->life = WAITS;
    holder->since = ++model.now;
}

static struct holder *holder_of(const struct task *task)
{
    for (uint32_t i = 0; i < TASKS; i++) {
        if (model.of[i].task == task && model.of[i].life != NONE) {
            return &model.of[i];
        }
    }
    return NULL;
}

/* Who goes on has waited longer than all of its depth that still wait. */
static void goes_on(struct task *task)
{
    struct holder *holder = holder_of(task);
    assert_non_null(holder);
    assert_int_equal(holder->life, WAITS);
    for (uint32_t i = 0; i < TASKS; i++) {
        if (model.of[i].life == WAITS && task_depth(model.of[i].task) == task_depth(task)) {
            assert_true(model.of[i].since >= holder->since);
        }
    }
    has_places(holder);
}

static void drop_task(struct holder *holder)
{
    holder->life = NONE;
    if (holder->task->state == TASK_ADMITTED) {
        task_enter(holder->task, TASK_ENDED);
    }
    nest_return(holder->task);
}

static void end_task(struct holder *holder)
{
    if (holder->life == WAITS) {
        nest_withdraw(holder->task);
        drop_task(holder);
        return;
    }
    struct task *next = nest_release(holder->task);
    drop_task(holder);
    while (next) {
        goes_on(next);
        next = nest_admit_waiting(model.nest);
    }
}

/* Nobody waits at a depth of which nobody has places. */
static void check_progress(void)
{
    for (uint32_t i = 0; i < TASKS; i++) {
        bool somebody = model.of[i].life != WAITS;
        for (uint32_t j = 0; j < TASKS && !somebody; j++) {
            somebody = model.of[j].life == HAS && task_depth(model.of[j].task) == task_depth(model.of[i].task);
        }
        assert_true(somebody);
    }
}

static void random_tasks(void **state)
{
    (void)state;
    static const uint32_t areas[] = { DEPTH * STATE_BYTES, DEPTH * STATE_BYTES + PPU_SAVE_ALIGN,
                                      DEPTH * STATE_BYTES + 300000, 8 * PPU_MIB };
    for (uint32_t n = 0; n < PPU_ARRAY_SIZE(areas); n++) {
        uint32_t waited = 0;
        begin_model(areas[n]);
        for (uint32_t step = 0; step < STEPS; step++) {
            struct holder *holder = &model.of[random_below(&model.seed, TASKS)];
            if (holder->life == NONE) {
                begin_task(holder);
            } else {
                end_task(holder);
            }
            waited += holder->life == WAITS;
            check_progress();
        }
        assert_true(waited > 0 || areas[n] > DEPTH * STATE_BYTES); /* with more room it depends on the seed */
        mock_stop();
    }
}

/* A grid alone has a place for each CTA, up to the nest's most. */
static void one_grid(void **state)
{
    (void)state;
    begin_model(8 * PPU_MIB);
    for (uint32_t ctas = 1; ctas <= 3 * MOST; ctas++) {
        struct task *task = nest_borrow(model.nest);
        struct ppu_tmd *tmd = task_tmd(task);
        *tmd = mock_tmd(1);
        tmd->flags = PPU_TMD_LAUNCH | PPU_TMD_MAY_WAIT;
        tmd->grid[0] = ctas;
        assert_true(nest_admit(task));
        assert_int_equal(tmd->save_count, PPU_MIN(ctas, MOST));
        assert_null(nest_release(task));
        nest_return(task);
    }
    mock_stop();
}

/* Each argument of NEST_OPEN about places, out of range. */
static void wrong_plans(void **state)
{
    (void)state;
    mock_start();
    assert_int_equal(open_context(DEPTH * STATE_BYTES - PPU_SAVE_ALIGN), PPU_FAULT_ADMIN_ARG);
    assert_int_equal(open_context(0), PPU_FAULT_ADMIN_ARG);
    assert_int_equal(open_context(MOCK_VRAM_BYTES), PPU_FAULT_ADMIN_ARG);
    mock_stop();
}

int main(void)
{
#define TEST(name, function)             \
    {                                    \
        name, function, NULL, NULL, NULL \
    }
    const struct CMUnitTest tests[] = {
        TEST("runs of units are what an array says [B3]", runs_of_units),
        TEST("tasks get places, wait for them, and each depth goes on [B3 B7 B9]", random_tasks),
        TEST("a grid alone has a place for each CTA [B7]", one_grid),
        TEST("a save area that cannot be is refused [B3]", wrong_plans),
    };
    return cmocka_run_group_tests_name("places to be saved in", tests, NULL, NULL);
}
