/* SPDX-License-Identifier: MIT */
/* Tests every field of a task descriptor with every kind of wrong value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/caps.h"
#include "firmware/layout.h"
#include "firmware/tmd.h"
#include "ppu/limits.h"
#include "ppu/macros.h"
#include "ppu/token.h"
#include "tests/firmware/random.h"

static int setup(void **state)
{
    (void)state;
    layout.sm_tokens = ppu_token_bytes(32, 200);
    caps = (struct caps){
        .features = PPU_FEATURE_SUBVECTOR, .sm_warps = 32, .sm_vregs = 32768, .sm_shared = 64 * PPU_KIB
    };
    return 0;
}

static struct ppu_tmd good_tmd(void)
{
    return (struct ppu_tmd){
        .head = { PPU_TMD_VERSION, sizeof(struct ppu_tmd) },
        .kind = PPU_TMD_GRID,
        .priority = 7,
        .flags = PPU_TMD_HEAD,
        .code_va = 0x10000,
        .code_bytes = 800,
        .entry = 792,
        .vregs = 32,
        .wave = 32,
        .shared_bytes = 64 * PPU_KIB,
        .local_bytes = 16,
        .local_va = 0x200000,
        .local_size = 1024 * 16,
        .cta = { 1024, 1, 1 },
        .grid = { PPU_MAX_GRID_X, PPU_MAX_GRID_YZ, PPU_MAX_GRID_YZ },
        .param_va = 0x3000,
        .param_bytes = PPU_MAX_PARAM,
        .watchdog_ns = UINT64_MAX,
    };
}

struct wrong {
    uint16_t code;
    uint16_t offset; /* reported */
    uint16_t at;     /* bytes written over */
    uint8_t bytes;
    uint64_t value;
};

#define BAD(fault, field, value)                                                                 \
    {                                                                                            \
        PPU_FAULT_TMD_##fault, offsetof(struct ppu_tmd, field), offsetof(struct ppu_tmd, field), \
            sizeof(((struct ppu_tmd *)0)->field), value                                          \
    }

static const struct wrong wrongs[] = {
    BAD(VERSION, head.version, 0),
    BAD(VERSION, head.version, 2),
    BAD(VERSION, head.size_bytes, 0),
    BAD(VERSION, head.size_bytes, 193),
    BAD(KIND, kind, 0),
    BAD(KIND, kind, PPU_TMD_TASKQ + 1),
    BAD(TASKQ, taskq, 1),
    BAD(KIND, kind, 255),
    BAD(PRIORITY, priority, 8),
    BAD(PRIORITY, priority, 255),
    BAD(RESERVED, flags, PPU_TMD_CTA_GROUPS),
    BAD(RESERVED, flags, PPU_TMD_MAY_SHARE << 1 | PPU_TMD_MAY_WAIT),
    BAD(CORESIDENT, flags, PPU_TMD_CORESIDENT | PPU_TMD_MAY_WAIT),
    BAD(RESERVED, flags, 0x8000),
    BAD(SUBVECTOR, mode, PPU_MODES),
    BAD(SUBVECTOR, mode, 255),
    BAD(SUBVECTOR, miss_rate, PPU_MISS_RATE_MOST + 1),
    BAD(SUBVECTOR, miss_rate, PPU_MISS_BELOW - 1),
    BAD(SUBVECTOR, shared_vregs, 257),
    BAD(SUBVECTOR, shared_vregs, UINT16_MAX),
    BAD(CODE, code_va, 0),
    BAD(CODE, code_va, 0x10004),
    BAD(CODE, code_va, 1ull << 48),
    BAD(CODE, code_bytes, 0),
    BAD(CODE, code_bytes, 12),
    BAD(CODE, code_bytes, PPU_MAX_CODE + 8),
    BAD(CODE, entry, 800),
    BAD(CODE, entry, 4),
    BAD(CODE, entry, UINT32_MAX),
    BAD(WAVE, wave, 0),
    BAD(WAVE, wave, 16),
    BAD(WAVE, wave, 96),
    BAD(WAVE, wave, 255),
    BAD(CTA, cta[0], 0),
    BAD(CTA, cta[1], 0),
    BAD(CTA, cta[2], 0),
    BAD(CTA, cta[0], 1025),
    BAD(CTA, cta[1], UINT16_MAX),
    BAD(CTA, cta[2], 1025),
    { PPU_FAULT_TMD_CTA, offsetof(struct ppu_tmd, cta), offsetof(struct ppu_tmd, cta[1]), 2, 2 }, /* 2,048 threads */
    BAD(CTA, edge[0], 1025),
    BAD(CTA, edge[1], 2),
    BAD(CTA, edge[2], UINT16_MAX),
    BAD(GRID, grid[0], 0),
    BAD(GRID, grid[1], 0),
    BAD(GRID, grid[2], 0),
    BAD(GRID, grid[0], PPU_MAX_GRID_X + 1u),
    BAD(GRID, grid[1], PPU_MAX_GRID_YZ + 1),
    BAD(GRID, grid[2], UINT32_MAX),
    { PPU_FAULT_TMD_GRID, offsetof(struct ppu_tmd, grid), offsetof(struct ppu_tmd, kind), 1, PPU_TMD_TASKQ },
    BAD(RESOURCES, vregs, 0),
    BAD(RESOURCES, vregs, 33), /* 1,024 lanes of 33 registers do not fit 32,768 */
    BAD(RESOURCES, vregs, 257),
    BAD(RESOURCES, token_count, PPU_MAX_TOKENS + 1),
    BAD(RESOURCES, token_count, 201), /* times 1,024 lanes do not fit what an SM has */
    BAD(RESOURCES, shared_bytes, 64 * PPU_KIB + 1),
    BAD(RESOURCES, shared_bytes, UINT32_MAX),
    BAD(LOCAL, local_bytes, 8),
    BAD(LOCAL, local_bytes, PPU_MAX_LOCAL + 16),
    BAD(LOCAL, local_va, 0),
    BAD(LOCAL, local_va, 0x200008),
    BAD(LOCAL, local_size, 1024 * 16 - 1),
    BAD(LOCAL, local_size, UINT64_MAX),
    { PPU_FAULT_TMD_LOCAL, offsetof(struct ppu_tmd, local_va), offsetof(struct ppu_tmd, local_bytes), 4, 0 },
    BAD(PARAM, param_bytes, PPU_MAX_PARAM + 1),
    BAD(PARAM, param_va, 0x3008),
    BAD(PARAM, param_va, 0x0000fffffffffff0ull),
    BAD(RESERVED, reserved2, 1),
    BAD(RESERVED, reserved2, 0x8000),
};

/* A shape that has passed is not looked at again: `known` says whether the good one has, before each. */
static void name_wrong_fields(bool known)
{
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(wrongs); i++) {
        struct ppu_tmd tmd = good_tmd();
        tmd_init();
        if (known) {
            assert_int_equal(tmd_check(&tmd).code, 0);
        }
        memcpy((char *)&tmd + wrongs[i].at, &wrongs[i].value, wrongs[i].bytes);
        struct tmd_verdict verdict = tmd_check(&tmd);
        if (verdict.code != wrongs[i].code || verdict.offset != wrongs[i].offset) {
            fail_msg("row %u: fault %#x at %u, expected %#x at %u", i, verdict.code, verdict.offset, wrongs[i].code,
                     wrongs[i].offset);
        }
    }
}

static void every_wrong_field_is_named(void **state)
{
    (void)state;
    name_wrong_fields(false);
    name_wrong_fields(true);
}

/* What has no shape yet is not taken for one. */
static void zeros_are_no_shape(void **state)
{
    (void)state;
    const struct ppu_tmd zeros = { .grid = { 1, 1, 1 } };
    tmd_init();
    assert_int_equal(tmd_check(&zeros).code, PPU_FAULT_TMD_VERSION);
}

static void limits_are_inclusive(void **state)
{
    (void)state;
    struct ppu_tmd tmd = good_tmd();
    assert_int_equal(tmd_check(&tmd).code, 0);
    tmd.wave = 128;
    assert_int_equal(tmd_check(&tmd).code, 0);
    tmd.code_va = 0x0001000000000000ull - 800;
    assert_int_equal(tmd_check(&tmd).code, 0);
    tmd.code_va += 8;
    assert_int_equal(tmd_check(&tmd).code, PPU_FAULT_TMD_CODE);
    tmd = good_tmd();
    tmd.local_bytes = 0;
    tmd.local_va = 0;
    tmd.local_size = 0;
    tmd.param_bytes = 0;
    tmd.param_va = 0;
    assert_int_equal(tmd_check(&tmd).code, 0);
}

/* 33 threads take two warps of 32 lanes, or one of 64 or 128: counted in passes. */
static void partial_warps_count_whole(void **state)
{
    (void)state;
    static const struct {
        uint8_t wave;
        uint32_t warps;
        uint16_t code;
    } rows[] = { { 32, 2, 0 },
                 { 32, 1, PPU_FAULT_TMD_RESOURCES },
                 { 64, 2, 0 },
                 { 128, 4, 0 },
                 { 128, 3, PPU_FAULT_TMD_RESOURCES } };
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(rows); i++) {
        struct ppu_tmd tmd = good_tmd();
        tmd.cta[0] = 33;
        tmd.wave = rows[i].wave;
        caps.sm_warps = rows[i].warps;
        tmd_init();
        assert_int_equal(tmd_check(&tmd).code, rows[i].code);
    }
}

/* A device without sub-vector mode runs no task that shares registers or begins in the mode. */
static void without_subvector(void **state)
{
    struct ppu_tmd tmd = good_tmd();

    (void)state;
    tmd.vregs = 8;
    tmd.shared_vregs = 4;
    assert_int_equal(tmd_check(&tmd).code, 0);
    caps.features &= ~PPU_FEATURE_SUBVECTOR;
    tmd_init();
    assert_int_equal(tmd_check(&tmd).code, PPU_FAULT_TMD_SUBVECTOR);
    tmd.shared_vregs = 0;
    assert_int_equal(tmd_check(&tmd).code, 0);
    tmd.flags |= PPU_TMD_SUBVECTOR;
    assert_int_equal(tmd_check(&tmd).code, PPU_FAULT_TMD_SUBVECTOR);
    caps.features |= PPU_FEATURE_SUBVECTOR;
    assert_int_equal(tmd_check(&tmd).code, 0);
}

/* CTAs that would not fit an SM as wide ones are refused when the launch wants them wide, and no sooner. */
static void wide_ctas(void **state)
{
    struct ppu_tmd tmd = good_tmd();

    (void)state;
    tmd.wave = 128;
    tmd.vregs = 16;
    tmd.shared_vregs = 32; /* 24,576 registers of 32,768; 49,152 as a wide one */
    tmd.mode = PPU_MODE_NORMAL;
    assert_int_equal(tmd_check(&tmd).code, 0);
    tmd.flags |= PPU_TMD_MAY_SHARE;
    assert_int_equal(tmd_check(&tmd).code, PPU_FAULT_TMD_RESOURCES);
    tmd.mode = PPU_MODE_SUBVECTOR;
    assert_int_equal(tmd_check(&tmd).code, 0);
    tmd.mode = PPU_MODE_AUTO;
    assert_int_equal(tmd_check(&tmd).code, 0);
}

/* What passes is within every limit, whatever the bytes. */
static void random_bytes(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    uint32_t passed = 0;
    for (uint32_t i = 0; i < 200000; i++) {
        struct ppu_tmd tmd = good_tmd();
        uint32_t changes = random_below(&seed, 3);
        for (uint32_t n = 0; n < changes; n++) {
            ((uint8_t *)&tmd)[random_below(&seed, PPU_TMD_LAUNCHER_BYTES)] = (uint8_t)random_next(&seed);
        }
        if (tmd_check(&tmd).code) {
            continue;
        }
        passed++;
        uint64_t threads = (uint64_t)tmd.cta[0] * tmd.cta[1] * tmd.cta[2];
        assert_in_range(threads, 1, PPU_MAX_CTA_THREADS);
        assert_true(tmd.grid[0] && tmd.grid[1] && tmd.grid[2]);
        assert_true(threads * tmd.vregs <= caps.sm_vregs);
        assert_true(tmd.local_size >= threads * tmd.local_bytes);
        assert_true(tmd.param_bytes <= PPU_MAX_PARAM && tmd.entry < tmd.code_bytes);
    }
    assert_true(passed > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "every wrong field of a TMD is named by its fault [A11]", every_wrong_field_is_named, setup, NULL, NULL },
        { "a TMD of zeros is no known one [A11]", zeros_are_no_shape, setup, NULL, NULL },
        { "limits of a TMD are inclusive [A11]", limits_are_inclusive, setup, NULL, NULL },
        { "warps that are not full count whole [A14]", partial_warps_count_whole, setup, NULL, NULL },
        { "CTAs that a launch wants wide must fit so [D4][D8]", wide_ctas, setup, NULL, NULL },
        { "sub-vector mode is refused where the device has none [D10]", without_subvector, setup, NULL, NULL },
        { "what passes the checks is within the limits, for random bytes [A11]", random_bytes, setup, NULL, NULL },
    };
    return cmocka_run_group_tests_name("firmware: task descriptors", tests, NULL, NULL);
}
