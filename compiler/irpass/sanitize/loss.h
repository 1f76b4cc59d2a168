/* SPDX-License-Identifier: MIT */
/* Finds nested work that is lost: kernels that could not be enqueued, events that nobody looks at or sets. */
#ifndef COMPILER_IRPASS_SANITIZE_LOSS_H
#define COMPILER_IRPASS_SANITIZE_LOSS_H

#include "compiler/base/compilation.h"

/* Before the device library is linked: puts checks behind calls that make tasks and events. */
void loss_mark(struct compilation *compilation);
/* Makes reports of them, when what the function calls has been inlined. */
void loss_check(struct compilation *compilation, LLVMValueRef function);

#endif
