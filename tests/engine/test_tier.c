/* SPDX-License-Identifier: MIT */
/*
 * Tests loops that are translated to code of the host: they do what the interpreter does, to the bytes of memory and
 * the counters. Two machines of one SM run the same programs; one translates every loop before it goes on.
 */
#define _GNU_SOURCE
#include "ppu/macros.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/sm/code.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/tier/heads.h"
#include "qemu-device/core/tier/request.h"
#include "qemu-device/core/tier/tier.h"
#include "qemu-device/core/tier/translator.h"
#include "qemu-device/core/tier/unit.h"
#include "tests/device-core/translator.h"
#include "tests/engine/generate.h"
#include "tests/engine/rig.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MODULE "build/plain/ppu-tier.so"
#define INPUT_BYTES 0x40000u
#define TURNS 37u
#define PROGRAMS 4u
#define NS_PER_S 1000000000u
#define PAUSES 20u
#define MOST_PAUSE_NS 10000000u /* of one that the host does not disturb */

struct pair {
    struct rig *plain;
    struct rig *tier;
    uint64_t random;
    char *text;
};

static struct rig *machine(bool tier)
{
    struct core_config config = board_small_config(1);

    config.sms = 1;
    config.engine_tier = TIER_AT_ONCE;
    config.engine_tier_socket = tier ? translator_start(MODULE, NULL) : -1;
    return rig_new_config(&config);
}

static int setup(void **state)
{
    struct pair *p = calloc(1, sizeof(*p));

    assert_non_null(p);
    p->plain = machine(false);
    p->tier = machine(true);
    p->random = random_seed();
    p->text = malloc(GEN_TEXT_BYTES);
    assert_non_null(p->text);
    *state = p;
    return 0;
}

static int teardown(void **state)
{
    struct pair *p = *state;

    rig_free(p->plain);
    rig_free(p->tier);
    free(p->text);
    free(p);
    return 0;
}

static uint64_t translations(const struct pair *p)
{
    return sm_translations(p->tier->board->core);
}

static const uint64_t *counts(const struct rig *rig)
{
    return (const uint64_t *)(const void *)(rig->board->vram + TMD_AT(0) + offsetof(struct ppu_tmd_copy, count));
}

struct params {
    uint64_t data;
    uint32_t turns;
    float step;
};

/* ---- loops written by hand ---- */

static struct ppu_tmd prepare(struct rig *rig, const char *text, uint32_t wave, const uint32_t shape[3], uint32_t ctas,
                              const uint8_t *input)
{
    const struct params params = { DATA_VA, TURNS, 0.37f };

    memcpy(rig_data(rig, 0), input, INPUT_BYTES);
    rig_load_text(rig, text);
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    tmd.wave = (uint8_t)wave;
    tmd.shared_bytes = 4096;
    rig_shape(&tmd, ctas, 1, shape[0], shape[1]);
    tmd.cta[2] = (uint16_t)shape[2];
    rig_params(rig, 0, &tmd, &params, sizeof(params));
    return tmd;
}

static void run_shape(struct rig *rig, const char *text, uint32_t wave, const uint32_t shape[3], uint32_t ctas,
                      const uint8_t *input)
{
    const struct ppu_tmd tmd = prepare(rig, text, wave, shape, ctas, input);

    rig_run_done(rig, &tmd);
}

static void run(struct rig *rig, const char *text, uint32_t wave, uint32_t threads, const uint8_t *input)
{
    run_shape(rig, text, wave, (uint32_t[3]){ threads, 1, 1 }, 3, input);
}

static void compare(struct pair *p, const char *text, uint32_t wave, const uint32_t shape[3], uint32_t ctas)
{
    uint8_t *input = malloc(INPUT_BYTES);

    assert_non_null(input);
    random_bytes(&p->random, input, INPUT_BYTES);
    run_shape(p->plain, text, wave, shape, ctas, input);
    run_shape(p->tier, text, wave, shape, ctas, input);
    if (memcmp(rig_data(p->plain, 0), rig_data(p->tier, 0), INPUT_BYTES) != 0) {
        uint32_t at = 0;
        while (memcmp(rig_data(p->plain, at), rig_data(p->tier, at), 4) == 0) {
            at += 4;
        }
        fail_msg("wave %u: word 0x%x is 0x%x, by the interpreter 0x%x", wave, at, *(uint32_t *)rig_data(p->tier, at),
                 *(uint32_t *)rig_data(p->plain, at));
    }
    assert_memory_equal(counts(p->plain), counts(p->tier), PPU_COUNTERS * sizeof(uint64_t));
    free(input);
}

/* s0: data, s2: turns, s3: a float, v0: number of the thread, v1: where its words begin. */
#define BEGIN                                                                                                    \
    ".kernel k\n.vregs 40\nldp.b64 s0, [0]\nldp.b64 s2, [8]\nrdsr v0, %tid\nrdsr s4, %cta.x\nrdsr s5, %ntid.x\n" \
    "mad v0, s4, s5, v0\nshl v1, v0, 2\nmov v2, 0\nmov v3, 0\nmov v4, 1\nmov v5, 3\nmov v6, 7\nmov v7, 0\nmov s8, 0\n"
#define LOOP "loop: "
#define END                                                                                                  \
    "add s8, s8, 1\nisetp.ne.s p7, s8, s2\n@p7 bra loop\nmov s10, 0x20000\nmov s11, 0\nadd64 s10, s0, s10\n" \
    "stg.b32 v2, [s10+v1]\nstg.b32 v3, [s10+v1+0x4000]\nstg.b32 v4, [s10+v1+0x8000]\nexit\n"

#define STORES                                           \
    "mov s10, 0x20000\nmov s11, 0\nadd64 s10, s0, s10\n" \
    "stg.b32 v2, [s10+v1]\nstg.b32 v3, [s10+v1+0x4000]\nstg.b32 v4, [s10+v1+0x8000]\nexit\n"

static const char *const kernels[] = {
    /* a product of matrices: a row, a word that is the same for all lanes, and one by the scalar unit */
    BEGIN "mov v6, 0\nmov s6, s0\nmov s7, s1\n" LOOP
          "ldg.b32 v8, [s0+v1]\nldg.b32 v9, [s0+v6]\nldg.b32 s9, [s6]\nffma v2, v8, v9, v2\nffma v3, v8, s9, v3\n"
          "add v6, v6, 4\nadd64 s6, s6, 4\nadd v1, v1, 4\nadd v1, v1, -4\n" END,
    /* widths, and a row that is stored and loaded again */
    BEGIN LOOP "ldg.u8 v8, [s0+v0]\nldg.s8 v9, [s0+v0+1]\nshl v11, v0, 1\nldg.u16 v10, [s0+v11+2]\n"
               "ldg.s16 v12, [s0+v11+4]\nadd v2, v8, v9\nmad v3, v10, v12, v3\nxor v2, v2, v3\n"
               "stg.b32 v2, [s0+v1+0x8000]\nldg.b32 v4, [s0+v1+0x8004]\nstg.u8 v2, [s0+v0+0x10000]\n" END,
    /* lanes leave one by one */
    BEGIN "and v6, v0, 31\npbrk out\n" LOOP "isetp.lt p0, v6, s8\n@p0 brk out\nmul v3, v3, v5\nadd v3, v3, v6\n"
          "fadd v2, v2, s3\nadd s8, s8, 1\nisetp.ne.s p7, s8, s2\n@p7 bra loop\nbrk out\nout: mov s8, 0\n"
          "mov v7, 0\nagain: add v7, v7, v3\nadd s8, s8, 1\nisetp.ne.s p7, s8, s2\n@p7 bra again\nmov v4, v7\n"
          "stg.b32 v2, [s0+v1]\nstg.b32 v3, [s0+v1+0x4000]\nstg.b32 v4, [s0+v1+0x8000]\nexit\n",
    /* guards, predicates, a choice, and a branch that some lanes take each time */
    BEGIN LOOP "and v8, v0, 7\nadd v8, v8, s8\nand v8, v8, 3\nisetp.eq p0, v8, 1\nisetp.gt p1, v8, s8\n"
               "por p2, p0, !p1\npxor p3, p2, p0\n@p0 add v2, v2, 5\n@!p2 mul v3, v3, v5\nsel v4, v2, v3, !p3\n"
               "@p3 xor v3, v3, v4\nssy join\n@p0 bra join1\nadd v3, v3, 1\nsync join\njoin1: add v3, v3, 2\n"
               "sync join\njoin: add v2, v2, v3\n" END,
    /* 64 bits, doubles, NaNs and signs */
    BEGIN LOOP
    "mulw v8, v2, v5\nmadw v10, v0, v6, v8\nadd64 v8, v8, v10\nshr64 v8, v8, 3\nadd v2, v2, v8\n"
    "xor v2, v2, v9\nldg.b32 v12, [s0+v1]\nfmul v13, v12, v12\nfsub v14, v13, |v12|\nffma v15, -v14, v12, v13\n"
    "fsqrt v16, v15\nfmin v17, v16, v14\nfmax v18, v16, -v17\nfmov v19, -v15\nfsetp.lt p0, v17, v18\n"
    "@p0 fadd v3, v3, v18\nxor v4, v4, v19\ncvt.f64.s32 v20, v2\ndfma v22, v20, v20, v20\n"
    "ddiv v24, v22, v20\nxor v4, v4, v25\ncvt.s32.f32 v26, v16\nadd v3, v3, v26\nprmt v27, v2, v3, v4\n"
    "xor v2, v2, v27\nbfe v28, v2, v5, v6\nadd v2, v2, v28\n" END,
    /* what the interpreter does in the middle: shared memory, an atomic, shuffles, a special function, a barrier */
    BEGIN LOOP "and v8, v1, 0xffc\nadd v2, v2, 1\nadd v3, v3, v2\nsts.b32 v2, [v8]\nadd v4, v4, v3\nlds.b32 v9, [v8]\n"
               "add v2, v2, v9\nxor v3, v3, v2\nshflx v10, v3, 1\nadd v4, v4, v10\nadd v3, v3, 7\nmul v3, v3, v5\n"
               "bar 0\nadd v3, v3, v4\nadd v4, v4, 1\nxor v4, v4, v3\nmul v2, v2, 3\nadd v2, v2, v4\n" END,
    /* lanes leave at two places, and pass a yield; some of them yield */
    BEGIN "and v6, v0, 31\nadd v6, v6, 3\nshr v9, v6, 1\nmov v10, 0\npbrk out\nloop: add v10, v10, 1\n"
          "fadd v2, v2, s3\nfmul v3, v2, v2\nisetp.gt p0, v10, v6\n@p0 brk out\nfsub v4, v3, v2\nyieldn 100\n"
          "isetp.gt p1, v9, v10\n@p1 fadd v4, v4, v3\nxor v5, v5, v10\nisetp.eq p2, v10, v9\n"
          "pand p2, p2, p1\n@p2 brk out\nbra loop\nout: xor v2, v2, v5\n" STORES,
    BEGIN "and v6, v0, 31\nadd v6, v6, 9\nmov v10, 0\npbrk out\nloop: add v10, v10, 1\n"
          "fadd v2, v2, s3\nfmul v3, v2, v2\nisetp.gt p0, v10, v6\n@p0 brk out\nfsub v4, v3, v2\nyieldn 7\n"
          "xor v5, v5, v10\nadd v5, v5, v3\nbra loop\nout: xor v2, v2, v5\n" STORES,
    /* a branch that all lanes take but the last time, and then at different times */
    BEGIN "shr v6, v0, 4\nand v6, v6, 3\nadd v6, v6, 2\nloop: add v7, v7, 1\nmad v3, v3, v5, v7\nxor v2, v2, v3\n"
          "mul v4, v4, v3\nadd v8, v4, v2\nadd v9, v8, v3\nisetp.ne p0, v7, v6\n@p0 bra loop\n" STORES,
    BEGIN "shr v6, v0, 3\nand v6, v6, 7\nadd v6, v6, 2\nmov v9, 0x3f800000\nloop: add v7, v7, 1\n"
          "mad v3, v3, v5, v7\nxor v2, v2, v3\nffma v9, v9, s3, s3\nmul v4, v4, v3\nadd v8, v4, v2\n"
          "add v8, v8, v3\nisetp.ge p0, v7, v6\n@!p0 bra loop\nxor v2, v2, v9\n" STORES,
    /* floats whose bits are looked at, as any operand */
    BEGIN LOOP
    "fadd v2, v2, s3\nadd v3, v3, v2\nfmul v8, v2, s3\nmad v4, v5, v8, v4\nfsub v9, v8, v2\nmad v3, v3, v5, v9\n"
    "fadd v10, v9, s3\nxor v4, v10, v4\n" END,
    BEGIN "and v6, v0, 31\npbrk out\nmov v10, 0\nloop: add v10, v10, 1\nfadd v2, v2, s3\nadd v3, v3, v2\n"
          "fmul v8, v2, s3\nmad v4, v5, v8, v4\nfsub v9, v8, v2\nmad v3, v3, v5, v9\nisetp.gt p0, v10, v6\n"
          "@p0 brk out\nbra loop\nout: xor v3, v3, v4\n" STORES,
    /* words by the scalar unit, for lanes that leave */
    BEGIN "mov s6, s0\nmov s7, s1\npbrk out\nand v6, v0, 31\nmov v10, 0\nloop: ldg.b32 s9, [s6]\n"
          "ldg.b64 s12, [s6+8]\nldg.u8 s14, [s6+3]\nadd64 s6, s6, 4\nadd v10, v10, 1\nxor v2, v2, s9\n"
          "mad v3, v2, v5, s12\nadd v4, v4, s13\nadd v4, v4, s14\nisetp.gt p0, v10, v6\n@p0 brk out\nbra loop\n"
          "out: mov v5, s9\nxor v4, v4, v5\n" STORES,
    /* rows of several words, indexes, and a row that all lanes have */
    BEGIN "shl v9, v0, 3\nmov v6, 0\n" LOOP
          "ldg.b64 v10, [s0+v9]\nldg.b64 v12, [s0+v6]\nldg.b32 v14, [s0+v0*4+64]\nldg.b128 v16, [s0+v0*16]\n"
          "add v2, v2, v10\nxor v2, v2, v11\nmad v3, v12, v5, v3\nxor v3, v3, v13\nadd v4, v4, v14\n"
          "xor v4, v4, v17\nadd v4, v4, v19\nadd v6, v6, 8\nadd v9, v9, 8\n" END,
    /* one predicate, of scalars and of lanes in turn */
    BEGIN LOOP "mov s9, 0\ninner: ffma v2, v2, s3, v3\nfadd v3, v3, s3\nadd s9, s9, 1\nisetp.ne.s p0, s9, 5\n"
               "@p0 bra inner\nisetp.lt p0, v0, s8\nsel v4, v4, v2, p0\n@p0 add v4, v4, 1\n" END,
    /* a comparison of scalars, for lanes that wait elsewhere, too */
    BEGIN "isetp.lt p3, v0, 0\nand v6, v0, 31\nisetp.ge p0, v6, 16\nssy join\n@p0 bra far\n" LOOP
          "add v2, v2, 1\nmad v3, v2, v5, v3\nxor v4, v4, v3\nisetp.ge.s p3, s8, 3\nadd v2, v2, 3\n"
          "stg.b32 v2, [s0+v1+0x10000]\nadd s8, s8, 1\nisetp.ne.s p7, s8, s2\n@p7 bra loop\nsync join\n"
          "far: @p3 add v4, v4, 77\nsync join\njoin: add v4, v4, 1\n" STORES,
    /* a loop in a loop */
    BEGIN LOOP "mov s9, 0\ninner: add v2, v2, v0\nmad v3, v2, v5, v3\nxor v4, v4, v3\nadd s9, s9, 1\n"
               "isetp.ne.s p6, s9, 5\n@p6 bra inner\nadd v4, v4, 1\n" END,
    /* lanes that load each from where the load before has led it, by indexes, offsets and negative ones */
    BEGIN "mov v2, v0\n" LOOP "and v8, v2, 0x1fffc\nldg.b32 v9, [s0+v8]\nmad v2, v9, v5, v2\nand v10, v2, 0x7fff\n"
          "ldg.b32 v11, [s0+v10*4]\nxor v3, v3, v11\nand v12, v11, 0xffff\nldg.u8 v13, [s0+v12]\n"
          "ldg.s8 v14, [s0+v12*1+5]\nldg.u16 v15, [s0+v12*2]\nldg.s16 v16, [s0+v12*2+6]\nadd v4, v4, v13\n"
          "mad v4, v14, v15, v4\nxor v4, v4, v16\nadd v2, v2, v4\n" END,
    BEGIN "mov v2, v0\nmov s6, 0x10000\nmov s7, 0\nadd64 s6, s0, s6\n" LOOP
          "and v8, v2, 0x3fff\nsub v8, v7, v8\nldg.b32 v9, [s6+v8*4]\nmad v2, v9, v5, v2\nand v8, v2, 0x3ffe\n"
          "ldg.u16 v10, [s6+v8*2-2]\nxor v2, v2, v10\nand v11, v2, 0xfffc\nldg.b32 v12, [s6+v11-0x8000]\n"
          "xor v3, v3, v12\nadd v2, v2, v3\n" END,
    /* several words of a lane: anywhere, at one place, in a row, a word or two apart */
    BEGIN "shl v9, v0, 3\nmov v6, 0\n" LOOP
          "ldg.b64 v10, [s0+v9]\nldg.b64 v12, [s0+v6]\nldg.b128 v16, [s0+v0*16]\nldg.b64 v20, [s0+v1]\n"
          "ldg.b128 v24, [s0+v9]\nand v28, v2, 0x1fff\nldg.b64 v30, [s0+v28*8]\nldg.b128 v32, [s0+v28*16+4]\n"
          "and v29, v10, 0x1fffc\nldg.b128 v28, [s0+v29]\nadd v2, v2, v10\nxor v2, v2, v11\nmad v3, v12, v5, v3\n"
          "xor v3, v3, v13\nadd v4, v4, v17\nxor v4, v4, v19\nadd v4, v4, v21\nxor v4, v4, v26\nadd v2, v2, v31\n"
          "xor v3, v3, v35\nadd v3, v3, v30\nadd v2, v2, v28\nadd v6, v6, 8\nadd v9, v9, 8\n" END,
    /* lanes leave at different times, and each has an address of its own, or none */
    BEGIN "and v6, v0, 31\nmul v6, v6, 3\nand v6, v6, 31\nmov v10, 0\nmov v2, v0\npbrk out\nloop: add v10, v10, 1\n"
          "and v8, v2, 0x1fffc\nadd v8, v8, s0\nmov v9, s1\nldg.b32 v11, [v8]\nldg.b64 v12, [v8+16]\n"
          "mad v2, v11, v5, v2\nxor v3, v3, v12\nadd v3, v3, v13\nisetp.gt p0, v10, v6\n@p0 brk out\n"
          "and v14, v2, 1\nisetp.eq p1, v14, 0\nand v15, v3, 0x7fff\n@p1 ldg.b32 v4, [s0+v15*4]\nadd v2, v2, v4\n"
          "bra loop\nout: xor v2, v2, v5\n" STORES,
    /* rows of lanes that stay: sixteen of each line, and all of them */
    BEGIN
    "and v6, v0, 15\nshr v8, v0, 4\nmul v8, v8, 100\nadd v6, v6, v8\n" LOOP
    "ldg.b32 v9, [s0+v6*4]\nldg.u8 v10, [s0+v6*1]\nldg.b64 v12, [s0+v6*8]\nadd v2, v2, v9\nmad v3, v10, v5, v3\n"
    "xor v4, v4, v12\nadd v4, v4, v13\nldg.b32 v14, [s0+v0*4]\nxor v2, v2, v14\nadd v6, v6, 32\nadd v0, v0, 32\n" END,
    /* shared memory: anywhere, at one place, in a row; before a base that wraps */
    BEGIN "and v8, v1, 0xffc\nmad v9, v0, v6, v5\nsts.b32 v9, [v8]\nbar 0\nmov v2, v0\nmov s9, 0\n" LOOP
          "and v10, v2, 0xff0\nlds.b32 v11, [v10]\nlds.b128 v12, [v10]\nmad v2, v11, v5, v2\nxor v3, v3, v13\n"
          "add v3, v3, v15\nand v16, v3, 0xffe\nlds.u16 v17, [v16]\nlds.s16 v18, [v16]\nlds.u8 v19, [v16+1]\n"
          "add v20, v16, 1\nlds.s8 v21, [v20-1]\nadd v4, v4, v17\nmad v4, v18, v19, v4\nxor v4, v4, v21\n"
          "lds.b32 v22, [v8]\nlds.b32 v23, [64]\nadd v2, v2, v22\nxor v2, v2, v23\nlds.b64 v24, [s9+v10+8]\n"
          "add v3, v3, v25\n" END,
    /* a branch of which lanes part at different times, behind loads that lead anywhere */
    BEGIN "shr v6, v0, 3\nand v6, v6, 7\nadd v6, v6, 2\nmov v2, v0\nloop: add v7, v7, 1\nand v8, v2, 0x1fffc\n"
          "ldg.b32 v9, [s0+v8]\nmad v2, v9, v5, v2\nxor v3, v3, v2\nmul v4, v4, v3\nadd v3, v3, v9\n"
          "isetp.ge p0, v7, v6\n@!p0 bra loop\n" STORES,
};

static void by_hand(void **state)
{
    static const uint32_t waves[] = { 32, 64, 128 }, threads[] = { 128, 100, 256 };
    struct pair *p = *state;

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(kernels); i++) {
        for (uint32_t n = 0; n < 3; n++) {
            const uint64_t before = translations(p);
            printf("# kernel %u, wave %u\n", i, waves[n]);
            compare(p, kernels[i], waves[n], (uint32_t[3]){ threads[n], 1, 1 }, 3);
            assert_true(translations(p) > before);
        }
    }
}

/* v20: rows of 64 words, v21: the same of the CTA's rows of bytes, v22: one number for all lanes, v23: any. s6 moves
 * on. */
#define STAYS                                                                                                       \
    BEGIN "rdsr v18, %tid.x\nrdsr v19, %tid.y\nmul v20, v19, 64\nadd v20, v20, v18\nshl v21, v20, 2\nmov v22, 12\n" \
          "mul v23, v0, 37\nand v23, v23, 0xff\nmov s6, s0\nmov s7, s1\n"

static const char *const stays_kernels[] = {
    STAYS LOOP "ldg.b32 v8, [s6+v21]\nldg.b32 v9, [s6+v20*4+8]\nldg.b64 v10, [s6+v20*8]\nldg.b32 v12, [s6+v22]\n"
               "ldg.b128 v16, [s6+v22*16]\nmad v2, v8, v5, v2\nxor v2, v2, v9\nadd v3, v3, v10\nxor v3, v3, v11\n"
               "mad v4, v12, v5, v4\nadd v4, v4, v19\nadd64 s6, s6, 256\n" END,
    STAYS LOOP "ldg.u8 v8, [s6+v20]\nldg.s16 v9, [s6+v20*2]\nldg.b128 v12, [s6+v20*16+4]\nldg.u16 v10, [s6+v22*2]\n"
               "ldg.b32 v11, [s6+v23*4]\nmad v2, v8, v9, v2\nadd v3, v3, v12\nxor v3, v3, v15\nadd v4, v4, v10\n"
               "xor v4, v4, v11\nadd64 s6, s6, 4\n" END,
    /* lanes leave, and some have not the guard */
    STAYS "and v6, v0, 15\npbrk out\nmov v7, 0\nloop: ldg.b32 v8, [s6+v21+4]\nand v9, v8, 3\nisetp.eq p1, v9, 0\n"
          "@p1 ldg.b32 v10, [s6+v20*4]\n@!p1 ldg.b64 v12, [s6+v22*8]\nmad v2, v8, v5, v2\nadd v3, v3, v10\n"
          "xor v4, v4, v13\nadd64 s6, s6, 128\nadd v7, v7, 1\nisetp.gt p0, v7, v6\n@p0 brk out\nbra loop\n"
          "out: xor v2, v2, v7\n" STORES,
    /* from behind where the page begins, and beyond its end */
    STAYS "mov s8, 0x30000\nmov s9, 0\nadd64 s6, s6, s8\nmov s8, 0\nadd v20, v20, 0x2000\n" LOOP
          "ldg.b32 v8, [s6+v20*4-0x8000]\nldg.b32 v9, [s6+v22*4]\nmad v2, v8, v5, v2\nxor v3, v3, v9\n"
          "add64 s6, s6, -4096\nadd v4, v4, v3\n" END,
};

static void offsets_that_stay(void **state)
{
    static const uint32_t shapes[][3] = { { 128, 1, 1 }, { 100, 1, 1 }, { 20, 10, 1 }, { 48, 5, 1 }, { 64, 4, 1 } };
    struct pair *p = *state;

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(stays_kernels); i++) {
        for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
            for (uint32_t n = 0; n < PPU_ARRAY_SIZE(shapes); n++) {
                printf("# kernel %u, wave %u, %u x %u\n", i, wave, shapes[n][0], shapes[n][1]);
                compare(p, stays_kernels[i], wave, shapes[n], 3);
            }
        }
    }
}

/* Lanes go through `turns` of these loops, which are more than a round has, and leave at different times. */
#define APART(turns, body)                                                                                 \
    BEGIN "and v6, v0, 31\nmul v6, v6, 7\nand v6, v6, 31\nadd v6, v6, " turns "\nmov v10, 0\nmov v9, v0\n" \
          "pbrk out\nloop: add v10, v10, 1\n" body "isetp.gt p0, v10, v6\n@p0 brk out\nbra loop\n"         \
          "out: xor v2, v2, v9\n" STORES

static const struct apart {
    const char *text;
    bool fails; /* in some rounds lanes cannot go one after the other */
} apart_kernels[] = {
    /* a row of a sparse matrix: what is in a row, or anywhere; with NaNs */
    { APART("1", "and v8, v9, 0x7fff\nldg.b32 v11, [s0+v8*4]\nldg.b32 v12, [s0+v8*4+4]\nand v13, v11, 0x7fff\n"
                 "ldg.b32 v14, [s0+v13*4]\nffma v2, v12, v14, v2\nadd v3, v3, v11\nadd v9, v9, 1\n"),
      false },
    { APART("60", "and v8, v9, 0xff\nldg.b32 v11, [s0+v8*4]\nffma v2, v11, s3, v2\nfmul v3, v2, v11\n"
                  "add v9, v9, 1\nadd v4, v4, v3\n"),
      false },
    /* one place, a row, offsets of 64 bits, several words, other widths */
    { APART("9", "and v8, v10, 0xfc\nldg.b32 v11, [s0+v8]\nadd v12, v1, s0\nmov v13, s1\nldg.b64 v14, [v12+8]\n"
                 "ldg.b128 v16, [s0+v0*16]\nand v20, v9, 0xffff\nldg.u8 v21, [s0+v20]\nldg.s8 v22, [s0+v20*1+1]\n"
                 "ldg.u16 v23, [s0+v20*2]\nldg.s16 v24, [s0+v20*2+2]\nmad v9, v11, v5, v9\nadd v2, v2, v15\n"
                 "xor v2, v2, v19\nadd v3, v3, v21\nmad v3, v22, v23, v3\nxor v4, v4, v24\n"),
      false },
    /* guards, predicates that stay and that change, shared memory, one more way out */
    { APART("20", "and v8, v9, 0x7fff\nisetp.lt p1, v8, 0x4000\nmov v12, v10\n@p1 ldg.b32 v12, [s0+v8*4]\n"
                  "@!p1 ldg.u8 v13, [s0+v8]\nand v14, v12, 0xffc\nlds.b32 v15, [v14]\n@p1 lds.u16 v16, [v14+2]\n"
                  "sel v17, v15, v16, p2\nadd v9, v9, v17\nadd v9, v9, v12\nand v18, v9, 31\n"
                  "isetp.eq p3, v18, 17\npor p2, p2, p3\n@p2 add v3, v3, v13\nmad v2, v12, v5, v2\n"
                  "isetp.gt p4, v10, 25\npand p3, p3, p4\n@p3 brk out\n"),
      false },
    /* indexes below 0, all of them */
    { APART("5", "and v8, v9, 0x1fff\nsub v8, v7, v8\nadd v8, v8, -1\nldg.b32 v11, [s0+v8*4+0x8004]\n"
                 "mad v9, v11, v5, v9\nxor v3, v3, v11\n"),
      false },
    /* indexes below 0 and others: they are not in one window */
    { APART("5", "and v8, v9, 0x1fff\nadd v8, v8, -0x1000\nldg.b32 v11, [s0+v8*4+0x7000]\nmad v9, v11, v5, v9\n"
                 "xor v3, v3, v11\n"),
      true },
    /* the index that says of others that they have not the guard */
    { APART("5", "and v8, v9, 3\nadd v8, v8, -1\nisetp.lt p1, v8, 1\n@p1 ldg.u8 v11, [s0+v8*1+0x100]\n"
                 "mad v9, v11, v5, v9\nadd v9, v9, 1\nxor v3, v3, v11\n"),
      true },
};

/* The loops of the SM that have been gone through in both ways: rounds, and those in which lanes could not go apart. */
static struct tier_pace pace_of(const struct pair *p)
{
    const struct tier_heads *const heads = (*core_sm_pool(p->tier->board->core))->sm[0].heads;
    struct tier_pace all = { 0, { 0, 0 }, 0 };

    for (uint32_t i = 0; i < TIER_HEADS; i++) {
        const struct tier_translation *const translation = heads->head[i].code ? heads->head[i].translation : NULL;
        if (translation && translation->pace->cost[1] != 0) {
            all.rounds += translation->pace->rounds;
            all.failed += translation->pace->failed;
        }
    }
    return all;
}

static void lanes_one_after_the_other(void **state)
{
    static const uint32_t threads[] = { 256, 250, 512 };
    struct pair *p = *state;

    for (uint32_t i = 0; i < 3 * PPU_ARRAY_SIZE(apart_kernels); i++) {
        const struct apart *const kernel = &apart_kernels[i / 3];
        const uint32_t wave = PPU_LANES << i % 3;
        printf("# kernel %u, wave %u\n", i / 3, wave);
        compare(p, kernel->text, wave, (uint32_t[3]){ threads[i % 3], 1, 1 }, 12);
        const struct tier_pace pace = pace_of(p);
        assert_true(pace.rounds > 16);
        assert_true(kernel->fails ? pace.failed != 0 : pace.failed == 0);
    }
}

/*
 * Lanes that come to the end of the memory at different times, which the lanes behind `from` do not: of some parts of a
 * warp sooner than of others. Shared memory ends for all of them.
 */
#define BEYOND(load)                                                                                              \
    BEGIN "mov s6, 0x1e0000\nmov s7, 0\nadd64 s6, s0, s6\nand v6, v0, 127\nmul v6, v6, v6\nand v6, v6, 0xff8\n"   \
          "mov v2, v0\n" LOOP "mad v6, v6, v5, v5\nand v6, v6, 0xfffc\nmul v8, v7, 0x1204\nadd v8, v8, v6\n" load \
          "mad v2, v9, v5, v2\nxor v3, v3, v2\nadd v7, v7, 1\n" END

/* The same for lanes that leave, some of them before. */
#define BEYOND_APART(load)                                                                                       \
    BEGIN "mov s6, 0x1e0000\nmov s7, 0\nadd64 s6, s0, s6\nand v6, v0, 127\nmul v6, v6, v6\nand v6, v6, 0xff8\n"  \
          "mov v2, v0\nand v12, v0, 15\nadd v12, v12, 25\nmov v9, 0\npbrk out\nloop: mad v6, v6, v5, v5\n"       \
          "and v6, v6, 0xfffc\nmul v8, v7, 0x1204\nadd v8, v8, v6\n" load "mad v2, v9, v5, v2\nxor v3, v3, v2\n" \
          "add v7, v7, 1\nisetp.gt p0, v7, v12\n@p0 brk out\nbra loop\nout: xor v2, v2, v9\n" STORES

static const char *const beyond_kernels[] = {
    BEYOND("ldg.b32 v9, [s6+v8]\n"),
    BEYOND("ldg.b64 v10, [s6+v8]\nadd v9, v10, v11\n"),
    BEYOND("shr v8, v8, 5\nlds.u8 v9, [v8]\n"),
    BEYOND("isetp.lt p1, v8, 0x8000\n@p1 ldg.b32 v9, [s6+v8]\n@!p1 ldg.u16 v9, [s6+v8*2]\n"),
    BEYOND_APART("ldg.b32 v9, [s6+v8]\n"),
    BEYOND_APART("shr v10, v8, 3\nldg.b64 v10, [s6+v10*8]\nadd v9, v10, v11\n"),
    BEYOND_APART("shr v10, v8, 7\nshl v10, v10, 2\nlds.b32 v10, [v10]\nldg.b32 v9, [s0+v7*4]\n"),
    BEYOND("ldg.b32 v9, [s6+v8]\nisetp.gt p0, v7, 30\n@p0 bra out\nadd v3, v3, 1\nout: add v8, v8, 1\n"
           "isetp.lt p2, v7, 12\n@p2 and v8, v8, 0xfffc\nldg.b32 v10, [s6+v8]\nadd v2, v2, v10\n"),
};

static void faults_in_loops(void **state)
{
    struct pair *p = *state;
    uint8_t *const input = malloc(INPUT_BYTES);

    assert_non_null(input);
    random_bytes(&p->random, input, INPUT_BYTES);
    for (uint32_t i = 0; i < 3 * PPU_ARRAY_SIZE(beyond_kernels); i++) {
        struct rig *const rigs[] = { p->plain, p->tier };
        struct outcome outcome[2];
        const uint64_t before = translations(p);

        printf("# kernel %u, wave %u\n", i / 3, PPU_LANES << i % 3);
        for (uint32_t n = 0; n < 2; n++) {
            const struct ppu_tmd tmd =
                prepare(rigs[n], beyond_kernels[i / 3], PPU_LANES << i % 3, (uint32_t[3]){ 128, 1, 1 }, 1, input);
            outcome[n] = rig_run(rigs[n], &tmd);
            assert_int_equal(outcome[n].event.kind, PPU_SLOT_KILLED);
            assert_true(outcome[n].faulted);
        }
        assert_memory_equal(&outcome[0].fault, &outcome[1].fault, sizeof(outcome[0].fault));
        assert_memory_equal(counts(p->plain), counts(p->tier), PPU_COUNTERS * sizeof(uint64_t));
        assert_true(translations(p) > before);
    }
    free(input);
}

/* Registers that the warp has not: what names them is skipped until the loop has been translated. */
#define FEW_REGISTERS 24u

static const char *const unowned_kernels[] = {
    BEGIN LOOP "add v2, v2, 1\nxor v3, v3, v2\nmul v4, v4, v3\nisetp.lt.s p0, s8, 30\n@p0 bra over\n"
               "ldg.b128 v28, [s0+v1]\nover: add v3, v3, v4\n" END,
    BEGIN LOOP "add v2, v2, 1\nxor v3, v3, v2\nmul v4, v4, v3\nisetp.lt.s p0, s8, 30\n@p0 bra over\n"
               "isetp.lt p1, v0, 5\n@p1 ldg.b32 v30, [s0+v1]\nover: add v3, v3, v4\n" END,
    BEGIN LOOP "add v2, v2, 1\nxor v3, v3, v2\nmul v4, v4, v3\nisetp.lt.s p0, s8, 30\n@p0 bra over\n"
               "lds.b64 v32, [v7]\nover: add v3, v3, v4\n" END,
    BEGIN LOOP "add v2, v2, 1\nxor v3, v3, v2\nmul v4, v4, v3\nisetp.lt.s p0, s8, 30\n@p0 bra over\n"
               "ldg.b32 v5, [v30]\nover: add v3, v3, v4\n" END,
};

static void unowned_registers(void **state)
{
    struct pair *p = *state;
    uint8_t *const input = malloc(INPUT_BYTES);

    assert_non_null(input);
    random_bytes(&p->random, input, INPUT_BYTES);
    for (uint32_t i = 0; i < 3 * PPU_ARRAY_SIZE(unowned_kernels); i++) {
        struct rig *const rigs[] = { p->plain, p->tier };
        struct outcome outcome[2];

        printf("# kernel %u, wave %u\n", i / 3, PPU_LANES << i % 3);
        for (uint32_t n = 0; n < 2; n++) {
            struct ppu_tmd tmd =
                prepare(rigs[n], unowned_kernels[i / 3], PPU_LANES << i % 3, (uint32_t[3]){ 256, 1, 1 }, 2, input);
            tmd.vregs = FEW_REGISTERS;
            outcome[n] = rig_run(rigs[n], &tmd);
            assert_int_equal(outcome[n].event.kind, PPU_SLOT_KILLED);
            assert_true(outcome[n].faulted);
        }
        assert_memory_equal(&outcome[0].fault, &outcome[1].fault, sizeof(outcome[0].fault));
    }
    free(input);
}

/* ---- straight kernels ---- */

/* The number of the thread in v0; s0: data. Each ends before anything that the tier leaves to the interpreter. */
#define STRAIGHT \
    ".kernel k\n.vregs 40\nldp.b64 s0, [0]\nldp.b64 s2, [8]\nmov s10, 0x20000\nmov s11, 0\nadd64 s10, s0, s10\n"
#define LINEAR STRAIGHT "rdsr s4, %cta.x\nrdsr s5, %ntid.x\nrdsr v0, %tid\nmad v0, s4, s5, v0\n"
#define PLANE                                                                                                  \
    STRAIGHT                                                                                                   \
    "rdsr v0, %tid.x\nrdsr v1, %tid.y\nrdsr v2, %tid.z\nrdsr s4, %cta.x\nrdsr s5, %ntid.y\nrdsr s6, %ntid.x\n" \
    "mul v1, v1, s6\nadd v0, v0, v1\nmul s5, s5, s6\nmad v0, v2, s5, v0\nrdsr s7, %ntid.z\nmul s7, s7, s5\n"   \
    "mad v0, s4, s7, v0\n"

/* v1: what a former run has left at [s10+v0*4], and more. */
#define AGAIN LINEAR "ldg.b32 v1, [s10+v0*4]\nldg.b32 v5, [s0+v0*4]\nadd v1, v1, v5\n"

/* Doubles v2 and v4, of which some are NaNs with any bits. */
#define DOUBLES                                                                                   \
    LINEAR "ldg.b64 v2, [s0+v0*8]\nldg.b64 v4, [s0+v0*8+64]\nand v1, v0, 3\nisetp.eq p0, v1, 0\n" \
           "@p0 or v3, v3, 0x7ff00000\nisetp.eq p1, v1, 1\n@p1 or v5, v5, 0x7ff00000\nisetp.lt p2, v4, v2\n"

static const char *const straight_kernels[] = {
    /* one row to another */
    LINEAR "isetp.lt p0, v0, 1000\n@p0 ldg.b32 v1, [s0+v0*4]\n@p0 ldg.b32 v2, [s0+v0*4+4]\n@p0 ffma v1, s3, v1, v2\n"
           "@p0 stg.b32 v1, [s10+v0*4]\nexit\n",
    /* neighbours in a plane; borders end */
    PLANE "and v3, v0, 63\nisetp.eq p0, v3, 0\nisetp.eq p1, v3, 63\npor p0, p0, p1\n@p0 exit\n"
          "ldg.b32 v4, [s0+v0*4]\nldg.b32 v5, [s0+v0*4-4]\nldg.b32 v6, [s0+v0*4+4]\nadd v7, v0, 64\n"
          "ldg.b32 v7, [s0+v7*4]\nfadd v5, v5, v6\nfadd v5, v5, v7\nfmul v5, v5, 0x3e000000\nfadd v4, v4, v5\n"
          "stg.b32 v4, [s10+v0*4]\nexit\n",
    /* doubles, words in twos and fours, and bytes; addresses of two words */
    LINEAR "mov s8, 1\nmov s9, 24\nmadwu v4, v0, s8, s0\nldg.u8 v6, [v4]\nldg.s8 v7, [v4+1]\nldg.u16 v8, [s0+v0*2]\n"
           "ldg.s16 v9, [s0+v0*2+6]\nldg.b64 v10, [s0+v0*8]\nldg.b128 v12, [s0+v0*16]\ndadd v16, v10, v12\n"
           "madwu v18, v0, s9, s10\nadd v6, v6, v7\nmad v6, v8, v9, v6\nstg.b64 v16, [v18]\nstg.b64 v14, [v18+8]\n"
           "stg.b32 v6, [v18+16]\nexit\n",
    LINEAR "ldg.b128 v12, [s0+v0*16]\nldg.b64 v16, [s0+v0*8+8]\nadd v12, v12, v16\nxor v15, v15, v17\n"
           "and v3, v0, 1\nisetp.eq p1, v3, 0\nstg.b128 v12, [s10+v0*16]\n@p1 stg.u8 v17, [s10+v0+0x10000]\n"
           "stg.u16 v16, [s10+v0*2+0x18000]\nexit\n",
    /* lanes wherever: scattered, alike, some of them, backwards; stores of several lanes to one place */
    LINEAR "mul v1, v0, 17\nand v1, v1, 0x7ff\nldg.b32 v2, [s0+v1*4]\nshr v3, v0, 4\nshl v3, v3, 2\n"
           "ldg.b32 v4, [s0+v3]\nmov v5, 12\nldg.b64 v6, [s0+v5]\nisetp.lt p1, v1, 600\n@p1 ldg.b32 v2, [s0+v0*4]\n"
           "rsub v8, v0, 4095\nldg.u16 v9, [s0+v8*2]\nadd v2, v2, v4\nadd v2, v2, v6\nxor v2, v2, v9\n"
           "shr v10, v0, 1\n@!p1 stg.b32 v2, [s10+v10*4]\n@p1 stg.b32 v4, [s10+v8*4+0x4000]\nexit\n",
    /* pieces of rows, that end one after the other */
    LINEAR "and v1, v0, 15\nisetp.gt p0, v1, 11\n@p0 exit\nldg.b32 v2, [s0+v0*4]\nand v3, v0, 48\n"
           "isetp.eq p1, v3, 16\n@p1 exit\nldg.b32 v3, [s0+v0*4+16]\nadd v2, v2, v3\nldg.b32 s8, [s0+8]\n"
           "add v2, v2, s8\nisetp.lt p2, v0, 96\n@p2 exit\nldg.b32 s8, [s0+16]\nxor v2, v2, s8\n"
           "stg.b32 v2, [s10+v0*4]\nexit\n",
    /* all lanes of some warps end before others */
    LINEAR "isetp.lt p0, v0, 300\n@p0 exit\nldg.b32 v2, [s0+v0*4]\nisetp.gt p0, v0, 900\n@p0 exit\n"
           "ldg.b32 v3, [s0+v0*4+4]\nadd v2, v2, v3\nstg.b32 v2, [s10+v0*4]\nexit\n",
    /* what comes behind is the interpreter's: registers and predicates go on, also those of lanes that have ended */
    LINEAR "and v1, v0, 7\nisetp.eq p3, v1, 5\nldg.b32 v2, [s0+v0*4]\nfmul v3, v2, s3\nisetp.gt p1, v1, 3\n"
           "isetp.lt.s p4, s4, 2\nmov s12, 99\n@p3 exit\n@p1 add v2, v2, 1\nsel v4, v2, v3, p1\nshflx v5, v4, 1\n"
           "add v5, v5, s12\n@p1 xor v5, v5, v3\n@p4 add v5, v5, 7\nstg.b32 v5, [s10+v0*4]\n"
           "stg.b32 v4, [s10+v0*4+0x8000]\nstg.b32 v3, [s10+v0*4+0x10000]\nexit\n",
    /* lanes look at registers of those that have ended, as these have left them */
    LINEAR
    "and v1, v0, 7\nisetp.eq p3, v1, 5\nisetp.eq p2, v1, 2\nldg.b32 v2, [s0+v0*4]\nmul v3, v2, 5\n"
    "add v4, v3, v0\n@p3 exit\nadd v3, v3, 9\nldg.b32 v6, [s0+v0*4+64]\nadd v4, v4, v6\n@p2 exit\n"
    "xor v2, v2, v6\nadd v3, v3, v2\nshflx v7, v2, 1\nshflx v8, v3, 3\nshflx v9, v4, 7\nshflx v10, v6, 2\n"
    "mul v7, v7, 3\nadd v7, v7, v8\nmul v9, v9, 7\nadd v9, v9, v10\nadd v7, v7, v9\nstg.b32 v7, [s10+v0*4]\nexit\n",
    /* lanes that overlap, a word and two words apart, and all at one place */
    LINEAR "shl v1, v0, 2\nldg.b64 v2, [s0+v1]\nldg.b128 v4, [s0+v1+8]\nshl v8, v0, 3\nldg.b128 v12, [s0+v8+4]\n"
           "mov v9, 64\nldg.b32 v10, [s0+v9]\nldg.b128 v16, [s0+v9+8]\nand v11, v0, 3\nisetp.ne p0, v11, 2\n"
           "@p0 ldg.b64 v20, [s0+v1+4]\n@!p0 mov v20, 1\n@!p0 mov v21, 2\nadd v2, v2, v3\nmad v4, v5, v6, v7\n"
           "xor v2, v2, v4\nmad v12, v13, v14, v15\nadd v2, v2, v12\nadd v2, v2, v10\nmad v16, v17, v18, v19\n"
           "xor v2, v2, v16\nadd v2, v2, v20\nxor v2, v2, v21\nstg.b32 v2, [s10+v0*4]\nexit\n",
    /* one lane of a pass alone, whose words lie in two lines */
    LINEAR
    "and v1, v0, 31\nisetp.eq p0, v1, 15\nisetp.eq p1, v1, 8\nmov v2, 1\nmov v3, 2\n@p0 ldg.b64 v2, [s0+v0*8+4]\n"
    "and v10, v0, 511\n@p0 ldg.b64 v4, [s0+v10*8+4]\n@p1 ldg.b128 v4, [s0+v0*16+116]\n"
    "@p1 ldg.b128 v12, [s0+v10*16+116]\nadd v2, v2, v3\nmad v2, v4, v5, v2\n@!p1 mov v12, 7\nadd v2, v2, v12\n"
    "stg.b32 v2, [s10+v0*4]\nexit\n",
    /* addresses of 64 bits, steps of all kinds, and what is not a row after all */
    LINEAR "mov v1, 0\nmov64 v2, v0\nmov s8, 4\nmov s9, 0\nmad64 v4, v2, s8, s0\nldg.b32 v6, [v4]\n"
           "add64 v8, v2, 5\nmul64 v8, v8, s8\nadd64 v8, v8, s0\nldg.b32 v7, [v8]\nsub64 v8, v8, 8\n"
           "ldg.b64 v10, [v8+8]\nshl64 v12, v2, 2\nadd64 v12, s0, v12\nldg.u8 v14, [v12]\nmadw v16, v0, s8, s0\n"
           "ldg.b32 v18, [v16+16]\nmulwu v20, v0, s8\nadd64 v20, v20, s10\nrsub64 v22, v2, 4000\n"
           "mad64 v22, v22, s8, s0\nldg.b32 v24, [v22]\nadd v6, v6, v7\nxor v6, v6, v10\nadd v6, v6, v11\n"
           "xor v6, v6, v14\nadd v6, v6, v18\nxor v6, v6, v24\nadd v6, v6, v13\nadd v6, v6, v23\n"
           "stg.b32 v6, [v20]\nexit\n",
    /* a stride: words in fours, of which two make a lane's part; some lanes store, others have ended */
    LINEAR "shl v1, v0, 5\nldg.b128 v4, [s0+v1]\nldg.b128 v8, [s0+v1+16]\nadd v4, v4, v8\nxor v5, v5, v11\n"
           "mul v8, v8, 3\nadd v9, v9, v0\nstg.b128 v4, [s10+v1]\nstg.b128 v8, [s10+v1+16]\nexit\n",
    LINEAR "shl v1, v0, 5\nand v2, v0, 5\nisetp.ne p1, v2, 4\nisetp.gt p0, v0, 1000\nldg.b128 v4, [s0+v1+16]\n"
           "@p0 exit\n@p1 ldg.b128 v8, [s0+v1]\nadd v4, v4, v8\nadd v9, v9, v5\n@p1 stg.b128 v4, [s10+v1]\n"
           "stg.b64 v8, [s10+v1+20]\n@!p1 stg.b32 v9, [s10+v1+28]\n@!p1 stg.u8 v9, [s10+v1+2]\nexit\n",
    /* bytes in threes, halves of words; twos and single words, out of each other's way */
    LINEAR "mul v1, v0, 3\nldg.u8 v2, [s0+v1]\nldg.s8 v3, [s0+v1+1]\nldg.u8 v4, [s0+v1+2]\nmul v5, v0, 6\n"
           "ldg.s16 v6, [s0+v5]\nldg.u16 v7, [s0+v5+4]\nadd v2, v2, v6\nmul v3, v3, v7\nxor v4, v4, v6\n"
           "stg.u8 v2, [s10+v1]\nstg.u8 v3, [s10+v1+1]\nstg.u16 v6, [s10+v5+0x4000]\nstg.u8 v4, [s10+v1+2]\nexit\n",
    LINEAR "mul v1, v0, 24\nldg.b64 v2, [s0+v1]\nldg.b64 v4, [s0+v1+8]\nldg.b32 v6, [s0+v1+20]\nadd v2, v2, v6\n"
           "xor v5, v5, v0\nstg.b64 v2, [s10+v1+16]\nstg.b32 v6, [s10+v1]\nstg.b64 v4, [s10+v1+4]\nexit\n",
    /* the number of a thread is one of 64 bits with a sign, which all lanes have, and which it has in some */
    LINEAR "mov v2, v0\nasr v3, v0, 31\nmul64 v4, v2, 3\nldg.u8 v6, [s0+v4]\nldg.u8 v7, [s0+v4+1]\n"
           "ldg.u8 v8, [s0+v4+2]\nadd v6, v6, v7\nstg.u8 v8, [s10+v4]\nstg.u8 v7, [s10+v4+1]\nstg.u8 v6, [s10+v4+2]\n"
           "exit\n",
    LINEAR "sub v2, v0, 70\nasr v3, v2, 31\nshl64 v4, v2, 2\nadd64 v4, v4, s0\nldg.b32 v6, [v4+280]\nasr v7, v0, 31\n"
           "add v6, v6, v7\nasr v9, v6, 31\nmov v8, v0\nmul64 v8, v8, 3\nxor v9, v9, v8\nadd v6, v6, v9\n"
           "stg.b32 v6, [s10+v0*4]\nexit\n",
    /* further apart than what is loaded as a whole; doubles */
    LINEAR "shl v1, v0, 4\nldg.b32 v2, [s0+v1*4]\nldg.u16 v3, [s0+v1*2+2]\nshl v4, v0, 2\nldg.b64 v6, [s0+v4*8]\n"
           "ldg.b64 v8, [s0+v4*8+16]\ndadd v6, v6, v8\nadd v2, v2, v3\nshl v10, v0, 5\nstg.b32 v2, [s10+v10]\n"
           "stg.b64 v6, [s10+v10+8]\nstg.u16 v3, [s10+v10+28]\nexit\n",
    /* what the next lane stores, too, and what it loads: a word that nobody stores lies between */
    LINEAR "shl v1, v0, 3\nldg.b64 v2, [s0+v1]\nadd v4, v2, v3\nmul v5, v2, v3\nstg.b64 v2, [s10+v1]\n"
           "stg.b64 v4, [s10+v1+4]\nexit\n",
    LINEAR "shl v1, v0, 3\nldg.b32 v2, [s0+v1]\nadd v2, v2, v0\nstg.b32 v2, [s10+v1]\nldg.b32 v3, [s10+v1+4]\n"
           "add v3, v3, v2\nstg.b32 v3, [s0+v1]\nldg.b32 v4, [s10+v1-4]\nxor v4, v4, v3\nstg.b32 v4, [s10+v1]\nexit\n",
    LINEAR "shl v1, v0, 3\nldg.b32 v2, [s0+v1]\nadd v2, v2, v0\nmul v3, v2, 3\nstg.b32 v2, [s10+v1]\n"
           "ldg.b32 v3, [s10+v1+8]\nadd v3, v3, v2\nstg.b32 v3, [s10+v1+4]\nexit\n",
    /* strides that no program says: of bytes, words and fours; 0; stores as far apart as they are long, and further */
    LINEAR
    "mul v1, v0, s5\nldg.u8 v2, [s0+v1]\nand s9, s5, 0xfc\nmul v1, v0, s9\nldg.b32 v3, [s0+v1+4]\n"
    "ldg.b128 v4, [s0+v1+16]\nshr s8, s5, 12\nmul v9, v0, s8\nldg.b64 v10, [s0+v9+72]\nand s12, s5, 28\nadd s12, s12, 4\nmul v8, v0, s12\nadd v2, v2, v3\n"
    "xor v2, v2, v7\nadd v4, v4, v5\nadd v2, v2, v10\nmad v2, v4, v11, v2\nstg.b32 v2, [s10+v8]\nexit\n",
    LINEAR "and s12, s5, 28\nadd s12, s12, 4\nmul v8, v0, s12\nldg.b64 v2, [s0+v8]\nldg.b32 v4, [s10+v8]\n"
           "add v2, v2, v4\nxor v3, v3, v2\nmul v5, v2, v3\nisetp.gt p1, v5, 0\n@p1 stg.b64 v2, [s10+v8]\n"
           "stg.u16 v5, [s0+v8+0x10000]\nexit\n",
    /* predicates and scalars that all lanes share, divisions */
    LINEAR
    "isetp.lt.s p0, s4, 9\nisetp.gt.s p1, s4, 1\npand p2, p0, !p1\npxor p3, p2, p0\nsel s12, s4, s5, p2\n"
    "mov s14, 77\nsel s13, s12, s14, !p3\nldg.b32 v2, [s0+v0*4]\nsel v3, v2, v0, p2\ndivu v4, v2, 7\nadd s12, s12, 1\n"
    "div v5, v2, s12\nremu v6, v2, s13\nrem v7, v3, v0\n@p3 add v4, v4, 3\npand p0, p0, p3\n"
    "isetp.lt p2, v2, v3\npor p3, p2, p1\nsel v8, v4, v5, p3\nadd v8, v8, v6\nxor v8, v8, v7\n"
    "stg.b32 v8, [s10+v0*4]\nexit\n",
    /* operations of many instructions: of any bits, some lanes, and one value for all */
    LINEAR "ldg.b32 v2, [s0+v0*4]\nand v3, v0, 7\nisetp.eq p1, v3, 5\nfsin v4, v2\nfcos v5, -v2\nflog2 v6, |v2|\n"
           "@p1 fexp2 v6, v4\n@!p1 fsin v5, v6\nfsin s8, s5\nflog2 s9, s5\nfadd v4, v4, s8\nfadd v5, v5, s9\n"
           "cvt.f32.u32 v7, v0\nfmul v7, v7, 0.1\nfexp2 v7, v7\n@p1 div v3, v2, v0\nxor v4, v4, v5\nxor v4, v4, v6\n"
           "add v4, v4, v7\nadd v4, v4, v3\nstg.b32 v4, [s10+v0*4]\nexit\n",
    /* offsets that end with 32 bits, where lanes end before */
    LINEAR "mov s8, 0xfffff020\nmov s9, 0\nsub64 s8, s0, s8\nadd64 s8, s8, 64\nshl v1, v0, 2\nadd v1, v1, 0xfffff020\n"
           "isetp.geu p0, v0, 1016\n@p0 exit\nldg.b32 v2, [s8+v1]\nldg.b32 v3, [s8+v1-16]\nadd v2, v2, v3\n"
           "stg.b32 v2, [s10+v0*4]\nexit\n",
    /* a load behind a store sees it */
    LINEAR "ldg.b32 v2, [s0+v0*4]\nadd v2, v2, 1\nstg.b32 v2, [s10+v0*4]\nldg.b32 v3, [s10+v0*4-4]\nadd v3, v3, v2\n"
           "stg.b32 v3, [s10+v0*4+0x8000]\nexit\n",
    /* loads behind stores, which are others in each run: of what is elsewhere, again and again */
    AGAIN "add v2, v1, 1\nstg.b32 v2, [s10+v0*4]\nldg.b32 v3, [s0+v0*4+64]\nadd v3, v3, v2\n"
          "stg.b32 v3, [s10+v0*4+0x8000]\nldg.b32 v4, [s0+v0*4+128]\nxor v4, v4, v3\n"
          "stg.b32 v4, [s10+v0*4+0x10000]\nexit\n",
    /* of what the lane has stored, some lanes, others have ended */
    AGAIN "and v3, v0, 7\nisetp.eq p0, v3, 5\nadd v1, v1, 3\n@!p0 stg.b32 v1, [s10+v0*4]\n@p0 exit\n"
          "ldg.b32 v2, [s10+v0*4]\nmul v2, v2, 5\nisetp.ne p1, v3, 2\n@p1 stg.b32 v2, [s10+v0*4]\n"
          "ldg.b32 v4, [s10+v0*4]\nadd v4, v4, v1\nstg.b32 v4, [s10+v0*4+0x8000]\nexit\n",
    /* of what another pass stores: rows that begin a pass and some lanes apart, before and behind */
    AGAIN "add v1, v1, 3\nstg.b32 v1, [s10+v0*4+0x1000]\nldg.b32 v2, [s10+v0*4+0x1090]\nadd v2, v2, v1\n"
          "stg.b32 v2, [s10+v0*4]\nexit\n",
    AGAIN "add v1, v1, 3\nstg.b32 v1, [s10+v0*4+0x1000]\nldg.b32 v2, [s10+v0*4+0xf70]\nadd v2, v2, v1\n"
          "stg.b32 v2, [s10+v0*4]\nexit\n",
    /* of scalars: elsewhere, and of what lanes have stored or store behind it */
    AGAIN "add v1, v1, 3\nstg.b32 v1, [s10+v0*4]\nldg.b32 s8, [s0+12]\nadd v2, v1, s8\nldg.b64 s12, [s0+16]\n"
          "mul v2, v2, s13\nstg.b32 v2, [s10+v0*4+0x8000]\nexit\n",
    AGAIN "add v1, v1, 3\nstg.b32 v1, [s10+v0*4]\nldg.b32 s8, [s10+252]\nadd v2, v1, s8\nldg.b32 s12, [s10+0x8050]\n"
          "mul v2, v2, s12\nstg.b32 v2, [s10+v0*4+0x8000]\nexit\n",
    /* lanes wherever, and a scalar: the interpreter goes on there */
    AGAIN "mul v2, v1, 5\nxor v3, v0, 5\nadd v2, v2, v0\nxor v2, v2, v3\nadd v2, v2, 9\nstg.b32 v2, [s10+v0*4]\n"
          "ldg.b32 v4, [s10+v3*4]\nadd v4, v4, v2\nstg.b32 v4, [s10+v0*4+0x8000]\nexit\n",
    /* what some lanes store before they end: in most warps there are none, of which the others see nothing */
    PLANE "and v3, v0, 63\nisetp.eq p0, v3, 3\nisetp.lt p1, v0, 300\npand p0, p0, p1\n@p0 stg.b32 v0, [s10+v0*4]\n"
          "@p0 exit\nldg.b32 v4, [s0+v0*4]\nadd v5, v0, 64\nldg.b32 v6, [s0+v5*4]\nadd v4, v4, v6\n"
          "stg.b32 v4, [s10+v0*4]\nexit\n",
    /* what others load then */
    PLANE "ldg.b32 v1, [s10+v0*4]\nand v3, v0, 31\nisetp.eq p0, v3, 3\nisetp.lt p1, v0, 300\npand p0, p0, p1\n"
          "@p0 stg.b32 v0, [s10+v0*4+4]\nadd v1, v1, 7\nldg.b32 v4, [s10+v0*4]\nadd v4, v4, v1\n"
          "isetp.gt p2, v0, 900\n@p2 stg.b32 v1, [s10+v0*4+0x8000]\nldg.b32 v5, [s0+v0*4]\nxor v4, v4, v5\n"
          "stg.b32 v4, [s10+v0*4+0x10000]\nexit\n",
    /* where it was loaded, some lanes */
    LINEAR "and v3, v0, 3\nisetp.eq p0, v3, 2\n@p0 exit\nldg.b64 v4, [s10+v0*8]\nadd v4, v4, v0\nsub v5, v5, v0\n"
           "isetp.ne p1, v3, 0\n@p1 stg.b64 v4, [s10+v0*8]\nexit\n",
    /* what the next lane has loaded, or the one before */
    LINEAR "ldg.b32 v1, [s10+v0*4]\nldg.b32 v2, [s0+v0*4]\nadd v1, v1, v2\nadd v1, v1, 7\nstg.b32 v1, [s10+v0*4+4]\n"
           "exit\n",
    LINEAR "ldg.b32 v1, [s10+v0*4]\nldg.b32 v2, [s0+v0*4]\nadd v1, v1, v2\nadd v1, v1, 7\nstg.b32 v1, [s10+v0*4-4]\n"
           "exit\n",
    /* what the lane before stores, and a broadcast of one that is stored */
    LINEAR "ldg.b32 v1, [s0+v0*4]\nadd v1, v1, v0\nmul v2, v1, v0\nstg.b32 v1, [s10+v0*4]\nstg.b32 v2, [s10+v0*4+4]\n"
           "exit\n",
    LINEAR "mov v3, 40\nldg.b32 v1, [s10+v3*4]\nldg.b32 v2, [s0+v0*4]\nadd v1, v1, v2\nstg.b32 v1, [s10+v0*4]\nexit\n",
    /* halves of words that are stored */
    LINEAR
    "ldg.u16 v1, [s10+v0*2]\nldg.b32 v2, [s0+v0*4]\nadd v1, v1, v2\nadd v1, v1, v1\nstg.b32 v1, [s10+v0*4]\nexit\n",
    /* doubles from one operation to the next, stored as such and in halves */
    DOUBLES "dadd v6, v2, v4\ndmul v8, v6, -v2\ndfma v10, v8, v4, v6\nstg.b64 v10, [s10+v0*8]\n"
            "stg.b32 v8, [s10+v0*4+0x8000]\nstg.b32 v9, [s10+v0*4+0xc000]\nexit\n",
    /* one half is written over, read as a float, as a number, and moved */
    DOUBLES "dadd v6, v2, v4\nmov v6, v1\ndadd v8, v2, v4\nmov v9, v8\ndsub v12, v2, v4\nfadd v14, v12, v13\n"
            "xor v15, v12, v13\ndadd v16, v2, v4\ndadd v18, v16, v4\ndmov v20, -v16\nstg.b32 v7, [s10+v0*4+0x18000]\n"
            "stg.b32 v6, [s10+v0*4+0x1c000]\nstg.b64 v6, [s10+v0*8]\n"
            "stg.b64 v8, [s10+v0*8+0x8000]\nstg.b64 v14, [s10+v0*8+0x10000]\nstg.b64 v18, [s0+v0*8+0x8000]\n"
            "stg.b64 v20, [s0+v0*8+0x10000]\nexit\n",
    /* some lanes keep what they have: a double that was computed, and one that was loaded */
    DOUBLES "dadd v6, v2, v4\n@p2 dmul v6, v6, v4\n@p2 dadd v2, v2, v4\n@!p2 mov v5, v1\ndsetp.lt p3, v6, v4\n"
            "@p3 dadd v4, v6, v2\nsel v8, v6, v2, p2\nstg.b64 v6, [s10+v0*8]\nstg.b64 v2, [s10+v0*8+0x8000]\n"
            "stg.b64 v4, [s10+v0*8+0x10000]\nstg.b32 v8, [s0+v0*4+0x8000]\nexit\n",
};

static void straight_by_hand(void **state)
{
    static const uint32_t waves[] = { 32, 64, 128 };
    static const uint32_t shapes[][3] = { { 128, 1, 1 }, { 32, 8, 1 },  { 16, 16, 1 },
                                          { 8, 4, 4 },   { 100, 1, 1 }, { 20, 12, 1 } };
    struct pair *p = *state;

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(straight_kernels); i++) {
        for (uint32_t n = 0; n < PPU_ARRAY_SIZE(waves) * PPU_ARRAY_SIZE(shapes); n++) {
            const uint32_t wave = waves[n % 3], *const shape = shapes[n / 3];
            const uint64_t before = translations(p);
            printf("# straight kernel %u, wave %u, %u x %u x %u\n", i, wave, shape[0], shape[1], shape[2]);
            compare(p, straight_kernels[i], wave, shape, 12);
            assert_true(n >= 3 || translations(p) > before);
        }
    }
}

/* A program of more instructions than a unit has is several: each goes on where the one before has ended. */
static void long_straight_code(void **state)
{
    static const char end[] = "stg.b32 v2, [s10+v0*4]\nstg.b32 v3, [s10+v0*4+0x8000]\nexit\n";
    static const uint32_t shapes[][3] = { { 128, 1, 1 }, { 100, 1, 1 }, { 16, 8, 1 } };
    const size_t size = 64u << 10;
    char *const text = malloc(size);
    struct pair *p = *state;

    assert_non_null(text);
    int length = snprintf(text, size, "%s", LINEAR "ldg.b32 v2, [s0+v0*4]\nmov v3, v0\n");
    for (uint32_t i = 0; i < 300; i++) {
        length += snprintf(text + length, size - (size_t)length, "mul v2, v2, %u\nxor v3, v3, v2\n%s%s", 2 * i + 1,
                           i % 50 == 30 ? "and v4, v0, 31\nisetp.eq p0, v4, 30\n@p0 exit\n" : "",
                           i % 40 == 20 ? "and v5, v3, 0x7ff\nldg.b32 v5, [s0+v5*4]\nadd v3, v3, v5\n" : "");
    }
    (void)snprintf(text + length, size - (size_t)length, "%s", end);
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(shapes); i++) {
        const uint64_t before = translations(p);
        compare(p, text, 32, shapes[i], 12);
        assert_true(i != 0 || translations(p) >= before + 3);
    }
    free(text);
}

/* A loop that begins where a unit of straight code has its last instruction is a loop, though no segment ends there. */
static void a_loop_behind_long_code(void **state)
{
    static const char loop[] =
        "mov s8, 0\nloop: mad v2, v2, v3, v4\nand v6, v2, 3\nisetp.eq p0, v6, 1\nxor v3, v3, %u\n"
        "@p0 add v4, v4, v3\nmad v2, v2, v4, v3\nadd s8, s8, 1\nisetp.ne.s p7, s8, 40\n"
        "@p7 bra loop\nstg.b32 v2, [s10+v0*4+0x8000]\nexit\n";
    const size_t size = 64u << 10;
    char *const text = malloc(size);
    struct pair *p = *state;

    assert_non_null(text);
    for (uint32_t more = 0; more < 4; more++) {
        int length = snprintf(text, size, "%s", LINEAR "mov v2, v0\nmov v3, 5\nmov v4, 1\n");
        for (uint32_t i = 0; i < 240 + more; i++) {
            length += snprintf(text + length, size - (size_t)length, "mul v2, v2, %u\n", 2 * i + 1);
        }
        (void)snprintf(text + length, size - (size_t)length, loop, more);
        const uint64_t before = translations(p);
        compare(p, text, 32, (const uint32_t[]){ 128, 1, 1 }, 12);
        assert_true(translations(p) >= before + 2);
    }
    free(text);
}

/*
 * The first translation is for warps that lie in a line; that for all others is made when the CTA has other lines, or
 * when a warp can do nothing with the first: here, as what one stores is what the next has loaded.
 */
static void rows_come_first(void **state)
{
    static const char overlapping[] = LINEAR "ldg.b32 v1, [s10+v0*4]\nldg.b32 v2, [s0+v0*4]\nadd v1, v1, v2\n"
                                             "mul v1, v1, 3\nadd v1, v1, 7\nstg.b32 v1, [s10+v0*4+4]\nexit\n";
    static const char text[] = PLANE "ldg.b32 v1, [s0+v0*4]\nldg.b32 v2, [s0+v0*4+40]\nadd v1, v1, v2\nmul v1, v1, 3\n"
                                     "stg.b32 v1, [s10+v0*4]\nexit\n";
    struct pair *p = *state;
    const uint64_t before = translations(p);

    compare(p, text, 32, (const uint32_t[]){ 32, 4, 1 }, 12);
    assert_int_equal(translations(p), before + 1);
    compare(p, text, 32, (const uint32_t[]){ 16, 8, 1 }, 12);
    assert_int_equal(translations(p), before + 2);
    compare(p, overlapping, 32, (const uint32_t[]){ 128, 1, 1 }, 12);
    assert_int_equal(translations(p), before + 4);
}

/* ---- indexes that wrap ---- */

#define FURTHER 0x100000000ull /* from where an index that wraps leads to where it would, were it a longer number */
#define WRAPPED 16u            /* the first lane whose index does */
#define WRAPPED_AT 0x10000u    /* where that leads to */

/* s4: the lowest index leads to WRAPPED_AT of the data, and the highest 2^32 - 1 bytes behind it; v9: indexes that
 * wrap. */
#define WRAPPING BEGIN "mov s4, 0x80010000\nmov s5, 0\nadd64 s4, s0, s4\nrdsr v9, %tid\nadd v9, v9, 0x7ffffff0\n"

static const char *const wrapping_kernels[] = {
    /* interpreted, and straight */
    WRAPPING "ldg.u8 v2, [s4+v9*1]\n" STORES,
    /* in a loop with effects, and in one without */
    WRAPPING "mov s8, 0\nloop: add v3, v3, 1\nxor v4, v4, v3\nldg.u8 v2, [s4+v9*1]\nmad v3, v4, v5, v3\n"
             "stg.b32 v3, [s0+v1+0x8000]\nadd s8, s8, 1\nisetp.ne.s p7, s8, 40\n@p7 bra loop\n" STORES,
    WRAPPING "mov s8, 0\nloop: add v3, v3, 1\nxor v4, v4, v3\nldg.u8 v2, [s4+v9*1]\nmad v3, v4, v5, v3\n"
             "add s8, s8, 1\nisetp.ne.s p7, s8, 40\n@p7 bra loop\n" STORES,
};

static void check_wrapped(struct rig *rig, const char *text, const uint8_t *input)
{
    const uint32_t *const out = rig_data(rig, 0x20000);

    map_page(rig->board, CONTEXT, DATA_VA + FURTHER, DATA_AT + 0x100000u, PPU_PTE_64K, 0);
    map_page(rig->board, CONTEXT, DATA_VA + FURTHER + WRAPPED_AT, DATA_AT + 0x110000u, PPU_PTE_64K, 0);
    memset(rig_data(rig, 0x100000), 0x77, PPU_PAGE_64K);
    memset(rig_data(rig, 0x110000), 0x99, PPU_PAGE_64K);
    run(rig, text, 32, 32, input);
    for (uint32_t lane = 0; lane < 32; lane++) {
        assert_int_equal(out[lane], lane < WRAPPED ? 0x77 : input[WRAPPED_AT + lane - WRAPPED]);
    }
}

static void wrapped_indexes(void **state)
{
    struct pair *p = *state;
    uint8_t *input = malloc(INPUT_BYTES);

    assert_non_null(input);
    random_bytes(&p->random, input, INPUT_BYTES);
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(wrapping_kernels); i++) {
        printf("# wrapping kernel %u\n", i);
        check_wrapped(p->plain, wrapping_kernels[i], input);
        check_wrapped(p->tier, wrapping_kernels[i], input);
    }
    free(input);
}

/* ---- what lies between barriers ---- */

/* v0: number of the thread, v1: that in its CTA, v2: where its word of shared memory is, which it has stored. */
#define SEGMENTS                                                                                                  \
    LINEAR "rdsr v1, %tid\nshl v2, v1, 2\nldg.b32 v3, [s0+v0*4]\nmul v4, v3, 7\nadd v5, v4, v3\nadd v6, v5, v1\n" \
           "xor v7, v6, v3\nsts.b32 v3, [v2]\nsts.b32 v7, [v2+1024]\nbar 0\n"
#define KEEP "stg.b32 v8, [s10+v0*4]\nstg.b32 v9, [s10+v0*4+0x8000]\nexit\n"

static const char *const segment_kernels[] = {
    /* rows, some lanes of rows, one place for all */
    SEGMENTS
    "lds.b32 v8, [v2]\nisetp.lt p0, v1, 5\nadd v4, v1, -5\nshl v4, v4, 2\nmov v9, 0\n@!p0 lds.b32 v9, [v4+1024]\n"
    "lds.b32 v10, [64]\nmov s12, 128\nlds.b32 v11, [s12+4]\nadd v8, v8, v9\nadd v9, v10, v11\nsts.b32 v8, [v2+2048]\n"
    "bar 0\nlds.b32 v10, [v2+2048]\nlds.b64 v12, [s12+v2]\nadd v9, v9, v12\nxor v9, v9, v13\nadd v8, v8, v10\n"
    "isetp.gt p1, v8, v9\n@p1 sub v8, v8, v9\nmul v9, v9, 3\n" KEEP,
    /* words that are picked: neighbours, pairs, far ones; of one word, two and four; bytes and halves */
    SEGMENTS
    "xor v4, v1, 1\nshl v4, v4, 2\nlds.b32 v8, [v4]\nand v5, v1, 15\nxor v5, v5, 13\nsub v6, v1, v5\nadd v6, v6, 16\n"
    "shl v6, v6, 3\nlds.b64 v10, [v6]\nmul v7, v1, 17\nand v7, v7, 63\nshl v7, v7, 4\nlds.b128 v12, [v7+16]\n"
    "lds.b64 v16, [v7]\nlds.b32 v18, [v7+4]\nlds.u8 v19, [v1+3]\nlds.s8 v20, [v7+1]\nlds.s16 v21, [v7+2]\n"
    "lds.u16 v22, [v4+2]\nadd v8, v8, v10\nxor v8, v8, v11\nmad v9, v12, v15, v13\nxor v9, v9, v14\n"
    "mad v9, v16, v17, v9\nadd v9, v9, v18\nmad v8, v19, v20, v8\nmad v9, v21, v22, v9\n" KEEP,
    /* stores in rows, by some lanes, wherever, of several lanes to one place; then they are looked at */
    SEGMENTS
    "lds.b32 v8, [v2+1024]\nlds.b32 v9, [v2]\nmul v4, v1, 5\nand v4, v4, 255\nshl v4, v4, 2\nisetp.gt p0, v8, v9\n"
    "shr v5, v1, 2\nshl v5, v5, 3\nshr v6, v4, 1\nbar 0\n@p0 sts.b32 v8, [v2+2048]\nsts.b32 v9, [v4]\n"
    "@!p0 sts.b64 v8, [v5+1024]\nsts.u8 v8, [v1+3072]\n@p0 sts.u16 v9, [v6+1536]\nbar 0\nlds.b32 v10, [v4]\n"
    "lds.b64 v12, [v5+1024]\nlds.u8 v14, [v1+3072]\nlds.u16 v15, [v6+1536]\nlds.b32 v16, [v2+2048]\n"
    "add v8, v10, v12\nadd v9, v13, v14\nxor v8, v8, v15\nxor v9, v9, v16\n" KEEP,
    SEGMENTS "lds.b32 v8, [v2]\nmov v9, v1\nmov v10, v8\nmov v11, v0\nxor v5, v1, 21\nshl v5, v5, 4\nbar 0\n"
             "sts.b128 v8, [v5]\nsts.b64 v10, [v5+8]\nbar 0\nshl v6, v1, 4\nlds.b128 v12, [v6]\nadd v8, v12, v13\n"
             "mul v9, v14, 3\nadd v9, v9, v15\nxor v9, v9, v8\nadd v8, v8, 1\n" KEEP,
    /* a loop with barriers: registers, scalars and predicates go round */
    SEGMENTS
    "mov v8, 0\nmov v9, 1\nmov s8, 1\nround: bar 0\nsub v4, v1, s8\nisetp.ge p1, v4, 0\nmax v4, v4, 0\nshl v4, v4, 2\n"
    "lds.b32 v10, [v2]\n@p1 lds.b32 v11, [v4]\n@p1 add v10, v10, v11\nadd v8, v8, v10\nmul v9, v9, 5\nadd v9, v9, v10\nbar 0\n"
    "xor v10, v10, v1\nadd v12, v10, 3\nmul v12, v12, 3\nsel v12, v12, v10, p1\nadd v10, v12, v10\nsts.b32 v10, [v2]\n"
    "shl s8, s8, 1\nisetp.lt.s p7, s8, 64\n@p7 bra round\n" KEEP,
    /* both memories, in any order; lanes end behind a barrier that others come to again */
    SEGMENTS
    "lds.b32 v8, [v2]\nldg.b32 v9, [s0+v0*4+64]\nadd v8, v8, v9\nsts.b32 v8, [v2+2048]\nldg.b32 v10, [s0+v0*4+128]\n"
    "add v9, v9, v10\nstg.b32 v9, [s10+v0*4+0x10000]\nlds.b32 v11, [v2+1024]\nadd v9, v9, v11\nand v12, v1, 7\n"
    "isetp.eq p0, v12, 3\n@p0 exit\nmul v8, v8, 3\nadd v8, v8, v9\nadd v9, v9, v8\nbar 0\nlds.b32 v10, [v2+2048]\n"
    "add v8, v8, v10\nldg.b32 v11, [s10+v0*4+0x10000]\nadd v9, v9, v11\n" KEEP,
    /* addresses end with 32 bits */
    SEGMENTS
    "sub v4, v2, 64\nmov s12, 0xffffffc0\nlds.b32 v8, [v4+64]\nlds.b32 v9, [s12+v2+64]\nadd v8, v8, v9\nsub v5, v2, 4\n"
    "sts.b32 v8, [v5+4]\nadd v9, v8, v1\nmul v9, v9, 3\nbar 0\nlds.b32 v10, [v2]\nadd v8, v8, v10\nadd v9, v9, v8\n"
    "xor v9, v9, v10\nmul v8, v8, 5\n" KEEP,
};

static void segments(void **state)
{
    static const uint32_t threads[] = { 128, 256, 64, 200 };
    struct pair *p = *state;

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(segment_kernels); i++) {
        for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
            for (uint32_t n = 0; n < PPU_ARRAY_SIZE(threads); n++) {
                const uint64_t before = translations(p);
                printf("# segments %u, wave %u, %u threads\n", i, wave, threads[n]);
                compare(p, segment_kernels[i], wave, (uint32_t[3]){ threads[n], 1, 1 }, 8);
                assert_true(n != 0 || translations(p) > before); /* what is before the barrier is that of others */
            }
        }
    }
}

/* How often straight code was entered by the task that ran last and did something, of the first entries of each. */
static uint64_t straight_entries(const struct pair *p)
{
    const struct sm_pool *const pool = *core_sm_pool(p->tier->board->core);
    uint64_t executed = 0;

    for (uint32_t sm = 0; sm < pool->sms; sm++) {
        for (uint32_t i = 0; i < TIER_HEADS; i++) {
            const struct tier_head *const head = &pool->sm[sm].heads->head[i];
            executed += head->code && head->straight != TIER_LOOP ? head->executed : 0;
        }
    }
    return executed / HEAD_GOOD;
}

/* Warps that have not as many threads as lanes enter it, too: nothing of what they have not is read or written. */
static void warps_that_are_not_full(void **state)
{
    static const uint32_t threads[] = { 1, 15, 31, 40, 65, 100, 127 };
    struct pair *p = *state;

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(straight_kernels) + PPU_ARRAY_SIZE(segment_kernels); i++) {
        const uint32_t segment = i - PPU_ARRAY_SIZE(straight_kernels);
        const bool straight = i < PPU_ARRAY_SIZE(straight_kernels);
        uint64_t entries = 0;

        for (uint32_t n = 0; n < PPU_ARRAY_SIZE(threads); n++) {
            compare(p, straight ? straight_kernels[i] : segment_kernels[segment], PPU_MAX_WAVE,
                    (uint32_t[3]){ threads[n], 1, 1 }, 12);
            entries += straight_entries(p);
        }
        printf("# %s %u: %lu entries\n", straight ? "straight" : "segments", straight ? i : segment,
               (unsigned long)entries);
        assert_true(entries != 0);
    }
}

/* Behind a load of what a unit may have stored lies another unit, which is entered as if a barrier stood there. */
static void segments_in_parts(void **state)
{
    static const char text[] =
        SEGMENTS "lds.b32 v8, [v2+4]\nmul v9, v8, 3\nadd v9, v9, v1\nxor v8, v8, v9\nsts.b32 v9, [v2+2048]\n"
                 "xor v4, v1, 3\nshl v4, v4, 2\nisetp.lt p0, v1, 100\nmov v10, v1\n@p0 lds.b32 v10, [v4+1024]\n"
                 "mul v10, v10, 5\nadd v8, v8, v10\nxor v9, v9, v8\nadd v8, v8, v9\n@!p0 sts.b32 v9, [v2]\n"
                 "lds.b32 v11, [v4+1024]\nadd v9, v9, v11\nmul v11, v11, v8\nadd v8, v8, v11\nxor v9, v9, v11\n" KEEP;
    struct pair *p = *state;

    for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
        const uint64_t before = translations(p);
        compare(p, text, wave, (uint32_t[3]){ 200, 1, 1 }, 8);
        compare(p, text, wave, (uint32_t[3]){ 256, 1, 1 }, 8);
        assert_true(translations(p) >= before + 4); /* what the warp begins with, and three parts behind the barrier */
    }
}

/* A kernel in two parts; between them stands an instruction that nothing else has: alike units share a translation. */
struct parts {
    const char *begin, *end;
};

/* Instructions of a kernel that nobody starts put the kernel so many behind the first of a page of code. */
static void compare_behind(struct pair *p, const struct parts *parts, uint32_t insns)
{
    const uint64_t before = translations(p);
    size_t len = (size_t)snprintf(p->text, GEN_TEXT_BYTES, ".kernel none\n");

    for (uint32_t i = 0; i < insns; i++) {
        len += (size_t)snprintf(p->text + len, GEN_TEXT_BYTES - len, "nop\n");
    }
    snprintf(p->text + len, GEN_TEXT_BYTES - len, "%sadd v4, v4, %u\n%s", parts->begin, insns, parts->end);
    printf("# behind %u\n", insns);
    compare(p, p->text, PPU_MAX_WAVE, (uint32_t[3]){ 256, 1, 1 }, 3);
    assert_true(translations(p) > before);
}

/* What begins in one page of code and ends in the next is a unit like others: loops, straight code, segments. */
static void across_pages(void **state)
{
    static const struct parts loop = { BEGIN LOOP "add v2, v2, v4\nxor v3, v3, v2\nmul v5, v5, 3\n",
                                       "add v5, v5, v4\nadd v3, v5, v2\n" END };
    static const struct parts straight = { ".kernel k\n.vregs 8\nldp.b64 s0, [0]\nrdsr s4, %cta.x\n"
                                           "rdsr s5, %ntid.x\nrdsr v0, %tid\nmad v0, s4, s5, v0\n"
                                           "ldg.b32 v4, [s0+v0*4]\n",
                                           "mul v2, v4, 3\nxor v4, v4, v2\nstg.b32 v4, [s0+v0*4+0x8000]\nexit\n" };
    static const struct parts segment = {
        ".kernel k\n.vregs 8\nldp.b64 s0, [0]\nrdsr s4, %cta.x\nrdsr s5, %ntid.x\nrdsr v1, %tid\n"
        "mad v0, s4, s5, v1\nshl v2, v1, 2\nsts.b32 v0, [v2]\nbar 0\nxor v3, v2, 4\nlds.b32 v4, [v3]\n",
        "mul v5, v4, 3\nxor v4, v4, v5\nstg.b32 v4, [s0+v0*4+0x8000]\nexit\n"
    };
    struct pair *p = *state;

    for (uint32_t insns = SM_PAGE_INSNS - 24; insns < SM_PAGE_INSNS; insns += 3) {
        compare_behind(p, &loop, insns);
    }
    for (uint32_t insns = SM_PAGE_INSNS - 9; insns < SM_PAGE_INSNS; insns += 4) {
        compare_behind(p, &straight, insns);
    }
    for (uint32_t insns = 2 * SM_PAGE_INSNS - 14; insns < 2 * SM_PAGE_INSNS - 8; insns++) {
        compare_behind(p, &segment, insns);
    }
}

/* Threads from a number on leave the memory behind the barrier, or are odd, when s2 is not 0. */
#define LEAVES(access)                                                                                              \
    SEGMENTS "mov v8, 5\nmov v9, 6\nsub v4, v1, 40\nmax v4, v4, 0\nmul v4, v4, s2\nshl v4, v4, 2\nmul v5, v1, s2\n" \
             "sts.b32 v8, [v2+2048]\n" access "add v8, v8, v10\nstg.b32 v8, [s10+v0*4]\nbar 0\nmul v9, v9, v8\n"    \
             "add v8, v9, v8\nadd v9, v9, v8\n" KEEP
#define LEAVING 39u /* what s2 is then */

static const char *const leaving_kernels[] = {
    LEAVES("sts.b32 v8, [v4+1000]\n"),
    LEAVES("lds.b32 v10, [v4+1000]\n"),
    LEAVES("lds.b128 v12, [v4+1000]\n"),
    LEAVES("sts.u8 v8, [v4+1000]\n"),
    LEAVES("and v5, v5, 1\nadd v5, v5, v1\nadd v5, v5, v1\nlds.u16 v10, [v5]\n"),
    LEAVES("and v5, v5, 2\nadd v5, v5, v2\nisetp.gt p0, v1, 50\n@p0 sts.b64 v8, [v5+1000]\n"),
    LEAVES("mul s12, s2, 0x1000\nlds.b32 v10, [s12+v2]\n"),
    LEAVES("shl v5, v5, 2\nlds.b32 v10, [v5+1000]\n"),
};

/* Until the fault, threads do what a task has done that faults nowhere: so all of it is decoded, and translated. */
static void check_leaving(struct pair *p, const char *text, uint32_t wave, const uint8_t *input)
{
    const struct params params[2] = { { DATA_VA, 0, 0 }, { DATA_VA, LEAVING, 0 } };
    struct rig *const rigs[] = { p->plain, p->tier };
    struct outcome outcome[2];
    const uint64_t before = translations(p);

    for (uint32_t n = 0; n < 2; n++) {
        struct ppu_tmd tmd = prepare(rigs[n], text, wave, (uint32_t[3]){ 256, 1, 1 }, 1, input);
        for (uint32_t i = 0; i < 4; i++) {
            rig_params(rigs[n], 0, &tmd, &params[0], sizeof(params[0]));
            rig_run_done(rigs[n], &tmd);
        }
        rig_params(rigs[n], 0, &tmd, &params[1], sizeof(params[1]));
        outcome[n] = rig_run(rigs[n], &tmd);
        assert_int_equal(outcome[n].event.kind, PPU_SLOT_KILLED);
        assert_true(outcome[n].faulted);
    }
    assert_memory_equal(&outcome[0].fault, &outcome[1].fault, sizeof(outcome[0].fault));
    assert_memory_equal(counts(p->plain), counts(p->tier), PPU_COUNTERS * sizeof(uint64_t));
    assert_memory_equal(rig_data(p->plain, 0), rig_data(p->tier, 0), INPUT_BYTES);
    assert_true(translations(p) >= before + 1);
}

static void segments_fault(void **state)
{
    struct pair *p = *state;
    uint8_t *const input = malloc(INPUT_BYTES);

    assert_non_null(input);
    random_bytes(&p->random, input, INPUT_BYTES);
    for (uint32_t i = 0; i < 3 * PPU_ARRAY_SIZE(leaving_kernels); i++) {
        printf("# leaving kernel %u, wave %u\n", i / 3, PPU_LANES << i % 3);
        check_leaving(p, leaving_kernels[i / 3], PPU_LANES << i % 3, input);
    }
    free(input);
}

/* ---- code that gives way ---- */

#define FAR 0x10000u /* from one program to another that lies in the same place of an SM's decoded code */
#define TURNS_BESIDE 3000u

static const char *const beside_texts[] = {
    LINEAR
    "ldg.b32 v1, [s0+v0*4]\nadd v1, v1, 3\nmul v1, v1, 5\nxor v1, v1, v0\nadd v1, v1, v0\nstg.b32 v1, [s10+v0*4]\n"
    "exit\n",
    BEGIN LOOP "add v2, v2, 1\nxor v3, v3, v2\nmul v4, v4, v3\nadd v3, v3, v4\nsub v2, v2, v4\nadd v4, v4, 7\n" END,
};

/* Puts a program far from the begin of the code, and returns a task of it in the slot. */
static struct ppu_tmd load_beside(struct rig *rig, uint32_t slot)
{
    const struct params params = { DATA_VA, TURNS_BESIDE, 0.37f };
    const uint32_t at = slot * FAR;

    rig_load_text(rig, beside_texts[slot]);
    memmove(rig_code(rig) + at, rig_code(rig), rig->program.header->code_bytes);
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    tmd.code_va = CODE_VA + at;
    rig_shape(&tmd, slot == 0 ? 2000 : 1, 1, 32, 1);
    rig_params(rig, slot, &tmd, &params, sizeof(params));
    return tmd;
}

/* Until the tasks of the slots have ended. */
static void run_slots(struct rig *rig, const struct ppu_tmd *const tmds[2])
{
    uint32_t left = 0;

    for (uint32_t slot = 0; slot < 2; slot++) {
        if (tmds[slot]) {
            rig_start(rig, slot, tmds[slot]);
            left |= 1u << slot;
        }
    }
    for (uint32_t steps = 0; left != 0; steps++) {
        struct ppu_slot_event event;
        assert_true(steps < 100000);
        while (ring_pop(rig->board, PPU_RING_SLOT, &event)) {
            assert_true(event.kind == PPU_SLOT_DONE || event.kind == PPU_SLOT_FLUSHED);
            left &= event.kind == PPU_SLOT_DONE ? ~(1u << event.slot) : UINT32_MAX;
        }
        rig_step(rig);
    }
}

/*
 * Two programs make the SM forget each other's code, turn by turn. What is decoded of a unit is not all of it then, and
 * a translation of that would do nothing: the units are those of before, whose translations are there.
 */
static void beside_each_other(void **state)
{
    struct pair *p = *state;
    struct rig *const rig = p->tier;
    const struct ppu_tmd loop = load_beside(rig, 1), straight = load_beside(rig, 0);

    run_slots(rig, (const struct ppu_tmd *[2]){ &straight, NULL });
    run_slots(rig, (const struct ppu_tmd *[2]){ NULL, &loop });
    const uint64_t before = translations(p);
    assert_true(before >= 2);
    for (uint32_t round = 0; round < 3; round++) {
        run_slots(rig, (const struct ppu_tmd *[2]){ &straight, &loop });
    }
    assert_int_equal(translations(p), before);
}

/* ---- CTAs that are not placed ---- */

#define WHOLE_PARAMS \
    "ldp.b64 s0, [0]\nldp.b64 s2, [8]\nrdsr s4, %cta.x\nrdsr s5, %ntid.x\nrdsr v0, %tid\nmad v0, s4, s5, v0\n"
#define FOLLOW_RUNS 50u

/*
 * Every warp is straight from begin to end; "l" is another one, whose threads end early. In "m" nobody stores before
 * the second load: only a version of the translation that takes that for granted comes to the end.
 */
#define WHOLE                                                                                                        \
    ".kernel k\n.vregs 8\n" WHOLE_PARAMS "ldg.b32 v1, [s0+v0*4]\nadd v1, v1, v0\nstg.b32 v1, [s2+v0*4]\nexit\n"      \
    ".kernel l\n.vregs 12\n" WHOLE_PARAMS "isetp.geu p0, v0, 5000\n@p0 exit\nldg.b32 v1, [s0+v0*4]\nmul v1, v1, 3\n" \
    "mov s8, 0x80000\nmov s9, 0\nadd64 s2, s2, s8\nstg.b32 v1, [s2+v0*4]\nexit\n"                                    \
    ".kernel m\n.vregs 8\n" WHOLE_PARAMS "ldg.b32 v1, [s0+v0*4]\nand v1, v1, 0xfff\nisetp.gtu p0, v0, 0xffffff\n"    \
    "ldg.b32 v2, [s0+v1*4]\nmul v2, v2, 3\n@p0 stg.b32 v2, [s2+v0*4]\nldg.b32 v3, [s0+v1*4+64]\n"                    \
    "add v3, v3, v2\nstg.b32 v3, [s2+v0*4]\nexit\n"
#define WHOLE_BYTES 0x100000u
#define WHOLE_CTAS 60u
#define WHOLE_THREADS 256u /* of each */

static struct ppu_tmd whole_prepare(struct rig *rig, uint32_t slot, const char *kernel, uint32_t wave, uint32_t ctas,
                                    uint64_t from)
{
    const uint64_t params[] = { from, DATA_VA };

    struct ppu_tmd tmd = rig_tmd(rig, kernel);
    tmd.wave = (uint8_t)wave;
    rig_shape(&tmd, ctas, 1, WHOLE_THREADS, 1);
    rig_params(rig, slot, &tmd, params, sizeof(params));
    return tmd;
}

static void whole_fill(struct pair *p)
{
    random_bytes(&p->random, rig_data(p->plain, 0), DATA_BYTES);
    memcpy(rig_data(p->tier, 0), rig_data(p->plain, 0), DATA_BYTES);
    rig_load_text(p->plain, WHOLE);
    rig_load_text(p->tier, WHOLE);
}

static void are_alike(struct pair *p)
{
    assert_memory_equal(rig_data(p->plain, 0), rig_data(p->tier, 0), DATA_BYTES);
    assert_memory_equal(counts(p->plain), counts(p->tier), PPU_COUNTERS * sizeof(uint64_t));
}

static void wait_for_tasks(struct rig *rig, uint32_t tasks)
{
    struct ppu_slot_event event;

    for (uint32_t steps = 0; tasks != 0 && steps < 100000; steps++) {
        while (ring_pop(rig->board, PPU_RING_SLOT, &event)) {
            assert_int_equal(event.kind, PPU_SLOT_DONE);
            tasks--;
        }
        rig_step(rig);
    }
    assert_int_equal(tasks, 0);
}

/* Two tasks at once: CTAs of the one are taken among those of the other. */
static void whole_beside(struct pair *p, uint32_t wave)
{
    struct rig *const rigs[] = { p->plain, p->tier };

    whole_fill(p);
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(rigs); i++) {
        const struct ppu_tmd k = whole_prepare(rigs[i], 0, "k", wave, WHOLE_CTAS, DATA_VA + WHOLE_BYTES);
        const struct ppu_tmd l = whole_prepare(rigs[i], 1, "l", wave, WHOLE_CTAS, DATA_VA + WHOLE_BYTES);

        rig_start(rigs[i], 0, &k);
        rig_start(rigs[i], 1, &l);
        wait_for_tasks(rigs[i], 2);
    }
    are_alike(p);
}

static void whole_ctas(void **state)
{
    static const char *const names[] = { "k", "l", "m" };
    struct pair *p = *state;

    for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
        for (uint32_t i = 0; i < PPU_ARRAY_SIZE(names); i++) {
            const uint64_t before = sm_whole_ctas(p->tier->board->core);

            whole_fill(p);
            struct ppu_tmd plain = whole_prepare(p->plain, 0, names[i], wave, WHOLE_CTAS, DATA_VA + WHOLE_BYTES);
            struct ppu_tmd tier = whole_prepare(p->tier, 0, names[i], wave, WHOLE_CTAS, DATA_VA + WHOLE_BYTES);
            rig_run_done(p->plain, &plain);
            rig_run_done(p->tier, &tier);
            are_alike(p);
            assert_true(sm_whole_ctas(p->tier->board->core) >= before + WHOLE_CTAS / 2);
        }
        whole_beside(p, wave);
    }
    assert_int_equal(sm_whole_ctas(p->plain->board->core), 0);
}

/* Thread `thread` is the first that loads from beyond the memory: its CTA is placed behind the warps before it. */
static void whole_fault(struct pair *p, uint32_t wave, uint32_t thread)
{
    const uint64_t from = DATA_VA + DATA_BYTES - thread * sizeof(uint32_t);

    whole_fill(p);
    struct ppu_tmd plain = whole_prepare(p->plain, 0, "k", wave, WHOLE_CTAS, from);
    struct ppu_tmd tier = whole_prepare(p->tier, 0, "k", wave, WHOLE_CTAS, from);
    const struct outcome a = rig_run(p->plain, &plain), b = rig_run(p->tier, &tier);
    assert_int_equal(a.event.kind, PPU_SLOT_KILLED);
    assert_int_equal(b.event.kind, PPU_SLOT_KILLED);
    assert_true(a.faulted && b.faulted);
    assert_memory_equal(&a.fault, &b.fault, sizeof(a.fault));
    are_alike(p);
}

static void whole_ctas_fault(void **state)
{
    static const uint32_t threads[] = { 0,
                                        70,
                                        3 * WHOLE_THREADS,
                                        9 * WHOLE_THREADS + 40,
                                        9 * WHOLE_THREADS + 130,
                                        30 * WHOLE_THREADS + 200,
                                        59 * WHOLE_THREADS + 255 };
    struct pair *p = *state;

    for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
        for (uint32_t i = 0; i < PPU_ARRAY_SIZE(threads); i++) {
            printf("# wave %u, thread %u\n", wave, threads[i]);
            whole_fault(p, wave, threads[i]);
        }
    }
}

/* Loads from system memory wait for the host: none of these CTAs can be run at once. */
static void whole_ctas_wait(void **state)
{
    struct pair *p = *state;
    const uint32_t ctas = SYS_PAGES * 4096 / sizeof(uint32_t) / WHOLE_THREADS;

    whole_fill(p);
    struct ppu_tmd plain = whole_prepare(p->plain, 0, "k", PPU_MAX_WAVE, ctas, SYS_VA);
    struct ppu_tmd tier = whole_prepare(p->tier, 0, "k", PPU_MAX_WAVE, ctas, SYS_VA);
    rig_run_done(p->plain, &plain);
    rig_run_done(p->tier, &tier);
    are_alike(p);
}

/*
 * The first CTAs are placed, many at once, and wait for the host. Those behind them need no place when it has answered;
 * how many were placed until then, one after the other, depends on how soon it does.
 */
static void whole_ctas_follow(void **state)
{
    struct pair *p = *state;
    struct rig *const rigs[] = { p->plain, p->tier };
    const uint32_t waiting = 8, ctas = 200;
    const uint64_t end = SYS_VA + SYS_PAGES * 4096, from = end - waiting * WHOLE_THREADS * sizeof(uint32_t);
    uint64_t most = 0;

    whole_fill(p);
    const struct ppu_tmd first = whole_prepare(p->tier, 0, "k", PPU_MAX_WAVE, ctas, DATA_VA + WHOLE_BYTES);
    rig_run_done(p->tier, &first); /* its translation is there then: who waits for one goes on when the host answers */
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(rigs); i++) {
        for (uint64_t at = 0; at < 4 * PPU_PAGE_64K; at += PPU_PAGE_64K) {
            map_page(rigs[i]->board, CONTEXT, end + at, DATA_AT + WHOLE_BYTES + at, PPU_PTE_64K, 0);
        }
    }
    for (uint32_t run = 0; run < FOLLOW_RUNS && most < ctas / 2; run++) {
        const uint64_t before = sm_whole_ctas(p->tier->board->core);
        whole_fill(p);
        for (uint32_t i = 0; i < PPU_ARRAY_SIZE(rigs); i++) {
            const struct ppu_tmd tmd = whole_prepare(rigs[i], 0, "k", PPU_MAX_WAVE, ctas, from);
            rig_run_done(rigs[i], &tmd);
        }
        are_alike(p);
        most = PPU_MAX(most, sm_whole_ctas(p->tier->board->core) - before);
    }
    assert_true(most >= ctas / 2);
}

/* Each other warp loads from the second of two pages. What the translator takes of it ends before the shuffle. */
#define PARTLY                                                                                                    \
    ".kernel k\n.vregs 8\n" WHOLE_PARAMS "and v5, v0, 32\nshl v5, v5, 9\nadd v5, v5, v0\nldg.b32 v1, [s0+v5*4]\n" \
    "add v1, v1, v0\nmul v2, v1, 3\nxor v2, v2, v0\nmul v3, v2, v1\nshflx v4, v3, 1\nstg.b32 v4, [s2+v0*4]\nexit\n"
#define TWO_PAGES_VA (SYS_VA + 0x100000u)

/*
 * One page is system memory, which the code of a unit leaves to the interpreter: half of the trials are in vain, and
 * the code is given up, also when the last of them did something.
 */
static void straight_code_given_up(void **state)
{
    struct pair *p = *state;
    struct rig *const rigs[] = { p->plain, p->tier };

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(rigs); i++) {
        map_page(rigs[i]->board, CONTEXT, TWO_PAGES_VA, SYS_BASE, PPU_PTE_64K, PPU_PTE_SYSTEM);
        map_page(rigs[i]->board, CONTEXT, TWO_PAGES_VA + PPU_PAGE_64K, DATA_AT + WHOLE_BYTES, PPU_PTE_64K, 0);
    }
    for (uint32_t vain = 0; vain < 2; vain++) { /* the first warp's trial, or the second's */
        whole_fill(p);
        for (uint32_t i = 0; i < PPU_ARRAY_SIZE(rigs); i++) {
            rig_load_text(rigs[i], PARTLY);
            struct ppu_tmd tmd = whole_prepare(rigs[i], 0, "k", PPU_LANES, 200, TWO_PAGES_VA);
            tmd.cta[0] = (uint16_t)(PPU_LANES << vain);
            rig_run_done(rigs[i], &tmd);
        }
        are_alike(p);
    }
}

/* A grid that would take minutes is killed while CTAs of it are taken; the next task finds the SM as it was. */
static void whole_ctas_killed(void **state)
{
    struct pair *p = *state;
    struct rig *const rig = p->tier;
    struct outcome outcome;

    whole_fill(p);
    for (uint32_t round = 0; round < 20; round++) {
        struct ppu_tmd tmd = whole_prepare(rig, 0, "l", PPU_MAX_WAVE, WHOLE_CTAS, DATA_VA);
        const uint64_t before = sm_whole_ctas(rig->board->core);

        tmd.grid[0] = 1u << 30;
        rig_start(rig, 0, &tmd);
        while (sm_whole_ctas(rig->board->core) < before + 1000 * round) {
            rig_step(rig);
        }
        rig_command(rig, 0, PPU_SLOT_CMD_KILL);
        assert_true(rig_wait(rig, 0, &outcome));
        assert_int_equal(outcome.event.kind, PPU_SLOT_KILLED);
        assert_false(outcome.faulted);
        tmd = whole_prepare(rig, 0, "k", PPU_MAX_WAVE, WHOLE_CTAS, DATA_VA + WHOLE_BYTES);
        rig_run_done(rig, &tmd);
    }
}

/* ---- loops of short launches ---- */

#define SHORT_WARPS 7u /* of a launch: their turns are far too few to be hot */
#define MOST_LAUNCHES 20000u

/* Nothing is translated before it is hot, and a loop gets hot from launch to launch. */
static void launch_by_launch(void **state)
{
    static const uint32_t shape[3] = { SHORT_WARPS * PPU_MAX_WAVE, 1, 1 };
    const uint32_t hot = tier_hot_times(PPU_MAX_WAVE) / (TURNS * SHORT_WARPS);
    struct core_config config = board_small_config(1);
    uint8_t *const input = calloc(1, INPUT_BYTES);
    const char *const cache = getenv("PPU_CACHE");
    char *const kept = cache ? strdup(cache) : NULL;
    uint32_t launches = 0;

    (void)state;
    assert_non_null(input);
    assert_int_equal(setenv("PPU_CACHE", "off", 1), 0); /* another run has left a translation there */
    config.sms = 1;
    config.engine_tier = TIER_BESIDE;
    config.engine_tier_socket = translator_start(MODULE, NULL);
    assert_int_equal(kept ? setenv("PPU_CACHE", kept, 1) : unsetenv("PPU_CACHE"), 0);
    free(kept);
    struct rig *const rig = rig_new_config(&config);
    for (; launches < MOST_LAUNCHES && sm_translations(rig->board->core) == 0; launches++) {
        run_shape(rig, kernels[4], PPU_MAX_WAVE, shape, 1, input);
        assert_true(launches >= hot / 2 || sm_translations(rig->board->core) == 0);
        if (launches > hot) {
            usleep(1000); /* it is being made */
        }
    }
    printf("# translated after %u launches\n", launches);
    assert_true(launches < MOST_LAUNCHES);
    rig_free(rig);
    free(input);
}

/* ---- where a loop begins ---- */

#define FIRST_CTAS 5u

/* The one loop of the program that ran last. */
static const struct tier_head *only_loop(const struct rig *rig)
{
    const struct tier_heads *const heads = (*core_sm_pool(rig->board->core))->sm[0].heads;
    const struct tier_head *found = NULL;

    for (uint32_t i = 0; i < TIER_HEADS; i++) {
        if (heads->head[i].translation && heads->head[i].straight == TIER_LOOP) {
            assert_null(found);
            found = &heads->head[i];
        }
    }
    assert_non_null(found);
    return found;
}

/* The first warp interprets its first turn of the loop. Those behind it come to a loop that is known. */
static void first_turns(void **state)
{
    const struct pair *const p = *state;
    uint8_t *const input = calloc(1, INPUT_BYTES);

    assert_non_null(input);
    run_shape(p->tier, BEGIN LOOP "add v2, v2, 1\nmad v3, v2, v5, v3\nxor v4, v4, v3\n" END, 32,
              (uint32_t[3]){ 32, 1, 1 }, FIRST_CTAS, input);
    const struct tier_head *const head = only_loop(p->tier);
    assert_int_equal(head->executed, (FIRST_CTAS * TURNS - 1) * head->insns);
    free(input);
}

/* The loops that were entered last are known, of one program. */
#define KEPT_LOOP(word) \
    BEGIN LOOP "add v4, v4, " word "\nmad v3, v2, v5, v3\nxor v4, v4, v3\nadd v4, v4, v2\nadd v2, v2, 3\n" END

/* A translation is entered by the first turn of the next launch, unless code or the wave is another. */
static void launches_keep_translations(void **state)
{
    struct pair *p = *state;

    for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
        const uint32_t shape[3] = { wave, 1, 1 };
        compare(p, KEPT_LOOP("5"), wave, shape, 1);
        const struct tier_head *const head = only_loop(p->tier);
        const uint32_t entered = head->entered, spent = head->spent;
        compare(p, KEPT_LOOP("5"), wave, shape, 1);
        assert_ptr_equal(only_loop(p->tier), head);
        assert_true(head->entered > entered && entered != 0);
        assert_int_equal(head->spent, spent);
        compare(p, KEPT_LOOP("6"), wave, shape, 1); /* one word of the loop is another */
        compare(p, KEPT_LOOP("7"), wave, shape, 1);
    }
}

static void known_loops(void **state)
{
    struct tier_heads heads = { 0 };

    (void)state;
    assert_int_equal(tier_heads_ahead(&heads, 1, 0), UINT32_MAX);
    for (uint32_t i = 0; i < TIER_LOOPS; i++) {
        tier_heads_know(&heads, 1, 10 + 10 * i);
        tier_heads_know(&heads, 1, 10);
    }
    assert_int_equal(tier_heads_ahead(&heads, 1, 3), 7);
    assert_int_equal(tier_heads_ahead(&heads, 1, 10), 0);
    assert_int_equal(tier_heads_ahead(&heads, 1, 11), 9);
    assert_int_equal(tier_heads_ahead(&heads, 2, 3), UINT32_MAX);
    tier_heads_know(&heads, 1, 5);
    assert_int_equal(tier_heads_ahead(&heads, 1, 10), 10); /* it has given way */
    tier_heads_know(&heads, 2, 30);
    assert_int_equal(tier_heads_ahead(&heads, 2, 3), 27);
    assert_true(tier_heads_ahead(&heads, 2, 31) > UINT32_MAX / 2);
    tier_heads_forget(&heads);
    assert_int_equal(tier_heads_ahead(&heads, 2, 3), UINT32_MAX);
}

/* ---- random programs ---- */

static struct outcome run_random(struct rig *rig, const char *text, uint32_t wave, uint32_t threads, uint32_t ctas,
                                 const uint8_t *input)
{
    uint64_t params[GEN_PARAMS / 8];

    memcpy(params, input, sizeof(params));
    params[0] = DATA_VA;
    memcpy(rig_data(rig, 0), input, GEN_BYTES);
    memset(rig_data(rig, GEN_LOCKS_AT), 0, GEN_LOCKS_BYTES);
    rig_load_text(rig, text);
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    tmd.wave = (uint8_t)wave;
    tmd.vregs = GEN_VREGS;
    tmd.shared_bytes = generate_shared(threads);
    tmd.local_bytes = GEN_LOCAL;
    tmd.local_va = LOCAL_VA;
    tmd.local_size = LOCAL_SIZE;
    tmd.token_count = GEN_TOKENS;
    rig_shape(&tmd, ctas, 1, threads, 1);
    rig_params(rig, 0, &tmd, params, sizeof(params));
    return rig_run(rig, &tmd);
}

static void by_chance(void **state)
{
    struct pair *p = *state;
    uint8_t *input = malloc(GEN_BYTES);
    const uint64_t before = translations(p);

    assert_non_null(input);
    for (uint32_t left = random_rounds(PROGRAMS); left != 0; left--) {
        const uint32_t wave = PPU_LANES << left % 3, ctas = 1 + random_below(&p->random, 3);
        const uint32_t threads = 1 + random_below(&p->random, GEN_THREADS_MAX / ctas);

        random_bytes(&p->random, input, GEN_BYTES);
        generate(&p->random, GEN_JOINED, threads, p->text);
        struct outcome plain = run_random(p->plain, p->text, wave, threads, ctas, input);
        struct outcome tier = run_random(p->tier, p->text, wave, threads, ctas, input);
        assert_int_equal(plain.event.kind, PPU_SLOT_DONE);
        assert_int_equal(tier.event.kind, PPU_SLOT_DONE);
        assert_memory_equal(rig_data(p->plain, 0), rig_data(p->tier, 0), GEN_BYTES);
        assert_memory_equal(counts(p->plain), counts(p->tier), PPU_COUNTERS * sizeof(uint64_t));
    }
    assert_true(translations(p) > before);
    free(input);
}

/* ---- programs that translate nothing ---- */

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static struct rig *machine_with(int socket)
{
    struct core_config config = board_small_config(1);

    config.sms = 1;
    config.engine_tier = TIER_AT_ONCE;
    config.engine_tier_socket = socket;
    return rig_new_config(&config);
}

/* The loop waits for its translation: the SM stops all the same, and when there is none to come it is interpreted. */
static void without_answer(void **state)
{
    struct pair *p = *state;
    struct outcome outcome;
    uint64_t least_ns = UINT64_MAX;
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    struct rig *rig = machine_with(ends[0]);
    uint8_t *input = calloc(1, INPUT_BYTES);
    assert_non_null(input);
    run(p->plain, kernels[0], 32, 128, input);
    const struct ppu_tmd tmd = prepare(rig, kernels[0], 32, (uint32_t[3]){ 128, 1, 1 }, 3, input);
    rig_start(rig, 0, &tmd);
    nanosleep(&(struct timespec){ 0, 100000000 }, NULL);
    for (uint32_t i = 0; i < PAUSES; i++) {
        const uint64_t before_ns = now_ns();
        core_pause(rig->board->core);
        const uint64_t took_ns = now_ns() - before_ns;
        core_resume(rig->board->core);
        least_ns = PPU_MIN(least_ns, took_ns);
        nanosleep(&(struct timespec){ 0, 2000000 }, NULL);
    }
    printf("# the shortest of %u pauses took %llu us\n", PAUSES, (unsigned long long)least_ns / 1000);
    assert_true(least_ns < MOST_PAUSE_NS);
    close(ends[1]);
    assert_true(rig_wait(rig, 0, &outcome));
    assert_memory_equal(rig_data(p->plain, 0), rig_data(rig, 0), INPUT_BYTES);
    assert_int_equal(sm_translations(rig->board->core), 0);
    rig_free(rig);
    free(input);
}

/* The machine goes while its program has an answer to give. */
static void end_without_answer(void **state)
{
    struct pair *p = *state;
    int ends[2];

    (void)p;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    struct rig *rig = machine_with(ends[0]);
    uint8_t *input = calloc(1, INPUT_BYTES);
    assert_non_null(input);
    const struct ppu_tmd tmd = prepare(rig, kernels[0], 32, (uint32_t[3]){ 128, 1, 1 }, 3, input);
    rig_start(rig, 0, &tmd);
    nanosleep(&(struct timespec){ 0, 50000000 }, NULL);
    rig_free(rig);
    close(ends[1]);
    free(input);
}

/* Replies to each request with the same bytes; closes behind it when `ends`. */
struct liar {
    const char *name;
    struct tier_answer answer;
    uint32_t bytes; /* of the reply, and of code behind it */
    bool ends;
    uint32_t most_made; /* that it says; 0: one */
    uint64_t far;       /* from the tag of the request */
};

#define REPLY sizeof(struct tier_reply)

static const struct liar liars[] = {
    { "is of another version", { .result = TIER_OTHER }, REPLY, false, 0, 0 },
    { "has no module", { .result = TIER_NO_MODULE }, REPLY, false, 0, 0 },
    { "has failed", { .result = TIER_FAILED }, REPLY, false, 0, 0 },
    { "says it does not pay", { .result = TIER_NOT_WORTH }, REPLY, false, 0, 0 },
    { "says that nothing is kept", { .result = TIER_NOT_KEPT }, REPLY, false, 0, 0 },
    { "answers what is no answer", { .result = 99 }, REPLY, false, 0, 0 },
    { "answers what nobody has asked", { TIER_MADE, 64, 0, 1, 32, 12, 0 }, REPLY + 64, false, 0, 1 },
    { "has another tag than there are", { TIER_MADE, 64, 0, 1, 32, 12, 0 }, REPLY + 64, false, 0, UINT64_MAX },
    { "makes too many at once", { TIER_MADE, 64, 0, 1, 32, 12, 0 }, REPLY + 64, false, TIER_MOST_MADE + 1, 0 },
    { "makes any number at once", { TIER_MADE, 64, 0, 1, 32, 12, 0 }, REPLY + 64, false, UINT32_MAX, 0 },
    { "has code for nothing", { .result = TIER_NOT_WORTH, .bytes = 8 }, REPLY + 8, false, 0, 0 },
    { "has no code", { TIER_MADE, 0, 0, 1, 32, 12, 0 }, REPLY, false, 0, 0 },
    { "has too much code", { TIER_MADE, TIER_MAX_CODE + 1, 0, 1, 32, 12, 0 }, REPLY, false, 0, 0 },
    { "enters behind the code", { TIER_MADE, 64, 64, 1, 32, 12, 0 }, REPLY + 64, false, 0, 0 },
    { "has code of another wave", { TIER_MADE, 64, 0, 1, 64, 12, 0 }, REPLY + 64, false, 0, 0 },
    { "has code of another loop", { TIER_MADE, 64, 0, 1, 32, 999, 0 }, REPLY + 64, false, 0, 0 },
    { "has a loop that ends its warps", { TIER_MADE, 64, 0, 1, 32, 12, 1 }, REPLY + 64, false, 0, 0 },
    { "ends in its reply", { TIER_MADE, 64, 0, 1, 32, 12, 0 }, 6, true, 0, 0 },
    { "ends in its code", { TIER_MADE, 64, 0, 1, 32, 12, 0 }, REPLY + 10, true, 0, 0 },
    { "ends without a reply", { .result = TIER_MADE }, 0, true, 0, 0 },
};

struct lying {
    const struct liar *liar;
    int socket;
};

static bool receive(int socket, void *to, size_t bytes)
{
    return recv(socket, to, bytes, MSG_WAITALL) == (ssize_t)bytes;
}

static void *lie(void *opaque)
{
    const struct lying *const lying = opaque;
    const struct liar *const liar = lying->liar;
    uint8_t unit[sizeof(struct tier_unit)], bytes[sizeof(struct tier_reply) + 64] = { 0 };
    struct tier_request request;
    bool goes_on = true;

    while (goes_on && receive(lying->socket, &request, sizeof(request)) &&
           receive(lying->socket, unit, request.bytes)) {
        const struct tier_reply reply = { request.tag + liar->far, liar->most_made ? liar->most_made : 1,
                                          liar->answer };
        memcpy(bytes, &reply, sizeof(reply));
        goes_on = send(lying->socket, bytes, liar->bytes, MSG_NOSIGNAL) == (ssize_t)liar->bytes && !liar->ends;
    }
    close(lying->socket);
    return NULL;
}

/* The machine's end of a socket at whose other end the liar answers, until it is closed. */
static int liar_begin(struct lying *lying, const struct liar *liar, pthread_t *thread)
{
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    *lying = (struct lying){ liar, ends[1] };
    assert_int_equal(pthread_create(thread, NULL, lie, lying), 0);
    return ends[0];
}

static void liars_translate_nothing(void **state)
{
    struct pair *p = *state;
    uint8_t *input = calloc(1, INPUT_BYTES);

    assert_non_null(input);
    run(p->plain, kernels[0], 32, 128, input);
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(liars); i++) {
        struct lying lying;
        pthread_t thread;
        printf("# a program that %s\n", liars[i].name);
        struct rig *rig = machine_with(liar_begin(&lying, &liars[i], &thread));
        run(rig, kernels[0], 32, 128, input);
        assert_memory_equal(rig_data(p->plain, 0), rig_data(rig, 0), INPUT_BYTES);
        assert_int_equal(sm_translations(rig->board->core), 0);
        rig_free(rig);
        pthread_join(thread, NULL);
    }
    free(input);
}

/* What kind a unit is of, and what its answer says of the ends of warps. */
static const struct {
    enum tier_straight straight;
    uint32_t ends;
    int result; /* of translator_take() */
} end_answers[] = {
    { TIER_LOOP, 0, TIER_MADE },
    { TIER_LOOP, 1, -1 },
    { TIER_ROWS, 0, TIER_MADE },
    { TIER_ROWS, 1, TIER_MADE },
    { TIER_ROWS, 2, -1 },
    { TIER_ANYWHERE, 0, TIER_MADE },
    { TIER_ANYWHERE, 1, TIER_MADE },
    { TIER_ANYWHERE, 2, -1 },
    { TIER_SEGMENT, 0, TIER_MADE },
    { TIER_SEGMENT, 1, -1 },
    { TIER_SEGMENT_ANY, 0, TIER_MADE },
    { TIER_SEGMENT_ANY, 1, -1 },
};

/* The engine ends CTAs by what an answer says, and those that come from a barrier have others in them. */
static void only_warps_that_begin_end(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(end_answers); i++) {
        const struct tier_unit unit = { .wave = 32, .straight = end_answers[i].straight, .insns = 12 };
        const struct liar liar = { "", { TIER_MADE, 64, 0, 1, 32, 12, end_answers[i].ends }, REPLY + 64, false, 0, 0 };
        struct tier_translation out = { .ends = false };
        struct lying lying;
        pthread_t thread;
        const int socket = liar_begin(&lying, &liar, &thread);
        struct tier_reply reply = { .tag = 0 };
        assert_true(translator_ask(socket, 7, &unit, TIER_WORTH) && translator_hear(socket, &reply));
        assert_int_equal(reply.tag, 7);
        const int result = translator_take(socket, &reply.answer, &unit, TIER_WORTH, &out);
        if (result != end_answers[i].result || out.ends != (result == TIER_MADE && end_answers[i].ends != 0)) {
            fail_msg("answer %u: translator_take() returns %d, ends %d", i, result, out.ends);
        }
        if (result == TIER_MADE) {
            translation_free(&out);
        }
        close(socket);
        pthread_join(thread, NULL);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        { "translated loops do what the interpreter does [A7][A8]", by_hand, setup, teardown, NULL },
        { "loads at offsets that stay load what they do there [A7][A8]", offsets_that_stay, setup, teardown, NULL },
        { "lanes that part go through loops one after the other [A7][A8]", lanes_one_after_the_other, setup, teardown,
          NULL },
        { "loads in loops fault as they do there [A7][A8]", faults_in_loops, setup, teardown, NULL },
        { "they load to no register that the warp has not [D1]", unowned_registers, setup, teardown, NULL },
        { "so does straight code [A7][A8]", straight_by_hand, setup, teardown, NULL },
        { "straight code that is longer than a unit is some units [A8]", long_straight_code, setup, teardown, NULL },
        { "a loop behind a long unit is a loop [A8]", a_loop_behind_long_code, setup, teardown, NULL },
        { "straight code for rows is made first, that for lanes anywhere when it is wanted [A8]", rows_come_first,
          setup, teardown, NULL },
        { "what lies between barriers is translated by itself [A7][A8]", segments, setup, teardown, NULL },
        { "warps that are not full enter straight code", warps_that_are_not_full, setup, teardown, NULL },
        { "in parts, where it loads what it may have stored [A7][A8]", segments_in_parts, setup, teardown, NULL },
        { "what goes from one page of code to the next is translated", across_pages, setup, teardown, NULL },
        { "and faults as it does there [A7][A8]", segments_fault, setup, teardown, NULL },
        { "indexes that wrap lead back [D1]", wrapped_indexes, setup, teardown, NULL },
        { "programs that drive each other out have their translations", beside_each_other, setup, teardown, NULL },
        { "CTAs that are straight from begin to end are not placed [A8]", whole_ctas, setup, teardown, NULL },
        { "one of them that faults is, behind its warps that have ended", whole_ctas_fault, setup, teardown, NULL },
        { "and those that wait for the host", whole_ctas_wait, setup, teardown, NULL },
        { "those behind them are not placed when they have ended", whole_ctas_follow, setup, teardown, NULL },
        { "straight code that does too little is given up", straight_code_given_up, setup, teardown, NULL },
        { "they are killed among others [A6]", whole_ctas_killed, setup, teardown, NULL },
        { "a loop that is known is entered where it begins", first_turns, setup, teardown, NULL },
        { "as are those that were entered last", known_loops, NULL, NULL, NULL },
        { "it is by the next launch, too [A7]", launches_keep_translations, setup, teardown, NULL },
        { "loops of short launches get hot, too", launch_by_launch, NULL, NULL, NULL },
        { "so do loops of random programs [E3]", by_chance, setup, teardown, NULL },
        { "a translation that does not come stops nobody", without_answer, setup, teardown, NULL },
        { "nor does it when the machine ends", end_without_answer, setup, teardown, NULL },
        { "an answer that is none is the last", liars_translate_nothing, setup, teardown, NULL },
        { "nor is one that ends warps which have not begun there", only_warps_that_begin_end, NULL, NULL, NULL },
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
