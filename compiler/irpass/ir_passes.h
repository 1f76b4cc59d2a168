/* SPDX-License-Identifier: MIT */
/* From the front end's module to IR that selection takes: kernels, and functions that are not to be inlined. */
#ifndef COMPILER_IRPASS_IR_PASSES_H
#define COMPILER_IRPASS_IR_PASSES_H

#include "compiler/base/compilation.h"

/* Links the library, inlines, places yields (E8), optimises. */
void optimise(struct unit *unit);
/* True when ir_pass.def has a pass of that name. */
bool optimise_has_pass(const char *name);
/* Prints the module as text. */
void optimise_print(const struct unit *unit);

#endif
