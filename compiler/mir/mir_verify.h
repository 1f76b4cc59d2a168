/* SPDX-License-Identifier: MIT */
/* Verifies machine IR after a pass: operands fit their registers, and nothing is read before it is written. */
#ifndef COMPILER_MIR_MIR_VERIFY_H
#define COMPILER_MIR_MIR_VERIFY_H

struct mir;

/* Stops the compilation, naming pass and instruction, when something is wrong. */
void mir_verify(struct mir *mir, const char *pass);

#endif
