/* SPDX-License-Identifier: MIT */
/* Selects atomic operations; on the thread's own memory a load and a store are enough. */
#include "compiler/isel/select_memory.h"

#include "ppu/macros.h"
#include "ppu/mmu.h"

static enum ppu_op atomic_op(enum ir_memory memory)
{
    return memory == IR_SHARED ? PPU_OP_ATOMS : memory == IR_UNIFIED ? PPU_OP_ATOMU : PPU_OP_ATOMG;
}

static struct element atomic(struct isel *s, struct address address, enum ppu_aop op, bool wide, struct mir_ref data,
                             uint32_t order, bool want_old)
{
    struct mir_insn insn = mir_insn(atomic_op(address.memory));
    struct mir_ref lane = address.at.lane;

    insn.code.aop = (uint8_t)op;
    insn.code.wide = wide;
    insn.code.order = (uint8_t)order;
    insn.code.scope = (uint8_t)select_scope(address.memory);
    insn.code.wb = (uint8_t)((op == PPU_AOP_CAS ? 2u : 1u) << wide);
    insn.code.no_old = !want_old;
    insn.code.wd = (uint8_t)(want_old ? 1u << wide : 0);
    if (address.at.kind == ELEMENT_REGISTER && lane.reg != 0 &&
        (address.at.lane_size == 0 || address.at.lane_size == 4u << wide)) {
        address.at.lane.reg = 0;
        insn.code.wc = insn.code.lane_off = 1;
        insn.code.indexed = address.at.lane_size != 0;
        insn.c = lane;
        if (address.at.add != 0) {
            bool scalar = s->scalar; /* the base stays scalar where that may be */
            uint8_t size = address.at.lane_size;
            s->scalar = s->ir->flow->convergent[s->block] && !s->ir->force[s->number];
            address.at = element_register(select_reg(s, address.at), address.at.words);
            s->scalar = scalar;
            if (!select_is_scalar(s, address.at.ref)) {
                address.at.lane = lane;
                address.at.lane_size = size;
                insn.code.wc = insn.code.lane_off = insn.code.indexed = 0;
                insn.c = (struct mir_ref){ 0 };
            }
        }
    }
    insn.a = select_reg(s, address.at);
    insn.code.wa = address.at.words;
    insn.b = data;
    if (want_old) {
        insn.d = select_new(s, insn.code.wd);
    }
    select_add(s, &insn);
    return element_register(insn.d, insn.code.wd);
}

/* Computes what the operation makes of the old value. */
static struct element atomic_result(struct isel *s, enum ppu_aop op, struct element old, struct element data)
{
    static const enum ppu_op ops[][2] = {
        [PPU_AOP_ADD] = { PPU_OP_ADD, PPU_OP_ADD64 },    [PPU_AOP_MIN] = { PPU_OP_MIN, PPU_OP_MIN64 },
        [PPU_AOP_MAX] = { PPU_OP_MAX, PPU_OP_MAX64 },    [PPU_AOP_MINU] = { PPU_OP_MINU, PPU_OP_MINU64 },
        [PPU_AOP_MAXU] = { PPU_OP_MAXU, PPU_OP_MAXU64 }, [PPU_AOP_AND] = { PPU_OP_AND, PPU_OP_AND64 },
        [PPU_AOP_OR] = { PPU_OP_OR, PPU_OP_OR64 },       [PPU_AOP_XOR] = { PPU_OP_XOR, PPU_OP_XOR64 },
        [PPU_AOP_FADD] = { PPU_OP_FADD, PPU_OP_DADD },
    };

    return op == PPU_AOP_XCHG ? data : select_op(s, ops[op][old.words - 1], old, data);
}

static struct element load_private(struct isel *s, struct address address, uint32_t words)
{
    return element_register(select_load_words(s, address, 0, select_width(words), true), words);
}

/* On memory that no other thread reaches, an atomic operation is a load and a store. */
static struct element private_atomic(struct isel *s, struct address address, enum ppu_aop op, struct element data)
{
    struct element old = load_private(s, address, data.words);

    select_store_words(s, address, 0, select_width(data.words), select_reg(s, atomic_result(s, op, old, data)), true);
    return old;
}

/* Describes private memory that an atomic operation on a pointer to any memory may mean, and the predicate that it
 * does. */
struct private_access {
    struct element is_private;
    struct address address;
};

static struct private_access private_access(struct isel *s, struct address address)
{
    struct private_access access = { .address = address };

    access.address.at = element_register(select_reg(s, address.at), 2);
    struct element high = element_half(access.address.at, 1);
    access.is_private =
        select_compare(s, PPU_OP_ISETP, PPU_ICMP_EQ, high, element_number((uint32_t)(PPU_LOCAL_WINDOW >> 32)));
    return access;
}

static struct mir_insn *last_insn(struct isel *s)
{
    struct mir_block *block = &s->mir->blocks[s->block];

    return &block->insns[block->count - 1];
}

/* The old value: `old` has it where the memory was not private. */
static struct element load_if_private(struct isel *s, const struct private_access *access, struct element old,
                                      uint32_t words)
{
    struct mir_ref loaded = select_load_words(s, access->address, 0, select_width(words), true);
    struct mir_insn *load = last_insn(s);

    load->guard = access->is_private.ref;
    if (old.ref.reg != 0) {
        load->d = loaded = old.ref;
        load->keeps = true;
    }
    return element_register(loaded, words);
}

static void store_if_private(struct isel *s, const struct private_access *access, struct element value)
{
    select_store_words(s, access->address, 0, select_width(value.words), select_reg(s, value), true);
    last_insn(s)->guard = access->is_private.ref;
}

/* The atomic operation on a generic pointer, which may point to the thread's private memory: both, guarded. */
static struct element generic_atomic(struct isel *s, struct address address, enum ppu_aop op, struct element data,
                                     uint32_t order, bool want_old)
{
    struct private_access access = private_access(s, address);

    data = element_register(select_reg(s, data), data.words);
    struct element old = atomic(s, access.address, op, data.words == 2, data.ref, order, want_old);
    last_insn(s)->guard = element_not(access.is_private).ref;
    old = load_if_private(s, &access, old, data.words);
    store_if_private(s, &access, atomic_result(s, op, old, data));
    return old;
}

static struct element private_exchange(struct isel *s, struct address address, struct element wanted,
                                       struct element desired)
{
    uint32_t words = desired.words;
    struct element old = load_private(s, address, words);
    struct element same = select_compare(s, words == 2 ? PPU_OP_ISETP64 : PPU_OP_ISETP, PPU_ICMP_EQ, old, wanted);

    select_store_words(s, address, 0, select_width(words), select_reg(s, select_choose(s, same, desired, old)), true);
    return old;
}

struct element select_atomic(struct isel *s, struct address address, enum ppu_aop op, struct element data,
                             uint32_t order, bool want_old)
{
    if (address.memory == IR_UNIFIED && s->compilation->private_escapes) {
        return generic_atomic(s, address, op, data, order, want_old);
    }
    return atomic(s, address, op, data.words == 2, select_reg(s, data), order, want_old);
}

static struct element generic_exchange(struct isel *s, struct address address, struct element wanted,
                                       struct element desired, struct mir_ref both, uint32_t order)
{
    struct private_access access = private_access(s, address);
    uint32_t words = desired.words;
    struct element old = atomic(s, access.address, PPU_AOP_CAS, words == 2, both, order, true);

    last_insn(s)->guard = element_not(access.is_private).ref;
    old = load_if_private(s, &access, old, words);
    struct element same = select_compare(s, words == 2 ? PPU_OP_ISETP64 : PPU_OP_ISETP, PPU_ICMP_EQ, old, wanted);
    store_if_private(s, &access, select_choose(s, same, desired, old));
    return old;
}

static bool has_uses(LLVMValueRef value)
{
    return LLVMGetFirstUse(value);
}

static void check_atomic(struct isel *s, LLVMValueRef value, enum ir_memory memory, uint32_t bits)
{
    if ((bits != 32 && bits != 64) || memory == IR_PARAM) {
        compilation_fail_value(s->compilation,
                               "an atomic operation on less than 32 bits or on an argument is not supported:", value);
    }
}

static void select_rmw(struct isel *s, LLVMValueRef value)
{
    static const struct {
        LLVMAtomicRMWBinOp from;
        enum ppu_aop to;
    } ops[] = {
        { LLVMAtomicRMWBinOpXchg, PPU_AOP_XCHG }, { LLVMAtomicRMWBinOpAdd, PPU_AOP_ADD },
        { LLVMAtomicRMWBinOpSub, PPU_AOP_ADD },   { LLVMAtomicRMWBinOpAnd, PPU_AOP_AND },
        { LLVMAtomicRMWBinOpOr, PPU_AOP_OR },     { LLVMAtomicRMWBinOpXor, PPU_AOP_XOR },
        { LLVMAtomicRMWBinOpMax, PPU_AOP_MAX },   { LLVMAtomicRMWBinOpMin, PPU_AOP_MIN },
        { LLVMAtomicRMWBinOpUMax, PPU_AOP_MAXU }, { LLVMAtomicRMWBinOpUMin, PPU_AOP_MINU },
        { LLVMAtomicRMWBinOpFAdd, PPU_AOP_FADD },
    };
    struct address address = select_address_of(s, LLVMGetOperand(value, 0));
    struct element data = select_element(s, LLVMGetOperand(value, 1), 0);
    LLVMAtomicRMWBinOp op = LLVMGetAtomicRMWBinOp(value);
    uint32_t bits = ir_bits(s->compilation, LLVMTypeOf(value)), i = 0;

    check_atomic(s, value, address.memory, bits);
    while (i < PPU_ARRAY_SIZE(ops) && ops[i].from != op) {
        i++;
    }
    if (i == PPU_ARRAY_SIZE(ops)) {
        compilation_fail_value(s->compilation, "compile a value: there is no code for", value);
    }
    if (op == LLVMAtomicRMWBinOpSub) {
        data = data.kind == ELEMENT_REGISTER
                   ? select_op(s, bits == 64 ? PPU_OP_RSUB64 : PPU_OP_RSUB, data, element_constant(0, data.words))
                   : element_constant(0 - data.add, data.words);
    }
    if (address.memory == IR_LOCAL) {
        select_set(s, value, 0, private_atomic(s, address, ops[i].to, data));
        return;
    }
    select_set(s, value, 0,
               select_atomic(s, address, ops[i].to, data, select_order(LLVMGetOrdering(value)), has_uses(value)));
}

static void select_exchange(struct isel *s, LLVMValueRef value)
{
    struct address address = select_address_of(s, LLVMGetOperand(value, 0));
    struct element wanted = select_element(s, LLVMGetOperand(value, 1), 0);
    uint32_t bits = ir_bits(s->compilation, LLVMTypeOf(LLVMGetOperand(value, 1))), words = bits / 32;
    struct element old;

    check_atomic(s, value, address.memory, bits);
    if (wanted.kind == ELEMENT_REGISTER) {
        wanted = element_register(select_reg(s, wanted), wanted.words);
    }
    if (address.memory == IR_LOCAL) {
        old = private_exchange(s, address, wanted, select_element(s, LLVMGetOperand(value, 2), 0));
    } else {
        struct mir_ref data = select_new(s, 2 * words);
        select_copy(s, data, wanted, words);
        select_copy(s, mir_sub(data, words), select_element(s, LLVMGetOperand(value, 2), 0), words);
        uint32_t order = select_order(LLVMGetCmpXchgSuccessOrdering(value));
        old = address.memory == IR_UNIFIED && s->compilation->private_escapes
                  ? generic_exchange(s, address, wanted, select_element(s, LLVMGetOperand(value, 2), 0), data, order)
                  : atomic(s, address, PPU_AOP_CAS, words == 2, data, order, true);
    }
    select_set(s, value, 0, old);
    select_set(s, value, 1, select_compare(s, words == 2 ? PPU_OP_ISETP64 : PPU_OP_ISETP, PPU_ICMP_EQ, old, wanted));
}

void select_atomic_value(struct isel *s, LLVMValueRef value)
{
    if (ir_is_instruction(value, LLVMAtomicRMW)) {
        select_rmw(s, value);
    } else {
        select_exchange(s, value);
    }
}
