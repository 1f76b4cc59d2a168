/* SPDX-License-Identifier: MIT */
/*
 * Sets up memory protection (MPU). No background map: what no region covers faults, the first bytes of ITCM (vectors,
 * null pointers) among it; the core fetches vectors past the MPU.
 */
#include "boot/image.h"
#include "boot/scb.h"
#include "ppu/limits.h"
#include "ppu/macros.h"
#include "ppu/regs.h"

#define CTRL_ENABLE 1u
#define RBAR_EXECUTE_NEVER 1u
#define RBAR_READ_ONLY (2u << 1)
#define RBAR_SHAREABLE (3u << 3)
#define RLAR_ENABLE 1u
#define RLAR_ATTRIBUTE(n) ((n) << 1)
#define ATTRIBUTE_MEMORY 0u /* MAIR byte 0x44: normal, not cached */
#define ATTRIBUTE_DEVICE 1u /* MAIR byte 0x04: device nGnRE */
#define MAIR 0x0444u
#define GRANULE 32u
#define SHCSR_FAULTS_ENABLE (7u << 16) /* usage, bus and memory faults have their own exceptions */

struct region {
    uint32_t first;
    uint32_t end;
    uint32_t access; /* RBAR_* */
    uint32_t attribute;
};

static void region_set(uint32_t number, const struct region *region)
{
    MPU_RNR = number;
    MPU_RBAR = region->first | region->access;
    MPU_RLAR = ((region->end - 1) & ~(GRANULE - 1)) | RLAR_ATTRIBUTE(region->attribute) | RLAR_ENABLE;
}

void mpu_enable(void)
{
    const struct region regions[] = {
        { PPU_IMAGE_HEADER_OFFSET, (uint32_t)__code_end, RBAR_READ_ONLY, ATTRIBUTE_MEMORY },
        { (uint32_t)__dtcm_start, (uint32_t)__dtcm_end, RBAR_EXECUTE_NEVER, ATTRIBUTE_MEMORY },
        { PPU_MCU_REGS, PPU_MCU_REGS + PPU_REG_SPACE, RBAR_EXECUTE_NEVER, ATTRIBUTE_DEVICE },
        { PPU_MCU_VRAM, PPU_MCU_WINDOW, RBAR_EXECUTE_NEVER | RBAR_SHAREABLE, ATTRIBUTE_MEMORY },
        { PPU_MCU_WINDOW, PPU_MCU_WINDOW + PPU_MCU_WINDOW_BYTES, RBAR_EXECUTE_NEVER, ATTRIBUTE_DEVICE },
    };
    MPU_MAIR0 = MAIR;
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(regions); i++) {
        region_set(i, &regions[i]);
    }
    SCB_SHCSR |= SHCSR_FAULTS_ENABLE;
    __asm__ volatile("dsb" ::: "memory");
    MPU_CTRL = CTRL_ENABLE;
    __asm__ volatile("dsb\n\tisb" ::: "memory");
}
