/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names what the program that translates finds in the module when it has loaded it. */
#include "qemu-device/core/tier/unit.h"
#include "qemu-device/tier/translate.h"

extern const struct tier_module ppu_tier_module;

const struct tier_module ppu_tier_module = {
    .layout = tier_layout,
    .prepare = translate_prepare,
    .translate = translate_unit,
};
