/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes what instructions read and how functions of the kit are called, for groups and for loops. */
#ifndef QEMU_DEVICE_TIER_OPERAND_H
#define QEMU_DEVICE_TIER_OPERAND_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "qemu-device/tier/writer.h"

struct ppu_insn;

enum raw {
    RAW_NO,
    RAW_FLOAT, /* a float whose NaNs are not made one yet */
    RAW_LOW,   /* the words of such a double: the next register has the other */
    RAW_HIGH,
};

struct operand_of {
    uint32_t reg, words;
    bool scalar, immediate;
};

struct operand_of operand_of(const struct ppu_insn *insn, uint32_t n);
/* The word of source n that has the sign, negated or made absolute; of lanes or of one. */
LLVMValueRef write_modified(const struct writer *t, const struct ppu_insn *insn, uint32_t n, LLVMValueRef word);
void write_kit_call(const struct writer *t, const char *prefix, const char *name, const LLVMValueRef slots[KIT_SLOTS]);
LLVMTypeRef write_width_type(const struct writer *t, uint32_t width);
/* A value of memory as a word, or as the lanes' words. */
LLVMValueRef write_widened(const struct writer *t, LLVMValueRef value, uint32_t width, LLVMTypeRef type);
/* Elements `first`, `first` + `step` and so on of a vector, one for each lane of a chunk. */
LLVMValueRef write_every(const struct writer *t, LLVMValueRef values, uint32_t step, uint32_t first);
/* Word `word` of what a load for the whole warp finds at `host`. */
LLVMValueRef write_word_of(const struct writer *t, LLVMValueRef host, uint32_t width, uint32_t word);

#endif
