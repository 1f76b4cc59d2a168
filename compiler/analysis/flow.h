/* SPDX-License-Identifier: MIT */
/*
 * Builds the flow graph of a kernel over its basic blocks, and finds where the lanes of a warp reconverge (E3, E11).
 *
 * Blocks are numbered in reverse postorder, the blocks of a loop next to each other: this is also their order in the
 * code. Each block has at most two successors. Loops have a preheader and one latch, and the graph is reducible: the
 * passes that make the IR see to that.
 *
 * A token is pushed at the end of a block for the lanes of a warp that part there, or in the loop that follows, and
 * names the block where they meet: the nearest one that all of them pass (post-dominator), within the innermost loop
 * that has both. Edges of the token's region into that block wait for the token. Where only some of them pass, each on
 * a way or at a time of its own, these have a token too when enough follows: a side that several conditions lead to, or
 * what a loop does on one of its ways out.
 */
#ifndef COMPILER_ANALYSIS_FLOW_H
#define COMPILER_ANALYSIS_FLOW_H

#include "compiler/base/compilation.h"

#define FLOW_NONE 0xffffffffu

struct flow_block {
    uint32_t succ[2];
    uint32_t succs;
    uint32_t *preds;
    uint32_t pred_count;
    uint32_t idom; /* immediate dominator; the entry's is itself */
    /* In a walk that visits each block right before all that it dominates; how many these are, with itself. */
    uint32_t dom_number, dom_count;
    uint32_t loop; /* innermost loop, FLOW_NONE */
};

struct flow_loop {
    uint32_t header;
    uint32_t preheader;
    uint32_t parent; /* FLOW_NONE */
    uint32_t depth;  /* 1 outermost */
    uint32_t end;    /* first number behind its blocks */
};

/* Which token: SSY and SYNC; of a loop PBRK and BRK, or PCONT and CONT when that ends a turn of the one around. */
enum flow_meeting { FLOW_JOIN, FLOW_BREAK, FLOW_CONTINUE };

/* Blocks as bits. Memory is that of the numbers between the ends alone: regions are many, and most are small. */
struct flow_region {
    uint32_t begin, end; /* first number, a multiple of 64, and the one behind the last */
    uint64_t *bits;
};

/* Where lanes that part meet again. */
struct flow_token {
    uint32_t block;  /* pushed at its end */
    uint32_t target; /* the block where they meet */
    enum flow_meeting meeting;
    bool early;                /* for those that pass the block before all meet, and only some of them do */
    struct flow_region region; /* blocks that may wait for it */
};

struct flow {
    struct arena *arena;
    uint32_t count;
    struct flow_block *blocks;
    uint32_t loop_count;
    unsigned loop_cap;
    struct flow_loop *loops; /* outer before inner */
    bool parted;             /* the warp may have parted before the first block: no block is convergent */
    const bool *ends;        /* blocks with nothing but the end of the thread, and those `guarded`; NULL: none */
    const bool *guarded;     /* blocks that if-conversion guards, and whose threads end then; NULL: none */
    const bool *divergent;   /* blocks whose branch may part a warp; NULL: it is not known */
    bool loops_diverge;      /* lanes of a warp may leave a loop at different turns; said with `divergent` */
    const bool *yields;      /* blocks with a yield, which lanes that are together may leave apart; NULL: none */
    const uint32_t *work;    /* instructions of each block; NULL: lanes meet only where all of them pass */
    bool *convergent;        /* all living lanes of the warp pass the block together, each time */
    bool *leaks;             /* regions cross at its branch: what follows is not convergent */
    struct flow_token *tokens;
    uint32_t token_count;
    uint32_t early_count; /* of them */
    unsigned token_cap;
};

/*
 * Numbers the blocks of a graph given by successors. `order` receives, for each new number, the old one; what cannot
 * be reached gets none. NULL: the graph is irreducible.
 */
struct flow *flow_new(struct arena *arena, uint32_t count, const uint32_t (*succ)[2], const uint32_t *succs,
                      uint32_t *order);

/*
 * Places tokens for the blocks whose branch may part a warp and finds out which blocks are convergent. `breaks[b]`:
 * the block has an instruction (yield, barrier) after which lanes that part do not meet at their token.
 */
void flow_reconverge(struct flow *flow, const bool *divergent, const bool *breaks);

/* A copy whose edges and tokens may change; regions are shared. */
struct flow *flow_copy(const struct flow *flow);
/*
 * Makes a block go on to `join`, to which all its ways lead through the blocks `inside`, without a loop. Nothing leads
 * to these then, and tokens that lanes met at on the way are gone.
 */
void flow_bypass(struct flow *flow, uint32_t block, const uint32_t *inside, uint32_t count, uint32_t join);

/* Makes a block that goes on to one block branch to it or, as its first successor, to `end`, which ends the thread. */
void flow_part(struct flow *flow, uint32_t block, uint32_t end);

/* True when some token is pushed at the end of the block. */
bool flow_has_token(const struct flow *flow, uint32_t block);
/* True when lanes that come to the token's target from the block wait for it. */
bool flow_may_wait(const struct flow_token *token, uint32_t from);
/* The token that an edge waits for, NULL: none. */
const struct flow_token *flow_wait(const struct flow *flow, uint32_t from, uint32_t to);

bool flow_dominates(const struct flow *flow, uint32_t a, uint32_t b);
uint32_t flow_depth(const struct flow *flow, uint32_t block);
bool flow_in_loop(const struct flow *flow, uint32_t loop, uint32_t block);
void flow_print(const struct flow *flow, const char *name, FILE *file);

#endif
