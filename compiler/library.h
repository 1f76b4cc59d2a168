/* SPDX-License-Identifier: MIT */
/* The device library: built-in functions as bitcode (library/), part of the compiler's own binary. */
#ifndef COMPILER_LIBRARY_H
#define COMPILER_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

extern const uint8_t library_bytes[];
size_t library_len(void);

#endif
