/* SPDX-License-Identifier: MIT */
/* Says how large local ids may be, where the size of work-groups is known. */
#ifndef COMPILER_IRPASS_ID_RANGES_H
#define COMPILER_IRPASS_ID_RANGES_H

#include "compiler/base/compilation.h"

/*
 * A local id is below the size of the launch's work-groups, or of those that the source asks for with
 * reqd_work_group_size, also where the last of them are smaller. So a loop that begins there has a number of turns that
 * may be known.
 */
void id_ranges_write(struct compilation *compilation, LLVMValueRef function);

#endif
