/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/core/dist/cta_trace.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/cta.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/memory/trace.h"

void cta_trace(struct core *core, enum ppu_trace_type type, uint32_t sm, const struct dist_cta *cta, uint32_t count)
{
    if (!trace_begin(core)) {
        return;
    }
    const uint64_t time_ns = core_now(core);
    for (uint32_t i = 0; i < count; i++) {
        const struct dist_task *task = cta[i].task;
        trace_add(core, time_ns, type, task->tmd.correlation, sm, task->slot, (uint32_t)cta[i].number);
    }
    trace_end(core);
}
