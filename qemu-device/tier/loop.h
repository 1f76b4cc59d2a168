/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds what the parts of the translator know of a unit that is written as a loop without effects (loop.c). What
 * changes on the way is in variables, which LLVM makes values.
 */
#ifndef QEMU_DEVICE_TIER_LOOP_H
#define QEMU_DEVICE_TIER_LOOP_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "qemu-device/tier/operand.h"
#include "qemu-device/tier/writer.h"

#define LOOP_GROUPS 8u         /* of TIER_CHUNK lanes that can go together */
#define LOOP_ROUND 1024u       /* instructions, about, between two looks whether somebody waits for the SM */
#define LOOP_GATHER_ROUND 256u /* the same, where each load may miss caches and translations for each lane */
#define LOOP_TRACE 1024u       /* words that scalar loads of a round give, at most */
#define LOOP_LEAVES 8u         /* instructions by which lanes leave */
#define LOOP_PAGES 16u         /* scalar loads */
#define LOOP_MOST_ROWS 16u     /* loads of rows */
#define LOOP_MOST_GATHERS 48u  /* words that lanes load from anywhere */

/* How NaNs of a register are where a block begins. */
enum flow {
    FLOW_NONE, /* nothing is known yet */
    FLOW_KEPT, /* as when the loop began */
    FLOW_RAW,  /* RAW_FLOAT, or as when the loop began */
    FLOW_MADE, /* bits that somebody may look at, or as when the loop began */
};

enum writers {
    WRITERS_LANES = 1, /* what differs from lane to lane */
    WRITERS_SAME = 2,  /* what is the same for all lanes of the warp */
};

/* Variables of a load to which lanes come one after the other: what struct kit_window has, and that, as i64. */
struct loop_window {
    LLVMValueRef first, limit, host, window;
    uint32_t row; /* of the table: the first of a turn is 0 */
};

#define LOOP_OFFSETS 8u

/* Offsets of lanes that the loop does not write: how they lie is found when a part begins. */
struct loop_offsets {
    uint32_t reg, step, log2, align; /* as of kit_offsets_kind() */
    LLVMValueRef kind, start;        /* variables: i32, and i32 of each group */
};

struct loop {
    struct writer *t;
    uint32_t groups;                      /* of TIER_CHUNK lanes that go through the loop together: a part */
    uint32_t parts;                       /* in a warp */
    LLVMBasicBlockRef at[TIER_MAX_INSNS]; /* of instructions that begin a block, else NULL */
    bool begins[TIER_MAX_INSNS];
    uint32_t leaves[LOOP_LEAVES], leave_count; /* instructions by which lanes leave */
    bool guesses;                              /* branches of which lanes could go different ways */
    bool reads;                                /* it loads */
    bool yields;                               /* it has YIELDNs, */
    uint32_t yields_at;                        /* all of which yield the time that this says */
    bool needs_whole;                          /* all lanes must be active */
    bool gathers;                              /* what it loads is no rows of the warp: loop_lanes.c */
    bool apart;                                /* lanes go one after the other: loop_apart.c */
    bool reg_named[PPU_MAX_VREGS], reg_written[PPU_MAX_VREGS];
    bool pred_named[PPU_PREDS];
    uint8_t pred_writers[PPU_PREDS]; /* enum writers */
    bool sreg_named[PPU_SREGS], sreg_written[PPU_SREGS];
    uint8_t first_of[PPU_MAX_VREGS]; /* offsets of rows: 1 */
    uint8_t (*raw)[PPU_MAX_VREGS];   /* enum flow of each register where an instruction begins a block */
    bool strict[PPU_MAX_VREGS];      /* NaNs are made one where they are written */
    /* Types of what a group has of a register and of a predicate; with `apart` a group is one lane. */
    LLVMTypeRef words_type, set_type;
    /* Variables. */
    LLVMValueRef reg[PPU_MAX_VREGS][LOOP_GROUPS];
    LLVMValueRef pred[PPU_PREDS][LOOP_GROUPS];
    LLVMValueRef same[PPU_PREDS]; /* predicates that have WRITERS_SAME alone */
    LLVMValueRef sreg[PPU_SREGS];
    LLVMValueRef first[PPU_MAX_VREGS]; /* of offsets of rows: the first lane's */
    LLVMValueRef step[PPU_MAX_VREGS];  /* the same: 0 when all lanes have it, else 1 */
    LLVMValueRef active[LOOP_GROUPS];
    LLVMValueRef done, since, lines, end_pc; /* of the part */
    LLVMValueRef stop, allowed, begun;       /* of the round */
    LLVMValueRef yielded, yields_left;       /* YIELDNs of the part, and of the round until one of them yields */
    LLVMValueRef begun_same[PPU_PREDS];
    LLVMValueRef place;                                /* struct kit_place */
    LLVMValueRef row;                                  /* struct tier_row */
    LLVMValueRef words;                                /* of a load that all lanes have from one place */
    LLVMValueRef trace, traced, traced_most, trace_at; /* words of scalar loads */
    LLVMValueRef page[TIER_MAX_INSNS];                 /* struct page of a scalar load, or of one that gathers */
    struct loop_window window[TIER_MAX_INSNS];         /* with `apart` */
    uint32_t rows;                                     /* of the table, in a turn */
    LLVMValueRef table;                                /* [turn][row][lane of a pass]: lower halves of offsets */
    LLVMValueRef turn_row;                             /* the lane's word in the first row of its turn */
    LLVMValueRef request, values;                      /* struct kit_lanes, and what it gives */
    struct loop_offsets offsets[LOOP_OFFSETS];         /* of loads that gather */
    uint32_t offset_count;
    LLVMValueRef shared, shared_bytes;           /* shared memory of the CTA */
    LLVMValueRef own_lines;                      /* i64: of loads that gather, of all parts of the round */
    LLVMValueRef left[LOOP_LEAVES];              /* struct lanes */
    LLVMValueRef lanes;                          /* i64: instructions of lanes */
    LLVMValueRef best_done, best_pc, best_lines; /* of the part that was longest in the loop */
    LLVMValueRef best_sreg[PPU_SREGS], best_same[PPU_PREDS];
    LLVMValueRef alive_least, all_most; /* `done` of parts that have lanes, and of all */
    /* What is written now. */
    LLVMValueRef part;                /* i64: its number */
    uint8_t now[PPU_MAX_VREGS];       /* enum raw */
    LLVMValueRef now_same[PPU_PREDS]; /* i1: what the block has made the same for all lanes, or NULL */
    LLVMBasicBlockRef part_end;
    LLVMBasicBlockRef fail;    /* with `apart`: where code goes on when a lane cannot go on so */
    LLVMBasicBlockRef refused; /* where code goes on when the loop is not as it was thought to be; nothing is done */
};

static inline const struct ppu_insn *loop_insn_of(const struct loop *l, uint32_t n)
{
    return &l->t->unit->insn[n].insn;
}

/* Writes the function of a unit that was found to be such a loop. */
void loop_write(struct loop *l);
/* A new variable of the function. */
LLVMValueRef loop_variable(const struct loop *l, LLVMTypeRef type);
/* What a load adds to the offset of each lane, but for upper halves that lanes have; i64. */
LLVMValueRef loop_base_of(const struct loop *l, const struct ppu_insn *insn);
/* Lanes can go through it one after the other. */
bool loop_may_go_apart(const struct loop *l);
/* Writes a round in which they do; nothing is as it was where it goes on at `fail`. */
void loop_write_apart(const struct loop *together, LLVMBasicBlockRef fail);
/* Where the lanes of a group of a register are in memory. */
LLVMValueRef loop_lanes_place(const struct loop *l, uint32_t reg, uint32_t group);
/* Where bits of a group are, of a set of lanes at `set`. */
LLVMValueRef loop_set_place(const struct loop *l, LLVMValueRef set, uint32_t group);
LLVMValueRef loop_get(const struct loop *l, LLVMTypeRef type, LLVMValueRef variable);
void loop_put(const struct loop *l, LLVMValueRef value, LLVMValueRef variable);
/* A predicate's lanes, of an operand that may negate it. */
LLVMValueRef loop_pred(const struct loop *l, uint32_t operand, uint32_t group);
LLVMValueRef loop_canonical(const struct loop *l, LLVMValueRef value);
/* A register as bits: NaNs are the one. */
LLVMValueRef loop_clean(const struct loop *l, uint32_t reg, uint32_t group);
/* The part ends before instruction n. */
void loop_stop_at(struct loop *l, uint32_t n);
/* Goes on when it does not hold, else ends the part before instruction n. */
void loop_unless(struct loop *l, LLVMValueRef stops, uint32_t n);
/* What the part has executed when it comes to instruction n; i32. */
LLVMValueRef loop_done_at(const struct loop *l, uint32_t n);
/* Lanes of a group that have the guard of instruction n get the value. */
void loop_put_lanes(const struct loop *l, uint32_t n, uint32_t reg, uint32_t group, LLVMValueRef value);
/* It is a load that loop_write_lanes() can write. */
bool loop_loads_lanes(const struct tier_unit *unit, const struct ppu_insn *insn);
void loop_write_lanes(struct loop *l, uint32_t n);
/* The offsets of a load that gathers; NULL: the loop writes them, or they are not looked at when a part begins. */
struct loop_offsets *loop_offsets_of(struct loop *l, uint32_t n);
/* Finds how all of them lie when a part begins. */
void loop_find_offsets(struct loop *l);
/* Writes it for the one lane that goes through a loop whose lanes go apart. */
void loop_write_lane(struct loop *l, uint32_t n);
/* Writes an instruction that transfers no control. */
void loop_write_insn(struct loop *l, uint32_t n);
/* It writes registers of lanes. */
bool loop_writes_lanes(const struct loop *l, uint32_t n);
/* What an instruction makes of how NaNs of registers are: of `raw`, which is before it. */
void loop_raw_behind(const struct loop *l, uint32_t n, uint8_t raw[PPU_MAX_VREGS]);

#endif
