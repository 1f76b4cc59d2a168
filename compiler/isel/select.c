/* SPDX-License-Identifier: MIT */
#include "compiler/isel/select.h"

#include "compiler/base/const_data.h"
#include "compiler/debug/site.h"
#include "compiler/mir/functions.h"
#include "ppu/macros.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

/* ---- elements ---- */

struct element element_constant(uint64_t value, uint32_t words)
{
    return (struct element){ .kind = ELEMENT_CONSTANT,
                             .words = (uint8_t)words,
                             .add = words == 1 ? value & 0xffffffffu : value };
}

struct element element_register(struct mir_ref ref, uint32_t words)
{
    return (struct element){ .kind = ELEMENT_REGISTER, .words = (uint8_t)words, .ref = ref };
}

struct element element_half(struct element element, uint32_t half)
{
    if (element.kind == ELEMENT_REGISTER) {
        return element_register(mir_sub(element.ref, half), 1);
    }
    return element_constant(element.add >> (half * 32), 1);
}

struct element element_not(struct element pred)
{
    if (pred.kind == ELEMENT_REGISTER) {
        pred.ref.negated = !pred.ref.negated;
    } else {
        pred = element_constant(pred.add ^ 1, 1);
    }
    return pred;
}

uint32_t select_elements(struct isel *s, LLVMTypeRef type)
{
    (void)s;
    return function_elements(type);
}

/* Elements of one member of an array, at least one. */
static uint32_t array_step(struct isel *s, LLVMTypeRef type)
{
    uint32_t count = select_elements(s, LLVMGetElementType(type));

    return count != 0 ? count : 1;
}

LLVMTypeRef select_element_type(struct isel *s, LLVMTypeRef type, uint32_t index)
{
    switch (LLVMGetTypeKind(type)) {
    case LLVMVectorTypeKind:
        return LLVMGetElementType(type);
    case LLVMArrayTypeKind:
        return select_element_type(s, LLVMGetElementType(type), index % array_step(s, type));
    case LLVMStructTypeKind:
        for (uint32_t i = 0; i < LLVMCountStructElementTypes(type); i++) {
            LLVMTypeRef member = LLVMStructGetTypeAtIndex(type, i);
            uint32_t count = select_elements(s, member);
            if (index < count) {
                return select_element_type(s, member, index);
            }
            index -= count;
        }
        return type;
    default:
        return type;
    }
}

static struct element constant_element(struct isel *s, LLVMValueRef value)
{
    uint32_t bits = ir_bits(s->compilation, LLVMTypeOf(value));
    uint32_t words = bits > 32 ? 2 : 1;
    struct element element = { .kind = ELEMENT_UNDEFINED, .words = (uint8_t)words };

    if (bits > 64) {
        compilation_fail_value(s->compilation, "no registers for more than 64 bits", value);
    }
    if (LLVMIsUndef(value) || LLVMIsPoison(value)) {
        return element;
    }
    if (LLVMIsAConstantInt(value)) {
        element = element_constant(LLVMConstIntGetZExtValue(value), words);
        element.above = ABOVE_ZEROS;
        return element;
    }
    if (LLVMIsAConstantFP(value)) {
        return element_constant(const_data_float_bits(value), words);
    }
    if (LLVMIsNull(value)) {
        return element_constant(0, words);
    }
    if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind) {
        return select_pointer(s, value);
    }
    if (LLVMIsAConstantExpr(value) && select_constant_expression(s, value, &element)) {
        return element;
    }
    compilation_fail_value(s->compilation, "compile a value: there is no code for the constant", value);
}

/* Member of a constant aggregate that holds the element, and the element's index within it. */
static LLVMValueRef constant_member(struct isel *s, LLVMValueRef value, uint32_t *index)
{
    LLVMTypeRef type = LLVMTypeOf(value);

    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
        LLVMValueRef member = LLVMGetAggregateElement(value, *index);
        *index = 0;
        return member;
    }
    for (uint32_t i = 0;; i++) {
        LLVMValueRef member = LLVMGetAggregateElement(value, i);
        uint32_t count = member ? select_elements(s, LLVMTypeOf(member)) : 0;
        if (!member || *index < count) {
            return member;
        }
        *index -= count;
    }
}

struct element select_element(struct isel *s, LLVMValueRef value, uint32_t index)
{
    uint32_t number = ir_value(s->ir, value);
    LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(value));

    if (number != IR_NO_VALUE) {
        if (s->loaded_in && number < s->ir->argument_count) {
            select_outside(s, number);
        }
        if (!s->values[number]) {
            compilation_fail_value(s->compilation, "internal error: a value is used before it is made", value);
        }
        return s->values[number][index];
    }
    /* LLVM folds no cast of a vector of one element. */
    if (kind == LLVMVectorTypeKind && LLVMIsAConstantExpr(value) && LLVMGetConstOpcode(value) == LLVMBitCast) {
        return select_bitcast_element(s, value, index);
    }
    if (kind == LLVMVectorTypeKind || kind == LLVMArrayTypeKind || kind == LLVMStructTypeKind) {
        LLVMValueRef member = constant_member(s, value, &index);
        if (!member) {
            compilation_fail_value(s->compilation, "compile a value: there is no code for the constant", value);
        }
        return select_element(s, member, index);
    }
    return constant_element(s, value);
}

void select_set(struct isel *s, LLVMValueRef value, uint32_t index, struct element element)
{
    uint32_t number = ir_value(s->ir, value);

    if (!s->values[number]) {
        s->values[number] = arena_new(&s->compilation->arena, struct element, select_elements(s, LLVMTypeOf(value)));
    }
    s->values[number][index] = element;
}

/* ---- registers ---- */

static uint32_t value_name(const struct isel *s)
{
    return s->number == IR_NO_VALUE ? 0 : s->number + 1;
}

struct mir_ref select_new(struct isel *s, uint32_t words)
{
    return mir_reg(s->mir, s->scalar ? MIR_SCALAR : MIR_VECTOR, words, value_name(s));
}

struct mir_ref select_new_pred(struct isel *s)
{
    return mir_reg(s->mir, MIR_PRED, 1, 0);
}

/* The block before the first: constants and arguments. Put in front of the entry when all is selected. */
static uint32_t prologue(const struct isel *s)
{
    return s->ir->flow->count;
}

/* For debuggers a line begins where its own code does, not where a constant of it is loaded before. */
static uint32_t site_here(const struct isel *s)
{
    return s->block == prologue(s) && s->compilation->options->debug != 0 ? s->entry_site : s->site;
}

struct mir_insn *select_add(struct isel *s, const struct mir_insn *insn)
{
    struct mir_insn *added = mir_add(s->mir, s->block, insn);

    added->site = site_here(s);
    if (added->d.reg != 0 && mir_class_of(s->mir, added->d) == MIR_SCALAR && added->code.format != PPU_FMT_MEM) {
        added->code.scalar = 1;
    }
    return added;
}

static void load_constant(struct isel *s, struct mir_ref to, uint64_t value, uint32_t words)
{
    bool wide = words == 2 && (uint64_t)(int64_t)(int32_t)value == value;
    struct mir_insn insn = mir_insn(wide ? PPU_OP_MOV64 : PPU_OP_MOV);

    insn.d = to;
    insn.code.immed = 1;
    insn.code.imm = (int32_t)value;
    select_add(s, &insn);
    if (words == 2 && !wide) {
        insn.d = mir_sub(to, 1);
        insn.code.imm = (int32_t)(value >> 32);
        select_add(s, &insn);
    }
}

/* True in blocks that end in a report of a sanitizer: hardly any lane ever comes there. */
static bool is_rare(const struct isel *s)
{
    static const char report[] = "__ppu_sanitizer_report";
    LLVMValueRef insn = s->block < s->ir->flow->count ? LLVMGetFirstInstruction(s->ir->blocks[s->block]) : NULL;

    while (insn && (!ir_is_instruction(insn, LLVMCall) || strcmp(ir_callee(insn), report) != 0)) {
        insn = LLVMGetNextInstruction(insn);
    }
    return insn;
}

/* A constant in a scalar register that lives everywhere, while there is room for them. */
static struct mir_ref pooled(struct isel *s, uint64_t value, uint32_t words)
{
    uint32_t block = s->block, number = s->number;
    bool scalar = s->scalar;

    for (uint32_t i = 0; i < s->pool_count; i++) {
        if (s->pool[i].data == 0 && s->pool[i].value == value && s->pool[i].words == words) {
            return s->pool[i].ref;
        }
    }
    if (s->pool_words + words > s->pool_limit || is_rare(s)) {
        return (struct mir_ref){ 0 };
    }
    s->pool = arena_grow(&s->compilation->arena, s->pool, sizeof(s->pool[0]), s->pool_count, &s->pool_cap);
    s->pool_words += words;
    s->block = prologue(s);
    s->number = IR_NO_VALUE;
    s->scalar = true;
    struct mir_ref ref = select_new(s, words);
    load_constant(s, ref, value, words);
    s->block = block;
    s->number = number;
    s->scalar = scalar;
    s->pool[s->pool_count++] = (struct constant){ .value = value, .words = words, .ref = ref };
    return ref;
}

static struct mir_ref constant_reg(struct isel *s, uint64_t value, uint32_t words)
{
    struct mir_ref ref = pooled(s, value, words);

    if (ref.reg == 0) {
        ref = select_new(s, words);
        load_constant(s, ref, value, words);
    }
    return ref;
}

struct mir_ref select_reg(struct isel *s, struct element element)
{
    if (element.kind != ELEMENT_REGISTER) {
        return constant_reg(s, element.add, element.words);
    }
    struct element sum = element_register(element.ref, element.words);
    if (element.lane.reg != 0) {
        struct element lane = element_register(element.lane, 1);
        if (element.lane_size != 0) {
            sum = select_op3(s, PPU_OP_MADW, lane, element_constant(element.lane_size, 1), sum);
        } else {
            sum = element.words == 2 ? select_op3(s, PPU_OP_MADWU, lane, element_constant(1, 1), sum)
                                     : select_op(s, PPU_OP_ADD, sum, lane);
        }
    }
    if (element.add != 0) {
        sum = select_op(s, element.words == 2 ? PPU_OP_ADD64 : PPU_OP_ADD, sum,
                        element_constant(element.add, element.words));
    }
    return sum.ref;
}

struct mir_ref select_pred(struct isel *s, struct element element)
{
    if (element.kind == ELEMENT_REGISTER) {
        return element.ref;
    }
    /* Zero compared with zero: there is no other way to set a predicate. */
    element = select_compare(s, PPU_OP_ISETP, element.add & 1 ? PPU_ICMP_EQ : PPU_ICMP_NE,
                             element_register(constant_reg(s, 0, 1), 1), element_constant(0, 1));
    return element.ref;
}

void select_copy(struct isel *s, struct mir_ref to, struct element from, uint32_t words)
{
    struct mir_insn insn;

    if (mir_class_of(s->mir, to) == MIR_PRED) {
        insn = mir_insn(PPU_OP_POR);
        insn.a = insn.b = select_pred(s, from);
        insn.d = to;
        select_add(s, &insn);
        return;
    }
    if (from.kind == ELEMENT_UNDEFINED) {
        from = element_constant(0, words);
    }
    if (from.kind == ELEMENT_CONSTANT) {
        load_constant(s, to, from.add, words);
        return;
    }
    insn = mir_insn(words == 2 ? PPU_OP_MOV64 : PPU_OP_MOV);
    insn.b = select_reg(s, from);
    insn.d = to;
    select_add(s, &insn);
}

/* ---- operations ---- */

struct twin {
    enum ppu_op op;
    enum ppu_op twin;
};

/* The operation with its operands exchanged; OP_NOP: there is none. */
static enum ppu_op exchanged(enum ppu_op op)
{
    static const struct twin twins[] = {
        { PPU_OP_SUB, PPU_OP_RSUB },          { PPU_OP_RSUB, PPU_OP_SUB },      { PPU_OP_SUB64, PPU_OP_RSUB64 },
        { PPU_OP_RSUB64, PPU_OP_SUB64 },      { PPU_OP_FSUB, PPU_OP_FRSUB },    { PPU_OP_FRSUB, PPU_OP_FSUB },
        { PPU_OP_DSUB, PPU_OP_DRSUB },        { PPU_OP_DRSUB, PPU_OP_DSUB },    { PPU_OP_ADD, PPU_OP_ADD },
        { PPU_OP_MUL, PPU_OP_MUL },           { PPU_OP_MULHI, PPU_OP_MULHI },   { PPU_OP_MULHIU, PPU_OP_MULHIU },
        { PPU_OP_MIN, PPU_OP_MIN },           { PPU_OP_MAX, PPU_OP_MAX },       { PPU_OP_MINU, PPU_OP_MINU },
        { PPU_OP_MAXU, PPU_OP_MAXU },         { PPU_OP_AND, PPU_OP_AND },       { PPU_OP_OR, PPU_OP_OR },
        { PPU_OP_XOR, PPU_OP_XOR },           { PPU_OP_MULW, PPU_OP_MULW },     { PPU_OP_MULWU, PPU_OP_MULWU },
        { PPU_OP_ADD64, PPU_OP_ADD64 },       { PPU_OP_MUL64, PPU_OP_MUL64 },   { PPU_OP_MULHI64, PPU_OP_MULHI64 },
        { PPU_OP_MULHIU64, PPU_OP_MULHIU64 }, { PPU_OP_MIN64, PPU_OP_MIN64 },   { PPU_OP_MAX64, PPU_OP_MAX64 },
        { PPU_OP_MINU64, PPU_OP_MINU64 },     { PPU_OP_MAXU64, PPU_OP_MAXU64 }, { PPU_OP_AND64, PPU_OP_AND64 },
        { PPU_OP_OR64, PPU_OP_OR64 },         { PPU_OP_XOR64, PPU_OP_XOR64 },   { PPU_OP_FADD, PPU_OP_FADD },
        { PPU_OP_FMUL, PPU_OP_FMUL },         { PPU_OP_FMIN, PPU_OP_FMIN },     { PPU_OP_FMAX, PPU_OP_FMAX },
        { PPU_OP_DADD, PPU_OP_DADD },         { PPU_OP_DMUL, PPU_OP_DMUL },     { PPU_OP_DMIN, PPU_OP_DMIN },
        { PPU_OP_DMAX, PPU_OP_DMAX },
    };

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(twins); i++) {
        if (twins[i].op == op) {
            return twins[i].twin;
        }
    }
    return PPU_OP_NOP;
}

/* Puts b into the instruction: as its immediate when it has room. */
static void set_b(struct isel *s, struct mir_insn *insn, struct element b)
{
    bool is_float = (ppu_isa_row(insn->code.op)->flags & PPU_IF_X) != 0;

    if (b.kind != ELEMENT_REGISTER) {
        uint64_t value = b.add;
        bool fits =
            insn->code.wb == 1 || (is_float ? (uint32_t)value == 0 : (uint64_t)(int64_t)(int32_t)value == value);
        if (fits) {
            insn->code.immed = 1;
            insn->code.imm = (int32_t)(insn->code.wb == 2 && is_float ? value >> 32 : value);
            return;
        }
    }
    insn->b = select_reg(s, b);
}

struct element select_op(struct isel *s, enum ppu_op op, struct element a, struct element b)
{
    if (a.kind != ELEMENT_REGISTER && b.kind == ELEMENT_REGISTER && exchanged(op) != PPU_OP_NOP) {
        struct element swap = a;
        a = b;
        b = swap;
        op = exchanged(op);
    }
    struct mir_insn insn = mir_insn(op);
    insn.a = select_reg(s, a);
    set_b(s, &insn, b);
    insn.d = select_new(s, insn.code.wd);
    select_add(s, &insn);
    return element_register(insn.d, insn.code.wd);
}

struct element select_op1(struct isel *s, enum ppu_op op, struct element a)
{
    struct mir_insn insn = mir_insn(op);

    insn.a = select_reg(s, a);
    insn.d = select_new(s, insn.code.wd);
    select_add(s, &insn);
    return element_register(insn.d, insn.code.wd);
}

struct element select_op3(struct isel *s, enum ppu_op op, struct element a, struct element b, struct element c)
{
    struct mir_insn insn = mir_insn(op);

    insn.a = select_reg(s, a);
    insn.b = select_reg(s, b);
    insn.c = select_reg(s, c);
    insn.d = select_new(s, insn.code.wd);
    select_add(s, &insn);
    return element_register(insn.d, insn.code.wd);
}

static bool in_vector(const struct isel *s, struct mir_ref ref)
{
    return ref.reg != 0 && mir_class_of(s->mir, ref) == MIR_VECTOR;
}

struct element select_compare(struct isel *s, enum ppu_op op, uint32_t kind, struct element a, struct element b)
{
    struct mir_insn insn = mir_insn(op);

    insn.a = select_reg(s, a);
    set_b(s, &insn, b);
    insn.code.cmp = (uint8_t)kind;
    insn.d = select_new_pred(s);
    insn.code.scalar = s->scalar && !in_vector(s, insn.a) && !in_vector(s, insn.b);
    select_add(s, &insn);
    return element_register(insn.d, 1);
}

struct element select_logic(struct isel *s, enum ppu_op op, struct element a, struct element b)
{
    struct mir_insn insn = mir_insn(op);

    insn.a = select_pred(s, a);
    insn.b = select_pred(s, b);
    insn.d = select_new_pred(s);
    select_add(s, &insn);
    return element_register(insn.d, 1);
}

struct element select_choose(struct isel *s, struct element pred, struct element a, struct element b)
{
    struct mir_insn insn = mir_insn(a.words == 2 ? PPU_OP_SEL64 : PPU_OP_SEL);

    insn.a = select_reg(s, a);
    insn.b = select_reg(s, b);
    insn.pred = select_pred(s, pred);
    insn.d = select_new(s, insn.code.wd);
    select_add(s, &insn);
    return element_register(insn.d, insn.code.wd);
}

struct mir_ref select_register(struct isel *s, uint32_t number)
{
    struct mir_insn insn = mir_insn(PPU_OP_RDSR);

    insn.d = select_new(s, 1);
    insn.code.ra = (uint8_t)number;
    select_add(s, &insn);
    return insn.d;
}

/* ---- phis (SSA destruction: copies at the ends of predecessors) ---- */

static void make_phi(struct isel *s, LLVMValueRef phi)
{
    LLVMTypeRef type = LLVMTypeOf(phi);

    for (uint32_t i = 0; i < select_elements(s, type); i++) {
        uint32_t bits = ir_bits(s->compilation, select_element_type(s, type, i));
        uint32_t words = bits > 32 ? 2 : 1;
        struct mir_ref ref = bits == 1 ? select_new_pred(s) : select_new(s, words);
        select_set(s, phi, i, element_register(ref, words));
    }
}

struct transfer {
    struct mir_ref to;
    struct element from;
    uint32_t words;
};

static bool reads(const struct transfer *transfer, struct mir_ref ref)
{
    return transfer->from.kind == ELEMENT_REGISTER && transfer->from.ref.reg == ref.reg;
}

/* Copies that happen at once, one after the other: what a copy would destroy is first used, or put aside. */
static void transfer_all(struct isel *s, struct transfer *list, uint32_t count)
{
    while (count != 0) {
        uint32_t free = FLOW_NONE;
        for (uint32_t i = 0; i < count && free == FLOW_NONE; i++) {
            bool read = false;
            for (uint32_t j = 0; j < count; j++) {
                read |= j != i && reads(&list[j], list[i].to);
            }
            free = read ? FLOW_NONE : i;
        }
        if (free == FLOW_NONE) {
            struct mir_ref aside =
                mir_reg(s->mir, mir_class_of(s->mir, list[0].to), s->mir->regs[list[0].to.reg].words, 0);
            select_copy(s, aside, element_register(list[0].to, list[0].words), list[0].words);
            for (uint32_t j = 0; j < count; j++) {
                if (reads(&list[j], list[0].to)) {
                    bool negated = list[j].from.ref.negated;
                    list[j].from.ref = mir_sub(aside, list[j].from.ref.sub);
                    list[j].from.ref.negated = negated;
                }
            }
            continue;
        }
        select_copy(s, list[free].to, list[free].from, list[free].words);
        list[free] = list[--count];
    }
}

static bool same_register(const struct transfer *transfer)
{
    return reads(transfer, transfer->to) && transfer->from.ref.sub == transfer->to.sub && !transfer->from.ref.negated;
}

/* Selects what the phis of `to` take from `from`, at the end of `from`. */
static void select_edge(struct isel *s, uint32_t from, uint32_t to)
{
    struct transfer *list = NULL;
    uint32_t count = 0;
    unsigned cap = 0;

    s->block = from;
    s->number = IR_NO_VALUE;
    for (LLVMValueRef phi = LLVMGetFirstInstruction(s->ir->blocks[to]); ir_is_instruction(phi, LLVMPHI);
         phi = LLVMGetNextInstruction(phi)) {
        uint32_t n = LLVMCountIncoming(phi), in = 0;
        while (in < n && ir_block(s->ir, LLVMGetIncomingBlock(phi, in)) != from) {
            in++;
        }
        s->scalar = s->ir->scalar[ir_value(s->ir, phi)];
        for (uint32_t i = 0; i < select_elements(s, LLVMTypeOf(phi)); i++) {
            struct element from_element = select_element(s, LLVMGetIncomingValue(phi, in), i);
            struct element phi_element = select_element(s, phi, i);
            if (from_element.kind == ELEMENT_UNDEFINED && mir_class_of(s->mir, phi_element.ref) != MIR_PRED) {
                from_element = element_constant(0, phi_element.words);
            }
            if (from_element.kind == ELEMENT_REGISTER && (from_element.lane.reg != 0 || from_element.add != 0)) {
                from_element = element_register(select_reg(s, from_element), from_element.words);
            }
            list = arena_grow(&s->compilation->arena, list, sizeof(*list), count, &cap);
            list[count] = (struct transfer){ phi_element.ref, from_element, phi_element.words };
            count += !same_register(&list[count]);
        }
    }
    s->scalar = false;
    transfer_all(s, list, count);
}

/* ---- the kernel ---- */

static void select_end(struct isel *s, LLVMValueRef end)
{
    struct mir_block *block = &s->mir->blocks[s->block];

    block->site = s->site;
    switch (LLVMGetInstructionOpcode(end)) {
    case LLVMRet:
        block->end = s->function ? MIR_RETURN : MIR_EXIT;
        if (s->function && LLVMGetNumOperands(end) != 0) {
            select_put_all(s, LLVMGetOperand(end, 0), s->function->result_at);
        }
        return;
    case LLVMUnreachable:
        block->end = MIR_EXIT;
        return;
    case LLVMBr:
        block->end = s->ir->flow->blocks[s->block].succs == 2 ? MIR_BRANCH : MIR_JUMP;
        if (block->end == MIR_BRANCH) {
            struct mir_ref cond = select_pred(s, select_element(s, LLVMGetCondition(end), 0));
            s->mir->blocks[s->block].cond = cond;
        }
        return;
    default:
        compilation_fail_value(s->compilation, "compile a value: there is no code for", end);
    }
}

static void select_instruction(struct isel *s, LLVMValueRef value)
{
    s->number = ir_value(s->ir, value);
    s->scalar = s->ir->scalar[s->number];
    s->site = site_of(s->compilation, value);
    if (LLVMIsATerminatorInst(value)) {
        s->scalar = s->ir->flow->convergent[s->block] && !s->ir->force[s->number];
        select_end(s, value);
    } else if (ir_is_instruction(value, LLVMPHI)) {
        make_phi(s, value);
    } else if (ir_is_instruction(value, LLVMCall)) {
        select_call(s, value);
    } else if (!select_alu(s, value) && !select_memory(s, value)) {
        compilation_fail_value(s->compilation, "compile a value: there is no code for", value);
    }
}

static void select_arguments(struct isel *s)
{
    s->block = prologue(s);
    for (uint32_t i = 0; i < s->ir->argument_count; i++) {
        LLVMValueRef argument = s->ir->values[i];
        LLVMTypeRef type = LLVMTypeOf(argument);
        uint32_t offset = s->kernel->arguments[i].offset;

        s->number = i;
        s->scalar = s->ir->scalar[i];
        if (!LLVMGetFirstUse(argument)) {
            continue;
        }
        if (s->function) {
            select_get_all(s, argument, s->function->argument_at[i]);
            continue;
        }
        if (ir_is_byval(argument)) {
            select_set(s, argument, 0, element_constant(s->kernel->has_block ? offset - PPU_MAX_PARAM : offset, 1));
            continue;
        }
        if (offset >= PPU_MAX_PARAM) {
            continue;
        }
        for (uint32_t e = 0; e < select_elements(s, type); e++) {
            LLVMTypeRef element_type = select_element_type(s, type, e);
            uint32_t bits = ir_bits(s->compilation, element_type);
            uint32_t bytes = (uint32_t)LLVMStoreSizeOfType(s->compilation->layout, element_type);
            select_set(s, argument, e, select_parameter(s, offset + e * bytes, bits > 32 ? 2 : 1));
            if (bits < 32) {
                uint32_t shift = (offset + e * bytes) % 4 * 8;
                struct element word = select_element(s, argument, e);
                select_set(s, argument, e,
                           shift != 0 ? select_op(s, PPU_OP_SHR, word, element_constant(shift, 1)) : word);
            }
        }
    }
    s->scalar = false;
}

/* The prologue goes before the first block's own instructions. */
static void join_prologue(struct isel *s)
{
    struct mir_block *entry = &s->mir->blocks[0], own = *entry;

    *entry = s->mir->blocks[prologue(s)];
    entry->end = own.end;
    entry->cond = own.cond;
    entry->site = own.site;
    for (uint32_t i = 0; i < own.count; i++) {
        mir_add(s->mir, 0, &own.insns[i]);
    }
}

/* The function outside of all that an instruction was inlined from; 0: it is not known. */
static uint32_t outermost_line(LLVMValueRef insn)
{
    LLVMMetadataRef at = LLVMInstructionGetDebugLoc(insn);

    for (LLVMMetadataRef caller = at; caller; caller = LLVMDILocationGetInlinedAt(caller)) {
        at = caller;
    }
    LLVMMetadataRef scope = at ? LLVMDILocationGetScope(at) : NULL;
    bool is_function = scope && LLVMGetMetadataKind(scope) == LLVMDISubprogramMetadataKind;
    return is_function ? LLVMDISubprogramGetLine(scope) : 0;
}

/* What launches a block is made by clang and has no line: the block was inlined into it, and has one. */
static uint32_t line_of_function(const struct ir *ir)
{
    uint32_t line = LLVMGetDebugLocLine(ir->function);

    for (uint32_t b = 0; b < ir->flow->count && line == 0; b++) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(ir->blocks[b]); i && line == 0; i = LLVMGetNextInstruction(i)) {
            line = outermost_line(i);
        }
    }
    return line;
}

struct mir *select_function(struct compilation *compilation, struct kernel_info *kernel,
                            const struct function *function, struct ir *ir, uint32_t pool_limit)
{
    struct isel *s = arena_new(&compilation->arena, struct isel, 1);

    s->compilation = compilation;
    s->kernel = kernel;
    s->ir = ir;
    s->mir = mir_new(compilation, ir->name, flow_copy(ir->flow)); /* later passes change it */
    s->values = arena_new(&compilation->arena, struct element *, ir->value_count);
    s->function = function;
    s->pool_limit = function ? 0 : pool_limit; /* a function's warp need not be together */
    s->mir->function = ir->function;
    s->mir->local_bytes = kernel->local_begin;
    s->mir->return_at = function ? function->return_at : 0;
    s->entry_site = s->site = site_of_line(compilation, line_of_function(ir)); /* of what fetches its arguments */
    select_arguments(s);
    s->loaded_in = !function && kernel->has_block ? arena_new(&compilation->arena, uint32_t, ir->argument_count) : NULL;
    for (uint32_t b = 0; b < ir->flow->count; b++) {
        s->block = b;
        for (LLVMValueRef i = LLVMGetFirstInstruction(ir->blocks[b]); i; i = LLVMGetNextInstruction(i)) {
            select_instruction(s, i);
        }
    }
    for (uint32_t b = 0; b < ir->flow->count; b++) {
        for (uint32_t i = 0; i < ir->flow->blocks[b].succs; i++) {
            select_edge(s, b, ir->flow->blocks[b].succ[i]);
        }
    }
    join_prologue(s);
    return s->mir;
}
