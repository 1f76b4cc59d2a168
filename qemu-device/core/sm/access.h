/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Describes one access to memory, piece by piece. */
#ifndef QEMU_DEVICE_CORE_SM_ACCESS_H
#define QEMU_DEVICE_CORE_SM_ACCESS_H

#include <stdint.h>

#define SM_MAX_WORDS 4u /* 32-bit words of one access */

/* Where one piece of an access lies. */
struct translation {
    uint8_t *host; /* NULL: system memory */
    uint64_t bus;  /* bus address, or VRAM offset */
};

#endif
