/* SPDX-License-Identifier: MIT */
/* Lists calls of functions that have no body, so that checks can be put beside them while the list is read. */
#ifndef COMPILER_IRPASS_SANITIZE_CALLS_H
#define COMPILER_IRPASS_SANITIZE_CALLS_H

#include "compiler/base/compilation.h"

#include <llvm-c/Core.h>
#include <stdint.h>

/* In the arena of the compilation; zeros but for that: none yet. */
struct call_list {
    struct compilation *compilation;
    LLVMValueRef *insns;
    uint32_t count;
    unsigned cap;
};

/* Adds the calls in a function's body, in the order of the IR. */
void calls_add(struct call_list *list, LLVMValueRef function);

#endif
