/* SPDX-License-Identifier: MIT */
/* Tests random programs on the engine and on the reference executor: every byte of memory must agree. */
#include "ppu/save.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/sm/cache_model.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/warp.h"
#include "tests/engine/client.h"
#include "tests/engine/generate.h"
#include "tests/engine/observe.h"
#include "tests/engine/reference.h"
#include "tests/engine/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__
#define PROGRAMS 150u
#else
#define PROGRAMS 800u
#endif

struct fuzz {
    struct rig *rig;
    uint64_t random;
    char *text;
    uint8_t *expected;
    uint8_t *input; /* what memory was before */
    enum gen_style style;
    uint32_t edge;         /* threads of the last CTA; 0: as many as the others */
    uint64_t thread_insns; /* that the reference executed */
};

static struct fuzz *fuzz_new(struct rig *rig)
{
    struct fuzz *f = calloc(1, sizeof(*f));

    assert_non_null(f);
    f->rig = rig;
    f->random = random_seed();
    f->text = malloc(GEN_TEXT_BYTES);
    f->expected = malloc(GEN_BYTES);
    f->input = malloc(GEN_BYTES);
    assert_true(f->text && f->expected && f->input);
    return f;
}

static void fuzz_free(struct fuzz *f)
{
    free(f->text);
    free(f->expected);
    free(f->input);
    free(f);
}

/* Where a person finds the program that failed. */
static void keep_program(const struct fuzz *f)
{
    FILE *file = fopen("build/engine-fuzz.s", "w");

    if (file) {
        fputs(f->text, file);
        fclose(file);
    }
    print_error("the program is in build/engine-fuzz.s\n");
}

/* A new program, loaded, its memory filled, and what the reference makes of it in f->expected. */
static struct ppu_tmd fuzz_shape(struct fuzz *f, uint32_t wave, uint32_t ctas, uint32_t threads)
{
    uint64_t params[GEN_PARAMS / 8] = { DATA_VA };
    struct reference r = {
        .global_va = DATA_VA, .global_bytes = GEN_BYTES, .global = f->expected, .thread_insns = &f->thread_insns
    };

    random_bytes(&f->random, rig_data(f->rig, 0), GEN_BYTES);
    random_bytes(&f->random, &params[1], sizeof(params) - sizeof(params[0]));
    memset(rig_data(f->rig, GEN_LOCKS_AT), 0, GEN_LOCKS_BYTES);
    memcpy(f->input, rig_data(f->rig, 0), GEN_BYTES);
    memcpy(f->expected, f->input, GEN_BYTES);
    f->style = (enum gen_style)random_below(&f->random, GEN_STYLES);
    generate(&f->random, f->style, threads, f->text);
    rig_load_text(f->rig, f->text);
    struct ppu_tmd tmd = rig_tmd(f->rig, "k");
    tmd.wave = (uint8_t)wave;
    tmd.vregs = GEN_VREGS;
    tmd.mode = (uint8_t)random_below(&f->random, PPU_MODES);
    tmd.miss_rate = random_below(&f->random, 2) ? PPU_MISS_ABOVE : PPU_MISS_UNSAID;
    tmd.shared_bytes = generate_shared(threads);
    tmd.local_bytes = GEN_LOCAL;
    tmd.local_va = LOCAL_VA;
    tmd.local_size = LOCAL_SIZE;
    tmd.token_count = GEN_TOKENS;
    rig_shape(&tmd, ctas, 1, threads, 1);
    tmd.edge[0] = (uint16_t)f->edge;
    rig_params(f->rig, 0, &tmd, params, sizeof(params));
    r.code = (const uint64_t *)(const void *)(f->rig->board->vram + CODE_AT);
    r.insns = tmd.code_bytes / PPU_INSN_BYTES;
    r.tmd = &tmd;
    r.params = (const uint8_t *)params;
    const char *why = reference_run(&r);
    if (why) {
        keep_program(f);
        fail_msg("reference: %s", why);
    }
    return tmd;
}

static struct ppu_tmd fuzz_next(struct fuzz *f, uint32_t wave)
{
    uint32_t ctas = 1 + random_below(&f->random, 3);
    uint32_t threads = 1 + random_below(&f->random, GEN_THREADS_MAX / ctas);

    f->edge = random_below(&f->random, 3) == 0 ? 1 + random_below(&f->random, threads) : 0;
    struct ppu_tmd tmd = fuzz_shape(f, wave, ctas, threads);
    f->edge = 0;
    return tmd;
}

/* What the TMD copy of slot 0 says when the slot is free. */
static const uint64_t *counts(const struct fuzz *f)
{
    return (const uint64_t *)(const void *)(f->rig->board->vram + TMD_AT(0) + offsetof(struct ppu_tmd_copy, count));
}

/* Threads that never wait in a loop for one another execute as many instructions on the engine as in the reference. */
static void fuzz_compare_counts(const struct fuzz *f, const struct outcome *outcome)
{
    assert_int_equal(counts(f)[PPU_COUNTER_INSNS], outcome->event.warp_insns);
    if (f->style == GEN_JOINED && counts(f)[PPU_COUNTER_LANES] != f->thread_insns) {
        keep_program(f);
        fail_msg("%llu thread instructions counted, %llu executed", (unsigned long long)counts(f)[PPU_COUNTER_LANES],
                 (unsigned long long)f->thread_insns);
    }
}

static void fuzz_compare(const struct fuzz *f, const struct ppu_tmd *tmd, const struct outcome *outcome)
{
    const uint8_t *got = rig_data(f->rig, 0);
    uint32_t at = 0;

    if (outcome->event.kind == PPU_SLOT_DONE && memcmp(got, f->expected, GEN_BYTES) == 0) {
        fuzz_compare_counts(f, outcome);
        return;
    }
    while (at < GEN_BYTES && got[at] == f->expected[at]) {
        at++;
    }
    keep_program(f);
    fail_msg("wave %u, %u CTAs of %u: event %u, fault 0x%x at instruction %u, byte 0x%x differs", tmd->wave,
             tmd->grid[0], tmd->cta[0], outcome->event.kind, outcome->faulted ? outcome->fault.code : 0,
             outcome->faulted ? (unsigned)((outcome->fault.pc - CODE_VA) / PPU_INSN_BYTES) : 0, at);
}

/* In a queue so small that it is moved to the middle again and again; when it is really full, in one that never is. */
static struct outcome run_in_small_queues(struct fuzz *f, struct ppu_tmd *tmd)
{
    tmd->token_count = (uint16_t)(4 + random_below(&f->random, 60));
    struct outcome outcome = rig_run(f->rig, tmd);
    if (outcome.faulted && outcome.fault.code == PPU_FAULT_TOKEN_FULL) {
        memcpy(rig_data(f->rig, 0), f->input, GEN_BYTES);
        tmd->token_count = GEN_TOKENS;
        outcome = rig_run(f->rig, tmd);
    }
    return outcome;
}

static void like_the_reference(struct rig *rig, uint32_t wave, uint32_t programs)
{
    struct fuzz *f = fuzz_new(rig);

    for (uint32_t left = random_rounds(programs); left != 0; left--) {
        struct ppu_tmd tmd = fuzz_next(f, wave);
        struct outcome outcome = run_in_small_queues(f, &tmd);

        fuzz_compare(f, &tmd, &outcome);
    }
    fuzz_free(f);
}

static void wave32(void **state)
{
    like_the_reference(*state, 32, PROGRAMS);
}

static void wave64(void **state)
{
    like_the_reference(*state, 64, PROGRAMS);
}

static void wave128(void **state)
{
    like_the_reference(*state, 128, PROGRAMS);
}

static void threads(void **state)
{
    for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
        like_the_reference(*state, wave, PROGRAMS / 10);
    }
}

/* ---- stopped, saved, restored where there is room, and moved to another machine, between any two instructions ---- */

#define SAVE_AT 0x200000u
#define TURNS_MAX 200000u

static void give_places(struct fuzz *f, struct ppu_tmd *tmd)
{
    uint32_t warps = (tmd->cta[0] + tmd->wave - 1) / tmd->wave;

    tmd->save_vram = SAVE_AT;
    tmd->save_bytes = (uint32_t)ppu_save_bytes(warps, tmd->wave, ppu_tmd_warp_vregs(tmd, ppu_tmd_may_be_wide(tmd)),
                                               tmd->token_count, tmd->shared_bytes);
    tmd->save_count = (uint8_t)tmd->grid[0];
    assert_true(SAVE_AT + tmd->save_bytes * tmd->save_count <= TOKENS_AT);
    for (uint32_t n = 0; n < tmd->save_count; n++) {
        memset(f->rig->board->vram + SAVE_AT + (size_t)n * tmd->save_bytes, 0, sizeof(struct ppu_save));
    }
}

/* A few instructions of one SM. */
static void run_a_little(struct fuzz *f)
{
    struct sm_pool *pool = *core_sm_pool(f->rig->board->core);
    enum sm_activity activity;

    sm_run(&pool->sm[random_below(&f->random, pool->sms)], 1 + random_below(&f->random, 60), &activity);
}

/* Runs the task of slot 0 to its end, with as many interruptions as come. Returns how many there were. */
static uint32_t run_interrupted(struct fuzz *f, struct outcome *outcome)
{
    uint32_t interruptions = 0;
    bool saving = false;

    for (uint32_t turn = 0; turn < TURNS_MAX; turn++) {
        run_a_little(f);
        outcome->faulted = ring_pop(f->rig->board, PPU_RING_FAULT, &outcome->fault) || outcome->faulted;
        if (ring_pop(f->rig->board, PPU_RING_SLOT, &outcome->event)) {
            if (outcome->event.kind != PPU_SLOT_STOPPED) {
                return interruptions;
            }
            saving = false;
            mcu_write(f->rig->board, PPU_REG_SLOT_START, TMD_AT(0));
        } else if (!saving && random_below(&f->random, 12) == 0) {
            saving = true;
            interruptions++;
            mcu_write(f->rig->board, PPU_REG_SLOT_CONTROL, PPU_SLOT_CMD_SAVE);
        } else if (random_below(&f->random, 1000) == 0) {
            interruptions++;
            f->rig = rig_moved(f->rig);
        }
        board_settle(f->rig->board);
    }
    fail_msg("the task did not end");
    return interruptions;
}

static bool caches_modelled(const struct fuzz *f)
{
    return core_config_of(f->rig->board->core)->cache_model;
}

static void interrupted(void **state)
{
    struct fuzz *f = fuzz_new(*state);
    uint32_t interruptions = 0, programs = random_rounds(caches_modelled(f) ? PROGRAMS / 12 : PROGRAMS / 3);

    for (uint32_t left = programs; left != 0; left--) {
        struct ppu_tmd tmd = fuzz_next(f, PPU_LANES << left % 3);
        struct outcome outcome = { .faulted = false };

        give_places(f, &tmd);
        rig_start(f->rig, 0, &tmd);
        interruptions += run_interrupted(f, &outcome);
        *state = f->rig;
        fuzz_compare(f, &tmd, &outcome);
    }
    printf("# %u interruptions\n", interruptions);
    assert_true(interruptions > programs * (caches_modelled(f) ? 4 : 1));
    fuzz_free(f);
}

/* ---- taken back by a debugger, and executed again ---- */

#define WARPS_MOST (GEN_THREADS_MAX / PPU_LANES + 3u)

static struct ppu_debug_event event_after(struct fuzz *f, const struct ppu_debug_request *request)
{
    const uint32_t so_far = client_box(f->rig)->events;

    client_order(f->rig, request);
    return client_event(f->rig, so_far);
}

/* To a place before, and to the present again. False: nothing was recorded. */
static bool back_and_forth(struct fuzz *f, const struct ppu_debug_at *at, enum ppu_debug_back what)
{
    const struct ppu_debug_request back = {
        .op = PPU_DEBUG_DO_BACK, .at = *at, .lane = PPU_DEBUG_ANY_LANE, .flags = what
    };
    const struct ppu_debug_request go = { .op = PPU_DEBUG_DO_GO, .context = CONTEXT };
    struct ppu_debug_event event = event_after(f, &back);
    struct ppu_debug_record record;

    if (event.why == PPU_DEBUG_TURNED ? event.id != PPU_DEBUG_BEGIN : event.why != PPU_DEBUG_STEPPED) {
        keep_program(f);
        fail_msg("event %u, %u", event.why, event.id);
    }
    client_order(f->rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_RECORDED });
    memcpy(&record, client_box(f->rig)->answer.data, sizeof(record));
    if (record.units == 0) {
        return false;
    }
    event = event_after(f, &go);
    assert_int_equal(event.why, PPU_DEBUG_TURNED);
    assert_int_equal(event.id, PPU_DEBUG_PRESENT);
    return true;
}

static uint32_t stop_and_take_back(struct fuzz *f)
{
    struct ppu_debug_warp warps[WARPS_MOST];
    uint32_t times = 0;

    client_order(f->rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_HALT, .context = CONTEXT });
    const uint32_t count = client_warps(f->rig, 0, warps, WARPS_MOST);
    if (count != 0) {
        const struct ppu_debug_at *at = &warps[random_below(&f->random, count)].at;
        times += back_and_forth(f, at, PPU_DEBUG_BACK_INSN);
        times += back_and_forth(f, at, PPU_DEBUG_BACK_STOP);
    }
    client_go(f->rig);
    return times;
}

static uint32_t run_back_and_forth(struct fuzz *f, struct outcome *outcome)
{
    uint32_t times = 0;

    for (uint32_t turn = 0; turn < TURNS_MAX; turn++) {
        run_a_little(f);
        board_settle(f->rig->board);
        outcome->faulted = ring_pop(f->rig->board, PPU_RING_FAULT, &outcome->fault) || outcome->faulted;
        if (ring_pop(f->rig->board, PPU_RING_SLOT, &outcome->event)) {
            return times;
        }
        times += random_below(&f->random, 1 + turn / 4) == 0 ? stop_and_take_back(f) : 0;
    }
    fail_msg("the task did not end");
    return times;
}

static void taken_back(void **state)
{
    struct fuzz *f = fuzz_new(*state);
    uint32_t times = 0, programs = random_rounds(PROGRAMS / 24);

    client_now_ns = 1;
    client_attach(f->rig);
    client_order(f->rig, &(struct ppu_debug_request){ .op = PPU_DEBUG_DO_RECORD, .flags = PPU_DEBUG_RECORDS });
    for (uint32_t left = programs; left != 0; left--) {
        struct ppu_tmd tmd = fuzz_next(f, PPU_LANES << left % 3);
        struct outcome outcome = { .faulted = false };

        rig_start(f->rig, 0, &tmd);
        times += run_back_and_forth(f, &outcome);
        fuzz_compare(f, &tmd, &outcome);
    }
    printf("# %u times taken back\n", times);
    assert_true(times >= programs);
    fuzz_free(f);
}

/* ---- the counters, beside a model that looks at the warp before and after every instruction ---- */

/* The warp of the task, on whichever SM it is; NULL: on none. */
static struct warp *only_warp(const struct fuzz *f, struct sm **sm)
{
    struct sm_pool *pool = *core_sm_pool(f->rig->board->core);

    for (uint32_t i = 0; i < pool->sms; i++) {
        if (pool->sm[i].ctas_used != 0) {
            *sm = &pool->sm[i];
            return &pool->sm[i].warp[pool->sm[i].cta[0].warp[0]];
        }
    }
    return NULL;
}

/* Runs the task one instruction at a time. The first one, which is not seen, takes parameters. */
static struct observed run_observed(struct fuzz *f, const struct ppu_tmd *tmd)
{
    const uint64_t *code = (const uint64_t *)(const void *)(f->rig->board->vram + CODE_AT);
    struct sm_pool *pool = *core_sm_pool(f->rig->board->core);
    struct observed seen = observe_new(core_config_of(f->rig->board->core));
    struct outcome outcome = { .faulted = false };
    enum sm_activity activity;
    struct warp *w;
    struct sm *sm = &pool->sm[0];

    seen.count[PPU_COUNTER_INSNS] = 1;
    seen.count[PPU_COUNTER_LANES] = tmd->flags & PPU_TMD_SUBVECTOR && tmd->cta[0] > PPU_LANES ? PPU_LANES : tmd->cta[0];
    rig_start(f->rig, 0, tmd);
    sm_run(sm, 1, &activity);
    for (uint32_t turn = 0; turn < TURNS_MAX && (w = only_warp(f, &sm)); turn++) {
        struct warp before = *w;

        observe_before(&seen, sm, w, code);
        sm_run(sm, 1, &activity);
        before = w->state == WARP_FREE ? before : *w; /* it has ended */
        observe_after(&seen, &before);
    }
    assert_true(ring_pop(f->rig->board, PPU_RING_SLOT, &outcome.event));
    fuzz_compare(f, tmd, &outcome);
    return seen;
}

/* What runs next finds nothing there. */
static void forget_l2(const struct fuzz *f)
{
    struct sm_pool *pool = *core_sm_pool(f->rig->board->core);

    if (pool->l2.cache.way) {
        cache_empty(&pool->l2.cache);
    }
}

static void counters(void **state)
{
    struct fuzz *f = fuzz_new(*state);
    uint64_t sum[PPU_COUNTERS] = { 0 };

    for (uint32_t left = random_rounds(caches_modelled(f) ? PROGRAMS / 8 : PROGRAMS / 2); left != 0; left--) {
        uint32_t wave = PPU_LANES << left % 3;
        struct ppu_tmd tmd = fuzz_shape(f, wave, 1, 1 + random_below(&f->random, wave));
        struct observed seen = run_observed(f, &tmd);

        for (uint32_t i = 0; i < PPU_COUNTER_OPEN_PARTS; i++) {
            if (counts(f)[i] != seen.count[i]) {
                keep_program(f);
                fail_msg("wave %u, counter %u: %llu, observed %llu", wave, i, (unsigned long long)counts(f)[i],
                         (unsigned long long)seen.count[i]);
            }
            sum[i] += seen.count[i];
        }
        memcpy(rig_data(f->rig, 0), f->input, GEN_BYTES);
        forget_l2(f);
        struct outcome outcome = rig_run(f->rig, &tmd);
        forget_l2(f);
        fuzz_compare(f, &tmd, &outcome);
        assert_memory_equal(counts(f), seen.count, PPU_COUNTER_OPEN_PARTS * sizeof(seen.count[0]));
    }
    for (uint32_t i = 0; i < PPU_COUNTER_OPEN_PARTS; i++) {
        uint64_t sms = 0;

        for (uint32_t n = 0; n < core_config_of(f->rig->board->core)->sms; n++) {
            sms += sm_count(f->rig->board->core, n, (enum ppu_counter)i);
        }
        printf("# counter %u: %llu\n", i, (unsigned long long)sum[i]);
        assert_true((sum[i] != 0) == (i < PPU_COUNTERS_ALWAYS || caches_modelled(f)));
        assert_int_equal(sms, 2 * sum[i]);
    }
    fuzz_free(f);
}

/* Caches so small that nothing stays there for long. */
static int setup_modelled(void **state)
{
    struct core_config config = board_small_config(0);

    config.cache_model = true;
    config.cache_line = 64;
    config.l1_bytes = 1024;
    config.l1_ways = 2;
    config.l2_bytes = 4096;
    config.l2_ways = 4;
    *state = rig_new_config(&config);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "random programs like the reference, waves of 32 [A7][A14][D1][E3]", wave32, rig_setup_slices, rig_teardown,
          NULL },
        { "random programs like the reference, waves of 64 [A7][A14][D1][D2][D5][E3]", wave64, rig_setup_slices,
          rig_teardown, NULL },
        { "random programs like the reference, waves of 128 [A7][A14][D1][D2][D5][E3]", wave128, rig_setup_slices,
          rig_teardown, NULL },
        { "random programs like the reference, on threads [A7][A8][A14]", threads, rig_setup_threads, rig_teardown,
          NULL },
        { "random programs stopped, saved, restored and moved at random points [A14][B7][E2]", interrupted,
          rig_setup_slices, rig_teardown, NULL },
        { "random programs taken back and executed again at random points", taken_back, rig_setup_slices, rig_teardown,
          NULL },
        { "random programs with caches modelled, taken back and executed again", taken_back, setup_modelled,
          rig_teardown, NULL },
        { "counters of random programs, one instruction at a time and at once [A10]", counters, rig_setup_slices,
          rig_teardown, NULL },
        { "caches of random programs, one instruction at a time and at once [A10]", counters, setup_modelled,
          rig_teardown, NULL },
        { "random programs with caches modelled, stopped, saved, restored and moved [A10][A14]", interrupted,
          setup_modelled, rig_teardown, NULL },
    };

    return cmocka_run_group_tests_name("engine: random programs", tests, NULL, NULL);
}
