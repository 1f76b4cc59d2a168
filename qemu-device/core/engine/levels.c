/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Levels of the host's instruction set. */
#include "qemu-device/core/engine/levels.h"

/* Lists what tells a host of the level from one of the level below. */
#ifdef ENGINE_HAS_LEVELS
static bool host_has(uint32_t level)
{
    switch (level) {
    case 4:
        return host_has(3) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
    case 3:
        return host_has(2) && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
               __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    case 2:
        return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
    default:
        return level == 1;
    }
}
#else
static bool host_has(uint32_t level)
{
    return level == 1;
}
#endif

uint32_t engine_level(uint32_t wanted)
{
    uint32_t level = wanted == 0 ? ENGINE_LEVEL_MOST : wanted;

    while (wanted == 0 && !host_has(level)) {
        level--;
    }
    return level <= ENGINE_LEVEL_MOST && host_has(level) ? level : 0;
}
