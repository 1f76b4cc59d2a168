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

/* What small kernels call: work-item functions, barriers, fences, printf. */
struct library library_core(void);
/* All functions, in shards: the number of the one that defines `name`, or library_shards() when none does. */
uint32_t library_find(const char *name);
uint32_t library_shards(void);
/* Part of this number: functions, and all that these call. */
struct library library_shard(uint32_t number);
/* What kernels call that check themselves (device-lib/opencl/sanitize/). */
struct library library_address(void);
struct library library_argument(void);
struct library library_race(void);
struct library library_race_nested(void);
struct library library_uninit(void);

#endif
