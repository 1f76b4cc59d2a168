/* SPDX-License-Identifier: MIT */
/*
 * Chooses the segments of a kernel that parts of a wave run through one after the other (D9). Code is divided into
 * pieces, each of which needs some number of vector registers. Pieces that need more than the threshold and may be
 * given to the parts become segments; neighbours become one segment.
 *
 * Pieces are loops and branches with all their sides, called functions, and between these runs of instructions: those
 * above the threshold and those that are not, or of a given length. What may not be given to the parts as a whole is
 * divided: a loop into the pieces of its body, a branch into its blocks, a run at the instruction that stands in the
 * way.
 */
#ifndef COMPILER_MIR_SUBVECTOR_PARTITION_H
#define COMPILER_MIR_SUBVECTOR_PARTITION_H

#include "compiler/mir/subvector/legality.h"

/* Slots [from, to) of struct pressure. */
struct segment {
    uint32_t from, to;
    uint32_t need;  /* vector registers, at most */
    uint32_t level; /* neighbours of one level may be joined */
    struct refusal refusal;
};

struct segment_list {
    struct segment *at;
    uint32_t count;
    unsigned cap;
};

/* Estimates what the segments cost and save. */
struct segment_estimate {
    uint32_t private;  /* vector registers that each part has */
    uint32_t shared;   /* and that all parts have together */
    double issues;     /* of instructions, of the kernel without segments, weighed by loops */
    double more;       /* that segments add */
    uint32_t resident; /* waves that fit an SM */
};

struct segment_plan {
    struct segment_list pieces;  /* legal ones, in the order of the code */
    struct segment_list refused; /* candidates above the threshold, in that order */
    struct segment_list chosen;
    uint32_t threshold;
    struct segment_estimate estimate;
    const struct pressure *pressure; /* of the code before segments were put into it */
};

struct segment_limits {
    uint32_t parts;    /* of a wave */
    uint32_t run;      /* instructions of a run; 0: up to where the need crosses the threshold */
    uint32_t sm_vregs; /* vector registers of an SM, over all lanes */
    uint32_t sm_warps; /* that an SM holds, in passes of 32 lanes */
    bool shares;       /* parts share registers inside segments */
};

/* The plan for one threshold: pieces that need strictly more. */
struct segment_plan *segment_plan(const struct refusal_code *code, const struct segment_limits *limits,
                                  uint32_t threshold);
/*
 * The plan whose threshold lets the most waves be resident, of those that add at most SEGMENT_MAX_MORE of the issues;
 * of several such the one that adds least. No threshold above `highest` is tried.
 */
struct segment_plan *segment_plan_best(const struct refusal_code *code, const struct segment_limits *limits,
                                       uint32_t highest);
#define SEGMENT_MAX_MORE 0.05

/* Registers over all lanes that a wave takes, in the lanes of one part. */
static inline uint32_t segment_footprint(uint32_t parts, uint32_t private, uint32_t shared)
{
    return parts * private + shared;
}

#endif
