/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Holds what the parts of the translator know of the function they write, and writes what they all need. */
#ifndef QEMU_DEVICE_TIER_WRITER_H
#define QEMU_DEVICE_TIER_WRITER_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "qemu-device/core/tier/unit.h"
#include "qemu-device/tier/ops.h"

#define KIT_SLOTS 8u /* arguments of a function of the kit: low and high words of d, a, b, c */
#define WRITE_ARGUMENTS 5u
#define UNIT_NAME "unit" /* of the function that is entered */
#define GROUP_ROWS 16u   /* loads and stores of a group */

struct writer {
    const struct tier_unit *unit;
    enum tier_kind kind[TIER_MAX_INSNS];
    uint32_t room; /* registers of TIER_CHUNK lanes that a loop may take */
    bool permutes; /* the host picks words out of two such registers, and stores lanes wherever they lie */
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMModuleRef from; /* the kit: what is called of it becomes part of the module at the end */
    LLVMBuilderRef builder;
    LLVMValueRef function;
    LLVMTypeRef i1, i16, i32, i64, ptr, lanes, mask, kit;
    LLVMValueRef x, head, turn, calls;   /* the function's arguments */
    LLVMValueRef w, vreg, cta, sm, base; /* x->w and so on; the warp's pc at the entry */
    LLVMValueRef many[KIT_SLOTS], one[KIT_SLOTS], rows[GROUP_ROWS], places[GROUP_ROWS], words[GROUP_ROWS];
    LLVMValueRef full; /* i1 in memory: all lanes of the wave are active */
    LLVMValueRef taken,
        rest; /* i32 in memory: not 0 when active lanes have the guard of the block's end, or have not */
    LLVMBasicBlockRef leave;
    bool ends;    /* as of a translation */
    int32_t gain; /* ns of a warp of 128 lanes that groups are faster than the interpreter, about */
};

/* Code of a unit that is executed a known number of times. */
struct write_repeat {
    LLVMBasicBlockRef before, body;
    LLVMValueRef number; /* i64: how many times it was executed before */
};

LLVMBasicBlockRef write_block(struct writer *t);
void write_at(struct writer *t, LLVMBasicBlockRef block);
LLVMValueRef write_i32(const struct writer *t, uint32_t value);
LLVMValueRef write_i64(const struct writer *t, uint64_t value);
/* `offset` bytes behind a pointer. */
LLVMValueRef write_field(const struct writer *t, LLVMValueRef pointer, uint64_t offset);
LLVMValueRef write_behind(const struct writer *t, LLVMValueRef pointer, LLVMValueRef offset);
LLVMValueRef write_load(const struct writer *t, LLVMTypeRef type, LLVMValueRef pointer);
void write_store(const struct writer *t, LLVMValueRef value, LLVMValueRef pointer);
/* Accesses memory that others access, too: as often as it stands there. */
LLVMValueRef write_load_shared(const struct writer *t, LLVMTypeRef type, LLVMValueRef pointer, uint32_t align);
void write_store_shared(const struct writer *t, LLVMValueRef value, LLVMValueRef pointer, uint32_t align);
LLVMValueRef write_splat(const struct writer *t, LLVMValueRef word);
/* The lanes of a mask; i16. */
LLVMValueRef write_mask_bits(const struct writer *t, LLVMValueRef mask);
/* Lanes that two masks have, one of which may be the same for all lanes. */
LLVMValueRef write_both(const struct writer *t, LLVMValueRef a, LLVMValueRef b);
/* One of struct tier_calls, of at most WRITE_ARGUMENTS. */
LLVMValueRef write_call(const struct writer *t, size_t which, LLVMTypeRef result, LLVMValueRef *arguments,
                        uint32_t count);
/* A function of the kit, by its name, as the module knows it. */
LLVMValueRef write_kit_function(const struct writer *t, const char *name);
/* A call of one. */
LLVMValueRef write_kit(const struct writer *t, const char *name, LLVMValueRef *arguments, uint32_t count);
/* One of LLVM's own, "llvm.ctpop", for these types. */
LLVMValueRef write_intrinsic(const struct writer *t, const char *name, LLVMTypeRef *types, uint32_t type_count,
                             LLVMValueRef *arguments, uint32_t count);
/* How many bits of a number are set. */
LLVMValueRef write_popcount(const struct writer *t, LLVMValueRef bits);
/* The CTA's shared memory, and how many bytes it has; i32. */
LLVMValueRef write_shared(const struct writer *t);
LLVMValueRef write_shared_bytes(const struct writer *t);
/* Writes what follows once for each number from 0 on, up to write_repeat_end(). */
struct write_repeat write_repeat_begin(struct writer *t);
/* What is written next comes behind the last of `count` times. */
void write_repeat_end(struct writer *t, const struct write_repeat *repeat, uint64_t count);
/* Adds to a number of 32 bits in memory. */
void write_count(const struct writer *t, LLVMValueRef pointer, LLVMValueRef more);
/* A branch that is hardly ever taken to `rare`. */
void write_rarely(const struct writer *t, LLVMValueRef condition, LLVMBasicBlockRef rare, LLVMBasicBlockRef mostly);
/* Sets the warp's pc to the unit's instruction n. */
void write_pc(const struct writer *t, uint32_t n);
/* Interprets `count` instructions from n on. What follows goes on behind them. */
void write_straight(struct writer *t, uint32_t n, uint32_t count);

/* Writes instructions that are none of the interpreter's, one behind the other; `masked`: for some of the lanes. */
void write_group(struct writer *t, uint32_t first, uint32_t count, bool masked, uint32_t guard);
/* Says of the active lanes whether they have the guard: `taken` and `rest`. */
void write_guard(struct writer *t, uint32_t guard);
/* True when instruction n can be the next of a group that began at `first`. */
bool group_takes(const struct writer *t, uint32_t first, uint32_t n, bool masked);

/* Somebody waits for the SM, or the turn may end before the next such look; i1. */
LLVMValueRef write_must_leave(struct writer *t);
/* Writes what follows the entry when the unit is a loop without effects; false: it is another, nothing is written. */
bool write_loop(struct writer *t);
/* Writes what follows the entry of a unit that is straight; false: too little of it can be translated. */
bool write_straight_unit(struct writer *t);
/* Writes the whole function; the module has the kit. False: the interpreter is about as fast. */
bool write_unit(struct writer *t);

#endif
