/* SPDX-License-Identifier: MIT */
#include "forms.h"

#include "affine.h"
#include "id.h"
#include "ir.h"
#include "ppu/image.h"
#include "primitive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORM "ppu-form" /* attribute of a parameter: its form, as a number */
#define DEPTH 10u
#define ANY PPU_REFERENCE_BY_ANY

/* All accesses through one argument. */
struct form {
    uint8_t by;
    bool apart; /* so far */
    uint32_t accesses;
    struct affine first; /* of the first access */
    int64_t low, high;   /* offsets of all, from its root on */
};

/* ---- what an index is made from ---- */

static uint8_t form_of(LLVMValueRef value, uint32_t depth);

static uint8_t form_of_call(LLVMValueRef call)
{
    switch (id_register(call)) {
    case PPU_SR_TID_X:
    case PPU_SR_TID_Y:
    case PPU_SR_TID_Z:
    case PPU_SR_TID:
    case PPU_SR_CTA_X:
    case PPU_SR_CTA_Y:
    case PPU_SR_CTA_Z:
        return PPU_REFERENCE_BY_THREAD;
    case PPU_SR_NTID_X:
    case PPU_SR_NTID_Y:
    case PPU_SR_NTID_Z:
        return 0;
    default:
        return primitive_find(ir_callee(call)) == PRIMITIVE_LAUNCH ? 0 : ANY;
    }
}

/* A counter: what it begins with, and what is added. */
static uint8_t form_of_phi(LLVMValueRef phi, uint32_t depth)
{
    uint8_t form = PPU_REFERENCE_BY_LOOP;

    for (uint32_t i = 0; i < LLVMCountIncoming(phi); i++) {
        LLVMValueRef in = LLVMGetIncomingValue(phi, i);
        bool moves = ir_is_instruction(in, LLVMAdd) && LLVMGetOperand(in, 0) == phi;
        form |= form_of(moves ? LLVMGetOperand(in, 1) : in, depth);
    }
    return form;
}

static uint8_t form_of_operands(LLVMValueRef value, uint32_t depth)
{
    uint8_t form = 0;

    for (int i = 0; i < LLVMGetNumOperands(value); i++) {
        form |= form_of(LLVMGetOperand(value, (unsigned)i), depth);
    }
    return form;
}

static uint8_t form_of(LLVMValueRef value, uint32_t depth)
{
    if (LLVMIsAInstruction(value) == NULL) {
        return 0; /* a constant, or an argument */
    }
    if (depth == 0 || ir_bits_of_integer(value) == 0) {
        return ANY;
    }
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMCall:
        return form_of_call(value);
    case LLVMPHI:
        return form_of_phi(value, depth - 1);
    case LLVMAdd:
    case LLVMSub:
    case LLVMOr:
    case LLVMSExt:
    case LLVMZExt:
    case LLVMTrunc:
        return form_of_operands(value, depth - 1);
    case LLVMMul:
    case LLVMShl: {
        uint8_t a = form_of(LLVMGetOperand(value, 0), depth - 1), b = form_of(LLVMGetOperand(value, 1), depth - 1);
        return a != 0 && b != 0 ? ANY : a | b;
    }
    default:
        return form_of_operands(value, depth - 1) != 0 ? ANY : 0;
    }
}

/* ---- threads apart ---- */

/* Parts of a sum. */
struct parts {
    uint32_t tid, group;
    bool other;
};

static LLVMValueRef narrow(LLVMValueRef value)
{
    while (ir_is_instruction(value, LLVMZExt) || ir_is_instruction(value, LLVMSExt) ||
           ir_is_instruction(value, LLVMTrunc)) {
        value = LLVMGetOperand(value, 0);
    }
    return value;
}

static void add_parts(struct parts *parts, LLVMValueRef value, uint32_t depth)
{
    value = narrow(value);
    if (id_register(value) == PPU_SR_TID_X) {
        parts->tid++;
    } else if (id_is_group_begin(value, 0)) {
        parts->group++;
    } else if (ir_is_instruction(value, LLVMAdd) && depth != 0) {
        add_parts(parts, LLVMGetOperand(value, 0), depth - 1);
        add_parts(parts, LLVMGetOperand(value, 1), depth - 1);
    } else {
        parts->other |= form_of(value, DEPTH) != 0;
    }
}

/* The address is get_global_id(0) times something, and what is the same for all: that something in bytes; 0: not so. */
static int64_t step_of(const struct affine *address)
{
    struct parts parts = { .tid = 0 };
    int64_t step = 0;
    bool one = true; /* step, of all terms that differ from thread to thread */

    for (uint32_t i = 0; i < address->count; i++) {
        const struct affine_term *term = &address->terms[i];
        if (form_of(term->value, DEPTH) != 0) {
            one &= step == 0 || step == term->scale;
            step = term->scale;
            add_parts(&parts, term->value, DEPTH);
        }
    }
    return one && parts.tid == 1 && parts.group == 1 && !parts.other ? step : 0;
}

static void note(struct form *form, const struct affine *address, LLVMValueRef argument, int64_t bytes)
{
    if (address->root != argument) {
        form->by |= ANY;
        form->apart = false;
        return;
    }
    for (uint32_t i = 0; i < address->count; i++) {
        form->by |= form_of(address->terms[i].value, DEPTH);
    }
    if (form->accesses++ == 0) {
        form->first = *address;
        form->low = address->offset;
        form->high = address->offset + bytes;
    }
    form->low = address->offset < form->low ? address->offset : form->low;
    form->high = address->offset + bytes > form->high ? address->offset + bytes : form->high;
    form->apart &= affine_is_parallel(&form->first, address) && llabs(step_of(address)) >= form->high - form->low;
}

/* ---- kernels ---- */

static void keep(struct unit *unit, LLVMValueRef function, uint32_t argument, const struct form *form)
{
    uint8_t bits = (uint8_t)(form->by | (form->apart && form->accesses != 0 ? PPU_REFERENCE_APART : 0));
    char text[8];
    int length = snprintf(text, sizeof(text), "%u", bits);

    LLVMAddAttributeAtIndex(
        function, argument + 1,
        LLVMCreateStringAttribute(unit->llvm, FORM, (unsigned)strlen(FORM), text, (unsigned)length));
}

static bool is_memory(LLVMValueRef argument)
{
    return LLVMGetTypeKind(LLVMTypeOf(argument)) == LLVMPointerTypeKind && !ir_is_byval(argument);
}

static struct form find_form(struct unit *unit, LLVMValueRef function, LLVMValueRef argument)
{
    struct form form = { .apart = true };

    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b != NULL; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != NULL; i = LLVMGetNextInstruction(i)) {
            bool load = ir_is_instruction(i, LLVMLoad), store = ir_is_instruction(i, LLVMStore);
            if ((load || store) && affine_root(LLVMGetOperand(i, store)) == argument) {
                struct affine address = affine_of(unit, LLVMGetOperand(i, store));
                LLVMTypeRef type = load ? LLVMTypeOf(i) : LLVMTypeOf(LLVMGetOperand(i, 0));
                note(&form, &address, argument, (int64_t)LLVMStoreSizeOfType(unit->layout, type));
            }
        }
    }
    return form;
}

void forms_find(struct unit *unit, LLVMValueRef function)
{
    for (uint32_t i = 0; ir_is_kernel(function) && i < LLVMCountParams(function); i++) {
        if (is_memory(LLVMGetParam(function, i))) {
            struct form form = find_form(unit, function, LLVMGetParam(function, i));
            keep(unit, function, i, &form);
        }
    }
}

uint8_t forms_of(LLVMValueRef function, uint32_t argument)
{
    LLVMAttributeRef attribute = LLVMGetStringAttributeAtIndex(function, argument + 1, FORM, (unsigned)strlen(FORM));
    unsigned length;

    return attribute != NULL ? (uint8_t)strtoul(LLVMGetStringAttributeValue(attribute, &length), NULL, 10) : 0;
}
