/* SPDX-License-Identifier: MIT */
/*
 * Inserts begins and ends of sub-vector segments (D7). Before registers are assigned each gets an instruction at its
 * begin and one at its end:
 *
 *   enter, may   sventer and svleave
 *   loop         svbegin and svend, which keep masks in scalar registers
 *   duplicate    sventer and svleave as well, which emission turns into one copy of what is between for each part;
 *                they name a vector register with the number of the lane's part, and a predicate
 */
#ifndef COMPILER_MIR_SUBVECTOR_INSERT_H
#define COMPILER_MIR_SUBVECTOR_INSERT_H

#include "compiler/mir/subvector/partition.h"

/* True when the options ask for segments and waves have parts. */
bool subvector_wanted(const struct compilation *compilation);
/* True when parts share registers in segments of that form. */
bool subvector_shares(enum ppu_subvector_form form);
/* Parts of a wave. */
uint32_t subvector_parts(const struct compilation *compilation);

/* Chooses segments and puts their begins and ends into the code; sets mir->segments. */
void subvector_insert(struct mir *mir, const struct kernel_info *kernel);

/* Takes out begins that their ends follow at once: assignment has left nothing of the code between them. */
void subvector_drop_empty(struct mir *mir);

static inline bool subvector_begins(const struct mir_insn *insn)
{
    return insn->code.op == PPU_OP_SVENTER || insn->code.op == PPU_OP_SVBEGIN || insn->code.op == PPU_OP_SVBEGIN64;
}

static inline bool subvector_ends(const struct mir_insn *insn)
{
    return insn->code.op == PPU_OP_SVLEAVE || insn->code.op == PPU_OP_SVEND || insn->code.op == PPU_OP_SVEND64;
}

#endif
