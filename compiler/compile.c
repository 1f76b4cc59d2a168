/* SPDX-License-Identifier: MIT */
/* Implements the calls of ppu_compiler.h: source to bitcode, and bitcode to an image. */
#include "compiler/analysis/ir.h"
#include "compiler/analysis/sub_group_size.h"
#include "compiler/base/compilation.h"
#include "compiler/base/compiled.h"
#include "compiler/frontend/clang.h"
#include "compiler/frontend/options.h"
#include "compiler/irpass/ir_passes.h"
#include "compiler/kernel_compile.h"
#include "compiler/kernel_image.h"
#include "compiler/mir/mir_passes.h"
#include "compiler/mir/pressure_svg.h"
#include "ppu/macros.h"

#include <llvm-c/BitReader.h>
#include <stdlib.h>
#include <string.h>

static const struct ppu_compile_options no_options;

const char *ppu_compile_status_text(enum ppu_compile_status status)
{
    static const char *const texts[] = {
        [PPU_COMPILE_OK] = "ok",
        [PPU_COMPILE_BAD_SOURCE] = "the source has errors",
        [PPU_COMPILE_BAD_OPTIONS] = "a build option is not allowed",
        [PPU_COMPILE_UNSUPPORTED] = "the source needs what the PPU or this compiler does not have",
        [PPU_COMPILE_TOO_LARGE] = "the program is larger than the PPU can run",
        [PPU_COMPILE_NO_TOOL] = "clang, which the compiler needs, cannot be run",
        [PPU_COMPILE_NO_MEMORY] = "out of memory",
    };

    return (size_t)status < PPU_ARRAY_SIZE(texts) ? texts[status] : "unknown";
}

void ppu_compiled_free(struct ppu_compiled *compiled)
{
    free(compiled->bytes);
    free(compiled->log);
    *compiled = (struct ppu_compiled){ .bytes = NULL };
}

enum ppu_compile_status ppu_compile_source(const char *source, size_t len_bytes,
                                           const struct ppu_compile_options *options, struct ppu_compiled *bitcode)
{
    struct bytes made = { .at = NULL }, log = { .at = NULL };
    enum ppu_compile_status status = clang_run(source, len_bytes, options ? options : &no_options, &made, &log);

    return compile_finish(status, &made, &log, bitcode);
}

enum ppu_compile_status ppu_compile_check_options(const char *options, struct ppu_compiled *checked)
{
    struct bytes made = { .at = NULL }, log = { .at = NULL };
    struct options words = { .count = 0 };
    enum ppu_compile_status status = options_read(&words, options, &log);

    options_free(&words);
    return compile_finish(status, &made, &log, checked);
}

enum ppu_compile_status ppu_compile_read_target(struct ppu_compile_options *options, struct ppu_compiled *checked)
{
    struct bytes made = { .at = NULL }, log = { .at = NULL };
    struct options words = { .count = 0 };
    enum ppu_compile_status status = options_read(&words, options->options, &log);

    if (status == PPU_COMPILE_OK) {
        options_apply(&words, options);
    }
    options_free(&words);
    return compile_finish(status, &made, &log, checked);
}

/* ---- bitcode to image ---- */

static void note_diagnostic(LLVMDiagnosticInfoRef info, void *arg)
{
    struct compilation *compilation = arg;
    char *text = LLVMGetDiagInfoDescription(info);

    if (LLVMGetDiagInfoSeverity(info) == LLVMDSError) {
        bytes_print(&compilation->log, "%s\n", text);
    }
    LLVMDisposeMessage(text);
}

static void read_bitcode(struct compilation *compilation, const void *bitcode, size_t len_bytes)
{
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(bitcode, len_bytes, compilation->source_name);
    LLVMBool failed = LLVMParseBitcodeInContext2(compilation->llvm, buffer, &compilation->module);

    LLVMDisposeMemoryBuffer(buffer);
    if (failed) {
        compilation->module = NULL;
        compilation_fail(compilation, PPU_COMPILE_BAD_SOURCE,
                         "read a module: it is none of LLVM %u; make it with clang-%u, which PPU_CLANG names",
                         LLVM_VERSION, LLVM_VERSION);
    }
}

static bool makes_private_generic(LLVMValueRef value)
{
    return ir_is_instruction(value, LLVMAddrSpaceCast) && ir_pointer_space(value) == SPACE_GENERIC &&
           ir_pointer_space(LLVMGetOperand(value, 0)) == SPACE_PRIVATE;
}

/* Generic pointers to private memory come from casts, wherever they are kept meanwhile. */
static bool private_escapes(const struct compilation *compilation)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module); f; f = LLVMGetNextFunction(f)) {
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                if (makes_private_generic(i)) {
                    return true;
                }
            }
        }
    }
    return false;
}

/* The curves of all kernels whose segments were looked for. */
static void draw_kernels(const struct compilation *compilation)
{
    FILE *file = compilation->options->subvector.svg;
    uint32_t drawn = 0;

    for (uint32_t k = 0; k < compilation->kernel_count; k++) {
        drawn += !!compilation->kernels[k].segments;
    }
    pressure_svg_begin(file, drawn);
    drawn = 0;
    for (uint32_t k = 0; k < compilation->kernel_count; k++) {
        if (compilation->kernels[k].segments) {
            pressure_svg(file, compilation->kernels[k].segments, compilation->kernels[k].name,
                         drawn++ * PRESSURE_SVG_HEIGHT);
        }
    }
    pressure_svg_end(file);
}

static void compile_kernels(struct compilation *compilation)
{
    uint32_t count = 0;

    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module); f; f = LLVMGetNextFunction(f)) {
        count += ir_is_kernel(f);
    }
    compilation->kernels = arena_new(&compilation->arena, struct kernel_info, count + 1);
    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module); f; f = LLVMGetNextFunction(f)) {
        if (ir_is_kernel(f)) {
            struct kernel_info *kernel = &compilation->kernels[compilation->kernel_count++];
            kernel_describe(compilation, kernel, f);
            kernel_compile(compilation, kernel);
        }
    }
}

static void compile_unit(struct compilation *compilation, const void *bitcode, size_t len_bytes, struct bytes *image)
{
    if (setjmp(compilation->no_memory) != 0) {
        compilation->status = PPU_COMPILE_NO_MEMORY;
        return;
    }
    if (setjmp(compilation->escape) != 0) {
        return;
    }
    read_bitcode(compilation, bitcode, len_bytes);
    sub_group_size_choose(compilation);
    ir_passes_run(compilation);
    if (compilation_dumps(compilation, "ir")) {
        ir_passes_print(compilation);
    }
    LLVMSetIsNewDbgInfoFormat(compilation->module, false); /* as calls, which LLVM-C has */
    compilation->private_escapes = private_escapes(compilation);
    compile_kernels(compilation);
    if (compilation->options->subvector.svg) {
        draw_kernels(compilation);
    }
    kernel_image_write(compilation, image);
}

bool ppu_compile_can_dump(const char *name)
{
    return strcmp(name, "ir") == 0 || strcmp(name, "flow") == 0 || strcmp(name, "stats") == 0 || ir_passes_have(name) ||
           mir_passes_have(name);
}

/* The first name of a list that is none of a pass, or of what is printed besides; NULL: there is none. */
static const char *unknown_dump(const char *names, size_t *len)
{
    char name[32];

    for (; names && *names != 0; names += *len + (names[*len] == ',')) {
        *len = strcspn(names, ",");
        snprintf(name, sizeof(name), "%.*s", (int)*len, names);
        if (*len >= sizeof(name) || !ppu_compile_can_dump(name)) {
            return names;
        }
    }
    return NULL;
}

/* Takes what build options say of the machine code. False: the log says which one is wrong. */
static bool settle_options(struct compilation *compilation)
{
    struct options words = { .count = 0 };

    compilation->status = options_read(&words, compilation->settled.options, &compilation->log);
    if (compilation->status == PPU_COMPILE_OK) {
        compilation->log.len = 0; /* whoever read the source has told of the others */
        options_apply(&words, &compilation->settled);
    }
    options_free(&words);
    compilation->wave = compilation->options->wave != 0 ? compilation->options->wave : PPU_LANES;
    return compilation->status == PPU_COMPILE_OK;
}

/* False: the log says which option is wrong. */
static bool check_options(struct compilation *compilation)
{
    const struct ppu_compile_subvector *subvector = &compilation->options->subvector;
    size_t len = 0;
    const char *unknown = unknown_dump(compilation->options->dump, &len);

    if (unknown) {
        bytes_print(&compilation->log, "error: dump: no pass is called '%.*s'\n", (int)len, unknown);
        compilation->status = PPU_COMPILE_BAD_OPTIONS;
    } else if (compilation->wave != 32 && compilation->wave != 64 && compilation->wave != 128) {
        bytes_print(&compilation->log, "error: a wave has 32, 64 or 128 threads, not %u\n", compilation->wave);
        compilation->status = PPU_COMPILE_BAD_OPTIONS;
    } else if (subvector->no_mode && (subvector->form == PPU_SEGMENTS_ENTER || subvector->form == PPU_SEGMENTS_MAY)) {
        bytes_print(&compilation->log,
                    "error: segments of the forms 'enter' and 'may' need sub-vector mode, which the device has not\n");
        compilation->status = PPU_COMPILE_BAD_OPTIONS;
    } else if (subvector->inverted && subvector->form != PPU_SEGMENTS_ENTER) {
        bytes_print(&compilation->log,
                    "error: tasks that start in sub-vector mode need segments of the form 'enter'\n");
        compilation->status = PPU_COMPILE_BAD_OPTIONS;
    }
    return compilation->status == PPU_COMPILE_OK;
}

enum ppu_compile_status ppu_compile_bitcode(const void *bitcode, size_t len_bytes,
                                            const struct ppu_compile_options *options, struct ppu_compiled *image)
{
    struct compilation *compilation = calloc(1, sizeof(*compilation));
    struct bytes made = { .at = NULL }, log = { .at = NULL };
    enum ppu_compile_status status = PPU_COMPILE_NO_MEMORY;

    if (!compilation) {
        return compile_finish(status, &made, &log, image);
    }
    compilation->settled = options ? *options : no_options;
    compilation->options = &compilation->settled;
    compilation->arena.no_memory = &compilation->no_memory;
    compilation->dump = compilation->options->dump_file ? compilation->options->dump_file : stdout;
    compilation->source_name = compilation->options->name ? compilation->options->name : "kernel.cl";
    if (settle_options(compilation) && check_options(compilation)) {
        compilation->llvm = LLVMContextCreate();
        LLVMContextSetDiagnosticHandler(compilation->llvm, note_diagnostic, compilation);
        compile_unit(compilation, bitcode, len_bytes, &made);
        if (compilation->module) {
            LLVMDisposeModule(compilation->module);
        }
        LLVMContextDispose(compilation->llvm);
    }
    status = compile_finish(compilation->status, &made, &compilation->log, image);
    arena_free(&compilation->arena);
    bytes_free(&compilation->code);
    bytes_free(&compilation->data);
    bytes_free(&compilation->written_data);
    free(compilation);
    return status;
}

enum ppu_compile_status ppu_compile(const char *source, size_t len_bytes, const struct ppu_compile_options *options,
                                    struct ppu_compiled *image)
{
    struct ppu_compiled bitcode;
    enum ppu_compile_status status = ppu_compile_source(source, len_bytes, options, &bitcode);

    if (status != PPU_COMPILE_OK) {
        *image = bitcode;
        return status;
    }
    status = ppu_compile_bitcode(bitcode.bytes, bitcode.len_bytes, options, image);
    if (status == PPU_COMPILE_OK && bitcode.log[0] != 0) { /* warnings */
        free(image->log);
        image->log = bitcode.log;
        bitcode.log = NULL;
    }
    ppu_compiled_free(&bitcode);
    return status;
}
