/* SPDX-License-Identifier: MIT */
/* Bounds what an access reaches behind the pointer that its address is made from (F2). */
#ifndef COMPILER_ANALYSIS_ACCESS_SPAN_H
#define COMPILER_ANALYSIS_ACCESS_SPAN_H

#include "compiler/analysis/affine.h"
#include "compiler/analysis/ir.h"

/* Bytes [low, high) behind the root of an address. */
struct access_span {
    int64_t low, high;
};

/* What bounds an access when nothing does. */
#define ACCESS_SPAN_FAR (1ll << 48)

/* All that the access of `bytes` bytes may reach in this block, however often it is executed. */
struct access_span access_span_of(const struct ir *ir, const struct affine *address, uint64_t bytes, uint32_t block);

#endif
