/* SPDX-License-Identifier: MIT */
/* Writes types of variables as entries of debug information. */
#include "compiler/debug/dwarf_unit.h"

#include "compiler/debug/metadata.h"
#include "compiler/debug/section.h"
#include "ppu/debug_info.h"
#include "ppu/macros.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#define BITS_PER_BYTE 8u

static uint64_t bytes_of(LLVMMetadataRef type)
{
    return LLVMDITypeGetSizeInBits(type) / BITS_PER_BYTE;
}

static void put_name(struct dwarf_unit *unit, LLVMMetadataRef type)
{
    unit_string(unit, metadata_text(unit->compilation, type, METADATA_NAME));
}

static void refer_base(struct dwarf_unit *unit, LLVMMetadataRef type)
{
    unit_refer(unit, metadata_operand(unit->compilation, type, METADATA_BASE), false);
}

static void write_unspecified(struct dwarf_unit *unit, const char *name)
{
    unit_begin(unit, SHAPE_UNSPECIFIED);
    unit_string(unit, name);
}

/* ---- numbers ---- */

static void write_base(struct dwarf_unit *unit, LLVMMetadataRef type)
{
    static const struct {
        const char *name;
        uint32_t encoding;
    } encodings[] = {
        { "DW_ATE_boolean", DW_ATE_boolean },   { "DW_ATE_float", DW_ATE_float },
        { "DW_ATE_signed", DW_ATE_signed },     { "DW_ATE_signed_char", DW_ATE_signed_char },
        { "DW_ATE_unsigned", DW_ATE_unsigned }, { "DW_ATE_unsigned_char", DW_ATE_unsigned_char },
    };
    const char *encoding = metadata_field(unit->compilation, type, "encoding");
    uint32_t number = DW_ATE_unsigned;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(encodings); i++) {
        number = strcmp(encoding, encodings[i].name) == 0 ? encodings[i].encoding : number;
    }
    unit_begin(unit, SHAPE_BASE);
    put_name(unit, type);
    section_u8(&unit->info, number);
    section_uleb(&unit->info, bytes_of(type));
}

/* ---- derived types ---- */

static void write_pointer(struct dwarf_unit *unit, LLVMMetadataRef type)
{
    const char *space = metadata_field(unit->compilation, type, "dwarfAddressSpace");

    unit_begin(unit, SHAPE_POINTER);
    refer_base(unit, type);
    section_uleb(&unit->info, bytes_of(type));
    section_uleb(&unit->info, *space ? strtoul(space, NULL, 10) : PPU_DEBUG_PRIVATE);
}

static void write_derived(struct dwarf_unit *unit, LLVMMetadataRef type)
{
    const char *tag = metadata_field(unit->compilation, type, "tag");

    if (strcmp(tag, "DW_TAG_pointer_type") == 0) {
        write_pointer(unit, type);
    } else if (strcmp(tag, "DW_TAG_typedef") == 0) {
        unit_begin(unit, SHAPE_TYPEDEF);
        put_name(unit, type);
        refer_base(unit, type);
    } else {
        unit_begin(unit, strcmp(tag, "DW_TAG_volatile_type") == 0 ? SHAPE_VOLATILE : SHAPE_CONST);
        refer_base(unit, type); /* restrict and atomic say no more to who reads values than const */
    }
}

/* ---- composite types ---- */

static void write_subranges(struct dwarf_unit *unit, LLVMMetadataRef elements)
{
    uint32_t count = elements ? metadata_operands(unit->compilation, elements) : 0;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t number = 0;
        LLVMMetadataRef range = metadata_operand(unit->compilation, elements, i);
        (void)metadata_number(unit->compilation, range, 0, &number);
        unit_begin(unit, SHAPE_SUBRANGE);
        section_uleb(&unit->info, number);
    }
}

static void write_member(struct dwarf_unit *unit, LLVMMetadataRef member)
{
    unit_begin(unit, SHAPE_MEMBER);
    put_name(unit, member);
    refer_base(unit, member);
    section_uleb(&unit->info, LLVMDITypeGetOffsetInBits(member) / BITS_PER_BYTE);
}

static void write_enumerator(struct dwarf_unit *unit, LLVMMetadataRef enumerator)
{
    unit_begin(unit, SHAPE_ENUMERATOR);
    unit_string(unit, metadata_text(unit->compilation, enumerator, 0));
    section_sleb(&unit->info, strtoll(metadata_field(unit->compilation, enumerator, "value"), NULL, 10));
}

static void write_elements(struct dwarf_unit *unit, LLVMMetadataRef elements, bool is_enumeration)
{
    uint32_t count = elements ? metadata_operands(unit->compilation, elements) : 0;

    for (uint32_t i = 0; i < count; i++) {
        LLVMMetadataRef element = metadata_operand(unit->compilation, elements, i);
        if (element && is_enumeration) {
            write_enumerator(unit, element);
        } else if (element && LLVMGetMetadataKind(element) == LLVMDIDerivedTypeMetadataKind) {
            write_member(unit, element);
        }
    }
}

static void write_composite(struct dwarf_unit *unit, LLVMMetadataRef type)
{
    const char *tag = metadata_field(unit->compilation, type, "tag");
    LLVMMetadataRef elements = metadata_operand(unit->compilation, type, METADATA_ELEMENTS);
    bool is_enumeration = strcmp(tag, "DW_TAG_enumeration_type") == 0;

    if (strcmp(tag, "DW_TAG_array_type") == 0) {
        bool vector = (LLVMDITypeGetFlags(type) & LLVMDIFlagVector) != 0;
        unit_begin(unit, vector ? SHAPE_VECTOR : SHAPE_ARRAY);
        refer_base(unit, type);
        section_uleb(&unit->info, bytes_of(type));
        write_subranges(unit, elements);
    } else {
        bool is_union = strcmp(tag, "DW_TAG_union_type") == 0;
        unit_begin(unit, is_enumeration ? SHAPE_ENUMERATION : is_union ? SHAPE_UNION : SHAPE_STRUCTURE);
        put_name(unit, type);
        section_uleb(&unit->info, bytes_of(type));
        write_elements(unit, elements, is_enumeration);
    }
    unit_end(unit);
}

void unit_type_write(struct dwarf_unit *unit, LLVMMetadataRef type)
{
    switch (type ? LLVMGetMetadataKind(type) : LLVMMDStringMetadataKind) {
    case LLVMDIBasicTypeMetadataKind:
        write_base(unit, type);
        break;
    case LLVMDIDerivedTypeMetadataKind:
        write_derived(unit, type);
        break;
    case LLVMDICompositeTypeMetadataKind:
        write_composite(unit, type);
        break;
    default:
        write_unspecified(unit, type ? "function" : "void");
    }
}
