/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes code of the host of a unit, by LLVM. The kit is for a processor with AVX2, or with AVX-512; LLVM's memory is
 * writable until the code is whole, and executable after that.
 */
#include "qemu-device/tier/translate.h"
#include "qemu-device/tier/writer.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PASSES                                                                                                                                         \
    "always-inline,globaldce,function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,gvn,instcombine<no-verify-fixpoint>,dse,simplifycfg," \
    "loop-mssa(licm),instcombine<no-verify-fixpoint>)"

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

/* What a translation has of LLVM. */
struct owned {
    LLVMContextRef context;
    LLVMExecutionEngineRef engine;
};

static pthread_once_t ready = PTHREAD_ONCE_INIT;
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static LLVMTargetMachineRef machine; /* for the passes; NULL: LLVM has none for this host */

static bool failed; /* atomic */

/* LLVM would end the process when this returned. */
static void on_fatal_error(const char *reason)
{
    fprintf(stderr,
            "ppu: translate a loop: LLVM has met an error that it does not return from: %s; "
            "loops that are not translated yet are interpreted\n",
            reason);
    __atomic_store_n(&failed, true, __ATOMIC_RELEASE);
    for (;;) {
        pause();
    }
}

bool tier_failed(void)
{
    return __atomic_load_n(&failed, __ATOMIC_ACQUIRE);
}

static bool has_v4(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

static bool has_v3(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2");
}

static void make_ready(void)
{
    char *const triple = LLVMGetDefaultTargetTriple();
    LLVMTargetRef target;
    char *error = NULL;

    LLVMInstallFatalErrorHandler(on_fatal_error);
    LLVMLinkInMCJIT();
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    if (has_v3() && LLVMGetTargetFromTriple(triple, &target, &error) == 0) {
        machine = LLVMCreateTargetMachine(target, triple, has_v4() ? "x86-64-v4" : "x86-64-v3", "",
                                          LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelJITDefault);
    }
    LLVMDisposeMessage(error);
    LLVMDisposeMessage(triple);
}

/* The kit, as a module of its own for each unit; NULL: no memory. */
static LLVMModuleRef kit_read(LLVMContextRef context)
{
    const bool v4 = has_v4();
    const char *const bytes = v4 ? kit_v4_bytes : kit_v3_bytes, *const end = v4 ? kit_v4_end : kit_v3_end;
    LLVMMemoryBufferRef memory = LLVMCreateMemoryBufferWithMemoryRange(bytes, (size_t)(end - bytes), "kit", false);
    LLVMModuleRef module = NULL;

    if (LLVMParseBitcodeInContext2(context, memory, &module) != 0) {
        module = NULL;
    }
    LLVMDisposeMemoryBuffer(memory);
    return module;
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

/* Functions of the kit are only there to be written into the unit's. */
static void hide_kit(LLVMModuleRef module)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        if (!LLVMIsDeclaration(f)) {
            LLVMSetLinkage(f, LLVMInternalLinkage);
        }
    }
}

static bool optimise(const struct writer *t)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(t->module, PASSES, machine, options);

    LLVMDisposePassBuilderOptions(options);
    LLVMConsumeError(error);
    return !error;
}

/* Gives the module away. */
static bool make_code(const struct writer *t, struct tier_translation *out)
{
    struct owned *const owned = calloc(1, sizeof(*owned));
    struct LLVMMCJITCompilerOptions options;
    char *error = NULL;

    if (!owned) {
        LLVMDisposeModule(t->module);
        return false;
    }
    LLVMInitializeMCJITCompilerOptions(&options, sizeof(options));
    options.OptLevel = 2;
    if (LLVMCreateMCJITCompilerForModule(&owned->engine, t->module, &options, sizeof(options), &error) != 0) {
        LLVMDisposeMessage(error);
        free(owned);
        return false;
    }
    const uint64_t address = LLVMGetFunctionAddress(owned->engine, "unit");
    if (address == 0) {
        LLVMDisposeExecutionEngine(owned->engine);
        free(owned);
        return false;
    }
    memcpy(&out->code, &address, sizeof(out->code));
    owned->context = t->context;
    out->memory = owned;
    return true;
}

static bool write_module(struct writer *t)
{
    t->module = kit_read(t->context);
    if (!t->module) {
        return false;
    }
    hide_kit(t->module);
    t->builder = LLVMCreateBuilderInContext(t->context);
    set_types(t);
    write_unit(t);
    LLVMDisposeBuilder(t->builder);
    LLVMValueRef model = LLVMGetNamedFunction(t->module, "v_MOV");
    copy_attribute(model, t->function, "target-cpu");
    copy_attribute(model, t->function, "target-features");
    copy_attribute(model, t->function, "prefer-vector-width");
    copy_attribute(model, t->function, "min-legal-vector-width");
    return LLVMVerifyModule(t->module, LLVMReturnStatusAction, NULL) == 0 && optimise(t);
}

/* Registers that the instructions name which are not the interpreter's; false: it does too much of them. */
static bool look(struct writer *t, struct tier_translation *out)
{
    uint32_t own = 0, others = 0;

    *out = (struct tier_translation){ .wave = t->unit->wave, .insns = t->unit->insns };
    for (uint32_t n = 0; n < t->unit->insns; n++) {
        t->kind[n] = tier_kind_of(t->unit, &t->unit->insn[n]);
        if (t->kind[n] == KIND_OTHER) {
            others++;
        } else if (t->kind[n] != KIND_LEAVE && t->kind[n] != KIND_CONTROL) {
            const uint32_t vregs = t->unit->insn[n].vregs;
            own++;
            out->vregs = out->vregs < vregs ? vregs : out->vregs;
        }
    }
    return own >= 2 * others && own != 0;
}

static bool translate(struct writer *t, struct tier_translation *out)
{
    t->context = LLVMContextCreate();
    bool made = write_module(t);
    if (!made && t->module) {
        LLVMDisposeModule(t->module);
    }
    made = made && make_code(t, out);
    if (!made) {
        LLVMContextDispose(t->context);
    }
    return made;
}

bool tier_translate(const struct tier_unit *unit, struct tier_translation *out)
{
    struct writer t = { .unit = unit, .room = has_v4() ? ROOM_V4 : ROOM_V3 };
    pthread_once(&ready, make_ready);
    if (!machine || !look(&t, out)) {
        return false;
    }
    pthread_mutex_lock(&one_at_a_time);
    const bool made = translate(&t, out);
    pthread_mutex_unlock(&one_at_a_time);
    return made;
}

void tier_drop(struct tier_translation *translation)
{
    struct owned *const owned = translation->memory;

    LLVMDisposeExecutionEngine(owned->engine);
    LLVMContextDispose(owned->context);
    free(owned);
}
