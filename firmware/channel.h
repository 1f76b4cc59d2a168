/* SPDX-License-Identifier: MIT */
/*
 * Keeps channels (A2, A3): the ring of GP entries, the state of its execution, and what it has started. Channels that
 * can go on take turns: by priority, and in a circle among equals.
 */
#ifndef FIRMWARE_CHANNEL_H
#define FIRMWARE_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/list.h"
#include "firmware/timer.h"
#include "ppu/base.h"
#include "ppu/channel.h"
#include "ppu/counter.h"
#include "ppu/fault.h"

#define CHANNEL_TURN_METHODS 16u /* a turn executes at most so many */
#define CHANNEL_NO_WORKQ 0xffu

struct admin_ticket;
struct task;

/* Place in the command block being executed. */
struct block_cursor {
    ppu_gp_entry_t entry; /* where the block lies; 0: none */
    uint32_t correlation;
    uint16_t method; /* word at which the present method begins */
    uint16_t next;   /* word after it */
};

/* The acquire a PARKED channel waits at. */
struct sem_wait {
    ppu_va_t at;
    uint32_t value;
    uint32_t tag;      /* of the armed entry: an older touch is stale */
    uint16_t delay_us; /* until the next test */
    uint8_t compare;   /* enum ppu_sem_compare */
};

/* Names what a WAITING channel waits for. */
enum channel_need {
#define PPU_CHANNEL_NEED(name, number, doc) CHANNEL_NEEDS_##name = (number),
#include "ppu/task_state.def"
};

/* The fault that stopped a channel; in protected VRAM, as only who asks for it reads it. */
struct channel_fault {
    uint64_t address;
    uint64_t pc;
    uint32_t code; /* 0: none */
    uint32_t reserved;
};

/* Keeps the counts of a channel's tasks that have ended (counter.def); in protected VRAM, too. */
struct channel_counts {
    uint64_t count[PPU_COUNTERS];
};

struct channel {
    struct list_node
        turn; /* among the ready ones of its priority, those with the same need, or those that await a queue */
    struct list_node tasks;  /* started and not ended */
    struct list_node copies; /* the same */
    struct timer timer;
    uint8_t state; /* enum ppu_channel_state */
    uint8_t need;  /* enum channel_need, while WAITING */
    uint8_t priority;
    uint8_t vector; /* 0: none */
    uint16_t index; /* its own */
    uint16_t context;
    uint8_t workq;    /* number of the work queue it is, or CHANNEL_NO_WORKQ */
    uint8_t awaits;   /* while PARKED: that of the work queue it waits for, or CHANNEL_NO_WORKQ */
    uint32_t pending; /* tasks and copies started and not ended */
    ppu_va_t ring;
    uint32_t entries;
    uint32_t get;
    uint32_t put;                /* as last read */
    struct admin_ticket *ending; /* reset or destroy, answered when nothing of it runs */
    struct block_cursor block;
    struct sem_wait sem;
};

/* Needs caps. */
void channel_init(void);

/* Channel number `index`; NULL when there is no such channel on this machine. */
struct channel *channel_at(uint32_t index);

static inline uint32_t channel_index(const struct channel *channel)
{
    return channel->index;
}

/* The fault that stopped it. */
struct channel_fault *channel_last_fault(const struct channel *channel);

struct channel_counts *channel_counts(const struct channel *channel);
/* Adds those of a task. */
void channel_count(const struct channel *channel, const uint64_t count[PPU_COUNTERS]);

/* Opens a channel in state IDLE; NULL: none is left. Arguments are checked already. */
struct channel *channel_open(uint32_t context, ppu_va_t ring, uint32_t entries, uint32_t priority, uint32_t vector);

/* Where a ring that the firmware fills or hands out stands; get is not put. */
void channel_set_ring(struct channel *channel, uint32_t get, uint32_t put);

/* GP_PUT goes on by one entry. */
void channel_move_put(struct channel *channel);

/*
 * Ends all the channel started; the ticket is answered when nothing of it runs: the channel is then IDLE with an empty
 * ring (CHANNEL_RESET) or closed (CHANNEL_DESTROY). The channel is open and has no such request yet.
 */
void channel_end(struct channel *channel, struct admin_ticket *ticket);

/* The channel's doorbell rang. */
void channel_ring(struct channel *channel);

/* Gives the next channel its turn; true: there are more. */
bool channel_run_next(void);

/* ---- For the methods of a channel whose turn it is, and for what it started. ---- */

/* PARKED, at the acquire in channel->sem; and back. */
void channel_park(struct channel *channel);
void channel_wake(struct channel *channel);

/* WAITING; the present method is executed again when the need may be met. */
void channel_wait(struct channel *channel, enum channel_need need);

/* A task record or a place in the copy queue has come free: the channel that waited longest for it goes on. */
void channel_provide(enum channel_need need);

/* Everything below counts in channel->pending. */
void channel_add_task(struct channel *channel, struct task *task);
void channel_remove_task(struct channel *channel, struct task *task);
void channel_add_copy(struct channel *channel, struct list_node *copy);
void channel_remove_copy(struct channel *channel, struct list_node *copy);

/* Where the channel is: GP index << 32 | word within the block (ppu_error_record.pc). */
uint64_t channel_position(const struct channel *channel);

/* Reports the fault and stops the channel and all it started; its ring is not executed until CHANNEL_RESET. */
void channel_fail(struct channel *channel, struct ppu_error_record *record);

/* channel_fail() for a fault of the present method, block or ring entry. */
void channel_fault(struct channel *channel, enum ppu_fault code, uint64_t payload);

/* The same, for an access to memory that dma_failure() describes. */
void channel_fault_memory(struct channel *channel, enum ppu_fault code);

#endif
