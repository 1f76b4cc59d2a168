/* SPDX-License-Identifier: MIT */
/* Keeps the policies of the firmware (ppu/policy.def): values that the driver may change at any time. */
#ifndef FIRMWARE_POLICY_H
#define FIRMWARE_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/admin.h"

extern uint32_t policies[PPU_POLICIES];

/* All as policy.def says. */
void policy_init(void);

/* False: there is no such policy, or it cannot have this value. */
bool policy_set(uint32_t number, uint32_t value);

/* Gives the value of any of them, wherever it lies; `number` is below PPU_POLICIES. */
uint32_t policy_value(uint32_t number);

/* Gives the value of one that the firmware itself obeys. */
static inline uint32_t policy(enum ppu_policy number)
{
    return policies[number];
}

#endif
