/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps the CTAs of a slot that were taken off their SMs into the address space's area. */
#ifndef QEMU_DEVICE_CORE_DIST_SWITCHED_H
#define QEMU_DEVICE_CORE_DIST_SWITCHED_H

#include <stdbool.h>
#include <stdint.h>

struct core;
struct dist_cta;
struct dist_slot;

/* The CTAs that were taken off their SMs end there. [lock] */
void switched_drop(struct core *core, struct dist_slot *slot);
/* Takes the CTA that was taken off its SM first. [lock] */
void switched_take(struct dist_slot *slot, struct dist_cta *out);
/* Chunks for the state of a CTA that has no place; false: it cannot be taken off. [sm] */
bool dist_switch_take(struct core *core, struct dist_cta *cta);
/* The CTA is on an SM again: its chunks are free. [sm] */
void dist_switch_give(struct core *core, struct dist_cta *cta);
/* Copies the state between the CTA's chunks and a buffer, at most what fits. [sm] */
void dist_switch_write(struct core *core, const struct dist_cta *cta, const uint8_t *bytes, uint32_t len);
void dist_switch_read(struct core *core, const struct dist_cta *cta, uint8_t *bytes, uint32_t len);

#endif
