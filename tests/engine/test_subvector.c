/* SPDX-License-Identifier: MIT */
/*
 * Tests sub-vector mode, instruction by instruction: in which order parts run, which registers they share, what a
 * segment must not have, and how its loop form is the algorithm of D7. That both modes give the same is in
 * test_fuzz.c.
 */
#include "ppu/macros.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"
#include "qemu-device/core/sm/sm.h"
#include "tests/engine/rig.h"

#include <stdio.h>
#include <string.h>

#define TICKETS_AT 0x1000u
#define STEPS 3u /* of the ticket kernel, each of which takes a ticket */

static struct outcome run_text(struct rig *rig, const char *text, uint32_t wave, uint32_t threads)
{
    const uint64_t params[2] = { DATA_VA, 0 };

    memset(rig_data(rig, 0), 0, 0x8000);
    rig_load_text(rig, text);
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    tmd.wave = (uint8_t)wave;
    rig_shape(&tmd, 1, 1, threads, 1);
    rig_params(rig, 0, &tmd, params, sizeof(params));
    return rig_run(rig, &tmd);
}

static void run_done(struct rig *rig, const char *text, uint32_t wave, uint32_t threads)
{
    const struct outcome outcome = run_text(rig, text, wave, threads);

    if (outcome.event.kind != PPU_SLOT_DONE) {
        fail_msg("wave %u: event %u, fault 0x%x at %u", wave, outcome.event.kind, outcome.fault.code,
                 (unsigned)((outcome.fault.pc - CODE_VA) / PPU_INSN_BYTES));
    }
}

/* ---- the order of parts (D2, D3, D5) ---- */

/* Steps that each take a ticket, the lanes of a pass in their order: the tickets tell who was first. */
#define TICKET(step) "atomg.add.relaxed.dev v5, [s0+v4], v3\nstg.b32 v5, [s0+v2+" #step "]\n"
#define KERNEL ".kernel k\n.vregs 8\n.shared_vregs 4\n"
#define INVERTED ".subvector\n"
#define TICKETS(begin, end)                            \
    "ldp.b64 s0, [0]\nrdsr v0, %tid\nmul v2, v0, 12\n" \
    "add v2, v2, 0x1000\nmov v3, 1\nmov v4, 0\n" begin "\n" TICKET(0) TICKET(4) TICKET(8) end "\nexit\n"

static const uint32_t *tickets_of(struct rig *rig, uint32_t thread)
{
    return (const uint32_t *)rig_data(rig, TICKETS_AT) + (size_t)thread * STEPS;
}

/* Every step of one part comes before the first step of the next (true), or of all parts before the next step. */
static void check_order(struct rig *rig, uint32_t wave, uint32_t threads, bool parts)
{
    for (uint32_t a = 0; a < threads; a++) {
        for (uint32_t b = a / wave * wave; b < a / wave * wave + wave && b < threads; b++) {
            const bool earlier = a / PPU_LANES < b / PPU_LANES;

            for (uint32_t step = 0; step + 1 < STEPS; step++) {
                const uint32_t before = tickets_of(rig, a)[parts ? STEPS - 1 : step];
                const uint32_t after = tickets_of(rig, b)[parts ? 0 : step + 1];

                if ((parts ? earlier : true) && before >= after) {
                    fail_msg("wave %u: thread %u has ticket %u, thread %u ticket %u", wave, a, before, b, after);
                }
            }
        }
    }
}

static void parts_follow_each_other(void **state)
{
    static const struct {
        const char *text;
        bool parts;
    } kernels[] = {
        { KERNEL TICKETS("", ""), false },
        { KERNEL TICKETS("svleave", "svleave"), false }, /* outside a segment it is nothing */
        { KERNEL TICKETS("sventer 0", "svleave"), true },
        { KERNEL TICKETS("sventer 4", "svleave"), true },
        { KERNEL TICKETS("svbegin64 s20, behind\nhalf: svbegin s22, end\nhead:",
                         "svend s22, head\nend: svend64 s20, half\nbehind:"),
          true },
        { KERNEL TICKETS("sventer 2", ""), true }, /* a segment may end with the thread */
    };
    struct rig *rig = *state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(kernels); i++) {
        for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
            run_done(rig, kernels[i].text, wave, 300);
            check_order(rig, wave, 300, kernels[i].parts);
        }
    }
}

/* Instructions that a warp executes depend on the parts that have lanes, and on nothing else. */
static void empty_parts_are_skipped(void **state)
{
    struct rig *rig = *state;
    static const struct {
        const char *lanes; /* p0: takes part */
        uint32_t parts[3]; /* that have such lanes, in waves of 32, 64 and 128 of 128 threads */
    } cases[] = {
        { "isetp.geu p0, v0, 0", { 4, 4, 4 } },
        { "isetp.ltu p0, v0, 5", { 1, 1, 1 } },
        { "isetp.geu p0, v0, 120", { 1, 1, 1 } },
        { "and v1, v0, 63\nisetp.ltu p0, v1, 9", { 2, 2, 2 } },
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        for (uint32_t n = 0; n < 3; n++) {
            uint64_t insns[2];

            for (uint32_t more = 0; more < 2; more++) {
                char text[512];

                snprintf(text, sizeof(text),
                         ".kernel k\nrdsr v0, %%tid\n%s\n@!p0 exit\nsventer 0\nadd v2, v0, 1\n%ssvleave\nexit\n",
                         cases[i].lanes, more ? "add v2, v2, 1\n" : "");
                const struct outcome outcome = run_text(rig, text, PPU_LANES << n, 128);

                assert_int_equal(outcome.event.kind, PPU_SLOT_DONE);
                insns[more] = outcome.event.warp_insns;
            }
            assert_int_equal(insns[1] - insns[0], cases[i].parts[n]);
        }
    }
}

/* ---- registers (D4) ---- */

/* A part finds in a shared register what the part before left there; private registers are its own. */
static void registers_are_shared(void **state)
{
    static const char text[] =
        ".kernel k\n.vregs 12\n.shared_vregs 8\nldp.b64 s0, [0]\nrdsr v0, %tid\nmul v2, v0, 32\nmov v11, v0\n"
        "sventer 8\nmov v4, v12\nmov v5, v19\nmov64 v6, v14\nadd v12, v0, 1000\nadd v19, v0, 2000\n"
        "add v14, v0, 3000\nadd v15, v0, 4000\nadd v16, v14, v15\nadd v17, v16, v12\nmov v18, v17\n"
        "ldg.b128 v12, [s0]\nstg.b128 v12, [s0+0x7000]\nadd v12, v0, 1000\nadd v14, v0, 3000\nadd v15, v0, 4000\n"
        "mov v8, v18\nsvleave\n"
        "stg.b128 v4, [s0+v2+0x1000]\nstg.b64 v8, [s0+v2+0x1010]\nstg.b32 v11, [s0+v2+0x1018]\nexit\n";
    struct rig *rig = *state;

    for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
        run_done(rig, text, wave, 128);
        for (uint32_t t = 0; t < 128; t++) {
            const uint32_t *out = (const uint32_t *)rig_data(rig, TICKETS_AT) + (size_t)t * 8;
            const uint32_t from = t - PPU_LANES; /* the same lane of the part before */
            const bool first = t % wave < PPU_LANES;

            assert_int_equal(out[0], first ? 0 : from + 1000);
            assert_int_equal(out[1], first ? 0 : from + 2000);
            assert_int_equal(out[2], first ? 0 : from + 3000);
            assert_int_equal(out[3], first ? 0 : from + 4000);
            assert_int_equal(out[4], 3 * t + 8000);
            assert_int_equal(out[6], t);
        }
    }
}

/* ---- lanes of other parts ---- */

static uint32_t source_of(uint32_t op, uint32_t lane, uint32_t by, uint32_t wave)
{
    switch (op) {
    case PPU_OP_SHFL:
        return by % wave;
    case PPU_OP_SHFLUP:
        return by <= lane ? lane - by : lane;
    case PPU_OP_SHFLDN:
        return lane + by < wave ? lane + by : lane;
    case PPU_OP_SHFLX:
        return (lane ^ by) < wave ? lane ^ by : lane;
    default: /* READLANE, by what the lowest lane of the part says */
        return by % wave;
    }
}

#define ACROSS(op, name)                                        \
    {                                                           \
        PPU_OP_##op, name " v4, v15, v5\n" name " v6, v3, v5\n" \
    }
static const struct {
    uint32_t op;
    const char *text; /* v4: from a shared register, v6: from a private one; lanes by v5 */
} across[] = {
    ACROSS(SHFL, "shfl"),
    ACROSS(SHFLUP, "shflup"),
    ACROSS(SHFLDN, "shfldn"),
    ACROSS(SHFLX, "shflx"),
    { PPU_OP_READLANE, "readfirst s8, v5\nreadlane s9, v15, s8\nreadlane s10, v3, s8\nmov v4, s9\nmov v6, s10\n" },
};

/* v15 is shared and holds the thread + 1000 of the part that runs; v3 is private, + 9000 where the part has run. */
static void check_across(struct rig *rig, uint32_t op, uint32_t wave, uint32_t factor)
{
    const uint32_t *out = rig_data(rig, TICKETS_AT);

    for (uint32_t t = 0; t < 2 * wave; t++) {
        const uint32_t lane = t % wave, part = lane / PPU_LANES, first = t - lane;
        const uint32_t by = ((op == PPU_OP_READLANE ? t / PPU_LANES * PPU_LANES : t) * factor + 33) & 255u;
        const uint32_t source = source_of(op, lane, by, wave);

        assert_int_equal(out[4 * t], first + part * PPU_LANES + source % PPU_LANES + 1000);
        assert_int_equal(out[4 * t + 2], first + source + (source / PPU_LANES < part ? 9000 : 5000));
    }
}

static void lanes_of_other_parts(void **state)
{
    struct rig *rig = *state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(across); i++) {
        for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
            for (uint32_t factor = 0; factor < 40; factor += 13) {
                char text[512];

                snprintf(text, sizeof(text),
                         ".kernel k\n.vregs 8\n.shared_vregs 8\nldp.b64 s0, [0]\nrdsr v0, %%tid\nmul v2, v0, 16\n"
                         "mul v5, v0, %u\nadd v5, v5, 33\nand v5, v5, 255\nadd v3, v0, 5000\nsventer 8\n"
                         "add v15, v0, 1000\n%sadd v3, v0, 9000\nstg.b128 v4, [s0+v2+0x1000]\nsvleave\nexit\n",
                         factor, across[i].text);
                run_done(rig, text, wave, 2 * wave);
                check_across(rig, across[i].op, wave, factor);
            }
        }
    }
}

/* ---- the last registers of the file: nothing is read behind them, which sanitizers see ---- */

static const char *const at_the_end[] = {
    "shfl v3, v75, v2",
    "shflup v3, v75, v2",
    "shfldn v3, v75, v2",
    "shflx v3, v75, v2",
    "readlane s8, v75, 127",
    "readlane s8, v75, 33",
    "readfirst s8, v75",
    "div v75, v75, v74",
    "remu v3, v75, v74",
    "mulhi64 v72, v72, v74",
    "fsin v3, v75",
    "flog2 v75, v75",
    "fsetp.lt p1, -v75, |v74|",
    "dsetp.lt p1, -v74, v72",
    "isetp.lt p1, v75, s0",
    "isetp64.lt p1, v74, v72",
    "rdsr v75, %tid.x",
    "rdsr v75, %tid.y",
    "rdsr v75, %tid",
    "rdsr v75, %lane",
    "rdsr v75, %cta.x",
    "rdtime v74",
    "p2r v75",
    "r2p v75, 255",
    "sel v75, v74, v73, p1",
    "sel64 v74, v72, v74, p1",
    "cvt.f16.f32.rtp v75, v74",
    "ffma v75, v74, -v73, v75",
    "add64 v74, v72, v74",
    "isetp.ltu p1, v0, 3\n@p1 ldg.b32 v75, [s0+v1]",
    "isetp.ltu p1, v0, 3\n@p1 ldg.b32 v75, [s0+v75*4]",
    "mov v74, v1\nldg.b128 v72, [s0+v74]",
    "mov v74, v1\nstg.b64 v74, [s0+v1]",
    "mov v72, v1\nmov v73, v1\nmov v74, v1\nmov v75, v1\ngather.n4 v72, [s0+v72]",
    "mov v75, v1\natomg.add.seq_cst.dev v75, [s0+v75], v75",
    "mov v75, v1\natomg.add.relaxed.dev _, [s0+v75], v75",
    "brx v75",
};

/* `wide`: parts have the 16 registers each for itself, in a segment that runs in normal mode. */
static void end_of_the_file(bool wide, bool model)
{
    struct core_config config = board_small_config(0);

    config.sms = 1;
    config.sm_vregs = wide ? 128 * (60 + 16) : 128 * 60 + 32 * 16; /* the last is the least there is */
    config.cache_model = model;
    struct rig *rig = rig_new_config(&config);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(at_the_end); i++) {
        const uint64_t params[1] = { DATA_VA };
        char text[512];

        snprintf(text, sizeof(text),
                 ".kernel k\n.vregs 60\n.shared_vregs 16\n.mayshare\nldp.b64 s0, [0]\nrdsr v0, %%tid.x\n"
                 "mul v1, v0, 16\nadd v2, v0, 96\nsventer %u\n"
                 "mov v72, 0\nmov v73, 0\nmov v74, 0\nmov v75, 1\n%s\nsvleave\nexit\n",
                 PPU_SUBVECTOR_MAY + 16, at_the_end[i]);
        rig_load_text(rig, text);
        struct ppu_tmd tmd = rig_tmd(rig, "k");
        tmd.wave = PPU_MAX_WAVE;
        tmd.mode = wide ? PPU_MODE_NORMAL : PPU_MODE_SUBVECTOR;
        rig_shape(&tmd, 3, 1, 64, 2);
        rig_params(rig, 0, &tmd, params, sizeof(params));
        struct outcome outcome = rig_run(rig, &tmd);
        if (outcome.event.kind != PPU_SLOT_DONE) {
            fail_msg("'%s': event %u, fault 0x%x", at_the_end[i], outcome.event.kind, outcome.fault.code);
        }
    }
    rig_free(rig);
}

static void the_end_of_the_file(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        end_of_the_file(i % 2 != 0, i / 2 != 0);
    }
}

/* As many CTAs are on an SM as private registers of all parts and shared ones of each warp let. */
static void more_warps_fit(void **state)
{
    struct rig *rig = *state;
    const uint32_t room = core_config_of(rig->board->core)->sm_vregs;
    static const struct {
        uint16_t vregs, shared;
    } shapes[] = { { 128, 0 }, { 64, 64 }, { 32, 96 }, { 16, 240 }, { 4, 1 } };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(shapes); i++) {
        for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
            const struct core_config *config = core_config_of(rig->board->core);
            struct sm_pool *pool = *core_sm_pool(rig->board->core);
            const uint32_t warp = wave * shapes[i].vregs + PPU_LANES * shapes[i].shared;
            uint32_t fit = room / warp, most = 0;
            enum sm_activity activity;
            struct outcome outcome;

            rig_load_text(rig, ".kernel k\nmov v0, 200\nspin: sub v0, v0, 1\nisetp.ne p0, v0, 0\n@p0 bra spin\nexit\n");
            struct ppu_tmd tmd = rig_tmd(rig, "k");
            tmd.wave = (uint8_t)wave;
            tmd.vregs = shapes[i].vregs;
            tmd.shared_vregs = shapes[i].shared;
            rig_shape(&tmd, 300, 1, wave, 1);
            rig_start(rig, 0, &tmd);
            for (uint32_t turn = 0; turn < 200; turn++) {
                sm_run(&pool->sm[0], 100, &activity);
                most = PPU_MAX(pool->sm[0].ctas_used, most);
            }
            fit = PPU_MIN(fit, config->sm_ctas);
            fit = fit < config->sm_warps * PPU_LANES / wave ? fit : config->sm_warps * PPU_LANES / wave;
            assert_int_equal(most, fit < 300 / config->sms ? fit : most);
            assert_true(rig_wait(rig, 0, &outcome));
            assert_int_equal(outcome.event.kind, PPU_SLOT_DONE);
        }
    }
}

/* ---- the loop form (D7) ---- */

/*
 * Which lanes of a wave of 64 enter, and what the scalar holds while each half runs: the mask of the other half, as
 * D7's algorithm has it.
 */
static void the_loop_keeps_the_other_half(void **state)
{
    static const struct {
        uint32_t low, high;
    } masks[] = { { 0xffffffff, 0xffffffff }, { 0, 0xf0f0f0f0 }, { 0x12345678, 0 }, { 1, 0x80000000 } };
    struct rig *rig = *state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(masks); i++) {
        const uint32_t *out = rig_data(rig, TICKETS_AT);
        char text[1024];

        snprintf(text, sizeof(text),
                 ".kernel k\nldp.b64 s0, [0]\nrdsr v0, %%tid\nand v1, v0, 31\nmov v2, 0x%x\nmov v3, 0x%x\n"
                 "isetp.geu p0, v0, 32\nsel v2, v3, v2, p0\nshr v2, v2, v1\nand v2, v2, 1\nisetp.eq p0, v2, 0\n"
                 "shl v4, v0, 2\n@p0 exit\nsvbegin s9, behind\nhead: mov v5, s9\nstg.b32 v5, [s0+v4+0x1000]\n"
                 "svend s9, head\nbehind: exit\n",
                 masks[i].low, masks[i].high);
        run_done(rig, text, 64, 64);
        for (uint32_t t = 0; t < 64; t++) {
            const uint32_t own = t < 32 ? masks[i].low : masks[i].high;
            const uint32_t other = t < 32 ? masks[i].high : masks[i].low;

            assert_int_equal(out[t], own >> t % 32 & 1 ? other : 0);
        }
    }
}

/* Four parts take two loops: a pair of scalars has the other half of 64, a scalar the other part. */
static void the_loops_of_four_parts(void **state)
{
    static const uint32_t part[4] = { UINT32_MAX, UINT32_MAX, ~(1u << 6), 0x00ffffff };
    struct rig *rig = *state;
    const uint32_t *out = rig_data(rig, TICKETS_AT);

    run_done(rig,
             ".kernel k\nldp.b64 s0, [0]\nrdsr v0, %tid\nshl v4, v0, 4\nisetp.eq p0, v0, 70\n@p0 exit\n"
             "svbegin64 s60, behind\nhalf: svbegin s63, end\nhead: mov v8, s60\nmov v9, s61\nmov v10, s63\n"
             "mov v11, 1\nstg.b128 v8, [s0+v4+0x1000]\nsvend s63, head\nend: svend64 s60, half\nbehind: exit\n",
             128, 120);
    for (uint32_t t = 0; t < 120; t++) {
        const uint32_t own = t / 32, other_half = own < 2 ? 2 : 0;

        assert_int_equal(out[4 * t + 3], t != 70);
        if (t != 70) {
            assert_int_equal(out[4 * t], part[other_half]);
            assert_int_equal(out[4 * t + 1], part[other_half + 1]);
            assert_int_equal(out[4 * t + 2], part[own ^ 1u]);
        }
    }
}

/*
 * The scalar is all that the loop has: a program that writes over it, skips the high part or runs it with fewer lanes,
 * and the others go on when no lane can, so that each comes to the end once. It names only lanes that wait there.
 */
static void the_scalar_is_the_state(void **state)
{
    static const struct {
        const char *inside; /* of a loop over two parts; each lane that runs it adds 1 to its word */
        uint32_t low, high; /* how often lanes of the parts have run it */
    } cases[] = {
        { "nop", 1, 1 },
        { "isetp.ltu p1, v0, 32\n@p1 mov v6, 1\nmov s9, s9", 1, 1 },
        { "mov s9, -1", 1, 1 }, /* names lanes that do not wait */
        { "readfirst s10, v0\nisetp.eq.s p1, s10, 0\n@p1 mov s9, 0x0000ffff", 1, 1 },
        { "readfirst s10, v0\nisetp.eq.s p1, s10, 0\n@p1 mov s9, 0", 1, 1 },
        { "isetp.ltu p1, v0, 32\n@p1 exit", 1, 1 },
        { "isetp.geu p1, v0, 32\n@p1 exit", 1, 1 },
        { "isetp.eq p1, v0, 3\n@p1 exit", 1, 1 },
        { "yield", 1, 1 },
        { "bar 0", 1, 1 },
    };
    struct rig *rig = *state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        const uint32_t *out = rig_data(rig, TICKETS_AT);
        char text[1024];

        snprintf(text, sizeof(text),
                 ".kernel k\nldp.b64 s0, [0]\nrdsr v0, %%tid\nshl v4, v0, 2\nadd v4, v4, 0x1000\nmov v6, 1\n"
                 "svbegin s9, behind\nhead: atomg.add.relaxed.dev _, [s0+v4], v6\n%s\nsvend s9, head\n"
                 "behind: mov v5, 0x10000\natomg.add.relaxed.dev _, [s0+v4], v5\nexit\n",
                 cases[i].inside);
        run_done(rig, text, 64, 64);
        for (uint32_t t = 0; t < 64; t++) {
            const uint32_t times = t < 32 ? cases[i].low : cases[i].high;

            if ((out[t] & 0xffff) != times || out[t] >> 16 > 1) {
                fail_msg("'%s': lane %u: 0x%x", cases[i].inside, t, out[t]);
            }
        }
    }
}

/* ---- what must not be ---- */

/* In each, lanes of the second part are the ones that do it; `insn` from the begin of the body. */
#define BODY_AT 3u
static const struct wrong {
    const char *body;
    uint32_t insn;
    uint16_t code;
    uint16_t vregs, shared;
} wrongs[] = {
    { "sventer 0\nnop\nbar 0", 2, PPU_FAULT_SUBVECTOR, 8, 0 },
    { "sventer 0\ncwait", 1, PPU_FAULT_SUBVECTOR, 8, 0 },
    { "sventer 0\ncsenter\ncsleave", 1, PPU_FAULT_SUBVECTOR, 8, 0 },
    { "sventer 0\nyield", 1, PPU_FAULT_SUBVECTOR, 8, 0 },
    { "sventer 0\nyieldn 1", 1, PPU_FAULT_SUBVECTOR, 8, 0 },
    { "sventer 0\nsventer 0", 1, PPU_FAULT_SUBVECTOR, 8, 0 },
    { "svbegin s8, .+2\nnop", 0, PPU_FAULT_SUBVECTOR, 8, 0 }, /* both halves of a warp of 128 */
    { "svend s8, .-1", 0, PPU_FAULT_SUBVECTOR, 8, 0 },
    { "isetp.eq p1, v0, 40\n@p1 sventer 0", 1, PPU_FAULT_SUBVECTOR, 8, 0 },
    { "isetp.eq p1, v0, 40\n@p1 svbegin64 s8, .+2\nnop", 1, PPU_FAULT_SUBVECTOR, 8, 0 },
    { "csenter\nsventer 0", 1, PPU_FAULT_SECTION, 8, 0 },
    /* ends where lanes are missing, or elsewhere than for the part before */
    { "sventer 0\nisetp.eq p1, v0, 40\nssy meet\n@p1 bra other\nsvleave\nother: sync meet\nmeet: svleave", 4,
      PPU_FAULT_SUBVECTOR, 8, 0 },
    { "sventer 0\nisetp.eq p1, v0, 40\n@p1 svleave", 2, PPU_FAULT_SUBVECTOR, 8, 0 },
    { "sventer 0\nisetp.ltu p1, v0, 32\n@p1 bra other\nsvleave\nother: svleave", 3, PPU_FAULT_SUBVECTOR, 8, 0 },
    /* This waits for a token from before the segment. */
    { "ssy out\nsventer 0\nsync out\nsvleave\nout: nop", 2, PPU_FAULT_SUBVECTOR, 8, 0 },
    { "pbrk out\nsventer 0\nbrk out\nsvleave\nout: nop", 2, PPU_FAULT_SUBVECTOR, 8, 0 },
    { "pexit out\nsventer 0\nexit\nsvleave\nout: nop", 2, PPU_FAULT_SUBVECTOR, 8, 0 },
    { "call v5, fun\nexit\nfun: sventer 0\nret v5", 3, PPU_FAULT_SUBVECTOR, 8, 0 },
    /* registers */
    { "mov v8, 1", 0, PPU_FAULT_BAD_REGISTER, 8, 8 },
    { "sventer 4\nmov v11, 1\nmov v12, 1", 2, PPU_FAULT_BAD_REGISTER, 8, 8 },
    { "sventer 8\nmov v15, 1\nmov v16, 1", 2, PPU_FAULT_BAD_REGISTER, 8, 8 },
    { "sventer 9", 0, PPU_FAULT_BAD_REGISTER, 8, 8 },
    { "sventer 4\nsvleave\nmov v8, 1", 2, PPU_FAULT_BAD_REGISTER, 8, 8 },
    { "svbegin64 s8, .+3\nmov v8, 1\nsvend64 s8, .-1", 1, PPU_FAULT_BAD_REGISTER, 8, 8 },
    { "sventer 257", 0, PPU_FAULT_BAD_REGISTER, 8, 8 }, /* the task is not one whose open segments share registers */
    /* The end of a loop that only some of the part come to, and the end of another form. */
    { "svbegin64 s8, .+4\nisetp.eq p1, v0, 40\n@p1 svend64 s8, .-1\nsvend64 s8, .-2", 2, PPU_FAULT_SUBVECTOR, 8, 0 },
    { "sventer 0\nsvbegin s8, .+3\nbar 0\nsvend s8, .-1", 2, PPU_FAULT_SUBVECTOR, 8, 0 },
};

/* Of tasks whose open segments share registers: they run in normal mode here. */
static const struct wrong wrong_wides[] = {
    { "mov v8, 1", 0, PPU_FAULT_BAD_REGISTER, 8, 8 },
    { "sventer 260\nmov v11, 1\nmov v12, 1", 2, PPU_FAULT_BAD_REGISTER, 8, 8 },
    { "sventer 264\nmov v15, 1\nmov v16, 1", 2, PPU_FAULT_BAD_REGISTER, 8, 8 },
    { "sventer 265", 0, PPU_FAULT_BAD_REGISTER, 8, 8 },
    { "sventer 260\nsvleave\nmov v8, 1", 2, PPU_FAULT_BAD_REGISTER, 8, 8 },
    { "sventer 260\nsventer 260", 1, PPU_FAULT_SUBVECTOR, 8, 8 },
    { "sventer 260\nsventer 256", 1, PPU_FAULT_SUBVECTOR, 8, 8 },
    { "sventer 260\nsventer 4", 1, PPU_FAULT_SUBVECTOR, 8, 8 },
};

static void check_wrong(struct rig *rig, const struct wrong *c, const char *directives)
{
    char text[512];

    snprintf(text, sizeof(text),
             ".kernel k\n.vregs %u\n.shared_vregs %u\n%srdsr v0, %%tid\nisetp.geu p0, v0, 16\n@!p0 exit\n%s\nexit\n",
             c->vregs, c->shared, directives, c->body);
    struct outcome outcome = run_text(rig, text, PPU_MAX_WAVE, 128);
    if (!outcome.faulted || outcome.fault.code != c->code ||
        outcome.fault.pc != CODE_VA + (uint64_t)(BODY_AT + c->insn) * PPU_INSN_BYTES) {
        fail_msg("'%s': fault 0x%x at %d, not 0x%x at %u", c->body, outcome.fault.code,
                 (int)((outcome.fault.pc - CODE_VA) / PPU_INSN_BYTES) - (int)BODY_AT, c->code, c->insn);
    }
    assert_int_equal(outcome.event.kind, PPU_SLOT_KILLED);
}

static void wrong_segments_fault(void **state)
{
    for (size_t i = 0; i < PPU_ARRAY_SIZE(wrongs); i++) {
        check_wrong(*state, &wrongs[i], "");
    }
    for (size_t i = 0; i < PPU_ARRAY_SIZE(wrong_wides); i++) {
        check_wrong(*state, &wrong_wides[i], ".mayshare\n");
    }
}

/* ---- the task's default (D6) ---- */

static void the_default_is_inverted(void **state)
{
    static const struct {
        const char *text;
        bool parts;
    } kernels[] = {
        { KERNEL INVERTED TICKETS("", ""), true },
        { KERNEL INVERTED TICKETS("svleave", ""), false },
        { KERNEL INVERTED TICKETS("svleave", "sventer 4"), false },
        { KERNEL INVERTED TICKETS("svleave\nnop\nsventer 2", "svleave"), true },
    };
    struct rig *rig = *state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(kernels); i++) {
        for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
            run_done(rig, kernels[i].text, wave, 128);
            check_order(rig, wave, 128, kernels[i].parts);
        }
    }
}

static void tasks_that_cannot_be(void **state)
{
    static const struct {
        uint16_t vregs, shared, miss_rate;
        uint8_t mode;
    } bad[] = {
        { 10, 4, 0, 0 },   { 253, 4, 0, 0 },    { 8, 249, 0, 0 }, { 256, 1, 0, 0 },
        { 8, 4, 1026, 0 }, { 8, 4, 0xfffd, 0 }, { 8, 4, 0, 3 },
    };
    struct rig *rig = *state;

    rig_load_text(rig, ".kernel k\n.vregs 8\nexit\n");
    for (size_t i = 0; i < PPU_ARRAY_SIZE(bad); i++) {
        struct ppu_tmd tmd = rig_tmd(rig, "k");

        tmd.vregs = bad[i].vregs;
        tmd.shared_vregs = bad[i].shared;
        tmd.miss_rate = bad[i].miss_rate;
        tmd.mode = bad[i].mode;
        struct outcome outcome = rig_run(rig, &tmd);
        assert_int_equal(outcome.event.kind, PPU_SLOT_REFUSED);
        assert_int_equal(outcome.event.arg, PPU_FAULT_TMD_SUBVECTOR);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "parts follow each other in a segment, instructions elsewhere [D2][D3][D7]", parts_follow_each_other,
          rig_setup_slices, rig_teardown, NULL },
        { "parts follow each other, on threads [D2][D3][D7]", parts_follow_each_other, rig_setup_threads, rig_teardown,
          NULL },
        { "parts without lanes are skipped [D5]", empty_parts_are_skipped, rig_setup_slices, rig_teardown, NULL },
        { "parts share the registers of the mode, and no others [D4]", registers_are_shared, rig_setup_slices,
          rig_teardown, NULL },
        { "lanes of other parts have the words of shared registers that the part's own have [D4]", lanes_of_other_parts,
          rig_setup_slices, rig_teardown, NULL },
        { "no instruction of a part reads behind the registers of its warp [D4]", the_end_of_the_file, NULL, NULL,
          NULL },
        { "an SM has as many warps as their registers let [D4]", more_warps_fit, rig_setup_slices, rig_teardown, NULL },
        { "the loop keeps the other half's mask in a scalar [D7]", the_loop_keeps_the_other_half, rig_setup_slices,
          rig_teardown, NULL },
        { "four parts take two loops, over halves of 64 and in them of 32 [D7]", the_loops_of_four_parts,
          rig_setup_slices, rig_teardown, NULL },
        { "a loop's scalar is its state, and no lane is lost by what it holds [D7][D10]", the_scalar_is_the_state,
          rig_setup_slices, rig_teardown, NULL },
        { "segments that cannot be are faults [D3][D4][D7]", wrong_segments_fault, rig_setup_slices, rig_teardown,
          NULL },
        { "a task may begin in sub-vector mode [D6]", the_default_is_inverted, rig_setup_slices, rig_teardown, NULL },
        { "tasks that cannot be are refused [D4][D6][D8]", tasks_that_cannot_be, rig_setup_slices, rig_teardown, NULL },
    };

    return cmocka_run_group_tests_name("engine: parts of a warp", tests, NULL, NULL);
}
