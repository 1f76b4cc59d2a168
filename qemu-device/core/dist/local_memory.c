/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/core/dist/local_memory.h"
#include "qemu-device/core/config_limits.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/mask.h"
#include "qemu-device/core/dist/slot.h"
#include "qemu-device/core/dist/task.h"

#include <string.h>

uint32_t local_words(const struct core *core)
{
    return (core->config.sms * core->config.sm_ctas + 63) / 64;
}

void local_clear(const struct core *core, struct dist_slot *slot)
{
    memset(slot->local_used, 0, local_words(core) * sizeof(slot->local_used[0]));
}

uint32_t local_take(const struct core *core, struct dist_slot *slot)
{
    uint32_t limit = dist_local_limit(core, &slot->task);

    if (slot->task.tmd.local_bytes == 0) {
        return 0;
    }
    for (uint32_t word = 0; word * 64 < limit; word++) {
        uint64_t free = ~slot->local_used[word];
        uint32_t n = word * 64 + (free != 0 ? (uint32_t)__builtin_ctzll(free) : 64);

        if (free != 0) {
            if (n >= limit) {
                break;
            }
            slot->local_used[word] |= bit(n % 64);
            return n;
        }
    }
    return UINT32_MAX;
}

void local_give(struct dist_slot *slot, uint32_t n)
{
    if (n < CORE_MAX_RESIDENT) {
        slot->local_used[n / 64] &= ~bit(n % 64);
    }
}

bool local_exists(const struct core *core, struct dist_slot *slot)
{
    uint32_t n = local_take(core, slot);

    if (n != UINT32_MAX && slot->task.tmd.local_bytes != 0) {
        local_give(slot, n);
    }
    return n != UINT32_MAX;
}
