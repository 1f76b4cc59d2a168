/* SPDX-License-Identifier: MIT */
/*
 * Defines the registers of the core's system control space that start-up and crash code use (ARMv8-M Architecture
 * Reference Manual).
 */
#ifndef BOOT_SCB_H
#define BOOT_SCB_H

#include <stdint.h>

#define SCB_SHCSR (*(volatile uint32_t *)0xe000ed24u)
#define SCB_CFSR (*(volatile uint32_t *)0xe000ed28u)
#define SCB_HFSR (*(volatile uint32_t *)0xe000ed2cu)
#define SCB_MMFAR (*(volatile uint32_t *)0xe000ed34u)
#define SCB_BFAR (*(volatile uint32_t *)0xe000ed38u)
#define MPU_CTRL (*(volatile uint32_t *)0xe000ed94u)
#define MPU_RNR (*(volatile uint32_t *)0xe000ed98u)
#define MPU_RBAR (*(volatile uint32_t *)0xe000ed9cu)
#define MPU_RLAR (*(volatile uint32_t *)0xe000eda0u)
#define MPU_MAIR0 (*(volatile uint32_t *)0xe000edc0u)

#endif
