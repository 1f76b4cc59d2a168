/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps accesses in order with additions that are pending. */
#ifndef QEMU_DEVICE_CORE_SM_PENDING_ADDS_ORDER_H
#define QEMU_DEVICE_CORE_SM_PENDING_ADDS_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "qemu-device/core/sm/pending_adds.h"
#include "qemu-device/core/sm/sm.h"

/* Before an access to VRAM: what is to be added there comes first. `host` NULL: there is none. */
static inline void sums_meet(struct sm *sm, const uint8_t *host, size_t bytes)
{
    const struct sums *const sums = &sm->sums;

    if (__builtin_expect(sums->base != NULL, 0) && host != NULL &&
        (uintptr_t)host < (uintptr_t)sums->base + ((size_t)sums->last + 1) * sizeof(uint32_t) &&
        (uintptr_t)host + bytes > (uintptr_t)sums->base + (size_t)sums->first * sizeof(uint32_t)) {
        sums_empty(sm);
    }
}

/* The same before an access that may lie anywhere. */
static inline void sums_meet_any(struct sm *sm)
{
    if (__builtin_expect(sm->sums.base != NULL, 0)) {
        sums_empty(sm);
    }
}

#endif
