/* SPDX-License-Identifier: MIT */
#include "compiler/kernel_image.h"

#include "compiler/analysis/bounds.h"
#include "compiler/analysis/ir.h"
#include "compiler/analysis/kernel_argument.h"
#include "compiler/analysis/launch_shape.h"
#include "compiler/analysis/work_item.h"
#include "compiler/base/const_data.h"
#include "compiler/base/kernel.h"
#include "compiler/debug/dwarf.h"
#include "compiler/irpass/any_work_group.h"
#include "compiler/irpass/lower_enqueue.h"
#include "compiler/irpass/sanitize/sanitize.h"
#include "ppu/child.h"
#include "ppu/macros.h"

#include <string.h>

struct tables {
    struct bytes kernels;
    struct bytes lines;
    struct bytes arguments;
    struct bytes formats;
    struct bytes addresses;
    struct bytes text;
    struct bytes debug;
};

/* ---- arguments ---- */

static uint8_t qualifiers(const char *text)
{
    static const struct {
        const char *name;
        uint8_t bit;
    } names[] = {
        { "const", PPU_ARGUMENT_CONST },
        { "restrict", PPU_ARGUMENT_RESTRICT },
        { "volatile", PPU_ARGUMENT_VOLATILE },
        { "pipe", PPU_ARGUMENT_PIPE },
    };
    uint8_t bits = 0;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(names); i++) {
        bits |= strstr(text, names[i].name) ? names[i].bit : 0;
    }
    return bits;
}

static uint8_t accesses(const char *text)
{
    bool both = strcmp(text, "read_write") == 0;

    return (both || strcmp(text, "read_only") == 0 ? PPU_ARGUMENT_READS : 0u) |
           (both || strcmp(text, "write_only") == 0 ? PPU_ARGUMENT_WRITES : 0u);
}

static void add_arguments(struct compilation *compilation, const struct kernel_info *kernel, struct tables *tables)
{
    for (uint32_t i = 0; i < kernel->argument_count; i++) {
        struct ppu_argument_entry entry = {
            .name =
                bytes_text(&tables->text, kernel_argument_text(compilation, kernel->function, "kernel_arg_name", i)),
            .type =
                bytes_text(&tables->text, kernel_argument_text(compilation, kernel->function, "kernel_arg_type", i)),
            .offset = kernel->arguments[i].offset,
            .bytes = kernel->arguments[i].bytes,
            .kind = kernel_argument_kind(compilation, kernel->function, i),
            .references = kernel->arguments[i].references.access,
            .element_log2 = kernel->arguments[i].references.element_log2,
            .reach = kernel->arguments[i].references.reach,
            .qualifiers = qualifiers(kernel_argument_text(compilation, kernel->function, "kernel_arg_type_qual", i)),
        };
        entry.qualifiers |= accesses(kernel_argument_text(compilation, kernel->function, "kernel_arg_access_qual", i));
        bytes_add(&tables->arguments, &entry, sizeof(entry));
    }
}

/* ---- kernels ---- */

/* Sizes that the source gives a kernel, as it spells them; nothing when it gives none. */
static void add_sizes(struct compilation *compilation, LLVMValueRef function, const char *kind, struct bytes *text)
{
    LLVMValueRef node =
        LLVMGetMetadata(function, LLVMGetMDKindIDInContext(compilation->llvm, kind, (unsigned)strlen(kind)));
    LLVMValueRef size[3];

    if (!node || LLVMGetMDNodeNumOperands(node) != 3) {
        return;
    }
    LLVMGetMDNodeOperands(node, size);
    bytes_print(text, "%s%s(%llu,%llu,%llu)", text->len > 0 ? " " : "", kind, LLVMConstIntGetZExtValue(size[0]),
                LLVMConstIntGetZExtValue(size[1]), LLVMConstIntGetZExtValue(size[2]));
}

/* OpenCL's name of a number's type; NULL: it has none. */
static const char *number_name(LLVMTypeRef type, bool is_signed)
{
    switch (LLVMGetTypeKind(type)) {
    case LLVMHalfTypeKind:
        return "half";
    case LLVMFloatTypeKind:
        return "float";
    case LLVMDoubleTypeKind:
        return "double";
    case LLVMIntegerTypeKind:
        break;
    default:
        return NULL;
    }
    switch (LLVMGetIntTypeWidth(type)) {
    case 8:
        return is_signed ? "char" : "uchar";
    case 16:
        return is_signed ? "short" : "ushort";
    case 32:
        return is_signed ? "int" : "uint";
    case 64:
        return is_signed ? "long" : "ulong";
    default:
        return NULL;
    }
}

/* The type that the source says its computations are in; the metadata is a value of it, and whether it is signed. */
static void add_type(struct compilation *compilation, LLVMValueRef function, struct bytes *text)
{
    static const char kind[] = "vec_type_hint";
    LLVMValueRef node = LLVMGetMetadata(function, LLVMGetMDKindIDInContext(compilation->llvm, kind, sizeof(kind) - 1));
    LLVMValueRef said[2];

    if (!node || LLVMGetMDNodeNumOperands(node) != 2) {
        return;
    }
    LLVMGetMDNodeOperands(node, said);
    LLVMTypeRef type = LLVMTypeOf(said[0]);
    bool vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    const char *name = number_name(vector ? LLVMGetElementType(type) : type, LLVMConstIntGetZExtValue(said[1]) != 0);
    if (name) {
        bytes_print(text, "%s%s(%s", text->len > 0 ? " " : "", kind, name);
        if (vector) {
            bytes_print(text, "%u", LLVMGetVectorSize(type));
        }
        bytes_print(text, ")");
    }
}

/* Its offset into the text; 0: the kernel has no attributes. */
static uint32_t add_attributes(struct compilation *compilation, LLVMValueRef function, struct tables *tables)
{
    struct bytes text = { .at = NULL };
    uint32_t offset = 0;

    add_sizes(compilation, function, "reqd_work_group_size", &text);
    add_sizes(compilation, function, "work_group_size_hint", &text);
    add_type(compilation, function, &text);
    bytes_add_zeros(&text, 1);
    if (text.len > 1 && !text.lost) {
        offset = bytes_text(&tables->text, (const char *)text.at);
    }
    tables->text.lost |= text.lost;
    bytes_free(&text);
    return offset;
}

static bool is_bounded(const struct compilation *compilation, const struct kernel_info *kernel)
{
    return kernel->implicit_at != 0 && sanitize_is_bounded(compilation, kernel->function);
}

static bool has_cells(const struct compilation *compilation, const struct kernel_info *kernel)
{
    return kernel->implicit_at != 0 && sanitize_has_cells(compilation, kernel->function);
}

static bool marks(const struct compilation *compilation, const struct kernel_info *kernel)
{
    return kernel->implicit_at != 0 && sanitize_marks(compilation, kernel->function);
}

/* Narrow arguments are read as the words they lie in. */
static uint32_t param_bytes(const struct kernel_info *kernel)
{
    const uint32_t word = sizeof(uint32_t);

    return kernel->implicit_at != 0
               ? kernel->implicit_at + (uint32_t)sizeof(struct ppu_implicit_args) + kernel->bounds_bytes
               : (kernel->explicit_bytes + word - 1) / word * word;
}

static uint32_t allowed(const struct kernel_info *kernel)
{
    const bool any = any_work_group_is_right(kernel->function) && kernel->shared_bytes == 0;

    return (any ? PPU_KERNEL_ANY_CTA : 0) | (work_item_sizes_are(kernel->function, "false") ? PPU_KERNEL_RAGGED : 0);
}

static uint32_t gained(struct compilation *compilation, const struct kernel_info *kernel)
{
    const bool straight = kernel->function_count == 0 && ir_new(compilation, kernel->function)->flow->loop_count == 0;

    return (shape_matters(kernel->function) ? PPU_KERNEL_GAINS_WORK_GROUP : 0) |
           (straight ? PPU_KERNEL_GAINS_LARGE_CTAS : 0) |
           (kernel->function_count == 0 && !kernel->loops_diverge ? PPU_KERNEL_GAINS_ROWS : 0) |
           (shape_has_wide_ids(kernel->function) ? PPU_KERNEL_GAINS_SMALL_IDS : 0);
}

static void add_kernel(struct compilation *compilation, const struct kernel_info *kernel, struct tables *tables)
{
    const uint32_t name = bytes_text(&tables->text, kernel->name); /* the first: no attributes lie at 0 */
    struct ppu_kernel_entry entry = {
        .name = name,
        .entry = kernel->entry,
        .vregs = (uint16_t)kernel->vregs,
        .shared_vregs = (uint16_t)kernel->shared_vregs,
        .wave = (uint8_t)compilation->wave,
        .assumes = (uint8_t)((bounds_small_ids(kernel->function) ? PPU_KERNEL_SMALL_IDS : 0) |
                             (is_bounded(compilation, kernel) ? PPU_KERNEL_BOUNDED : 0) |
                             (has_cells(compilation, kernel) ? PPU_KERNEL_CELLS : 0) |
                             (marks(compilation, kernel) ? PPU_KERNEL_MARKS : 0)),
        .flags = kernel->flags,
        .shared_bytes = kernel->shared_bytes,
        .local_bytes = kernel->local_bytes,
        .param_bytes = param_bytes(kernel),
        .token_count = (uint16_t)compilation->options->tokens,
        .cta = { kernel->cta[0], kernel->cta[1], kernel->cta[2] },
        .implicit_at = kernel->implicit_at,
        .argument_first = (uint32_t)(tables->arguments.len / sizeof(struct ppu_argument_entry)),
        .argument_count = kernel->argument_count,
        .attributes = add_attributes(compilation, kernel->function, tables),
        .gains = (uint16_t)gained(compilation, kernel),
        .allows = allowed(kernel),
    };

    if (!lower_enqueue_child(compilation, kernel->function)) { /* else it is for threads alone */
        bytes_add(&tables->kernels, &entry, sizeof(entry));
        add_arguments(compilation, kernel, tables);
    }
    for (uint32_t i = 0; i < kernel->line_count; i++) {
        struct ppu_line_entry line = { kernel->entry / PPU_INSN_BYTES + kernel->lines[i].insn, kernel->lines[i].line };
        bytes_add(&tables->lines, &line, sizeof(line));
    }
}

/* ---- kernels that threads enqueue ---- */

static struct ppu_child child_of(const struct compilation *compilation, const struct kernel_info *kernel)
{
    return (struct ppu_child){
        .tmd = {
            .head = { PPU_TMD_VERSION, sizeof(struct ppu_tmd) },
            .kind = PPU_TMD_GRID,
            .priority = PPU_PRIORITIES - 1, /* the channel's caps it */
            .flags = kernel->flags,
            .code_bytes = (uint32_t)compilation->code.len,
            .entry = kernel->entry,
            .vregs = (uint16_t)kernel->vregs,
            .shared_vregs = (uint16_t)kernel->shared_vregs,
            .wave = (uint8_t)compilation->wave,
            .token_count = (uint16_t)compilation->options->tokens,
            .shared_bytes = kernel->shared_bytes,
            .local_bytes = kernel->local_bytes,
            .cta = { 1, 1, 1 },
            .grid = { 1, 1, 1 },
            .param_bytes = param_bytes(kernel),
        },
        .implicit_at = kernel->implicit_at,
    };
}

/* Now that code and data have their sizes: fills in what is asked for by address. `data_at`: where data begins. */
static void write_children(struct compilation *compilation, uint32_t data_at)
{
    for (uint32_t i = 0; i < compilation->kernel_count; i++) {
        const struct kernel_info *kernel = &compilation->kernels[i];
        LLVMValueRef variable = lower_enqueue_child(compilation, kernel->function);
        for (uint32_t v = 0; variable && v < compilation->variable_count; v++) {
            if (compilation->variables[v].variable == variable && !compilation->code.lost) {
                struct ppu_child child = child_of(compilation, kernel);
                memcpy(compilation->code.at + data_at + compilation->variables[v].offset, &child, sizeof(child));
            }
        }
    }
}

/* Data goes behind the code; instructions that make addresses of it get its offset. Where it begins. */
static uint32_t join_data(struct compilation *compilation)
{
    if (compilation->kernel_count == 0) { /* an image has code, if nobody may run it */
        bytes_add_zeros(&compilation->code, PPU_INSN_BYTES);
    }
    if (compilation->data.len == 0) {
        return 0;
    }
    bytes_align(&compilation->code, compilation->data_alignment);
    for (uint32_t i = 0; i < compilation->fixup_count; i++) {
        const struct code_fixup *fixup = &compilation->fixups[i];
        uint32_t offset = (uint32_t)compilation->code.len + compilation->variables[fixup->variable].offset, value;
        uint8_t *at = compilation->code.at + (size_t)fixup->insn * PPU_INSN_BYTES + 4;
        memcpy(&value, at, sizeof(value));
        value += offset;
        memcpy(at, &value, sizeof(value));
    }
    uint32_t data_at = (uint32_t)compilation->code.len;
    bytes_add(&compilation->code, compilation->data.at, compilation->data.len);
    bytes_align(&compilation->code, PPU_INSN_BYTES);
    write_children(compilation, data_at);
    if (compilation->code.len > PPU_MAX_CODE) {
        compilation_fail(compilation, PPU_COMPILE_TOO_LARGE, "code and constant variables need more than %u bytes",
                         PPU_MAX_CODE);
    }
    return data_at;
}

/* Addresses that variables hold: in their place goes what the loader adds the address of a part of the program to. */
static void add_addresses(struct compilation *compilation, uint32_t data_at, struct bytes *table)
{
    for (uint32_t i = 0; i < compilation->address_count && !compilation->code.lost; i++) {
        const struct data_address *address = &compilation->addresses[i];
        bool constant = LLVMIsGlobalConstant(address->of);
        struct ppu_address_entry entry = {
            .at = address->written ? address->at : data_at + address->at,
            .in = address->written ? PPU_PROGRAM_VARIABLES : PPU_PROGRAM_CODE,
            .of = constant ? PPU_PROGRAM_CODE : PPU_PROGRAM_VARIABLES,
        };
        uint8_t *at = (address->written ? compilation->written_data.at : compilation->code.at) + entry.at;
        uint64_t value;
        memcpy(&value, at, sizeof(value));
        value += const_data_offset(compilation, address->of) + (constant ? data_at : 0);
        memcpy(at, &value, sizeof(value));
        bytes_add(table, &entry, sizeof(entry));
    }
}

static void write_all(struct compilation *compilation, struct tables *tables, struct bytes *image)
{
    struct ppu_program_header header = {
        .magic = PPU_PROGRAM_MAGIC,
        .head = { PPU_PROGRAM_VERSION, sizeof(header) },
        .isa_version = PPU_ISA_VERSION,
        .kernels = (uint32_t)(tables->kernels.len / sizeof(struct ppu_kernel_entry)),
        .lines = (uint32_t)(tables->lines.len / sizeof(struct ppu_line_entry)),
        .arguments = (uint32_t)(tables->arguments.len / sizeof(struct ppu_argument_entry)),
        .formats = compilation->format_count,
        .addresses = compilation->address_count,
        .source = bytes_text(&tables->text, compilation->source_name),
        .code_bytes = (uint32_t)compilation->code.len,
        .variable_bytes = (uint32_t)(compilation->written_data.len + compilation->zero_bytes),
        .zero_bytes = compilation->zero_bytes,
        .debug_bytes = (uint32_t)tables->debug.len,
    };

    header.text_bytes = (uint32_t)tables->text.len;
    bytes_add(image, &header, sizeof(header));
    bytes_add(image, tables->kernels.at, tables->kernels.len);
    bytes_add(image, tables->lines.at, tables->lines.len);
    bytes_add(image, tables->arguments.at, tables->arguments.len);
    bytes_add(image, tables->formats.at, tables->formats.len);
    bytes_add(image, tables->addresses.at, tables->addresses.len);
    bytes_add(image, tables->text.at, tables->text.len);
    bytes_align(image, PPU_PROGRAM_CODE_ALIGN);
    bytes_add(image, compilation->code.at, compilation->code.len);
    bytes_add(image, compilation->written_data.at, compilation->written_data.len);
    bytes_add(image, tables->debug.at, tables->debug.len);
    if (image->lost) {
        return;
    }
    header.image_bytes = (uint32_t)image->len;
    memcpy(image->at, &header, sizeof(header));
}

void kernel_image_write(struct compilation *compilation, struct bytes *image)
{
    struct tables tables = { .text = { .at = NULL } };

    uint32_t data_at = join_data(compilation);
    add_addresses(compilation, data_at, &tables.addresses);
    for (uint32_t i = 0; i < compilation->kernel_count; i++) {
        add_kernel(compilation, &compilation->kernels[i], &tables);
    }
    for (uint32_t i = 0; i < compilation->format_count; i++) {
        uint32_t offset = bytes_text(&tables.text, compilation->formats[i].text);
        bytes_add(&tables.formats, &offset, sizeof(offset));
    }
    if (compilation->options->debug != 0) {
        debug_info_write(compilation, data_at, &tables.debug);
    }
    write_all(compilation, &tables, image);
    image->lost |= tables.kernels.lost || tables.lines.lost || tables.arguments.lost || tables.formats.lost ||
                   tables.addresses.lost || tables.text.lost || tables.debug.lost || compilation->code.lost;
    bytes_free(&tables.kernels);
    bytes_free(&tables.lines);
    bytes_free(&tables.arguments);
    bytes_free(&tables.formats);
    bytes_free(&tables.addresses);
    bytes_free(&tables.text);
    bytes_free(&tables.debug);
}
