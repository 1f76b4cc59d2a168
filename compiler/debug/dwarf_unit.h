/* SPDX-License-Identifier: MIT */
/* Keeps the sections of a unit of debug information while it is written. */
#ifndef COMPILER_DEBUG_DWARF_UNIT_H
#define COMPILER_DEBUG_DWARF_UNIT_H

#include "compiler/base/bytes.h"
#include "compiler/base/compilation.h"

#include <llvm-c/DebugInfo.h>

/* Shapes of entries: numbers in .debug_abbrev. */
enum dwarf_shape {
    SHAPE_UNIT = 1,
    SHAPE_KERNEL,
    SHAPE_FUNCTION,
    SHAPE_BLOCK,
    SHAPE_INLINED,
    SHAPE_ABSTRACT,
    SHAPE_VARIABLE,
    SHAPE_PARAMETER,
    SHAPE_CONSTANT_VARIABLE,
    SHAPE_CONSTANT_PARAMETER,
    SHAPE_LOST_VARIABLE,
    SHAPE_LOST_PARAMETER,
    SHAPE_BASE,
    SHAPE_POINTER,
    SHAPE_TYPEDEF,
    SHAPE_CONST,
    SHAPE_VOLATILE,
    SHAPE_ARRAY,
    SHAPE_VECTOR,
    SHAPE_SUBRANGE,
    SHAPE_STRUCTURE,
    SHAPE_UNION,
    SHAPE_MEMBER,
    SHAPE_ENUMERATION,
    SHAPE_ENUMERATOR,
    SHAPE_UNSPECIFIED,
};

/* A reference to an entry that is written once the functions are: a type, or a function that was inlined. */
struct dwarf_reference {
    uint32_t at;          /* in .debug_info */
    LLVMMetadataRef node; /* NULL: void */
    bool is_function;
};

struct dwarf_entry {
    LLVMMetadataRef node;
    uint32_t offset; /* in .debug_info */
};

struct dwarf_unit {
    struct compilation *compilation;
    struct bytes abbrev, info, line, ranges;
    LLVMMetadataRef *files; /* DIFile; the first is the program's source */
    uint32_t file_count;
    unsigned file_cap;
    struct dwarf_reference *references;
    uint32_t reference_count;
    unsigned reference_cap;
    struct dwarf_entry *entries;
    uint32_t entry_count;
    unsigned entry_cap;
};

void unit_shapes_write(struct dwarf_unit *unit);

/* Begins an entry; what its shape says follows. */
void unit_begin(struct dwarf_unit *unit, enum dwarf_shape shape);
/* Ends the children of an entry. */
void unit_end(struct dwarf_unit *unit);
void unit_string(struct dwarf_unit *unit, const char *text);
/* Refers to a type (NULL: void), or to a function that was inlined. */
void unit_refer(struct dwarf_unit *unit, LLVMMetadataRef node, bool is_function);
/* The number of a DIFile; NULL: that of the program's source. */
uint32_t unit_file(struct dwarf_unit *unit, LLVMMetadataRef file);

/* The entry of a type that is not there yet. */
void unit_type_write(struct dwarf_unit *unit, LLVMMetadataRef type);
/* What addresses of code come from which line. */
void unit_lines_write(struct dwarf_unit *unit);

#endif
