/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/specialize_alias.h"

#include "compiler/analysis/access_span.h"
#include "compiler/analysis/ir.h"
#include "compiler/irpass/specialize_shape.h"
#include "ppu/macros.h"

#include <string.h>

/* ---- the kernel ---- */

static LLVMValueRef find_kernel(const struct compilation *compilation)
{
    LLVMValueRef kernel = LLVMGetNamedFunction(compilation->module, compilation->options->facts->kernel);

    return kernel && ir_is_kernel(kernel) && !LLVMIsDeclaration(kernel) ? kernel : NULL;
}

/* Casts of what is gone stay behind, and need nothing. */
static bool is_needed(LLVMValueRef value)
{
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!LLVMIsAConstantExpr(user) || is_needed(user)) {
            return true;
        }
    }
    return false;
}

/* Kernels that nothing needs: what a kernel enqueues is needed until that one is gone. False: there is none. */
static bool delete_others(struct compilation *compilation, LLVMValueRef kernel)
{
    bool deleted = false;

    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module), next; f; f = next) {
        next = LLVMGetNextFunction(f);
        if (ir_is_kernel(f) && f != kernel && !is_needed(f)) {
            LLVMDeleteFunction(f);
            deleted = true;
        }
    }
    return deleted;
}

void alias_extract_kernel(struct compilation *compilation)
{
    LLVMValueRef kernel = find_kernel(compilation);

    if (!kernel) {
        compilation_fail(compilation, PPU_COMPILE_UNSUPPORTED, "the program has no kernel '%s'",
                         compilation->options->facts->kernel);
    }
    while (delete_others(compilation, kernel)) {
    }
}

bool alias_has_common(const struct compilation *compilation)
{
    const struct ppu_compile_facts *facts = compilation->options->facts;
    bool has = false;

    for (uint32_t i = 0; i < facts->pair_count; i++) {
        has |= facts->pairs[i].relation == PPU_RELATION_OVERLAP && facts->pairs[i].bytes != 0;
    }
    return has;
}

static const struct ppu_compile_argument *argument_fact(const struct compilation *compilation, uint32_t i)
{
    return i < compilation->options->facts->argument_count ? &compilation->options->facts->arguments[i] : NULL;
}

static bool is_memory(LLVMValueRef argument)
{
    return LLVMGetTypeKind(LLVMTypeOf(argument)) == LLVMPointerTypeKind && !ir_is_byval(argument) &&
           ir_pointer_space(argument) != SPACE_LOCAL;
}

/* Facts come from outside: what does not fit the kernel is not believed. */
static bool is_of(LLVMValueRef kernel, const struct ppu_compile_pair *pair)
{
    return pair->first < pair->second && pair->second < LLVMCountParams(kernel) &&
           is_memory(LLVMGetParam(kernel, pair->first)) && is_memory(LLVMGetParam(kernel, pair->second)) &&
           pair->element_log2 < 8;
}

static bool is_separate(const struct compilation *compilation, uint32_t i)
{
    const struct ppu_compile_argument *fact = argument_fact(compilation, i);

    return fact && fact->separate != 0;
}

/* Returns what is known of two arguments that point to memory. Nothing is known of others. */
static struct ppu_compile_pair find_pair(const struct compilation *compilation, LLVMValueRef kernel, uint32_t a,
                                         uint32_t b)
{
    const struct ppu_compile_facts *facts = compilation->options->facts;
    struct ppu_compile_pair pair = { .first = (uint8_t)PPU_MIN(a, b), .second = (uint8_t)PPU_MAX(a, b) };
    bool separate = is_separate(compilation, a) && is_separate(compilation, b) && is_memory(LLVMGetParam(kernel, a)) &&
                    is_memory(LLVMGetParam(kernel, b));

    pair.relation = separate ? PPU_RELATION_DISJOINT : PPU_RELATION_UNKNOWN;
    for (uint32_t i = 0; i < facts->pair_count; i++) {
        if (facts->pairs[i].first == pair.first && facts->pairs[i].second == pair.second) {
            pair = facts->pairs[i];
            pair.relation = is_of(kernel, &pair) ? pair.relation : (uint8_t)PPU_RELATION_UNKNOWN;
            break;
        }
    }
    return pair;
}

/* ---- constants, alignment ---- */

static LLVMValueRef constant_of(LLVMTypeRef type, uint64_t value)
{
    switch (LLVMGetTypeKind(type)) {
    case LLVMIntegerTypeKind:
        return LLVMGetIntTypeWidth(type) <= 64 ? LLVMConstInt(type, value, false) : NULL;
    case LLVMFloatTypeKind:
        return LLVMConstBitCast(LLVMConstInt(LLVMInt32TypeInContext(LLVMGetTypeContext(type)), value, false), type);
    default:
        return NULL;
    }
}

static void set_constants(struct compilation *compilation, LLVMValueRef kernel)
{
    for (uint32_t i = 0; i < LLVMCountParams(kernel); i++) {
        const struct ppu_compile_argument *fact = argument_fact(compilation, i);
        LLVMValueRef argument = LLVMGetParam(kernel, i);
        LLVMValueRef constant = fact && fact->constant ? constant_of(LLVMTypeOf(argument), fact->value) : NULL;
        if (constant) {
            LLVMReplaceAllUsesWith(argument, constant);
        }
    }
}

static void set_alignment(struct compilation *compilation, LLVMValueRef kernel)
{
    uint32_t kind = LLVMGetEnumAttributeKindForName("align", 5);

    for (uint32_t i = 0; i < LLVMCountParams(kernel); i++) {
        const struct ppu_compile_argument *fact = argument_fact(compilation, i);
        if (!fact || fact->align_log2 == 0 || fact->align_log2 > 12 || !is_memory(LLVMGetParam(kernel, i))) {
            continue;
        }
        LLVMAttributeRef old = LLVMGetEnumAttributeAtIndex(kernel, i + 1, kind);
        if (!old || LLVMGetEnumAttributeValue(old) < 1ull << fact->align_log2) {
            LLVMRemoveEnumAttributeAtIndex(kernel, i + 1, kind);
            LLVMAddAttributeAtIndex(kernel, i + 1,
                                    LLVMCreateEnumAttribute(compilation->llvm, kind, 1ull << fact->align_log2));
        }
    }
}

/* ---- separation: scopes ---- */

struct scopes {
    struct compilation *compilation;
    LLVMValueRef kernel;
    const struct ir *ir; /* of the kernel; NULL: nothing is known of common bytes */
    LLVMMetadataRef domain;
    uint32_t scope_kind, noalias_kind;
};

static LLVMMetadataRef text_node(struct compilation *compilation, const char *text, LLVMMetadataRef more)
{
    LLVMMetadataRef operands[2] = { LLVMMDStringInContext2(compilation->llvm, text, strlen(text)), more };

    return LLVMMDNodeInContext2(compilation->llvm, operands, more ? 2 : 1);
}

static LLVMMetadataRef scope_of(const struct scopes *s, uint32_t argument)
{
    char name[32];

    snprintf(name, sizeof(name), "argument %u", argument);
    return text_node(s->compilation, name, s->domain);
}

/* What a load or store reaches behind the argument that its pointer is made from. */
static struct access_span span_of(const struct scopes *s, LLVMValueRef insn, uint32_t argument)
{
    LLVMTypeRef type = LLVMTypeOf(ir_is_instruction(insn, LLVMStore) ? LLVMGetOperand(insn, 0) : insn);
    const struct affine address = affine_of(s->compilation, ir_pointer_of(insn));

    if (address.root != LLVMGetParam(s->kernel, argument)) {
        return (struct access_span){ -ACCESS_SPAN_FAR, ACCESS_SPAN_FAR };
    }
    return access_span_of(s->ir, &address, LLVMStoreSizeOfType(s->compilation->layout, type),
                          ir_block(s->ir, LLVMGetInstructionParent(insn)));
}

/* It reaches nothing of what its argument and the other one have in common. */
static bool is_beside(const struct scopes *s, const struct ppu_compile_pair *pair, LLVMValueRef insn, uint32_t argument)
{
    int64_t start = pair->start[argument == pair->second];

    if (!s->ir || pair->relation != PPU_RELATION_OVERLAP || pair->bytes == 0 || pair->bytes > ACCESS_SPAN_FAR ||
        start > ACCESS_SPAN_FAR || start < -ACCESS_SPAN_FAR) {
        return false;
    }
    const struct access_span span = span_of(s, insn, argument);
    return span.high <= start || span.low >= start + (int64_t)pair->bytes;
}

static void set_scope_list(const struct scopes *s, LLVMValueRef insn, uint32_t kind, LLVMMetadataRef *list,
                           uint32_t count)
{
    if (count != 0) {
        LLVMSetMetadata(
            insn, kind,
            LLVMMetadataAsValue(s->compilation->llvm, LLVMMDNodeInContext2(s->compilation->llvm, list, count)));
    }
}

/* Its own scope, by which others name it, and the scopes of what it never meets. */
static void set_scopes(const struct scopes *s, LLVMValueRef insn, uint32_t argument)
{
    uint32_t count = 0, arguments = LLVMCountParams(s->kernel);
    LLVMMetadataRef own = scope_of(s, argument);
    LLVMMetadataRef *others = arena_new(&s->compilation->arena, LLVMMetadataRef, arguments);
    bool named = false;

    if (LLVMGetMetadata(insn, s->scope_kind) || LLVMGetMetadata(insn, s->noalias_kind)) {
        return;
    }
    for (uint32_t i = 0; i < arguments; i++) {
        const struct ppu_compile_pair pair = find_pair(s->compilation, s->kernel, i, argument);
        if (i != argument && (pair.relation == PPU_RELATION_DISJOINT || is_beside(s, &pair, insn, argument))) {
            others[count++] = scope_of(s, i);
        }
        named |= i != argument && pair.relation != PPU_RELATION_UNKNOWN;
    }
    set_scope_list(s, insn, s->scope_kind, &own, named);
    set_scope_list(s, insn, s->noalias_kind, others, count);
}

/* Number of the kernel's argument that a pointer is made from; UINT32_MAX: of none, or it is not known. */
static uint32_t argument_behind(LLVMValueRef kernel, LLVMValueRef root)
{
    for (uint32_t i = 0; root && i < LLVMCountParams(kernel); i++) {
        if (LLVMGetParam(kernel, i) == root) {
            return i;
        }
    }
    return UINT32_MAX;
}

static void set_all_scopes(struct compilation *compilation, LLVMValueRef kernel)
{
    const struct scopes s = {
        .compilation = compilation,
        .kernel = kernel,
        .ir = alias_has_common(compilation) ? ir_new(compilation, kernel) : NULL,
        .domain = text_node(compilation, "ppu", NULL),
        .scope_kind = LLVMGetMDKindIDInContext(compilation->llvm, "alias.scope", 11),
        .noalias_kind = LLVMGetMDKindIDInContext(compilation->llvm, "noalias", 7),
    };

    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(kernel); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef pointer = ir_pointer_of(i);
            uint32_t argument = pointer ? argument_behind(kernel, affine_root(pointer)) : UINT32_MAX;
            if (argument != UINT32_MAX) {
                set_scopes(&s, i, argument);
            }
        }
    }
}

/* ---- distances ---- */

static bool is_known_exactly(const struct ppu_compile_pair *pair)
{
    return pair->relation == PPU_RELATION_IDENTICAL ||
           (pair->relation == PPU_RELATION_OVERLAP && pair->exact && pair->distance > -PPU_DISTANCE_MAX &&
            pair->distance < PPU_DISTANCE_MAX);
}

static int64_t bytes_between(const struct ppu_compile_pair *pair)
{
    return pair->relation == PPU_RELATION_IDENTICAL ? 0 : (int64_t)pair->distance * (1ll << pair->element_log2);
}

/* The second of a pair whose distance is known becomes the first and a constant: LLVM knows all about that. */
static void set_distances(struct compilation *compilation, LLVMValueRef kernel)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(compilation->llvm);
    LLVMTypeRef i8 = LLVMInt8TypeInContext(compilation->llvm), i64 = LLVMInt64TypeInContext(compilation->llvm);
    uint32_t count = LLVMCountParams(kernel);
    LLVMValueRef *now = arena_new(&compilation->arena, LLVMValueRef, count + 1);

    LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(kernel)));
    for (uint32_t j = 0; j < count; j++) {
        LLVMValueRef argument = LLVMGetParam(kernel, j);
        now[j] = argument;
        for (uint32_t i = 0; i < j && now[j] == argument; i++) {
            const struct ppu_compile_pair pair = find_pair(compilation, kernel, i, j);
            if (is_known_exactly(&pair) && LLVMTypeOf(now[i]) == LLVMTypeOf(argument)) {
                LLVMValueRef by = LLVMConstInt(i64, (uint64_t)bytes_between(&pair), true);
                now[j] = LLVMBuildGEP2(builder, i8, now[i], &by, 1, "");
            }
        }
        if (now[j] != argument) {
            LLVMReplaceAllUsesWith(argument, now[j]);
        }
    }
    LLVMDisposeBuilder(builder);
}

void specialize_alias(struct compilation *compilation)
{
    LLVMValueRef kernel = find_kernel(compilation);

    if (kernel) {
        specialize_shape(compilation, kernel);
        set_constants(compilation, kernel);
        set_alignment(compilation, kernel);
        set_all_scopes(compilation, kernel);
        set_distances(compilation, kernel);
    }
}

/* ---- questions ---- */

/* Every scope of the one is among those that the other does not touch. */
static bool scopes_part(struct compilation *compilation, LLVMValueRef with, LLVMValueRef without)
{
    LLVMValueRef own = LLVMGetMetadata(with, LLVMGetMDKindIDInContext(compilation->llvm, "alias.scope", 11));
    LLVMValueRef others = LLVMGetMetadata(without, LLVMGetMDKindIDInContext(compilation->llvm, "noalias", 7));

    if (!own || !others) {
        return false;
    }
    uint32_t own_count = LLVMGetMDNodeNumOperands(own), other_count = LLVMGetMDNodeNumOperands(others);
    LLVMValueRef *scopes = arena_new(&compilation->arena, LLVMValueRef, own_count + other_count);
    LLVMGetMDNodeOperands(own, scopes);
    LLVMGetMDNodeOperands(others, scopes + own_count);
    for (uint32_t i = 0; i < own_count; i++) {
        bool listed = false;
        for (uint32_t k = 0; k < other_count; k++) {
            listed |= scopes[own_count + k] == scopes[i];
        }
        if (!listed) {
            return false;
        }
    }
    return own_count != 0;
}

/* Bytes that the second's address is beyond the first's: from low to high. */
struct reach {
    int64_t low, high;
};

#define FAR (1ll << 48)

static bool distance_of(const struct ppu_compile_pair *pair, struct reach *reach)
{
    int64_t size = 1ll << pair->element_log2, at = pair->distance * size;

    if (pair->relation == PPU_RELATION_IDENTICAL) {
        *reach = (struct reach){ 0, 0 };
        return true;
    }
    if (pair->relation != PPU_RELATION_OVERLAP) {
        return false;
    }
    *reach = (struct reach){ at + !pair->exact, pair->exact ? at : at + size - 1 };
    if (pair->distance >= PPU_DISTANCE_MAX) {
        *reach = (struct reach){ PPU_DISTANCE_MAX * size, FAR };
    } else if (pair->distance <= -PPU_DISTANCE_MAX) {
        *reach = (struct reach){ -FAR, -PPU_DISTANCE_MAX * size };
    }
    return true;
}

/* Finds b's address minus a's, when they differ by no more than constants and arguments' distances. */
static bool difference(const struct compilation *compilation, const struct affine *a, const struct affine *b,
                       struct reach *reach)
{
    if (!affine_has_same_terms(a, b)) {
        return false;
    }
    *reach = (struct reach){ 0, 0 };
    if (a->root != b->root) {
        LLVMValueRef kernel = compilation->options->facts ? find_kernel(compilation) : NULL;
        uint32_t x = kernel ? argument_behind(kernel, a->root) : UINT32_MAX;
        uint32_t y = kernel ? argument_behind(kernel, b->root) : UINT32_MAX;
        if (x == UINT32_MAX || y == UINT32_MAX) {
            return false;
        }
        const struct ppu_compile_pair pair = find_pair(compilation, kernel, x, y);
        if (!distance_of(&pair, reach)) {
            return false;
        }
        *reach = x < y ? *reach : (struct reach){ -reach->high, -reach->low };
    }
    int64_t constant = (int64_t)((uint64_t)b->offset - (uint64_t)a->offset);
    if (constant > FAR || constant < -FAR) {
        return false;
    }
    reach->low += constant;
    reach->high += constant;
    return true;
}

/* True for spaces that have no byte in common. */
static bool spaces_are_disjoint(LLVMValueRef a, LLVMValueRef b)
{
    enum ir_memory x = ir_memory_of(a), y = ir_memory_of(b);

    return x != y && x != IR_UNIFIED && y != IR_UNIFIED;
}

bool alias_may_overlap(struct compilation *compilation, const struct alias_access *a, const struct alias_access *b)
{
    struct reach reach;

    if (spaces_are_disjoint(ir_pointer_of(a->insn), ir_pointer_of(b->insn)) ||
        scopes_part(compilation, a->insn, b->insn) || scopes_part(compilation, b->insn, a->insn)) {
        return false;
    }
    if (!difference(compilation, &a->address, &b->address, &reach)) {
        return true;
    }
    return reach.low < (int64_t)a->bytes && reach.high > -(int64_t)b->bytes;
}

static uint32_t root_zero_bits(LLVMValueRef root)
{
    uint32_t kind = LLVMGetEnumAttributeKindForName("align", 5);
    LLVMAttributeRef align = NULL;

    if (LLVMIsAArgument(root)) {
        LLVMValueRef function = LLVMGetParamParent(root);
        align = LLVMGetEnumAttributeAtIndex(function, argument_behind(function, root) + 1, kind);
    }
    if (LLVMIsAGlobalVariable(root)) {
        uint32_t bytes = LLVMGetAlignment(root);
        return bytes != 0 ? (uint32_t)__builtin_ctz(bytes) : 0;
    }
    return align ? (uint32_t)__builtin_ctzll(LLVMGetEnumAttributeValue(align)) : 0;
}

uint32_t alias_zero_bits(const struct affine *address)
{
    uint32_t zeros = root_zero_bits(address->root);

    zeros = address->offset != 0 ? PPU_MIN(zeros, (uint32_t)__builtin_ctzll((uint64_t)address->offset)) : zeros;
    for (uint32_t i = 0; i < address->count; i++) {
        const struct affine_term *term = &address->terms[i];
        uint32_t of_term = (uint32_t)__builtin_ctzll((uint64_t)term->scale) + affine_zero_bits(term->value);
        zeros = PPU_MIN(zeros, of_term);
    }
    return zeros;
}
