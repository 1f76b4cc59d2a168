/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VRAM after a reset of the function: zeros for whoever owns it next. There may be much of it, and other work waits
 * for the host lock, so each bottom half clears a part. What nobody has written since the last time is left out where
 * the host knows it: what a reset costs grows with the VRAM that was used. Meanwhile the MCU is held, so that nothing
 * writes there, and the host's way to VRAM is closed.
 */
#include "qemu-device/core/memory/clear.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/regs.h"
#include "qemu-device/core/snapshot.h"

#define CONTROL_RUN 1u

bool clear_going(const struct core *core)
{
    return core->clear_at < core->config.vram_bytes;
}

/* The way is open again, and the MCU runs if somebody asked for it meanwhile. */
static void clear_end(struct core *core)
{
    core->ops.vram_hide(core->opaque, false);
    if (reg_get(core, PPU_REG_MCU_CONTROL) & CONTROL_RUN) {
        core->ops.mcu_run(core->opaque, true);
    }
}

/* Whole parts only: a snapshot says where the next one begins. */
static void skip_zeros(struct core *core)
{
    const uint64_t left = core->config.vram_bytes - core->clear_at;
    const uint64_t zeros = core->ops.vram_zeros ? core->ops.vram_zeros(core->opaque, core->clear_at) : 0;

    core->clear_at += zeros < left ? zeros / CORE_CLEAR_BYTES * CORE_CLEAR_BYTES : left;
}

void clear_step(struct core *core)
{
    if (!clear_going(core) || reg_get(core, PPU_REG_MCU_STATE) != PPU_MCU_HELD) {
        return;
    }
    skip_zeros(core);
    if (clear_going(core)) {
        core->ops.vram_clear(core->opaque, core->clear_at, CORE_CLEAR_BYTES);
        core->clear_at += CORE_CLEAR_BYTES;
    }
    if (clear_going(core)) {
        core_kick(core);
    } else {
        clear_end(core);
    }
}

void clear_begin(struct core *core)
{
    core->clear_at = 0;
    core->ops.vram_hide(core->opaque, true);
    core_kick(core);
}

void clear_save(const struct core *core, struct snap *snap)
{
    snap_put_u64(snap, core->clear_at);
}

void clear_load(struct core *core, struct snap *snap)
{
    core->clear_at = snap_get_u64(snap);
    if (core->clear_at > core->config.vram_bytes || core->clear_at % CORE_CLEAR_BYTES != 0) {
        snap_refuse(snap, "VRAM is cleared up to 0x%llx", (unsigned long long)core->clear_at);
    } else if (clear_going(core) && reg_get(core, PPU_REG_MCU_STATE) == PPU_MCU_RUNNING) {
        snap_refuse(snap, "the MCU runs while VRAM is being cleared");
    }
}
