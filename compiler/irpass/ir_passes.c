/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/ir_passes.h"

#include "compiler/analysis/access_pattern.h"
#include "compiler/analysis/ir.h"
#include "compiler/base/primitive.h"
#include "compiler/frontend/library.h"
#include "compiler/irpass/address_reuse.h"
#include "compiler/irpass/any_work_group.h"
#include "compiler/irpass/coalesce.h"
#include "compiler/irpass/copy_arguments.h"
#include "compiler/irpass/cut_chains.h"
#include "compiler/irpass/define_arithmetic.h"
#include "compiler/irpass/distribute_products.h"
#include "compiler/irpass/duplicate_ends.h"
#include "compiler/irpass/hoist_launch.h"
#include "compiler/irpass/hoist_uniform.h"
#include "compiler/irpass/id_ranges.h"
#include "compiler/irpass/keep_variables.h"
#include "compiler/irpass/kernel_wrapper.h"
#include "compiler/irpass/lower_enqueue.h"
#include "compiler/irpass/lower_memcpy.h"
#include "compiler/irpass/lower_opaque.h"
#include "compiler/irpass/lower_printf.h"
#include "compiler/irpass/lower_warps.h"
#include "compiler/irpass/odd_vectors.h"
#include "compiler/irpass/sanitize/access.h"
#include "compiler/irpass/sanitize/argument.h"
#include "compiler/irpass/sanitize/inline.h"
#include "compiler/irpass/sanitize/loss.h"
#include "compiler/irpass/sanitize/race.h"
#include "compiler/irpass/sanitize/race_free.h"
#include "compiler/irpass/sanitize/sanitize.h"
#include "compiler/irpass/sanitize/uninit.h"
#include "compiler/irpass/specialize_alias.h"
#include "compiler/irpass/specialize_shape.h"
#include "compiler/irpass/split_aggregates.h"
#include "compiler/irpass/split_blocks.h"
#include "compiler/irpass/split_integers.h"
#include "compiler/irpass/split_vectors.h"
#include "compiler/irpass/strength_reduce.h"
#include "compiler/irpass/unroll.h"
#include "compiler/irpass/yield.h"
#include "ppu/macros.h"
#include "ppu/sanitizer.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Error.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>

/* Pipelines of LLVM's passes that ir_pass.def names, where they are long or stand there more than once. */
#define INLINE_PASSES "always-inline,globaldce"
#define EARLY_PASSES "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,loop-simplify)"
/* For what early-simplify has seen. Jump threading takes the second of two equal comparisons away, which checks are. */
#define BRIEF_PASSES                                                                          \
    "function(early-cse<memssa>,jump-threading,gvn,sroa,dse,simplifycfg,loop-simplify,lcssa," \
    "loop-mssa(licm),instcombine<no-verify-fixpoint>,simplifycfg,adce),globaldce"
/* For kernels without checks, whose loops are the program's. Loops are unrolled twice, as the turns of an inner one may
 * be known once the outer one is no loop any more. */
#define LARGE_PASSES                                                                                         \
    "function(early-cse<memssa>,jump-threading,simplifycfg,loop-simplify,lcssa,loop-mssa(loop-rotate,licm)," \
    "loop(indvars,loop-deletion)," WHOLE ",gvn,sroa,dse,simplifycfg,loop-simplify,lcssa,loop-mssa(licm),"    \
    "instcombine<no-verify-fixpoint>,loop-simplify,lcssa,loop(indvars)," WHOLE ",simplifycfg,adce),globaldce"
#define WHOLE "loop-unroll<O3;no-partial;no-runtime>"
/* No instcombine: it gives up what is known not to overflow, which coalescing needs. */
#define UNROLL_PASSES "function(loop-simplify,lcssa,loop-unroll<O3;upperbound>,early-cse<memssa>,gvn,simplifycfg,adce)"
#define LICM_PASSES "function(instcombine<no-verify-fixpoint>,loop-simplify,lcssa,loop-mssa(licm))"
#define MEM2REG_PASSES "function(sroa,early-cse)"
/* What the library has: mem2reg splits nothing, and leaves alone what has volatile accesses. */
#define KEPT_PASSES "function(mem2reg)"
#define SCALAR_PASSES                                                                                                 \
    "function(simplifycfg,scalarizer,instcombine<no-verify-fixpoint>,infer-alignment,separate-const-offset-from-gep," \
    "early-cse,simplifycfg),globaldce"
/* ir_new() needs these. fix-irreducible makes a malformed phi of a block that branches to two entries of a loop. */
#define GRAPH "lower-switch,break-crit-edges,fix-irreducible,loop-simplify"
#define LOOP_PASSES "function(" GRAPH ")"
#define CFG_PASSES "function(" GRAPH ",break-crit-edges)"
#define DCE_PASSES "function(early-cse,dce)"

static void run_llvm_passes(struct compilation *compilation, const char *passes)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();

    LLVMPassBuilderOptionsSetLoopVectorization(options, 0);
    LLVMPassBuilderOptionsSetSLPVectorization(options, 0);
    LLVMPassBuilderOptionsSetLoopInterleaving(options, 0);
    LLVMErrorRef error = LLVMRunPasses(compilation->module, passes, NULL, options);
    LLVMDisposePassBuilderOptions(options);
    if (error) {
        char *message = LLVMGetErrorMessage(error);
        bytes_print(&compilation->log, "%s", message);
        LLVMDisposeErrorMessage(message);
        compilation_fail(compilation, PPU_COMPILE_UNSUPPORTED, " (internal error: a pass does not run)");
    }
}

/* On a copy, as folding takes wrong accesses away that are to be reported. */
static void find_race_free(struct compilation *compilation)
{
    LLVMModuleRef module = compilation->module;

    if ((compilation->options->sanitize & PPU_SANITIZE_RACE) == 0) {
        return;
    }
    compilation->module = LLVMCloneModule(module);
    run_llvm_passes(compilation, EARLY_PASSES);
    LLVMModuleRef copy = compilation->module;
    compilation->module = module;
    race_free_find(compilation, copy);
    LLVMDisposeModule(copy);
}

static void link_library(struct compilation *compilation, struct library library)
{
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRange((const char *)library.bytes, library.len_bytes, "library", 0);
    LLVMModuleRef module;

    if (LLVMGetBitcodeModuleInContext2(compilation->llvm, buffer, &module) != 0 ||
        LLVMLinkModules2(compilation->module, module) != 0) {
        compilation_fail(compilation, PPU_COMPILE_UNSUPPORTED, "internal error: the library cannot be linked");
    }
}

/* True when a function is called that is neither there nor known to the back end. */
static bool is_lacking(LLVMValueRef function)
{
    size_t len;

    return LLVMIsDeclaration(function) && LLVMGetFirstUse(function) && LLVMGetIntrinsicID(function) == 0 &&
           primitive_find(LLVMGetValueName2(function, &len)) == PRIMITIVE_NONE;
}

/* Only what is used is linked: the core, and then the shards that have what is lacking still. */
static void link_device_library(struct compilation *compilation)
{
    const uint32_t shards = library_shards();
    bool *wanted = arena_new(&compilation->arena, bool, shards + 1);

    link_library(compilation, library_core());
    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module); f; f = LLVMGetNextFunction(f)) {
        size_t len;
        if (is_lacking(f)) {
            wanted[library_find(LLVMGetValueName2(f, &len))] = true;
        }
    }
    for (uint32_t i = 0; i < shards; i++) {
        if (wanted[i]) {
            link_library(compilation, library_shard(i));
        }
    }
}

/* The machine's word is 32 bits: without this, LLVM widens induction variables. */
static void set_data_layout(struct compilation *compilation)
{
    char text[512];
    int len = snprintf(text, sizeof(text), "%s-n32", LLVMGetDataLayoutStr(compilation->module));

    if (len < 0 || (size_t)len >= sizeof(text) || strstr(text, "-n32-n32")) {
        compilation_fail(compilation, PPU_COMPILE_BAD_SOURCE, "the bitcode is not for this machine");
    }
    LLVMSetDataLayout(compilation->module, text);
    compilation->layout = LLVMGetModuleDataLayout(compilation->module);
}

static void set_attribute(struct compilation *compilation, LLVMValueRef function, const char *name, bool set)
{
    uint32_t kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

    if (set) {
        LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(compilation->llvm, kind, 0));
    } else {
        LLVMRemoveEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind);
    }
}

static bool has_attribute(LLVMValueRef function, const char *name)
{
    uint32_t kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

    return LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind);
}

static void set_text_attribute(struct compilation *compilation, LLVMValueRef function, const char *name,
                               const char *value)
{
    LLVMAddAttributeAtIndex(
        function, LLVMAttributeFunctionIndex,
        LLVMCreateStringAttribute(compilation->llvm, name, (unsigned)strlen(name), value, (unsigned)strlen(value)));
}

#define CALLED "ppu-called" /* attribute of functions that the source wants to be called, not inlined */

/*
 * Attribute that keeps LLVM from making vectors of scalar code, which would only be taken apart again: the options of
 * its passes do not reach that one.
 */
#define NO_VECTORS "noimplicitfloat"

/* Before the library comes, which is always inlined. */
static void mark_noinline(struct compilation *compilation)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module); f; f = LLVMGetNextFunction(f)) {
        if (!LLVMIsDeclaration(f) && !ir_is_kernel(f) && has_attribute(f, "noinline")) {
            set_text_attribute(compilation, f, CALLED, "");
        }
    }
}

static bool is_called(LLVMValueRef function)
{
    return LLVMGetStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, CALLED, sizeof(CALLED) - 1);
}

static uint32_t byval_kind(void)
{
    return LLVMGetEnumAttributeKindForName("byval", strlen("byval"));
}

/* A copy of what the pointer points to, made before the call. */
static LLVMValueRef copy_before(struct compilation *compilation, LLVMValueRef call, LLVMValueRef pointer,
                                LLVMTypeRef type)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(compilation->llvm);
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
    LLVMTypeRef i64 = LLVMInt64TypeInContext(compilation->llvm);
    uint32_t align = LLVMABIAlignmentOfType(compilation->layout, type);

    LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
    LLVMValueRef copy = LLVMBuildAlloca(builder, type, "");
    LLVMSetAlignment(copy, align);
    LLVMPositionBuilderBefore(builder, call);
    LLVMBuildMemCpy(builder, copy, align, pointer, align,
                    LLVMConstInt(i64, LLVMABISizeOfType(compilation->layout, type), 0));
    LLVMDisposeBuilder(builder);
    return copy;
}

/* A function may write to structures that it gets by value. Our calls pass pointers, so the caller copies. */
static void copy_structures(struct compilation *compilation, LLVMValueRef call)
{
    for (uint32_t i = 0; i < LLVMGetNumArgOperands(call); i++) {
        LLVMAttributeRef byval = LLVMGetCallSiteEnumAttribute(call, i + 1, byval_kind());
        if (byval) {
            LLVMTypeRef type = LLVMGetTypeAttributeValue(byval);
            LLVMRemoveCallSiteEnumAttribute(call, i + 1, byval_kind());
            LLVMSetOperand(call, i, copy_before(compilation, call, LLVMGetOperand(call, i), type));
        }
    }
}

/* One calling convention for all but kernels: the library was made with another than the program. */
static void prepare_calls(struct compilation *compilation, LLVMValueRef function)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (ir_is_instruction(i, LLVMCall)) {
                LLVMValueRef callee = LLVMGetCalledValue(i);
                bool kernel = LLVMIsAFunction(callee) && ir_is_kernel(callee);
                if (LLVMIsAFunction(callee) && is_called(callee)) {
                    copy_structures(compilation, i);
                }
                LLVMSetInstructionCallConv(i, kernel ? LLVMGetFunctionCallConv(callee) : LLVMCCallConv);
            }
        }
    }
}

static void set_function_attributes(struct compilation *compilation)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module); f; f = LLVMGetNextFunction(f)) {
        prepare_calls(compilation, f);
        for (uint32_t i = 0; is_called(f) && i < LLVMCountParams(f); i++) {
            LLVMRemoveEnumAttributeAtIndex(f, i + 1, byval_kind());
        }
        if (!LLVMIsDeclaration(f)) {
            set_attribute(compilation, f, "optnone", false);
            set_attribute(compilation, f, NO_VECTORS, true);
            set_attribute(compilation, f, "noinline", is_called(f));
            set_text_attribute(compilation, f, "no-builtins", "");
            set_text_attribute(compilation, f, "no-jump-tables", "true");
        }
        if (ir_is_kernel(f)) {
            LLVMSetLinkage(f, LLVMExternalLinkage);
            continue;
        }
        if (LLVMGetIntrinsicID(f) == 0) {
            LLVMSetFunctionCallConv(f, LLVMCCallConv);
        }
        if (!LLVMIsDeclaration(f)) {
            LLVMSetLinkage(f, LLVMInternalLinkage);
            set_attribute(compilation, f, "alwaysinline", !is_called(f));
        }
    }
}

/* Shared variables lie where we put them: with more alignment, loads join. */
static void align_shared_variables(struct compilation *compilation)
{
    for (LLVMValueRef g = LLVMGetFirstGlobal(compilation->module); g; g = LLVMGetNextGlobal(g)) {
        if (ir_pointer_space(g) == SPACE_LOCAL && LLVMGetAlignment(g) < 16) {
            LLVMSetAlignment(g, 16);
        }
    }
}

static void each_function(struct compilation *compilation,
                          void (*visit)(struct compilation *compilation, LLVMValueRef function))
{
    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module); f; f = LLVMGetNextFunction(f)) {
        if (!LLVMIsDeclaration(f)) {
            visit(compilation, f);
        }
    }
}

static void check_module(struct compilation *compilation)
{
    char *message = NULL;

    if (LLVMVerifyModule(compilation->module, LLVMReturnStatusAction, &message) != 0) {
        bytes_print(&compilation->log, "%s", message);
        LLVMDisposeMessage(message);
        compilation_fail(compilation, PPU_COMPILE_BAD_SOURCE, "the module is malformed");
    }
    LLVMDisposeMessage(message);
}

static bool is_unoptimised(const struct compilation *compilation)
{
    return compilation->options->unoptimised != 0;
}

/* Lowers what is left of copies, after the passes that take them apart. */
static void lower_memcpy_calls(struct compilation *compilation)
{
    if (lower_memcpy(compilation)) {
        link_library(compilation, library_core());
        set_function_attributes(compilation);
        run_llvm_passes(compilation, INLINE_PASSES);
        run_llvm_passes(compilation, compilation_keeps_variables(compilation) ? KEPT_PASSES : EARLY_PASSES);
    }
}

/* True when there are facts to make use of. */
static bool has_facts(const struct compilation *compilation)
{
    return compilation->options->facts && !is_unoptimised(compilation);
}

/* Its functions are called: hardly ever, but from many places. */
static void link_sanitizer(struct compilation *compilation)
{
    if ((compilation->options->sanitize & ~(uint32_t)(PPU_SANITIZE_RACE | PPU_SANITIZE_BARRIER)) != 0) {
        link_library(compilation, library_address());
    }
    if ((compilation->options->sanitize & PPU_SANITIZE_ARGUMENT) != 0) {
        link_library(compilation, library_argument());
    }
    if ((compilation->options->sanitize & PPU_SANITIZE_UNINIT) != 0) {
        link_library(compilation, library_uninit());
    }
    if ((compilation->options->sanitize & (PPU_SANITIZE_RACE | PPU_SANITIZE_BARRIER)) != 0) {
        link_library(compilation, lower_enqueue_has_children(compilation) ? library_race_nested() : library_race());
    }
    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module); f; f = LLVMGetNextFunction(f)) {
        if (!LLVMIsDeclaration(f) && sanitize_is_check(f)) {
            set_text_attribute(compilation, f, CALLED, "");
        }
    }
    sanitize_linked(compilation);
    set_function_attributes(compilation);
}

static void inline_checks(struct compilation *compilation)
{
    while (inline_mark(compilation)) {
        run_llvm_passes(compilation, "always-inline");
    }
}

static void set_optnone_of_checks(struct compilation *compilation, bool optnone)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module); f; f = LLVMGetNextFunction(f)) {
        if (!LLVMIsDeclaration(f) && sanitize_is_check(f)) {
            set_attribute(compilation, f, "optnone", optnone);
        }
    }
}

static void skip_checks(struct compilation *compilation)
{
    set_optnone_of_checks(compilation, true);
}

static void include_checks(struct compilation *compilation)
{
    set_optnone_of_checks(compilation, false);
}

#define LARGE 8000u /* LLVM's instructions: the default pipeline takes more than 0.1 s */

static void measure(struct compilation *compilation)
{
    uint32_t instructions = 0;

    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module); f; f = LLVMGetNextFunction(f)) {
        instructions += sanitize_is_check(f) ? 0 : ir_count_instructions(f);
    }
    compilation->large = instructions > LARGE;
}

/* What measure-checked found stays: checks that are equal are together again by now. */
static void measure_plain(struct compilation *compilation)
{
    if (compilation->options->sanitize == 0) {
        measure(compilation);
    }
}

static void enable_vectorizer(struct compilation *compilation, LLVMValueRef function)
{
    set_attribute(compilation, function, NO_VECTORS, false);
}

static void define_results(struct compilation *compilation, LLVMValueRef function)
{
    (void)compilation;
    define_arithmetic(function);
}

static void read_data_layout(struct compilation *compilation)
{
    compilation->layout = LLVMGetModuleDataLayout(compilation->module);
}

/* ---- the list ---- */

enum ir_condition {
    IR_ALWAYS,
    IR_KEPT,
    IR_PROMOTED,
    IR_OPTIMISED,
    IR_GIVEN,
    IR_FACTS,
    IR_COMMON,
    IR_SANITIZED,
    IR_LARGE,
    IR_LARGE_CHECKED,
    IR_SMALL,
};

/* One of `module`, `function` and `llvm` is there. */
struct ir_pass {
    const char *name;
    enum ir_condition condition;
    void (*module)(struct compilation *compilation);
    void (*function)(struct compilation *compilation, LLVMValueRef function);
    const char *llvm;
};

#define IR_MODULE(what) .module = (what)
#define IR_FUNCTION(what) .function = (what)
#define IR_LLVM(what) .llvm = (what)
static const struct ir_pass passes[] = {
#define IR_PASS(name, condition, kind, what, does, needs) { #name, IR_##condition, IR_##kind(what) },
#include "compiler/irpass/ir_pass.def"
#undef IR_PASS
};

static bool holds(const struct compilation *compilation, enum ir_condition condition)
{
    switch (condition) {
    case IR_KEPT:
        return compilation_keeps_variables(compilation);
    case IR_PROMOTED:
        return is_unoptimised(compilation) && !compilation_keeps_variables(compilation);
    case IR_OPTIMISED:
        return !is_unoptimised(compilation);
    case IR_GIVEN:
        return compilation->options->facts;
    case IR_FACTS:
        return has_facts(compilation);
    case IR_COMMON:
        return has_facts(compilation) && alias_has_common(compilation);
    case IR_SANITIZED:
        return compilation->options->sanitize != 0;
    case IR_LARGE:
    case IR_LARGE_CHECKED:
        return !is_unoptimised(compilation) && compilation->large &&
               (compilation->options->sanitize != 0) == (condition == IR_LARGE_CHECKED);
    case IR_SMALL:
        return !is_unoptimised(compilation) && !compilation->large;
    default:
        return true;
    }
}

static void run_pass(struct compilation *compilation, const struct ir_pass *pass)
{
    if (pass->module) {
        pass->module(compilation);
    } else if (pass->function) {
        each_function(compilation, pass->function);
    } else {
        run_llvm_passes(compilation, pass->llvm);
    }
}

/* Sanitizer builds, which the tests run, verify after each pass. */
#ifdef __SANITIZE_ADDRESS__
#define VERIFIES_EACH true
#else
#define VERIFIES_EACH false
#endif

bool ir_passes_have(const char *name)
{
    bool has = false;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(passes); i++) {
        has |= strcmp(passes[i].name, name) == 0;
    }
    return has;
}

void ir_passes_print(const struct compilation *compilation)
{
    char *text = LLVMPrintModuleToString(compilation->module);

    fputs(text, compilation->dump);
    LLVMDisposeMessage(text);
}

void ir_passes_run(struct compilation *compilation)
{
    check_module(compilation);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(passes); i++) {
        if (!holds(compilation, passes[i].condition)) {
            continue;
        }
        run_pass(compilation, &passes[i]);
        if (compilation_dumps(compilation, passes[i].name)) {
            ir_passes_print(compilation);
        }
        if (VERIFIES_EACH) {
            check_module(compilation);
        }
    }
    check_module(compilation);
}
