/* SPDX-License-Identifier: MIT */
/*
 * Decides whether the parts of a wave may run through code one after the other (D3), each all of it, with the same
 * results as together. A part sees no other: nothing inside may wait for another part, look at it, or leave something
 * behind that the next one reads.
 */
#ifndef COMPILER_MIR_SUBVECTOR_LEGALITY_H
#define COMPILER_MIR_SUBVECTOR_LEGALITY_H

#include "compiler/base/kernel.h"
#include "compiler/mir/pressure.h"

#define REFUSALS(X)                                 \
    X(NONE, "legal")                                \
    X(BARRIER, "barrier")                           \
    X(WAIT, "wait for children")                    \
    X(YIELD, "yield")                               \
    X(TASK, "launch")                               \
    X(LANES, "cross-lane operation")                \
    X(TIME, "device time")                          \
    X(SCALAR, "scalar result")                      \
    X(PREDICATE, "predicate carried between parts") \
    X(EXIT, "end of threads")                       \
    X(ENTERS, "jump into it")                       \
    X(LEAVES, "jump out of it")                     \
    X(MEETS, "lanes that meet outside of it")       \
    X(PARTED, "mask in a scalar register, warp parted")

enum refusal_kind {
#define REFUSAL(name, text) REFUSAL_##name,
    REFUSALS(REFUSAL)
#undef REFUSAL
};

struct refusal {
    enum refusal_kind kind;
    uint32_t point; /* what the refusal is about */
};

/* What a block refuses depends on where the code in question begins and ends among these. */
struct refusal_block {
    bool only_ends;                     /* mir_only_ends() */
    uint32_t first_target, last_target; /* of tokens that it pushes */
    uint32_t first_waited, last_waited; /* blocks that push what its edges wait for */
};

/* The code in question. */
struct refusal_code {
    struct mir *mir;
    const struct pressure *pressure;
    bool masks_scalar;                  /* segments keep masks in scalar registers (the loop form) */
    const enum refusal_kind *operation; /* of each point: what its instruction refuses wherever the code begins */
    const struct refusal_block *blocks;
};

/* The code may call functions of the kernel. The tables are in the compilation's arena, and hold until it changes. */
struct refusal_code refusal_code_new(struct mir *mir, const struct kernel_info *kernel, bool masks_scalar);

/* Says why the points [from, to) cannot be a segment, if they cannot. */
struct refusal refusal_of(const struct refusal_code *code, uint32_t from, uint32_t to);
/* Says the same of one instruction among them, where `from` is the first point. */
enum refusal_kind refusal_of_insn(const struct refusal_code *code, uint32_t point, uint32_t from);
const char *refusal_text(enum refusal_kind kind);

#endif
