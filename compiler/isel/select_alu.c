/* SPDX-License-Identifier: MIT */
/* Selects arithmetic, comparisons, conversions, and moves of elements. */
#include "compiler/isel/select.h"
#include "ppu/macros.h"

/* ---- widths ---- */

static struct element extend_constant(struct element element, uint32_t bits, bool is_signed)
{
    uint64_t value = bits == 64 ? element.add : element.add & ((1ull << bits) - 1);

    if (is_signed && bits < 64 && value >> (bits - 1) & 1) {
        value |= ~0ull << bits;
    }
    element.kind = ELEMENT_CONSTANT;
    element.add = element.words == 1 ? (uint32_t)value : value;
    return element;
}

struct element select_extend(struct isel *s, struct element element, uint32_t bits, bool is_signed)
{
    enum element_above wanted = is_signed ? ABOVE_SIGN : ABOVE_ZEROS;
    uint32_t above = element.words * 32 - bits;
    struct element done;

    if (element.kind != ELEMENT_REGISTER) {
        return extend_constant(element, bits, is_signed);
    }
    if (above == 0 || element.above == wanted) {
        return element;
    }
    if (element.words == 2) {
        done = select_op(s, is_signed ? PPU_OP_ASR64 : PPU_OP_SHR64,
                         select_op(s, PPU_OP_SHL64, element, element_number(above)), element_number(above));
    } else if (!is_signed) {
        done = select_op(s, PPU_OP_AND, element, element_number((1u << bits) - 1));
    } else {
        done =
            select_op(s, PPU_OP_ASR, select_op(s, PPU_OP_SHL, element, element_number(above)), element_number(above));
    }
    done.above = wanted;
    return done;
}

struct element select_widen(struct isel *s, struct element element, uint32_t bits, uint32_t words, bool is_signed)
{
    element = select_extend(s, element, bits, is_signed);
    if (element.words == words) {
        return element;
    }
    if (element.kind != ELEMENT_REGISTER) {
        return element_constant(is_signed ? (uint64_t)(int64_t)(int32_t)element.add : element.add, words);
    }
    element = element_register(select_reg(s, element), 1);
    struct mir_ref wide = select_new(s, 2);
    select_copy(s, wide, element, 1);
    if (is_signed) {
        struct mir_insn insn = mir_insn(PPU_OP_ASR);
        insn.a = element.ref;
        insn.code.immed = 1;
        insn.code.imm = 31;
        insn.d = mir_sub(wide, 1);
        select_add(s, &insn);
    } else {
        select_copy(s, mir_sub(wide, 1), element_number(0), 1);
    }
    return element_register(wide, 2);
}

static uint32_t type_bits(struct isel *s, LLVMValueRef value, uint32_t index)
{
    return ir_bits(s->compilation, select_element_type(s, LLVMTypeOf(value), index));
}

/* ---- integers ---- */

struct integer_op {
    LLVMOpcode opcode;
    enum ppu_op op, op64;
    bool zeros, sign; /* operands must be extended so */
};

static const struct integer_op integer_ops[] = {
    { LLVMAdd, PPU_OP_ADD, PPU_OP_ADD64, false, false },   { LLVMSub, PPU_OP_SUB, PPU_OP_SUB64, false, false },
    { LLVMMul, PPU_OP_MUL, PPU_OP_MUL64, false, false },   { LLVMAnd, PPU_OP_AND, PPU_OP_AND64, false, false },
    { LLVMOr, PPU_OP_OR, PPU_OP_OR64, false, false },      { LLVMXor, PPU_OP_XOR, PPU_OP_XOR64, false, false },
    { LLVMUDiv, PPU_OP_DIVU, PPU_OP_DIVU64, true, false }, { LLVMURem, PPU_OP_REMU, PPU_OP_REMU64, true, false },
    { LLVMSDiv, PPU_OP_DIV, PPU_OP_DIV64, false, true },   { LLVMSRem, PPU_OP_REM, PPU_OP_REM64, false, true },
    { LLVMShl, PPU_OP_SHL, PPU_OP_SHL64, false, false },   { LLVMLShr, PPU_OP_SHR, PPU_OP_SHR64, true, false },
    { LLVMAShr, PPU_OP_ASR, PPU_OP_ASR64, false, true },
};

static struct element bool_op(struct isel *s, LLVMValueRef value, LLVMOpcode opcode, struct element a, struct element b)
{
    switch (opcode) {
    case LLVMAnd:
    case LLVMMul:
        return select_logic(s, PPU_OP_PAND, a, b);
    case LLVMOr:
        return select_logic(s, PPU_OP_POR, a, b);
    case LLVMXor:
    case LLVMAdd:
    case LLVMSub:
        if (a.kind == ELEMENT_CONSTANT) {
            return a.add & 1 ? element_not(b) : b;
        }
        if (b.kind == ELEMENT_CONSTANT) {
            return b.add & 1 ? element_not(a) : a;
        }
        return select_logic(s, PPU_OP_PXOR, a, b);
    default:
        compilation_fail_value(s->compilation, "compile a value: there is no code for", value);
    }
}

static bool is_shift(LLVMOpcode opcode)
{
    return opcode == LLVMShl || opcode == LLVMLShr || opcode == LLVMAShr;
}

static enum element_above result_above(const struct integer_op *op, struct element a, struct element b)
{
    if (op->zeros) {
        return ABOVE_ZEROS;
    }
    if (op->opcode == LLVMAnd && (a.above == ABOVE_ZEROS || b.above == ABOVE_ZEROS)) {
        return ABOVE_ZEROS;
    }
    if ((op->opcode == LLVMOr || op->opcode == LLVMXor) && a.above == ABOVE_ZEROS && b.above == ABOVE_ZEROS) {
        return ABOVE_ZEROS;
    }
    return op->opcode == LLVMAShr ? ABOVE_SIGN : ABOVE_ANYTHING;
}

/* The 32-bit integer that a value is widened from as asked, its own element; false: it is none. */
static bool narrow_operand(struct isel *s, LLVMValueRef value, LLVMOpcode widened, struct element *narrow)
{
    if (!ir_is_instruction(value, widened) || ir_bits_of_integer(value) != 64) {
        return false;
    }
    LLVMValueRef from = LLVMGetOperand(value, 0);
    if (ir_bits_of_integer(from) != 32) {
        return false;
    }
    *narrow = select_element(s, from, 0);
    return true;
}

/* A product of 64 bits of two integers of 32. */
static bool select_wide_product(struct isel *s, LLVMValueRef value)
{
    static const struct {
        LLVMOpcode widened;
        enum ppu_op op;
    } kinds[] = { { LLVMZExt, PPU_OP_MULWU }, { LLVMSExt, PPU_OP_MULW } };
    struct element a, b;

    for (uint32_t i = 0; i < 2; i++) {
        if (narrow_operand(s, LLVMGetOperand(value, 0), kinds[i].widened, &a) &&
            narrow_operand(s, LLVMGetOperand(value, 1), kinds[i].widened, &b)) {
            select_set(s, value, 0, select_op(s, kinds[i].op, a, b));
            return true;
        }
    }
    return false;
}

/* Two halves put together: (high << 32) | low. */
static bool select_halves(struct isel *s, LLVMValueRef value)
{
    for (uint32_t i = 0; i < 2; i++) {
        LLVMValueRef shifted = LLVMGetOperand(value, i);
        struct element low, high;
        if (!ir_is_instruction(shifted, LLVMShl) || ir_bits_of_integer(shifted) != 64 ||
            !narrow_operand(s, LLVMGetOperand(value, 1 - i), LLVMZExt, &low) ||
            !narrow_operand(s, LLVMGetOperand(shifted, 0), LLVMZExt, &high)) {
            continue;
        }
        LLVMValueRef by = LLVMGetOperand(shifted, 1);
        if (LLVMIsAConstantInt(by) && LLVMConstIntGetZExtValue(by) == 32) {
            struct mir_ref wide = select_new(s, 2);
            select_copy(s, wide, low, 1);
            select_copy(s, mir_sub(wide, 1), high, 1);
            select_set(s, value, 0, element_register(wide, 2));
            return true;
        }
    }
    return false;
}

/* The result of an operation on one element of `bits`. */
static struct element integer_element(struct isel *s, LLVMValueRef value, const struct integer_op *op, uint32_t bits,
                                      struct element a, struct element b)
{
    if (bits == 1) {
        return bool_op(s, value, op->opcode, a, b);
    }
    if (op->zeros || op->sign) {
        a = select_extend(s, a, bits, op->sign);
    }
    if (is_shift(op->opcode)) {
        b = select_extend(s, b, bits, false);
        b = bits > 32 ? element_half(b.kind == ELEMENT_REGISTER ? element_register(select_reg(s, b), 2) : b, 0) : b;
    } else if (op->zeros || op->sign) {
        b = select_extend(s, b, bits, op->sign);
    }
    struct element done = select_op(s, bits > 32 ? op->op64 : op->op, a, b);
    done.above = result_above(op, a, b);
    return done;
}

static void select_integer(struct isel *s, LLVMValueRef value, const struct integer_op *op)
{
    if ((op->opcode == LLVMMul && select_wide_product(s, value)) || (op->opcode == LLVMOr && select_halves(s, value))) {
        return;
    }
    for (uint32_t i = 0; i < select_elements(s, LLVMTypeOf(value)); i++) {
        struct element a = select_element(s, LLVMGetOperand(value, 0), i);
        struct element b = select_element(s, LLVMGetOperand(value, 1), i);
        select_set(s, value, i, integer_element(s, value, op, type_bits(s, value, i), a, b));
    }
}

/* ---- floats ---- */

struct element select_convert(struct isel *s, enum ppu_type to, enum ppu_type from, enum ppu_round round,
                              struct element element)
{
    struct mir_insn insn = mir_insn(PPU_OP_CVT);

    insn.code.dtype = (uint8_t)to;
    insn.code.stype = (uint8_t)from;
    insn.code.round = (uint8_t)round;
    insn.code.wd = (uint8_t)ppu_type_words(to);
    insn.code.wa = (uint8_t)ppu_type_words(from);
    insn.a = select_reg(s, element);
    insn.d = select_new(s, insn.code.wd);
    select_add(s, &insn);
    return element_register(insn.d, insn.code.wd);
}

/* Half is a storage type: its arithmetic is that of float, whose result rounded to half is the exact one's. */
static struct element from_half(struct isel *s, struct element element, uint32_t bits)
{
    return bits == 16 ? select_convert(s, PPU_TYPE_F32, PPU_TYPE_F16, PPU_ROUND_RNE, element) : element;
}

struct float_op {
    LLVMOpcode opcode;
    enum ppu_op op, op64;
};

static const struct float_op float_ops[] = {
    { LLVMFAdd, PPU_OP_FADD, PPU_OP_DADD },
    { LLVMFSub, PPU_OP_FSUB, PPU_OP_DSUB },
    { LLVMFMul, PPU_OP_FMUL, PPU_OP_DMUL },
    { LLVMFDiv, PPU_OP_FDIV, PPU_OP_DDIV },
};

static void select_float(struct isel *s, LLVMValueRef value, const struct float_op *op)
{
    for (uint32_t i = 0; i < select_elements(s, LLVMTypeOf(value)); i++) {
        uint32_t bits = type_bits(s, value, i);
        struct element a = from_half(s, select_element(s, LLVMGetOperand(value, 0), i), bits);
        struct element b = from_half(s, select_element(s, LLVMGetOperand(value, 1), i), bits);
        struct element done = select_op(s, bits == 64 ? op->op64 : op->op, a, b);
        if (bits == 16) {
            done = select_convert(s, PPU_TYPE_F16, PPU_TYPE_F32, PPU_ROUND_RNE, done);
        }
        select_set(s, value, i, done);
    }
}

static void select_negate(struct isel *s, LLVMValueRef value)
{
    for (uint32_t i = 0; i < select_elements(s, LLVMTypeOf(value)); i++) {
        uint32_t bits = type_bits(s, value, i);
        struct element a = select_element(s, LLVMGetOperand(value, 0), i);
        if (bits == 16) {
            select_set(s, value, i, select_op(s, PPU_OP_XOR, a, element_number(0x8000)));
            continue;
        }
        struct mir_insn insn = mir_insn(bits == 64 ? PPU_OP_DMOV : PPU_OP_FMOV);
        insn.a = select_reg(s, a);
        insn.code.fmod = PPU_FMOD_NEG_A;
        insn.d = select_new(s, insn.code.wd);
        select_add(s, &insn);
        select_set(s, value, i, element_register(insn.d, insn.code.wd));
    }
}

/* ---- comparisons ---- */

static uint32_t integer_kind(LLVMIntPredicate predicate)
{
    static const uint8_t kinds[] = {
        [0] = PPU_ICMP_EQ,
        [LLVMIntNE - LLVMIntEQ] = PPU_ICMP_NE,
        [LLVMIntUGT - LLVMIntEQ] = PPU_ICMP_GTU,
        [LLVMIntUGE - LLVMIntEQ] = PPU_ICMP_GEU,
        [LLVMIntULT - LLVMIntEQ] = PPU_ICMP_LTU,
        [LLVMIntULE - LLVMIntEQ] = PPU_ICMP_LEU,
        [LLVMIntSGT - LLVMIntEQ] = PPU_ICMP_GT,
        [LLVMIntSGE - LLVMIntEQ] = PPU_ICMP_GE,
        [LLVMIntSLT - LLVMIntEQ] = PPU_ICMP_LT,
        [LLVMIntSLE - LLVMIntEQ] = PPU_ICMP_LE,
    };

    return kinds[predicate - LLVMIntEQ];
}

/* The comparison with its operands exchanged. */
static LLVMIntPredicate turned(LLVMIntPredicate predicate)
{
    switch (predicate) {
    case LLVMIntUGT:
        return LLVMIntULT;
    case LLVMIntULT:
        return LLVMIntUGT;
    case LLVMIntUGE:
        return LLVMIntULE;
    case LLVMIntULE:
        return LLVMIntUGE;
    case LLVMIntSGT:
        return LLVMIntSLT;
    case LLVMIntSLT:
        return LLVMIntSGT;
    case LLVMIntSGE:
        return LLVMIntSLE;
    case LLVMIntSLE:
        return LLVMIntSGE;
    default:
        return predicate;
    }
}

/* Truth values as numbers: false 0; true 1, or -1 when signed. */
static struct element compare_bools(struct isel *s, LLVMIntPredicate predicate, struct element a, struct element b)
{
    switch (predicate) {
    case LLVMIntEQ:
        return select_logic(s, PPU_OP_PXOR, element_not(a), b);
    case LLVMIntNE:
        return select_logic(s, PPU_OP_PXOR, a, b);
    case LLVMIntUGT:
    case LLVMIntSLT:
        return select_logic(s, PPU_OP_PAND, a, element_not(b));
    case LLVMIntULT:
    case LLVMIntSGT:
        return select_logic(s, PPU_OP_PAND, element_not(a), b);
    case LLVMIntUGE:
    case LLVMIntSLE:
        return select_logic(s, PPU_OP_POR, a, element_not(b));
    default:
        return select_logic(s, PPU_OP_POR, element_not(a), b);
    }
}

static void select_icmp(struct isel *s, LLVMValueRef value)
{
    LLVMValueRef left = LLVMGetOperand(value, 0), right = LLVMGetOperand(value, 1);

    for (uint32_t i = 0; i < select_elements(s, LLVMTypeOf(value)); i++) {
        LLVMIntPredicate predicate = LLVMGetICmpPredicate(value);
        uint32_t bits = type_bits(s, left, i);
        struct element a = select_element(s, left, i), b = select_element(s, right, i);
        bool is_signed = predicate >= LLVMIntSGT;
        if (bits == 1) {
            select_set(s, value, i, compare_bools(s, predicate, a, b));
            continue;
        }
        if ((predicate == LLVMIntEQ || predicate == LLVMIntNE) && a.above == ABOVE_SIGN) {
            is_signed = true;
        }
        a = select_extend(s, a, bits, is_signed);
        b = select_extend(s, b, bits, is_signed);
        if (a.kind != ELEMENT_REGISTER) {
            struct element swap = a;
            a = b;
            b = swap;
            predicate = turned(predicate);
        }
        select_set(s, value, i,
                   select_compare(s, bits > 32 ? PPU_OP_ISETP64 : PPU_OP_ISETP, integer_kind(predicate), a, b));
    }
}

static void select_fcmp(struct isel *s, LLVMValueRef value)
{
    static const uint8_t kinds[] = {
        [LLVMRealOEQ] = PPU_FCMP_EQ,  [LLVMRealOGT] = PPU_FCMP_GT,  [LLVMRealOGE] = PPU_FCMP_GE,
        [LLVMRealOLT] = PPU_FCMP_LT,  [LLVMRealOLE] = PPU_FCMP_LE,  [LLVMRealONE] = PPU_FCMP_NE,
        [LLVMRealORD] = PPU_FCMP_NUM, [LLVMRealUNO] = PPU_FCMP_NAN, [LLVMRealUEQ] = PPU_FCMP_EQU,
        [LLVMRealUGT] = PPU_FCMP_GTU, [LLVMRealUGE] = PPU_FCMP_GEU, [LLVMRealULT] = PPU_FCMP_LTU,
        [LLVMRealULE] = PPU_FCMP_LEU, [LLVMRealUNE] = PPU_FCMP_NEU,
    };
    LLVMRealPredicate predicate = LLVMGetFCmpPredicate(value);

    for (uint32_t i = 0; i < select_elements(s, LLVMTypeOf(value)); i++) {
        uint32_t bits = type_bits(s, LLVMGetOperand(value, 0), i);
        if (predicate == LLVMRealPredicateFalse || predicate == LLVMRealPredicateTrue) {
            select_set(s, value, i, element_number(predicate == LLVMRealPredicateTrue));
            continue;
        }
        select_set(s, value, i,
                   select_compare(s, bits == 64 ? PPU_OP_DSETP : PPU_OP_FSETP, kinds[predicate],
                                  from_half(s, select_element(s, LLVMGetOperand(value, 0), i), bits),
                                  from_half(s, select_element(s, LLVMGetOperand(value, 1), i), bits)));
    }
}

/* "a and b" and "a or b" come as choices with a constant. */
static struct element choose_bool(struct isel *s, struct element pred, struct element a, struct element b)
{
    if (a.kind == ELEMENT_CONSTANT) {
        return a.add & 1 ? select_logic(s, PPU_OP_POR, pred, b) : select_logic(s, PPU_OP_PAND, element_not(pred), b);
    }
    if (b.kind == ELEMENT_CONSTANT) {
        return b.add & 1 ? select_logic(s, PPU_OP_POR, element_not(pred), a) : select_logic(s, PPU_OP_PAND, pred, a);
    }
    return select_logic(s, PPU_OP_POR, select_logic(s, PPU_OP_PAND, pred, a),
                        select_logic(s, PPU_OP_PAND, element_not(pred), b));
}

static void select_select(struct isel *s, LLVMValueRef value)
{
    LLVMValueRef cond = LLVMGetOperand(value, 0);
    bool many = LLVMGetTypeKind(LLVMTypeOf(cond)) == LLVMVectorTypeKind;

    for (uint32_t i = 0; i < select_elements(s, LLVMTypeOf(value)); i++) {
        struct element pred = select_element(s, cond, many ? i : 0);
        struct element a = select_element(s, LLVMGetOperand(value, 1), i);
        struct element b = select_element(s, LLVMGetOperand(value, 2), i), done;
        if (type_bits(s, value, i) == 1) {
            done = choose_bool(s, pred, a, b);
        } else {
            done = select_choose(s, pred, a, b);
            done.above = a.above == b.above ? a.above : ABOVE_ANYTHING;
        }
        select_set(s, value, i, done);
    }
}

/* ---- conversions ---- */

static enum ppu_type float_type(uint32_t bits)
{
    return bits == 64 ? PPU_TYPE_F64 : bits == 32 ? PPU_TYPE_F32 : PPU_TYPE_F16;
}

static enum ppu_type integer_type(uint32_t bits, bool is_signed)
{
    return bits > 32 ? (is_signed ? PPU_TYPE_S64 : PPU_TYPE_U64) : (is_signed ? PPU_TYPE_S32 : PPU_TYPE_U32);
}

static struct element bool_to(struct isel *s, struct element pred, uint32_t words, uint64_t truth)
{
    if (pred.kind != ELEMENT_REGISTER) {
        return element_constant(pred.add & 1 ? truth : 0, words);
    }
    struct element done = select_choose(s, pred, element_constant(truth, words), element_constant(0, words));
    done.above = truth == 1 ? ABOVE_ZEROS : ABOVE_SIGN;
    return done;
}

static struct element truncate(struct isel *s, struct element a, uint32_t bits)
{
    if (bits == 1) {
        if (a.kind != ELEMENT_REGISTER) {
            return element_number(a.add & 1);
        }
        a = element_half(element_register(select_reg(s, a), a.words), 0);
        return select_compare(s, PPU_OP_ISETP, PPU_ICMP_NE, select_op(s, PPU_OP_AND, a, element_number(1)),
                              element_number(0));
    }
    if (a.kind == ELEMENT_REGISTER && (a.add != 0 || a.lane.reg != 0)) {
        a = element_register(select_reg(s, a), a.words);
    }
    if (bits <= 32 && a.words == 2) {
        a = element_half(a, 0);
    }
    a.above = ABOVE_ANYTHING;
    return a.kind == ELEMENT_REGISTER ? a : extend_constant(a, bits, false);
}

static struct element cast(struct isel *s, LLVMValueRef value, uint32_t i)
{
    uint32_t from = type_bits(s, LLVMGetOperand(value, 0), i), to = type_bits(s, value, i);
    uint32_t words = to > 32 ? 2 : 1;
    struct element a = select_element(s, LLVMGetOperand(value, 0), i), done;

    if (to > 64 || from > 64) {
        compilation_fail_value(s->compilation, "no registers for more than 64 bits:", value);
    }
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMTrunc:
        return truncate(s, a, to);
    case LLVMZExt:
    case LLVMSExt: {
        bool is_signed = LLVMGetInstructionOpcode(value) == LLVMSExt;
        if (from == 1) {
            return bool_to(s, a, words, is_signed ? ~0ull : 1);
        }
        done = select_widen(s, a, from, words, is_signed);
        done.above = is_signed ? ABOVE_SIGN : ABOVE_ZEROS;
        return done;
    }
    case LLVMFPToSI:
    case LLVMFPToUI:
        done = select_convert(s, integer_type(to, LLVMGetInstructionOpcode(value) == LLVMFPToSI), float_type(from),
                              PPU_ROUND_RTZ, a);
        return to == 1 ? truncate(s, done, 1) : done;
    case LLVMSIToFP:
    case LLVMUIToFP: {
        bool is_signed = LLVMGetInstructionOpcode(value) == LLVMSIToFP;
        a = from == 1 ? bool_to(s, a, 1, is_signed ? ~0ull : 1) : select_extend(s, a, from, is_signed);
        return select_convert(s, float_type(to), integer_type(from, is_signed), PPU_ROUND_RNE, a);
    }
    case LLVMFPExt:
    case LLVMFPTrunc:
        return select_convert(s, float_type(to), float_type(from), PPU_ROUND_RNE, a);
    default: /* between integers and pointers */
        if (words == a.words) {
            return a;
        }
        return words == 1 ? truncate(s, a, 32) : select_widen(s, a, 32, 2, false);
    }
}

/* ---- elements moved about ---- */

/* 32-bit word `index` of a value's bits, its elements in memory's order. */
static struct element word_of(struct isel *s, LLVMValueRef value, uint32_t index)
{
    uint32_t bits = type_bits(s, value, 0), per_word = 32 / PPU_MIN(bits, 32);

    if (bits > 32) {
        struct element wide = select_element(s, value, index / 2);
        if (wide.kind == ELEMENT_REGISTER) {
            wide = element_register(select_reg(s, wide), 2);
        }
        return element_half(wide, index % 2);
    }
    if (per_word == 1) {
        return select_element(s, value, index);
    }
    struct element word = select_extend(s, select_element(s, value, index * per_word), bits, false);
    for (uint32_t i = 1; i < per_word && index * per_word + i < select_elements(s, LLVMTypeOf(value)); i++) {
        struct element part = select_extend(s, select_element(s, value, index * per_word + i), bits, false);
        word = select_op(s, PPU_OP_OR, word, select_op(s, PPU_OP_SHL, part, element_number(i * bits)));
    }
    return word;
}

static struct element from_words(struct isel *s, LLVMValueRef source, uint32_t bits, uint32_t index)
{
    uint32_t per_word = 32 / PPU_MIN(bits, 32);

    if (bits > 32) {
        struct mir_ref wide = select_new(s, 2);
        select_copy(s, wide, word_of(s, source, 2 * index), 1);
        select_copy(s, mir_sub(wide, 1), word_of(s, source, 2 * index + 1), 1);
        return element_register(wide, 2);
    }
    struct element word = word_of(s, source, index / per_word);
    if (index % per_word != 0) {
        word = select_op(s, PPU_OP_SHR, word, element_number(index % per_word * bits));
    }
    if (bits < 32) {
        word.above = ABOVE_ANYTHING;
    }
    return word;
}

/* A vector of truth values as the bits of a number of at most 32. */
static struct element pack_bools(struct isel *s, LLVMValueRef source)
{
    struct element word = element_number(0);

    for (uint32_t i = 0; i < select_elements(s, LLVMTypeOf(source)); i++) {
        struct element bit = bool_to(s, select_element(s, source, i), 1, 1ull << i);
        word = i == 0 ? bit : select_op(s, PPU_OP_OR, word, bit);
    }
    word.above = ABOVE_ZEROS;
    return word;
}

/* Bits of elements that follow one another in words, or of a number that all of them are together (three of 16). */
static bool can_be_cast(struct isel *s, LLVMValueRef value, uint32_t bits)
{
    return bits == 8 || bits == 16 || bits == 32 || bits == 64 ||
           (bits > 1 && bits < 64 && select_elements(s, LLVMTypeOf(value)) == 1);
}

struct element select_bitcast_element(struct isel *s, LLVMValueRef value, uint32_t index)
{
    LLVMValueRef source = LLVMGetOperand(value, 0);
    uint32_t from = type_bits(s, source, 0), to = type_bits(s, value, 0);

    if (from == 1 && to > 1 && to <= 32 && select_elements(s, LLVMTypeOf(value)) == 1) {
        return pack_bools(s, source);
    }
    if (from != to && (!can_be_cast(s, source, from) || !can_be_cast(s, value, to))) {
        compilation_fail_value(s->compilation, "compile a value: there is no code for", value);
    }
    return from == to ? select_element(s, source, index) : from_words(s, source, to, index);
}

static void select_bitcast(struct isel *s, LLVMValueRef value)
{
    for (uint32_t i = 0; i < select_elements(s, LLVMTypeOf(value)); i++) {
        select_set(s, value, i, select_bitcast_element(s, value, i));
    }
}

static uint32_t constant_index(struct isel *s, LLVMValueRef value, LLVMValueRef index)
{
    if (!LLVMIsAConstantInt(index)) {
        compilation_fail_value(s->compilation, "compile a value: there is no code for", value);
    }
    return (uint32_t)LLVMConstIntGetZExtValue(index);
}

/* First element of the member that an extract- or insertvalue names. */
static uint32_t member_element(struct isel *s, LLVMValueRef value, LLVMTypeRef type)
{
    const unsigned *indices = LLVMGetIndices(value);
    uint32_t element = 0;

    for (uint32_t i = 0; i < LLVMGetNumIndices(value); i++) {
        if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            for (uint32_t m = 0; m < indices[i]; m++) {
                element += select_elements(s, LLVMStructGetTypeAtIndex(type, m));
            }
            type = LLVMStructGetTypeAtIndex(type, indices[i]);
        } else {
            type = LLVMGetElementType(type);
            element += indices[i] * select_elements(s, type);
        }
    }
    return element;
}

static void select_extract(struct isel *s, LLVMValueRef value)
{
    LLVMValueRef whole = LLVMGetOperand(value, 0);
    uint32_t first = ir_is_instruction(value, LLVMExtractElement) ? constant_index(s, value, LLVMGetOperand(value, 1))
                                                                  : member_element(s, value, LLVMTypeOf(whole));
    uint32_t total = select_elements(s, LLVMTypeOf(whole));

    for (uint32_t i = 0; i < select_elements(s, LLVMTypeOf(value)); i++) {
        select_set(s, value, i, select_element(s, whole, first + i < total ? first + i : 0));
    }
}

static void select_insert(struct isel *s, LLVMValueRef value)
{
    LLVMValueRef whole = LLVMGetOperand(value, 0), part = LLVMGetOperand(value, 1);
    uint32_t first = ir_is_instruction(value, LLVMInsertElement) ? constant_index(s, value, LLVMGetOperand(value, 2))
                                                                 : member_element(s, value, LLVMTypeOf(value));
    uint32_t count = select_elements(s, LLVMTypeOf(part));

    for (uint32_t i = 0; i < select_elements(s, LLVMTypeOf(value)); i++) {
        select_set(s, value, i,
                   i >= first && i < first + count ? select_element(s, part, i - first) : select_element(s, whole, i));
    }
}

static void select_shuffle(struct isel *s, LLVMValueRef value)
{
    uint32_t half = LLVMGetVectorSize(LLVMTypeOf(LLVMGetOperand(value, 0)));

    if (half == 0) {
        compilation_fail_value(s->compilation, "compile a value: there is no code for", value);
    }
    for (uint32_t i = 0; i < LLVMGetNumMaskElements(value); i++) {
        int from = LLVMGetMaskValue(value, i);
        uint32_t index = from < 0 ? 0 : (uint32_t)from;
        select_set(s, value, i, select_element(s, LLVMGetOperand(value, index >= half), index % half));
    }
}

static void select_freeze(struct isel *s, LLVMValueRef value)
{
    for (uint32_t i = 0; i < select_elements(s, LLVMTypeOf(value)); i++) {
        struct element element = select_element(s, LLVMGetOperand(value, 0), i);
        if (element.kind == ELEMENT_UNDEFINED) {
            element = element_constant(0, element.words);
        }
        select_set(s, value, i, element);
    }
}

bool select_constant_expression(struct isel *s, LLVMValueRef value, struct element *done)
{
    LLVMOpcode opcode = LLVMGetConstOpcode(value);
    uint32_t bits = ir_bits(s->compilation, LLVMTypeOf(value));
    struct element a = select_element(s, LLVMGetOperand(value, 0), 0);

    if (opcode == LLVMPtrToInt) {
        *done =
            select_widen(s, a, ir_bits(s->compilation, LLVMTypeOf(LLVMGetOperand(value, 0))), bits > 32 ? 2 : 1, false);
        return true;
    }
    if (opcode == LLVMBitCast) {
        *done = select_bitcast_element(s, value, 0);
        return true;
    }
    if (opcode == LLVMExtractElement) {
        *done = select_element(s, LLVMGetOperand(value, 0), constant_index(s, value, LLVMGetOperand(value, 1)));
        return true;
    }
    if (opcode == LLVMTrunc) {
        *done = truncate(s, a, bits);
        return true;
    }
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(integer_ops); i++) {
        if (integer_ops[i].opcode == opcode) {
            *done = integer_element(s, value, &integer_ops[i], bits, a, select_element(s, LLVMGetOperand(value, 1), 0));
            return true;
        }
    }
    return false;
}

bool select_alu(struct isel *s, LLVMValueRef value)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(value);

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(integer_ops); i++) {
        if (integer_ops[i].opcode == opcode) {
            select_integer(s, value, &integer_ops[i]);
            return true;
        }
    }
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(float_ops); i++) {
        if (float_ops[i].opcode == opcode) {
            select_float(s, value, &float_ops[i]);
            return true;
        }
    }
    switch (opcode) {
    case LLVMFNeg:
        select_negate(s, value);
        return true;
    case LLVMICmp:
        select_icmp(s, value);
        return true;
    case LLVMFCmp:
        select_fcmp(s, value);
        return true;
    case LLVMSelect:
        select_select(s, value);
        return true;
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMFPToSI:
    case LLVMFPToUI:
    case LLVMSIToFP:
    case LLVMUIToFP:
    case LLVMFPExt:
    case LLVMFPTrunc:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
        for (uint32_t i = 0; i < select_elements(s, LLVMTypeOf(value)); i++) {
            select_set(s, value, i, cast(s, value, i));
        }
        return true;
    case LLVMBitCast:
        select_bitcast(s, value);
        return true;
    case LLVMExtractElement:
    case LLVMExtractValue:
        select_extract(s, value);
        return true;
    case LLVMInsertElement:
    case LLVMInsertValue:
        select_insert(s, value);
        return true;
    case LLVMShuffleVector:
        select_shuffle(s, value);
        return true;
    case LLVMFreeze:
        select_freeze(s, value);
        return true;
    default:
        return false;
    }
}
