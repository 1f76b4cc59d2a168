/* SPDX-License-Identifier: MIT */
/*
 * Asserts what must hold of our own code; assertions are always on. Never about a value that a host, a guest or a
 * kernel can write: those get a fault.
 */
#ifndef FIRMWARE_CRASH_H
#define FIRMWARE_CRASH_H

#include "firmware/hal.h"

#define FW_ASSERT(condition)               \
    do {                                   \
        if (!(condition)) {                \
            hal_crash(__FILE__, __LINE__); \
        }                                  \
    } while (0)

#endif
