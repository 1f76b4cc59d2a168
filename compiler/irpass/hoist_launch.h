/* SPDX-License-Identifier: MIT */
/* Moves reads of special registers and of the launch's numbers to where a function begins. */
#ifndef COMPILER_IRPASS_HOIST_LAUNCH_H
#define COMPILER_IRPASS_HOIST_LAUNCH_H

#include "compiler/base/compilation.h"

/* What work-item functions read by __ppu_sr and __ppu_launch goes to the end of the first block. */
void hoist_launch(struct compilation *compilation, LLVMValueRef function);

#endif
