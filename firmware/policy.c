/* SPDX-License-Identifier: MIT */
#include "firmware/policy.h"
#include "firmware/hal.h"
#include "firmware/state.h"
#include "ppu/limits.h"
#include "ppu/macros.h"
#include "ppu/regs.h"

FW_DMA uint32_t policies[PPU_POLICIES];

static const struct ppu_state_span policy_spans[] = {
    { 0, sizeof(policies[0]) },
};

const struct state_rows policy_state_rows = {
    .rows = policies,
    .most = PPU_POLICIES,
    .stride = sizeof(policies[0]),
    .first = PPU_STATE_POLICY_VALUE,
    .spans = PPU_ARRAY_SIZE(policy_spans),
    .span = policy_spans,
};

struct policy_row {
    uint32_t least;
    uint32_t most;
    uint32_t first;
    uint32_t reg; /* PPU_REG_NONE: the value is in policies[] */
};

#define PPU_REG_NONE UINT32_MAX

static const struct policy_row rows[PPU_POLICIES] = {
#define PPU_POLICY(name, number, least, most, first, reg, doc) \
    [PPU_POLICY_##name] = { (least), (most), (first), PPU_REG_##reg },
#include "ppu/policy.def"
#undef PPU_POLICY
};

/* A register has its value from the reset. */
void policy_init(void)
{
    for (uint32_t i = 0; i < PPU_POLICIES; i++) {
        policies[i] = rows[i].first;
    }
}

uint32_t policy_value(uint32_t number)
{
    return rows[number].reg == PPU_REG_NONE ? policies[number] : hal_read(rows[number].reg);
}

bool policy_set(uint32_t number, uint32_t value)
{
    /* One subtraction checks both ends: a value below `least` wraps round. */
    if (number >= PPU_POLICIES || value - rows[number].least > rows[number].most - rows[number].least) {
        return false;
    }
    if (rows[number].reg == PPU_REG_NONE) {
        policies[number] = value;
    } else {
        hal_write(rows[number].reg, value);
    }
    return true;
}
