/* SPDX-License-Identifier: MIT */
/* Makes early what LLVM makes at its first use in a process and takes away when the process ends. */
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "compiler/ppu_compiler.h"

/* A function that calls another one: enough for the passes that know the C library's functions by name. */
static LLVMModuleRef small_module(LLVMContextRef llvm)
{
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("prepare", llvm);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(llvm), NULL, 0, 0);
    LLVMValueRef callee = LLVMAddFunction(module, "callee", type), caller = LLVMAddFunction(module, "caller", type);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(llvm);

    LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(llvm, caller, ""));
    LLVMBuildCall2(builder, type, callee, NULL, 0, "");
    LLVMBuildRetVoid(builder);
    LLVMDisposeBuilder(builder);
    return module;
}

void ppu_compile_prepare(void)
{
    LLVMContextRef llvm = LLVMContextCreate();
    LLVMModuleRef module = small_module(llvm);
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();

    LLVMConsumeError(LLVMRunPasses(module, "function(instcombine)", NULL, options));
    LLVMDisposePassBuilderOptions(options);
    LLVMDisposeModule(module);
    LLVMContextDispose(llvm);
}
