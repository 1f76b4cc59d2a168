/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/tier/writer.h"

#include <string.h>

LLVMBasicBlockRef write_block(struct writer *t)
{
    return LLVMAppendBasicBlockInContext(t->context, t->function, "");
}

void write_at(struct writer *t, LLVMBasicBlockRef block)
{
    LLVMPositionBuilderAtEnd(t->builder, block);
}

LLVMValueRef write_i32(const struct writer *t, uint32_t value)
{
    return LLVMConstInt(t->i32, value, false);
}

LLVMValueRef write_i64(const struct writer *t, uint64_t value)
{
    return LLVMConstInt(t->i64, value, false);
}

LLVMValueRef write_behind(const struct writer *t, LLVMValueRef pointer, LLVMValueRef offset)
{
    return LLVMBuildGEP2(t->builder, LLVMInt8TypeInContext(t->context), pointer, &offset, 1, "");
}

LLVMValueRef write_field(const struct writer *t, LLVMValueRef pointer, uint64_t offset)
{
    return write_behind(t, pointer, write_i64(t, offset));
}

LLVMValueRef write_load(const struct writer *t, LLVMTypeRef type, LLVMValueRef pointer)
{
    LLVMValueRef load = LLVMBuildLoad2(t->builder, type, pointer, "");

    LLVMSetAlignment(load, type == t->lanes ? 4 : type == t->ptr || type == t->i64 ? 8 : type == t->i16 ? 2 : 4);
    return load;
}

void write_store(const struct writer *t, LLVMValueRef value, LLVMValueRef pointer)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef store = LLVMBuildStore(t->builder, value, pointer);

    LLVMSetAlignment(store, type == t->lanes ? 4 : type == t->ptr || type == t->i64 ? 8 : type == t->i16 ? 2 : 4);
}

LLVMValueRef write_load_shared(const struct writer *t, LLVMTypeRef type, LLVMValueRef pointer, uint32_t align)
{
    LLVMValueRef load = LLVMBuildLoad2(t->builder, type, pointer, "");

    LLVMSetAlignment(load, align);
    LLVMSetVolatile(load, true);
    return load;
}

void write_store_shared(const struct writer *t, LLVMValueRef value, LLVMValueRef pointer, uint32_t align)
{
    LLVMValueRef store = LLVMBuildStore(t->builder, value, pointer);

    LLVMSetAlignment(store, align);
    LLVMSetVolatile(store, true);
}

LLVMValueRef write_splat(const struct writer *t, LLVMValueRef word)
{
    LLVMValueRef first = LLVMBuildInsertElement(t->builder, LLVMGetPoison(t->lanes), word, write_i32(t, 0), "");

    return LLVMBuildShuffleVector(t->builder, first, LLVMGetPoison(t->lanes), LLVMConstNull(t->lanes), "");
}

LLVMValueRef write_mask_bits(const struct writer *t, LLVMValueRef mask)
{
    return LLVMBuildBitCast(t->builder, mask, t->i16, "");
}

/* LLVM 19 combines a mask that is the same for all lanes with others for ever, unless it is hidden that it is one. */
LLVMValueRef write_both(const struct writer *t, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef bits = LLVMBuildFreeze(t->builder, write_mask_bits(t, a), "");
    LLVMValueRef other = LLVMBuildFreeze(t->builder, write_mask_bits(t, b), "");

    return LLVMBuildBitCast(t->builder, LLVMBuildAnd(t->builder, bits, other, ""), t->mask, "");
}

LLVMValueRef write_call(const struct writer *t, size_t which, LLVMTypeRef result, LLVMValueRef *arguments,
                        uint32_t count)
{
    LLVMTypeRef types[WRITE_ARGUMENTS];

    for (uint32_t i = 0; i < count; i++) {
        types[i] = LLVMTypeOf(arguments[i]);
    }
    LLVMValueRef callee = write_load(t, t->ptr, write_field(t, t->calls, which));
    return LLVMBuildCall2(t->builder, LLVMFunctionType(result, types, count, false), callee, arguments, count, "");
}

LLVMValueRef write_kit_function(const struct writer *t, const char *name)
{
    LLVMValueRef function = LLVMGetNamedFunction(t->module, name);

    if (!function) {
        LLVMValueRef kit = LLVMGetNamedFunction(t->from, name);
        function = LLVMAddFunction(t->module, name, LLVMGlobalGetValueType(kit));
        LLVMSetFunctionCallConv(function, LLVMGetFunctionCallConv(kit));
    }
    return function;
}

LLVMValueRef write_kit(const struct writer *t, const char *name, LLVMValueRef *arguments, uint32_t count)
{
    LLVMValueRef function = write_kit_function(t, name);
    LLVMValueRef call = LLVMBuildCall2(t->builder, LLVMGlobalGetValueType(function), function, arguments, count, "");

    LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(function));
    return call;
}

LLVMValueRef write_intrinsic(const struct writer *t, const char *name, LLVMTypeRef *types, uint32_t type_count,
                             LLVMValueRef *arguments, uint32_t count)
{
    const unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(t->module, id, types, type_count);

    return LLVMBuildCall2(t->builder, LLVMGlobalGetValueType(function), function, arguments, count, "");
}

struct write_repeat write_repeat_begin(struct writer *t)
{
    struct write_repeat repeat = { .before = LLVMGetInsertBlock(t->builder), .body = write_block(t) };

    LLVMBuildBr(t->builder, repeat.body);
    write_at(t, repeat.body);
    repeat.number = LLVMBuildPhi(t->builder, t->i64, "");
    return repeat;
}

void write_repeat_end(struct writer *t, const struct write_repeat *repeat, uint64_t count)
{
    LLVMBasicBlockRef behind = write_block(t), from[2] = { repeat->before, LLVMGetInsertBlock(t->builder) };
    LLVMValueRef more = LLVMBuildAdd(t->builder, repeat->number, write_i64(t, 1), "");
    LLVMValueRef numbers[2] = { write_i64(t, 0), more };

    LLVMAddIncoming(repeat->number, numbers, from, 2);
    LLVMBuildCondBr(t->builder, LLVMBuildICmp(t->builder, LLVMIntEQ, more, write_i64(t, count), ""), behind,
                    repeat->body);
    write_at(t, behind);
}

LLVMValueRef write_popcount(const struct writer *t, LLVMValueRef bits)
{
    LLVMTypeRef type = LLVMTypeOf(bits);

    return write_intrinsic(t, "llvm.ctpop", &type, 1, &bits, 1);
}

LLVMValueRef write_shared(const struct writer *t)
{
    return write_load(t, t->ptr, write_field(t, t->x, offsetof(struct exec, shared)));
}

LLVMValueRef write_shared_bytes(const struct writer *t)
{
    const size_t bytes = offsetof(struct dist_task, tmd) + offsetof(struct ppu_tmd, shared_bytes);
    LLVMValueRef task = write_load(t, t->ptr, write_field(t, t->x, offsetof(struct exec, task)));

    return write_load(t, t->i32, write_field(t, task, bytes));
}

void write_count(const struct writer *t, LLVMValueRef pointer, LLVMValueRef more)
{
    write_store(t, LLVMBuildAdd(t->builder, write_load(t, LLVMTypeOf(more), pointer), more, ""), pointer);
}

void write_rarely(const struct writer *t, LLVMValueRef condition, LLVMBasicBlockRef rare, LLVMBasicBlockRef mostly)
{
    const unsigned kind = LLVMGetMDKindIDInContext(t->context, "prof", 4);
    LLVMMetadataRef weights[3] = {
        LLVMMDStringInContext2(t->context, "branch_weights", 14),
        LLVMValueAsMetadata(write_i32(t, 1)),
        LLVMValueAsMetadata(write_i32(t, 2000)),
    };
    LLVMValueRef branch = LLVMBuildCondBr(t->builder, condition, rare, mostly);

    LLVMSetMetadata(branch, kind, LLVMMetadataAsValue(t->context, LLVMMDNodeInContext2(t->context, weights, 3)));
}

void write_pc(const struct writer *t, uint32_t n)
{
    write_store(t, LLVMBuildAdd(t->builder, t->base, write_i32(t, n), ""),
                write_field(t, t->w, offsetof(struct warp, pc)));
}

void write_straight(struct writer *t, uint32_t n, uint32_t count)
{
    LLVMBasicBlockRef on = write_block(t);
    LLVMValueRef arguments[] = { t->x, write_field(t, t->head, n * sizeof(struct code_insn)), write_i32(t, count),
                                 t->turn };

    write_pc(t, n);
    LLVMValueRef ok = write_call(t, offsetof(struct tier_calls, straight), t->i1, arguments, 4);
    write_rarely(t, LLVMBuildNot(t->builder, ok, ""), t->leave, on);
    write_at(t, on);
}
