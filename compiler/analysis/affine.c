/* SPDX-License-Identifier: MIT */
#include "compiler/analysis/affine.h"

#include "compiler/analysis/ir.h"
#include "ppu/macros.h"

#define DEPTH 12u
#define ROOT_VALUES 16u
#define ZERO_BITS 6u /* more than any access is aligned to */

/* How a 32-bit value becomes one of 64 bits. */
enum widening {
    WIDE, /* it has 64 bits */
    WIDE_SIGNED,
    WIDE_UNSIGNED,
};

static bool add_term(struct affine *sum, LLVMValueRef value, bool is_signed, int64_t scale)
{
    uint32_t at = 0;

    while (at < sum->count && (uintptr_t)sum->terms[at].value < (uintptr_t)value) {
        at++;
    }
    while (at < sum->count && sum->terms[at].value == value) {
        if (sum->terms[at].is_signed == is_signed) {
            sum->terms[at].scale += scale;
            return true;
        }
        at++;
    }
    if (sum->count == AFFINE_TERMS) {
        return false;
    }
    for (uint32_t i = sum->count++; i > at; i--) {
        sum->terms[i] = sum->terms[i - 1];
    }
    sum->terms[at] = (struct affine_term){ value, is_signed, scale };
    return true;
}

/* True when widening the operands gives the widened result: nothing is lost at 32 bits. */
static bool passes(LLVMValueRef value, enum widening widening)
{
    return widening == WIDE || (widening == WIDE_SIGNED ? LLVMGetNSW(value) : LLVMGetNUW(value));
}

static bool add_value(struct affine *sum, LLVMValueRef value, enum widening widening, int64_t scale, uint32_t depth);

static int64_t constant_value(LLVMValueRef constant, enum widening widening)
{
    return widening == WIDE_UNSIGNED ? (int64_t)LLVMConstIntGetZExtValue(constant) : LLVMConstIntGetSExtValue(constant);
}

static bool add_sum(struct affine *sum, LLVMValueRef value, enum widening widening, int64_t scale, uint32_t depth,
                    int64_t sign)
{
    return add_value(sum, LLVMGetOperand(value, 0), widening, scale, depth) &&
           add_value(sum, LLVMGetOperand(value, 1), widening, (int64_t)((uint64_t)scale * (uint64_t)sign), depth);
}

static bool add_leaf(struct affine *sum, LLVMValueRef value, enum widening widening, int64_t scale)
{
    return add_term(sum, value, widening != WIDE_UNSIGNED, scale);
}

static bool add_widened(struct affine *sum, LLVMValueRef value, int64_t scale, uint32_t depth)
{
    LLVMValueRef narrow = LLVMGetOperand(value, 0);

    if (LLVMGetInstructionOpcode(value) == LLVMSExt || LLVMGetNNeg(value)) {
        return add_value(sum, narrow, WIDE_SIGNED, scale, depth);
    }
    return add_value(sum, narrow, WIDE_UNSIGNED, scale, depth);
}

static bool add_value(struct affine *sum, LLVMValueRef value, enum widening widening, int64_t scale, uint32_t depth)
{
    if (LLVMIsAConstantInt(value)) {
        sum->offset = (int64_t)((uint64_t)sum->offset + (uint64_t)constant_value(value, widening) * (uint64_t)scale);
        return true;
    }
    if (!LLVMIsAInstruction(value) || depth == 0) {
        return add_leaf(sum, value, widening, scale);
    }
    LLVMValueRef second = LLVMGetNumOperands(value) == 2 ? LLVMGetOperand(value, 1) : NULL;
    bool constant = second && LLVMIsAConstantInt(second);
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMSExt:
    case LLVMZExt:
        return widening == WIDE && ir_bits_of_integer(LLVMGetOperand(value, 0)) > 1
                   ? add_widened(sum, value, scale, depth - 1)
                   : add_leaf(sum, value, widening, scale);
    case LLVMAdd:
        return passes(value, widening) ? add_sum(sum, value, widening, scale, depth - 1, 1)
                                       : add_leaf(sum, value, widening, scale);
    case LLVMSub:
        return passes(value, widening) ? add_sum(sum, value, widening, scale, depth - 1, -1)
                                       : add_leaf(sum, value, widening, scale);
    case LLVMOr: /* no carry, and no bit is in both: a sum that does not wrap */
        return LLVMGetIsDisjoint(value) ? add_sum(sum, value, widening, scale, depth - 1, 1)
                                        : add_leaf(sum, value, widening, scale);
    case LLVMShl:
        return constant && LLVMConstIntGetZExtValue(second) < 32 && passes(value, widening)
                   ? add_value(sum, LLVMGetOperand(value, 0), widening,
                               (int64_t)((uint64_t)scale << LLVMConstIntGetZExtValue(second)), depth - 1)
                   : add_leaf(sum, value, widening, scale);
    case LLVMMul:
        return constant && passes(value, widening)
                   ? add_value(sum, LLVMGetOperand(value, 0), widening,
                               (int64_t)((uint64_t)scale * (uint64_t)constant_value(second, widening)), depth - 1)
                   : add_leaf(sum, value, widening, scale);
    default:
        return add_leaf(sum, value, widening, scale);
    }
}

static bool add_index(struct affine *sum, LLVMValueRef index, int64_t size)
{
    return add_value(sum, index, ir_bits_of_integer(index) == 64 ? WIDE : WIDE_SIGNED, size, DEPTH);
}

static bool add_offsets(const struct compilation *compilation, struct affine *sum, LLVMValueRef gep)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);

    for (int i = 1; i < LLVMGetNumOperands(gep); i++) {
        LLVMValueRef index = LLVMGetOperand(gep, (unsigned)i);
        if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            uint32_t member = (uint32_t)LLVMConstIntGetZExtValue(index);
            sum->offset += (int64_t)LLVMOffsetOfElement(compilation->layout, type, member);
            type = LLVMStructGetTypeAtIndex(type, member);
            continue;
        }
        type = i > 1 ? LLVMGetElementType(type) : type;
        if (ir_bits_of_integer(index) == 0 ||
            !add_index(sum, index, (int64_t)LLVMABISizeOfType(compilation->layout, type))) {
            return false;
        }
    }
    return true;
}

static void drop_zeros(struct affine *sum)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < sum->count; i++) {
        if (sum->terms[i].scale != 0) {
            sum->terms[kept++] = sum->terms[i];
        }
    }
    sum->count = kept;
}

/* True for a cast that leaves the number as it is. */
static bool keeps_number(LLVMValueRef cast)
{
    return ir_is_instruction(cast, LLVMAddrSpaceCast) && ir_pointer_space(LLVMGetOperand(cast, 0)) == SPACE_GLOBAL &&
           ir_pointer_space(cast) == SPACE_GENERIC;
}

struct affine affine_of(const struct compilation *compilation, LLVMValueRef pointer)
{
    struct affine sum = { .root = pointer };

    for (;;) {
        struct affine next = sum;
        bool offsets = ir_is_instruction(sum.root, LLVMGetElementPtr) &&
                       LLVMGetTypeKind(LLVMTypeOf(sum.root)) == LLVMPointerTypeKind &&
                       add_offsets(compilation, &next, sum.root);
        if (!offsets && !keeps_number(sum.root)) {
            break;
        }
        sum = offsets ? next : sum;
        sum.root = LLVMGetOperand(sum.root, 0);
    }
    drop_zeros(&sum);
    return sum;
}

bool affine_has_same_terms(const struct affine *a, const struct affine *b)
{
    if (a->count != b->count) {
        return false;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        const struct affine_term *x = &a->terms[i], *y = &b->terms[i];
        bool wide = ir_bits_of_integer(x->value) == 64;
        if (x->value != y->value || x->scale != y->scale || (!wide && x->is_signed != y->is_signed)) {
            return false;
        }
    }
    return true;
}

bool affine_is_parallel(const struct affine *a, const struct affine *b)
{
    return a->root == b->root && affine_has_same_terms(a, b);
}

/* ---- roots ---- */

struct search {
    LLVMValueRef seen[ROOT_VALUES];
    uint32_t count;
    LLVMValueRef found; /* so far; NULL: nothing */
};

/* False: unknown. */
static bool find_root(struct search *search, LLVMValueRef pointer)
{
    while (ir_is_instruction(pointer, LLVMGetElementPtr) || ir_is_instruction(pointer, LLVMAddrSpaceCast) ||
           ir_is_instruction(pointer, LLVMFreeze)) {
        pointer = LLVMGetOperand(pointer, 0);
    }
    for (uint32_t i = 0; i < search->count; i++) {
        if (search->seen[i] == pointer) {
            return true;
        }
    }
    if (search->count == ROOT_VALUES) {
        return false;
    }
    search->seen[search->count++] = pointer;
    if (ir_is_instruction(pointer, LLVMPHI)) {
        bool known = true;
        for (uint32_t i = 0; i < LLVMCountIncoming(pointer) && known; i++) {
            known = find_root(search, LLVMGetIncomingValue(pointer, i));
        }
        return known;
    }
    if (ir_is_instruction(pointer, LLVMSelect)) {
        return find_root(search, LLVMGetOperand(pointer, 1)) && find_root(search, LLVMGetOperand(pointer, 2));
    }
    bool first = !search->found;
    search->found = first ? pointer : search->found;
    return search->found == pointer;
}

LLVMValueRef affine_root(LLVMValueRef pointer)
{
    struct search search = { .count = 0 };

    return find_root(&search, pointer) ? search.found : NULL;
}

/* ---- alignment ---- */

static uint32_t zeros_of_number(uint64_t number)
{
    return number == 0 ? ZERO_BITS : PPU_MIN((uint32_t)__builtin_ctzll(number), ZERO_BITS);
}

/* The value without the constants that are added to it, one after the other; their sum. */
static LLVMValueRef without_constants(LLVMValueRef value, uint64_t *constant)
{
    *constant = 0;
    for (;;) {
        bool sum = ir_is_instruction(value, LLVMAdd) || (ir_is_instruction(value, LLVMOr) && LLVMGetIsDisjoint(value));
        if (!sum || !LLVMIsAConstantInt(LLVMGetOperand(value, 1))) {
            return value;
        }
        *constant += (uint64_t)LLVMConstIntGetSExtValue(LLVMGetOperand(value, 1));
        value = LLVMGetOperand(value, 0);
    }
}

/* `phi`: what is looked into already, taken to have all its bits 0: the others decide. */
static uint32_t zero_bits(LLVMValueRef value, uint32_t depth, LLVMValueRef phi)
{
    if (LLVMIsAConstantInt(value)) {
        return zeros_of_number(LLVMConstIntGetZExtValue(value));
    }
    if (value == phi) {
        return ZERO_BITS;
    }
    if (!LLVMIsAInstruction(value) || depth == 0 || ir_bits_of_integer(value) == 0) {
        return 0;
    }
    uint64_t constant;
    LLVMValueRef rest = without_constants(value, &constant);
    if (rest != value) {
        uint32_t x = zero_bits(rest, depth - 1, phi), y = zeros_of_number(constant);
        return PPU_MIN(x, y);
    }
    LLVMValueRef a = LLVMGetNumOperands(value) != 0 ? LLVMGetOperand(value, 0) : NULL;
    LLVMValueRef b = LLVMGetNumOperands(value) == 2 ? LLVMGetOperand(value, 1) : NULL;
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMSExt:
    case LLVMZExt:
        return zero_bits(a, depth - 1, phi);
    case LLVMAdd:
    case LLVMSub:
    case LLVMOr: {
        uint32_t x = zero_bits(a, depth - 1, phi), y = zero_bits(b, depth - 1, phi);
        return PPU_MIN(x, y);
    }
    case LLVMAnd: {
        uint32_t x = zero_bits(a, depth - 1, phi), y = zero_bits(b, depth - 1, phi);
        return PPU_MAX(x, y);
    }
    case LLVMMul: {
        uint32_t sum = zero_bits(a, depth - 1, phi) + zero_bits(b, depth - 1, phi);
        return PPU_MIN(sum, ZERO_BITS);
    }
    case LLVMShl: {
        uint64_t shift = LLVMIsAConstantInt(b) ? LLVMConstIntGetZExtValue(b) : 0;
        uint32_t sum = zero_bits(a, depth - 1, phi) + (uint32_t)PPU_MIN(shift, ZERO_BITS);
        return PPU_MIN(sum, ZERO_BITS);
    }
    case LLVMPHI: {
        uint32_t zeros = !phi ? ZERO_BITS : 0;
        for (uint32_t i = 0; i < LLVMCountIncoming(value) && !phi; i++) {
            uint32_t incoming = zero_bits(LLVMGetIncomingValue(value, i), depth - 1, value);
            zeros = PPU_MIN(zeros, incoming);
        }
        return zeros;
    }
    default:
        return 0;
    }
}

uint32_t affine_zero_bits(LLVMValueRef value)
{
    return zero_bits(value, DEPTH, NULL);
}
