/* SPDX-License-Identifier: MIT */
/* What divergence costs the host: one warp of 32 on one SM, in slices; rows as tests/bench/run wants them. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */

#include "tests/engine/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define RUNS 7u
#define ROUNDS 200000u
#define COUNTED_ROUNDS 2000u /* cost.py knows it */
#define PUSHES 2u            /* of a round of `tokens`: the join's and the branch's */

/* Half of the lanes branch away and meet the others again. */
static const char tokens[] = "ldp.b32 s0, [0]\nrdsr v0, %tid\nand v1, v0, 1\nisetp.eq p0, v1, 0\nmov s1, 0\n"
                             "loop: ssy join\n@p0 bra other\nsync join\nother: sync join\njoin: add s1, s1, 1\n"
                             "isetp.ltu.s p1, s1, s0\n@p1 bra loop\nexit\n";

/* Two halves that yield to each other. */
static const char yields[] =
    "ldp.b32 s0, [0]\nrdsr v0, %tid\nand v1, v0, 1\nisetp.eq p0, v1, 0\nmov v2, 0\n@p0 bra other\n"
    "loop: yield\nadd v2, v2, 1\nisetp.ltu p1, v2, s0\n@p1 bra loop\nexit\n"
    "other: yield\nadd v2, v2, 1\nisetp.ltu p1, v2, s0\n@p1 bra other\nexit\n";

static double now_s(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Median of the processor time that a run takes. */
static double seconds(const char *body)
{
    struct rig *rig = rig_new(0);
    uint32_t rounds = ROUNDS;
    double taken[RUNS];
    char text[1024];

    snprintf(text, sizeof(text), ".kernel k\n%s", body);
    rig_load_text(rig, text);
    for (uint32_t run = 0; run < RUNS; run++) {
        struct ppu_tmd tmd = rig_tmd(rig, "k");

        rig_params(rig, 0, &tmd, &rounds, sizeof(rounds));
        double before = now_s();
        rig_run_done(rig, &tmd);
        taken[run] = now_s() - before;
    }
    rig_free(rig);
    qsort(taken, RUNS, sizeof(taken[0]), compare);
    return taken[RUNS / 2];
}

/* What callgrind counts: the yields once, in queues of so many entries. */
static int count_yields(uint32_t entries)
{
    struct rig *rig = rig_new(0);
    uint32_t rounds = COUNTED_ROUNDS;
    char text[1024];

    snprintf(text, sizeof(text), ".kernel k\n%s", yields);
    rig_load_text(rig, text);
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    tmd.token_count = (uint16_t)entries;
    rig_params(rig, 0, &tmd, &rounds, sizeof(rounds));
    rig_run_done(rig, &tmd);
    rig_free(rig);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        return count_yields((uint32_t)strtoul(argv[1], NULL, 0));
    }
    printf("{\"name\": \"divergence.tokens_per_s\", \"value\": %.6g, \"unit\": \"1/s\", \"better\": \"higher\", "
           "\"note\": \"of processor time; pushed and popped again, loop included\"}\n",
           PUSHES * ROUNDS / seconds(tokens));
    printf("{\"name\": \"divergence.yield_ns\", \"value\": %.6g, \"unit\": \"ns\", \"better\": \"lower\", "
           "\"note\": \"of processor time; a yield between two halves of a warp, loop included\"}\n",
           seconds(yields) / (2 * ROUNDS) * 1e9);
    return 0;
}
