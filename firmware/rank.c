/* SPDX-License-Identifier: MIT */
#include "firmware/rank.h"

#include <string.h>

#include "firmware/caps.h"
#include "firmware/hal.h"
#include "firmware/policy.h"
#include "firmware/share.h"
#include "firmware/timer.h"
#include "firmware/wdu.h"
#include "ppu/limits.h"
#include "ppu/regs.h"

#define FAVOURED (PPU_SLOT_LEVEL_MASK + 1u) /* above all levels */

struct rank {
    ppu_task_t task; /* of whom the rest is */
    uint32_t ran_us; /* SLOT_RUN_US at the last look */
    uint32_t passed; /* looks, up to the last, at which it waited and had had nothing on SMs */
    bool preempts;
};

static struct rank ranks[PPU_MAX_SLOTS];
static struct timer timer;

static void look_at_all(struct timer *unused);

void rank_init(void)
{
    memset(ranks, 0, sizeof(ranks));
    timer = (struct timer){ .fire = look_at_all };
}

void rank_look_later(void)
{
    if (!timer.heap_index) {
        timer_start(&timer, policy(PPU_POLICY_PREEMPT_US) * TIMER_NS_PER_US);
    }
}

/* Returns the rank of the task that the slot has now. Nothing is done for it when the task starts. */
static struct rank *rank_of(uint32_t slot)
{
    struct rank *rank = &ranks[slot];
    if (rank->task != wdu_task(slot)->handle) {
        *rank = (struct rank){ .task = wdu_task(slot)->handle };
    }
    return rank;
}

static uint32_t level(uint32_t slot)
{
    return rank_of(slot)->passed >= policy(PPU_POLICY_AGE) ? PPU_SLOT_LEVELS : wdu_task(slot)->priority;
}

void rank_write(uint32_t slot)
{
    uint32_t value = level(slot) | (rank_of(slot)->preempts ? PPU_SLOT_PREEMPTS : 0);
    if (share_favours(wdu_task(slot)->context)) {
        value |= FAVOURED | PPU_SLOT_CLAIMS;
    }
    hal_write(PPU_REG_SLOT_RANK + 4 * slot, value);
}

/* True when its level has changed, or it preempts no more. */
static bool look_at(uint32_t slot, bool waits, uint32_t lowest)
{
    struct rank *rank = rank_of(slot);
    uint32_t before = level(slot);
    uint32_t ran_us = hal_read(PPU_REG_SLOT_RUN_US + 4 * slot);
    bool preempted = rank->preempts;
    rank->passed = waits && ran_us == rank->ran_us ? rank->passed + 1 : 0;
    rank->ran_us = ran_us;
    rank->preempts = waits && level(slot) > lowest;
    return level(slot) != before || rank->preempts < preempted;
}

/*
 * First those that fall back, then those that preempt. These at each look: an SM serves a claim only when it is made,
 * and may have CTAs since that it had not then.
 */
static void look_at_all(struct timer *unused)
{
    (void)unused;
    uint32_t lowest = wdu_lowest();
    uint32_t waiting = 0;
    for (uint32_t slot = 0; slot < caps.slots; slot++) {
        waiting = slot % 32 ? waiting >> 1 : hal_read(PPU_REG_SLOT_WAITING + 4 * (slot / 32));
        if (wdu_task(slot) && look_at(slot, waiting & 1u, lowest)) {
            rank_write(slot);
        }
    }
    for (uint32_t slot = 0; slot < caps.slots; slot++) {
        if (wdu_task(slot) && rank_of(slot)->preempts) {
            rank_write(slot);
        }
    }
    if (wdu_priorities_differ()) {
        rank_look_later();
    }
}
