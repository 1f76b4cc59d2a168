/* SPDX-License-Identifier: MIT */
/*
 * Kernels whose counting callgrind measures: linked with the engine as it is, and with one that does not count
 * (ENGINE_UNCOUNTED). The argument is the kernel's name.
 */
#include "ppu/macros.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/turn.h"
#include "tests/engine/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD                                                                                                        \
    ".kernel k\n.vregs 16\nldp.b64 s0, [0]\nrdsr v0, %tid\nrdsr s3, %cta.x\nrdsr s4, %ntid.x\nmad v0, s3, s4, v0\n" \
    "shl v1, v0, 2\n"

static const struct {
    const char *name;
    const char *text;
} kernels[] = {
    /* It loads a row of each of two arrays, and stores a row. */
    { "saxpy", HEAD "ldg.b32 v4, [s0+v1]\nldg.b32 v5, [s0+v1+0x20000]\nffma v4, v4, v5, v5\n"
                    "stg.b32 v4, [s0+v1+0x20000]\nexit\n" },
    /* It is the inner loop of a matrix product: loads a row, and one word for all. */
    { "product", HEAD "mov v2, 0\nmov v3, 0\nmov s2, 64\n"
                      "loop: ldg.b32 v4, [s0+v1]\nldg.b32 v5, [s0+v3]\nffma v2, v4, v5, v2\nadd v3, v3, 4\n"
                      "sub s2, s2, 1\nisetp.ne.s p0, s2, 0\n@p0 bra loop\nstg.b32 v2, [s0+v1]\nexit\n" },
    /* It lets lanes leave a loop one after the other, as those of an escape-time fractal do. */
    { "escape", HEAD "and v2, v0, 31\nmov v3, 0\nmov v4, 0x3fc00000\npbrk out\n"
                     "loop: ffma v4, v4, v4, v4\nffma v4, v4, v4, v4\nffma v4, v4, v4, v4\nadd v3, v3, 1\n"
                     "isetp.gt p0, v3, v2\n@p0 brk out\nbra loop\nout: stg.b32 v3, [s0+v1]\nexit\n" },
    /* It lets fewer and fewer lanes follow chains anywhere, as those of a search in a graph do. */
    { "search", HEAD "and v2, v0, 15\nmov v3, v0\npbrk out\n"
                     "loop: mul v3, v3, 0x9e5\nand v3, v3, 0x3fff\nshl v5, v3, 2\nldg.b32 v6, [s0+v5]\n"
                     "add v3, v3, v6\nsub v2, v2, 1\nisetp.lt p0, v2, 0\n@p0 brk out\nbra loop\n"
                     "out: stg.b32 v3, [s0+v1]\nexit\n" },
    /* Additions anywhere. */
    { "histogram", HEAD "mul v3, v0, 0x9e5\nand v3, v3, 0xff\nshl v3, v3, 2\nmov v4, 1\n"
                        "atomg.add _, [s0+v3], v4\nexit\n" },
};

/* In turns as long as those of SMs on threads: slices would count every few instructions. */
static void run_whole_turns(struct rig *rig)
{
    struct sm_pool *pool = *core_sm_pool(rig->board->core);
    bool busy = true;

    while (busy) {
        busy = false;
        for (uint32_t i = 0; i < pool->sms; i++) {
            enum sm_activity activity;

            sm_run(&pool->sm[i], SM_SLICE_NS, &activity);
            busy |= activity == SM_BUSY;
        }
    }
}

int main(int argc, char **argv)
{
    struct {
        uint64_t data;
        uint64_t zero;
    } params = { DATA_VA, 0 };
    struct rig *rig = rig_new(0);
    size_t i = 0;

    while (i < PPU_ARRAY_SIZE(kernels) && (argc < 2 || strcmp(argv[1], kernels[i].name) != 0)) {
        i++;
    }
    if (i == PPU_ARRAY_SIZE(kernels)) {
        fprintf(stderr, "bench-counters: no such kernel\n");
        return 2;
    }
    rig_load_text(rig, kernels[i].text);
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    rig_shape(&tmd, 64, 1, 128, 1);
    rig_params(rig, 0, &tmd, &params, sizeof(params));
    rig_start(rig, 0, &tmd);
    run_whole_turns(rig);
    rig_done(rig);
    rig_free(rig);
    return 0;
}
