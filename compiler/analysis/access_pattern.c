/* SPDX-License-Identifier: MIT */
#include "compiler/analysis/access_pattern.h"

#include "compiler/analysis/affine.h"
#include "compiler/analysis/ir.h"
#include "compiler/analysis/work_item.h"
#include "compiler/base/primitive.h"
#include "ppu/macros.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATTERN "ppu-pattern" /* attribute of a parameter: its pattern, as numbers */
#define DEPTH 10u
#define ANY PPU_REFERENCE_BY_ANY

/* All accesses through one argument, so far. */
struct pattern {
    uint8_t by;
    bool disjoint, known; /* what one thread reaches: it alone does; by its global id, and constants */
    uint32_t accesses;
    struct affine first; /* of the first access */
    int64_t step, low, high;
};

/* ---- what an index is made from ---- */

static uint8_t pattern_of(LLVMValueRef value, uint32_t depth);

static uint8_t pattern_of_call(LLVMValueRef call)
{
    switch (work_item_register(call)) {
    case PPU_SR_TID_X:
    case PPU_SR_TID_Y:
    case PPU_SR_TID_Z:
    case PPU_SR_TID:
    case PPU_SR_CTA_X:
    case PPU_SR_CTA_Y:
    case PPU_SR_CTA_Z:
    case PPU_SR_SIZE_X:
    case PPU_SR_SIZE_Y:
    case PPU_SR_SIZE_Z:
        return PPU_REFERENCE_BY_THREAD;
    case PPU_SR_NTID_X:
    case PPU_SR_NTID_Y:
    case PPU_SR_NTID_Z:
    case PPU_SR_LAST_X:
    case PPU_SR_LAST_Y:
    case PPU_SR_LAST_Z:
    case PPU_SR_NCTA_X:
    case PPU_SR_NCTA_Y:
    case PPU_SR_NCTA_Z:
        return 0;
    default:
        return primitive_find(ir_callee(call)) == PRIMITIVE_LAUNCH ? 0 : ANY;
    }
}

/* A counter: what it begins with, and what is added. */
static uint8_t pattern_of_phi(LLVMValueRef phi, uint32_t depth)
{
    uint8_t pattern = PPU_REFERENCE_BY_LOOP;

    for (uint32_t i = 0; i < LLVMCountIncoming(phi); i++) {
        LLVMValueRef in = LLVMGetIncomingValue(phi, i);
        bool moves = ir_is_instruction(in, LLVMAdd) && LLVMGetOperand(in, 0) == phi;
        pattern |= pattern_of(moves ? LLVMGetOperand(in, 1) : in, depth);
    }
    return pattern;
}

static uint8_t pattern_of_operands(LLVMValueRef value, uint32_t depth)
{
    uint8_t pattern = 0;

    for (int i = 0; i < LLVMGetNumOperands(value); i++) {
        pattern |= pattern_of(LLVMGetOperand(value, (unsigned)i), depth);
    }
    return pattern;
}

static uint8_t pattern_of(LLVMValueRef value, uint32_t depth)
{
    if (!LLVMIsAInstruction(value)) {
        return 0; /* a constant, or an argument */
    }
    if (depth == 0 || ir_bits_of_integer(value) == 0) {
        return ANY;
    }
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMCall:
        return pattern_of_call(value);
    case LLVMPHI:
        return pattern_of_phi(value, depth - 1);
    case LLVMAdd:
    case LLVMSub:
    case LLVMOr:
    case LLVMSExt:
    case LLVMZExt:
    case LLVMTrunc:
        return pattern_of_operands(value, depth - 1);
    case LLVMMul:
    case LLVMShl: {
        uint8_t a = pattern_of(LLVMGetOperand(value, 0), depth - 1),
                b = pattern_of(LLVMGetOperand(value, 1), depth - 1);
        return a != 0 && b != 0 ? ANY : a | b;
    }
    default:
        return pattern_of_operands(value, depth - 1) != 0 ? ANY : 0;
    }
}

/* ---- disjoint threads ---- */

#define WORD_BITS 32u /* of the global offset's words */

/* Terms of a sum. */
struct terms {
    uint32_t tid, work_group, offset;
    bool uniform, other; /* something else that is the same for all, or is not */
};

/* Word 0 of get_global_offset(0). */
static bool is_offset(LLVMValueRef value)
{
    return work_item_offset_word(value) == 0;
}

/* Word 1 of it, in its place, or times something: 0 where launches are compared. */
static bool is_offset_high(LLVMValueRef value)
{
    return ir_is_instruction(value, LLVMShl) && LLVMIsAConstantInt(LLVMGetOperand(value, 1)) &&
           LLVMConstIntGetZExtValue(LLVMGetOperand(value, 1)) >= WORD_BITS &&
           work_item_offset_word(id_narrow(LLVMGetOperand(value, 0))) == 1;
}

static bool is_sum(LLVMValueRef value)
{
    return ir_is_instruction(value, LLVMAdd) || (ir_is_instruction(value, LLVMOr) && LLVMGetIsDisjoint(value));
}

static void add_terms(struct terms *terms, LLVMValueRef value, uint32_t depth)
{
    value = id_narrow(value);
    if (work_item_register(value) == PPU_SR_TID_X) {
        terms->tid++;
    } else if (work_item_is_work_group_begin(value, 0)) {
        terms->work_group++;
    } else if (is_offset(value)) {
        terms->offset++;
    } else if (is_sum(value) && depth != 0) {
        add_terms(terms, LLVMGetOperand(value, 0), depth - 1);
        add_terms(terms, LLVMGetOperand(value, 1), depth - 1);
    } else if (!is_offset_high(value)) {
        bool differs = pattern_of(value, DEPTH) != 0;
        terms->other |= differs;
        terms->uniform |= !differs;
    }
}

/* How an address depends on the thread. */
struct stride {
    int64_t step;         /* bytes, for each get_global_id(0) */
    bool disjoint, known; /* it does so, whatever is added that is the same for all; and nothing but constants is */
};

static struct stride stride_of(const struct affine *address)
{
    struct terms terms = { .tid = 0 };
    int64_t step = 0;
    bool one = true; /* step, of all terms that make the thread's number */

    for (uint32_t i = 0; i < address->count; i++) {
        const struct affine_term *term = &address->terms[i];
        if (pattern_of(term->value, DEPTH) != 0 || is_offset(id_narrow(term->value))) {
            one &= step == 0 || step == term->scale;
            step = term->scale;
        }
        add_terms(&terms, term->value, DEPTH);
    }
    bool same = terms.tid == 0 && terms.work_group == 0 && terms.offset == 0 && !terms.other;
    bool disjoint = one && terms.tid == 1 && terms.work_group == 1 && !terms.other;
    return (struct stride){ step, disjoint, !terms.uniform && (same || (disjoint && terms.offset == 1)) };
}

static void give_up(struct pattern *pattern)
{
    pattern->by |= ANY;
    pattern->disjoint = pattern->known = false;
}

static void note(struct pattern *pattern, const struct affine *address, LLVMValueRef argument, int64_t bytes)
{
    if (address->root != argument) {
        give_up(pattern);
        return;
    }
    const struct stride stride = stride_of(address);
    for (uint32_t i = 0; i < address->count; i++) {
        pattern->by |= pattern_of(address->terms[i].value, DEPTH);
    }
    if (pattern->accesses++ == 0) {
        pattern->first = *address;
        pattern->step = stride.step;
        pattern->low = address->offset;
        pattern->high = address->offset + bytes;
    }
    pattern->low = PPU_MIN(address->offset, pattern->low);
    pattern->high = address->offset + bytes > pattern->high ? address->offset + bytes : pattern->high;
    pattern->disjoint &= stride.disjoint && affine_is_parallel(&pattern->first, address) &&
                         llabs(stride.step) >= pattern->high - pattern->low;
    pattern->known &= stride.known && stride.step == pattern->step;
}

/* ---- what is done with pointers ---- */

/* Pointers made from an argument, found so far. */
struct walk {
    struct compilation *compilation;
    LLVMValueRef argument;
    struct pattern pattern;
    LLVMValueRef *list;
    uint32_t count;
    unsigned cap;
};

static void follow(struct walk *walk, LLVMValueRef pointer)
{
    for (uint32_t i = 0; i < walk->count; i++) {
        if (walk->list[i] == pointer) {
            return;
        }
    }
    walk->list = arena_grow(&walk->compilation->arena, walk->list, sizeof(LLVMValueRef), walk->count, &walk->cap);
    walk->list[walk->count++] = pointer;
}

static void note_access(struct walk *walk, LLVMValueRef pointer, LLVMTypeRef type)
{
    struct affine address = affine_of(walk->compilation, pointer);

    note(&walk->pattern, &address, walk->argument, (int64_t)LLVMStoreSizeOfType(walk->compilation->layout, type));
}

static void note_use(struct walk *walk, LLVMValueRef user, LLVMValueRef pointer)
{
    if (!LLVMIsAInstruction(user)) {
        give_up(&walk->pattern);
        return;
    }
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMLoad:
        note_access(walk, pointer, LLVMTypeOf(user));
        break;
    case LLVMStore:
        if (LLVMGetOperand(user, 0) == pointer) {
            give_up(&walk->pattern);
        } else {
            note_access(walk, pointer, LLVMTypeOf(LLVMGetOperand(user, 0)));
        }
        break;
    case LLVMGetElementPtr:
    case LLVMAddrSpaceCast:
    case LLVMPHI:
    case LLVMSelect:
    case LLVMFreeze:
        follow(walk, user);
        break;
    case LLVMICmp:
        break;
    default:
        give_up(&walk->pattern);
        break;
    }
}

static struct pattern find_pattern(struct compilation *compilation, LLVMValueRef argument)
{
    struct walk walk = { .compilation = compilation,
                         .argument = argument,
                         .pattern = { .disjoint = true, .known = true } };

    follow(&walk, argument);
    for (uint32_t i = 0; i < walk.count; i++) {
        LLVMValueRef pointer = walk.list[i];
        for (LLVMUseRef use = LLVMGetFirstUse(pointer); use; use = LLVMGetNextUse(use)) {
            note_use(&walk, LLVMGetUser(use), pointer);
        }
    }
    return walk.pattern;
}

/* ---- kernels ---- */

static bool stride_fits(int64_t bytes)
{
    return bytes >= INT32_MIN && bytes <= INT32_MAX;
}

static void keep_pattern(struct compilation *compilation, LLVMValueRef function, uint32_t argument,
                         const struct pattern *pattern)
{
    uint8_t bits = (uint8_t)(pattern->by | (pattern->disjoint && pattern->accesses != 0 ? PPU_REFERENCE_DISJOINT : 0));
    bool known = pattern->known && pattern->accesses != 0 && stride_fits(pattern->step) && stride_fits(pattern->low) &&
                 stride_fits(pattern->high);
    char text[64];
    int length = snprintf(text, sizeof(text), "%u %lld %lld %lld", bits, known ? (long long)pattern->step : 0,
                          known ? (long long)pattern->low : 0, known ? (long long)pattern->high : 0);

    LLVMAddAttributeAtIndex(
        function, argument + 1,
        LLVMCreateStringAttribute(compilation->llvm, PATTERN, (unsigned)strlen(PATTERN), text, (unsigned)length));
}

static bool is_memory(LLVMValueRef argument)
{
    return LLVMGetTypeKind(LLVMTypeOf(argument)) == LLVMPointerTypeKind && !ir_is_byval(argument);
}

void access_pattern_find(struct compilation *compilation, LLVMValueRef function)
{
    for (uint32_t i = 0; ir_is_kernel(function) && i < LLVMCountParams(function); i++) {
        if (is_memory(LLVMGetParam(function, i))) {
            struct pattern pattern = find_pattern(compilation, LLVMGetParam(function, i));
            keep_pattern(compilation, function, i, &pattern);
        }
    }
}

struct access_patterns access_pattern_of(LLVMValueRef function, uint32_t argument)
{
    LLVMAttributeRef attribute =
        LLVMGetStringAttributeAtIndex(function, argument + 1, PATTERN, (unsigned)strlen(PATTERN));
    struct access_patterns patterns = { .by = 0 };
    unsigned length;

    if (attribute) {
        char *at = (char *)(uintptr_t)LLVMGetStringAttributeValue(attribute, &length);
        patterns.by = (uint8_t)strtoul(at, &at, 10);
        patterns.reach.step = (int32_t)strtol(at, &at, 10);
        patterns.reach.low = (int32_t)strtol(at, &at, 10);
        patterns.reach.high = (int32_t)strtol(at, &at, 10);
    }
    return patterns;
}
