/* SPDX-License-Identifier: MIT */
/* hal.h on the Cortex-M33: the only file of the firmware that knows addresses and instructions of the core. */
#include "firmware/hal_mcu.h"

#include "firmware/hal.h"
#include "ppu/boot.h"

#define NVIC_ISER0 (*(volatile uint32_t *)0xe000e100u)

#define IRQ_LINES ((1u << PPU_IRQ_COUNT) - 1)

static uint32_t events; /* set by hal_interrupt(), taken by the thread */

const char *hal_crash_file;
uint32_t hal_crash_line;

uint32_t hal_read(uint32_t reg)
{
    return *hal_mcu_reg(reg);
}

/* The barriers keep stores to VRAM and DTCM on their side of a store that makes the device look at them. */
void hal_write(uint32_t reg, uint32_t value)
{
    __asm__ volatile("dmb" ::: "memory");
    *hal_mcu_reg(reg) = value;
    __asm__ volatile("" ::: "memory");
}

void *hal_vram(ppu_vram_t vram)
{
    return (void *)(PPU_MCU_VRAM + vram.off);
}

uint32_t hal_mcu_address(const void *object)
{
    return (uint32_t)object;
}

uint64_t hal_time(void)
{
    uint32_t high = hal_read(PPU_REG_TIME_HI);
    for (;;) {
        uint32_t low = hal_read(PPU_REG_TIME_LO);
        uint32_t again = hal_read(PPU_REG_TIME_HI);
        if (again == high) {
            return (uint64_t)high << 32 | low;
        }
        high = again;
    }
}

void hal_interrupt(void)
{
    uint32_t number;
    __asm__ volatile("mrs %0, ipsr" : "=r"(number));
    uint32_t bit = 1u << (number - 16);
    hal_write(PPU_REG_IRQ_PENDING, bit);
    __atomic_fetch_or(&events, bit, __ATOMIC_RELAXED);
}

void hal_interrupts_enable(void)
{
    NVIC_ISER0 = IRQ_LINES;
    __asm__ volatile("cpsie i" ::: "memory");
}

uint32_t hal_take_events(void)
{
    return __atomic_exchange_n(&events, 0, __ATOMIC_ACQUIRE);
}

/* Interrupts are masked between the last look and WFI, which a pending one ends all the same. The device may take a
 * while to answer, when it expects one. */
bool hal_wait(void)
{
    __asm__ volatile("cpsid i" ::: "memory");
    if (__atomic_load_n(&events, __ATOMIC_RELAXED) == 0) {
        (void)hal_read(PPU_REG_MCU_IDLE);
        __asm__ volatile("dsb\n\twfi" ::: "memory");
    }
    __asm__ volatile("cpsie i\n\tisb" ::: "memory");
    return true;
}

/* The undefined instruction enters boot/crash.c with the registers of the caller's failed assertion. */
_Noreturn void hal_crash(const char *file, uint32_t line)
{
    hal_crash_file = file;
    hal_crash_line = line;
    __builtin_trap();
}

const uint8_t *hal_build_id(void)
{
    static const struct ppu_image_header *const header =
        (const struct ppu_image_header *)(PPU_MCU_ITCM + PPU_IMAGE_HEADER_OFFSET);
    return header->build_id;
}
