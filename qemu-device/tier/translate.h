/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Translates a unit to code of the host. */
#ifndef QEMU_DEVICE_TIER_TRANSLATE_H
#define QEMU_DEVICE_TIER_TRANSLATE_H

#include <stdbool.h>

struct tier_translation;
struct tier_unit;

bool tier_translate(const struct tier_unit *unit, struct tier_translation *out);
void tier_drop(struct tier_translation *translation);
bool tier_failed(void);

#endif
