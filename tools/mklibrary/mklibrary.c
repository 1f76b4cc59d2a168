/* SPDX-License-Identifier: MIT */
/*
 * mklibrary OUTPUT LIBCLC|- MODULE...: links our own modules and libclc's into one library, ours first, and writes it
 * in shards (compiler/frontend/library_file.h). With - it is ours alone, and a module. A program takes from it only
 * what it calls: every definition becomes linkonce_odr.
 */
#include "compiler/irpass/define_arithmetic.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <llvm-c/Linker.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "tools/mklibrary/shards.h"

static LLVMModuleRef load(LLVMContextRef llvm, const char *path)
{
    LLVMMemoryBufferRef buffer;
    LLVMModuleRef module;
    char *message = NULL;

    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &message) != 0 ||
        LLVMParseBitcodeInContext2(llvm, buffer, &module) != 0) {
        fprintf(stderr, "mklibrary: %s: %s\n", path, message ? message : "not a module");
        exit(EXIT_FAILURE);
    }
    LLVMDisposeMemoryBuffer(buffer);
    return module;
}

static void set_linkage(LLVMModuleRef module, LLVMLinkage linkage)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        if (!LLVMIsDeclaration(f) && LLVMGetLinkage(f) != LLVMInternalLinkage) {
            LLVMSetLinkage(f, linkage);
        }
    }
    for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g)) {
        if (!LLVMIsDeclaration(g) && LLVMGetLinkage(g) != LLVMInternalLinkage &&
            LLVMGetLinkage(g) != LLVMPrivateLinkage) {
            LLVMSetLinkage(g, linkage);
        }
    }
}

/* Counting orders nothing else (OpenCL C: what was atomic before C11 is relaxed); libclc has the strongest order. */
static bool is_count(LLVMValueRef function)
{
    static const char *const names[] = { "_Z10atomic_add", "_Z10atomic_sub", "_Z10atomic_inc", "_Z10atomic_dec",
                                         "_Z8atom_add",    "_Z8atom_sub",    "_Z8atom_inc",    "_Z8atom_dec" };
    size_t len;
    const char *name = LLVMGetValueName2(function, &len);

    for (size_t i = 0; i < PPU_ARRAY_SIZE(names); i++) {
        if (strncmp(name, names[i], strlen(names[i])) == 0) {
            return true;
        }
    }
    return false;
}

static void relax(LLVMValueRef function)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (LLVMIsAAtomicRMWInst(i)) {
                LLVMSetOrdering(i, LLVMAtomicOrderingMonotonic);
            }
        }
    }
}

static bool may_wrap(LLVMOpcode opcode)
{
    return opcode == LLVMAdd || opcode == LLVMSub || opcode == LLVMMul || opcode == LLVMShl;
}

static unsigned range_kind(void)
{
    return LLVMGetEnumAttributeKindForName("range", strlen("range"));
}

static void wrap_instruction(LLVMValueRef insn)
{
    if (may_wrap(LLVMGetInstructionOpcode(insn))) {
        LLVMSetNSW(insn, false);
        LLVMSetNUW(insn, false);
    } else if (LLVMIsACallInst(insn)) {
        LLVMRemoveCallSiteEnumAttribute(insn, LLVMAttributeReturnIndex, range_kind());
    }
}

/* Integer functions are defined for all numbers: what overflows in libclc's wraps, and nothing follows from that. */
static void wrap(LLVMValueRef function)
{
    LLVMRemoveEnumAttributeAtIndex(function, LLVMAttributeReturnIndex, range_kind());
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            wrap_instruction(i);
        }
    }
}

/* Functions that ours of that name call. */
static void rename_called(LLVMModuleRef libclc)
{
    static const char *const names[][2] = {
        { "_Z3sind", "__ppu_clc_sin" },
        { "_Z5expm1d", "__ppu_clc_expm1" },
        { "_Z3erfd", "__ppu_clc_erf" },
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(names); i++) {
        LLVMValueRef function = LLVMGetNamedFunction(libclc, names[i][0]);
        if (!function) {
            fprintf(stderr, "mklibrary: libclc has no %s\n", names[i][0]);
            exit(EXIT_FAILURE);
        }
        LLVMSetValueName2(function, names[i][1], strlen(names[i][1]));
    }
}

static bool add_libclc(LLVMModuleRef library, LLVMModuleRef libclc)
{
    LLVMSetDataLayout(libclc, LLVMGetDataLayoutStr(library));
    LLVMSetTarget(libclc, LLVMGetTarget(library));
    rename_called(libclc);
    set_linkage(libclc, LLVMWeakODRLinkage); /* linked without being asked for; ours stay */
    for (LLVMValueRef f = LLVMGetFirstFunction(libclc); f; f = LLVMGetNextFunction(f)) {
        wrap(f);
        if (is_count(f)) {
            relax(f);
        }
    }
    return LLVMLinkModules2(library, libclc) == 0;
}

/* A member of an image's descriptor (ppu/surface.h). */
static bool is_descriptor(LLVMValueRef pointer)
{
    static const char name[] = "struct.ppu_surface";

    if (!LLVMIsAGetElementPtrInst(pointer)) {
        return false;
    }
    LLVMTypeRef type = LLVMGetGEPSourceElementType(pointer);
    const char *found = LLVMGetTypeKind(type) == LLVMStructTypeKind ? LLVMGetStructName(type) : NULL;
    return found && strcmp(found, name) == 0;
}

/* Descriptors stay as they are while a kernel runs: what is stored to texels does not change them. */
static void fix_descriptors(LLVMContextRef llvm, LLVMValueRef function)
{
    const unsigned invariant = LLVMGetMDKindIDInContext(llvm, "invariant.load", strlen("invariant.load"));

    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (LLVMIsALoadInst(i) && is_descriptor(LLVMGetOperand(i, 0))) {
                LLVMSetMetadata(i, invariant, LLVMMetadataAsValue(llvm, LLVMMDNodeInContext2(llvm, NULL, 0)));
            }
        }
    }
}

int main(int argc, char **argv)
{
    LLVMContextRef llvm = LLVMContextCreate();

    if (argc < 4) {
        fputs("usage: mklibrary OUTPUT LIBCLC|- MODULE...\n", stderr);
        return EXIT_FAILURE;
    }
    LLVMModuleRef library = load(llvm, argv[3]);
    for (int i = 4; i < argc; i++) {
        if (LLVMLinkModules2(library, load(llvm, argv[i])) != 0) {
            fprintf(stderr, "mklibrary: %s does not fit the others\n", argv[i]);
            return EXIT_FAILURE;
        }
    }
    if (strcmp(argv[2], "-") != 0 && !add_libclc(library, load(llvm, argv[2]))) {
        fprintf(stderr, "mklibrary: %s does not fit the others\n", argv[2]);
        return EXIT_FAILURE;
    }
    set_linkage(library, LLVMLinkOnceODRLinkage);
    for (LLVMValueRef f = LLVMGetFirstFunction(library); f; f = LLVMGetNextFunction(f)) {
        define_arithmetic(f);
        fix_descriptors(llvm, f);
    }
    const bool whole = strcmp(argv[2], "-") != 0;
    if (whole ? !shards_write(library, argv[1]) : LLVMWriteBitcodeToFile(library, argv[1]) != 0) {
        fprintf(stderr, "mklibrary: %s cannot be written\n", argv[1]);
        return EXIT_FAILURE;
    }
    LLVMDisposeModule(library);
    LLVMContextDispose(llvm);
    return EXIT_SUCCESS;
}
