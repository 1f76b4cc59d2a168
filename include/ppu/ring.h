/* SPDX-License-Identifier: MIT */
/*
 * Defines the event rings from the device to the firmware, in the protected range of VRAM. Producer: the device (SM
 * threads, copy engine, distributor). Consumer: the MCU, which reads them as memory. Indices run freely and are
 * compared by difference only; the entry count is a power of two.
 *
 * The device writes `tail` (release, after the entry), the MCU `head` (release, after the entry was read). After a push
 * the device reads `head` again, after a pop the MCU reads `tail` again, both behind a full fence. So either the device
 * sees an empty ring and raises the event interrupt, or the MCU sees the entry.
 */
#ifndef PPU_RING_H
#define PPU_RING_H

#include "ppu/base.h"

/* Which ring; index of the RING_* registers. */
enum ppu_ring_id {
    PPU_RING_START = 0, /* start requests of threads (B1); may fill: the warp stalls */
    PPU_RING_SLOT = 1,  /* slot and flush events; sized for the worst case */
    PPU_RING_FAULT = 2, /* faults of tasks; may fill: the warp stalls */
    PPU_RING_COPY = 3,  /* finished copies; sized for the worst case */
    PPU_RING_TOUCH = 4, /* touched semaphores; sized for the worst case */
    PPU_RING_TOKEN = 5, /* token queues at an end of their space (E7); may fill: the warp stalls */
    PPU_RING_COUNT = 6,
};

struct ppu_ring_header {
    uint32_t tail; /* written by the device */
    uint32_t reserved0[15];
    uint32_t head; /* written by the MCU */
    uint32_t reserved1[15];
};
PPU_ASSERT_SIZE(struct ppu_ring_header, 128);
PPU_ASSERT_OFFSET(struct ppu_ring_header, head, 64);

#define PPU_RING_ENTRY_BYTES 64u
#define PPU_RING_BYTES(count) ((uint32_t)sizeof(struct ppu_ring_header) + (count)*PPU_RING_ENTRY_BYTES)

/* Entry of PPU_RING_START: a thread asks for a task to be started (B4, last step). */
struct ppu_start_event {
    uint32_t slot;    /* slot of the asking thread's task */
    uint32_t task;    /* record of the asking thread's task: VRAM offset of its TMD copy */
    uint32_t handle;  /* untrusted: the task to start */
    uint32_t former;  /* untrusted: the former task when its link read WAITING, else 0 */
    uint32_t context; /* address space of the asking thread */
    uint32_t correlation;
    uint32_t reserved[10];
};
PPU_ASSERT_SIZE(struct ppu_start_event, PPU_RING_ENTRY_BYTES);

/* Kinds of entries of PPU_RING_SLOT. */
enum ppu_slot_event_kind {
    PPU_SLOT_DONE = 1,    /* every CTA has ended; memory transactions performed (C8) */
    PPU_SLOT_KILLED = 2,  /* stopped by SLOT_KILL or by a fault: nothing of it runs any more */
    PPU_SLOT_STOPPED = 3, /* no further CTA is handed out and none runs (STOP, SAVE): started again, it goes on */
    PPU_SLOT_FLUSHED = 4, /* every SM has dropped the translations of `context` */
    PPU_SLOT_REFUSED = 5, /* SLOT_START named no usable TMD copy; `arg` is a fault code */
    PPU_SLOT_WAITS = 6,   /* CTAs have been saved that wait for children; not again until RESUME (B7);
                             never with CTA_GROUPS */
    PPU_SLOT_PARKED = 7,  /* no CTA can go on or begin: those that have begun wait for children (B7), `arg` of them; a
                             queue task has no entries left (A6). The slot is free */
};

struct ppu_slot_event {
    uint32_t kind;    /* enum ppu_slot_event_kind */
    uint32_t slot;    /* not for PPU_SLOT_FLUSHED */
    uint32_t task;    /* VRAM offset of the TMD copy the slot runs */
    uint32_t context; /* PPU_SLOT_FLUSHED: address space */
    uint32_t arg; /* PPU_SLOT_FLUSHED: value written to MMU_FLUSH_TAG; REFUSED: fault code; PARKED: CTAs that wait */
    uint32_t reserved0;
    uint64_t time_ns;    /* virtual clock */
    uint64_t ctas_done;  /* CTAs that ended by themselves */
    uint64_t warp_insns; /* warp instructions of the task so far */
    uint32_t reserved1[4];
};
PPU_ASSERT_SIZE(struct ppu_slot_event, PPU_RING_ENTRY_BYTES);

/* Entry of PPU_RING_FAULT; precise: names the first faulting instruction of a warp (fault.def). */
struct ppu_fault_event {
    uint16_t code;  /* fault.def */
    uint8_t access; /* enum ppu_access */
    uint8_t sm;
    uint32_t slot;
    uint32_t task;    /* VRAM offset of the TMD copy */
    uint32_t context; /* address space */
    uint64_t address; /* virtual address, or what the fault.def row says */
    uint64_t pc;      /* virtual address of the instruction */
    uint32_t lanes;   /* mask of the lanes that faulted, of pass `pass` */
    uint16_t warp;    /* warp within its CTA */
    uint16_t pass;
    uint32_t cta[3];
    uint32_t correlation;
    uint32_t reserved[2];
};
PPU_ASSERT_SIZE(struct ppu_fault_event, PPU_RING_ENTRY_BYTES);

enum ppu_access {
    PPU_ACCESS_READ = 0,
    PPU_ACCESS_WRITE = 1,
    PPU_ACCESS_ATOMIC = 2,
    PPU_ACCESS_FETCH = 3,
};

/* Entry of PPU_RING_COPY. */
struct ppu_copy_event {
    uint32_t tag;    /* of the descriptor */
    uint16_t status; /* fault.def, 0 done */
    uint8_t access;  /* enum ppu_access of the side that failed */
    uint8_t reserved0;
    uint64_t address; /* that failed */
    uint64_t done_bytes;
    uint64_t time_ns;
    uint32_t reserved[8];
};
PPU_ASSERT_SIZE(struct ppu_copy_event, PPU_RING_ENTRY_BYTES);

/* Entry of PPU_RING_TOUCH: an armed word was written by SEM_RELEASE; it is disarmed. */
struct ppu_touch_event {
    uint32_t entry; /* index into the semaphore table */
    uint32_t tag;   /* given when it was armed */
    uint32_t reserved[14];
};
PPU_ASSERT_SIZE(struct ppu_touch_event, PPU_RING_ENTRY_BYTES);

/*
 * Entry of PPU_RING_TOKEN: the warp's next instruction may push tokens for which there is room, but not at that end of
 * the space (E7). The warp waits for a write of TOKEN_MOVE.
 */
struct ppu_token_event {
    uint32_t sm;
    uint32_t warp;    /* of the SM */
    uint32_t first;   /* entry at the front of the queue */
    uint32_t count;   /* tokens in it */
    uint32_t entries; /* of its space */
    uint32_t front;   /* free entries wanted before the first token */
    uint32_t back;    /* behind the last one: `front` and `back` are free together */
    uint32_t slot;
    uint32_t context; /* address space */
    uint32_t correlation;
    uint32_t reserved[6];
};
PPU_ASSERT_SIZE(struct ppu_token_event, PPU_RING_ENTRY_BYTES);

#endif
