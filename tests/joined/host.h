/* SPDX-License-Identifier: MIT */
/*
 * Gives the device core its machine when that is one process with its tests: system memory behind the bus, the MCU's
 * memory that DMA reaches, and where text goes. The process has threads (joined.h) or steps (tests/fuzz/stepped.h).
 */
#ifndef TESTS_JOINED_HOST_H
#define TESTS_JOINED_HOST_H

#include "runtime/range.h"
#include "runtime/transport.h"

#define JOINED_BUS_BASE 0x40000000ull

/* System memory, at bus address JOINED_BUS_BASE. */
struct joined_bus {
    uint8_t *memory;
    uint64_t bytes;
    bool master; /* the function may reach it */
    struct range_pool free;
};

/* The memory is the caller's. False: no memory for the pool. */
bool joined_bus_init(struct joined_bus *bus, uint8_t *memory, uint64_t bytes);
void joined_bus_fini(struct joined_bus *bus);
/* The function's DMA. False: the bus refuses. */
bool joined_bus_read(const struct joined_bus *bus, uint64_t address, void *buf, uint32_t len_bytes);
bool joined_bus_write(const struct joined_bus *bus, uint64_t address, const void *buf, uint32_t len_bytes);
enum ppu_err joined_bus_take(struct joined_bus *bus, uint64_t bytes, struct ppu_system_memory *memory);
void joined_bus_give(struct joined_bus *bus, const struct ppu_system_memory *memory);

/* core_host_ops.mcu_mem: the firmware's objects that DMA reaches. */
void *joined_mcu_mem(void *opaque, uint32_t mcu_addr, uint32_t len_bytes);
/* core_host_ops.vram_hide: nothing; libppu waits for MCU_STATE instead. */
void joined_vram_hide(void *opaque, bool hide);
/* core_host_ops.log_char, and what the device says of its guest: shown when PPU_TEST_LOG is set. */
void joined_log_char(void *opaque, char c);
void joined_log_guest_error(const char *sentence);

#endif
