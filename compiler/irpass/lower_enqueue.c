/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/lower_enqueue.h"

#include "compiler/analysis/ir.h"
#include "compiler/base/enqueue_flag.h"
#include "compiler/irpass/kernel_wrapper.h"
#include "compiler/irpass/sanitize/race.h"
#include "compiler/irpass/sanitize/sanitize.h"
#include "ppu/child.h"
#include "ppu/macros.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

#define SPIR_KERNEL 76      /* calling convention of LLVM's enumeration */
#define MOST_CALLS 64u      /* of functions by functions that are looked through */
#define WAITS_FOR_PARENT 3u /* CLK_ENQUEUE_FLAGS_WAIT_KERNEL, _WAIT_WORK_GROUP */

/* ---- names ---- */

static const struct {
    const char *theirs, *ours;
} names[] = {
    { "_Z17get_default_queuev", "__ppu_default_queue" },
    { "_Z17create_user_eventv", "__ppu_create_user_event" },
    { "_Z21set_user_event_status12ocl_clkeventi", "__ppu_set_user_event_status" },
    { "_Z12retain_event12ocl_clkevent", "__ppu_retain_event" },
    { "_Z13release_event12ocl_clkevent", "__ppu_release_event" },
    { "_Z14is_valid_event12ocl_clkevent", "__ppu_is_valid_event" },
    { "_Z28capture_event_profiling_info12ocl_clkeventiPU3AS1v", "__ppu_capture_event" },
    { "_Z10ndrange_1Dm", "__ppu_range_1g" },
    { "_Z10ndrange_1Dmm", "__ppu_range_1gl" },
    { "_Z10ndrange_1Dmmm", "__ppu_range_1ogl" },
    { "_Z10ndrange_2DPKm", "__ppu_range_2g" },
    { "_Z10ndrange_2DPKmS0_", "__ppu_range_2gl" },
    { "_Z10ndrange_2DPKmS0_S0_", "__ppu_range_2ogl" },
    { "_Z10ndrange_3DPKm", "__ppu_range_3g" },
    { "_Z10ndrange_3DPKmS0_", "__ppu_range_3gl" },
    { "_Z10ndrange_3DPKmS0_S0_", "__ppu_range_3ogl" },
};

static void rename_functions(struct compilation *compilation)
{
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(names); i++) {
        LLVMValueRef function = LLVMGetNamedFunction(compilation->module, names[i].theirs);
        if (function && LLVMIsDeclaration(function)) {
            LLVMSetValueName2(function, names[i].ours, strlen(names[i].ours));
        }
    }
}

/* ---- kernels that are enqueued ---- */

LLVMValueRef lower_enqueue_child(const struct compilation *compilation, LLVMValueRef function)
{
    for (uint32_t i = 0; i < compilation->child_count; i++) {
        if (compilation->children[i].function == function) {
            return compilation->children[i].variable;
        }
    }
    return NULL;
}

/* Its value is known when all is compiled: LLVM must not look at what it has now. */
static LLVMValueRef child_of(struct compilation *compilation, LLVMValueRef function, const char *name)
{
    LLVMValueRef variable = lower_enqueue_child(compilation, function);

    if (variable) {
        return variable;
    }
    LLVMTypeRef word = LLVMInt64TypeInContext(compilation->llvm);
    LLVMTypeRef type = LLVMArrayType2(word, sizeof(struct ppu_child) / sizeof(uint64_t));
    variable = LLVMAddGlobalInAddressSpace(compilation->module, type, name, SPACE_CONSTANT);
    LLVMSetInitializer(variable, LLVMConstNull(type));
    LLVMSetGlobalConstant(variable, 1);
    LLVMSetExternallyInitialized(variable, 1);
    LLVMSetAlignment(variable, 16);
    compilation->children = arena_grow(&compilation->arena, compilation->children, sizeof(compilation->children[0]),
                                       compilation->child_count, &compilation->child_cap);
    compilation->children[compilation->child_count++] = (struct enqueued_child){ function, variable };
    return variable;
}

/* Kernels of the library's own that tasks are enqueued with, and their parameters. */
static const struct {
    const char *name, *child;
    uint32_t parameters;
} library_kernels[] = {
    { "__ppu_finish", "__ppu_finish_child", 2 },
    { "__ppu_unpark", "__ppu_unpark_child", 0 },
};
#define LIBRARY_KERNELS PPU_ARRAY_SIZE(library_kernels)

/* A declaration makes the linker take it. */
static void add_library_kernels(struct compilation *compilation)
{
    LLVMTypeRef parameters[2] = { LLVMPointerTypeInContext(compilation->llvm, SPACE_GLOBAL),
                                  LLVMInt32TypeInContext(compilation->llvm) };

    for (uint32_t i = 0; i < LIBRARY_KERNELS; i++) {
        LLVMTypeRef type =
            LLVMFunctionType(LLVMVoidTypeInContext(compilation->llvm), parameters, library_kernels[i].parameters, 0);
        LLVMValueRef function = LLVMAddFunction(compilation->module, library_kernels[i].name, type);
        LLVMSetFunctionCallConv(function, SPIR_KERNEL);
        child_of(compilation, function, library_kernels[i].child);
    }
}

bool lower_enqueue_has_children(const struct compilation *compilation)
{
    return compilation->child_count > LIBRARY_KERNELS;
}

void lower_enqueue_linked(struct compilation *compilation)
{
    for (uint32_t k = 0; k < LIBRARY_KERNELS; k++) {
        LLVMValueRef variable = LLVMGetNamedGlobal(compilation->module, library_kernels[k].child);
        for (uint32_t i = 0; i < compilation->child_count; i++) {
            if (compilation->children[i].variable == variable) {
                compilation->children[i].function = LLVMGetNamedFunction(compilation->module, library_kernels[k].name);
            }
        }
    }
}

/* ---- calls ---- */

/* Where operands of clang's functions are; NONE: the function has no such. */
#define NONE 99u
struct enqueue_function {
    const char *name;
    uint32_t events, kernel, locals;
};
static const struct enqueue_function enqueue_functions[] = {
    { "__enqueue_kernel_basic", NONE, 3, NONE },
    { "__enqueue_kernel_basic_events", 3, 6, NONE },
    { "__enqueue_kernel_varargs", NONE, 3, 5 },
    { "__enqueue_kernel_events_varargs", 3, 6, 8 },
};

/* What is asked about a kernel, and, where it is not the first operand, about a range before it. */
static const struct {
    const char *theirs, *ours;
    uint32_t kernel;
} queries[] = {
    { "__get_kernel_work_group_size_impl", "__ppu_child_max_work_group", 0 },
    { "__get_kernel_preferred_work_group_size_multiple_impl", "__ppu_child_work_group_multiple", 0 },
    { "__get_kernel_sub_group_count_for_ndrange_impl", "__ppu_child_sub_groups", 1 },
    { "__get_kernel_max_sub_group_size_for_ndrange_impl", "__ppu_child_sub_group_size", 1 },
};
#define MARKER "_Z14enqueue_marker9ocl_queuejPU3AS4K12ocl_clkeventPU3AS4S0_"

static const struct enqueue_function *enqueue_function_of(const char *name)
{
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(enqueue_functions); i++) {
        if (strcmp(enqueue_functions[i].name, name) == 0) {
            return &enqueue_functions[i];
        }
    }
    return NULL;
}

static LLVMValueRef without_cast(LLVMValueRef value)
{
    bool cast = ir_is_instruction(value, LLVMAddrSpaceCast) ||
                (LLVMIsAConstantExpr(value) && LLVMGetConstOpcode(value) == LLVMAddrSpaceCast);

    return cast ? LLVMGetOperand(value, 0) : value;
}

static LLVMValueRef kernel_of(struct compilation *compilation, LLVMValueRef call, uint32_t operand)
{
    LLVMValueRef function = without_cast(LLVMGetOperand(call, operand));

    if (!LLVMIsAFunction(function) || !ir_is_kernel(function)) {
        compilation_fail_value(compilation, "what is enqueued must be a block that is known:", call);
    }
    size_t len = 0;
    const char *name = LLVMGetValueName2(function, &len);
    char child[256];
    snprintf(child, sizeof(child), "%.200s.child", name);
    return child_of(compilation, function, child);
}

static LLVMTypeRef i32(struct compilation *compilation)
{
    return LLVMInt32TypeInContext(compilation->llvm);
}

static LLVMTypeRef pointer(struct compilation *compilation, uint32_t space)
{
    return LLVMPointerTypeInContext(compilation->llvm, space);
}

/* Calls a function of the library in place of the call. */
static void replace_call(struct compilation *compilation, LLVMValueRef call, const char *name, LLVMValueRef *operands,
                         uint32_t count)
{
    LLVMTypeRef types[16];
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(compilation->llvm);

    for (uint32_t i = 0; i < count; i++) {
        types[i] = LLVMTypeOf(operands[i]);
    }
    LLVMTypeRef type = LLVMFunctionType(i32(compilation), types, count, 0);
    LLVMValueRef function = LLVMGetNamedFunction(compilation->module, name);
    function = function ? function : LLVMAddFunction(compilation->module, name, type);
    LLVMPositionBuilderBefore(builder, call);
    LLVMReplaceAllUsesWith(call, LLVMBuildCall2(builder, type, function, operands, count, ""));
    LLVMInstructionEraseFromParent(call);
    LLVMDisposeBuilder(builder);
}

/* Counts the bytes that the block has captured. A block that captures nothing is a global. */
static uint32_t block_bytes(struct compilation *compilation, LLVMValueRef block, LLVMValueRef call)
{
    if (LLVMIsAGlobalVariable(block)) {
        return 0;
    }
    if (!ir_is_instruction(block, LLVMAlloca)) {
        compilation_fail_value(compilation, "what is enqueued must be a block that is known:", call);
    }
    return (uint32_t)LLVMABISizeOfType(compilation->layout, LLVMGetAllocatedType(block));
}

static LLVMValueRef with_reason(struct compilation *compilation, LLVMValueRef flags, LLVMValueRef before)
{
    const char *options = compilation->options->options;
    const char *found = options ? strstr(options, "-g") : NULL;
    bool says = found && (found[2] == 0 || found[2] == ' ') && (found == options || found[-1] == ' ');
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(compilation->llvm);

    LLVMPositionBuilderBefore(builder, before);
    LLVMValueRef with = LLVMBuildOr(builder, flags, LLVMConstInt(i32(compilation), says ? ENQUEUE_SAYS_WHY : 0, 0), "");
    LLVMDisposeBuilder(builder);
    return with;
}

/* Queues of other kinds than the language's, by the flag that names the kind. */
static const struct {
    uint32_t flag;
    const char *function, *with_events;
} other_queues[] = {
    { ENQUEUE_WORK, "__ppu_enqueue_work", "work for a work queue has no events:" },
    { ENQUEUE_ENTRY, "__ppu_enqueue_entry", "a block for a task queue has no events:" },
};
#define OTHER_QUEUES PPU_ARRAY_SIZE(other_queues)

/* OTHER_QUEUES: a queue of the language. */
static uint32_t other_queue_of(LLVMValueRef call)
{
    LLVMValueRef flags = LLVMGetOperand(call, 1);
    uint32_t kind = LLVMIsAConstantInt(flags) ? 0 : OTHER_QUEUES;

    while (kind < OTHER_QUEUES && (LLVMConstIntGetZExtValue(flags) & other_queues[kind].flag) == 0) {
        kind++;
    }
    return kind;
}

/* `operands` as of the library's other functions: without events. */
static void lower_other_queue(struct compilation *compilation, LLVMValueRef call,
                              const struct enqueue_function *function, LLVMValueRef *operands, uint32_t kind)
{
    LLVMValueRef kept[8];

    if (function->events != NONE) {
        compilation_fail_value(compilation, other_queues[kind].with_events, call);
    }
    for (uint32_t i = 0; i < 8; i++) {
        kept[i] = operands[i < 6 ? i : i + 3];
    }
    replace_call(compilation, call, other_queues[kind].function, kept, 8);
}

/* Whether kernels note what they do, and whether the list of events is not private. */
static const char *const enqueue_names[2][2] = { { "__ppu_enqueue_p", "__ppu_enqueue_g" },
                                                 { "__ppu_enqueue_checked_p", "__ppu_enqueue_checked_g" } };

/* When a work-item comes to the call, which checks know that are made later (race.h). */
static LLVMValueRef clock_now(struct compilation *compilation, LLVMValueRef call)
{
    LLVMTypeRef type = LLVMFunctionType(i32(compilation), NULL, 0, 0);
    LLVMValueRef function = LLVMGetNamedFunction(compilation->module, RACE_CLOCK);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(compilation->llvm);

    function = function ? function : LLVMAddFunction(compilation->module, RACE_CLOCK, type);
    LLVMPositionBuilderBefore(builder, call);
    LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(call));
    LLVMValueRef clock = LLVMBuildCall2(builder, type, function, NULL, 0, "");
    LLVMDisposeBuilder(builder);
    return clock;
}

static void lower_enqueue(struct compilation *compilation, LLVMValueRef call, const struct enqueue_function *function)
{
    LLVMValueRef block = without_cast(LLVMGetOperand(call, function->kernel + 1));
    LLVMValueRef none = LLVMConstInt(i32(compilation), 0, 0),
                 nowhere = LLVMConstNull(pointer(compilation, SPACE_PRIVATE));
    uint32_t bytes = block_bytes(compilation, block, call);
    LLVMValueRef operands[12] = {
        LLVMGetOperand(call, 0),
        with_reason(compilation, LLVMGetOperand(call, 1), call),
        LLVMGetOperand(call, 2),
        kernel_of(compilation, call, function->kernel),
        bytes != 0 ? block : nowhere,
        LLVMConstInt(i32(compilation), bytes, 0),
        none,
        nowhere,
        LLVMConstNull(pointer(compilation, SPACE_GENERIC)),
        none,
        nowhere,
    };
    bool generic = false;
    if (function->events != NONE) {
        operands[6] = LLVMGetOperand(call, function->events);
        operands[7] = LLVMGetOperand(call, function->events + 1);
        operands[8] = LLVMGetOperand(call, function->events + 2);
        LLVMValueRef list = without_cast(operands[7]);
        generic = !LLVMIsNull(operands[7]) && ir_pointer_space(list) != SPACE_PRIVATE;
        operands[7] = generic ? operands[7] : LLVMIsNull(operands[7]) ? nowhere : list;
    }
    if (function->locals != NONE) {
        operands[9] = LLVMGetOperand(call, function->locals);
        operands[10] = LLVMGetOperand(call, function->locals + 1);
    }
    const uint32_t kind = other_queue_of(call);
    if (kind < OTHER_QUEUES) {
        lower_other_queue(compilation, call, function, operands, kind);
        return;
    }
    const bool checked = sanitize_notes(compilation);
    operands[11] = checked ? clock_now(compilation, call) : none;
    replace_call(compilation, call, enqueue_names[checked][generic], operands, PPU_ARRAY_SIZE(operands));
}

static void lower_marker(struct compilation *compilation, LLVMValueRef call)
{
    LLVMValueRef operands[5] = { with_reason(compilation, LLVMConstInt(i32(compilation), 0, 0), call) };

    for (uint32_t i = 0; i < 4; i++) {
        operands[i + 1] = LLVMGetOperand(call, i);
    }
    replace_call(compilation, call, "__ppu_enqueue_marker", operands, 5);
}

static void lower_call(struct compilation *compilation, LLVMValueRef call)
{
    const char *name = ir_callee(call);
    const struct enqueue_function *function = enqueue_function_of(name);

    if (function) {
        lower_enqueue(compilation, call, function);
        return;
    }
    if (strcmp(name, MARKER) == 0) {
        lower_marker(compilation, call);
        return;
    }
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(queries); i++) {
        if (strcmp(name, queries[i].theirs) == 0) {
            const uint32_t at = queries[i].kernel;
            LLVMValueRef operands[] = { kernel_of(compilation, call, at), LLVMGetOperand(call, 0) };
            replace_call(compilation, call, queries[i].ours, operands, at == 0 ? 1 : 2);
            return;
        }
    }
}

static void each_call(struct compilation *compilation, LLVMValueRef function,
                      void (*visit)(struct compilation *compilation, LLVMValueRef call))
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (ir_is_instruction(i, LLVMCall)) {
                visit(compilation, i);
            }
        }
    }
}

/* Blocks hold the address of their function; they are called by its name only. */
static void drop_addresses(struct compilation *compilation)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module); f; f = LLVMGetNextFunction(f)) {
        for (LLVMUseRef use = LLVMGetFirstUse(f), next; use; use = next) {
            LLVMValueRef user = LLVMGetUser(use);
            next = LLVMGetNextUse(use);
            if (LLVMIsAConstantExpr(user)) {
                LLVMReplaceAllUsesWith(user, LLVMConstNull(LLVMTypeOf(user)));
            }
        }
    }
}

/* ---- begin and end of kernels ---- */

static bool may_wait(LLVMValueRef enqueue)
{
    LLVMValueRef flags = LLVMGetOperand(enqueue, 1);

    return !LLVMIsAConstantInt(flags) || (LLVMConstIntGetZExtValue(flags) & WAITS_FOR_PARENT) != 0;
}

/* True when it, or what it calls, enqueues what may have to wait for its end. */
static bool defers(LLVMValueRef function, uint32_t depth)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef called = ir_called(i);
            if (called && depth < MOST_CALLS && defers(called, depth + 1)) {
                return true;
            }
            if (ir_is_instruction(i, LLVMCall) && enqueue_function_of(ir_callee(i)) && may_wait(i)) {
                return true;
            }
        }
    }
    return false;
}

/* The kernel becomes a function and a kernel of its name, which calls the hook behind it. */
static void add_end(struct compilation *compilation, LLVMValueRef kernel)
{
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(compilation->llvm), NULL, 0, 0);
    LLVMValueRef hook = LLVMGetNamedFunction(compilation->module, "__ppu_kernel_end"),
                 outer = kernel_wrapper_split(compilation, kernel);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(compilation->llvm);

    hook = hook ? hook : LLVMAddFunction(compilation->module, "__ppu_kernel_end", type);
    LLVMPositionBuilderBefore(builder, LLVMGetBasicBlockTerminator(LLVMGetEntryBasicBlock(outer)));
    LLVMBuildCall2(builder, type, hook, NULL, 0, "");
    LLVMDisposeBuilder(builder);
    for (uint32_t i = 0; i < compilation->child_count; i++) {
        compilation->children[i].function =
            compilation->children[i].function == kernel ? outer : compilation->children[i].function;
    }
}

static void call_hook(struct compilation *compilation, LLVMBuilderRef builder, const char *name, LLVMValueRef block)
{
    LLVMTypeRef parameter = LLVMTypeOf(block);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(compilation->llvm), &parameter, 1, 0);
    LLVMValueRef hook = LLVMGetNamedFunction(compilation->module, name);

    hook = hook ? hook : LLVMAddFunction(compilation->module, name, type);
    LLVMBuildCall2(builder, type, hook, &block, 1, "");
}

static void call_hook_last(struct compilation *compilation, LLVMValueRef kernel, const char *name)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(compilation->llvm);

    LLVMPositionBuilderBefore(builder, LLVMGetBasicBlockTerminator(LLVMGetEntryBasicBlock(kernel)));
    call_hook(compilation, builder, name, LLVMGetParam(kernel, 0));
    LLVMDisposeBuilder(builder);
}

/* clang's kernel for a block calls the block's function and returns. */
static void add_times(struct compilation *compilation, LLVMValueRef kernel)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(compilation->llvm);

    LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(kernel)));
    call_hook(compilation, builder, "__ppu_child_begin", LLVMGetParam(kernel, 0));
    LLVMDisposeBuilder(builder);
    call_hook_last(compilation, kernel, "__ppu_child_end");
}

/* ---- all of it ---- */

static bool uses_blocks(const struct compilation *compilation)
{
    bool uses = false;

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(enqueue_functions); i++) {
        uses |= !!LLVMGetNamedFunction(compilation->module, enqueue_functions[i].name);
    }
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(queries); i++) {
        uses |= !!LLVMGetNamedFunction(compilation->module, queries[i].theirs);
    }
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(names); i++) {
        uses |= !!LLVMGetNamedFunction(compilation->module, names[i].theirs);
    }
    return uses || LLVMGetNamedFunction(compilation->module, MARKER);
}

static void each_function(struct compilation *compilation,
                          void (*visit)(struct compilation *compilation, LLVMValueRef function))
{
    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module); f; f = LLVMGetNextFunction(f)) {
        visit(compilation, f);
    }
}

static void lower_calls(struct compilation *compilation, LLVMValueRef function)
{
    each_call(compilation, function, lower_call);
}

/* Finds the kernels whose end must be known, before the calls that tell are replaced. */
static uint32_t find_deferring(struct compilation *compilation, LLVMValueRef **list)
{
    uint32_t count = 0;
    unsigned cap = 0;

    *list = NULL;
    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module); f; f = LLVMGetNextFunction(f)) {
        if (ir_is_kernel(f) && defers(f, 0)) {
            *list = arena_grow(&compilation->arena, *list, sizeof(LLVMValueRef), count, &cap);
            (*list)[count++] = f;
        }
    }
    return count;
}

void lower_enqueue_calls(struct compilation *compilation)
{
    LLVMValueRef *deferring;

    if (uses_blocks(compilation)) {
        rename_functions(compilation);
        uint32_t count = find_deferring(compilation, &deferring);
        add_library_kernels(compilation);
        each_function(compilation, lower_calls);
        for (uint32_t i = LIBRARY_KERNELS; i < compilation->child_count; i++) {
            add_times(compilation, compilation->children[i].function);
        }
        for (uint32_t i = 0; i < count; i++) {
            add_end(compilation, deferring[i]);
        }
        for (uint32_t i = LIBRARY_KERNELS; i < compilation->child_count; i++) {
            call_hook_last(compilation, compilation->children[i].function, "__ppu_child_give");
        }
    }
    drop_addresses(compilation);
}
