/* SPDX-License-Identifier: MIT */
/* Declares what selection of loads and stores and that of atomic operations share. */
#ifndef COMPILER_ISEL_SELECT_MEMORY_H
#define COMPILER_ISEL_SELECT_MEMORY_H

#include "compiler/isel/select.h"

struct address {
    enum ir_memory memory;
    struct element at;
};

struct address select_address_of(struct isel *s, LLVMValueRef pointer);
bool select_is_scalar(const struct isel *s, struct mir_ref ref);
/* Returns the width of an access of 1, 2 or 4 words. */
enum ppu_width select_width(uint32_t words);
/* One access; what is `ordered` (volatile, atomic) stays where it is. */
struct mir_ref select_load_words(struct isel *s, struct address address, uint32_t offset, enum ppu_width width,
                                 bool ordered);
void select_store_words(struct isel *s, struct address address, uint32_t offset, enum ppu_width width,
                        struct mir_ref data, bool ordered);
/* PPU_ORDER_*, PPU_SCOPE_OF_* */
uint32_t select_order(LLVMAtomicOrdering ordering);
uint32_t select_scope(enum ir_memory memory);

/* ---- select_atomic.c ---- */

/* The operation on memory other than the thread's own, or that may be so; the old value when it is wanted. */
struct element select_atomic(struct isel *s, struct address address, enum ppu_aop op, struct element data,
                             uint32_t order, bool want_old);
/* Code for an atomicrmw or cmpxchg. */
void select_atomic_value(struct isel *s, LLVMValueRef value);

#endif
