/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps what an SM knows of the loops that its warps came to: how hot they are, and their translations. */
#ifndef QEMU_DEVICE_CORE_TIER_HEADS_H
#define QEMU_DEVICE_CORE_TIER_HEADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_insn;
struct exec;
struct tier;
struct tier_entry;
struct tier_translation;

#define TIER_MAX_INSNS 256u /* of a unit (unit.h) */
#define TIER_HEADS 512u     /* a power of two; as many as a page has instructions (code.h) */
#define TIER_LOOPS 4u       /* that are known where a program comes to them from before */
#define HEAD_TRIALS 64u
#define HEAD_FIRST_LOOK 256u  /* instructions before a translation that the device has is looked for */
#define HEAD_LEAST 16u        /* instructions of an entry, on the average: fewer do not pay */
#define HEAD_SEGMENT_LEAST 4u /* instructions between barriers that may pay */
#define HEAD_GOOD 24u         /* what an entry of straight code counts when it did something: two of three must */
#define HEAD_MISSES (HEAD_TRIALS / 3 + 1) /* entries that did nothing, until code for more warps is asked for */

/* What the code of a unit is. */
enum tier_straight {
    TIER_LOOP = 0,        /* not straight */
    TIER_ROWS = 1,        /* for warps that begin and whose accesses are rows, when it is known which */
    TIER_ANYWHERE = 2,    /* for all warps that begin */
    TIER_SEGMENT = 3,     /* for warps that come from a barrier or from straight code, with all lanes of the wave */
    TIER_SEGMENT_ANY = 4, /* with those that they have */
};

/* A loop or straight code, by its first instruction as the SM has it decoded. */
struct tier_head {
    const struct code_insn *code;               /* NULL: none */
    uint32_t insns;                             /* from the first to the furthest that was seen to jump back */
    uint32_t spent;                             /* instructions, about */
    uint32_t wait;                              /* as many before a translation is looked for, the next time */
    uint8_t straight;                           /* enum tier_straight */
    bool never;                                 /* translating it does not pay */
    struct tier_entry *entry;                   /* NULL: not asked for */
    const struct tier_translation *translation; /* NULL: not there */
    uint32_t entered;                           /* times, and instructions that were executed so; until HEAD_TRIALS */
    uint32_t executed;
    uint32_t missed; /* entries of code for some warps that did nothing */
};

struct tier_heads {
    struct tier *tier;
    uint64_t start;            /* dist_task.start of the program that has the loops */
    uint32_t loop[TIER_LOOPS]; /* their first instructions: those that were entered last */
    uint32_t next_loop;        /* the one that gives way */
    uint32_t threshold;        /* executions of a loop before its translation is looked for on disk */
    uint32_t misses;           /* HEAD_MISSES, or fewer where translations are waited for */
    struct tier_head head[TIER_HEADS];
};

struct tier_heads *tier_heads_new(struct tier *tier); /* NULL: no memory, or no tier */
void tier_heads_free(struct tier_heads *heads);
/* Code has changed: what was decoded is not what it was. */
void tier_heads_forget(struct tier_heads *heads);
/*
 * Code may have changed: pages of it are compared before anything is fetched from them, and what was decoded of a page
 * is forgotten with all heads when it has. Heads stay that lie in one page and have a translation for warps of the
 * wave. `insns`: the SM's.
 */
void tier_heads_doubt(struct tier_heads *heads, const struct code_insn *insns, uint32_t wave);
/* The loop is warm: NULL, or its translation. */
const struct tier_translation *tier_head_look(const struct exec *x, struct tier_head *head);
/* Another loop or straight code has its place. */
void tier_head_replace(const struct exec *x, struct tier_heads *heads, struct tier_head *head,
                       const struct code_insn *code, enum tier_straight straight);
/* How many of the `most` instructions from `code` on are straight; 0: not all that follow are decoded, or they are a
 * loop. */
uint32_t tier_segment_insns(const struct code_insn *code, uint32_t most);

/* It takes the place of another loop that is known. */
void tier_heads_keep(struct tier_heads *heads, uint64_t start, uint32_t pc);

/* Code for some warps is of no use here: that for all takes its place. */
void tier_head_ask_more(struct tier_heads *heads, struct tier_head *head);

/* The head of `code`, or where it has its place: of two that others have, the one that is less hot. */
static inline struct tier_head *tier_head_at(struct tier_heads *heads, const struct code_insn *code)
{
    const size_t place = (uintptr_t)code / 64 % TIER_HEADS;
    struct tier_head *const first = &heads->head[place], *const second = &heads->head[place ^ 1];

    if (__builtin_expect(first->code == code, 1)) {
        return first;
    }
    return second->code == code || (first->code && second->spent < first->spent) ? second : first;
}

/* How far ahead of `pc` the next loop begins that was entered; UINT32_MAX: none is known. */
static inline uint32_t tier_heads_ahead(const struct tier_heads *heads, uint64_t start, uint32_t pc)
{
    uint32_t ahead = UINT32_MAX;

    for (uint32_t i = 0; i < TIER_LOOPS && heads->start == start; i++) {
        const uint32_t distance = heads->loop[i] - pc;
        ahead = distance < ahead ? distance : ahead;
    }
    return ahead;
}

/* The loop at `pc` was entered by a branch back. */
static inline void tier_heads_know(struct tier_heads *heads, uint64_t start, uint32_t pc)
{
    if (__builtin_expect(tier_heads_ahead(heads, start, pc) != 0, 0)) {
        tier_heads_keep(heads, start, pc);
    }
}

/* It is made for some warps first. */
static inline bool tier_is_for_some(enum tier_straight straight)
{
    return straight == TIER_ROWS || straight == TIER_SEGMENT;
}

/* Names what is made for all warps in its place. */
static inline enum tier_straight tier_for_all(enum tier_straight straight)
{
    return straight == TIER_ROWS ? TIER_ANYWHERE : TIER_SEGMENT_ANY;
}

/* What is entered so may be what the head is. */
static inline bool tier_head_is(const struct tier_head *head, enum tier_straight straight)
{
    return head->straight == straight || (tier_is_for_some(straight) && head->straight == tier_for_all(straight));
}

/* A warp has jumped back to `code`, to execute the `insns` from there on again, or comes to them when they are
 * straight; NULL: they are interpreted. */
static inline struct tier_head *tier_head_find(const struct exec *x, struct tier_heads *heads,
                                               const struct code_insn *code, uint32_t insns,
                                               enum tier_straight straight)
{
    struct tier_head *const head = tier_head_at(heads, code);

    if (__builtin_expect(head->code != code, 0)) {
        if (head->spent > insns) {
            head->spent -= insns;
            return NULL;
        }
        tier_head_replace(x, heads, head, code, straight);
    }
    if (!tier_head_is(head, straight)) {
        if (straight != TIER_LOOP) {
            return NULL;
        }
        tier_head_replace(x, heads, head, code, TIER_LOOP); /* it is executed more often than a segment */
    }
    head->insns = head->insns < insns ? insns : head->insns;
    if (head->translation) {
        return head;
    }
    head->spent += insns;
    return head->spent >= head->wait && !head->never && tier_head_look(x, head) ? head : NULL;
}

/* The translation of what warps begin with at `code`; NULL: it is not there now. */
static inline const struct tier_translation *tier_head_made(struct tier_heads *heads, const struct code_insn *code)
{
    const struct tier_head *const head = tier_head_at(heads, code);

    return head->code == code && tier_head_is(head, TIER_ROWS) ? head->translation : NULL;
}

/* How much an entry has executed. */
static inline void tier_head_pays(struct tier_heads *heads, struct tier_head *head, uint32_t executed)
{
    if (executed == 0 && tier_is_for_some(head->straight) && ++head->missed >= heads->misses) {
        tier_head_ask_more(heads, head);
        return;
    }
    if (head->entered < HEAD_TRIALS) {
        head->executed += executed;
        if (++head->entered == HEAD_TRIALS && head->executed < HEAD_TRIALS * HEAD_LEAST) {
            head->never = true;
            head->translation = NULL;
        }
    }
}

#endif
