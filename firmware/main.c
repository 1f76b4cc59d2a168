/* SPDX-License-Identifier: MIT */
/* Initialises the firmware in order, and runs the loop that serves events until there is none. */
#include "firmware/admin.h"
#include "firmware/block.h"
#include "firmware/caps.h"
#include "firmware/channel.h"
#include "firmware/commands.h"
#include "firmware/completion.h"
#include "firmware/context.h"
#include "firmware/copy.h"
#include "firmware/dma.h"
#include "firmware/doorbell.h"
#include "firmware/fault.h"
#include "firmware/hal.h"
#include "firmware/layout.h"
#include "firmware/log.h"
#include "firmware/nest.h"
#include "firmware/policy.h"
#include "firmware/quota.h"
#include "firmware/rank.h"
#include "firmware/recentre.h"
#include "firmware/ring.h"
#include "firmware/sem.h"
#include "firmware/share.h"
#include "firmware/stats.h"
#include "firmware/task.h"
#include "firmware/taskq.h"
#include "firmware/timer.h"
#include "firmware/tmd.h"
#include "firmware/tmdq.h"
#include "firmware/tmu.h"
#include "firmware/trace.h"
#include "firmware/watchdog.h"
#include "firmware/wdu.h"
#include "firmware/workq.h"
#include "ppu/boot.h"
#include "ppu/macros.h"

#define EVENTS_A_ROUND 16u /* of each kind, so that a flood of one starves no other */
#define TURNS_A_ROUND 4u   /* of channels */
/*
 * More than a round can arm, so that touches never pile up: an acquire for every method of the turns, and a retest for
 * every doorbell, timer and touch that has one.
 */
#define TOUCHES_A_ROUND 128u
_Static_assert(TOUCHES_A_ROUND >= TURNS_A_ROUND * CHANNEL_TURN_METHODS + 3 * EVENTS_A_ROUND, "as many as may be armed");

/* In this order; what a row needs stands above it. */
static void (*const inits[])(void) = {
    dma_init,     layout_init,   quota_init,   ring_init,  trace_init,      log_init,   fault_init,
    stats_init,   timers_init,   policy_init,  task_init,  tmd_init,        taskq_init, nest_init,
    tmdq_init,    tmu_init,      rank_init,    share_init, watchdog_init,   wdu_init,   copy_init,
    context_init, commands_init, channel_init, workq_init, completion_init, block_init, admin_init,
};

/* The firmware has broken a rule of the device, or somebody wrote over its memory. */
static bool device_error(uint32_t most)
{
    (void)most;
    uint32_t errors = hal_read(PPU_REG_DEVICE_ERROR);
    hal_write(PPU_REG_DEVICE_ERROR, errors);
    log_print("device error %#x\n", (unsigned)errors);
    return false;
}

static bool channel_turns(uint32_t most)
{
    for (uint32_t i = 0; i < most; i++) {
        if (!channel_run_next()) {
            return false;
        }
    }
    return true;
}

#define ON(irq) (1u << PPU_IRQ_##irq)
#define ALWAYS (1u << PPU_IRQ_COUNT)

/* Consumers take what the device reports in this order: first what ends work and gives back resources. */
static const struct consumer {
    enum ppu_ring_id ring;
    uint32_t most; /* in a round */
    void (*take)(const union ring_entry *entry);
} consumers[] = {
    { PPU_RING_FAULT, EVENTS_A_ROUND, wdu_fault_event },  { PPU_RING_SLOT, EVENTS_A_ROUND, wdu_slot_event },
    { PPU_RING_COPY, EVENTS_A_ROUND, copy_event },        { PPU_RING_START, EVENTS_A_ROUND, wdu_start_event },
    { PPU_RING_TOUCH, TOUCHES_A_ROUND, sem_touch_event }, { PPU_RING_TOKEN, EVENTS_A_ROUND, recentre_token_event },
};

static bool ring_events(uint32_t most)
{
    (void)most;
    union ring_entry entry;
    bool more = false;
#pragma GCC unroll 6
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(consumers); i++) {
        uint32_t left = consumers[i].most;
        while (left && ring_take(consumers[i].ring, &entry)) {
            consumers[i].take(&entry);
            left--;
        }
        more |= left == 0;
    }
    return more;
}

/* Sources are served in a round in this order. */
static const struct source {
    uint32_t events; /* any of these makes it run, and run again while it says there is more */
    uint32_t most;   /* in a round */
    bool (*serve)(uint32_t most);
} sources[] = {
    /* clang-format off */
    { ON(ERROR),    EVENTS_A_ROUND,  device_error },
    { ON(EVENT),    EVENTS_A_ROUND,  ring_events },
    { ON(DOORBELL), EVENTS_A_ROUND,  doorbell_events },
    { ON(ADMIN),    EVENTS_A_ROUND,  admin_requests },
    { ON(TIMER),    EVENTS_A_ROUND,  timers_run },
    { ALWAYS,       TURNS_A_ROUND,   channel_turns },
    { ALWAYS,       EVENTS_A_ROUND,  taskq_serve_more },
    { ALWAYS,       EVENTS_A_ROUND,  commands_serve },
    { ALWAYS,       EVENTS_A_ROUND,  completion_run_deferred },
    /* clang-format on */
};

_Static_assert(PPU_ARRAY_SIZE(sources) == 9, "the loop below is unrolled as often");

/* One round over all sources: the events that are to be served again. */
static uint32_t serve_events(uint32_t events)
{
    uint32_t again = 0;
#pragma GCC unroll 9
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(sources); i++) {
        if ((events & sources[i].events) && sources[i].serve(sources[i].most)) {
            again |= sources[i].events;
        }
    }
    return again;
}

static void idle(void)
{
    uint32_t events = 0;
    while (hal_wait(&events)) {
    }
}

void firmware_main(void)
{
    uint32_t unusable = caps_init();
    if (unusable) {
        hal_write(PPU_REG_BOOT_DETAIL, unusable);
        hal_write(PPU_REG_BOOT_STATUS, PPU_BOOT_BAD_DEVICE);
        idle();
        return;
    }
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(inits); i++) {
        inits[i]();
    }
    layout_publish();
    log_print("ppu: firmware ready, %u channels, %u slots, %u task records\n", (unsigned)caps.channels,
              (unsigned)caps.slots, (unsigned)layout.tasks);
    hal_write(PPU_REG_BOOT_STATUS, PPU_BOOT_READY);

    uint32_t again = 0, events = 0;
    for (;;) {
        if (again) {
            events = again | hal_take_events();
        } else if (!hal_wait(&events)) {
            return;
        }
        again = events ? serve_events(events | ALWAYS) : 0;
    }
}
