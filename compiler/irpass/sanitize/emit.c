/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/sanitize/emit.h"

#include <llvm-c/DebugInfo.h>

#define REPORT "__ppu_sanitizer_report"

LLVMTypeRef emit_i32(const struct emitter *e)
{
    return LLVMInt32TypeInContext(e->compilation->llvm);
}

LLVMTypeRef emit_i64(const struct emitter *e)
{
    return LLVMInt64TypeInContext(e->compilation->llvm);
}

LLVMValueRef emit_word(const struct emitter *e, uint32_t value)
{
    return LLVMConstInt(emit_i32(e), value, 0);
}

LLVMValueRef emit_number(const struct emitter *e, uint64_t value)
{
    return LLVMConstInt(emit_i64(e), value, 0);
}

void emit_before(const struct emitter *e, LLVMValueRef insn)
{
    LLVMPositionBuilderBefore(e->builder, insn);
    LLVMSetCurrentDebugLocation2(e->builder, LLVMInstructionGetDebugLoc(insn));
}

void emit_behind(const struct emitter *e, LLVMValueRef insn)
{
    LLVMPositionBuilderBefore(e->builder, LLVMGetNextInstruction(insn));
    LLVMSetCurrentDebugLocation2(e->builder, LLVMInstructionGetDebugLoc(insn));
}

LLVMValueRef emit_call(const struct emitter *e, const char *name, LLVMTypeRef result, LLVMValueRef *arguments,
                       uint32_t count)
{
    LLVMTypeRef types[EMIT_ARGUMENTS_MOST];
    LLVMValueRef function = LLVMGetNamedFunction(e->compilation->module, name);

    for (uint32_t i = 0; i < count; i++) {
        types[i] = LLVMTypeOf(arguments[i]);
    }
    LLVMTypeRef type = LLVMFunctionType(result, types, count, 0);
    if (!function) {
        function = LLVMAddFunction(e->compilation->module, name, type);
    }
    return LLVMBuildCall2(e->builder, type, function, arguments, count, "");
}

static bool is_float(LLVMTypeKind kind)
{
    return kind == LLVMHalfTypeKind || kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind;
}

LLVMValueRef emit_report_value(const struct emitter *e, LLVMValueRef value)
{
    const LLVMTypeKind kind = value ? LLVMGetTypeKind(LLVMTypeOf(value)) : LLVMVoidTypeKind;

    if (kind == LLVMPointerTypeKind) {
        return LLVMBuildPtrToInt(e->builder, value, emit_i64(e), "");
    }
    if (!is_float(kind) && (kind != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64)) {
        return emit_number(e, 0);
    }
    if (is_float(kind)) {
        const uint64_t bits = LLVMSizeOfTypeInBits(e->compilation->layout, LLVMTypeOf(value));
        value = LLVMBuildBitCast(e->builder, value, LLVMIntTypeInContext(e->compilation->llvm, (unsigned)bits), "");
    }
    return LLVMBuildZExtOrBitCast(e->builder, value, emit_i64(e), "");
}

void emit_report(const struct emitter *e, uint32_t format, LLVMValueRef address, LLVMValueRef base, LLVMValueRef bytes,
                 LLVMValueRef value)
{
    LLVMValueRef arguments[EMIT_ARGUMENTS_MOST] = { emit_word(e, format), address, base, bytes,
                                                    emit_report_value(e, value) };

    emit_call(e, REPORT, LLVMVoidTypeInContext(e->compilation->llvm), arguments, 5);
}
