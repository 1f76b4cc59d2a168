/* SPDX-License-Identifier: MIT */
#include "compiler/kernel_compile.h"
#include "compiler/analysis/work_group_size.h"

#include "compiler/analysis/access_summary.h"
#include "compiler/analysis/ir.h"
#include "compiler/analysis/kernel_argument.h"
#include "compiler/irpass/lower_enqueue.h"
#include "compiler/irpass/sanitize/sanitize.h"
#include "compiler/isel/select.h"
#include "compiler/mir/emit.h"
#include "compiler/mir/functions.h"
#include "compiler/mir/mir_passes.h"
#include "compiler/mir/stats.h"
#include "compiler/mir/subvector/insert.h"
#include "ppu/macros.h"
#include "ppu/sanitizer.h"

#include <string.h>

#define BEHIND_ARGUMENTS (sizeof(struct ppu_implicit_args) + 16)
_Static_assert(BEHIND_ARGUMENTS + PPU_SANITIZER_BOUNDED * sizeof(struct ppu_sanitizer_bounds) < PPU_MAX_PARAM / 8 * 7,
               "what lies behind the arguments leaves them room");

/* ---- description ---- */

static LLVMTypeRef byval_type(LLVMValueRef function, uint32_t argument)
{
    LLVMAttributeRef attribute =
        LLVMGetEnumAttributeAtIndex(function, argument + 1, LLVMGetEnumAttributeKindForName("byval", 5));

    return attribute ? LLVMGetTypeAttributeValue(attribute) : NULL;
}

/* Bytes of the parameters that what the launcher puts behind the arguments leaves. */
static uint64_t most_arguments(const struct kernel_info *kernel)
{
    return PPU_MAX_PARAM - (BEHIND_ARGUMENTS + kernel->bounds_bytes);
}

static LLVMTypeRef argument_type(const struct kernel_info *kernel, uint32_t i)
{
    LLVMTypeRef byval = byval_type(kernel->function, i);

    return byval ? byval : LLVMTypeOf(LLVMGetParam(kernel->function, i));
}

/* The end of all arguments when they lie one behind the other. */
static uint64_t joined_end(const struct compilation *compilation, const struct kernel_info *kernel)
{
    uint64_t at = 0;

    for (uint32_t i = 0; i < kernel->argument_count; i++) {
        LLVMTypeRef type = argument_type(kernel, i);
        at = ppu_align_up64(at, LLVMABIAlignmentOfType(compilation->layout, type)) +
             LLVMABISizeOfType(compilation->layout, type);
    }
    return at;
}

/* Where the next argument in the parameters, and the next one outside, may begin. */
struct argument_ends {
    uint64_t here, outside, most; /* `most`: where those in the parameters end at the latest */
};

static uint64_t put_argument(struct compilation *compilation, const struct kernel_info *kernel, uint32_t i,
                             struct argument_ends *ends)
{
    LLVMTypeRef type = argument_type(kernel, i);
    uint64_t bytes = LLVMABISizeOfType(compilation->layout, type);
    uint64_t align = LLVMABIAlignmentOfType(compilation->layout, type);
    bool here = (!kernel->has_block || !byval_type(kernel->function, i)) && bytes <= ends->most &&
                ppu_align_up64(ends->here, align) <= ends->most - bytes;
    uint64_t *end = here ? &ends->here : &ends->outside;
    uint64_t at = ppu_align_up64(*end, align);

    if (bytes > PPU_MAX_OBJECT || at + bytes > (uint64_t)PPU_MAX_PARAM + PPU_MAX_OBJECT) {
        compilation_fail(compilation, PPU_COMPILE_TOO_LARGE, "kernel '%s' has more than %u bytes of arguments",
                         kernel->name, PPU_MAX_OBJECT);
    }
    *end = at + bytes;
    return at;
}

static bool is_integer(const struct kernel_info *kernel, uint32_t i)
{
    return LLVMGetTypeKind(argument_type(kernel, i)) == LLVMIntegerTypeKind;
}

/* What is known of the kernel's code where it has arguments that are integers; else NULL. */
static struct ir *ir_for_integers(struct compilation *compilation, const struct kernel_info *kernel)
{
    uint32_t i = 0;

    while (i < kernel->argument_count && !is_integer(kernel, i)) {
        i++;
    }
    return i < kernel->argument_count ? ir_new(compilation, kernel->function) : NULL;
}

static struct access_summary summary_of(struct compilation *compilation, const struct kernel_info *kernel,
                                        const struct ir *ir, uint32_t i)
{
    LLVMValueRef argument = LLVMGetParam(kernel->function, i);
    struct access_summary references = { .access = 0 };

    if (LLVMGetTypeKind(argument_type(kernel, i)) == LLVMPointerTypeKind && !byval_type(kernel->function, i)) {
        references = access_summary_of(compilation, argument);
    } else if (is_integer(kernel, i)) {
        references.access = access_summary_of_value(ir, argument);
    }
    return references;
}

/* Where the parameters have no room for all, structures by value lie outside, and so does what still has none. */
static void lay_out_arguments(struct compilation *compilation, struct kernel_info *kernel)
{
    kernel->argument_count = LLVMCountParams(kernel->function);
    kernel->bounds_bytes =
        sanitize_is_bounded(compilation, kernel->function)
            ? kernel_argument_bounds(compilation, kernel->function) * (uint32_t)sizeof(struct ppu_sanitizer_bounds)
            : 0;
    for (uint32_t i = 0; i < kernel->argument_count; i++) {
        if (LLVMGetTypeKind(argument_type(kernel, i)) == LLVMTargetExtTypeKind) {
            compilation_fail(compilation, PPU_COMPILE_UNSUPPORTED,
                             "kernel '%s' takes an image, a sampler or the like, which is not supported here",
                             kernel->name);
        }
    }
    struct argument_ends ends = { 0, PPU_MAX_PARAM, most_arguments(kernel) };
    kernel->has_block = joined_end(compilation, kernel) > ends.most;
    ends.most -= kernel->has_block ? sizeof(uint64_t) : 0;
    kernel->arguments = arena_new(&compilation->arena, struct kernel_argument, kernel->argument_count + 1);
    const struct ir *ir = ir_for_integers(compilation, kernel);
    for (uint32_t i = 0; i < kernel->argument_count; i++) {
        uint32_t at = (uint32_t)put_argument(compilation, kernel, i, &ends);
        uint64_t bytes = LLVMABISizeOfType(compilation->layout, argument_type(kernel, i));
        kernel->arguments[i] = (struct kernel_argument){ at, (uint32_t)bytes, summary_of(compilation, kernel, ir, i) };
    }
    kernel->explicit_bytes = (uint32_t)ends.here;
    if (kernel->has_block) {
        kernel->implicit_at = ppu_align_up(kernel->explicit_bytes, PPU_IMPLICIT_ALIGN) + (uint32_t)sizeof(uint64_t);
        kernel->explicit_bytes = kernel->implicit_at;
    }
}

static void read_work_group_size(struct compilation *compilation, struct kernel_info *kernel)
{
    uint64_t threads = 1;

    if (!work_group_size_required(compilation, kernel->function, kernel->cta)) {
        return;
    }
    for (uint32_t d = 0; d < CTA_DIMENSIONS; d++) {
        threads *= kernel->cta[d];
    }
    if (threads == 0 || threads > PPU_MAX_CTA_THREADS) {
        compilation_fail(compilation, PPU_COMPILE_TOO_LARGE,
                         "kernel '%s' requires work-groups of %u x %u x %u; at most %u work-items are possible",
                         kernel->name, kernel->cta[0], kernel->cta[1], kernel->cta[2], PPU_MAX_CTA_THREADS);
    }
}

void kernel_describe(struct compilation *compilation, struct kernel_info *kernel, LLVMValueRef function)
{
    size_t len;

    kernel->function = function;
    kernel->name = LLVMGetValueName2(function, &len);
    lay_out_arguments(compilation, kernel);
    read_work_group_size(compilation, kernel);
}

/* ---- code ---- */

/* `function`: NULL for the kernel itself. */
static struct mir *machine_code(struct compilation *compilation, struct kernel_info *kernel,
                                const struct function *function, struct ir *ir, bool segments)
{
    const struct mir_input input = { compilation, kernel, function, ir, segments, select_function };

    return mir_passes_run(&input);
}

/* End of what the function has in local memory. */
static uint32_t frame_end(const struct mir *mir)
{
    uint32_t end = ppu_align_up(mir->local_bytes, 16);

    return mir->spill_bytes != 0 ? end + 16 + ppu_align_up(mir->spill_bytes, 16) : end;
}

static void note_clobbers(const struct kernel_info *kernel, const struct mir *mir, uint16_t clobbers[MIR_CLASSES])
{
    for (uint32_t c = 0; c < MIR_CLASSES; c++) {
        clobbers[c] = (uint16_t)mir->used[c];
    }
    clobbers[MIR_VECTOR] += clobbers[MIR_VECTOR] == 0; /* the first holds the address to return to */
    for (uint32_t b = 0; b < mir->flow->count; b++) {
        for (uint32_t i = 0; i < mir->blocks[b].count; i++) {
            uint32_t callee = mir->blocks[b].insns[i].callee;
            for (uint32_t c = 0; callee != 0 && c < MIR_CLASSES; c++) {
                uint16_t theirs = kernel->functions[callee - 1].clobbers[c];
                clobbers[c] = PPU_MAX(theirs, clobbers[c]);
            }
        }
    }
}

static uint16_t needed_flag(const struct ppu_insn *code)
{
    switch (code->op) {
    case PPU_OP_CWAIT:
        return PPU_TMD_MAY_WAIT | PPU_TMD_CTA_GROUPS;
    case PPU_OP_TSTART:
        return PPU_TMD_LAUNCH;
    case PPU_OP_RDSR: /* only tasks that may launch have a record in their nest */
        return code->ra == PPU_SR_NEST_LO ? PPU_TMD_LAUNCH : 0;
    default:
        return 0;
    }
}

/* Finds what the launch must allow: a wait or a launch anywhere in the code may be reached. */
static uint16_t needed_flags(const struct mir *mir)
{
    uint16_t flags = 0;

    for (uint32_t b = 0; b < mir->flow->count; b++) {
        for (uint32_t i = 0; i < mir->blocks[b].count; i++) {
            flags |= needed_flag(&mir->blocks[b].insns[i].code);
        }
    }
    return flags;
}

static void compile_functions(struct compilation *compilation, struct kernel_info *kernel)
{
    function_find_all(compilation, kernel);
    for (uint32_t i = 0; i < kernel->function_count; i++) {
        struct function *function = &kernel->functions[i];
        kernel->local_begin = function_lay_out(compilation, function, function_callees_end(kernel, function->function));
        function->mir = machine_code(compilation, kernel, function, ir_new(compilation, function->function), false);
        note_clobbers(kernel, function->mir, function->clobbers);
        kernel->flags |= needed_flags(function->mir);
        function->frame_end = frame_end(function->mir);
    }
    kernel->local_begin = function_callees_end(kernel, kernel->function);
}

static uint32_t footprint(const struct compilation *compilation, const struct mir *mir)
{
    return segment_footprint(subvector_parts(compilation), mir->used[MIR_VECTOR] - mir->shared, mir->shared);
}

/* NULL: segments need more registers than there are, which says nothing about the kernel without them. */
static struct mir *try_segments(struct compilation *compilation, struct kernel_info *kernel, struct ir *ir)
{
    const size_t log_bytes = compilation->log.len;
    struct mir *volatile mir = NULL;
    jmp_buf outer;

    memcpy(&outer, &compilation->escape, sizeof(outer));
    if (setjmp(compilation->escape) == 0) {
        mir = machine_code(compilation, kernel, NULL, ir, true);
    } else {
        compilation->log.len = log_bytes;
        compilation->status = PPU_COMPILE_OK;
    }
    memcpy(&compilation->escape, &outer, sizeof(outer));
    return mir;
}

/* True when the threshold holds whether or not it saves registers. */
static bool is_told(enum ppu_subvector_threshold kind)
{
    return kind == PPU_THRESHOLD_REGISTERS || kind == PPU_THRESHOLD_PERCENT;
}

/* With the segments that were asked for, unless sharing registers in them takes no fewer than going without. */
static struct mir *compile_graph(struct compilation *compilation, struct kernel_info *kernel, struct ir *ir)
{
    if (!subvector_wanted(compilation) || lower_enqueue_child(compilation, kernel->function)) {
        return machine_code(compilation, kernel, NULL, ir, false);
    }
    const struct ppu_compile_subvector *options = &compilation->options->subvector;
    struct mir *plain = NULL;
    if (options->threshold_kind == PPU_THRESHOLD_DEVICE) {
        plain = machine_code(compilation, kernel, NULL, ir, false);
        if (plain->used[MIR_VECTOR] <= options->threshold) {
            return plain; /* as most kernels: nothing of it can be above the threshold */
        }
    }
    struct mir *mir = try_segments(compilation, kernel, ir);
    if (!mir) {
        return plain ? plain : machine_code(compilation, kernel, NULL, ir, false);
    }
    if (mir->segments->chosen.count != 0 && !subvector_shares(options->form)) {
        mir->plain_vregs = mir->used[MIR_VECTOR];
        return mir;
    }
    plain = plain ? plain : machine_code(compilation, kernel, NULL, ir, false);
    plain->segments = mir->segments;
    if (mir->segments->chosen.count != 0 &&
        (footprint(compilation, mir) < footprint(compilation, plain) || is_told(options->threshold_kind))) {
        mir->plain_vregs = plain->used[MIR_VECTOR];
        return mir;
    }
    plain->segments->chosen.count = 0;
    plain->segments->estimate.more = 0;
    plain->plain_vregs = plain->used[MIR_VECTOR];
    return plain;
}

void kernel_compile(struct compilation *compilation, struct kernel_info *kernel)
{
    uint16_t clobbers[MIR_CLASSES];

    compile_functions(compilation, kernel);
    struct ir *const ir = ir_new(compilation, kernel->function);
    struct mir *mir = compile_graph(compilation, kernel, ir);
    kernel->loops_diverge = ir->flow->loops_diverge;
    kernel->local_bytes = frame_end(mir);
    if (kernel->local_bytes > PPU_MAX_LOCAL) {
        compilation_fail(compilation, PPU_COMPILE_TOO_LARGE,
                         "kernel '%s' needs %u bytes of private memory; %u are possible", kernel->name,
                         kernel->local_bytes, PPU_MAX_LOCAL);
    }
    kernel->flags |= needed_flags(mir);
    note_clobbers(kernel, mir, clobbers);
    kernel->segments = mir->segments;
    kernel->shared_vregs = mir->shared;
    kernel->vregs = clobbers[MIR_VECTOR] - mir->shared;
    if (mir->shared != 0 && compilation->options->subvector.form == PPU_SEGMENTS_MAY) {
        kernel->flags |= PPU_TMD_MAY_SHARE;
    }
    if (mir->entry != MIR_ENTRY_TOGETHER) {
        kernel->flags |= PPU_TMD_SUBVECTOR;
    }
    emit_kernel(compilation, kernel, mir);
    if (compilation_dumps(compilation, "stats")) {
        stats_print(compilation, kernel, mir);
    }
}
