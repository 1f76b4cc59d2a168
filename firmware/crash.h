/* SPDX-License-Identifier: MIT */
/*
 * Assertions about our own code, always on. Never about a value that a host, a
 * guest or a kernel can write: those get a fault.
 */
#ifndef FW_CRASH_H
#define FW_CRASH_H

#include "hal.h"

#define FW_ASSERT(condition)               \
    do {                                   \
        if (!(condition)) {                \
            hal_crash(__FILE__, __LINE__); \
        }                                  \
    } while (0)

#endif
