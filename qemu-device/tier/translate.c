/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes code of the host of a unit, by LLVM. The kit is for a processor with AVX2, or with AVX-512. */
#include "qemu-device/tier/translate.h"
#include "ppu/macros.h"
#include "qemu-device/tier/loop.h"
#include "qemu-device/tier/object.h"
#include "qemu-device/tier/writer.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdlib.h>
#include <string.h>

/* One look at all combinations of instructions: two more took a sixth of the time, and made no less code. */
#define PASSES                                                                                                         \
    "always-inline,globaldce,function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,gvn,dse,simplifycfg," \
    "loop-mssa(licm))"

/* How many of 32 registers of 16 lanes, and of 16 registers of 8, values may take: a loop is faster with some of its
 * values in memory than without others to compute while it waits for one. */
#define ROOM_V4 28u
#define ROOM_V3 16u

/* A file as bytes of the module. */
#define BYTES_OF_FILE(name, file)                    \
    __asm__(".section .rodata\n"                     \
            ".balign 16\n" #name "_bytes:\n"         \
            ".incbin \"" file "\"\n" #name "_end:\n" \
            ".previous\n");                          \
    extern const char name##_bytes[], name##_end[]

BYTES_OF_FILE(kit_v3, KIT_V3_FILE);
BYTES_OF_FILE(kit_v4, KIT_V4_FILE);

/* How hard LLVM looks for better code. Programs of the fuzz target run once, and have it look least. */
#ifndef TIER_CODEGEN_LEVEL
#define TIER_CODEGEN_LEVEL LLVMCodeGenLevelDefault
#endif

static enum tier_level level;        /* of the kit */
static LLVMTargetMachineRef machine; /* NULL: LLVM has none for this host */

bool translate_prepare(enum tier_level wanted)
{
    char *const triple = LLVMGetDefaultTargetTriple();
    LLVMTargetRef target;
    char *error = NULL;

    level = wanted;
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    LLVMInitializeNativeAsmParser(); /* the kit has instructions of the host in it */
    if (level != TIER_LEVEL_NONE && LLVMGetTargetFromTriple(triple, &target, &error) == 0) {
        machine = LLVMCreateTargetMachine(target, triple, level == TIER_LEVEL_V4 ? "x86-64-v4" : "x86-64-v3", "",
                                          TIER_CODEGEN_LEVEL, LLVMRelocPIC, LLVMCodeModelSmall);
    }
    LLVMDisposeMessage(error);
    LLVMDisposeMessage(triple);
    return machine;
}

/* The kit, as a module of its own for each unit, whose functions are read when they are needed; NULL: no memory. */
static LLVMModuleRef kit_read(LLVMContextRef context)
{
    const bool v4 = level == TIER_LEVEL_V4;
    const char *const bytes = v4 ? kit_v4_bytes : kit_v3_bytes, *const end = v4 ? kit_v4_end : kit_v3_end;
    LLVMMemoryBufferRef memory = LLVMCreateMemoryBufferWithMemoryRange(bytes, (size_t)(end - bytes), "kit", false);
    LLVMModuleRef module = NULL;

    if (LLVMGetBitcodeModuleInContext2(context, memory, &module) != 0) {
        LLVMDisposeMemoryBuffer(memory);
        return NULL;
    }
    return module; /* which has the buffer now */
}

static void copy_attribute(LLVMValueRef from, LLVMValueRef to, const char *name)
{
    LLVMAttributeRef attribute =
        LLVMGetStringAttributeAtIndex(from, LLVMAttributeFunctionIndex, name, (unsigned)strlen(name));

    if (attribute) {
        LLVMAddAttributeAtIndex(to, LLVMAttributeFunctionIndex, attribute);
    }
}

static void set_types(struct writer *t)
{
    LLVMTypeRef pointers[KIT_SLOTS];

    t->i1 = LLVMInt1TypeInContext(t->context);
    t->i16 = LLVMInt16TypeInContext(t->context);
    t->i32 = LLVMInt32TypeInContext(t->context);
    t->i64 = LLVMInt64TypeInContext(t->context);
    t->ptr = LLVMPointerTypeInContext(t->context, 0);
    t->lanes = LLVMVectorType(t->i32, TIER_CHUNK);
    t->mask = LLVMVectorType(t->i1, TIER_CHUNK);
    for (uint32_t i = 0; i < KIT_SLOTS; i++) {
        pointers[i] = t->ptr;
    }
    t->kit = LLVMFunctionType(LLVMVoidTypeInContext(t->context), pointers, KIT_SLOTS, false);
}

/* LLVM may call them where the module says nothing of it. */
static const char *const library[] = { "memcpy", "memset" };

static bool is_library(LLVMValueRef function)
{
    size_t length;
    const char *const name = LLVMGetValueName2(function, &length);

    for (size_t i = 0; i < PPU_ARRAY_SIZE(library); i++) {
        if (strcmp(name, library[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Functions that have a body are of this linkage, those for which `spared` holds as they were. */
static void set_linkage(LLVMModuleRef module, LLVMLinkage linkage, bool (*spared)(LLVMValueRef function))
{
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        if (!LLVMIsDeclaration(f) && !spared(f)) {
            LLVMSetLinkage(f, linkage);
        }
    }
}

static bool is_taken_anyway(LLVMValueRef function)
{
    return is_library(function) || LLVMGetLinkage(function) == LLVMInternalLinkage;
}

static bool is_seen(LLVMValueRef function)
{
    size_t length;

    return is_library(function) || strcmp(LLVMGetValueName2(function, &length), UNIT_NAME) == 0;
}

/* Takes what the unit calls of the kit, and what that calls, into its module. False: no memory. */
static bool take_kit(struct writer *t)
{
    for (size_t i = 0; i < PPU_ARRAY_SIZE(library); i++) {
        (void)write_kit_function(t, library[i]);
    }
    set_linkage(t->from, LLVMLinkOnceODRLinkage, is_taken_anyway);
    const bool taken = LLVMLinkModules2(t->module, t->from) == 0;
    t->from = NULL; /* that is the end of it */
    set_linkage(t->module, LLVMInternalLinkage, is_seen);
    return taken;
}

static bool optimise(const struct writer *t)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(t->module, PASSES, machine, options);

    LLVMDisposePassBuilderOptions(options);
    LLVMConsumeError(error);
    return !error;
}

static bool make_code(const struct writer *t, struct tier_code_bytes *out)
{
    LLVMMemoryBufferRef object = NULL;
    char *error = NULL;
    bool made = LLVMTargetMachineEmitToMemoryBuffer(machine, t->module, LLVMObjectFile, &error, &object) == 0;

    if (made) {
        made = object_link((const uint8_t *)LLVMGetBufferStart(object), LLVMGetBufferSize(object), UNIT_NAME, out);
        LLVMDisposeMemoryBuffer(object);
    }
    LLVMDisposeMessage(error);
    return made;
}

static bool write_module(struct writer *t, bool always)
{
    t->from = kit_read(t->context);
    if (!t->from) {
        return false;
    }
    t->module = LLVMModuleCreateWithNameInContext(UNIT_NAME, t->context);
    LLVMSetTarget(t->module, LLVMGetTarget(t->from));
    LLVMSetDataLayout(t->module, LLVMGetDataLayoutStr(t->from));
    t->builder = LLVMCreateBuilderInContext(t->context);
    set_types(t);
    const bool worth = write_unit(t) || always;
    LLVMDisposeBuilder(t->builder);
    LLVMValueRef model = LLVMGetNamedFunction(t->from, "v_MOV");
    copy_attribute(model, t->function, "target-cpu");
    copy_attribute(model, t->function, "target-features");
    copy_attribute(model, t->function, "prefer-vector-width");
    copy_attribute(model, t->function, "min-legal-vector-width");
    return worth && take_kit(t) && LLVMVerifyModule(t->module, LLVMReturnStatusAction, NULL) == 0 && optimise(t);
}

/* Registers that the instructions name; false: the interpreter does too much of them. */
static bool look(struct writer *t, struct tier_code_bytes *out)
{
    uint32_t own = 0, others = 0;

    *out = (struct tier_code_bytes){ .wave = t->unit->wave, .insns = t->unit->insns };
    for (uint32_t n = 0; n < t->unit->insns; n++) {
        const uint32_t vregs = t->unit->insn[n].known ? t->unit->insn[n].vregs : 0;
        out->vregs = out->vregs < vregs ? vregs : out->vregs;
    }
    if (t->unit->straight) {
        return true;
    }
    for (uint32_t n = 0; n < t->unit->insns; n++) {
        if (t->unit->insn[n].known && t->unit->insn[n].insn.op == PPU_OP_BAR) {
            return false; /* what lies between barriers is straight code, or has loops of its own */
        }
        t->kind[n] = tier_kind_of(t->unit, &t->unit->insn[n]);
        own += t->kind[n] != KIND_OTHER && t->kind[n] != KIND_LEAVE && t->kind[n] != KIND_CONTROL;
        others += t->kind[n] == KIND_OTHER && !loop_loads_lanes(t->unit, &t->unit->insn[n].insn);
    }
    return own >= 2 * others && own != 0;
}

bool translate_unit(const struct tier_unit *unit, bool always, struct tier_code_bytes *out)
{
    const bool v4 = level == TIER_LEVEL_V4;
    struct writer t = { .unit = unit, .room = v4 ? ROOM_V4 : ROOM_V3, .permutes = v4 };

    if (!look(&t, out)) {
        return false;
    }
    t.context = LLVMContextCreate();
    const bool made = write_module(&t, always) && make_code(&t, out);
    out->ends = t.ends;
    if (t.from) {
        LLVMDisposeModule(t.from);
    }
    if (t.module) {
        LLVMDisposeModule(t.module);
    }
    LLVMContextDispose(t.context);
    return made;
}
