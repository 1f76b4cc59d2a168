/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes loads and stores of a chunk whose lanes lie a known distance apart, the stride. */
#ifndef QEMU_DEVICE_TIER_STRIDED_H
#define QEMU_DEVICE_TIER_STRIDED_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "ppu/isa.h"
#include "qemu-device/tier/place.h"
#include "qemu-device/tier/writer.h"

#define STRIDED_MOST (1u << 24) /* bytes: the lanes of a warp lie within 2 GiB */

/* Loads the words of all lanes: lane i has its bytes at host + i * stride (i64), all of which are there. */
void strided_load(const struct writer *t, const struct ppu_insn *insn, LLVMValueRef host, LLVMValueRef stride,
                  LLVMValueRef words[KIT_MOST_WORDS]);
/* Stores those of all lanes, which are in `row` one lane after the other. No two lanes have a byte in common. */
void strided_store(const struct writer *t, const struct ppu_insn *insn, LLVMValueRef row, LLVMValueRef host,
                   LLVMValueRef stride);
/* Where each lane is: a vector of pointers. */
LLVMValueRef strided_places(const struct writer *t, LLVMValueRef host, LLVMValueRef stride);

#endif
