/* SPDX-License-Identifier: MIT */
/*
 * Tests what warps find when they begin: zeros in every register (docs/spec/isa.md), whoever had the registers before.
 * Those of programs that write them first are not made zeros, which nobody may see.
 */
#include "ppu/macros.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"
#include "qemu-device/core/sm/sm.h"
#include "tests/engine/rig.h"

#include <stdio.h>

#define CTAS 40u
#define OUT_AT 0x10000u
#define JUNK 0x77777777u

/* Each thread stores v5 of the text, then fills its registers. `first`: the text writes them all
 * before it reads any. */
struct way {
    const char *text;
    uint32_t threads;
    uint32_t lanes; /* threads below have `value`, others 0 */
    uint32_t value;
    bool first;
};

static const struct way ways[] = {
    { "add v5, v5, 0\n", 128, 0, 0, false },
    { "mov v5, 3\n", 128, 128, 3, true },
    { "mov v5, 3\n", 100, 100, 3, false },                        /* a warp that is not whole */
    { "isetp.ltu p0, v1, 9\n@p0 mov v5, 3\n", 128, 9, 3, false }, /* some lanes write */
    { "isetp.ltu p0, v1, 9\n@!p0 bra over\nmov v5, 3\nover:\n", 128, 9, 3, false },
    { "mov v5, v6\n", 128, 0, 0, false },
    { "add64 v8, v2, v6\nmov v5, v9\n", 128, 0, 0, false }, /* half of a pair */
    { "mov v6, 3\nmov v7, 0\nadd64 v8, v6, v6\nmov v5, v8\n", 128, 128, 6, true },
    { "stl.b32 v5, [v2]\nldl.b32 v5, [v2]\n", 128, 0, 0, false }, /* stored before it is written */
    { "mov v6, 3\nstl.b32 v6, [v2]\nldl.b32 v5, [v2]\n", 128, 128, 3, true },
    { "mov v6, 0\nshfl v5, v5, v6\n", 128, 0, 0, false }, /* of another lane */
    { "mov s4, 3\nisetp.ltu p0, v1, 9\nmov v6, 3\nsel v5, v6, v2, p0\n", 128, 9, 3, true },
    { "readlane s4, v5, 3\nmov v5, s4\n", 128, 0, 0, false },
};

/* `fewer`: threads that the last CTA has not. */
static void run(struct rig *rig, const struct way *way, uint32_t wave, uint32_t fewer)
{
    const uint64_t data = DATA_VA;
    char text[1024];

    snprintf(text, sizeof(text),
             ".kernel k\n.vregs 10\n.local 16\nldp.b64 s0, [0]\nrdsr v1, %%tid.x\nmov v2, 0\nmov v3, 0\nmov v4, 0\n%s"
             "rdsr s6, %%cta.x\nmov s7, 512\nmul s6, s6, s7\nshl v1, v1, 2\nadd v1, v1, s6\n"
             "stg.b32 v5, [s0+v1+0x10000]\n"
             "mov v0, 0x77777777\nmov v1, v0\nmov v2, v0\nmov v3, v0\nmov v4, v0\nmov v5, v0\nmov v6, v0\nmov v7, v0\n"
             "mov v8, v0\nmov v9, v0\nexit\n",
             way->text);
    rig_load_text(rig, text);
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    tmd.wave = (uint8_t)wave;
    rig_shape(&tmd, CTAS, 1, way->threads, 1);
    tmd.edge[0] = (uint16_t)(way->threads - fewer);
    rig_params(rig, 0, &tmd, &data, sizeof(data));
    rig_run_done(rig, &tmd);
}

static void check_way(struct rig *rig, size_t n, uint32_t wave, uint32_t fewer)
{
    const struct sm_pool *pool = *core_sm_pool(rig->board->core);
    const struct way *const way = &ways[n];

    run(rig, way, wave, fewer);
    for (uint32_t i = 0; i < CTAS * way->threads - fewer; i++) {
        const uint32_t thread = i % way->threads, at = i / way->threads * 512 + thread * 4;
        const uint32_t seen = vram_read32(rig_data(rig, OUT_AT + at));

        if (seen != (thread < way->lanes ? way->value : 0)) {
            fail_msg("way %zu, waves of %u: thread %u of CTA %u has %#x", n, wave, thread, i / way->threads, seen);
        }
    }
    /* A whole warp of 32 needs no others. */
    assert_int_equal(pool->sm[0].program.writes_first, way->first || (way->threads % wave == 0 && n == 2));
}

static void registers_begin_as_zeros(void **state)
{
    for (size_t n = 0; n < PPU_ARRAY_SIZE(ways); n++) {
        for (uint32_t wave = PPU_LANES; wave <= PPU_MAX_WAVE; wave *= 2) {
            check_way(*state, n, wave, 0);
            check_way(*state, n, wave, 40);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "registers begin as zeros, whatever was there", registers_begin_as_zeros, rig_setup_slices, rig_teardown,
          NULL },
    };

    return cmocka_run_group_tests_name("engine: begin of warps", tests, NULL, NULL);
}
