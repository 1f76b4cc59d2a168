/* SPDX-License-Identifier: MIT */
/* hal.h on the Cortex-M33: the only file of the firmware that knows addresses and instructions of the core. */
#include "firmware/hal_mcu.h"

#include "firmware/hal.h"
#include "ppu/boot.h"

#define NVIC_ISER0 (*(volatile uint32_t *)0xe000e100u)
#define NVIC_ICPR0 (*(volatile uint32_t *)0xe000e280u)

#define IRQ_LINES ((1u << PPU_IRQ_COUNT) - 1)

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

/* As read last. */
static struct {
    uint32_t low, high;
} latest = { UINT32_MAX, 0 };

/* Never inline: its registers would be saved each time. */
static __attribute__((noinline)) uint64_t read_time(void)
{
    for (;;) {
        latest.high = hal_read(PPU_REG_TIME_HI);
        latest.low = hal_read(PPU_REG_TIME_LO);
        if (hal_read(PPU_REG_TIME_HI) == latest.high) {
            return (uint64_t)latest.high << 32 | latest.low;
        }
    }
}

/* The high half changes every four seconds. It is read again when the low half fell, or the MCU has slept. */
uint64_t hal_time(void)
{
    uint32_t low = hal_read(PPU_REG_TIME_LO);
    if (low < latest.low) {
        return read_time();
    }
    latest.low = low;
    return (uint64_t)latest.high << 32 | low;
}

/*
 * No interrupt is ever taken: they stay masked, and one that is pending ends WFI all the same. So nothing is saved and
 * restored for it.
 */
void hal_interrupts_enable(void)
{
    __asm__ volatile("cpsid i" ::: "memory");
    NVIC_ISER0 = IRQ_LINES;
}

/*
 * A line is up while its bit is set. An interrupt pends from when its line goes up, and as long as the line is up it
 * cannot be made to pend no more: an event that comes between the two stores is not lost.
 */
static inline uint32_t acknowledge(uint32_t events)
{
    if (events) {
        hal_write(PPU_REG_IRQ_PENDING, events);
        NVIC_ICPR0 = events;
    }
    return events;
}

uint32_t hal_take_events(void)
{
    return acknowledge(hal_read(PPU_REG_IRQ_PENDING));
}

/* The device may take a while to answer, when it expects an interrupt. */
bool hal_wait(uint32_t *events)
{
    *events = acknowledge(hal_read(PPU_REG_MCU_IDLE));
    if (!*events) {
        __asm__ volatile("dsb\n\twfi" ::: "memory");
        latest.low = UINT32_MAX;
    }
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
