/* SPDX-License-Identifier: MIT */
/*
 * Prologues (docs/design/engine.md): what one warp of a CTA has executed the others are given. Programs whose first
 * instructions are such ones, and nearly such ones, leave the same in every register as when a `nop` stands before
 * them, which ends a prologue before it begins; and as much is counted.
 */
#include "ppu/macros.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"
#include "qemu-device/core/sm/prologue.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/warp.h"
#include "tests/engine/rig.h"

#include <stdio.h>
#include <stdlib.h>

#define CTAS 40u
#define CTA_THREADS 256u
#define OUT_BYTES (CTAS * CTA_THREADS * 32u)
#define PARAM_BYTES 48u

struct way {
    const char *text; /* writes v1 to v3, s4 to s8 */
    uint32_t insns;   /* its prologue has */
    uint32_t y;       /* rows of a CTA; 0: 1 */
};

static const struct way ways[] = {
    { "ldp.b128 s4, [16]\nrdsr s8, %cta.x\nrdsr v1, %tid.x\nadd v2, s8, v1\nadd v3, v2, 7\n", 5, 0 },
    { "rdsr s4, %cta.x\nrdsr s5, %ntid.x\nldp.b32 s6, [8]\nmad s7, s4, s5, s6\nrdsr v1, %tid.x\nadd v1, s7, v1\n", 6,
      0 },
    { "rdsr v1, %tid.x\nadd v2, v1, 5\nadd v1, v2, v1\nadd v3, v1, 1\n", 2, 0 }, /* of two that differ */
    { "rdsr v1, %tid.x\nadd v2, v3, 5\nadd v3, v1, 1\n", 0, 0 },                 /* of a register not known */
    { "rdsr v1, %tid.x\nmov s4, 3\nshl v2, v1, 2\nadd v3, v1, s4\n", 2, 0 },     /* steps of 4 */
    { "rdsr v1, %tid\nadd v2, v1, 9\nrdsr s4, %cta.x\n", 3, 4 },                 /* rows are passed through */
    { "mov s4, 1\nmov s5, 2\nrdsr v1, %tid.x\nadd v2, v1, 9\n", 2, 4 },
    { "mov s4, 1\nmov s5, 2\nrdsr v1, %tid.y\nadd v2, v1, 9\n", 2, 4 },
    { "mov s4, 1\nmov s5, 2\nrdsr v1, %lane\nadd v2, v1, 9\n", 2, 0 },
    { "mov s4, 1\nmov s5, 2\nrdsr s6, %warp\nadd s7, s6, 9\n", 2, 0 },
    { "mov s4, 1\nmov s5, 2\nrdsr s6, %tid.x\nadd s7, s6, 9\n", 2, 0 }, /* of the lowest lane */
    { "mov s4, 1\nmov s5, 2\nrdsr s6, %tid\nadd s7, s6, 9\n", 2, 0 },
    { "mov s4, 1\nmov s5, 2\nrdsr s6, %lane\nadd s7, s6, 9\n", 2, 0 },
    { "rdsr v1, %tid.x\nmov s4, 1\nreadfirst s5, v1\nadd s6, s5, 9\n", 2, 0 },
    { "rdsr v1, %tid.x\nadd v2, v1, 1\nreadlane s5, v1, 3\nadd s6, s5, 9\n", 2, 0 },
    { "mov s4, 1\nmov s5, 2\nisetp.eq p0, s4, 1\nadd s6, s5, 9\n@p0 mov v1, 3\n", 2, 0 },
    { "mov s4, 1\nmov s5, 2\n@p0 mov s6, 3\nadd s7, s5, 9\n", 2, 0 }, /* no lane has it */
    { "mov s4, 1\nmov s5, 2\n@!p0 mov s6, 3\nadd s7, s5, 9\n", 2, 0 },
    { "mov s4, 1\nmov s5, 2\nsel s6, s4, s5, p0\nadd s7, s5, 9\n", 2, 0 },
    { "mov s4, 1\n", 0, 0 }, /* not worth it */
    { "mov64 s4, -3\nadd64 s6, s4, s4\ncvt.f32.s32 s8, s4\n", 3, 0 },
    { "rdsr v40, %tid.x\nmov s4, 1\nadd v1, v40, 2\n", 0, 0 }, /* of those not looked at */
    { "rdsr v1, %tid.x\nmov s4, 1\nadd v40, v1, 2\nadd v2, v40, 3\n", 2, 0 },
    { "rdsr v1, %tid.x\nmov s4, 0xffffffff\nadd v1, v1, s4\nadd v1, v1, 0xfffffff0\n", 4, 0 }, /* through 0 */
    { "mov s8, 7\nmov s4, 8\n", 2, 0 }, /* the last is not the highest */
    { "mov s63, 7\nmov s62, 8\nadd s4, s62, s63\n", 3, 0 },
    { "rdsr s4, %ncta.x\nrdsr s5, %wave\nrdsr s6, %shared\nrdsr s7, %depth\nrdsr s8, %qpos\n", 5, 0 },
    { "rdsr v1, %tid.x\nadd v2, v1, 1\nbar 0\nadd v3, v2, 1\n", 2, 0 }, /* a second turn */
    { "again: ldp.b32 s4, [8]\nadd s5, s5, s4\nadd s6, s6, 1\nnop\nisetp.ltu p0, s6, 3\n@p0 bra again\n", 3, 0 },
};

static void load(struct rig *rig, const struct way *way, const char *before)
{
    char text[2048];

    snprintf(text, sizeof(text),
             ".kernel k\n.vregs 41\n%s%snop\nldp.b64 s20, [0]\nrdsr s12, %%cta.x\nshl s12, s12, 8\nrdsr v10, %%tid\n"
             "add v10, s12, v10\nshl v10, v10, 5\nstg.b32 v1, [s20+v10]\nstg.b32 v2, [s20+v10+4]\n"
             "stg.b32 v3, [s20+v10+8]\nmov v11, s4\nstg.b32 v11, [s20+v10+12]\nmov v11, s5\n"
             "stg.b32 v11, [s20+v10+16]\nmov v11, s6\nstg.b32 v11, [s20+v10+20]\nmov v11, s7\n"
             "stg.b32 v11, [s20+v10+24]\nmov v11, s8\nstg.b32 v11, [s20+v10+28]\nexit\n",
             before, way->text);
    rig_load_text(rig, text);
}

static struct ppu_tmd task_of(struct rig *rig, uint32_t wave, uint32_t threads, uint32_t y)
{
    uint32_t params[PARAM_BYTES / 4] = { (uint32_t)DATA_VA, (uint32_t)(DATA_VA >> 32) };
    struct ppu_tmd tmd = rig_tmd(rig, "k");

    for (uint32_t i = 2; i < PARAM_BYTES / 4; i++) {
        params[i] = i * 0x01010101u;
    }
    tmd.wave = (uint8_t)wave;
    rig_shape(&tmd, CTAS, 1, threads / y, y);
    rig_params(rig, 0, &tmd, params, sizeof(params));
    return tmd;
}

struct seen {
    uint64_t insns, lanes;
    uint8_t *out;
};

static uint64_t counted(const struct rig *rig, enum ppu_counter counter)
{
    const struct sm_pool *pool = *core_sm_pool(rig->board->core);
    uint64_t count = 0;

    for (uint32_t i = 0; i < pool->sms; i++) {
        count += pool->sm[i].count[counter];
    }
    return count;
}

static struct seen look(struct rig *rig, const struct way *way, const char *before, uint32_t wave, uint32_t threads)
{
    struct seen seen = { counted(rig, PPU_COUNTER_INSNS), counted(rig, PPU_COUNTER_LANES), malloc(OUT_BYTES) };

    assert_non_null(seen.out);
    load(rig, way, before);
    struct ppu_tmd tmd = task_of(rig, wave, threads, way->y != 0 ? way->y : 1);
    memset(rig_data(rig, 0), 0xee, OUT_BYTES);
    rig_run_done(rig, &tmd);
    memcpy(seen.out, rig_data(rig, 0), OUT_BYTES);
    seen.insns = counted(rig, PPU_COUNTER_INSNS) - seen.insns;
    seen.lanes = counted(rig, PPU_COUNTER_LANES) - seen.lanes;
    return seen;
}

static void same_with_and_without(struct rig *rig, size_t n, uint32_t wave, uint32_t threads)
{
    const struct way *const way = &ways[n];
    const struct prologue *const prologue = &(*core_sm_pool(rig->board->core))->sm[0].program.prologue;
    const uint32_t warps = CTAS * ((threads + wave - 1) / wave);
    struct seen without = look(rig, way, "nop\n", wave, threads);

    assert_int_equal(prologue->insns, 0);
    struct seen with = look(rig, way, "", wave, threads);
    if (prologue->insns != (threads % wave == 0 ? way->insns : 0)) {
        fail_msg("way %zu, waves of %u, %u threads: a prologue of %u", n, wave, threads, prologue->insns);
    }
    for (uint32_t i = 0; i < OUT_BYTES; i += 4) {
        if (memcmp(with.out + i, without.out + i, 4) != 0) {
            fail_msg("way %zu, waves of %u: thread %u of CTA %u, word %u: %#x, not %#x", n, wave, i / 32 % CTA_THREADS,
                     i / 32 / CTA_THREADS, i / 4 % 8, *(uint32_t *)(void *)(with.out + i),
                     *(uint32_t *)(void *)(without.out + i));
        }
    }
    assert_int_equal(with.insns, without.insns - warps);
    assert_int_equal(with.lanes, without.lanes - (uint64_t)CTAS * threads);
    free(with.out);
    free(without.out);
}

static void warps_begin_alike(void **state)
{
    for (size_t n = 0; n < PPU_ARRAY_SIZE(ways); n++) {
        for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
            same_with_and_without(*state, n, wave, CTA_THREADS);
            same_with_and_without(*state, n, wave, 200);
        }
    }
}

/* Somewhere in the middle the machine is put away, and another goes on. */
static void warps_that_moved_are_not_fresh(void **state)
{
    struct rig *rig = *state;

    for (uint32_t steps = 1; steps < 40; steps += 3) {
        const struct way *const way = &ways[PPU_ARRAY_SIZE(ways) - 1];
        struct seen without = look(rig, way, "nop\n", PPU_LANES, CTA_THREADS);

        load(rig, way, "");
        struct ppu_tmd tmd = task_of(rig, PPU_LANES, CTA_THREADS, 1);
        memset(rig_data(rig, 0), 0xee, OUT_BYTES);
        rig_start(rig, 0, &tmd);
        for (uint32_t i = 0; i < steps; i++) {
            rig_step(rig);
        }
        *state = rig = rig_moved(rig);
        rig_done(rig);
        assert_memory_equal(without.out, rig_data(rig, 0), OUT_BYTES);
        free(without.out);
    }
}

static uint32_t fresh_warps(const struct sm *sm)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < sm->config->sm_warps; i++) {
        count += sm->warp[i].state != WARP_FREE && sm->warp[i].fresh;
    }
    return count;
}

/* Code changes and is made known while some warps of a CTA have begun: the others begin with what is there now. */
static void code_that_changed_is_seen(void **state)
{
    struct core_config config = board_small_config(0);
    const struct sm *sm;
    uint32_t old = 0, fresh, value = 3;

    (void)state;
    config.sms = config.gpcs = 1;
    struct rig *rig = rig_new_config(&config);
    sm = (*core_sm_pool(rig->board->core))->sm;
    rig_load_text(rig, ".kernel k\nmov s4, 1\nmov s5, 2\nnop\nmov s7, 3000\nloop: sub s7, s7, 1\n"
                       "isetp.ne p2, s7, 0\n@p2 bra loop\nldp.b64 s20, [0]\nrdsr v1, %tid.x\nshl v1, v1, 2\n"
                       "mov v2, s5\nrdsr s8, %cta.x\nshl s8, s8, 10\nadd v1, v1, s8\nstg.b32 v2, [s20+v1]\n"
                       "exit\n");
    struct ppu_tmd tmd = task_of(rig, PPU_LANES, CTA_THREADS, 1);
    rig_start(rig, 0, &tmd);
    do {
        rig_step(rig);
        fresh = fresh_warps(sm);
    } while (sm->program.prologue.insns == 0 || sm->cta[0].begun == 0 || fresh < 2);
    assert_int_equal(sm->program.prologue.insns, 2);
    assert_true(sm->cta[0].cta.number != 0);
    memcpy(rig->board->vram + CODE_AT + tmd.entry + PPU_INSN_BYTES + 4, &value, sizeof(value));
    mcu_write(rig->board, PPU_REG_MMU_FLUSH, CONTEXT);
    rig_done(rig);
    for (uint32_t i = 0; i < CTAS * CTA_THREADS; i++) {
        const uint32_t seen = vram_read32(rig_data(rig, 4 * i));

        assert_true(seen == 2 || seen == 3);
        old += seen == 2;
    }
    assert_int_equal(old % CTA_THREADS, CTA_THREADS - fresh * PPU_LANES);
    rig_free(rig);
}

/* Parameters end for CTAs from the tenth on. */
static void faults_name_their_location(void **state)
{
    struct rig *rig = *state;

    rig_load_text(rig, ".kernel k\nrdsr s4, %cta.x\nshl s4, s4, 2\nldp.b32 s5, [s4+8]\nrdsr v1, %tid.x\nexit\n");
    struct ppu_tmd tmd = task_of(rig, PPU_LANES, CTA_THREADS, 1);
    struct outcome outcome = rig_run(rig, &tmd);
    assert_true(outcome.faulted);
    assert_int_equal(outcome.fault.code, PPU_FAULT_PARAM_RANGE);
    assert_int_equal(outcome.fault.pc, tmd.code_va + tmd.entry + 2 * PPU_INSN_BYTES);
    assert_int_equal(outcome.fault.cta[0], (PARAM_BYTES - 8) / 4);
    assert_int_equal(outcome.fault.warp, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "a CTA's warps have what each would have made [A7]", warps_begin_alike, rig_setup_slices, rig_teardown,
          NULL },
        { "warps that moved go on where they were [B7]", warps_that_moved_are_not_fresh, rig_setup_slices, rig_teardown,
          NULL },
        { "code that changed is seen by warps that begin [A11]", code_that_changed_is_seen, NULL, NULL, NULL },
        { "faults name the instruction and the CTA", faults_name_their_location, rig_setup_slices, rig_teardown, NULL },
    };

    return cmocka_run_group_tests_name("engine: prologues", tests, NULL, NULL);
}
