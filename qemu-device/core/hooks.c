/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Test hooks: failures at the n-th of something, warps, copies and the MCU held at a mark, rings made small.
 */
#include "qemu-device/core/hooks.h"
#include "qemu-device/core/attention.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/memory/dma.h"
#include "qemu-device/core/regs.h"

/* Counts a register down; true at the step that makes it zero. */
static bool countdown(struct core *core, uint32_t offset)
{
    uint32_t *word = &core->reg[offset / 4];
    uint32_t left = __atomic_load_n(word, __ATOMIC_RELAXED);

    while (left != 0) {
        if (__atomic_compare_exchange_n(word, &left, left - 1, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
            return left == 1;
        }
    }
    return false;
}

bool hook_walk_fails(struct core *core)
{
    return core->config.test_hooks && countdown(core, PPU_REG_HOOK_FAIL_WALK);
}

bool hook_copy_fails(struct core *core)
{
    return core->config.test_hooks && countdown(core, PPU_REG_HOOK_FAIL_COPY);
}

uint32_t hook_alloc_take(struct core *core)
{
    return countdown(core, PPU_REG_HOOK_FAIL_ALLOC);
}

bool hook_holds(struct core *core, uint32_t mark)
{
    return core->config.test_hooks && mark != 0 &&
           (reg_get(core, PPU_REG_HOOK_HOLD_MARK) == mark || reg_get(core, PPU_REG_HOOK_HOLD_ALSO) == mark);
}

void hook_count_held(struct core *core, bool held)
{
    __atomic_fetch_add(&core->hook_held_count, held ? 1u : UINT32_MAX, __ATOMIC_SEQ_CST);
}

uint32_t hook_ring_limit(const struct core *core)
{
    uint32_t limit = core->config.test_hooks ? reg_get(core, PPU_REG_HOOK_RING_LIMIT) : 0;

    return limit != 0 ? limit : UINT32_MAX;
}

void hook_release(struct core *core)
{
    reg_set(core, PPU_REG_HOOK_HOLD_MARK, 0);
    reg_set(core, PPU_REG_HOOK_HOLD_ALSO, 0);
    dma_release(core);
    sm_wake(core);
    core_timer_request(core);
}
