/* SPDX-License-Identifier: MIT */
/*
 * Selects LLVM's intrinsics on half. The machine converts half, and computes in float or double. The result is rounded
 * once more, and is still the exact one's: float has more than twice the digits of half, which is enough for sums,
 * products, quotients and roots. A fused product and sum takes double, in which what does not fit is too far away from
 * the middle between two halves to matter.
 */
#include <string.h>

#include "compiler/isel/select.h"
#include "ppu/macros.h"

#define HALF_SIGN 0x8000u

/* Says how an intrinsic is computed. */
enum way {
    WAY_FLOAT1, /* of one operand, in float */
    WAY_FLOAT2,
    WAY_ABSOLUTE,
    WAY_SIGN,
    WAY_AWAY, /* rounded to an integer, its middle away from 0 */
    WAY_FUSED,
    WAY_ROUNDED, /* a product that is rounded, and a sum */
};

static const struct half_intrinsic {
    const char *name;
    enum way way;
    enum ppu_op op;
} intrinsics[] = {
    { "llvm.sqrt.", WAY_FLOAT1, PPU_OP_FSQRT },      { "llvm.floor.", WAY_FLOAT1, PPU_OP_FFLOOR },
    { "llvm.ceil.", WAY_FLOAT1, PPU_OP_FCEIL },      { "llvm.trunc.", WAY_FLOAT1, PPU_OP_FTRUNC },
    { "llvm.rint.", WAY_FLOAT1, PPU_OP_FRINT },      { "llvm.nearbyint.", WAY_FLOAT1, PPU_OP_FRINT },
    { "llvm.roundeven.", WAY_FLOAT1, PPU_OP_FRINT }, { "llvm.minnum.", WAY_FLOAT2, PPU_OP_FMIN },
    { "llvm.maxnum.", WAY_FLOAT2, PPU_OP_FMAX },     { "llvm.fabs.", WAY_ABSOLUTE, PPU_OP_AND },
    { "llvm.copysign.", WAY_SIGN, PPU_OP_AND },      { "llvm.round.", WAY_AWAY, PPU_OP_FADD },
    { "llvm.fma.", WAY_FUSED, PPU_OP_DFMA },         { "llvm.fmuladd.", WAY_ROUNDED, PPU_OP_FMUL },
};

static struct element to_float(struct isel *s, struct element a)
{
    return select_convert(s, PPU_TYPE_F32, PPU_TYPE_F16, PPU_ROUND_RNE, a);
}

static struct element to_half(struct isel *s, struct element a)
{
    return select_convert(s, PPU_TYPE_F16, PPU_TYPE_F32, PPU_ROUND_RNE, a);
}

static struct element to_double(struct isel *s, struct element a)
{
    return select_convert(s, PPU_TYPE_F64, PPU_TYPE_F16, PPU_ROUND_RNE, a);
}

static struct element with_sign(struct isel *s, struct element a, struct element sign)
{
    return select_op(s, PPU_OP_OR, select_op(s, PPU_OP_AND, a, element_number(HALF_SIGN - 1)),
                     select_op(s, PPU_OP_AND, sign, element_number(HALF_SIGN)));
}

/* The sum with a half is exact in float, as the integers of half that have a fraction are small. */
static struct element round_away(struct isel *s, struct element a)
{
    struct element magnitude = to_float(s, select_op(s, PPU_OP_AND, a, element_number(HALF_SIGN - 1)));
    struct element up = select_op(s, PPU_OP_FADD, magnitude, element_number(0x3f000000));

    return with_sign(s, to_half(s, select_op1(s, PPU_OP_FFLOOR, up)), a);
}

static struct element compute(struct isel *s, const struct half_intrinsic *intrinsic, const struct element in[3])
{
    switch (intrinsic->way) {
    case WAY_FLOAT1:
        return to_half(s, select_op1(s, intrinsic->op, to_float(s, in[0])));
    case WAY_FLOAT2:
        return to_half(s, select_op(s, intrinsic->op, to_float(s, in[0]), to_float(s, in[1])));
    case WAY_ABSOLUTE:
        return select_op(s, PPU_OP_AND, in[0], element_number(HALF_SIGN - 1));
    case WAY_SIGN:
        return with_sign(s, in[0], in[1]);
    case WAY_AWAY:
        return round_away(s, in[0]);
    case WAY_FUSED: {
        struct element sum = select_op3(s, PPU_OP_DFMA, to_double(s, in[0]), to_double(s, in[1]), to_double(s, in[2]));
        return select_convert(s, PPU_TYPE_F16, PPU_TYPE_F64, PPU_ROUND_RNE, sum);
    }
    default: {
        struct element product = to_half(s, select_op(s, PPU_OP_FMUL, to_float(s, in[0]), to_float(s, in[1])));
        return to_half(s, select_op(s, PPU_OP_FADD, to_float(s, product), to_float(s, in[2])));
    }
    }
}

static bool is_half(LLVMTypeRef type)
{
    LLVMTypeRef element = LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;

    return LLVMGetTypeKind(element) == LLVMHalfTypeKind;
}

bool select_half(struct isel *s, LLVMValueRef call, const char *name, uint32_t i, struct element *done)
{
    struct element in[3] = { { .kind = ELEMENT_UNDEFINED } };

    if (LLVMGetNumArgOperands(call) == 0 || !is_half(LLVMTypeOf(LLVMGetOperand(call, 0)))) {
        return false;
    }
    for (uint32_t k = 0; k < PPU_ARRAY_SIZE(intrinsics); k++) {
        if (strncmp(name, intrinsics[k].name, strlen(intrinsics[k].name)) == 0) {
            for (uint32_t o = 0; o < PPU_MIN(LLVMGetNumArgOperands(call), PPU_ARRAY_SIZE(in)); o++) {
                in[o] = select_element(s, LLVMGetOperand(call, o), i);
            }
            *done = compute(s, &intrinsics[k], in);
            return true;
        }
    }
    return false;
}
