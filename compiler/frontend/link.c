/* SPDX-License-Identifier: MIT */
/* Links modules that were compiled separately. */
#include "compiler/base/compilation.h"
#include "compiler/base/compiled.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Linker.h>

struct linkage {
    LLVMContextRef llvm;
    LLVMModuleRef module; /* what has been linked so far; NULL: nothing */
    struct bytes log;
};

static void note_diagnostic(LLVMDiagnosticInfoRef info, void *arg)
{
    struct linkage *linkage = arg;
    char *text = LLVMGetDiagInfoDescription(info);

    if (LLVMGetDiagInfoSeverity(info) == LLVMDSError) {
        bytes_print(&linkage->log, "error: %s\n", text);
    }
    LLVMDisposeMessage(text);
}

static bool add_module(struct linkage *linkage, const struct ppu_compile_module *given)
{
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(given->bitcode, given->len_bytes, "module");
    LLVMModuleRef module = NULL;
    LLVMBool failed = LLVMParseBitcodeInContext2(linkage->llvm, buffer, &module);

    LLVMDisposeMemoryBuffer(buffer);
    if (failed) {
        bytes_print(&linkage->log,
                    "error: read a module: it is none of LLVM %u; make it with clang-%u, which PPU_CLANG names\n",
                    LLVM_VERSION, LLVM_VERSION);
        return false;
    }
    if (!linkage->module) {
        linkage->module = module;
        return true;
    }
    return LLVMLinkModules2(linkage->module, module) == 0; /* takes the module, also when it fails */
}

enum ppu_compile_status ppu_compile_link(const struct ppu_compile_module *modules, uint32_t count,
                                         struct ppu_compiled *bitcode)
{
    struct linkage linkage = { .llvm = LLVMContextCreate() };
    struct bytes made = { .at = NULL };
    bool linked = count > 0;

    LLVMContextSetDiagnosticHandler(linkage.llvm, note_diagnostic, &linkage);
    for (uint32_t i = 0; i < count && linked; i++) {
        linked = add_module(&linkage, &modules[i]);
    }
    if (linked) {
        LLVMMemoryBufferRef buffer = LLVMWriteBitcodeToMemoryBuffer(linkage.module);
        bytes_add(&made, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
        LLVMDisposeMemoryBuffer(buffer);
    }
    if (linkage.module) {
        LLVMDisposeModule(linkage.module);
    }
    LLVMContextDispose(linkage.llvm);
    return compile_finish(linked ? PPU_COMPILE_OK : PPU_COMPILE_BAD_SOURCE, &made, &linkage.log, bitcode);
}
