/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/tier/operand.h"

#include <stdio.h>
#include <string.h>

void write_kit_call(const struct writer *t, const char *prefix, const char *name, const LLVMValueRef slots[KIT_SLOTS])
{
    char full[64];
    LLVMValueRef arguments[KIT_SLOTS];

    snprintf(full, sizeof(full), "%s%s", prefix, name);
    memcpy(arguments, slots, sizeof(arguments));
    LLVMBuildCall2(t->builder, t->kit, write_kit_function(t, full), arguments, KIT_SLOTS, "");
}

struct operand_of operand_of(const struct ppu_insn *insn, uint32_t n)
{
    switch (n) {
    case 0:
        return (struct operand_of){ insn->ra, insn->wa, insn->a_scalar, false };
    case 1:
        return (struct operand_of){ insn->rb, insn->wb, insn->b_scalar, insn->immed };
    default:
        return (struct operand_of){ insn->rc, insn->wc, insn->c_scalar, false };
    }
}

LLVMValueRef write_modified(const struct writer *t, const struct ppu_insn *insn, uint32_t n, LLVMValueRef word)
{
    static const uint8_t negates[3] = { PPU_FMOD_NEG_A, PPU_FMOD_NEG_B, PPU_FMOD_NEG_C };
    static const uint8_t absolutes[3] = { PPU_FMOD_ABS_A, PPU_FMOD_ABS_B, 0 };
    const bool lanes = LLVMTypeOf(word) == t->lanes;

    if (insn->fmod & absolutes[n]) {
        LLVMValueRef keep = write_i32(t, 0x7fffffffu);
        word = LLVMBuildAnd(t->builder, word, lanes ? write_splat(t, keep) : keep, "");
    }
    if (insn->fmod & negates[n]) {
        LLVMValueRef flip = write_i32(t, 0x80000000u);
        word = LLVMBuildXor(t->builder, word, lanes ? write_splat(t, flip) : flip, "");
    }
    return word;
}

LLVMValueRef write_widened(const struct writer *t, LLVMValueRef value, uint32_t width, LLVMTypeRef type)
{
    if (width == PPU_WIDTH_S8 || width == PPU_WIDTH_S16) {
        return LLVMBuildSExt(t->builder, value, type, "");
    }
    return width == PPU_WIDTH_U8 || width == PPU_WIDTH_U16 ? LLVMBuildZExt(t->builder, value, type, "") : value;
}

LLVMTypeRef write_width_type(const struct writer *t, uint32_t width)
{
    return width <= PPU_WIDTH_S8 ? LLVMInt8TypeInContext(t->context) : width <= PPU_WIDTH_S16 ? t->i16 : t->i32;
}

LLVMValueRef write_every(const struct writer *t, LLVMValueRef values, uint32_t step, uint32_t first)
{
    LLVMValueRef number[TIER_CHUNK];

    for (uint32_t i = 0; i < TIER_CHUNK; i++) {
        number[i] = write_i32(t, i * step + first);
    }
    return LLVMBuildShuffleVector(t->builder, values, LLVMGetPoison(LLVMTypeOf(values)),
                                  LLVMConstVector(number, TIER_CHUNK), "");
}

LLVMValueRef write_word_of(const struct writer *t, LLVMValueRef host, uint32_t width, uint32_t word)
{
    const uint32_t bytes = ppu_width_bytes(width);
    LLVMValueRef value = write_load_shared(
        t, write_width_type(t, width), write_field(t, host, (uint64_t)word * sizeof(uint32_t)), bytes < 4 ? bytes : 4);

    return write_widened(t, value, width, t->i32);
}
