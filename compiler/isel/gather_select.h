/* SPDX-License-Identifier: MIT */
/* Selects a single instruction for indexed loads of one array (F7). */
#ifndef COMPILER_ISEL_GATHER_SELECT_H
#define COMPILER_ISEL_GATHER_SELECT_H

#include "compiler/isel/select.h"

/* Code of a call that irpass/coalesce_gather.h has built. */
void gather_select(struct isel *s, LLVMValueRef call);

#endif
