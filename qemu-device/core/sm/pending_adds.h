/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps relaxed additions that an SM has summed up and not yet added to memory. */
#ifndef QEMU_DEVICE_CORE_SM_PENDING_ADDS_H
#define QEMU_DEVICE_CORE_SM_PENDING_ADDS_H

#include <stdbool.h>
#include <stdint.h>

struct sm;

/*
 * Relaxed additions whose old values nobody wants, to words of VRAM that lie close together: they are summed up here
 * and added to memory before this SM does anything else with these words, orders accesses, waits, or tells of the end
 * of what added. Written by the SM's thread alone.
 */
#define PENDING_ADDS_STEP 2048u
#define PENDING_ADDS_BYTES (2u * PENDING_ADDS_STEP)

struct pending_adds {
    uint8_t *base;        /* in VRAM, of value[0]; NULL: there are none */
    uint32_t first, last; /* words that may not be 0 */
    uint32_t value[PENDING_ADDS_BYTES / sizeof(uint32_t)];
};

/* Adds the sums to memory. */
void pending_adds_flush(struct sm *sm);
/* Makes room for words from `least` to the one at `most`, addresses of the host; false: they are too far apart. */
bool pending_adds_open(struct sm *sm, uintptr_t least, uintptr_t most);

#endif
