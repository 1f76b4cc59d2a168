/* SPDX-License-Identifier: MIT */
/* Names the registers, from regs.def, the values they hold, and the BARs. Also the BARs. */
#ifndef PPU_REGS_H
#define PPU_REGS_H

#include "ppu/base.h"
#include "ppu/limits.h"

#define PPU_MAGIC 0x30555050u     /* "PPU0" */
#define PPU_RESET_KEY 0x54534552u /* "REST" */

#define PPU_PCI_VENDOR 0x1234u
#define PPU_PCI_DEVICE 0x9955u

/* Byte offset of each register: PPU_REG_<name>; of element n: PPU_REG_<name> + 4 * n. */
enum ppu_reg {
#define PPU_REG(name, offset, count, host, mcu, owner, reset, mask, doc) PPU_REG_##name = (offset),
#include "ppu/regs.def"
#undef PPU_REG
};

/* Elements of each register array: PPU_REGS_<name>. */
enum ppu_reg_count {
#define PPU_REG(name, offset, count, host, mcu, owner, reset, mask, doc) PPU_REGS_##name = (count),
#include "ppu/regs.def"
#undef PPU_REG
};

#define PPU_REG_SPACE 0x14000u /* bytes that hold registers */

/* BARs. */
#define PPU_BAR_REGS 0
#define PPU_BAR_DOORBELLS 2
#define PPU_BAR_VRAM 4
#define PPU_BAR0_SIZE (4u * PPU_MIB)
#define PPU_BAR0_MSIX_TABLE 0x20000u
#define PPU_BAR0_MSIX_PBA 0x28000u
#define PPU_BAR0_ITCM 0x180000u /* windows onto the MCU's memories; writable while it is held */
#define PPU_BAR0_DTCM 0x200000u

/* The MCU's memory map. */
#define PPU_MCU_ITCM 0x00000000u
#define PPU_MCU_DTCM 0x20000000u
#define PPU_MCU_REGS 0x40000000u
#define PPU_MCU_VRAM 0x60000000u   /* first GiB of VRAM */
#define PPU_MCU_WINDOW 0xa0000000u /* 64 KiB of system memory at WINDOW_HI:LO */
#define PPU_MCU_ITCM_BYTES (512u * PPU_KIB)
#define PPU_MCU_DTCM_BYTES (2u * PPU_MIB)
#define PPU_MCU_WINDOW_BYTES (64u * PPU_KIB)

/* FEATURES */
#define PPU_FEATURE_TEST_HOOKS (1u << 0)
#define PPU_FEATURE_RESTARTABLE_FAULTS (1u << 1)
#define PPU_FEATURE_TASKQ (1u << 2)
#define PPU_FEATURE_NESTED (1u << 3)
#define PPU_FEATURE_CACHE_MODEL (1u << 4) /* caches are modelled, and what they do is counted (counter.def) */
#define PPU_FEATURE_SUBVECTOR (1u << 5)   /* SVENTER and SVLEAVE exist, and parts of a warp share registers (D4, D10) */

/* MCU_STATE */
enum ppu_mcu_state {
    PPU_MCU_HELD = 0,
    PPU_MCU_RUNNING = 1,
    PPU_MCU_LOCKUP = 2,   /* it can be released again after being held */
    PPU_MCU_CLEARING = 3, /* held, and VRAM is being cleared after a reset: it cannot be reached yet */
};

/* IRQ_PENDING: interrupt lines of the MCU */
enum ppu_irq {
    PPU_IRQ_DOORBELL = 0,
    PPU_IRQ_EVENT = 1, /* some ring went from empty to non-empty */
    PPU_IRQ_ADMIN = 2,
    PPU_IRQ_TIMER = 3,
    PPU_IRQ_ERROR = 4, /* DEVICE_ERROR is not zero */
    PPU_IRQ_COUNT = 5,
};

#define PPU_DB_NONE UINT32_MAX /* DB_NEXT */

/* DEVICE_ERROR */
#define PPU_DEVERR_RING (1u << 0)  /* ring base or size unusable, or its head is beyond its tail */
#define PPU_DEVERR_DESC (1u << 1)  /* descriptor address or contents unusable */
#define PPU_DEVERR_SLOT (1u << 2)  /* slot started while busy, or no such slot */
#define PPU_DEVERR_TRACE (1u << 3) /* trace ring unusable */
#define PPU_DEVERR_PROT (1u << 4)  /* protected range unusable */
#define PPU_DEVERR_ARG (1u << 5)   /* address space, semaphore entry, or vector out of range */

/* SLOT_CONTROL */
enum ppu_slot_command {
    PPU_SLOT_CMD_STOP = 1,   /* hand out no further CTA; event STOPPED when none runs */
    PPU_SLOT_CMD_KILL = 2,   /* end what runs; event KILLED when nothing does */
    PPU_SLOT_CMD_SAVE = 3,   /* as STOP, and CTAs with a place are saved instead of drained (A5) */
    PPU_SLOT_CMD_RESUME = 4, /* CTAs that the last event WAITS told of go on (B7); with CTA_GROUPS those
                                that wait and whose group has no work */
};

/* TOKEN_HANDLER */
enum ppu_token_handler {
    PPU_TOKEN_BY_SM = 0,       /* at once, within the instruction */
    PPU_TOKEN_BY_FIRMWARE = 1, /* an entry of the token ring asks, and TOKEN_MOVE answers */
};

/* TOKEN_MOVE */
#define PPU_TOKEN_MOVE(sm, warp, first) ((uint32_t)(sm) << 24 | (uint32_t)(warp) << 16 | (uint32_t)(first))
#define PPU_TOKEN_MOVE_SM(value) ((value) >> 24)
#define PPU_TOKEN_MOVE_WARP(value) ((value) >> 16 & 0xffu)
#define PPU_TOKEN_MOVE_FIRST(value) ((value)&0xffffu)

/* SLOT_RANK */
#define PPU_SLOT_RANK_MASK 0xffu
#define PPU_SLOT_LEVEL_MASK 0xfu
#define PPU_SLOT_LEVELS 8u /* a level beyond is as this one */
#define PPU_SLOT_CLAIMS (1u << 8)
#define PPU_SLOT_PREEMPTS (1u << 9)

/* SLOT_STATE */
enum ppu_slot_state {
    PPU_SLOT_FREE = 0,
    PPU_SLOT_RUNNING = 1,
    PPU_SLOT_STOPPING = 2,
    PPU_SLOT_KILLING = 3,
};

/* MSI-X vectors with a fixed meaning */
#define PPU_VECTOR_ERROR 0u
#define PPU_VECTOR_ADMIN 1u
#define PPU_VECTOR_FIRST_CHANNEL 2u

#endif
