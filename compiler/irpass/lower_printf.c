/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/lower_printf.h"

#include "compiler/analysis/ir.h"

#include <string.h>

#define HEAD_WORDS 2u /* of a record: size, format */
#define MAX_WORDS 1024u

struct writer {
    struct compilation *compilation;
    LLVMBuilderRef builder;
    LLVMValueRef record;
    uint32_t words;
};

static LLVMTypeRef i32(const struct compilation *compilation)
{
    return LLVMInt32TypeInContext(compilation->llvm);
}

static LLVMTypeRef i64(const struct compilation *compilation)
{
    return LLVMInt64TypeInContext(compilation->llvm);
}

static LLVMValueRef call(struct writer *w, const char *name, LLVMTypeRef result, LLVMValueRef *arguments,
                         uint32_t count)
{
    LLVMTypeRef types[3];
    LLVMValueRef function = LLVMGetNamedFunction(w->compilation->module, name);

    for (uint32_t i = 0; i < count; i++) {
        types[i] = LLVMTypeOf(arguments[i]);
    }
    LLVMTypeRef type = LLVMFunctionType(result, types, count, 0);
    if (!function) {
        function = LLVMAddFunction(w->compilation->module, name, type);
    }
    return LLVMBuildCall2(w->builder, type, function, arguments, count, "");
}

/* The text of a constant string. */
static const char *string_of(struct compilation *compilation, LLVMValueRef pointer, LLVMValueRef where)
{
    LLVMValueRef variable = ir_base(pointer);
    size_t len;

    LLVMValueRef value = LLVMIsAGlobalVariable(variable) ? LLVMGetInitializer(variable) : NULL;
    if (value && LLVMIsNull(value)) {
        return "";
    }
    if (!value || !LLVMIsConstantString(value)) {
        compilation_fail_value(compilation, "the format of printf is not a string literal:", where);
    }
    return LLVMGetAsString(value, &len);
}

uint32_t printf_format(struct compilation *compilation, const char *format)
{
    size_t bytes = strlen(format) + 1;

    for (uint32_t i = 0; i < compilation->format_count; i++) {
        if (compilation->formats[i].bytes == bytes && memcmp(compilation->formats[i].text, format, bytes) == 0) {
            return i;
        }
    }
    compilation->formats = arena_grow(&compilation->arena, compilation->formats, sizeof(compilation->formats[0]),
                                      compilation->format_count, &compilation->format_cap);
    char *copy = arena_alloc(&compilation->arena, bytes);
    memcpy(copy, format, bytes);
    compilation->formats[compilation->format_count] = (struct format){ copy, bytes };
    return compilation->format_count++;
}

static void write_word(struct writer *w, LLVMValueRef word)
{
    if (w->record) {
        LLVMValueRef arguments[3] = { w->record, LLVMConstInt(i32(w->compilation), w->words, 0), word };
        call(w, "__ppu_printf_word", LLVMVoidTypeInContext(w->compilation->llvm), arguments, 3);
    }
    w->words++;
}

static void write_scalar(struct writer *w, LLVMValueRef value, LLVMValueRef where)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    uint32_t bits = (uint32_t)LLVMSizeOfTypeInBits(w->compilation->layout, type);

    if (!w->record) { /* only counting */
        w->words += bits > 32 ? 2 : 1;
        return;
    }
    switch (LLVMGetTypeKind(type)) {
    case LLVMPointerTypeKind:
        value = LLVMBuildPtrToInt(w->builder, value, i64(w->compilation), "");
        break;
    case LLVMHalfTypeKind: /* an element of a vector, printed as float */
        value = LLVMBuildFPExt(w->builder, value, LLVMFloatTypeInContext(w->compilation->llvm), "");
        value = LLVMBuildBitCast(w->builder, value, i32(w->compilation), "");
        break;
    case LLVMFloatTypeKind:
        value = LLVMBuildBitCast(w->builder, value, i32(w->compilation), "");
        break;
    case LLVMDoubleTypeKind:
        value = LLVMBuildBitCast(w->builder, value, i64(w->compilation), "");
        break;
    case LLVMIntegerTypeKind:
        if (bits < 32) {
            value = LLVMBuildSExt(w->builder, value, i32(w->compilation), "");
        }
        break;
    default:
        compilation_fail_value(w->compilation, "printf cannot print this type:", where);
    }
    if (bits > 32) {
        write_word(w, LLVMBuildTrunc(w->builder, value, i32(w->compilation), ""));
        value = LLVMBuildLShr(w->builder, value, LLVMConstInt(i64(w->compilation), 32, 0), "");
        value = LLVMBuildTrunc(w->builder, value, i32(w->compilation), "");
    }
    write_word(w, value);
}

/* As clang passes it: a float outside of a vector is a double. Modules of SPIR-V pass it as it is. */
static LLVMValueRef promoted(struct writer *w, LLVMValueRef value)
{
    LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(value));

    return kind == LLVMFloatTypeKind || kind == LLVMHalfTypeKind
               ? LLVMBuildFPExt(w->builder, value, LLVMDoubleTypeInContext(w->compilation->llvm), "")
               : value;
}

static void write_arguments(struct writer *w, LLVMValueRef print)
{
    w->words = HEAD_WORDS;
    for (uint32_t a = 1; a < LLVMGetNumArgOperands(print); a++) {
        LLVMValueRef value = LLVMGetOperand(print, a);
        LLVMTypeRef type = LLVMTypeOf(value);
        if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) {
            write_scalar(w, promoted(w, value), print);
            continue;
        }
        for (uint32_t i = 0; i < LLVMGetVectorSize(type); i++) {
            LLVMValueRef index = LLVMConstInt(i32(w->compilation), i, 0);
            write_scalar(w, LLVMBuildExtractElement(w->builder, value, index, ""), print);
        }
    }
}

static void lower(struct compilation *compilation, LLVMValueRef print)
{
    struct writer w = { .compilation = compilation, .builder = LLVMCreateBuilderInContext(compilation->llvm) };
    uint32_t format = printf_format(compilation, string_of(compilation, LLVMGetOperand(print, 0), print));

    LLVMPositionBuilderBefore(w.builder, print);
    write_arguments(&w, print);
    if (w.words > MAX_WORDS) {
        compilation_fail_value(compilation, "too many arguments of printf:", print);
    }
    LLVMValueRef head[2] = { LLVMConstInt(i32(compilation), w.words, 0), LLVMConstInt(i32(compilation), format, 0) };
    w.record = call(&w, "__ppu_printf_begin", i64(compilation), head, 2);
    write_arguments(&w, print);
    LLVMValueRef done = call(&w, "__ppu_printf_end", i32(compilation), &w.record, 1);
    LLVMReplaceAllUsesWith(print, done);
    LLVMInstructionEraseFromParent(print);
    LLVMDisposeBuilder(w.builder);
}

void lower_printf(struct compilation *compilation)
{
    LLVMValueRef function = LLVMGetNamedFunction(compilation->module, "printf");
    LLVMUseRef use;

    while (function && (use = LLVMGetFirstUse(function))) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!ir_is_instruction(user, LLVMCall) || LLVMGetCalledValue(user) != function) {
            compilation_fail_value(compilation, "printf may only be called:", user);
        }
        lower(compilation, user);
    }
}
