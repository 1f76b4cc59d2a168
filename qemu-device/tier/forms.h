/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows registers whose lanes are known from the first of them: lane i has first + i * step, in a warp that lies in
 * one line of its CTA. Numbers of threads are so, and what is computed of them: mostly all addresses.
 */
#ifndef QEMU_DEVICE_TIER_FORMS_H
#define QEMU_DEVICE_TIER_FORMS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "qemu-device/tier/same.h"
#include "qemu-device/tier/writer.h"

/* Lanes of a register (i32) or of two (i64); first NULL: they are not known. */
struct form {
    LLVMValueRef first, step;
};

struct forms {
    struct same *same; /* where what fails goes */
    struct form one[PPU_MAX_VREGS];
    struct form two[PPU_MAX_VREGS];   /* of a register and the next */
    struct form signs[PPU_MAX_VREGS]; /* whose signs its lanes are, all ones or 0: the upper word of it with a sign */
    bool written[PPU_MAX_VREGS];
};

/* A register, as it is now. What a warp begins with is known when the SM knows that it is steady. */
struct form forms_one(struct forms *f, uint32_t reg);
struct form forms_two(struct forms *f, uint32_t reg);
/* What a register is as a number of 64 bits, with a sign or without: its lanes do not wrap, or the unit fails. */
struct form forms_wide(struct forms *f, struct form one, bool is_signed);
/* Follows instruction n: what it writes, of one word or of two; first NULL: it is not known. */
struct form forms_follow(struct forms *f, uint32_t n);
/* A special register that lanes have. */
struct form forms_special(struct forms *f, uint32_t n, LLVMValueRef first);
/* The instruction writes what is not known. */
void forms_forget(struct forms *f, uint32_t n);

#endif
