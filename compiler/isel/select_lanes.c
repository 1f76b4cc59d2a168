/* SPDX-License-Identifier: MIT */
/*
 * Selects the primitives that see other lanes. Where the warp is together and the result is the same for all lanes it
 * goes into scalar registers.
 */
#include "compiler/isel/select_lanes.h"

static struct element operand(struct isel *s, LLVMValueRef call, uint32_t which)
{
    return select_element(s, LLVMGetOperand(call, which), 0);
}

static struct mir_ref in_register(struct isel *s, LLVMValueRef call, uint32_t which)
{
    return select_reg(s, operand(s, call, which));
}

/* A lane's number as the immediate, when it is a constant. */
static void set_number(struct isel *s, struct mir_insn *insn, struct element number)
{
    if (number.kind == ELEMENT_REGISTER) {
        insn->b = select_reg(s, number);
        return;
    }
    insn->code.immed = 1;
    insn->code.imm = (int32_t)number.add;
}

static struct element shuffle(struct isel *s, LLVMValueRef call, enum ppu_op op)
{
    struct mir_insn insn = mir_insn(op);
    struct mir_ref from = in_register(s, call, 0);

    if (op == PPU_OP_SHFL && mir_class_of(s->mir, from) == MIR_SCALAR) {
        return element_register(from, 1); /* all lanes have the same */
    }
    if (op == PPU_OP_SHFL && s->scalar) {
        insn = mir_insn(PPU_OP_READLANE);
    }
    insn.a = from;
    set_number(s, &insn, operand(s, call, 1));
    insn.d = select_new(s, 1);
    select_add(s, &insn);
    return element_register(insn.d, 1);
}

static struct element vote(struct isel *s, LLVMValueRef call, enum ppu_op op)
{
    struct mir_insn insn = mir_insn(op);

    insn.a = select_pred(s, operand(s, call, 0));
    insn.d = select_new_pred(s);
    select_add(s, &insn);
    return element_register(insn.d, 1);
}

/* A word of a set of lanes; those beyond the wave are 0. */
static struct element lanes_word(struct isel *s, LLVMValueRef call, enum primitive primitive)
{
    struct mir_insn insn = mir_insn(primitive == PRIMITIVE_BALLOT ? PPU_OP_BALLOT : PPU_OP_ACTIVE);
    LLVMValueRef which = LLVMGetOperand(call, primitive == PRIMITIVE_BALLOT);
    uint32_t words = s->compilation->wave / PPU_LANES;

    if (!LLVMIsAConstantInt(which)) {
        compilation_fail_value(s->compilation, "this built-in function needs a constant argument:", call);
    }
    uint64_t word = LLVMConstIntGetZExtValue(which);
    if (word >= words) {
        return element_number(0);
    }
    if (primitive == PRIMITIVE_BALLOT) {
        insn.a = select_pred(s, operand(s, call, 0));
    }
    insn.code.wd = (uint8_t)words;
    insn.d = select_new(s, words);
    select_add(s, &insn);
    return element_register(mir_sub(insn.d, (uint32_t)word), 1);
}

/* Where the warp is together anyway there is nobody to wait for. */
static void meet(struct isel *s)
{
    struct mir_insn insn = mir_insn(PPU_OP_WSYNC);

    if (!s->ir->flow->convergent[s->block]) {
        insn.ordered = true;
        select_add(s, &insn);
    }
}

bool select_lanes(struct isel *s, LLVMValueRef call, enum primitive primitive)
{
    struct element done;

    switch (primitive) {
    case PRIMITIVE_SHUFFLE:
        done = shuffle(s, call, PPU_OP_SHFL);
        break;
    case PRIMITIVE_SHUFFLE_UP:
        done = shuffle(s, call, PPU_OP_SHFLUP);
        break;
    case PRIMITIVE_SHUFFLE_DOWN:
        done = shuffle(s, call, PPU_OP_SHFLDN);
        break;
    case PRIMITIVE_SHUFFLE_XOR:
        done = shuffle(s, call, PPU_OP_SHFLX);
        break;
    case PRIMITIVE_VOTE_ALL:
        done = vote(s, call, PPU_OP_VOTEALL);
        break;
    case PRIMITIVE_VOTE_ANY:
        done = vote(s, call, PPU_OP_VOTEANY);
        break;
    case PRIMITIVE_BALLOT:
    case PRIMITIVE_ACTIVE:
        done = lanes_word(s, call, primitive);
        break;
    case PRIMITIVE_MEET:
        meet(s);
        return true;
    default:
        return false;
    }
    select_set(s, call, 0, done);
    return true;
}
