/* SPDX-License-Identifier: MIT */
/* Keeps what debug information needs of the code: where variables are, and what instructions come from. */
#ifndef COMPILER_DEBUG_VARIABLE_H
#define COMPILER_DEBUG_VARIABLE_H

#include "compiler/base/compilation.h"
#include "ppu/debug_info.h"

enum debug_where {
    DEBUG_NOWHERE, /* its value is optimised out somewhere, so it is said to be everywhere */
    DEBUG_MEMORY,
    DEBUG_CONSTANT,
};

/* A variable of a function, or of a function inlined into it. */
struct debug_variable {
    LLVMMetadataRef variable;   /* DILocalVariable */
    LLVMMetadataRef inlined_at; /* DILocation; NULL: of the function itself */
    enum debug_where where;
    enum ppu_debug_space space;
    uint64_t value; /* of a constant, else where it lies in `space` */
};

struct debug_variables {
    struct debug_variable *variable;
    uint32_t count;
    unsigned cap;
};

/* From an instruction of a kernel on, counted from its first, code comes from a site. */
struct debug_span {
    uint32_t insn;
    uint32_t site;
};

/* Code of one function of the source: of a kernel, or of what a kernel calls. */
struct debug_body {
    LLVMValueRef function;
    uint32_t first, end; /* instructions from the kernel's first */
    uint32_t return_at;  /* of a function that is called: as of struct mir */
    const struct debug_variables *variables;
};

struct debug_code {
    struct debug_span *span;
    uint32_t span_count;
    unsigned span_cap;
    struct debug_body *body;
    uint32_t body_count;
    unsigned body_cap;
};

/* Notes a variable. One that is noted again with something else is nowhere. */
void debug_variable_note(struct compilation *compilation, struct debug_variables *variables,
                         const struct debug_variable *variable);
/* Code from `insn` on comes from the site. */
void debug_code_note(struct compilation *compilation, struct debug_code *code, uint32_t insn, uint32_t site);
void debug_code_add_body(struct compilation *compilation, struct debug_code *code, const struct debug_body *body);

#endif
