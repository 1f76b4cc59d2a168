/* SPDX-License-Identifier: MIT */
#include "tests/joined/host.h"

#include <stdio.h>
#include <stdlib.h>

#include "firmware/hal.h"
#include "ppu/boot.h"
#include "ppu/mmu.h"
#include "qemu-device/core/memory/guest_mem.h"

/* Bounds of the section of FW_DMA objects, from the linker. */
extern uint8_t __start_fw_dma[], __stop_fw_dma[];

/* ---- system memory ---- */

bool joined_bus_init(struct joined_bus *bus, uint8_t *memory, uint64_t bytes)
{
    *bus = (struct joined_bus){ .memory = memory, .bytes = bytes };
    return range_pool_init(&bus->free, JOINED_BUS_BASE, bytes);
}

void joined_bus_fini(struct joined_bus *bus)
{
    range_pool_fini(&bus->free);
}

/* NULL: it is not all there for the function. */
static uint8_t *memory_at(const struct joined_bus *bus, uint64_t address, uint32_t len_bytes)
{
    const bool there = bus->master && address >= JOINED_BUS_BASE && len_bytes <= bus->bytes &&
                       address - JOINED_BUS_BASE <= bus->bytes - len_bytes;

    return there ? bus->memory + (address - JOINED_BUS_BASE) : NULL;
}

bool joined_bus_read(const struct joined_bus *bus, uint64_t address, void *buf, uint32_t len_bytes)
{
    const uint8_t *from = memory_at(bus, address, len_bytes);

    if (from) {
        vram_copy(buf, from, len_bytes);
    }
    return from;
}

bool joined_bus_write(const struct joined_bus *bus, uint64_t address, const void *buf, uint32_t len_bytes)
{
    uint8_t *to = memory_at(bus, address, len_bytes);

    if (to) {
        vram_copy(to, buf, len_bytes);
    }
    return to;
}

enum ppu_err joined_bus_take(struct joined_bus *bus, uint64_t bytes, struct ppu_system_memory *memory)
{
    uint64_t address = 0;

    if (!range_take(&bus->free, bytes, bytes >= PPU_PAGE_2M ? PPU_PAGE_2M : PPU_PAGE_64K, &address)) {
        return PPU_ERR_NO_MEMORY;
    }
    *memory = (struct ppu_system_memory){ bus->memory + (address - JOINED_BUS_BASE), { address }, bytes, NULL };
    return PPU_OK;
}

void joined_bus_give(struct joined_bus *bus, const struct ppu_system_memory *memory)
{
    range_give(&bus->free, memory->bus.bus);
}

/* ---- the MCU's memory ---- */

void *joined_mcu_mem(void *opaque, uint32_t mcu_addr, uint32_t len_bytes)
{
    size_t size = (uintptr_t)__stop_fw_dma - (uintptr_t)__start_fw_dma;
    uint64_t offset = (uint64_t)mcu_addr - PPU_MCU_DTCM;

    (void)opaque;
    return mcu_addr >= PPU_MCU_DTCM && len_bytes <= size && offset <= size - len_bytes ? __start_fw_dma + offset : NULL;
}

uint32_t hal_mcu_address(const void *object)
{
    return PPU_MCU_DTCM + (uint32_t)((const uint8_t *)object - __start_fw_dma);
}

const uint8_t *hal_build_id(void)
{
    static const uint8_t zeros[PPU_BUILD_ID_BYTES];

    return zeros;
}

/* ---- VRAM ---- */

void joined_vram_hide(void *opaque, bool hide)
{
    (void)opaque, (void)hide;
}

/* ---- text ---- */

void joined_log_char(void *opaque, char c)
{
    (void)opaque;
    if (getenv("PPU_TEST_LOG")) {
        fputc(c, stderr);
    }
}

void joined_log_guest_error(const char *sentence)
{
    if (getenv("PPU_TEST_LOG")) {
        fprintf(stderr, "guest error: %s\n", sentence);
    }
}
