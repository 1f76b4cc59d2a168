/* SPDX-License-Identifier: MIT */
/* Makes a tree of the scopes of a function's code: blocks, and functions that were inlined. */
#ifndef COMPILER_DEBUG_SCOPE_H
#define COMPILER_DEBUG_SCOPE_H

#include "compiler/debug/variable.h"

#define SCOPE_ROOT 0u /* the function itself */
#define SCOPE_NONE 0xffffffffu

/* Instructions from the kernel's first. */
struct scope_range {
    uint32_t first, end;
};

struct scope {
    LLVMMetadataRef node;       /* DISubprogram or DILexicalBlock */
    LLVMMetadataRef inlined_at; /* DILocation; NULL: it is in the function itself */
    uint32_t parent, child, next;
    struct scope_range *ranges; /* those of scopes inside, too */
    uint32_t range_count;
    unsigned range_cap;
};

struct scopes {
    struct compilation *compilation;
    struct scope *scope;
    uint32_t count;
    unsigned cap;
};

bool scope_is_function(LLVMMetadataRef node);
/* The number of a scope, which is made when it is not there; `node` NULL: the function. */
uint32_t scope_find(struct scopes *scopes, LLVMMetadataRef node, LLVMMetadataRef inlined_at);
/* All scopes that instructions and variables of the body are in. */
void scopes_make(struct scopes *scopes, struct compilation *compilation, const struct debug_code *code,
                 const struct debug_body *body);

#endif
