/* SPDX-License-Identifier: MIT */
/* Chooses the threads of a warp, which are a sub-group, for all kernels of a module. */
#ifndef COMPILER_ANALYSIS_SUB_GROUP_SIZE_H
#define COMPILER_ANALYSIS_SUB_GROUP_SIZE_H

#include "compiler/base/compilation.h"

/*
 * Sets compilation->wave as kernels require it (intel_reqd_sub_group_size), else as the build option says, else as the
 * compiler's own option does. Fails for a size that the machine does not have, and for kernels that contradict each
 * other.
 */
void sub_group_size_choose(struct compilation *compilation);

#endif
