/* SPDX-License-Identifier: MIT */
/*
 * Mocks a device that a test drives step by step, under the firmware's hal.h. The firmware runs in a thread of its
 * own, but never at the same time as the test: mock_settle() lets it run until it would sleep.
 */
#ifndef TESTS_FIRMWARE_MOCK_HAL_H
#define TESTS_FIRMWARE_MOCK_HAL_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/admin.h"
#include "ppu/boot.h"
#include "ppu/channel.h"
#include "ppu/dma.h"
#include "ppu/fault.h"
#include "ppu/regs.h"
#include "ppu/ring.h"
#include "ppu/sem.h"
#include "ppu/task.h"
#include "ppu/tmd.h"
#include "ppu/trace.h"

#define MOCK_VRAM_BYTES (32u * PPU_MIB)
#define MOCK_SLOTS 4u
#define MOCK_CHANNELS 64u
#define MOCK_CONTEXTS 4u

/* Every open context maps the same MOCK_MEMORY_BYTES at MOCK_MEMORY_VA. */
#define MOCK_MEMORY_VA 0x100000ull
#define MOCK_MEMORY_BYTES (1u * PPU_MIB)
/* All of VRAM, too. */
#define MOCK_VRAM_VA (1ull << 40)

struct mock {
    uint32_t reg[PPU_REG_SPACE / 4];
    uint8_t *vram;
    uint8_t memory[MOCK_MEMORY_BYTES];
    uint64_t now_ns;
    uint32_t raised[PPU_MAX_VECTORS];
    uint32_t slot_task[PPU_MAX_SLOTS];    /* VRAM offset of the TMD copy, 0: free */
    uint32_t slot_command[PPU_MAX_SLOTS]; /* last written to SLOT_CONTROL */
    uint64_t slot_run_ns[PPU_MAX_SLOTS];  /* that CTAs of the task were on SMs, until slot_since_ns */
    uint64_t slot_since_ns[PPU_MAX_SLOTS];
    uint64_t slot_step_ns[PPU_MAX_SLOTS]; /* slot_run_ns when a CTA began or ended last */
    bool slot_waits[PPU_MAX_SLOTS];       /* its CTAs find no room */
    uint64_t lingering;                   /* bit n: slot n is PARKED when SLOT_LINGER becomes 0 */
    uint32_t started;                     /* SLOT_START writes */
    uint32_t start_log[4096];             /* correlation of each task started */
    bool hold_kills;                      /* KILLED events come from mock_slot_event() only */
    bool hold_flushes;
    uint32_t flushes; /* held */
    struct ppu_dma_desc copy[PPU_MAX_COPIES];
    uint32_t copies;
    struct {
        bool armed;
        uint64_t va;
        uint32_t tag;
    } sem[PPU_MAX_ARMED];
    uint32_t marks[16]; /* times each mark was written */
    char log[4096];
    uint32_t log_used;
    uint32_t accesses; /* to registers */
};

extern struct mock mock;

/* Registers in their reset state, firmware started and ready. */
void mock_start(void);
/* The same with the test hooks' feature bit. */
void mock_start_with_hooks(void);
/* The same with so many slots and address spaces. */
void mock_start_with_slots(uint32_t slots, uint32_t contexts);
/* The same with so many channels. */
void mock_start_with_channels(uint32_t channels);
/* Ends the firmware. */
void mock_stop(void);

/* Lets the firmware run until it sleeps. */
void mock_settle(void);
/* The same without starting it: registers and memory in their reset state. */
void mock_reset(void);

/* Fixtures of cmocka: the reset state before a test, and no firmware after it. */
int mock_setup(void **state);
int mock_teardown(void **state);

/* Virtual time passes; the timer fires when it is due. Settles. */
void mock_advance(uint64_t ns);

/* Host side. Each settles, except where it says not. */
void mock_doorbell(uint32_t channel, uint32_t put);
/* Sends a request and waits for its reply. */
struct ppu_admin_msg mock_admin(uint16_t op, const uint32_t *arg, uint32_t args);
/* Sends only; reply from mock_admin_reply(). */
void mock_admin_send(const struct ppu_admin_msg *request);
bool mock_admin_reply(struct ppu_admin_msg *reply);
uint64_t mock_query(uint32_t key, uint32_t object);
/* Next error record; false: none. */
bool mock_error(struct ppu_error_record *record);

uint32_t mock_context(void);
uint32_t mock_channel(uint32_t context, uint64_t ring_va, uint32_t entries, uint32_t priority, uint32_t vector);

/* Device side; do not settle. */
void mock_push(enum ppu_ring_id id, const void *entry);
/* The semaphore at this address was released. */
void mock_touch(uint64_t va);
void mock_slot_event(uint32_t slot, enum ppu_slot_event_kind kind, uint32_t arg);
/* From now on the CTAs of the slot find room, or none; both before time passes. */
void mock_slot_room(uint32_t slot, bool room);
/* A CTA of the slot begins or ends. */
void mock_slot_step(uint32_t slot);
void mock_flush_done(void);
/* Ends the oldest queued copy: done, or with this status after done_bytes. */
void mock_copy_end(uint16_t status, uint64_t done_bytes);

/* Object in a context's memory; va within it. */
void *mock_at(uint64_t va);

/* A TMD that passes every check. */
struct ppu_tmd mock_tmd(uint32_t correlation);

const struct ppu_fw_info *mock_info(void);

#endif
