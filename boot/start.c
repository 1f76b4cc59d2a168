/* SPDX-License-Identifier: MIT */
/* Starts the MCU: checks the image, fills data and bss, enables the MPU, and calls the firmware. */
#include <string.h>

#include "boot/image.h"
#include "firmware/hal.h"
#include "firmware/hal_mcu.h"

/* Leaves the MCU asleep for good; the host may hold and release it again. */
static _Noreturn void stay_down(void)
{
    for (;;) {
        __asm__ volatile("cpsid i\n\twfi");
    }
}

_Noreturn void start(void)
{
    __asm__ volatile("msr msplim, %0" : : "r"(__stack_limit));
    *hal_mcu_reg(PPU_REG_BOOT_STATUS) = PPU_BOOT_STARTED;
    uint32_t detail = 0;
    uint32_t status = image_check((const volatile uint8_t *)PPU_MCU_ITCM, (uint32_t)__image_end,
                                  *hal_mcu_reg(PPU_REG_ABI_VERSION), &detail);
    if (status != PPU_BOOT_STARTED) {
        *hal_mcu_reg(PPU_REG_BOOT_DETAIL) = detail;
        *hal_mcu_reg(PPU_REG_BOOT_STATUS) = status;
        stay_down();
    }
    memcpy(__data_start, __data_load, (size_t)(__data_end - __data_start));
    memset(__bss_start, 0, (size_t)(__bss_end - __bss_start));
    mpu_enable();
    hal_interrupts_enable();
    firmware_main();
    stay_down();
}
