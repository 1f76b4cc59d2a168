/* SPDX-License-Identifier: MIT */
/* Finds kernels that can have CTAs of any size, as no work-item can observe its own. */
#ifndef COMPILER_IRPASS_ANY_WORK_GROUP_H
#define COMPILER_IRPASS_ANY_WORK_GROUP_H

#include "compiler/base/compilation.h"

/* Marks the kernels of the module. When the library has been linked, and before any function is inlined. */
void any_work_group_mark(struct compilation *compilation);
/* True when a kernel was marked. Its shared memory is not considered, as more is known of it later. */
bool any_work_group_is_right(LLVMValueRef kernel);

#endif
