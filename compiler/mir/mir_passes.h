/* SPDX-License-Identifier: MIT */
/* Runs the passes over machine code (mir_pass.def): from the IR of one function to instructions in
 * machine registers. */
#ifndef COMPILER_MIR_MIR_PASSES_H
#define COMPILER_MIR_MIR_PASSES_H

#include "compiler/analysis/ir.h"
#include "compiler/base/kernel.h"
#include "compiler/mir/functions.h"
#include "compiler/mir/mir.h"

/* Selects instructions; `pool_limit` is the number of words of constants that may stay in scalar registers. */
typedef struct mir *mir_selector(struct compilation *compilation, struct kernel_info *kernel,
                                 const struct function *function, struct ir *ir, uint32_t pool_limit);

/* One function that goes through the passes. */
struct mir_input {
    struct compilation *compilation;
    struct kernel_info *kernel;
    const struct function *function; /* NULL: the kernel itself */
    struct ir *ir;
    bool segments;        /* it gets sub-vector segments */
    mir_selector *select; /* stands here because machine code does not know the selection that makes it */
};

/* Stops the compilation when scalar registers do not suffice, however few values are kept in them. */
struct mir *mir_passes_run(const struct mir_input *input);
/* True when mir_pass.def has a pass of that name. */
bool mir_passes_have(const char *name);

#endif
