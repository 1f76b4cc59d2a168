/* SPDX-License-Identifier: MIT */
/* Finds accesses that race with none in a launch of which the host says more than the compiler knows. */
#ifndef COMPILER_IRPASS_SANITIZE_RACE_FREE_H
#define COMPILER_IRPASS_SANITIZE_RACE_FREE_H

#include "compiler/irpass/sanitize/access.h"

/* What the accesses of a kernel reach that are noted. */
struct race_free {
    LLVMValueRef kernel;
    bool *written; /* by number of argument */
    bool unknown;  /* some access may reach any object */
    bool unknown_written;
};

/* Arguments that each work-item accesses in places of its own, by get_global_id(0), as `copy` shows, the same module
 * with its ids folded: the module's kernels remember them. */
void race_free_find(struct compilation *compilation, LLVMModuleRef copy);
/* Begins with no access. The arena's. */
struct race_free race_free_begin(struct compilation *compilation, LLVMValueRef kernel);
/* An access of global memory that is noted. */
void race_free_add(struct race_free *all, const struct access *access);
/* Others than this kernel may access anything meanwhile. */
void race_free_share(struct race_free *all);
/* PPU_SANITIZER_*: launches of which these are true have no race with the access; 0: any may have. After all were
 * added. */
uint32_t race_free_when(const struct race_free *all, const struct access *access);

#endif
