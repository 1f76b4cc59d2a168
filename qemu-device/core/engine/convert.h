/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts between number formats. */
#ifndef QEMU_DEVICE_CORE_ENGINE_CONVERT_H
#define QEMU_DEVICE_CORE_ENGINE_CONVERT_H

#include <stdbool.h>
#include <stdint.h>

uint64_t engine_convert(uint64_t bits, uint32_t stype, uint32_t dtype, uint32_t round, bool sat);

#endif
