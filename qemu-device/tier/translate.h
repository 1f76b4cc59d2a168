/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Translates a unit to code of the host. */
#ifndef QEMU_DEVICE_TIER_TRANSLATE_H
#define QEMU_DEVICE_TIER_TRANSLATE_H

#include <stdbool.h>

#include "qemu-device/core/tier/unit.h"

/* As in struct tier_module. */
bool translate_prepare(enum tier_level level);
bool translate_unit(const struct tier_unit *unit, bool always, struct tier_code_bytes *out);

#endif
