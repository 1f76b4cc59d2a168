/* SPDX-License-Identifier: MIT */
/*
 * Shares the time of the SMs fairly between address spaces, whatever the number of their tasks. While several have
 * slots, the firmware looks every PPU_POLICY_SHARE_US how much time each has had. When one has had less than another,
 * by as much or more, the one that has had least is favoured: its slots have a rank above the others', and claim a
 * place on each SM. So is one that comes, unless it has had its share already.
 */
#ifndef FIRMWARE_SHARE_H
#define FIRMWARE_SHARE_H

#include <stdbool.h>
#include <stdint.h>

/* Needs timers, caps. */
void share_init(void);

/* A task of the address space has got this slot; one has lost its own. Slots are counted already (quota.h). */
void share_started(uint32_t context, uint32_t slot);
void share_left(uint32_t context);

/* Its slots go before those of others. */
bool share_favours(uint32_t context);

#endif
