/* SPDX-License-Identifier: MIT */
#include "tests/engine/worst.h"
#include "ppu/mmu.h"
#include "ppu/ring.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPEATS 4500u /* more than a turn has, so that no branch comes meanwhile */
#define TEXT_BYTES (1u << 18)
#define FAR_VA 0x100000000ull
#define FAR_TABLES 256u
#define FAR_AT (20u * PPU_MIB)
#define PAGES (PPU_PAGE_2M / PPU_PAGE_64K)

/* Lanes 2 MiB and 4 KiB apart: each finds a translation gone, and must compare neighbours up to the last. */
#define APART "mul v4, v0, 0x201000\nadd v5, v4, 0x10080000\nmov v6, v4\nmov v7, v5\n"
/* Returns to an address of each lane's own, past as many calls as the queue holds. */
#define CALLS "mov v10, 4000\npush: call v9, .+1\nsub v10, v10, 1\nisetp.ne p0, v10, 0\n@p0 bra push\nadd v10, v0, 60\n"

const struct worst worsts[WORSTS] = {
    { "gathers", APART, "gather.n4 v8, [s0+v4]", 1, false },
    { "gathers, caches modelled", APART, "gather.n4 v8, [s0+v4]", 1, true },
    { "loads", APART, "ldg.b128 v8, [s0+v4]", 1, false },
    { "stores", APART, "stg.b128 v8, [s0+v4]", 1, false },
    { "atomics", APART, "atomg.cas.b64.seq_cst.sys v8, [s0+v4], v12", 1, false },
    { "loads, few lanes", APART "isetp.ltu p1, v0, 20\n", "@p1 ldg.b32 v8, [s0+v4]", 1, false },
    { "quotients", "mov v4, -1\nmov v5, 0x7fffffff\nmov v6, 3\nmov v7, 0\n", "div64 v8, v4, v6", 32, false },
    { "sines", "mov v4, 0x7e000000\n", "fsin v8, v4", 32, false },
    { "conversions", "mov v4, 0x7fffffff\nmov v5, 0x7fe00000\n", "cvt.f16.f64.rtp v8, v4", 32, false },
    { "shuffles", "mov v4, v0\n", "shflx v8, v4, 77", 1, false },
    { "returns", CALLS, "ret v10", 1, false },
};

struct rig *worst_rig(const struct worst *worst, uint32_t sm_threads)
{
    struct core_config config = board_small_config(sm_threads);

    config.sms = 1;
    config.vram_bytes = 32 * PPU_MIB;
    config.cache_model = worst->cache_model;
    struct rig *rig = rig_new_config(&config);
    for (uint32_t table = 0; table < FAR_TABLES; table++) {
        for (uint32_t page = 0; page < PAGES; page++) {
            map_page(rig->board, CONTEXT, FAR_VA + (uint64_t)table * PPU_PAGE_2M + page * PPU_PAGE_64K,
                     FAR_AT + (page == PAGES - 1 ? 0 : page * PPU_PAGE_64K), PPU_PTE_64K,
                     PPU_PTE_WRITE | PPU_PTE_ATOMIC);
        }
    }
    return rig;
}

uint32_t worst_start(struct rig *rig, const struct worst *worst)
{
    const uint64_t params[1] = { FAR_VA };
    char *text = malloc(TEXT_BYTES);

    assert_non_null(text);
    size_t at = (size_t)snprintf(text, TEXT_BYTES,
                                 ".kernel k\n.vregs 16\nldp.b64 s0, [0]\nrdsr v0, %%tid\n%sagain: nop\n", worst->begin);
    for (uint32_t i = 0; i < REPEATS; i++) {
        at += (size_t)snprintf(text + at, TEXT_BYTES - at, "%s\n", worst->insn);
    }
    snprintf(text + at, TEXT_BYTES - at, "bra again\n");
    rig_load_text(rig, text);
    free(text);
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    tmd.wave = PPU_MAX_WAVE;
    tmd.token_count = PPU_MAX_TOKENS;
    rig_shape(&tmd, 1, 1, PPU_MAX_WAVE, 1);
    rig_params(rig, 0, &tmd, params, sizeof(params));
    rig_start(rig, 0, &tmd);
    return tmd.code_bytes / PPU_INSN_BYTES - REPEATS - 1;
}
