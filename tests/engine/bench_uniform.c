/* SPDX-License-Identifier: MIT */
/*
 * Kernels whose warps never diverge, for callgrind: linked with the engine as it is and with uniform_branch.c in the
 * place of engine/branch.c. The argument is the number of turns of the kernel's loop.
 */
#include "tests/engine/rig.h"

#include <stdio.h>
#include <stdlib.h>

/* The inner loop of a matrix product: two loads, a product, the loop. */
static const char kernel[] =
    ".kernel k\n.vregs 16\nldp.b64 s0, [0]\nldp.b32 s2, [8]\nrdsr v0, %tid\nrdsr s3, %cta.x\nrdsr s4, %ntid.x\n"
    "mad v0, s3, s4, v0\nshl v1, v0, 2\nmov v2, 0\nmov v3, 0\nisetp.eq.s p0, s2, 0\n@p0 bra done\n"
    "loop: ldg.b32 v4, [s0+v1]\nldg.b32 v5, [s0+v3]\nffma v2, v4, v5, v2\nadd v3, v3, 4\nsub s2, s2, 1\n"
    "isetp.ne.s p0, s2, 0\n@p0 bra loop\ndone: stg.b32 v2, [s0+v1]\nexit\n";

int main(int argc, char **argv)
{
    struct {
        uint64_t data;
        uint32_t turns;
        uint32_t zero;
    } params = { DATA_VA, argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1, 0 };
    struct rig *rig = rig_new(0);

    rig_load_text(rig, kernel);
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    rig_shape(&tmd, 24, 1, 64, 1);
    rig_params(rig, 0, &tmd, &params, sizeof(params));
    rig_run_done(rig, &tmd);
    rig_free(rig);
    return 0;
}
