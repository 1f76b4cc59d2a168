/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Translates a unit to code of the host. */
#ifndef QEMU_DEVICE_TIER_TRANSLATE_H
#define QEMU_DEVICE_TIER_TRANSLATE_H

#include <stdbool.h>

#include "qemu-device/core/tier/unit.h"

/* As in struct tier_module. */
bool tier_prepare(enum tier_level level);
bool tier_translate(const struct tier_unit *unit, bool always, struct tier_code_bytes *out);

#endif
