/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/coalesce.h"

#include "compiler/analysis/ir.h"
#include "compiler/irpass/coalesce_gather.h"
#include "compiler/irpass/specialize_alias.h"
#include "ppu/macros.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

#define MOST_ITEMS 256u /* of a block that is looked at: what is asked grows with their square */
#define MOST_MEMBERS 16u
#define GROUP_BYTES 16u
#define WORD_BYTES 4u

enum item_kind {
    ITEM_LOAD,
    ITEM_STORE,
    ITEM_WALL, /* may touch any memory, or order accesses */
};

struct item {
    enum item_kind kind;
    struct alias_access access;
    uint32_t size; /* bytes of an integer or float; 0: of something else, which joins no wide access */
};

struct block {
    struct compilation *compilation;
    LLVMBasicBlockRef at;
    LLVMBuilderRef builder;
    struct item items[MOST_ITEMS]; /* in the order of the block */
    uint32_t count;
};

/* Items of one wide access, by rising address. */
struct members {
    uint32_t item[MOST_MEMBERS];
    uint32_t count;
};

/* ---- what there is ---- */

static bool touches_no_memory(LLVMValueRef call)
{
    uint32_t kind = LLVMGetEnumAttributeKindForName("memory", 6);
    LLVMAttributeRef effect = LLVMGetCallSiteEnumAttribute(call, LLVMAttributeFunctionIndex, kind);
    LLVMValueRef callee = LLVMGetCalledValue(call);

    if (!effect && LLVMIsAFunction(callee)) {
        effect = LLVMGetEnumAttributeAtIndex(callee, LLVMAttributeFunctionIndex, kind);
    }
    return (effect && LLVMGetEnumAttributeValue(effect) == 0) || strncmp(ir_callee(call), "llvm.dbg.", 9) == 0;
}

static uint32_t scalar_size(const struct compilation *compilation, LLVMTypeRef type)
{
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    uint64_t bits = kind == LLVMIntegerTypeKind || kind == LLVMHalfTypeKind || kind == LLVMFloatTypeKind ||
                            kind == LLVMDoubleTypeKind
                        ? LLVMSizeOfTypeInBits(compilation->layout, type)
                        : 0;

    return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? (uint32_t)bits / 8 : 0;
}

/* The memory instruction as an item; false: it is none. */
static bool describe_item(const struct compilation *compilation, LLVMValueRef insn, struct item *item)
{
    bool load = ir_is_instruction(insn, LLVMLoad), store = ir_is_instruction(insn, LLVMStore);

    *item = (struct item){ .kind = ITEM_WALL, .access = { .insn = insn } };
    if (!load && !store) {
        switch (LLVMGetInstructionOpcode(insn)) {
        case LLVMCall:
            return !touches_no_memory(insn);
        case LLVMFence:
        case LLVMAtomicRMW:
        case LLVMAtomicCmpXchg:
            return true;
        default:
            return false;
        }
    }
    if (LLVMGetVolatile(insn) || LLVMGetOrdering(insn) != LLVMAtomicOrderingNotAtomic) {
        return true;
    }
    LLVMTypeRef type = load ? LLVMTypeOf(insn) : LLVMTypeOf(LLVMGetOperand(insn, 0));
    item->kind = load ? ITEM_LOAD : ITEM_STORE;
    item->access.address = affine_of(compilation, LLVMGetOperand(insn, load ? 0 : 1));
    item->access.bytes = LLVMStoreSizeOfType(compilation->layout, type);
    item->size = scalar_size(compilation, type);
    if (LLVMGetAlignment(insn) < (item->size < WORD_BYTES ? 1 : WORD_BYTES)) {
        item->size = 0;
    }
    return true;
}

/* False: too many. */
static bool collect(struct block *block)
{
    struct item item;

    block->count = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block->at); i; i = LLVMGetNextInstruction(i)) {
        if (describe_item(block->compilation, i, &item)) {
            if (block->count == MOST_ITEMS) {
                return false;
            }
            block->items[block->count++] = item;
        }
    }
    return true;
}

static LLVMValueRef pointer_of(const struct item *item)
{
    return LLVMGetOperand(item->access.insn, item->kind == ITEM_LOAD ? 0 : 1);
}

static bool are_alike(const struct item *a, const struct item *b)
{
    return a->kind == b->kind && a->size == b->size && affine_is_parallel(&a->access.address, &b->access.address) &&
           ir_pointer_space(pointer_of(a)) == ir_pointer_space(pointer_of(b));
}

/* ---- what may move ---- */

static bool is_member(const struct members *members, uint32_t item)
{
    for (uint32_t i = 0; i < members->count; i++) {
        if (members->item[i] == item) {
            return true;
        }
    }
    return false;
}

/* True when the item can go from its place to before or behind all of [first, last] but the other members. */
static bool may_pass(const struct block *block, const struct members *members, uint32_t item, uint32_t first,
                     uint32_t last)
{
    const struct item *moved = &block->items[item];

    for (uint32_t i = first; i <= last; i++) {
        const struct item *other = &block->items[i];
        bool reads = moved->kind == ITEM_LOAD && other->kind == ITEM_LOAD;
        if (i == item || is_member(members, i) || reads) {
            continue;
        }
        if (other->kind == ITEM_WALL || alias_may_overlap(block->compilation, &moved->access, &other->access)) {
            return false;
        }
    }
    return true;
}

static uint32_t first_of(const struct members *members)
{
    uint32_t first = members->item[0];

    for (uint32_t i = 1; i < members->count; i++) {
        first = PPU_MIN(members->item[i], first);
    }
    return first;
}

static uint32_t last_of(const struct members *members)
{
    uint32_t last = members->item[0];

    for (uint32_t i = 1; i < members->count; i++) {
        last = PPU_MAX(members->item[i], last);
    }
    return last;
}

static bool may_join(const struct block *block, const struct members *members)
{
    bool loads = block->items[members->item[0]].kind == ITEM_LOAD;
    uint32_t first = first_of(members), last = last_of(members);

    for (uint32_t i = 0; i < members->count; i++) {
        uint32_t at = members->item[i];
        if (!may_pass(block, members, at, loads ? first : at, loads ? at : last)) {
            return false;
        }
    }
    return true;
}

/* ---- joining ---- */

static LLVMTypeRef integer_type(const struct block *block, uint32_t bytes)
{
    return LLVMIntTypeInContext(block->compilation->llvm, 8 * bytes);
}

/* Words, or pairs of them, that the wide access is made of. */
static uint32_t piece_bytes(uint32_t size)
{
    return PPU_MAX(size, WORD_BYTES);
}

static LLVMTypeRef wide_type(const struct block *block, uint32_t size, uint32_t count)
{
    uint32_t pieces = size * count / piece_bytes(size);
    LLVMTypeRef piece = integer_type(block, piece_bytes(size));

    return pieces > 1 ? LLVMVectorType(piece, pieces) : piece;
}

static LLVMValueRef offset_constant(const struct block *block, uint32_t value)
{
    return LLVMConstInt(LLVMInt32TypeInContext(block->compilation->llvm), value, false);
}

/* Address of the wide access's first byte, where the builder stands: `near` is there already. */
static LLVMValueRef wide_pointer(const struct block *block, const struct item *lowest, const struct item *near)
{
    int64_t by = (int64_t)((uint64_t)lowest->access.address.offset - (uint64_t)near->access.address.offset);
    LLVMTypeRef i64 = LLVMInt64TypeInContext(block->compilation->llvm),
                i8 = LLVMInt8TypeInContext(block->compilation->llvm);
    LLVMValueRef index = LLVMConstInt(i64, (uint64_t)by, true);

    return by == 0 ? pointer_of(near) : LLVMBuildGEP2(block->builder, i8, pointer_of(near), &index, 1, "");
}

static uint32_t wide_align(const struct item *lowest)
{
    uint32_t zeros = alias_zero_bits(&lowest->access.address);

    return zeros >= 4 ? GROUP_BYTES : zeros >= 3 ? 8 : WORD_BYTES;
}

/* What all members say, the wide access may say. */
static void keep_metadata(const struct block *block, const struct members *members, LLVMValueRef wide, const char *name)
{
    uint32_t kind = LLVMGetMDKindIDInContext(block->compilation->llvm, name, (unsigned)strlen(name));
    LLVMValueRef said = LLVMGetMetadata(block->items[members->item[0]].access.insn, kind);

    for (uint32_t i = 1; i < members->count; i++) {
        if (LLVMGetMetadata(block->items[members->item[i]].access.insn, kind) != said) {
            return;
        }
    }
    if (said) {
        LLVMSetMetadata(wide, kind, said);
    }
}

static void keep_alias_metadata(const struct block *block, const struct members *members, LLVMValueRef wide)
{
    keep_metadata(block, members, wide, "alias.scope");
    keep_metadata(block, members, wide, "noalias");
    LLVMInstructionSetDebugLoc(wide, LLVMInstructionGetDebugLoc(block->items[members->item[0]].access.insn));
}

/* Member `i` of `size` bytes of the wide access's value. */
static LLVMValueRef take_part(const struct block *block, LLVMValueRef value, uint32_t size, uint32_t i)
{
    uint32_t piece = i * size / piece_bytes(size), shift = 8 * (i * size % piece_bytes(size));

    if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind) {
        value = LLVMBuildExtractElement(block->builder, value, offset_constant(block, piece), "");
    }
    if (size >= WORD_BYTES) {
        return value;
    }
    value = shift != 0 ? LLVMBuildLShr(block->builder, value, offset_constant(block, shift), "") : value;
    return LLVMBuildTrunc(block->builder, value, integer_type(block, size), "");
}

static void join_loads(struct block *block, const struct members *members)
{
    const struct item *lowest = &block->items[members->item[0]], *near = &block->items[first_of(members)];
    uint32_t size = lowest->size;

    LLVMPositionBuilderBefore(block->builder, near->access.insn);
    LLVMValueRef wide =
        LLVMBuildLoad2(block->builder, wide_type(block, size, members->count), wide_pointer(block, lowest, near), "");
    LLVMSetAlignment(wide, wide_align(lowest));
    keep_alias_metadata(block, members, wide);
    for (uint32_t i = 0; i < members->count; i++) {
        LLVMValueRef load = block->items[members->item[i]].access.insn;
        LLVMPositionBuilderBefore(block->builder, near->access.insn);
        LLVMValueRef part = take_part(block, wide, size, i);
        LLVMReplaceAllUsesWith(load, LLVMBuildBitCast(block->builder, part, LLVMTypeOf(load), ""));
    }
    for (uint32_t i = 0; i < members->count; i++) {
        LLVMInstructionEraseFromParent(block->items[members->item[i]].access.insn);
    }
}

static LLVMValueRef add_part(const struct block *block, LLVMValueRef value, LLVMValueRef part, uint32_t size,
                             uint32_t i)
{
    uint32_t piece = i * size / piece_bytes(size), shift = 8 * (i * size % piece_bytes(size));
    bool vector = LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind;

    part = LLVMBuildBitCast(block->builder, part, integer_type(block, size), "");
    if (size < WORD_BYTES) {
        /* The fourth byte of a vector of three may be poison, and must not make the whole word that. */
        part = LLVMBuildFreeze(block->builder, part, "");
        part = LLVMBuildZExt(block->builder, part, integer_type(block, WORD_BYTES), "");
        part = shift != 0 ? LLVMBuildShl(block->builder, part, offset_constant(block, shift), "") : part;
        if (shift != 0) {
            LLVMValueRef before =
                vector ? LLVMBuildExtractElement(block->builder, value, offset_constant(block, piece), "") : value;
            part = LLVMBuildOr(block->builder, before, part, "");
        }
    }
    return vector ? LLVMBuildInsertElement(block->builder, value, part, offset_constant(block, piece), "") : part;
}

static void join_stores(struct block *block, const struct members *members)
{
    const struct item *lowest = &block->items[members->item[0]], *near = &block->items[last_of(members)];
    uint32_t size = lowest->size;
    LLVMValueRef value = LLVMGetPoison(wide_type(block, size, members->count));

    LLVMPositionBuilderBefore(block->builder, near->access.insn);
    for (uint32_t i = 0; i < members->count; i++) {
        value = add_part(block, value, LLVMGetOperand(block->items[members->item[i]].access.insn, 0), size, i);
    }
    LLVMValueRef wide = LLVMBuildStore(block->builder, value, wide_pointer(block, lowest, near));
    LLVMSetAlignment(wide, wide_align(lowest));
    keep_alias_metadata(block, members, wide);
    for (uint32_t i = 0; i < members->count; i++) {
        LLVMInstructionEraseFromParent(block->items[members->item[i]].access.insn);
    }
}

/* ---- choosing ---- */

static bool is_joinable(const struct item *item)
{
    return item->kind != ITEM_WALL && item->size != 0;
}

/* The item like this one that lies at the offset; the one nearest to it when there are several. UINT32_MAX: none. */
static uint32_t find_at(const struct block *block, uint32_t like, int64_t offset)
{
    uint32_t found = UINT32_MAX;

    for (uint32_t i = 0; i < block->count; i++) {
        if (block->items[i].access.address.offset == offset && are_alike(&block->items[i], &block->items[like])) {
            bool nearer = found == UINT32_MAX || (i > found && i <= like);
            found = nearer ? i : found;
        }
    }
    return found;
}

/* The run of `bytes` that begins with this item. */
static bool find_run(const struct block *block, uint32_t item, uint32_t bytes, struct members *members)
{
    const struct item *lowest = &block->items[item];

    members->count = 0;
    if (lowest->size >= bytes || (lowest->size < WORD_BYTES && alias_zero_bits(&lowest->access.address) < 2)) {
        return false;
    }
    for (uint32_t at = 0; at < bytes; at += lowest->size) {
        uint32_t next = find_at(block, item, (int64_t)((uint64_t)lowest->access.address.offset + at));
        if (next == UINT32_MAX) {
            return false;
        }
        members->item[members->count++] = next;
    }
    return members->item[0] == item;
}

/* True when some item lies just below: runs begin at the lowest. */
static bool has_lower(const struct block *block, uint32_t item)
{
    const struct item *lowest = &block->items[item];
    int64_t below = (int64_t)((uint64_t)lowest->access.address.offset - lowest->size);

    return find_at(block, item, below) != UINT32_MAX;
}

static bool join_run(struct block *block, uint32_t item, uint32_t bytes)
{
    struct members members;

    if (!find_run(block, item, bytes, &members) || !may_join(block, &members)) {
        return false;
    }
    if (block->items[item].kind == ITEM_LOAD) {
        join_loads(block, &members);
    } else {
        join_stores(block, &members);
    }
    return true;
}

/* Joins one wide access; false: there is none. The longest first; those from the lowest address on before others. */
static bool join_one(struct block *block)
{
    for (uint32_t bytes = GROUP_BYTES; bytes >= WORD_BYTES; bytes /= 2) {
        for (uint32_t anywhere = 0; anywhere < 2; anywhere++) {
            for (uint32_t i = 0; i < block->count; i++) {
                if (is_joinable(&block->items[i]) && (anywhere != 0 || !has_lower(block, i)) &&
                    join_run(block, i, bytes)) {
                    return true;
                }
            }
        }
    }
    return false;
}

/* ---- gathers ---- */

static bool is_gatherable(const struct block *block, uint32_t i)
{
    return block->items[i].kind == ITEM_LOAD && block->items[i].size == WORD_BYTES &&
           gather_takes(block->items[i].access.insn);
}

/* Up to four indexed loads of one array, from this one on. */
static bool gather_from(struct block *block, uint32_t item)
{
    struct members members = { { item }, 1 };
    LLVMValueRef loads[GATHER_MOST] = { block->items[item].access.insn };

    for (uint32_t i = item + 1; i < block->count && members.count < GATHER_MOST; i++) {
        struct members with = members;
        with.item[with.count++] = i;
        if (is_gatherable(block, i) && gather_is_like(loads[0], block->items[i].access.insn) &&
            may_join(block, &with) && gather_can_move(block->items[i].access.insn, loads[0])) {
            loads[members.count] = block->items[i].access.insn;
            members = with;
        }
    }
    if (members.count < 2) {
        return false;
    }
    gather_emit(block->compilation, block->builder, loads, members.count == GATHER_MOST ? GATHER_MOST : 2);
    return true;
}

static bool gather_one(struct block *block)
{
    for (uint32_t i = 0; i < block->count; i++) {
        if (is_gatherable(block, i) && gather_from(block, i)) {
            return true;
        }
    }
    return false;
}

void coalesce_accesses(struct compilation *compilation, LLVMValueRef function)
{
    struct block *block = arena_new(&compilation->arena, struct block, 1);

    *block = (struct block){ .compilation = compilation, .builder = LLVMCreateBuilderInContext(compilation->llvm) };
    for (block->at = LLVMGetFirstBasicBlock(function); block->at; block->at = LLVMGetNextBasicBlock(block->at)) {
        while (collect(block) && join_one(block)) {
        }
        while (collect(block) && gather_one(block)) {
        }
    }
    LLVMDisposeBuilder(block->builder);
}
