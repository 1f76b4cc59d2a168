/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes what instructions that follow one another do in the lanes of a chunk: registers and predicates are values. In
 * memory are those of before until chunk_store().
 */
#ifndef QEMU_DEVICE_TIER_CHUNK_H
#define QEMU_DEVICE_TIER_CHUNK_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "qemu-device/tier/operand.h"
#include "qemu-device/tier/same.h"
#include "qemu-device/tier/writer.h"

struct chunk {
    const struct writer *t;
    const struct same *same;
    LLVMValueRef number; /* i64, in the warp */
    LLVMValueRef active; /* its lanes; NULL: all */
    LLVMValueRef value[PPU_MAX_VREGS];
    bool dirty[PPU_MAX_VREGS];
    uint8_t raw[PPU_MAX_VREGS];    /* enum raw */
    bool is_double[PPU_MAX_VREGS]; /* it and the next register were written as one */
    LLVMValueRef pred[PPU_PREDS];
    bool pred_dirty[PPU_PREDS];
};

/* A register's lanes. `as`: whether NaNs may be any, of a float or of a word of a double. */
LLVMValueRef chunk_get(struct chunk *c, uint32_t reg, enum raw as);
/* Lanes of the set get the value; NULL: all do. `raw`: RAW_NO or RAW_FLOAT. */
void chunk_put(struct chunk *c, uint32_t reg, LLVMValueRef value, LLVMValueRef set, enum raw raw);
/* The lanes that have a predicate, of an operand that may negate it. */
LLVMValueRef chunk_pred(struct chunk *c, uint32_t operand);
/* The lanes that execute an instruction; NULL: all. */
LLVMValueRef chunk_executing(struct chunk *c, uint32_t guard);
/* Writes an instruction of lanes of registers and predicates alone, or puts what a comparison of scalars gave. */
void chunk_write(struct chunk *c, uint32_t n);
/* Where the lanes of a register are, and the bits of a set of the warp's. */
LLVMValueRef chunk_lanes_place(const struct chunk *c, uint32_t reg);
LLVMValueRef chunk_set_place(const struct chunk *c, size_t offset);
/* Stores what was written. */
void chunk_store(struct chunk *c);
/* Where a predicate is in a warp. */
size_t chunk_pred_offset(uint32_t pred);

#endif
