/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps accesses in order with additions that are pending. */
#ifndef QEMU_DEVICE_CORE_SM_PENDING_ADDS_ORDER_H
#define QEMU_DEVICE_CORE_SM_PENDING_ADDS_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "qemu-device/core/sm/pending_adds.h"
#include "qemu-device/core/sm/sm.h"

/* Before an access to VRAM: what is to be added there comes first. `host` NULL: there is none. */
static inline void pending_adds_order(struct sm *sm, const uint8_t *host, size_t bytes)
{
    const struct pending_adds *const adds = &sm->pending_adds;

    if (__builtin_expect(!!adds->base, 0) && host &&
        (uintptr_t)host < (uintptr_t)adds->base + ((size_t)adds->last + 1) * sizeof(uint32_t) &&
        (uintptr_t)host + bytes > (uintptr_t)adds->base + (size_t)adds->first * sizeof(uint32_t)) {
        pending_adds_flush(sm);
    }
}

/* Flushes before an access that may lie anywhere. */
static inline void pending_adds_order_any(struct sm *sm)
{
    if (__builtin_expect(!!sm->pending_adds.base, 0)) {
        pending_adds_flush(sm);
    }
}

#endif
