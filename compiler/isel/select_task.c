/* SPDX-License-Identifier: MIT */
/* Selects the primitives of the device library that launch tasks (ppu/nest.h). */
#include "compiler/isel/select_memory.h"
#include "ppu/nest.h"

#define RECORD_SHIFT 10u /* a record's bytes are 2 to the power of this */
_Static_assert(sizeof(struct ppu_nest_task) == 1u << RECORD_SHIFT, "distances are shifted");
_Static_assert(offsetof(struct ppu_nest_task, status) == 0, "the status is where the record is");

static void add_plain(struct isel *s, enum ppu_op op)
{
    struct mir_insn insn = mir_insn(op);

    insn.ordered = true;
    select_add(s, &insn);
}

static struct mir_ref operand(struct isel *s, LLVMValueRef call, uint32_t index)
{
    return select_reg(s, select_element(s, LLVMGetOperand(call, index), 0));
}

static void add_start(struct isel *s, struct mir_ref task, struct mir_ref former, struct mir_ref guard)
{
    struct mir_insn insn = mir_insn(PPU_OP_TSTART);

    insn.a = task;
    insn.b = former;
    insn.guard = guard;
    insn.ordered = true;
    select_add(s, &insn);
}

static struct element add_exchange(struct isel *s, struct mir_ref at, struct mir_ref value, struct mir_ref guard)
{
    struct mir_insn insn = mir_insn(PPU_OP_ATOMG);

    insn.code.aop = PPU_AOP_XCHG;
    insn.code.order = PPU_ORDER_ACQ_REL;
    insn.code.scope = (uint8_t)select_scope(IR_GLOBAL);
    insn.code.wa = 2;
    insn.code.wb = 1;
    insn.code.wd = 1;
    insn.a = at;
    insn.b = value;
    insn.d = select_new(s, 1);
    insn.guard = guard;
    insn.ordered = true;
    select_add(s, &insn);
    return element_register(insn.d, 1);
}

/* Records lie in a row, as the indices of their handles say: the distance from one status to another. */
static struct mir_ref link_of(struct isel *s, struct element former, struct element task, struct element status)
{
    struct element distance = select_op(s, PPU_OP_SUB, former, task);
    struct mir_ref wide = select_new(s, 2);

    distance = select_op(s, PPU_OP_SHL, distance, element_number(32 - PPU_TASK_INDEX_BITS));
    distance = select_op(s, PPU_OP_ASR, distance, element_number(32 - PPU_TASK_INDEX_BITS - RECORD_SHIFT));
    select_copy(s, wide, distance, 1);
    select_copy(s, mir_sub(wide, 1), select_op(s, PPU_OP_ASR, distance, element_number(31)), 1);
    status = select_op(s, PPU_OP_ADD64, element_register(wide, 2), status);
    status.add += offsetof(struct ppu_task_status, next_stream);
    return select_reg(s, status);
}

/* The critical section of a launch is straight code, as the machine wants it (B4); as in device-lib/asm/nest.s. */
static void add_follow(struct isel *s, LLVMValueRef call)
{
    struct mir_ref last = operand(s, call, 0), handle = operand(s, call, 1);
    struct element task = element_register(handle, 1), status = element_register(operand(s, call, 2), 2);

    add_plain(s, PPU_OP_CSENTER);
    struct element former = add_exchange(s, last, handle, (struct mir_ref){ 0 });
    struct element follows = select_compare(s, PPU_OP_ISETP, PPU_ICMP_NE, former, element_number(PPU_TASK_NULL));
    struct element next = add_exchange(s, link_of(s, former, task, status), handle, select_pred(s, follows));
    struct element waiting = select_compare(s, PPU_OP_ISETP, PPU_ICMP_EQ, next, element_number(PPU_TASK_WAITING));
    waiting = select_logic(s, PPU_OP_PAND, waiting, follows);
    struct element before = select_choose(s, waiting, former, element_number(PPU_TASK_NULL));
    struct element first = select_logic(s, PPU_OP_POR, waiting, element_not(follows));
    add_start(s, handle, select_reg(s, before), select_pred(s, first));
    add_plain(s, PPU_OP_CSLEAVE);
}

static void add_release(struct isel *s, enum ppu_op op, struct mir_ref at, struct mir_ref payload)
{
    struct mir_insn insn = mir_insn(op);

    insn.a = at;
    insn.b = payload;
    insn.ordered = true;
    select_add(s, &insn);
}

bool select_task(struct isel *s, LLVMValueRef call, enum primitive primitive)
{
    const bool scalar = s->scalar;

    s->scalar = false; /* what each lane asks for is its own */
    if (primitive == PRIMITIVE_START) {
        add_start(s, operand(s, call, 0), select_reg(s, element_number(PPU_TASK_NULL)), (struct mir_ref){ 0 });
    } else if (primitive == PRIMITIVE_REQUEST) {
        add_start(s, operand(s, call, 0), operand(s, call, 1), (struct mir_ref){ 0 });
    } else if (primitive == PRIMITIVE_FOLLOW) {
        add_follow(s, call);
    } else if (primitive == PRIMITIVE_STAMP) {
        add_release(s, PPU_OP_SEMRELT, operand(s, call, 0), select_reg(s, element_number(0)));
    } else if (primitive == PRIMITIVE_RELEASE) {
        add_release(s, PPU_OP_SEMREL, operand(s, call, 0), operand(s, call, 1));
    } else {
        s->scalar = scalar;
        return false;
    }
    s->scalar = scalar;
    return true;
}
