/* SPDX-License-Identifier: MIT */
/*
 * Builds a device core in a test: VRAM, MCU memory and system memory as arrays, a clock that the test turns, and a
 * record of what the core did to the world outside.
 */
#ifndef TESTS_DEVICE_CORE_BOARD_H
#define TESTS_DEVICE_CORE_BOARD_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "ppu/dma.h"
#include "ppu/mmu.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_state.h"

/* Where things lie in VRAM after board_boot(). */
#define PROT_BASE 0x100000u
#define TOKENS_AT 0x300000u
#define TOKENS_BYTES 0xf0000u
#define PROT_LIMIT (TOKENS_AT + TOKENS_BYTES)
#define RING_AT(ring) (PROT_BASE + (ring)*0x1a000u)
#define TRACE_AT 0x1a0000u
#define TRACE_RECORDS 1024u
#define TMD_AT(slot) (0x1b0000u + (slot)*0x200u)
#define PARAMS_AT 0x1c0000u
#define TABLES_AT 0x1d0000u
#define HEAP_AT 0x400000u
#define MACHINE_VRAM (16u * PPU_MIB)

/* System memory: SYS_BYTES at bus address SYS_BASE. */
#define SYS_BASE 0x123400000ull
#define SYS_BYTES (4u * PPU_MIB)

#define MCU_BYTES (64u * PPU_KIB)
#define DESC_AT PPU_MCU_DTCM

struct board {
    struct core *core;
    struct core_config config;
    uint8_t *vram;
    uint8_t *mcu;
    uint8_t *sys;
    uint32_t next_table;
    uint64_t root[PPU_MAX_CONTEXTS];

    uint64_t now_ns; /* atomic */
    uint64_t deadline_ns;
    uint32_t kicked; /* atomic */
    bool bus_works;
    uint32_t bus_fails_in; /* n: the n-th access from now is refused */
    bool irq[PPU_IRQ_COUNT];
    uint32_t vectors[PPU_MAX_VECTORS];
    uint32_t guest_errors;
    uint32_t resets;
    uint32_t run_requests;
    bool run;
    char last_char;
    bool hidden;                             /* VRAM, from all but the core */
    uint64_t cleared_bytes;                  /* of VRAM */
    uint64_t zeros_at, zeros_bytes;          /* of VRAM, what the host knows to be zeros */
    void (*during_dma)(struct board *board); /* called by every bus access, as a device that is reached by DMA */
};

/* The smallest machine that shows everything; sm_threads as asked. */
struct core_config board_small_config(uint32_t sm_threads);
struct board *board_new(const struct core_config *config);
void board_free(struct board *board);
/* Gives what is in VRAM and in system memory to a board that is made alike. */
void board_move_memory(struct board *to, struct board *from);
/* What the firmware does first: protected range, rings, trace ring. */
void board_boot(struct board *board);
/* Runs the bottom half until nothing asks for it. */
void board_settle(struct board *board);
/* Lets time pass, timers and bottom halves run as they fall due. */
void board_advance(struct board *board, uint64_t ns);

void mcu_write(struct board *board, uint32_t reg, uint32_t value);
uint32_t mcu_read(struct board *board, uint32_t reg);
void host_write(struct board *board, uint32_t reg, uint32_t value);
uint32_t host_read(struct board *board, uint32_t reg);

/* Submits a descriptor; it holds the answer afterwards. Returns its status. */
uint32_t submit(struct board *board, struct ppu_dma_desc *desc);
/* Takes an entry as the MCU does; false: the ring is empty. */
bool ring_pop(struct board *board, enum ppu_ring_id ring, void *entry);

/* Maps one page; `bits` are PPU_PTE_* without size and valid. */
void map_page(struct board *board, uint32_t context, uint64_t va, uint64_t frame, enum ppu_pte_size size,
              uint64_t bits);
/* Place of the entry of `level` that serves va, which must have tables down to there. */
uint32_t pte_at(struct board *board, uint32_t context, uint64_t va, uint32_t level);
uint64_t read_pte(struct board *board, uint32_t at);
void write_pte(struct board *board, uint32_t at, uint64_t pte);

/* A TMD copy that this device runs: grid x * y * z of CTAs of `threads`. */
struct ppu_tmd good_tmd(uint32_t x, uint32_t y, uint32_t z, uint32_t threads);
void start_task(struct board *board, uint32_t slot, const struct ppu_tmd *tmd);

/* Random numbers from PPU_SEED or a fixed seed; the seed is printed. */
uint64_t random_seed(void);
/* How many rounds a random test does: `usual`, times PPU_LONG and divided by PPU_SHORT when they are set. */
uint32_t random_rounds(uint32_t usual);
uint64_t random_next(uint64_t *state);
uint32_t random_below(uint64_t *state, uint32_t limit);
void random_bytes(uint64_t *state, void *bytes, size_t len);

#endif
