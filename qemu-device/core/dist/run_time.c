/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/core/dist/run_time.h"
#include "ppu/tmd.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/slot.h"
#include "qemu-device/core/dist/task.h"

uint64_t slot_run_ns(const struct core *core, const struct dist_slot *slot)
{
    return slot->run_ns + (slot->in_flight != 0 && !slot->stands ? core_now(core) - slot->run_since_ns : 0);
}

void slot_run_ctas(const struct core *core, struct dist_slot *slot, uint32_t ctas)
{
    if (slot->in_flight == 0 || ctas == 0) {
        slot->run_ns = slot_run_ns(core, slot);
        slot->run_since_ns = core_now(core);
    }
    slot->in_flight = ctas;
}

void slot_run_step(const struct core *core, struct dist_slot *slot)
{
    if (slot->task.tmd.kind == PPU_TMD_TASKQ) {
        slot->stepped_ns = slot_run_ns(core, slot);
    }
}

void dist_stand(struct core *core, uint32_t context)
{
    pthread_mutex_lock(&core->dist.lock);
    for (uint32_t i = 0; i < core->config.slots; i++) {
        struct dist_slot *slot = &core->dist.slot[i];
        const bool stands = debug_stands(core, context, slot->task.tmd.task);

        if (slot->task.tmd.context == context && slot->stands != stands) {
            slot->run_ns = slot_run_ns(core, slot);
            slot->run_since_ns = core_now(core);
            slot->stands = stands;
        }
    }
    pthread_mutex_unlock(&core->dist.lock);
}
