/* SPDX-License-Identifier: MIT */
/*
 * Measures what divergence costs the host: one warp of 32 on one SM, in slices, in rows as tests/bench/run wants them.
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */

#include "tests/engine/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* All lanes yield together: nobody else is there to have a turn. */
static const char together[] = "ldp.b32 s0, [0]\nmov v2, 0\n"
                               "loop: yield\nadd v2, v2, 1\nisetp.ltu p1, v2, s0\n@p1 bra loop\nexit\n";

/* So many lanes wait with a token each, the last one asks for a token that is not there, and the others have ended. */
static const char waits[] = "ldp.b64 s0, [0]\nrdsr v0, %tid\nmov s2, 0\n"
                            "isetp.geu p2, v0, s1\nisetp.ltu p3, v0, 31\npand p2, p2, p3\n@p2 exit\n"
                            "dig: isetp.eq p0, v0, s2\n@p0 bra away\nadd s2, s2, 1\nisetp.ltu.s p1, s2, s1\n"
                            "@p1 bra dig\nmov s2, 0\nloop: sync next\nnext: add s2, s2, 1\n"
                            "isetp.ltu.s p1, s2, s0\n@p1 bra loop\naway: exit\n";

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

/* What callgrind counts: a kernel once, in queues of so many entries. */
static int run_once(const char *body, uint32_t entries, uint32_t chance, const uint32_t params[2])
{
    struct rig *rig = rig_new(0);
    char text[1024];

    snprintf(text, sizeof(text), ".kernel k\n%s", body);
    rig_load_text(rig, text);
    struct ppu_tmd tmd = rig_tmd(rig, "k");
    tmd.token_count = (uint16_t)entries;
    mcu_write(rig->board, PPU_REG_YIELD_CHANCE, chance);
    rig_params(rig, 0, &tmd, params, 2 * sizeof(params[0]));
    rig_run_done(rig, &tmd);
    rig_free(rig);
    return 0;
}

static uint32_t number(const char *text)
{
    return (uint32_t)strtoul(text, NULL, 0);
}

/* cost.py calls it as `waits LANES ROUNDS`, `yields ENTRIES CHANCE` or `together ENTRIES CHANCE`. */
int main(int argc, char **argv)
{
    if (argc == 4) {
        const uint32_t first = number(argv[2]), second = number(argv[3]);

        return strcmp(argv[1], "waits") == 0 ? run_once(waits, 0, 0, (uint32_t[]){ second, first })
                                             : run_once(strcmp(argv[1], "together") == 0 ? together : yields, first,
                                                        second, (uint32_t[]){ COUNTED_ROUNDS, 0 });
    }
    printf("{\"name\": \"divergence.tokens_per_s\", \"value\": %.6g, \"unit\": \"1/s\", \"better\": \"higher\", "
           "\"note\": \"of processor time; pushed and popped again, loop included\"}\n",
           PUSHES * ROUNDS / seconds(tokens));
    printf("{\"name\": \"divergence.yield_ns\", \"value\": %.6g, \"unit\": \"ns\", \"better\": \"lower\", "
           "\"note\": \"of processor time; a yield between two halves of a warp, loop included\"}\n",
           seconds(yields) / (2 * ROUNDS) * 1e9);
    return 0;
}
