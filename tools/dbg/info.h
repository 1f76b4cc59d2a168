/* SPDX-License-Identifier: MIT */
/*
 * Reads the debug information of a program image (ppu/debug_info.h): lines, functions, variables, and values by their
 * types. Instructions count from where the code lies. What is malformed is left out; nothing is read beyond the bytes.
 */
#ifndef TOOLS_DBG_INFO_H
#define TOOLS_DBG_INFO_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ppu/debug_info.h"

#define INFO_NO_INSN UINT32_MAX
#define INFO_DEPTH 32u /* functions inlined into one another that are told apart */

struct info;

/* NULL: the bytes are no debug information, or there is no memory. They are copied. */
struct info *info_open(const uint8_t *bytes, size_t size);
void info_close(struct info *info);
/* The name that the program's source has there; NULL: none. */
const char *info_source(const struct info *info);

/* The line of an instruction, and its file unless `file` is NULL; 0: it is not known. */
uint32_t info_line(const struct info *info, uint32_t insn, const char **file);
/*
 * Instructions at which code of a line begins, at most `most`; how many. Of a line without code it is the next that has
 * some: *line is changed. `file`: NULL for the program's source, else the end of a name.
 */
uint32_t info_at_line(const struct info *info, const char *file, uint32_t *line, uint32_t *insns, uint32_t most);
/* The instruction behind what a function begins with, in each kernel that has it; how many, at most `most`. */
uint32_t info_at_function(const struct info *info, const char *name, uint32_t *insns, uint32_t most);

/* A function that an instruction is in: the innermost first. */
struct info_frame {
    const char *name;
    const char *file;
    uint32_t line; /* of the instruction, or of the call of the frame before */
};
uint32_t info_frames(const struct info *info, uint32_t insn, struct info_frame frames[INFO_DEPTH]);

/* A function with code of its own: a kernel, or one that is called. */
struct info_function {
    uint32_t begin, end;
    bool is_called;
    uint32_t return_at; /* of one that is called: where the lane's private memory has the address that it returns to */
};
/* The one that an instruction is in; false: none is known. */
bool info_function(const struct info *info, uint32_t insn, struct info_function *function);

enum info_where {
    INFO_LOST, /* optimised out */
    INFO_MEMORY,
    INFO_CONSTANT,
};

struct info_variable {
    const char *name;
    Dwarf_Die type;
    enum info_where where;
    enum ppu_debug_space space;
    uint64_t value; /* of a constant; else where it lies */
    uint32_t depth; /* 0: of the innermost block */
    bool is_parameter;
    bool is_global;
};
/*
 * Calls visit() for each variable that is visible at the instruction in a frame (0: the innermost), innermost first,
 * until it is false.
 */
void info_variables(const struct info *info, uint32_t insn, uint32_t frame,
                    bool (*visit)(void *opaque, const struct info_variable *variable), void *opaque);
/* The variable that a name means there; false: there is none. */
bool info_find(const struct info *info, uint32_t insn, uint32_t frame, const char *name,
               struct info_variable *variable);

/* ---- types ---- */

/* Without names of types, const and volatile. */
Dwarf_Die info_strip(Dwarf_Die type);
uint64_t info_bytes(Dwarf_Die type);
void info_type_name(Dwarf_Die type, FILE *out);
/* What a pointer points to or an array has; false: it is neither. `space`: of a pointer; may be NULL. */
bool info_target(Dwarf_Die type, Dwarf_Die *target, enum ppu_debug_space *space);
/* A member of a structure or union, or of a vector (x, y, s0 ...); false: there is none of this name. */
bool info_member(Dwarf_Die type, const char *name, Dwarf_Die *member, uint64_t *offset);
/* Elements of an array or a vector; 0: it is neither, or it is not known. */
uint64_t info_elements(Dwarf_Die type);
bool info_is_signed(Dwarf_Die type);
bool info_is_float(Dwarf_Die type);
/* Calls visit() for each member of a structure or union, until it is false. */
void info_members(Dwarf_Die type, bool (*visit)(void *opaque, const char *name), void *opaque);
/* Prints a value of the type, info_bytes() of them. */
void info_print(Dwarf_Die type, const uint8_t *value, FILE *out);

#endif
