/* SPDX-License-Identifier: MIT */
#include "compiler/debug/dwarf.h"

#include "compiler/base/kernel.h"
#include "compiler/debug/dwarf_unit.h"
#include "compiler/debug/elf_file.h"
#include "compiler/debug/metadata.h"
#include "compiler/debug/scope.h"
#include "compiler/debug/section.h"
#include "ppu/isa.h"
#include "ppu/macros.h"

#include <dwarf.h>
#include <string.h>

#define DWARF_VERSION 5u
#define PRODUCER "PPU compiler"

/* ---- ranges ---- */

static void begin_ranges(struct dwarf_unit *unit)
{
    section_u32(&unit->ranges, 0);
    section_u16(&unit->ranges, DWARF_VERSION);
    section_u8(&unit->ranges, sizeof(uint64_t));
    section_u8(&unit->ranges, 0);
    section_u32(&unit->ranges, 0); /* offsets: lists are named by where they lie */
}

/* Refers to the ranges of a scope. `begin`: the kernel's first instruction. */
static void put_ranges(struct dwarf_unit *unit, const struct scope *scope, uint32_t begin)
{
    section_u32(&unit->info, (uint32_t)unit->ranges.len);
    for (uint32_t i = 0; i < scope->range_count; i++) {
        section_u8(&unit->ranges, DW_RLE_start_length);
        section_u64(&unit->ranges, (uint64_t)(begin + scope->ranges[i].first) * PPU_INSN_BYTES);
        section_uleb(&unit->ranges, (uint64_t)(scope->ranges[i].end - scope->ranges[i].first) * PPU_INSN_BYTES);
    }
    section_u8(&unit->ranges, DW_RLE_end_of_list);
}

/* ---- variables ---- */

static void put_source(struct dwarf_unit *unit, const char *name, LLVMMetadataRef file, uint32_t line)
{
    unit_string(unit, name);
    section_uleb(&unit->info, unit_file(unit, file));
    section_uleb(&unit->info, line);
}

static void put_address(struct dwarf_unit *unit, uint64_t offset)
{
    section_uleb(&unit->info, 1 + sizeof(offset));
    section_u8(&unit->info, DW_OP_addr);
    section_u64(&unit->info, offset);
}

static void put_location(struct dwarf_unit *unit, enum ppu_debug_space space, uint64_t offset)
{
    section_uleb(&unit->info, space);
    put_address(unit, offset);
}

static void put_variable(struct dwarf_unit *unit, LLVMMetadataRef variable, enum dwarf_shape shape)
{
    unit_begin(unit, shape);
    put_source(unit, metadata_text(unit->compilation, variable, METADATA_NAME_OF_VARIABLE),
               LLVMDIVariableGetFile(variable), LLVMDIVariableGetLine(variable));
    unit_refer(unit, metadata_operand(unit->compilation, variable, METADATA_TYPE_OF_VARIABLE), false);
}

static void put_local(struct dwarf_unit *unit, const struct debug_variable *variable)
{
    bool is_parameter = *metadata_field(unit->compilation, variable->variable, "arg") != 0;

    switch (variable->where) {
    case DEBUG_MEMORY:
        put_variable(unit, variable->variable, is_parameter ? SHAPE_PARAMETER : SHAPE_VARIABLE);
        put_location(unit, variable->space, variable->value);
        break;
    case DEBUG_CONSTANT:
        put_variable(unit, variable->variable, is_parameter ? SHAPE_CONSTANT_PARAMETER : SHAPE_CONSTANT_VARIABLE);
        section_u64(&unit->info, variable->value);
        break;
    default:
        put_variable(unit, variable->variable, is_parameter ? SHAPE_LOST_PARAMETER : SHAPE_LOST_VARIABLE);
    }
}

/* What clang says of a variable of the program: DIGlobalVariable; NULL: nothing. */
static LLVMMetadataRef described(LLVMValueRef global)
{
    size_t count = 0;
    LLVMValueMetadataEntry *entries = LLVMGlobalCopyAllMetadata(global, &count);
    LLVMMetadataRef variable = NULL;

    for (unsigned i = 0; i < count && !variable; i++) {
        LLVMMetadataRef node = LLVMValueMetadataEntriesGetMetadata(entries, i);
        if (LLVMGetMetadataKind(node) == LLVMDIGlobalVariableExpressionMetadataKind) {
            variable = LLVMDIGlobalVariableExpressionGetVariable(node);
        }
    }
    LLVMDisposeValueMetadataEntries(entries);
    return variable;
}

static void put_globals(struct dwarf_unit *unit, const struct data_symbol *symbols, uint32_t count,
                        enum ppu_debug_space space, uint32_t base)
{
    for (uint32_t i = 0; i < count; i++) {
        LLVMMetadataRef variable = described(symbols[i].variable);
        if (variable) {
            put_variable(unit, variable, SHAPE_VARIABLE);
            put_location(unit, space, (uint64_t)base + symbols[i].offset);
        }
    }
}

/* ---- functions ---- */

struct function_scopes {
    struct scopes scopes;
    const struct debug_body *body;
    uint32_t begin; /* the kernel's first instruction */
};

static void put_locals(struct dwarf_unit *unit, struct function_scopes *function, uint32_t number)
{
    const struct debug_variables *variables = function->body->variables;

    for (uint32_t i = 0; i < variables->count; i++) {
        const struct debug_variable *variable = &variables->variable[i];
        LLVMMetadataRef scope = LLVMDIVariableGetScope(variable->variable);
        if (scope_find(&function->scopes, scope, variable->inlined_at) == number) {
            put_local(unit, variable);
        }
    }
}

static void open_scope(struct dwarf_unit *unit, const struct function_scopes *function, const struct scope *scope)
{
    if (!scope_is_function(scope->node)) {
        unit_begin(unit, SHAPE_BLOCK);
        put_ranges(unit, scope, function->begin);
        return;
    }
    LLVMMetadataRef caller = LLVMDILocationGetScope(scope->inlined_at);
    unit_begin(unit, SHAPE_INLINED);
    unit_refer(unit, scope->node, true);
    put_ranges(unit, scope, function->begin);
    section_uleb(&unit->info, unit_file(unit, LLVMDIScopeGetFile(caller)));
    section_uleb(&unit->info, LLVMDILocationGetLine(scope->inlined_at));
}

/* Scopes inside of the function, each before those inside of it. */
static void put_scopes(struct dwarf_unit *unit, struct function_scopes *function)
{
    const struct scope *const scopes = function->scopes.scope;
    uint32_t number = scopes[SCOPE_ROOT].child;

    while (number != SCOPE_NONE) {
        open_scope(unit, function, &scopes[number]);
        put_locals(unit, function, number);
        if (scopes[number].child != SCOPE_NONE) {
            number = scopes[number].child;
            continue;
        }
        unit_end(unit);
        while (scopes[number].next == SCOPE_NONE && scopes[number].parent != SCOPE_ROOT) {
            number = scopes[number].parent;
            unit_end(unit);
        }
        number = scopes[number].next;
    }
}

static void put_function(struct dwarf_unit *unit, const struct kernel_info *kernel, const struct debug_body *body)
{
    struct function_scopes function = { .body = body, .begin = kernel->entry / PPU_INSN_BYTES };
    bool is_kernel = body->function == kernel->function;
    LLVMMetadataRef node = LLVMGetSubprogram(body->function);
    size_t len;

    scopes_make(&function.scopes, unit->compilation, kernel->debug, body);
    unit_begin(unit, is_kernel ? SHAPE_KERNEL : SHAPE_FUNCTION);
    put_source(unit,
               node ? metadata_text(unit->compilation, node, METADATA_NAME) : LLVMGetValueName2(body->function, &len),
               node ? LLVMDIScopeGetFile(node) : NULL, node ? LLVMDISubprogramGetLine(node) : 0);
    section_u64(&unit->info, (uint64_t)(function.begin + body->first) * PPU_INSN_BYTES);
    section_u32(&unit->info, (body->end - body->first) * PPU_INSN_BYTES);
    if (!is_kernel) {
        put_address(unit, body->return_at);
    }
    put_locals(unit, &function, SCOPE_ROOT);
    if (is_kernel) {
        put_globals(unit, kernel->shared, kernel->shared_count, PPU_DEBUG_SHARED, 0);
    }
    put_scopes(unit, &function);
    unit_end(unit);
}

/* ---- what was referred to ---- */

static void put_abstract(struct dwarf_unit *unit, LLVMMetadataRef function)
{
    unit_begin(unit, SHAPE_ABSTRACT);
    put_source(unit, metadata_text(unit->compilation, function, METADATA_NAME), LLVMDIScopeGetFile(function),
               LLVMDISubprogramGetLine(function));
    section_u8(&unit->info, DW_INL_inlined);
}

/* The offset of an entry; 0: it has not been written. */
static uint32_t written_at(const struct dwarf_unit *unit, LLVMMetadataRef node)
{
    for (uint32_t i = 0; i < unit->entry_count; i++) {
        if (unit->entries[i].node == node) {
            return unit->entries[i].offset;
        }
    }
    return 0;
}

/* Types refer to others: the list grows meanwhile. */
static void put_referred(struct dwarf_unit *unit)
{
    for (uint32_t i = 0; i < unit->reference_count; i++) {
        const struct dwarf_reference reference = unit->references[i];
        uint32_t offset = written_at(unit, reference.node);

        if (offset == 0) {
            offset = (uint32_t)unit->info.len;
            unit->entries = arena_grow(&unit->compilation->arena, unit->entries, sizeof(*unit->entries),
                                       unit->entry_count, &unit->entry_cap);
            unit->entries[unit->entry_count++] = (struct dwarf_entry){ reference.node, offset };
            if (reference.is_function) {
                put_abstract(unit, reference.node);
            } else {
                unit_type_write(unit, reference.node);
            }
        }
        section_patch32(&unit->info, reference.at, offset);
    }
}

/* ---- the unit ---- */

static void begin_unit(struct dwarf_unit *unit)
{
    const struct compilation *compilation = unit->compilation;

    section_u32(&unit->info, 0);
    section_u16(&unit->info, DWARF_VERSION);
    section_u8(&unit->info, DW_UT_compile);
    section_u8(&unit->info, sizeof(uint64_t));
    section_u32(&unit->info, 0); /* of its shapes */
    unit_begin(unit, SHAPE_UNIT);
    unit_string(unit, PRODUCER);
    section_u16(&unit->info, DW_LANG_OpenCL);
    unit_string(unit, compilation->source_name);
    section_u64(&unit->info, 0);
    section_u32(&unit->info, (uint32_t)compilation->code.len);
    section_u32(&unit->info, 0); /* of its lines */
}

static void put_kernels(struct dwarf_unit *unit)
{
    const struct compilation *compilation = unit->compilation;

    for (uint32_t k = 0; k < compilation->kernel_count; k++) {
        const struct kernel_info *kernel = &compilation->kernels[k];
        for (uint32_t b = 0; b < kernel->debug->body_count; b++) {
            put_function(unit, kernel, &kernel->debug->body[b]);
        }
    }
}

/* The file in which clang says that the program lies comes first. */
static void choose_first_file(struct dwarf_unit *unit)
{
    LLVMMetadataRef file = NULL;

    for (uint32_t k = 0; k < unit->compilation->kernel_count && !file; k++) {
        LLVMMetadataRef node = LLVMGetSubprogram(unit->compilation->kernels[k].function);
        file = node ? LLVMDIScopeGetFile(node) : NULL;
    }
    unit->files = arena_grow(&unit->compilation->arena, NULL, sizeof(LLVMMetadataRef), 0, &unit->file_cap);
    unit->files[unit->file_count++] = file;
}

void debug_info_write(struct compilation *compilation, uint32_t data_at, struct bytes *file)
{
    struct dwarf_unit unit = { .compilation = compilation };

    choose_first_file(&unit);
    unit_shapes_write(&unit);
    begin_ranges(&unit);
    begin_unit(&unit);
    put_kernels(&unit);
    put_globals(&unit, compilation->variables, compilation->variable_count, PPU_DEBUG_CONSTANT, data_at);
    put_globals(&unit, compilation->written, compilation->written_count, PPU_DEBUG_VARIABLES, 0);
    put_referred(&unit);
    unit_end(&unit);
    section_patch32(&unit.info, 0, (uint32_t)(unit.info.len - sizeof(uint32_t)));
    section_patch32(&unit.ranges, 0, (uint32_t)(unit.ranges.len - sizeof(uint32_t)));
    unit_lines_write(&unit);
    const struct elf_section sections[] = {
        { ".debug_abbrev", &unit.abbrev },
        { ".debug_info", &unit.info },
        { ".debug_line", &unit.line },
        { ".debug_rnglists", &unit.ranges },
    };
    elf_file_write(file, sections, PPU_ARRAY_SIZE(sections));
    for (size_t i = 0; i < PPU_ARRAY_SIZE(sections); i++) {
        bytes_free(sections[i].bytes);
    }
}
