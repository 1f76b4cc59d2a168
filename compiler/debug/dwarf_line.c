/* SPDX-License-Identifier: MIT */
/* Writes the line program of debug information. */
#include "compiler/debug/dwarf_unit.h"

#include "compiler/base/kernel.h"
#include "compiler/debug/section.h"
#include "compiler/debug/site.h"
#include "compiler/debug/variable.h"
#include "ppu/isa.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#define LINE_VERSION 5u
#define LINE_BASE (-5)
#define LINE_RANGE 14u
#define OPCODE_BASE 13u

static void put_text(struct bytes *line, const char *text, size_t bytes)
{
    bytes_add(line, text, bytes);
    section_u8(line, 0);
}

static void put_files(struct dwarf_unit *unit)
{
    struct bytes *line = &unit->line;

    section_u8(line, 1);
    section_uleb(line, DW_LNCT_path);
    section_uleb(line, DW_FORM_string);
    section_uleb(line, 1);
    put_text(line, ".", 1); /* names stand as they were given */
    section_u8(line, 2);
    section_uleb(line, DW_LNCT_path);
    section_uleb(line, DW_FORM_string);
    section_uleb(line, DW_LNCT_directory_index);
    section_uleb(line, DW_FORM_udata);
    section_uleb(line, unit->file_count);
    for (uint32_t i = 0; i < unit->file_count; i++) {
        unsigned bytes = 0;
        const char *name = unit->files[i] ? LLVMDIFileGetFilename(unit->files[i], &bytes) : NULL;
        put_text(line, name ? name : unit->compilation->source_name,
                 name ? bytes : strlen(unit->compilation->source_name));
        section_uleb(line, 0);
    }
}

struct row {
    uint32_t insn, line, file;
};

static void put_address(struct bytes *line, uint64_t address)
{
    section_u8(line, 0);
    section_uleb(line, 1 + sizeof(address));
    section_u8(line, DW_LNE_set_address);
    section_u64(line, address);
}

/* Moves from one row to the next, and puts it. */
static void put_row(struct bytes *line, const struct row *before, const struct row *row)
{
    if (row->file != before->file) {
        section_u8(line, DW_LNS_set_file);
        section_uleb(line, row->file);
    }
    section_u8(line, DW_LNS_advance_line);
    section_sleb(line, (int64_t)row->line - before->line);
    section_u8(line, DW_LNS_advance_pc);
    section_uleb(line, row->insn - before->insn);
    section_u8(line, DW_LNS_copy);
}

static struct row row_of(struct dwarf_unit *unit, const struct debug_span *span)
{
    LLVMMetadataRef location = site_location(unit->compilation, span->site);
    LLVMMetadataRef scope = location ? LLVMDILocationGetScope(location) : NULL;

    return (struct row){ span->insn, site_line(unit->compilation, span->site),
                         unit_file(unit, scope ? LLVMDIScopeGetFile(scope) : NULL) };
}

/* The instructions of one kernel, and of what it calls, are one sequence. */
static void put_sequence(struct dwarf_unit *unit, struct bytes *program, const struct kernel_info *kernel)
{
    const struct debug_code *code = kernel->debug;
    struct row before = { 0, 1, 0 };

    put_address(program, kernel->entry);
    section_u8(program, DW_LNS_set_file); /* the first file has number 0; the machine starts with 1 */
    section_uleb(program, 0);
    for (uint32_t i = 0; i < code->span_count; i++) {
        const struct row row = row_of(unit, &code->span[i]);
        if (i == 0 || row.line != before.line || row.file != before.file) {
            put_row(program, &before, &row);
            before = row;
        }
    }
    section_u8(program, DW_LNS_advance_pc);
    section_uleb(program, code->body[code->body_count - 1].end - before.insn);
    section_u8(program, 0);
    section_uleb(program, 1);
    section_u8(program, DW_LNE_end_sequence);
}

void unit_lines_write(struct dwarf_unit *unit)
{
    static const uint8_t operands[OPCODE_BASE - 1] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
    struct bytes *line = &unit->line, program = { .at = NULL };

    for (uint32_t i = 0; i < unit->compilation->kernel_count; i++) {
        put_sequence(unit, &program, &unit->compilation->kernels[i]);
    }
    section_u32(line, 0);
    section_u16(line, LINE_VERSION);
    section_u8(line, sizeof(uint64_t)); /* of an address */
    section_u8(line, 0);                /* of a segment selector */
    size_t length_at = line->len;
    section_u32(line, 0);
    section_u8(line, PPU_INSN_BYTES);
    section_u8(line, 1); /* operations an instruction */
    section_u8(line, 1); /* rows begin statements */
    section_u8(line, (uint8_t)LINE_BASE);
    section_u8(line, LINE_RANGE);
    section_u8(line, OPCODE_BASE);
    bytes_add(line, operands, sizeof(operands));
    put_files(unit);
    section_patch32(line, length_at, (uint32_t)(line->len - length_at - sizeof(uint32_t)));
    bytes_add(line, program.at, program.len);
    line->lost |= program.lost;
    section_patch32(line, 0, (uint32_t)(line->len - sizeof(uint32_t)));
    bytes_free(&program);
}
