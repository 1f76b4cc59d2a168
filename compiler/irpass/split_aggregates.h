/* SPDX-License-Identifier: MIT */
/* Splits loads and stores of structs and arrays into those of their members, for which there is code. */
#ifndef COMPILER_IRPASS_SPLIT_AGGREGATES_H
#define COMPILER_IRPASS_SPLIT_AGGREGATES_H

#include "compiler/base/compilation.h"

void split_aggregates(struct compilation *compilation, LLVMValueRef function);

#endif
