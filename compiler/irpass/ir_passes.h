/* SPDX-License-Identifier: MIT */
/*
 * Runs the passes over IR, from the front end's module to IR that selection takes: kernels, and functions that are not
 * to be inlined.
 */
#ifndef COMPILER_IRPASS_IR_PASSES_H
#define COMPILER_IRPASS_IR_PASSES_H

#include "compiler/base/compilation.h"

/* Links the library, inlines, places yields (E8), optimises. */
void ir_passes_run(struct compilation *compilation);
/* True when ir_pass.def has a pass of that name. */
bool ir_passes_have(const char *name);
/* Prints the module as text. */
void ir_passes_print(const struct compilation *compilation);

#endif
