/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes what instructions that follow one another do for all lanes alike: scalar registers, comparisons of them, and
 * loads for the whole warp. In memory are the scalar registers of before until same_store().
 */
#ifndef QEMU_DEVICE_TIER_SAME_H
#define QEMU_DEVICE_TIER_SAME_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "qemu-device/tier/writer.h"

struct same {
    struct writer *t;
    LLVMBasicBlockRef fail; /* nothing is done: the interpreter does the instructions */
    bool fails;             /* something goes there */
    LLVMValueRef lines;     /* transactions; NULL: none */
    LLVMValueRef scalar[PPU_SREGS];
    bool dirty[PPU_SREGS];
    LLVMValueRef words[TIER_MAX_INSNS][3][2]; /* that instructions read */
    LLVMValueRef uniform[TIER_MAX_INSNS];     /* what a comparison of scalars gave: all ones or 0 */
    LLVMValueRef loaded[TIER_MAX_INSNS];      /* where the bytes of a scalar load are */
};

LLVMValueRef same_get(struct same *s, uint32_t reg);
void same_put(struct same *s, uint32_t reg, LLVMValueRef value);
/* The base of an access to memory, with the offset that the instruction names; i64. */
LLVMValueRef same_base(struct same *s, const struct ppu_insn *insn);
/* Goes on when it does not hold, else the interpreter does the instructions. */
void same_unless(struct same *s, LLVMValueRef fails);
void same_add_lines(struct same *s, LLVMValueRef lines);
/* Keeps the words of sources that are the same for all lanes, as they are now. */
void same_capture(struct same *s, uint32_t n);
/* Writes a scalar instruction, a comparison of scalars, or a scalar load; false: it is none of these. */
bool same_write(struct same *s, uint32_t n);
/* Stores the scalar registers that were written. */
void same_store(const struct same *s);

#endif
