/* SPDX-License-Identifier: MIT */
/* Holds the device library: built-in functions as bitcode (device-lib/opencl/), part of the compiler's own binary. */
#ifndef COMPILER_FRONTEND_LIBRARY_H
#define COMPILER_FRONTEND_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

struct library {
    const uint8_t *bytes;
    size_t len_bytes;
};

/*
 * What small kernels call: work-item functions, barriers, fences, printf. All of the library has thousands of
 * functions, and linking costs some time for each, called or not.
 */
struct library library_core(void);
struct library library_all(void);
/* Functions of half, which call those of all of the library: programs with half are few. */
struct library library_half(void);
/* What kernels call that check themselves (device-lib/opencl/sanitize/). */
struct library library_address(void);
struct library library_race(void);

#endif
