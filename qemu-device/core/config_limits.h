/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Defines the limits of the configuration. */
#ifndef QEMU_DEVICE_CORE_CONFIG_LIMITS_H
#define QEMU_DEVICE_CORE_CONFIG_LIMITS_H

#include "ppu/base.h"
#include "ppu/limits.h"

#define CORE_MAX_SM_WARPS 256u
#define CORE_MAX_SM_CTAS CORE_MAX_SM_WARPS
#define CORE_MAX_SM_VREGS (1u << 20)
#define CORE_MAX_SM_SHARED (16u * PPU_MIB)
#define CORE_MAX_SM_THREADS PPU_MAX_THREADS
#define CORE_MAX_RESIDENT (PPU_MAX_SMS * CORE_MAX_SM_CTAS) /* CTAs that can be on SMs at once */

#endif
