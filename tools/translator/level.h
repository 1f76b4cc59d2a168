/* SPDX-License-Identifier: MIT */
/* Finds the level of the host's instruction set that loops are translated for. */
#ifndef TOOLS_TRANSLATOR_LEVEL_H
#define TOOLS_TRANSLATOR_LEVEL_H

#include "qemu-device/core/tier/unit.h"

/* TIER_LEVEL_NONE: for no processor like this. */
static inline enum tier_level level_of_host(void)
{
#ifdef __x86_64__
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2");
    const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");

    return v3 && v4 ? TIER_LEVEL_V4 : v3 ? TIER_LEVEL_V3 : TIER_LEVEL_NONE;
#else
    return TIER_LEVEL_NONE;
#endif
}

#endif
