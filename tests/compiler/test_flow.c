/* SPDX-License-Identifier: MIT */
/*
 * Tests flow graphs: numbering, dominators, loops, where lanes meet, and random graphs against what "dominates" means.
 */
#include "tests/compiler/device.h"

#include "compiler/analysis/flow.h"
#include "ppu/macros.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BLOCKS 24u
#define GRAPHS 3000u

struct graph {
    uint32_t count;
    uint32_t succ[MAX_BLOCKS][2];
    uint32_t succs[MAX_BLOCKS];
};

struct built {
    struct arena arena;
    jmp_buf no_memory;
    struct flow *flow;
    uint32_t order[MAX_BLOCKS];
};

static void build(struct built *b, const struct graph *g)
{
    *b = (struct built){ .flow = NULL };
    b->arena.no_memory = &b->no_memory;
    if (setjmp(b->no_memory) != 0) {
        fail_msg("no memory");
    }
    b->flow = flow_new(&b->arena, g->count, g->succ, g->succs, b->order);
}

/* ---- graphs whose answer is known ---- */

struct known {
    const char *what;
    struct graph graph;
    uint32_t divergent; /* blocks, as bits, whose branch parts the warp */
    uint32_t breaks;    /* blocks with a yield or a barrier */
    const char *expected;
    uint32_t busy; /* blocks with enough to do to meet there early; the others have nothing to do */
};

static const struct known knowns[] = {
    { "a diamond",
      { 4, { { 1, 2 }, { 3 }, { 3 } }, { 2, 1, 1, 0 } },
      1,
      0,
      "flow of g\n"
      "  b0: depth 0, idom b0, convergent -> b1 b2\n"
      "  b1: depth 0, idom b0, divergent -> b3 (sync)\n"
      "  b2: depth 0, idom b0, divergent -> b3 (sync)\n"
      "  b3: depth 0, idom b0, convergent ->\n"
      "  ssy at b0 for b3\n",
      0 },
    { "a diamond that parts nobody",
      { 4, { { 1, 2 }, { 3 }, { 3 } }, { 2, 1, 1, 0 } },
      0,
      0,
      "flow of g\n"
      "  b0: depth 0, idom b0, convergent -> b1 b2\n"
      "  b1: depth 0, idom b0, convergent -> b3\n"
      "  b2: depth 0, idom b0, convergent -> b3\n"
      "  b3: depth 0, idom b0, convergent ->\n",
      0 },
    { "a yield where lanes have parted",
      { 4, { { 1, 2 }, { 3 }, { 3 } }, { 2, 1, 1, 0 } },
      1,
      2,
      "flow of g\n"
      "  b0: depth 0, idom b0, convergent -> b1 b2\n"
      "  b1: depth 0, idom b0, divergent -> b3 (sync)\n"
      "  b2: depth 0, idom b0, divergent -> b3 (sync)\n"
      "  b3: depth 0, idom b0, divergent ->\n"
      "  ssy at b0 for b3\n",
      0 },
    { "a loop that lanes leave at different times",
      { 4, { { 1 }, { 1, 2 }, { 3 } }, { 1, 2, 1, 0 } },
      2,
      0,
      "flow of g\n"
      "  b0: depth 0, idom b0, convergent -> b1\n"
      "  b1: depth 1, idom b0, divergent -> b1 b2 (brk)\n"
      "  b2: depth 0, idom b1, convergent -> b3\n"
      "  b3: depth 0, idom b2, convergent ->\n"
      "  pbrk at b0 for b2\n",
      0 },
    /* 0 - 1 header; 1 to 2 and out to 5; 2 branches to 3 and 4, 3 breaks to 5; 4 latch */
    { "a loop with a break inside a branch",
      { 6, { { 1 }, { 2, 5 }, { 3, 4 }, { 4, 5 }, { 1 } }, { 1, 2, 2, 2, 1, 0 } },
      (1u << 1) | (1u << 2) | (1u << 3),
      0,
      "flow of g\n"
      "  b0: depth 0, idom b0, convergent -> b1\n"
      "  b1: depth 1, idom b0, divergent -> b2 b5 (brk)\n"
      "  b2: depth 1, idom b1, divergent -> b3 b4 (sync)\n"
      "  b3: depth 1, idom b2, divergent -> b4 (sync) b5 (brk)\n"
      "  b4: depth 1, idom b2, divergent -> b1\n"
      "  b5: depth 0, idom b1, convergent ->\n"
      "  ssy at b2 for b4\n"
      "  pbrk at b0 for b5\n",
      0 },
    /* 0 goes to 1 or 3, 1 to 2 or 3: two ways lead to 3 */
    { "a side that two conditions lead to",
      { 5, { { 1, 3 }, { 2, 3 }, { 4 }, { 4 } }, { 2, 2, 1, 1, 0 } },
      (1u << 0) | (1u << 1),
      0,
      "flow of g\n"
      "  b0: depth 0, idom b0, convergent -> b1 b3 (sync)\n"
      "  b1: depth 0, idom b0, divergent -> b2 b3 (sync)\n"
      "  b2: depth 0, idom b1, divergent -> b4 (sync)\n"
      "  b3: depth 0, idom b0, divergent -> b4 (sync)\n"
      "  b4: depth 0, idom b0, convergent ->\n"
      "  ssy at b0 for b4\n"
      "  ssy at b0 for b3\n",
      1u << 3 },
    /* the first parts nobody, so it has no token that the second shares */
    { "a side that two conditions lead to, of which one parts nobody",
      { 5, { { 1, 2 }, { 2, 3 }, { 4 }, { 4 } }, { 2, 2, 1, 1, 0 } },
      1u << 1,
      0,
      "flow of g\n"
      "  b0: depth 0, idom b0, convergent -> b1 b3\n"
      "  b1: depth 0, idom b0, convergent -> b3 b2\n"
      "  b2: depth 0, idom b1, divergent -> b4 (sync)\n"
      "  b3: depth 0, idom b0, divergent -> b4 (sync)\n"
      "  b4: depth 0, idom b0, divergent ->\n"
      "  ssy at b1 for b4\n",
      0 },
    /* 0 - 1 header; 1 to 2 or 3, 3 to 4 or to the latch 6; 2 and 4 share 5 */
    { "a choice of three in a loop, of which two share an end",
      { 8, { { 1 }, { 2, 3 }, { 5 }, { 4, 6 }, { 5 }, { 6 }, { 1, 7 } }, { 1, 2, 1, 2, 1, 1, 2, 0 } },
      (1u << 1) | (1u << 3),
      0,
      "flow of g\n"
      "  b0: depth 0, idom b0, convergent -> b1\n"
      "  b1: depth 1, idom b0, convergent -> b2 b3\n"
      "  b2: depth 1, idom b1, divergent -> b5\n"
      "  b3: depth 1, idom b1, divergent -> b4 b6 (sync)\n"
      "  b4: depth 1, idom b3, divergent -> b5\n"
      "  b5: depth 1, idom b1, divergent -> b6 (sync)\n"
      "  b6: depth 1, idom b1, convergent -> b1 b7\n"
      "  b7: depth 0, idom b6, convergent ->\n"
      "  ssy at b1 for b6\n",
      0 },
    /* 1 leaves to 3, 2 to 4 */
    { "a loop with two ways out, with something to do on each",
      { 6, { { 1 }, { 2, 3 }, { 1, 4 }, { 5 }, { 5 } }, { 1, 2, 2, 1, 1, 0 } },
      (1u << 1) | (1u << 2),
      0,
      "flow of g\n"
      "  b0: depth 0, idom b0, convergent -> b1\n"
      "  b1: depth 1, idom b0, divergent -> b2 b4 (brk)\n"
      "  b2: depth 1, idom b1, divergent -> b1 b3 (brk)\n"
      "  b3: depth 0, idom b2, divergent -> b5 (brk)\n"
      "  b4: depth 0, idom b1, divergent -> b5 (brk)\n"
      "  b5: depth 0, idom b1, convergent ->\n"
      "  pbrk at b0 for b5\n"
      "  pbrk at b0 for b4\n"
      "  pbrk at b0 for b3\n",
      (1u << 3) | (1u << 4) },
    /* 1 is the outer loop's header; the inner one, 2 and 3, is left to 4 or to 5, the end of the outer's turn */
    { "a loop that is left for the next turn of the loop around it",
      { 7, { { 1 }, { 2 }, { 3, 5 }, { 2, 4 }, { 5 }, { 1, 6 } }, { 1, 1, 2, 2, 1, 2, 0 } },
      (1u << 2) | (1u << 3),
      0,
      "flow of g\n"
      "  b0: depth 0, idom b0, convergent -> b1\n"
      "  b1: depth 1, idom b0, convergent -> b2\n"
      "  b2: depth 2, idom b1, divergent -> b3 b5 (cont)\n"
      "  b3: depth 2, idom b2, divergent -> b2 b4 (brk)\n"
      "  b4: depth 1, idom b3, divergent -> b5 (cont)\n"
      "  b5: depth 1, idom b2, convergent -> b1 b6\n"
      "  b6: depth 0, idom b5, convergent ->\n"
      "  pcont at b1 for b5\n"
      "  pbrk at b1 for b4\n",
      1u << 4 },
};

static void set_flags(bool *flags, uint32_t bits, const struct built *b)
{
    for (uint32_t i = 0; i < b->flow->count; i++) {
        flags[i] = bits >> b->order[i] & 1;
    }
}

static void set_work(uint32_t *work, uint32_t bits, const struct built *b)
{
    for (uint32_t i = 0; i < b->flow->count; i++) {
        work[i] = (bits >> b->order[i] & 1) != 0 ? 4 : 0;
    }
}

static uint32_t check_known(const struct known *known)
{
    struct built b;
    bool divergent[MAX_BLOCKS], breaks[MAX_BLOCKS];
    uint32_t work[MAX_BLOCKS];
    char *text = NULL;
    size_t len;
    FILE *file = open_memstream(&text, &len);

    assert_non_null(file);
    build(&b, &known->graph);
    assert_non_null(b.flow);
    set_flags(divergent, known->divergent, &b);
    set_flags(breaks, known->breaks, &b);
    set_work(work, known->busy, &b);
    b.flow->work = work;
    flow_reconverge(b.flow, divergent, breaks);
    flow_print(b.flow, "g", file);
    fclose(file);
    bool same = strcmp(text, known->expected) == 0;
    if (!same) {
        print_error("%s:\n%s", known->what, text);
    }
    free(text);
    arena_free(&b.arena);
    return !same;
}

static void known_graphs(void **state)
{
    uint32_t misses = 0;

    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(knowns); i++) {
        misses += check_known(&knowns[i]);
    }
    assert_int_equal(misses, 0);
}

static void two_entries(void **state)
{
    static const struct graph graph = { 3, { { 1, 2 }, { 2 }, { 1 } }, { 2, 1, 1 } };
    struct built b;

    (void)state;
    build(&b, &graph);
    assert_null(b.flow);
    arena_free(&b.arena);
}

/* ---- random graphs ---- */

static uint32_t below(uint64_t *random, uint32_t n)
{
    return (uint32_t)(random_next(random) >> 9) % n;
}

static struct graph random_graph(uint64_t *random)
{
    struct graph g = { .count = 2 + below(random, MAX_BLOCKS - 2) };

    for (uint32_t b = 0; b < g.count; b++) {
        g.succs[b] = b + 1 == g.count ? 0 : 1 + below(random, 2);
        for (uint32_t s = 0; s < g.succs[b]; s++) {
            /* Edges mostly go forwards, and never to the entry. */
            g.succ[b][s] =
                below(random, 5) == 0 ? 1 + below(random, g.count - 1) : b + 1 + below(random, g.count - b - 1);
        }
        if (g.succs[b] == 2 && g.succ[b][0] == g.succ[b][1]) {
            g.succs[b] = 1;
        }
    }
    return g;
}

/* Blocks that the entry reaches without passing `without`. */
static uint32_t reached(const struct flow *flow, uint32_t without)
{
    uint32_t set = without == 0 ? 0 : 1;
    bool changed = true;

    while (changed) {
        changed = false;
        for (uint32_t b = 0; b < flow->count; b++) {
            for (uint32_t s = 0; set >> b & 1 && s < flow->blocks[b].succs; s++) {
                uint32_t to = flow->blocks[b].succ[s];
                changed |= to != without && !(set >> to & 1);
                set |= to != without ? 1u << to : 0;
            }
        }
    }
    return set;
}

static bool reaches(const struct flow *flow, uint32_t from, uint32_t to)
{
    uint32_t set = 1u << from, before = 0;

    while (set != before) {
        before = set;
        for (uint32_t b = 0; b < flow->count; b++) {
            for (uint32_t s = 0; set >> b & 1 && s < flow->blocks[b].succs; s++) {
                set |= 1u << flow->blocks[b].succ[s];
            }
        }
    }
    return set >> to & 1;
}

static void check_graph(const struct flow *flow)
{
    for (uint32_t a = 0; a < flow->count; a++) {
        uint32_t others = reached(flow, a);
        for (uint32_t b = 0; b < flow->count; b++) {
            assert_int_equal(flow_dominates(flow, a, b), !(others >> b & 1));
        }
        for (uint32_t s = 0; s < flow->blocks[a].succs; s++) {
            uint32_t to = flow->blocks[a].succ[s];
            if (to <= a) { /* an edge back: its target is the header of a loop that has its start */
                uint32_t loop = flow->blocks[to].loop;
                assert_true(loop != FLOW_NONE && flow->loops[loop].header == to && flow_in_loop(flow, loop, a));
            }
        }
    }
}

/* Every wait names a token of its target, which lies behind the block that pushes it. */
static void check_tokens(const struct flow *flow)
{
    for (uint32_t b = 0; b < flow->count; b++) {
        for (uint32_t s = 0; s < flow->blocks[b].succs; s++) {
            const struct flow_token *token = flow_wait(flow, b, flow->blocks[b].succ[s]);
            assert_true(!token || token->target == flow->blocks[b].succ[s]);
            assert_true(!token || reaches(flow, token->block, token->target));
        }
    }
}

static void random_graphs(void **state)
{
    const char *text = getenv("PPU_SEED");
    uint64_t random = text ? strtoull(text, NULL, 0) : 1;
    uint32_t reducible = 0;

    (void)state;
    for (uint32_t i = 0; i < GRAPHS; i++) {
        struct graph g = random_graph(&random);
        struct built b;
        bool divergent[MAX_BLOCKS], breaks[MAX_BLOCKS] = { false };
        uint32_t work[MAX_BLOCKS];
        build(&b, &g);
        if (b.flow) {
            reducible++;
            check_graph(b.flow);
            set_flags(divergent, (uint32_t)random_next(&random), &b);
            set_work(work, (uint32_t)random_next(&random), &b);
            b.flow->work = work;
            flow_reconverge(b.flow, divergent, breaks);
            check_tokens(b.flow);
        }
        arena_free(&b.arena);
    }
    assert_true(reducible > GRAPHS / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "lanes meet where all of them pass, and early where enough follows [E3][E11]", known_graphs, NULL, NULL,
          NULL },
        { "a loop with two entries is refused", two_entries, NULL, NULL, NULL },
        { "dominators and loops of random graphs are what they mean [E11]", random_graphs, NULL, NULL, NULL },
    };

    return cmocka_run_group_tests_name("compiler: flow graphs", tests, NULL, NULL);
}
