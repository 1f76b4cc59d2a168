/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/lower_printf.h"

#include "compiler/analysis/ir.h"

#include <string.h>

#define HEAD_WORDS 2u /* of a record: size, format */
#define MAX_WORDS 1024u

struct writer {
    struct unit *unit;
    LLVMBuilderRef builder;
    LLVMValueRef record;
    uint32_t words;
};

static LLVMTypeRef i32(const struct unit *unit)
{
    return LLVMInt32TypeInContext(unit->llvm);
}

static LLVMTypeRef i64(const struct unit *unit)
{
    return LLVMInt64TypeInContext(unit->llvm);
}

static LLVMValueRef call(struct writer *w, const char *name, LLVMTypeRef result, LLVMValueRef *arguments,
                         uint32_t count)
{
    LLVMTypeRef types[3], type;
    LLVMValueRef function = LLVMGetNamedFunction(w->unit->module, name);

    for (uint32_t i = 0; i < count; i++) {
        types[i] = LLVMTypeOf(arguments[i]);
    }
    type = LLVMFunctionType(result, types, count, 0);
    if (function == NULL) {
        function = LLVMAddFunction(w->unit->module, name, type);
    }
    return LLVMBuildCall2(w->builder, type, function, arguments, count, "");
}

/* The text of a constant string. */
static const char *string_of(struct unit *unit, LLVMValueRef pointer, LLVMValueRef where)
{
    LLVMValueRef variable = ir_base(pointer), value;
    size_t len;

    value = LLVMIsAGlobalVariable(variable) != NULL ? LLVMGetInitializer(variable) : NULL;
    if (value != NULL && LLVMIsNull(value)) {
        return "";
    }
    if (value == NULL || !LLVMIsConstantString(value)) {
        unit_fail_value(unit, "the format of printf is not a string literal:", where);
    }
    return LLVMGetAsString(value, &len);
}

static uint32_t format_number(struct unit *unit, const char *format)
{
    for (uint32_t i = 0; i < unit->format_count; i++) {
        if (strcmp(unit->formats[i], format) == 0) {
            return i;
        }
    }
    unit->formats =
        arena_grow(&unit->arena, unit->formats, sizeof(unit->formats[0]), unit->format_count, &unit->format_cap);
    size_t bytes = strlen(format) + 1;
    char *copy = arena_alloc(&unit->arena, bytes);
    memcpy(copy, format, bytes);
    unit->formats[unit->format_count] = copy;
    return unit->format_count++;
}

static void write_word(struct writer *w, LLVMValueRef word)
{
    if (w->record != NULL) {
        LLVMValueRef arguments[3] = { w->record, LLVMConstInt(i32(w->unit), w->words, 0), word };
        call(w, "__ppu_printf_word", LLVMVoidTypeInContext(w->unit->llvm), arguments, 3);
    }
    w->words++;
}

static void write_scalar(struct writer *w, LLVMValueRef value, LLVMValueRef where)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    uint32_t bits = (uint32_t)LLVMSizeOfTypeInBits(w->unit->layout, type);

    if (w->record == NULL) { /* only counting */
        w->words += bits > 32 ? 2 : 1;
        return;
    }
    switch (LLVMGetTypeKind(type)) {
    case LLVMPointerTypeKind:
        value = LLVMBuildPtrToInt(w->builder, value, i64(w->unit), "");
        break;
    case LLVMFloatTypeKind:
        value = LLVMBuildBitCast(w->builder, value, i32(w->unit), "");
        break;
    case LLVMDoubleTypeKind:
        value = LLVMBuildBitCast(w->builder, value, i64(w->unit), "");
        break;
    case LLVMIntegerTypeKind:
        if (bits < 32) {
            value = LLVMBuildSExt(w->builder, value, i32(w->unit), "");
        }
        break;
    default:
        unit_fail_value(w->unit, "printf cannot print this type:", where);
    }
    if (bits > 32) {
        write_word(w, LLVMBuildTrunc(w->builder, value, i32(w->unit), ""));
        value = LLVMBuildLShr(w->builder, value, LLVMConstInt(i64(w->unit), 32, 0), "");
        value = LLVMBuildTrunc(w->builder, value, i32(w->unit), "");
    }
    write_word(w, value);
}

static void write_arguments(struct writer *w, LLVMValueRef print)
{
    w->words = HEAD_WORDS;
    for (uint32_t a = 1; a < LLVMGetNumArgOperands(print); a++) {
        LLVMValueRef value = LLVMGetOperand(print, a);
        LLVMTypeRef type = LLVMTypeOf(value);
        if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) {
            write_scalar(w, value, print);
            continue;
        }
        for (uint32_t i = 0; i < LLVMGetVectorSize(type); i++) {
            LLVMValueRef index = LLVMConstInt(i32(w->unit), i, 0);
            write_scalar(w, LLVMBuildExtractElement(w->builder, value, index, ""), print);
        }
    }
}

static void lower(struct unit *unit, LLVMValueRef print)
{
    struct writer w = { .unit = unit, .builder = LLVMCreateBuilderInContext(unit->llvm) };
    uint32_t format = format_number(unit, string_of(unit, LLVMGetOperand(print, 0), print));
    LLVMValueRef done;

    LLVMPositionBuilderBefore(w.builder, print);
    write_arguments(&w, print);
    if (w.words > MAX_WORDS) {
        unit_fail_value(unit, "too many arguments of printf:", print);
    }
    LLVMValueRef head[2] = { LLVMConstInt(i32(unit), w.words, 0), LLVMConstInt(i32(unit), format, 0) };
    w.record = call(&w, "__ppu_printf_begin", i64(unit), head, 2);
    write_arguments(&w, print);
    done = call(&w, "__ppu_printf_end", i32(unit), &w.record, 1);
    LLVMReplaceAllUsesWith(print, done);
    LLVMInstructionEraseFromParent(print);
    LLVMDisposeBuilder(w.builder);
}

void printf_lower(struct unit *unit)
{
    LLVMValueRef function = LLVMGetNamedFunction(unit->module, "printf");
    LLVMUseRef use;

    while (function != NULL && (use = LLVMGetFirstUse(function)) != NULL) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!ir_is_instruction(user, LLVMCall) || LLVMGetCalledValue(user) != function) {
            unit_fail_value(unit, "printf may only be called:", user);
        }
        lower(unit, user);
    }
}
