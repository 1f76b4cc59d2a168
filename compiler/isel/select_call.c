/* SPDX-License-Identifier: MIT */
/* Selects calls: primitives of the device library, and LLVM's intrinsics. */
#include "compiler/isel/select.h"

#include "compiler/isel/gather_select.h"
#include "compiler/isel/select_debug.h"
#include "compiler/isel/select_lanes.h"
#include "compiler/mir/functions.h"
#include "ppu/macros.h"

#include <string.h>

/* ---- primitives ---- */

static uint32_t constant_operand(struct isel *s, LLVMValueRef call, uint32_t index)
{
    LLVMValueRef operand = LLVMGetOperand(call, index);

    if (!LLVMIsAConstantInt(operand)) {
        compilation_fail_value(s->compilation, "this built-in function needs a constant argument:", call);
    }
    return (uint32_t)LLVMConstIntGetZExtValue(operand);
}

/* `number`: its immediate, if it has one. */
static void select_plain(struct isel *s, enum ppu_op op, uint32_t number)
{
    struct mir_insn insn = mir_insn(op);

    insn.code.immed = insn.code.format == PPU_FMT_IMM;
    insn.code.imm = (int32_t)number;
    insn.ordered = true;
    select_add(s, &insn);
}

/* A conversion that rounds as its second argument says. */
static void select_rounded(struct isel *s, LLVMValueRef call, enum ppu_type to, enum ppu_type from)
{
    struct mir_insn insn = mir_insn(PPU_OP_CVT);

    insn.code.dtype = (uint8_t)to;
    insn.code.stype = (uint8_t)from;
    insn.code.round = (uint8_t)constant_operand(s, call, 1);
    insn.code.wd = (uint8_t)ppu_type_words(to);
    insn.code.wa = (uint8_t)ppu_type_words(from);
    insn.a = select_reg(s, select_element(s, LLVMGetOperand(call, 0), 0));
    insn.d = select_new(s, insn.code.wd);
    select_add(s, &insn);
    select_set(s, call, 0, element_register(insn.d, insn.code.wd));
}

/* The operation that a primitive of one float is, PPU_OP_NOP: it is none. */
static enum ppu_op float_primitive(enum primitive primitive)
{
    switch (primitive) {
    case PRIMITIVE_EXP2:
        return PPU_OP_FEXP2;
    case PRIMITIVE_LOG2:
        return PPU_OP_FLOG2;
    case PRIMITIVE_SIN:
        return PPU_OP_FSIN;
    case PRIMITIVE_COS:
        return PPU_OP_FCOS;
    case PRIMITIVE_RSQRT:
        return PPU_OP_FRSQRT;
    default:
        return PPU_OP_NOP;
    }
}

static bool select_primitive(struct isel *s, LLVMValueRef call)
{
    struct mir_insn fence = mir_insn(PPU_OP_FENCE);
    enum primitive primitive = primitive_find(ir_callee(call));

    if (float_primitive(primitive) != PPU_OP_NOP) {
        select_set(s, call, 0,
                   select_op1(s, float_primitive(primitive), select_element(s, LLVMGetOperand(call, 0), 0)));
        return true;
    }
    switch (primitive) {
    case PRIMITIVE_SR:
        select_set(s, call, 0, element_register(select_register(s, constant_operand(s, call, 0)), 1));
        return true;
    case PRIMITIVE_LAUNCH:
        select_set(s, call, 0, select_implicit_arg(s, constant_operand(s, call, 0), 1));
        return true;
    case PRIMITIVE_BARRIER:
        select_plain(s, PPU_OP_BAR, 0);
        return true;
    case PRIMITIVE_WAIT:
        select_plain(s, PPU_OP_CWAIT, 0);
        return true;
    case PRIMITIVE_YIELD:
    case PRIMITIVE_YIELD_NOW:
        select_plain(s, PPU_OP_YIELD, 0);
        return true;
    case PRIMITIVE_YIELD_EVERY:
        select_plain(s, PPU_OP_YIELDN, constant_operand(s, call, 0));
        return true;
    case PRIMITIVE_YIELD_CHANCE:
        select_plain(s, PPU_OP_YIELDP, constant_operand(s, call, 0));
        return true;
    case PRIMITIVE_FENCE:
        fence.code.order = (uint8_t)constant_operand(s, call, 0);
        fence.code.scope = (uint8_t)constant_operand(s, call, 1);
        select_add(s, &fence);
        return true;
    case PRIMITIVE_MULHI:
    case PRIMITIVE_MULHIU:
        select_set(s, call, 0,
                   select_op(s, primitive == PRIMITIVE_MULHI ? PPU_OP_MULHI64 : PPU_OP_MULHIU64,
                             select_element(s, LLVMGetOperand(call, 0), 0),
                             select_element(s, LLVMGetOperand(call, 1), 0)));
        return true;
    case PRIMITIVE_HALF32:
        select_rounded(s, call, PPU_TYPE_F16, PPU_TYPE_F32);
        return true;
    case PRIMITIVE_HALF64:
        select_rounded(s, call, PPU_TYPE_F16, PPU_TYPE_F64);
        return true;
    case PRIMITIVE_FLOAT_OF_S64:
        select_rounded(s, call, PPU_TYPE_F32, PPU_TYPE_S64);
        return true;
    case PRIMITIVE_FLOAT_OF_U64:
        select_rounded(s, call, PPU_TYPE_F32, PPU_TYPE_U64);
        return true;
    case PRIMITIVE_FLOAT_OF_F64:
        select_rounded(s, call, PPU_TYPE_F32, PPU_TYPE_F64);
        return true;
    case PRIMITIVE_DOUBLE_OF_S64:
        select_rounded(s, call, PPU_TYPE_F64, PPU_TYPE_S64);
        return true;
    case PRIMITIVE_DOUBLE_OF_U64:
        select_rounded(s, call, PPU_TYPE_F64, PPU_TYPE_U64);
        return true;
    case PRIMITIVE_GATHER2:
    case PRIMITIVE_GATHER4:
        gather_select(s, call);
        return true;
    default:
        return select_lanes(s, call, primitive) || select_task(s, call, primitive);
    }
}

/* ---- intrinsics that are one instruction ---- */

struct simple {
    const char *name;
    enum ppu_op op32, op64;
    uint8_t operands;
    uint8_t extend; /* integers: 1 zeros, 2 sign */
    uint8_t fmod;
};

static const struct simple simples[] = {
    { "llvm.sqrt.", PPU_OP_FSQRT, PPU_OP_DSQRT, 1, 0, 0 },
    { "llvm.floor.", PPU_OP_FFLOOR, PPU_OP_DFLOOR, 1, 0, 0 },
    { "llvm.ceil.", PPU_OP_FCEIL, PPU_OP_DCEIL, 1, 0, 0 },
    { "llvm.trunc.", PPU_OP_FTRUNC, PPU_OP_DTRUNC, 1, 0, 0 },
    { "llvm.rint.", PPU_OP_FRINT, PPU_OP_DRINT, 1, 0, 0 },
    { "llvm.nearbyint.", PPU_OP_FRINT, PPU_OP_DRINT, 1, 0, 0 },
    { "llvm.roundeven.", PPU_OP_FRINT, PPU_OP_DRINT, 1, 0, 0 },
    { "llvm.fabs.", PPU_OP_FMOV, PPU_OP_DMOV, 1, 0, PPU_FMOD_ABS_A },
    { "llvm.minnum.", PPU_OP_FMIN, PPU_OP_DMIN, 2, 0, 0 },
    { "llvm.maxnum.", PPU_OP_FMAX, PPU_OP_DMAX, 2, 0, 0 },
    { "llvm.fmuladd.", PPU_OP_FFMA, PPU_OP_DFMA, 3, 0, 0 },
    { "llvm.fma.", PPU_OP_FFMA, PPU_OP_DFMA, 3, 0, 0 },
    { "llvm.smin.", PPU_OP_MIN, PPU_OP_MIN64, 2, 2, 0 },
    { "llvm.smax.", PPU_OP_MAX, PPU_OP_MAX64, 2, 2, 0 },
    { "llvm.umin.", PPU_OP_MINU, PPU_OP_MINU64, 2, 1, 0 },
    { "llvm.umax.", PPU_OP_MAXU, PPU_OP_MAXU64, 2, 1, 0 },
    { "llvm.abs.", PPU_OP_ABS, PPU_OP_ABS64, 1, 2, 0 },
};

static struct element operand(struct isel *s, LLVMValueRef call, uint32_t which, uint32_t element)
{
    return select_element(s, LLVMGetOperand(call, which), element);
}

static struct element simple_element(struct isel *s, LLVMValueRef call, const struct simple *simple, uint32_t bits,
                                     uint32_t i)
{
    struct mir_insn insn = mir_insn(bits > 32 ? simple->op64 : simple->op32);
    struct element in[3] = { { .kind = ELEMENT_UNDEFINED } }, done;

    for (uint32_t o = 0; o < simple->operands; o++) {
        in[o] = operand(s, call, o, i);
        if (simple->extend != 0) {
            in[o] = select_extend(s, in[o], bits, simple->extend == 2);
        }
    }
    if (simple->operands == 2) {
        done = select_op(s, insn.code.op, in[0], in[1]);
    } else if (simple->operands == 3) {
        done = select_op3(s, insn.code.op, in[0], in[1], in[2]);
    } else {
        insn.a = select_reg(s, in[0]);
        insn.code.fmod = simple->fmod;
        insn.d = select_new(s, insn.code.wd);
        select_add(s, &insn);
        done = element_register(insn.d, insn.code.wd);
    }
    done.above = simple->extend == 1                            ? ABOVE_ZEROS
                 : simple->extend == 2 && simple->operands == 2 ? ABOVE_SIGN
                                                                : ABOVE_ANYTHING;
    return done;
}

/* ---- intrinsics that are several ---- */

static enum ppu_op by_width(uint32_t words, enum ppu_op op32, enum ppu_op op64)
{
    return words == 2 ? op64 : op32;
}

static struct element sign_mask(uint32_t words)
{
    return element_constant(1ull << (words * 32 - 1), words);
}

static struct element copy_sign(struct isel *s, struct element a, struct element b)
{
    uint32_t words = a.words;
    struct element mask = element_constant(~sign_mask(words).add, words);

    if (words == 2) { /* only the high words differ */
        struct mir_ref done = select_new(s, 2);
        struct element high = select_op(s, PPU_OP_AND, element_half(element_register(select_reg(s, a), 2), 1),
                                        element_number(0x7fffffff));
        struct element sign = select_op(s, PPU_OP_AND, element_half(element_register(select_reg(s, b), 2), 1),
                                        element_number(0x80000000u));
        select_copy(s, done, element_half(element_register(select_reg(s, a), 2), 0), 1);
        select_copy(s, mir_sub(done, 1), select_op(s, PPU_OP_OR, high, sign), 1);
        return element_register(done, 2);
    }
    return select_op(s, PPU_OP_OR, select_op(s, PPU_OP_AND, a, mask), select_op(s, PPU_OP_AND, b, sign_mask(1)));
}

static struct element leading_zeros(struct isel *s, struct element a, uint32_t bits)
{
    uint32_t words = a.words;

    a = select_op1(s, by_width(words, PPU_OP_CLZ, PPU_OP_CLZ64), select_extend(s, a, bits, false));
    a = words * 32 == bits ? a : select_op(s, PPU_OP_SUB, a, element_number(words * 32 - bits));
    return words == 2 ? select_widen(s, a, 32, 2, false) : a;
}

static struct element trailing_zeros(struct isel *s, struct element a, uint32_t bits)
{
    uint32_t words = a.words;

    if (bits < words * 32) {
        a = select_op(s, by_width(words, PPU_OP_OR, PPU_OP_OR64), a, element_constant(1ull << bits, words));
    }
    a = select_op1(s, by_width(words, PPU_OP_CTZ, PPU_OP_CTZ64), a);
    return words == 2 ? select_widen(s, a, 32, 2, false) : a;
}

static struct element count_ones(struct isel *s, struct element a, uint32_t bits)
{
    uint32_t words = a.words;

    a = select_op1(s, by_width(words, PPU_OP_POPC, PPU_OP_POPC64), select_extend(s, a, bits, false));
    return words == 2 ? select_widen(s, a, 32, 2, false) : a;
}

static struct element swap_halves(struct isel *s, struct element low, struct element high)
{
    struct mir_ref wide = select_new(s, 2);

    select_copy(s, wide, high, 1);
    select_copy(s, mir_sub(wide, 1), low, 1);
    return element_register(wide, 2);
}

static struct element reverse_word(struct isel *s, struct element word, bool bytes)
{
    return bytes ? select_op3(s, PPU_OP_PRMT, word, word, element_number(0x0123)) : select_op1(s, PPU_OP_BREV, word);
}

static struct element reverse(struct isel *s, struct element a, uint32_t bits, bool bytes)
{
    if (a.words == 2) {
        a = element_register(select_reg(s, a), 2);
        a = swap_halves(s, reverse_word(s, element_half(a, 0), bytes), reverse_word(s, element_half(a, 1), bytes));
        return bits == 64 ? a : select_op(s, PPU_OP_SHR64, a, element_number(64 - bits));
    }
    a = reverse_word(s, a, bytes);
    return bits == 32 ? a : select_op(s, PPU_OP_SHR, a, element_number(32 - bits));
}

/* fshl: the high bits of (a:b) << n; fshr: the low bits of (a:b) >> n; n modulo the width. */
static struct element funnel(struct isel *s, struct element a, struct element b, struct element n, uint32_t bits,
                             bool left)
{
    uint32_t words = a.words;
    enum ppu_op shl = by_width(words, PPU_OP_SHL, PPU_OP_SHL64), shr = by_width(words, PPU_OP_SHR, PPU_OP_SHR64);

    n = words == 2 ? element_half(n.kind == ELEMENT_REGISTER ? element_register(select_reg(s, n), 2) : n, 0) : n;
    if (n.kind != ELEMENT_REGISTER) {
        n = element_number((uint32_t)(n.add % bits));
    } else {
        n = bits == 32 || bits == 64 || bits == 16 || bits == 8
                ? select_op(s, PPU_OP_AND, n, element_number(bits - 1))
                : select_op(s, PPU_OP_REMU, select_extend(s, n, bits, false), element_number(bits));
    }
    struct element rest = n.kind == ELEMENT_REGISTER ? select_op(s, PPU_OP_RSUB, n, element_number(bits))
                                                     : element_number(bits - (uint32_t)n.add);
    b = select_extend(s, b, bits, false);
    a = select_op(s, shl, a, left ? n : rest);
    b = select_op(s, shr, b, left ? rest : n);
    return select_op(s, by_width(words, PPU_OP_OR, PPU_OP_OR64), a, b);
}

/* Predicate: the signed sum or difference d of a and b does not fit its `bits` = 32 * words. */
static struct element signed_overflow(struct isel *s, struct element a, struct element b, struct element d, bool sub)
{
    uint32_t words = a.words;
    enum ppu_op xor = by_width(words, PPU_OP_XOR, PPU_OP_XOR64);
    struct element t = select_op(s, by_width(words, PPU_OP_AND, PPU_OP_AND64), select_op(s, xor, a, d),
                                 sub ? select_op(s, xor, a, b) : select_op(s, xor, b, d));

    return select_compare(s, by_width(words, PPU_OP_ISETP, PPU_OP_ISETP64), PPU_ICMP_LT, t, element_constant(0, words));
}

static struct element add_or_sub(struct isel *s, struct element a, struct element b, bool sub)
{
    return select_op(s, sub ? by_width(a.words, PPU_OP_SUB, PPU_OP_SUB64) : by_width(a.words, PPU_OP_ADD, PPU_OP_ADD64),
                     a, b);
}

static struct element unsigned_overflow(struct isel *s, struct element a, struct element b, struct element d, bool sub)
{
    if (a.kind != ELEMENT_REGISTER) {
        a = element_register(select_reg(s, a), a.words);
    }
    return select_compare(s, by_width(a.words, PPU_OP_ISETP, PPU_OP_ISETP64), sub ? PPU_ICMP_LTU : PPU_ICMP_GTU, a,
                          sub ? b : d);
}

static struct element saturate_narrow(struct isel *s, struct element a, struct element b, uint32_t bits, bool sub,
                                      bool is_signed)
{
    int64_t most = is_signed ? (1ll << (bits - 1)) - 1 : (1ll << bits) - 1, least = is_signed ? -most - 1 : 0;
    struct element d = add_or_sub(s, select_extend(s, a, bits, is_signed), select_extend(s, b, bits, is_signed), sub);

    d = select_op(s, PPU_OP_MIN, d, element_number((uint32_t)most));
    d = select_op(s, PPU_OP_MAX, d, element_number((uint32_t)least));
    d.above = is_signed ? ABOVE_SIGN : ABOVE_ZEROS;
    return d;
}

static struct element saturate(struct isel *s, struct element a, struct element b, uint32_t bits, bool sub,
                               bool is_signed)
{
    uint32_t words = a.words;
    struct element limit, over;

    if (bits < 32) {
        return saturate_narrow(s, a, b, bits, sub, is_signed);
    }
    struct element d = add_or_sub(s, a, b, sub);
    if (is_signed) {
        limit = select_op(s, by_width(words, PPU_OP_XOR, PPU_OP_XOR64),
                          select_op(s, by_width(words, PPU_OP_ASR, PPU_OP_ASR64), a, element_number(words * 32 - 1)),
                          element_constant(~sign_mask(words).add, words));
        over = signed_overflow(s, a, b, d, sub);
    } else {
        limit = element_constant(sub ? 0 : ~0ull, words);
        over = unsigned_overflow(s, a, b, d, sub);
    }
    return select_choose(s, over, limit, d);
}

static struct element high_product(struct isel *s, struct element a, struct element b, bool is_signed)
{
    return select_op(s,
                     is_signed ? by_width(a.words, PPU_OP_MULHI, PPU_OP_MULHI64)
                               : by_width(a.words, PPU_OP_MULHIU, PPU_OP_MULHIU64),
                     a, b);
}

/* {result, overflow} */
static void with_overflow(struct isel *s, LLVMValueRef call, const char *kind)
{
    bool is_signed = kind[0] == 's', sub = strncmp(kind + 1, "sub", 3) == 0;
    struct element a = operand(s, call, 0, 0), b = operand(s, call, 1, 0), d, over;
    uint32_t words = a.words;

    if (ir_bits(s->compilation, LLVMTypeOf(LLVMGetOperand(call, 0))) != words * 32) {
        compilation_fail_value(s->compilation, "compile a value: there is no code for", call);
    }
    if (strncmp(kind + 1, "mul", 3) == 0) {
        struct element high = high_product(s, a, b, is_signed);
        d = select_op(s, by_width(words, PPU_OP_MUL, PPU_OP_MUL64), a, b);
        over = select_compare(
            s, by_width(words, PPU_OP_ISETP, PPU_OP_ISETP64), PPU_ICMP_NE, high,
            is_signed ? select_op(s, by_width(words, PPU_OP_ASR, PPU_OP_ASR64), d, element_number(words * 32 - 1))
                      : element_constant(0, words));
    } else {
        d = add_or_sub(s, a, b, sub);
        over = is_signed ? signed_overflow(s, a, b, d, sub) : unsigned_overflow(s, a, b, d, sub);
    }
    select_set(s, call, 0, d);
    select_set(s, call, 1, over);
}

/* -1, 0 or 1 as a is less than, equal to or greater than b. */
static struct element three_way(struct isel *s, LLVMValueRef call, uint32_t i, bool is_signed)
{
    uint32_t bits = ir_bits(s->compilation, select_element_type(s, LLVMTypeOf(LLVMGetOperand(call, 0)), i));
    uint32_t words = ir_bits(s->compilation, select_element_type(s, LLVMTypeOf(call), i)) > 32 ? 2 : 1;
    struct element a = select_extend(s, operand(s, call, 0, i), bits, is_signed);
    struct element b = select_extend(s, operand(s, call, 1, i), bits, is_signed);
    enum ppu_op setp = by_width(a.words, PPU_OP_ISETP, PPU_OP_ISETP64);
    struct element less = select_compare(s, setp, is_signed ? PPU_ICMP_LT : PPU_ICMP_LTU, a, b);
    struct element more = select_compare(s, setp, is_signed ? PPU_ICMP_GT : PPU_ICMP_GTU, a, b);

    return select_choose(s, less, element_constant(~0ull, words),
                         select_choose(s, more, element_constant(1, words), element_constant(0, words)));
}

/* A float to an integer of its own width or another, saturating: what the conversion does by itself. */
static struct element to_integer(struct isel *s, LLVMValueRef call, uint32_t i, bool is_signed)
{
    uint32_t from = ir_bits(s->compilation, select_element_type(s, LLVMTypeOf(LLVMGetOperand(call, 0)), i));
    uint32_t to = ir_bits(s->compilation, select_element_type(s, LLVMTypeOf(call), i));
    struct mir_insn insn = mir_insn(PPU_OP_CVT);

    if (to != 8 && to != 16 && to != 32 && to != 64) {
        compilation_fail_value(s->compilation, "compile a value: there is no code for", call);
    }
    insn.code.stype = from == 64 ? PPU_TYPE_F64 : from == 32 ? PPU_TYPE_F32 : PPU_TYPE_F16;
    insn.code.dtype = (uint8_t)((to == 8    ? PPU_TYPE_U8
                                 : to == 16 ? PPU_TYPE_U16
                                 : to == 32 ? PPU_TYPE_U32
                                            : PPU_TYPE_U64) +
                                is_signed);
    insn.code.round = PPU_ROUND_RTZ;
    insn.code.wa = from == 64 ? 2 : 1;
    insn.code.wd = to == 64 ? 2 : 1;
    insn.a = select_reg(s, operand(s, call, 0, i));
    insn.d = select_new(s, insn.code.wd);
    select_add(s, &insn);
    struct element done = element_register(insn.d, insn.code.wd);
    done.above = is_signed ? ABOVE_SIGN : ABOVE_ZEROS;
    return done;
}

/*
 * The classes of a float's bits, taken as an unsigned number, follow each other: zero, subnormal, normal, infinity,
 * signalling NaN, quiet NaN, and again with the sign. The bit of LLVM's mask for each, and where it begins.
 */
struct float_class {
    uint8_t positive, negative; /* bits of the mask */
    uint64_t first32, first64, first16;
};

static const struct float_class float_classes[] = {
    { 6, 5, 0, 0, 0 },
    { 7, 4, 1, 1, 1 },
    { 8, 3, 0x00800000, 0x0010000000000000, 0x0400 },
    { 9, 2, 0x7f800000, 0x7ff0000000000000, 0x7c00 },
    { 0, 0, 0x7f800001, 0x7ff0000000000001, 0x7c01 },
    { 1, 1, 0x7fc00000, 0x7ff8000000000000, 0x7e00 },
};
#define FLOAT_CLASSES 6u

/* First bit pattern of the n-th class; the classes with the sign follow those without. */
static uint64_t class_first(uint32_t n, uint32_t bits)
{
    const struct float_class *class = &float_classes[n % FLOAT_CLASSES];
    uint64_t first = bits == 64 ? class->first64 : bits == 32 ? class->first32 : class->first16;

    return first + (n >= FLOAT_CLASSES ? 1ull << (bits - 1) : 0);
}

static bool class_wanted(uint32_t n, uint32_t mask)
{
    const struct float_class *class = &float_classes[n % FLOAT_CLASSES];

    return mask >> (n >= FLOAT_CLASSES ? class->negative : class->positive) & 1;
}

/* True when the float is of one of the classes: a test for each run of them. */
static struct element is_class(struct isel *s, struct element a, uint32_t bits, uint32_t mask)
{
    bool wide = bits == 64;
    struct element any = element_number(0);

    for (uint32_t n = 0; n < 2 * FLOAT_CLASSES; n++) {
        uint32_t end = n;
        while (end < 2 * FLOAT_CLASSES && class_wanted(end, mask)) {
            end++;
        }
        if (end == n) {
            continue;
        }
        uint64_t first = class_first(n, bits);
        uint64_t last = (end == 2 * FLOAT_CLASSES ? 2ull << (bits - 1) : class_first(end, bits)) - 1;
        struct element test = select_op(s, wide ? PPU_OP_SUB64 : PPU_OP_SUB, a, element_constant(first, a.words));
        test = select_compare(s, wide ? PPU_OP_ISETP64 : PPU_OP_ISETP, PPU_ICMP_LEU, test,
                              element_constant(last - first, a.words));
        any = any.kind == ELEMENT_REGISTER ? select_logic(s, PPU_OP_POR, any, test) : test;
        n = end;
    }
    return any;
}

/* ---- which one ---- */

static bool begins(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool means_nothing(const char *name)
{
    static const char *const names[] = { "llvm.lifetime.", "llvm.assume", "llvm.invariant.",
                                         "llvm.experimental.noalias.scope.decl" };

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(names); i++) {
        if (begins(name, names[i])) {
            return true;
        }
    }
    return false;
}

static struct element round_away(struct isel *s, struct element a)
{
    bool wide = a.words == 2;
    uint64_t half = wide ? 0x3fe0000000000000ull : 0x3f000000u;
    struct element whole = select_op1(s, by_width(a.words, PPU_OP_FTRUNC, PPU_OP_DTRUNC), a);
    struct element rest = select_op(s, by_width(a.words, PPU_OP_FSUB, PPU_OP_DSUB), a, whole);
    struct mir_insn magnitude = mir_insn(wide ? PPU_OP_DMOV : PPU_OP_FMOV);

    magnitude.a = select_reg(s, rest);
    magnitude.code.fmod = PPU_FMOD_ABS_A;
    magnitude.d = select_new(s, a.words);
    select_add(s, &magnitude);
    struct element up = select_compare(s, by_width(a.words, PPU_OP_FSETP, PPU_OP_DSETP), PPU_FCMP_GE,
                                       element_register(magnitude.d, a.words), element_constant(half, a.words));
    struct element one = select_choose(s, up, element_constant(wide ? 0x3ff0000000000000ull : 0x3f800000u, a.words),
                                       element_constant(0, a.words));
    one = copy_sign(s, one, a);
    return copy_sign(s, select_op(s, by_width(a.words, PPU_OP_FADD, PPU_OP_DADD), whole, one), a);
}

struct reduction {
    const char *name;
    enum ppu_op op32, op64;
    uint8_t extend; /* 1 zeros, 2 sign */
};

static const struct reduction reductions[] = {
    { "add.", PPU_OP_ADD, PPU_OP_ADD64, 0 },    { "mul.", PPU_OP_MUL, PPU_OP_MUL64, 0 },
    { "and.", PPU_OP_AND, PPU_OP_AND64, 0 },    { "or.", PPU_OP_OR, PPU_OP_OR64, 0 },
    { "xor.", PPU_OP_XOR, PPU_OP_XOR64, 0 },    { "smin.", PPU_OP_MIN, PPU_OP_MIN64, 2 },
    { "smax.", PPU_OP_MAX, PPU_OP_MAX64, 2 },   { "umin.", PPU_OP_MINU, PPU_OP_MINU64, 1 },
    { "umax.", PPU_OP_MAXU, PPU_OP_MAXU64, 1 },
};

/* All elements of a vector of integers joined by an operation; false: there is no code for it. */
static bool reduce(struct isel *s, LLVMValueRef call, const char *name, uint32_t bits, struct element *done)
{
    uint32_t count = select_elements(s, LLVMTypeOf(LLVMGetOperand(call, 0)));

    for (uint32_t k = 0; k < PPU_ARRAY_SIZE(reductions); k++) {
        const struct reduction *r = &reductions[k];
        if (!begins(name, r->name) || bits == 1) {
            continue;
        }
        for (uint32_t i = 0; i < count; i++) {
            struct element element = operand(s, call, 0, i);
            if (r->extend != 0) {
                element = select_extend(s, element, bits, r->extend == 2);
            }
            *done = i == 0 ? element : select_op(s, by_width(element.words, r->op32, r->op64), *done, element);
        }
        done->above = ABOVE_ANYTHING;
        return true;
    }
    return false;
}

/* One element of an intrinsic; false: there is no code for it. */
static bool intrinsic_element(struct isel *s, LLVMValueRef call, const char *name, uint32_t i, struct element *done)
{
    uint32_t bits = ir_bits(s->compilation, select_element_type(s, LLVMTypeOf(call), i));

    if (select_half(s, call, name, i, done)) {
        return true;
    }
    for (uint32_t k = 0; k < PPU_ARRAY_SIZE(simples); k++) {
        if (begins(name, simples[k].name)) {
            *done = simple_element(s, call, &simples[k], bits, i);
            return bits != 16 || simples[k].extend != 0;
        }
    }
    if (begins(name, "llvm.vector.reduce.")) {
        return reduce(s, call, name + strlen("llvm.vector.reduce."), bits, done);
    }
    if (begins(name, "llvm.copysign.")) {
        *done = copy_sign(s, operand(s, call, 0, i), operand(s, call, 1, i));
    } else if (begins(name, "llvm.round.")) {
        *done = round_away(s, operand(s, call, 0, i));
    } else if (begins(name, "llvm.ctlz.")) {
        *done = leading_zeros(s, operand(s, call, 0, i), bits);
    } else if (begins(name, "llvm.cttz.")) {
        *done = trailing_zeros(s, operand(s, call, 0, i), bits);
    } else if (begins(name, "llvm.ctpop.")) {
        *done = count_ones(s, operand(s, call, 0, i), bits);
    } else if (begins(name, "llvm.bitreverse.") || begins(name, "llvm.bswap.")) {
        *done = reverse(s, operand(s, call, 0, i), bits, name[6] == 's');
    } else if (begins(name, "llvm.fshl.") || begins(name, "llvm.fshr.")) {
        *done = funnel(s, operand(s, call, 0, i), operand(s, call, 1, i), operand(s, call, 2, i), bits, name[8] == 'l');
    } else if (begins(name, "llvm.sadd.sat.") || begins(name, "llvm.ssub.sat.")) {
        *done = saturate(s, operand(s, call, 0, i), operand(s, call, 1, i), bits, name[6] == 's', true);
    } else if (begins(name, "llvm.uadd.sat.") || begins(name, "llvm.usub.sat.")) {
        *done = saturate(s, operand(s, call, 0, i), operand(s, call, 1, i), bits, name[6] == 's', false);
    } else if (begins(name, "llvm.is.fpclass.")) {
        LLVMTypeRef type = select_element_type(s, LLVMTypeOf(LLVMGetOperand(call, 0)), i);
        bits = ir_bits(s->compilation, type);
        struct element a = operand(s, call, 0, i);
        *done = is_class(s, bits == 16 ? select_extend(s, a, bits, false) : a, bits, constant_operand(s, call, 1));
    } else if (begins(name, "llvm.scmp.") || begins(name, "llvm.ucmp.")) {
        *done = three_way(s, call, i, name[5] == 's');
    } else if (begins(name, "llvm.fptosi.sat.") || begins(name, "llvm.fptoui.sat.")) {
        *done = to_integer(s, call, i, name[9] == 's');
    } else {
        return false;
    }
    return true;
}

static const struct function *find_function(const struct isel *s, LLVMValueRef callee, uint32_t *number)
{
    for (*number = 0; s->kernel->functions[*number].function != callee; (*number)++) {
    }
    return &s->kernel->functions[*number];
}

static void call_function(struct isel *s, LLVMValueRef call)
{
    struct mir_insn insn = mir_insn(PPU_OP_CALL);
    uint32_t callee;
    const struct function *function = find_function(s, ir_called(call), &callee);

    for (uint32_t i = 0; i < LLVMGetNumArgOperands(call); i++) {
        select_put_all(s, LLVMGetOperand(call, i), function->argument_at[i]);
    }
    insn.code.immed = 1;
    insn.callee = callee + 1;
    memcpy(insn.clobbers, function->clobbers, sizeof(insn.clobbers));
    select_add(s, &insn);
    select_get_all(s, call, function->result_at);
}

void select_call(struct isel *s, LLVMValueRef call)
{
    const char *name = ir_callee(call);
    const char *overflow = strstr(name, ".with.overflow.");

    if (select_primitive(s, call) || means_nothing(name) || select_debug(s, call, name)) {
        return;
    }
    if (begins(name, "llvm.memcpy.") || begins(name, "llvm.memset.")) {
        select_memory_call(s, call, name);
        return;
    }
    if (begins(name, "llvm.") && overflow) {
        with_overflow(s, call, name + 5);
        return;
    }
    if (ir_called(call)) {
        call_function(s, call);
        return;
    }
    if (LLVMIsAInlineAsm(LLVMGetCalledValue(call))) {
        compilation_fail_value(s->compilation, "assembly of another machine:", call);
    }
    if (!begins(name, "llvm.")) {
        compilation_fail(s->compilation, PPU_COMPILE_UNSUPPORTED, "kernel '%s' calls '%s', which does not exist",
                         s->ir->name, name);
    }
    for (uint32_t i = 0; i < select_elements(s, LLVMTypeOf(call)); i++) {
        struct element done;
        if (!intrinsic_element(s, call, name, i, &done)) {
            compilation_fail_value(s->compilation, "compile a value: there is no code for", call);
        }
        select_set(s, call, i, done);
    }
}
