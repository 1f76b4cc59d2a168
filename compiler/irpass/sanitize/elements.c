/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/sanitize/elements.h"

#include "compiler/analysis/ir.h"

#define STEPS_MOST 16u /* from a load to what uses it */

uint32_t elements_count(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 1;
}

static uint32_t all_of(LLVMTypeRef type)
{
    const uint32_t count = elements_count(type);

    return count >= 32 ? 0xffffffffu : (1u << count) - 1;
}

/* ---- where an element came from ---- */

struct origin {
    LLVMValueRef load; /* NULL: it is no load's */
    uint32_t element;  /* of the load */
    bool undefined;    /* nobody gave it a value */
    bool may_be_other; /* or what was inserted at an index that the program computes */
};

/* True for a cast that leaves each element where it is. */
static bool keeps_elements(LLVMValueRef value)
{
    return ir_is_instruction(value, LLVMBitCast) &&
           elements_count(LLVMTypeOf(value)) == elements_count(LLVMTypeOf(LLVMGetOperand(value, 0)));
}

/* One step back of element `*element`; NULL: there is none, `*undefined` says whether it has no value. */
static LLVMValueRef step_back(LLVMValueRef value, struct origin *origin)
{
    if (ir_is_instruction(value, LLVMShuffleVector)) {
        const uint32_t first = elements_count(LLVMTypeOf(LLVMGetOperand(value, 0)));
        const int from = LLVMGetMaskValue(value, origin->element);
        origin->undefined = from == LLVMGetUndefMaskElem();
        origin->element = (uint32_t)from < first ? (uint32_t)from : (uint32_t)from - first;
        return origin->undefined ? NULL : LLVMGetOperand(value, (uint32_t)from < first ? 0 : 1);
    }
    if (ir_is_instruction(value, LLVMInsertElement)) {
        LLVMValueRef index = LLVMGetOperand(value, 2);
        origin->may_be_other |= !LLVMIsAConstantInt(index);
        return LLVMIsAConstantInt(index) && LLVMConstIntGetZExtValue(index) == origin->element
                   ? NULL
                   : LLVMGetOperand(value, 0);
    }
    return keeps_elements(value) ? LLVMGetOperand(value, 0) : NULL;
}

static struct origin origin_of(LLVMValueRef value, uint32_t element)
{
    struct origin origin = { .element = element };

    for (uint32_t i = 0; i < STEPS_MOST; i++) {
        LLVMValueRef before = step_back(value, &origin);
        if (!before) {
            break;
        }
        value = before;
    }
    origin.undefined |= LLVMIsUndef(value) || LLVMIsPoison(value);
    origin.load = ir_is_instruction(value, LLVMLoad) ? value : NULL;
    return origin;
}

/* True when element i of what the store stores is what lay there. */
static bool is_put_back(LLVMValueRef store, uint32_t i, struct origin *origin)
{
    *origin = origin_of(LLVMGetOperand(store, 0), i);
    return origin->load && origin->element == i && LLVMGetOperand(origin->load, 0) == LLVMGetOperand(store, 1);
}

/* ---- stores ---- */

uint32_t elements_written(LLVMValueRef store)
{
    LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(store, 0));
    const uint32_t count = elements_count(type);
    uint32_t written = all_of(type);
    struct origin origin;

    for (uint32_t i = 0; LLVMGetTypeKind(type) == LLVMVectorTypeKind && i < count && i < 32; i++) {
        const bool back = is_put_back(store, i, &origin);
        if ((back && !origin.may_be_other) || origin.undefined) {
            written &= ~(1u << i);
        }
    }
    return written;
}

/* ---- loads ---- */

static uint32_t needed_of(LLVMValueRef value, uint32_t steps);

static uint32_t needed_by_store(LLVMValueRef store, LLVMValueRef value)
{
    uint32_t needed = all_of(LLVMTypeOf(value));
    struct origin origin;

    for (uint32_t i = 0; LLVMGetOperand(store, 0) == value && i < elements_count(LLVMTypeOf(value)) && i < 32; i++) {
        needed &= is_put_back(store, i, &origin) || origin.undefined ? ~(1u << i) : 0xffffffffu;
    }
    return needed;
}

static uint32_t needed_by_shuffle(LLVMValueRef shuffle, LLVMValueRef value, uint32_t steps)
{
    const uint32_t of = needed_of(shuffle, steps), first = elements_count(LLVMTypeOf(LLVMGetOperand(shuffle, 0)));
    uint32_t needed = 0;

    for (uint32_t i = 0; i < elements_count(LLVMTypeOf(shuffle)) && i < 32; i++) {
        const int from = LLVMGetMaskValue(shuffle, i);
        if (from == LLVMGetUndefMaskElem() || (of >> i & 1) == 0) {
            continue;
        }
        const uint32_t second = (uint32_t)from >= first, element = (uint32_t)from - second * first;
        needed |= LLVMGetOperand(shuffle, second) == value ? 1u << element : 0;
    }
    return needed;
}

static uint32_t needed_by(LLVMValueRef user, LLVMValueRef value, uint32_t steps)
{
    const uint32_t all = all_of(LLVMTypeOf(value));

    if (ir_is_instruction(user, LLVMExtractElement)) {
        LLVMValueRef index = LLVMGetOperand(user, 1);
        return LLVMIsAConstantInt(index) ? 1u << (LLVMConstIntGetZExtValue(index) & 31) : all;
    }
    if (ir_is_instruction(user, LLVMShuffleVector)) {
        return needed_by_shuffle(user, value, steps);
    }
    if (ir_is_instruction(user, LLVMInsertElement) && LLVMGetOperand(user, 0) == value) {
        LLVMValueRef index = LLVMGetOperand(user, 2);
        const uint32_t put = LLVMIsAConstantInt(index) ? 1u << (LLVMConstIntGetZExtValue(index) & 31) : 0;
        return needed_of(user, steps) & ~put;
    }
    if (ir_is_instruction(user, LLVMStore)) {
        return needed_by_store(user, value);
    }
    return keeps_elements(user) ? needed_of(user, steps) : all;
}

static uint32_t needed_of(LLVMValueRef value, uint32_t steps)
{
    uint32_t needed = 0;

    if (steps == 0) {
        return all_of(LLVMTypeOf(value));
    }
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        needed |= needed_by(LLVMGetUser(use), value, steps - 1);
    }
    return needed;
}

static LLVMValueRef only_user(LLVMValueRef value, LLVMOpcode opcode)
{
    LLVMUseRef use = LLVMGetFirstUse(value);

    return use && !LLVMGetNextUse(use) && ir_is_instruction(LLVMGetUser(use), opcode) ? LLVMGetUser(use) : NULL;
}

/* Load, and, or, store to the same place: bits are replaced, and the others are put back. */
static bool is_bit_field(LLVMValueRef load)
{
    LLVMValueRef rest = only_user(load, LLVMAnd);
    LLVMValueRef both = rest && LLVMIsAConstantInt(LLVMGetOperand(rest, 1)) ? only_user(rest, LLVMOr) : NULL;

    for (LLVMUseRef use = both ? LLVMGetFirstUse(both) : NULL; use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (ir_is_instruction(user, LLVMStore) && LLVMGetOperand(user, 1) == LLVMGetOperand(load, 0)) {
            return true;
        }
    }
    return false;
}

uint32_t elements_needed(LLVMValueRef load)
{
    return is_bit_field(load) ? 0 : needed_of(load, STEPS_MOST);
}
