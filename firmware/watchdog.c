/* SPDX-License-Identifier: MIT */
#include "firmware/watchdog.h"

#include <string.h>

#include "firmware/caps.h"
#include "firmware/hal.h"
#include "firmware/log.h"
#include "firmware/timer.h"
#include "firmware/wdu.h"
#include "ppu/macros.h"

#define KILL_RETRY_NS TIMER_NS_PER_S
#define LOOK_LEAST_US 1000u /* a task whose CTAs wait for room is looked at no more often */

static struct timer watchdogs[PPU_MAX_SLOTS];

static void watchdog_expired(struct timer *timer);

void watchdog_init(void)
{
    memset(watchdogs, 0, sizeof(watchdogs));
    for (uint32_t slot = 0; slot < caps.slots; slot++) {
        watchdogs[slot].fire = watchdog_expired;
    }
}

/* Most tasks have none; dividing 64 bits takes long. */
uint32_t watchdog_limit_us(const struct ppu_tmd *tmd)
{
    return tmd->watchdog_ns ? (uint32_t)((tmd->watchdog_ns + TIMER_NS_PER_US - 1) / TIMER_NS_PER_US) : 0;
}

/*
 * The limit of a queue task begins anew when one of its CTAs begins or ends: threads that only say that there are more
 * entries gain no time by it.
 */
static uint32_t time_left_us(const struct task *task)
{
    uint32_t limit_us = task->left_us;
    uint32_t used_us = hal_read(PPU_REG_SLOT_RUN_US + 4u * task->slot);
    if (task->taskq != TASK_NO_TASKQ) {
        uint32_t still_us = hal_read(PPU_REG_SLOT_STILL_US + 4u * task->slot);
        limit_us = still_us < used_us ? watchdog_limit_us(task_tmd(task)) : limit_us;
        used_us = still_us;
    }
    return used_us < limit_us ? limit_us - used_us : 0;
}

static void look_in(uint32_t slot, uint32_t delay_us)
{
    timer_start(&watchdogs[slot], delay_us * TIMER_NS_PER_US);
}

void watchdog_start(const struct task *task)
{
    if (task->left_us) {
        look_in(task->slot, task->left_us);
    }
}

void watchdog_save(struct task *task)
{
    if (task->left_us) {
        uint32_t left_us = time_left_us(task);
        task->left_us = left_us ? left_us : 1;
    }
}

void watchdog_repeat_kill(uint32_t slot)
{
    timer_start(&watchdogs[slot], KILL_RETRY_NS);
}

void watchdog_stop(uint32_t slot)
{
    timer_stop(&watchdogs[slot]);
}

static void kill_again(uint32_t slot)
{
    log_print("slot %u: not dead %u ms after it was killed\n", (unsigned)slot,
              (unsigned)(KILL_RETRY_NS / TIMER_NS_PER_MS));
    hal_write(PPU_REG_SLOT_CONTROL + 4u * slot, PPU_SLOT_CMD_KILL);
    watchdog_repeat_kill(slot);
}

static void end_task(struct task *task)
{
    struct ppu_error_record record = { .code = PPU_FAULT_WATCHDOG, .address = task_tmd(task)->watchdog_ns };
    wdu_kill(task);
    wdu_fail(task, &record);
}

static void watchdog_expired(struct timer *timer)
{
    uint32_t slot = (uint32_t)(timer - watchdogs);
    struct task *task = wdu_task(slot);
    if (task->state == TASK_KILLING) {
        kill_again(slot);
        return;
    }
    uint32_t left_us = time_left_us(task);
    if (left_us) {
        look_in(slot, PPU_MAX(left_us, LOOK_LEAST_US));
    } else {
        end_task(task);
    }
}
