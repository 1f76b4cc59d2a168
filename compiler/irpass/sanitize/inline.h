/* SPDX-License-Identifier: MIT */
/*
 * Marks calls of checks that are to be inlined. A function that is called has its arguments in private memory, and each
 * task that threads enqueue needs private memory of its own from the time when it is enqueued: without calls, as many
 * tasks can wait as of a kernel that does not check itself.
 */
#ifndef COMPILER_IRPASS_SANITIZE_INLINE_H
#define COMPILER_IRPASS_SANITIZE_INLINE_H

#include "compiler/base/compilation.h"

/*
 * Marks those of kernels that threads enqueue, where the code stays small. The functions are linked. True: there are
 * such calls, and when LLVM has inlined them there may be more.
 */
bool inline_mark(struct compilation *compilation);

#endif
