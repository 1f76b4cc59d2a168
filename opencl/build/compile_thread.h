/* SPDX-License-Identifier: MIT */
/* Starts threads that compile, and keeps the compiler that they use. */
#ifndef OPENCL_BUILD_COMPILE_THREAD_H
#define OPENCL_BUILD_COMPILE_THREAD_H

#include "opencl/build/compiler_dl.h"

/* compiler_get(), for the calling thread; the process ends only when no worker uses it any more. */
const struct compiler *compile_thread_compiler(void);
/* Runs the function in a thread of its own; false: there is none. */
bool compile_thread_start(void (*function)(void *opaque), void *opaque);
/* Returns when none of them runs, or after some seconds: then what only they used has been given back. */
void compile_thread_settle(void);

#endif
