/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Describes the free room of an SM. */
#ifndef QEMU_DEVICE_CORE_DIST_ROOM_H
#define QEMU_DEVICE_CORE_DIST_ROOM_H

#include <stdint.h>

/* Free room of an SM. */
struct dist_room {
    uint32_t passes;
    uint32_t ctas;
    uint32_t vregs;
    uint32_t shared_bytes;
    uint32_t token_bytes;
};

#endif
