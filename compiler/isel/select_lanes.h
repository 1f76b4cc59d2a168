/* SPDX-License-Identifier: MIT */
/* Selects what a lane learns of others of its warp: shuffles, votes, sets of lanes. */
#ifndef COMPILER_ISEL_SELECT_LANES_H
#define COMPILER_ISEL_SELECT_LANES_H

#include "compiler/isel/select.h"

/* False: the primitive is another one. */
bool select_lanes(struct isel *s, LLVMValueRef call, enum primitive primitive);

#endif
