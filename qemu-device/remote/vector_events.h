/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps the eventfds that a client waits at for the MSI-X vectors of the function. */
#ifndef QEMU_DEVICE_REMOTE_VECTOR_EVENTS_H
#define QEMU_DEVICE_REMOTE_VECTOR_EVENTS_H

#include <linux/vfio.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ppu/limits.h"

struct vector_events {
    int event[PPU_MAX_VECTORS]; /* -1: none */
    uint32_t masked;            /* a bit for each vector */
    uint32_t pending;           /* raised while masked */
};

void vector_events_init(struct vector_events *events);
void vector_events_clear(struct vector_events *events);
void vector_events_raise(struct vector_events *events, uint32_t vector);
/*
 * Does what a SET_IRQS for MSI-X says, with the bytes behind its structure and the descriptors that came with it. The
 * ones that are kept are -1 then. Returns 0 or a number of errno.
 */
int vector_events_set(struct vector_events *events, const struct vfio_irq_set *set, const uint8_t *data, size_t bytes,
                      int *fds, uint32_t fd_count);

#endif
