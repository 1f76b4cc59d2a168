/* SPDX-License-Identifier: MIT */
#include "firmware/policy.h"

uint32_t policies[PPU_POLICIES];

struct policy_row {
    uint32_t least;
    uint32_t most;
    uint32_t first;
};

static const struct policy_row rows[PPU_POLICIES] = {
#define PPU_POLICY(name, number, least, most, first, doc) [PPU_POLICY_##name] = { (least), (most), (first) },
#include "ppu/policy.def"
#undef PPU_POLICY
};

void policy_init(void)
{
    for (uint32_t i = 0; i < PPU_POLICIES; i++) {
        policies[i] = rows[i].first;
    }
}

bool policy_set(uint32_t number, uint32_t value)
{
    /* One subtraction checks both ends: a value below `least` wraps round. */
    if (number >= PPU_POLICIES || value - rows[number].least > rows[number].most - rows[number].least) {
        return false;
    }
    policies[number] = value;
    return true;
}
