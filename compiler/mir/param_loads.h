/* SPDX-License-Identifier: MIT */
/* Merges loads of neighbouring parameters into wider ones. */
#ifndef COMPILER_MIR_PARAM_LOADS_H
#define COMPILER_MIR_PARAM_LOADS_H

#include "compiler/mir/mir.h"

/*
 * Joins the first block's loads of parameters into scalar registers: up to four words a load. `limit_bytes`: what may
 * be read of the parameters.
 */
void param_loads_join(struct mir *mir, uint32_t limit_bytes);

#endif
