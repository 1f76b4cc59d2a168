/* SPDX-License-Identifier: MIT */
/*
 * Checks the sub-vector loops of a program before it runs (D7): a loop has one begin and one end, which name each
 * other; it is entered at its begin and left at its end; and nothing in it waits for, ends or disables lanes of the
 * whole warp. Only code that a kernel can reach is looked at, as constants lie among it. What indirect branches outside
 * of loops lead to is not known and not looked at: the device runs any loop without losing a lane.
 */
#ifndef PPU_LOOP_CHECK_H
#define PPU_LOOP_CHECK_H

#include "ppu/isa.h"
#include "ppu/token.h"

#define PPU_LOOP_NONE UINT32_MAX

/* Flags of an instruction that was reached. */
#define PPU_LOOP_REACHED (1u << 0)
#define PPU_LOOP_CALLED (1u << 2)            /* by a function that a loop calls */
#define PPU_LOOP_ENDS (1u << 3)              /* the end of a loop whose begin names it */
#define PPU_LOOP_PUSHED(type) (1u << (type)) /* the target of such a token: sync, break or continue */

/* Holds the code that is checked, and room for what is found of each of its instructions. */
struct ppu_loop_code {
    const uint8_t *code;
    uint32_t count;    /* instructions */
    uint8_t *flags;    /* [count], zero at first */
    uint32_t *loop_of; /* [count]: the begin of the innermost loop that it is in, as its end is */
    uint32_t *queued;  /* [count] */
    uint32_t queued_count;
};

/* Says what is wrong, and where. */
struct ppu_loop_error {
    const char *what; /* NULL: nothing is; else a clause whose subject is the instruction */
    uint32_t insn;
    uint32_t begin; /* of the loop that it is about; PPU_LOOP_NONE: of none */
};

static inline int ppu_loop_insn(const struct ppu_loop_code *c, uint32_t at, struct ppu_insn *insn)
{
    uint64_t word = 0;

    for (uint32_t b = 0; at < c->count && b < PPU_INSN_BYTES; b++) {
        word |= (uint64_t)c->code[(uint64_t)at * PPU_INSN_BYTES + b] << (8u * b);
    }
    return at < c->count && ppu_isa_decode(word, insn) == 0;
}

/* Where a branch or token leads; PPU_LOOP_NONE: it has no target, or none that is known. */
static inline uint32_t ppu_loop_target(const struct ppu_insn *insn, uint32_t at)
{
    switch (insn->format) {
    case PPU_FMT_TARGET:
    case PPU_FMT_CALL:
        return at + (uint32_t)insn->imm;
    case PPU_FMT_ABSOLUTE:
        return (uint32_t)insn->imm;
    default:
        return PPU_LOOP_NONE;
    }
}

static inline int ppu_loop_begins(uint32_t op)
{
    return op == PPU_OP_SVBEGIN || op == PPU_OP_SVBEGIN64;
}

static inline int ppu_loop_ends(uint32_t op)
{
    return op == PPU_OP_SVEND || op == PPU_OP_SVEND64;
}

/* False: threads never go on behind it. */
static inline int ppu_loop_goes_on(const struct ppu_insn *insn)
{
    switch (insn->op) {
    case PPU_OP_BRA:
    case PPU_OP_JMP:
    case PPU_OP_BRX:
    case PPU_OP_JMX:
    case PPU_OP_RET:
    case PPU_OP_EXIT:
    case PPU_OP_LONGJMP:
    case PPU_OP_TRAP:
        return insn->guard != 0;
    default:
        return 1;
    }
}

static inline void ppu_loop_queue(struct ppu_loop_code *c, uint32_t at, uint32_t flag)
{
    if (at < c->count && !(c->flags[at] & flag)) {
        c->flags[at] |= (uint8_t)flag;
        c->queued[c->queued_count++] = at;
    }
}

/* Gives the flag to what can be reached from the queued instructions. */
static inline void ppu_loop_reach(struct ppu_loop_code *c, uint32_t flag)
{
    while (c->queued_count != 0) {
        const uint32_t at = c->queued[--c->queued_count];
        struct ppu_insn insn;

        if (ppu_loop_insn(c, at, &insn)) {
            ppu_loop_queue(c, ppu_loop_target(&insn, at), flag);
            if (ppu_loop_goes_on(&insn)) {
                ppu_loop_queue(c, at + 1u, flag);
            }
        }
    }
}

/* The token that lanes wait for by this operation, or that it pushes; PPU_TOKEN_NONE: none. */
static inline uint32_t ppu_loop_token(uint32_t op)
{
    switch (op) {
    case PPU_OP_SSY:
    case PPU_OP_SYNC:
        return PPU_TOKEN_SYNC;
    case PPU_OP_PBRK:
    case PPU_OP_BRK:
        return PPU_TOKEN_BRK;
    case PPU_OP_PCONT:
    case PPU_OP_CONT:
        return PPU_TOKEN_CONT;
    default:
        return PPU_TOKEN_NONE;
    }
}

static inline int ppu_loop_waits(uint32_t op)
{
    return op == PPU_OP_SYNC || op == PPU_OP_BRK || op == PPU_OP_CONT;
}

/* NULL: it may stand in a loop, and in a function that a loop calls. */
static inline const char *ppu_loop_forbids(uint32_t op)
{
    switch (op) {
    case PPU_OP_EXIT:
    case PPU_OP_PEXIT:
        return "ends threads, which must not be in a sub-vector loop";
    case PPU_OP_YIELD:
    case PPU_OP_YIELDN:
    case PPU_OP_YIELDP:
    case PPU_OP_YIELDQ:
    case PPU_OP_WSYNC:
        return "yields, which must not be in a sub-vector loop";
    case PPU_OP_BAR:
    case PPU_OP_CWAIT:
    case PPU_OP_CSENTER:
        return "is for the whole warp, and must not be in a sub-vector loop";
    case PPU_OP_BRX:
    case PPU_OP_JMX:
    case PPU_OP_LONGJMP:
        return "may lead out of a sub-vector loop";
    case PPU_OP_SVENTER:
    case PPU_OP_SVLEAVE:
        return "must not be in a sub-vector loop";
    default:
        return NULL;
    }
}

/* The instruction behind a loop. */
static inline uint32_t ppu_loop_behind(const struct ppu_loop_code *c, uint32_t begin)
{
    struct ppu_insn insn;

    return ppu_loop_insn(c, begin, &insn) ? ppu_loop_target(&insn, begin) : begin;
}

/* The end that a begin names and that names it; PPU_LOOP_NONE: there is none. */
static inline uint32_t ppu_loop_end(const struct ppu_loop_code *c, uint32_t begin, const struct ppu_insn *insn)
{
    const uint32_t end = ppu_loop_target(insn, begin) - 1u;
    const uint32_t op = insn->op == PPU_OP_SVBEGIN ? PPU_OP_SVEND : PPU_OP_SVEND64;
    struct ppu_insn last;

    if (insn->guard != 0 || end <= begin || !ppu_loop_insn(c, end, &last) || last.op != op || last.guard != 0 ||
        last.rd != insn->rd || ppu_loop_target(&last, end) != begin + 1u) {
        return PPU_LOOP_NONE;
    }
    return end;
}

static inline int ppu_loop_fail(struct ppu_loop_error *error, const char *what, uint32_t insn, uint32_t begin)
{
    *error = (struct ppu_loop_error){ what, insn, begin };
    return 0;
}

/* A begin or an end, with the loops around it: two deep at most. Finds the loop that the next instruction is in. */
static inline int ppu_loop_border(struct ppu_loop_code *c, uint32_t at, const struct ppu_insn *insn, uint32_t *loop,
                                  struct ppu_loop_error *error)
{
    const uint32_t around = *loop;
    struct ppu_insn outer;

    if (ppu_loop_ends(insn->op)) {
        return (c->flags[at] & PPU_LOOP_ENDS) ||
               ppu_loop_fail(error, "ends a sub-vector loop that it does not belong to", at, around);
    }
    const uint32_t end = ppu_loop_end(c, at, insn);
    if (end == PPU_LOOP_NONE) {
        return ppu_loop_fail(error, "begins a sub-vector loop without an end of its own", at, around);
    }
    if (around != PPU_LOOP_NONE && (!ppu_loop_insn(c, around, &outer) || outer.op != PPU_OP_SVBEGIN64 ||
                                    insn->op != PPU_OP_SVBEGIN || end >= ppu_loop_target(&outer, around) - 1u)) {
        return ppu_loop_fail(error, "begins a loop that does not nest in the sub-vector loop around it", at, around);
    }
    c->flags[end] |= PPU_LOOP_ENDS;
    *loop = at;
    return 1;
}

/* Finds the loop of each instruction, and the targets of tokens. */
static inline int ppu_loops_find(struct ppu_loop_code *c, struct ppu_loop_error *error)
{
    uint32_t loop = PPU_LOOP_NONE, behind = PPU_LOOP_NONE;
    struct ppu_insn insn;

    for (uint32_t at = 0; at < c->count; at++) {
        if (at == behind) {
            loop = c->loop_of[loop];
            behind = loop != PPU_LOOP_NONE ? ppu_loop_behind(c, loop) : PPU_LOOP_NONE;
        }
        c->loop_of[at] = loop;
        if (!(c->flags[at] & PPU_LOOP_REACHED) || !ppu_loop_insn(c, at, &insn)) {
            continue;
        }
        const uint32_t token = ppu_loop_token(insn.op), target = ppu_loop_target(&insn, at);
        if (token != PPU_TOKEN_NONE && !ppu_loop_waits(insn.op) && target < c->count) {
            c->flags[target] |= (uint8_t)PPU_LOOP_PUSHED(token);
        }
        if (ppu_loop_begins(insn.op) || ppu_loop_ends(insn.op)) {
            if (!ppu_loop_border(c, at, &insn, &loop, error)) {
                return 0;
            }
            behind = loop != PPU_LOOP_NONE ? ppu_loop_behind(c, loop) : PPU_LOOP_NONE;
        }
    }
    return 1;
}

/* One instruction of a loop that begins and ends there; NULL: it may be in it. */
static inline const char *ppu_loop_inside(const struct ppu_loop_code *c, uint32_t begin, uint32_t end, uint32_t at,
                                          const struct ppu_insn *insn)
{
    const uint32_t target = ppu_loop_target(insn, at), token = ppu_loop_token(insn->op);
    const char *what = ppu_loop_forbids(insn->op);

    if (what) {
        return what;
    }
    if (insn->op == PPU_OP_RET) {
        return "leads out of a sub-vector loop";
    }
    if (target == PPU_LOOP_NONE || insn->op == PPU_OP_CALL) {
        return NULL;
    }
    if (target <= begin || target > end) {
        return token != PPU_TOKEN_NONE ? "is for a token whose target is not in its sub-vector loop"
                                       : "leads out of a sub-vector loop";
    }
    return ppu_loop_waits(insn->op) && !(c->flags[target] & PPU_LOOP_PUSHED(token))
               ? "waits for a token that is not pushed in its sub-vector loop"
               : NULL;
}

/* An instruction that was reached: what it does in its own loop, and to others. */
static inline int ppu_loop_check_insn(struct ppu_loop_code *c, uint32_t at, const struct ppu_insn *insn,
                                      struct ppu_loop_error *error)
{
    const uint32_t target = ppu_loop_target(insn, at), begin = c->loop_of[at];

    if (begin != PPU_LOOP_NONE) {
        const char *what = ppu_loop_inside(c, begin, ppu_loop_behind(c, begin) - 1u, at, insn);
        if (what) {
            return ppu_loop_fail(error, what, at, begin);
        }
        if (insn->op == PPU_OP_CALL) {
            ppu_loop_queue(c, target, PPU_LOOP_CALLED);
        }
    }
    const uint32_t entered = target < c->count ? c->loop_of[target] : PPU_LOOP_NONE;
    if (entered != PPU_LOOP_NONE && (at <= entered || at >= ppu_loop_behind(c, entered))) {
        return ppu_loop_fail(error, "leads into a sub-vector loop", at, entered);
    }
    return 1;
}

/* Functions that loops call, and what they call. */
static inline int ppu_loop_check_called(struct ppu_loop_code *c, struct ppu_loop_error *error)
{
    struct ppu_insn insn;

    ppu_loop_reach(c, PPU_LOOP_CALLED);
    for (uint32_t at = 0; at < c->count; at++) {
        if ((c->flags[at] & PPU_LOOP_CALLED) && ppu_loop_insn(c, at, &insn)) {
            const char *what = ppu_loop_forbids(insn.op);

            if (what || ppu_loop_begins(insn.op) || ppu_loop_ends(insn.op)) {
                return ppu_loop_fail(error, what ? what : "is reached by a call in a sub-vector loop", at,
                                     PPU_LOOP_NONE);
            }
        }
    }
    return 1;
}

/* True: the code may have loops. Most has none, and need not be looked at further. */
static inline int ppu_loops_present(const uint8_t *code, uint32_t count)
{
    for (uint32_t at = 0; at < count; at++) {
        const uint32_t op = code[(uint64_t)at * PPU_INSN_BYTES];

        if (ppu_loop_begins(op) || ppu_loop_ends(op)) {
            return 1;
        }
    }
    return 0;
}

/* False and *error: something that the entries, in instructions, can reach is no sub-vector loop, or must not be. */
static inline int ppu_loops_check(struct ppu_loop_code *c, const uint32_t *entries, uint32_t entry_count,
                                  struct ppu_loop_error *error)
{
    struct ppu_insn insn;

    for (uint32_t i = 0; i < entry_count; i++) {
        ppu_loop_queue(c, entries[i], PPU_LOOP_REACHED);
        ppu_loop_reach(c, PPU_LOOP_REACHED);
    }
    if (!ppu_loops_find(c, error)) {
        return 0;
    }
    for (uint32_t i = 0; i < entry_count; i++) {
        if (entries[i] < c->count && c->loop_of[entries[i]] != PPU_LOOP_NONE) {
            return ppu_loop_fail(error, "is where a kernel begins, in a sub-vector loop", entries[i],
                                 c->loop_of[entries[i]]);
        }
    }
    for (uint32_t at = 0; at < c->count; at++) {
        if ((c->flags[at] & PPU_LOOP_REACHED) && ppu_loop_insn(c, at, &insn) &&
            !ppu_loop_check_insn(c, at, &insn, error)) {
            return 0;
        }
    }
    return ppu_loop_check_called(c, error);
}

#endif
