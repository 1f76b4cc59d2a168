/* SPDX-License-Identifier: MIT */
/*
 * Keeps the watchdog of each slot (A5): it ends a task that has a time limit and runs longer, and repeats a kill that
 * the device does not answer. The limit counts while CTAs of the task are on SMs.
 */
#ifndef FIRMWARE_WATCHDOG_H
#define FIRMWARE_WATCHDOG_H

#include "firmware/task.h"

/* Needs caps. */
void watchdog_init(void);

/* Time limit of a task by its TMD copy; 0: none. */
uint32_t watchdog_limit_us(const struct ppu_tmd *tmd);

/* The task has started in its slot. Does nothing for a task without a limit. */
void watchdog_start(const struct task *task);

/* The task leaves its slot and goes on later: keeps what is left of its limit. */
void watchdog_save(struct task *task);

/* Kills the slot again in a second, and then each second until watchdog_stop(). Its task is KILLING. */
void watchdog_repeat_kill(uint32_t slot);

void watchdog_stop(uint32_t slot);

#endif
