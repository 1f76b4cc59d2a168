/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measures how well the first-level cache has served a warp of late (D8). */
#ifndef QEMU_DEVICE_CORE_SM_CACHE_WINDOW_H
#define QEMU_DEVICE_CORE_SM_CACHE_WINDOW_H

#include <stdint.h>

#define CACHE_WINDOW 1024u /* lines that a warp loads until what it is known by is worth half */

/*
 * How well the first level has served a warp of late (D8): lines that it loaded, and those of them that were not there.
 * Both are halved when `loads` reaches CACHE_WINDOW, so that the ratio is of some 1,500 lines, the latest most.
 */
struct cache_window {
    uint32_t loads;
    uint32_t misses;
};

#endif
