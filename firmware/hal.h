/* SPDX-License-Identifier: MIT */
/*
 * Declares the hardware abstraction: what the firmware needs from its platform. That is the MCU (hal_mcu.c), or a
 * process that has the same sources linked in (tests). Nothing else in firmware/ knows.
 *
 * Threads: one thread runs firmware_main() and calls everything here. The firmware
 * holds no lock, so an implementation may take its own inside any of these.
 *
 * Life: the device's registers are in their reset state, MCU_CONTROL apart, when firmware_main() is called; VRAM may
 * hold anything. It makes every object anew, sets BOOT_STATUS to READY or to what is wrong, and serves events until
 * hal_wait() returns false. After it has returned it may be called again, on any thread; only one at a time.
 */
#ifndef FIRMWARE_HAL_H
#define FIRMWARE_HAL_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/dma.h"
#include "ppu/regs.h"

/*
 * Marks a static object that descriptors name (dma.h): only such objects have an
 * MCU address. All of them lie in one section, whose bounds a host linker calls __start_fw_dma and __stop_fw_dma;
 * an implementation on a host makes MCU addresses by adding the offset in there to PPU_MCU_DTCM.
 */
#define FW_DMA __attribute__((section("fw_dma"), aligned(8)))

/*
 * The same, for a table with a row for each of what a device may have many or few of. The MCU's start-up code leaves it
 * alone: who keeps it zeroes the rows that there are.
 */
#ifdef __arm__
#define FW_DMA_ROWS __attribute__((section("fw_dma_rows"), aligned(8)))
#else
#define FW_DMA_ROWS FW_DMA
#endif

void firmware_main(void);

/* Register at byte offset `reg` (regs.def), as the MCU sees it. A store has its whole effect before it returns. */
uint32_t hal_read(uint32_t reg);
void hal_write(uint32_t reg, uint32_t value);

/* Memory of the device at a VRAM offset below 1 GiB. The same memory SM threads and the host work on. */
void *hal_vram(ppu_vram_t vram);

/* MCU address of an object marked FW_DMA, or of a part of one. */
uint32_t hal_mcu_address(const void *object);

/* Virtual clock of the device, ns. Never goes back. */
uint64_t hal_time(void);

/*
 * Interrupts that came since the last call, one bit (1 << enum ppu_irq) each, taken and acknowledged: the bit of
 * IRQ_PENDING is cleared before this returns, so that whatever the caller reads afterwards is at least as new.
 */
uint32_t hal_take_events(void);

/*
 * Sleeps until there are such interrupts, and takes them into *events; does not sleep when there are. May return early,
 * with 0. False: firmware_main() is to return (never on the MCU).
 */
bool hal_wait(uint32_t *events);

/* A fault of our own at file:line: leaves a crash record (boot.h), BOOT_STATUS CRASHED and an error
 * interrupt; stops. */
_Noreturn void hal_crash(const char *file, uint32_t line);

/* PPU_BUILD_ID_BYTES that name this build; zeros where there is no image. */
const uint8_t *hal_build_id(void);

#endif
