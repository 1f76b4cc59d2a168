/* SPDX-License-Identifier: MIT */
#include "compiler/debug/dwarf_unit.h"

#include "compiler/debug/section.h"
#include "ppu/macros.h"

#include <dwarf.h>
#include <string.h>

#define MOST_ATTRIBUTES 8u
#define GNU_VECTOR 0x2107u /* DW_AT_GNU_vector */

#define SOURCE                                                          \
    { DW_AT_name, DW_FORM_string }, { DW_AT_decl_file, DW_FORM_udata }, \
    {                                                                   \
        DW_AT_decl_line, DW_FORM_udata                                  \
    }
#define NAME                       \
    {                              \
        DW_AT_name, DW_FORM_string \
    }
#define TYPE                     \
    {                            \
        DW_AT_type, DW_FORM_ref4 \
    }
#define BYTES                          \
    {                                  \
        DW_AT_byte_size, DW_FORM_udata \
    }
#define SPACE                              \
    {                                      \
        DW_AT_address_class, DW_FORM_udata \
    }
#define LOCATION                        \
    {                                   \
        DW_AT_location, DW_FORM_exprloc \
    }
#define CODE                         \
    { DW_AT_low_pc, DW_FORM_addr },  \
    {                                \
        DW_AT_high_pc, DW_FORM_data4 \
    }
#define RANGES                           \
    {                                    \
        DW_AT_ranges, DW_FORM_sec_offset \
    }

/* What entries of a shape have; a 0 ends the attributes. */
static const struct shape {
    uint32_t tag;
    bool has_children;
    struct {
        uint32_t attribute, form;
    } attributes[MOST_ATTRIBUTES];
} shapes[] = {
    [SHAPE_UNIT] = { DW_TAG_compile_unit,
                     true,
                     { { DW_AT_producer, DW_FORM_string },
                       { DW_AT_language, DW_FORM_data2 },
                       NAME,
                       { DW_AT_low_pc, DW_FORM_addr },
                       { DW_AT_high_pc, DW_FORM_data4 },
                       { DW_AT_stmt_list, DW_FORM_sec_offset } } },
    [SHAPE_KERNEL] = { DW_TAG_subprogram, true, { SOURCE, CODE, { DW_AT_external, DW_FORM_flag_present } } },
    [SHAPE_FUNCTION] = { DW_TAG_subprogram, true, { SOURCE, CODE, { DW_AT_return_addr, DW_FORM_exprloc } } },
    [SHAPE_BLOCK] = { DW_TAG_lexical_block, true, { RANGES } },
    [SHAPE_INLINED] = { DW_TAG_inlined_subroutine,
                        true,
                        { { DW_AT_abstract_origin, DW_FORM_ref4 },
                          RANGES,
                          { DW_AT_call_file, DW_FORM_udata },
                          { DW_AT_call_line, DW_FORM_udata } } },
    [SHAPE_ABSTRACT] = { DW_TAG_subprogram, false, { SOURCE, { DW_AT_inline, DW_FORM_data1 } } },
    [SHAPE_VARIABLE] = { DW_TAG_variable, false, { SOURCE, TYPE, SPACE, LOCATION } },
    [SHAPE_PARAMETER] = { DW_TAG_formal_parameter, false, { SOURCE, TYPE, SPACE, LOCATION } },
    [SHAPE_CONSTANT_VARIABLE] = { DW_TAG_variable, false, { SOURCE, TYPE, { DW_AT_const_value, DW_FORM_data8 } } },
    [SHAPE_CONSTANT_PARAMETER] = { DW_TAG_formal_parameter,
                                   false,
                                   { SOURCE, TYPE, { DW_AT_const_value, DW_FORM_data8 } } },
    [SHAPE_LOST_VARIABLE] = { DW_TAG_variable, false, { SOURCE, TYPE } },
    [SHAPE_LOST_PARAMETER] = { DW_TAG_formal_parameter, false, { SOURCE, TYPE } },
    [SHAPE_BASE] = { DW_TAG_base_type, false, { NAME, { DW_AT_encoding, DW_FORM_data1 }, BYTES } },
    [SHAPE_POINTER] = { DW_TAG_pointer_type, false, { TYPE, BYTES, SPACE } },
    [SHAPE_TYPEDEF] = { DW_TAG_typedef, false, { NAME, TYPE } },
    [SHAPE_CONST] = { DW_TAG_const_type, false, { TYPE } },
    [SHAPE_VOLATILE] = { DW_TAG_volatile_type, false, { TYPE } },
    [SHAPE_ARRAY] = { DW_TAG_array_type, true, { TYPE, BYTES } },
    [SHAPE_VECTOR] = { DW_TAG_array_type, true, { TYPE, BYTES, { GNU_VECTOR, DW_FORM_flag_present } } },
    [SHAPE_SUBRANGE] = { DW_TAG_subrange_type, false, { { DW_AT_count, DW_FORM_udata } } },
    [SHAPE_STRUCTURE] = { DW_TAG_structure_type, true, { NAME, BYTES } },
    [SHAPE_UNION] = { DW_TAG_union_type, true, { NAME, BYTES } },
    [SHAPE_MEMBER] = { DW_TAG_member, false, { NAME, TYPE, { DW_AT_data_member_location, DW_FORM_udata } } },
    [SHAPE_ENUMERATION] = { DW_TAG_enumeration_type, true, { NAME, BYTES } },
    [SHAPE_ENUMERATOR] = { DW_TAG_enumerator, false, { NAME, { DW_AT_const_value, DW_FORM_sdata } } },
    [SHAPE_UNSPECIFIED] = { DW_TAG_unspecified_type, false, { NAME } },
};

void unit_shapes_write(struct dwarf_unit *unit)
{
    for (uint32_t i = SHAPE_UNIT; i < PPU_ARRAY_SIZE(shapes); i++) {
        section_uleb(&unit->abbrev, i);
        section_uleb(&unit->abbrev, shapes[i].tag);
        section_u8(&unit->abbrev, shapes[i].has_children ? DW_CHILDREN_yes : DW_CHILDREN_no);
        for (uint32_t a = 0; a < MOST_ATTRIBUTES && shapes[i].attributes[a].attribute != 0; a++) {
            section_uleb(&unit->abbrev, shapes[i].attributes[a].attribute);
            section_uleb(&unit->abbrev, shapes[i].attributes[a].form);
        }
        section_u16(&unit->abbrev, 0);
    }
    section_u8(&unit->abbrev, 0);
}

void unit_begin(struct dwarf_unit *unit, enum dwarf_shape shape)
{
    section_uleb(&unit->info, shape);
}

void unit_end(struct dwarf_unit *unit)
{
    section_u8(&unit->info, 0);
}

void unit_string(struct dwarf_unit *unit, const char *text)
{
    bytes_add(&unit->info, text, strlen(text) + 1);
}

void unit_refer(struct dwarf_unit *unit, LLVMMetadataRef node, bool is_function)
{
    unit->references = arena_grow(&unit->compilation->arena, unit->references, sizeof(*unit->references),
                                  unit->reference_count, &unit->reference_cap);
    unit->references[unit->reference_count++] = (struct dwarf_reference){ (uint32_t)unit->info.len, node, is_function };
    section_u32(&unit->info, 0);
}

uint32_t unit_file(struct dwarf_unit *unit, LLVMMetadataRef file)
{
    uint32_t i = 0;

    while (file && i < unit->file_count && unit->files[i] != file) {
        i++;
    }
    if (file && i == unit->file_count) {
        unit->files = arena_grow(&unit->compilation->arena, unit->files, sizeof(LLVMMetadataRef), unit->file_count,
                                 &unit->file_cap);
        unit->files[unit->file_count++] = file;
    }
    return file ? i : 0;
}
