/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/kernel_wrapper.h"

#include "compiler/analysis/ir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPIR_FUNCTION 75 /* calling conventions of LLVM's enumeration */
#define SPIR_KERNEL 76

static void copy_attributes(LLVMValueRef from, LLVMValueRef to, LLVMValueRef call)
{
    for (LLVMAttributeIndex index = LLVMAttributeFunctionIndex, end = LLVMCountParams(from);; index++) {
        uint32_t count = LLVMGetAttributeCountAtIndex(from, index);
        LLVMAttributeRef *list = calloc(count + 1u, sizeof(LLVMAttributeRef));
        if (list) {
            LLVMGetAttributesAtIndex(from, index, list);
        }
        for (uint32_t i = 0; list && i < count; i++) {
            LLVMAddAttributeAtIndex(to, index, list[i]);
            if (index != (LLVMAttributeIndex)LLVMAttributeFunctionIndex) {
                LLVMAddCallSiteAttribute(call, index, list[i]);
            }
        }
        free(list);
        if (index == end) {
            return;
        }
    }
}

static void copy_metadata(struct compilation *compilation, LLVMValueRef from, LLVMValueRef to)
{
    size_t count = 0;
    LLVMValueMetadataEntry *list = LLVMGlobalCopyAllMetadata(from, &count);
    uint32_t debug = LLVMGetMDKindIDInContext(compilation->llvm, "dbg", 3);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t kind = LLVMValueMetadataEntriesGetKind(list, i);
        if (kind != debug) { /* one function's alone */
            LLVMGlobalSetMetadata(to, kind, LLVMValueMetadataEntriesGetMetadata(list, i));
        }
    }
    LLVMDisposeValueMetadataEntries(list);
}

LLVMValueRef kernel_wrapper_split(struct compilation *compilation, LLVMValueRef kernel)
{
    LLVMTypeRef type = LLVMGlobalGetValueType(kernel);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(compilation->llvm);
    uint32_t count = LLVMCountParams(kernel);
    LLVMValueRef *arguments = arena_new(&compilation->arena, LLVMValueRef, count + 1);
    size_t len = 0;
    const char *name = LLVMGetValueName2(kernel, &len);
    char *own = arena_alloc(&compilation->arena, len + 1),
         *body = arena_alloc(&compilation->arena, len + sizeof(".body"));

    memcpy(own, name, len);
    snprintf(body, len + sizeof(".body"), "%s.body", own);
    LLVMSetValueName2(kernel, body, strlen(body));
    LLVMValueRef outer = LLVMAddFunction(compilation->module, own, type);
    LLVMGetParams(outer, arguments);
    LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(compilation->llvm, outer, ""));
    LLVMValueRef call = LLVMBuildCall2(builder, type, kernel, arguments, count, "");
    LLVMBuildRetVoid(builder);
    LLVMDisposeBuilder(builder);
    copy_attributes(kernel, outer, call);
    copy_metadata(compilation, kernel, outer);
    LLVMSetFunctionCallConv(outer, SPIR_KERNEL);
    LLVMSetFunctionCallConv(kernel, SPIR_FUNCTION);
    LLVMSetInstructionCallConv(call, SPIR_FUNCTION);
    return outer;
}

static bool is_called(LLVMValueRef function)
{
    for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (ir_is_instruction(user, LLVMCall) && LLVMGetCalledValue(user) == function) {
            return true;
        }
    }
    return false;
}

void kernel_wrapper_split_called(struct compilation *compilation)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module); f; f = LLVMGetNextFunction(f)) {
        if (ir_is_kernel(f) && is_called(f)) {
            kernel_wrapper_split(compilation, f);
        }
    }
}
