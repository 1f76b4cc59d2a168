/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Profiles kernels. A warp's turn is cut where an instruction is to be counted: the engine runs up to there as ever,
 * then that one instruction alone. So the engine knows nothing of profiles, and pays nothing for them.
 */
#include "qemu-device/core/sm/profile.h"
#include "ppu/macros.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/engine/engine.h"
#include "qemu-device/core/memory/profile_table.h"
#include "qemu-device/core/regs.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/warp.h"

static uint64_t key_of(const struct sm_cta *cta, uint32_t pc)
{
    const struct ppu_tmd *tmd = &cta->cta.task->tmd;
    uint32_t depth = PPU_MIN(tmd->depth, PPU_PROFILE_DEEPEST);

    return PPU_PROFILE_KEY(tmd->code_va + (uint64_t)pc * PPU_INSN_BYTES, tmd->context, depth);
}

/* How many instructions are not counted before the next that is: some number, whose mean is one less than the period,
 * so that loops do not keep step with it. */
static uint32_t next_gap(struct sm *sm)
{
    uint32_t period = PPU_MIN(reg_get(sm->core, PPU_REG_PROFILE_PERIOD), PPU_PROFILE_PERIOD_MOST);

    if (period <= PPU_PROFILE_EXACT) {
        return 0;
    }
    sm->profile.random = sm->profile.random * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((sm->profile.random >> 32) * (2 * period - 1) >> 32);
}

/* Executes one instruction and counts it. */
static uint32_t count_insn(struct sm *sm, uint32_t index, const struct sm_cta *cta)
{
    const uint64_t transactions = cta->count[PPU_COUNTER_TRANSACTIONS], divergent = cta->count[PPU_COUNTER_DIVERGENT];
    struct engine_stepped stepped;
    uint32_t done = engine_step(sm, index, &stepped);

    if (done != 0) {
        const uint32_t count[PPU_PROFILE_COUNTS] = {
            [PPU_PROFILE_INSNS] = 1,
            [PPU_PROFILE_LANES] = stepped.lanes,
            [PPU_PROFILE_TRANSACTIONS] = (uint32_t)(cta->count[PPU_COUNTER_TRANSACTIONS] - transactions),
            [PPU_PROFILE_DIVERGENT] = (uint32_t)(cta->count[PPU_COUNTER_DIVERGENT] - divergent),
        };
        profile_add(sm->core, key_of(cta, stepped.pc), count);
        sm->profile.gap = next_gap(sm);
    }
    return done;
}

static uint32_t run_and_count(struct sm *sm, uint32_t index, const struct sm_cta *cta, uint32_t budget)
{
    const struct warp *const w = &sm->warp[index];
    uint32_t done = 0;

    do {
        const uint32_t most = PPU_MIN(budget - done, sm->profile.gap);
        uint32_t more = most != 0 ? engine_run(sm, index, most) : count_insn(sm, index, cta);

        sm->profile.gap -= most != 0 ? PPU_MIN(more, most) : 0;
        done += more;
        if (more != PPU_MAX(most, 1u)) {
            break;
        }
    } while (done < budget && w->state == WARP_READY && !sm_attention(sm));
    return done;
}

/* A barrier that does not open is behind the warp already. */
static void count_stall(struct sm *sm, const struct sm_cta *cta, const struct warp *w)
{
    static const uint8_t stall_of[] = {
        [WARP_BARRIER] = PPU_PROFILE_STALL_BARRIER,
        [WARP_SYSTEM] = PPU_PROFILE_STALL_SYSTEM,
        [WARP_STALLED] = PPU_PROFILE_STALL_ROOM,
    };
    const uint32_t behind = w->state == WARP_BARRIER && w->pc != 0;
    uint32_t count[PPU_PROFILE_COUNTS] = { 0 };

    count[stall_of[w->state]] = 1;
    profile_add(sm->core, key_of(cta, w->pc - behind), count);
}

uint32_t profile_run(struct sm *sm, uint32_t index, uint32_t budget)
{
    const struct warp *const w = &sm->warp[index];
    const struct sm_cta *const cta = &sm->cta[w->cta];
    const bool retried = w->state == WARP_STALLED;
    uint32_t done = run_and_count(sm, index, cta, budget);

    if (w->state == WARP_BARRIER || w->state == WARP_SYSTEM || (w->state == WARP_STALLED && !(retried && done == 0))) {
        count_stall(sm, cta, w);
    }
    return done;
}
