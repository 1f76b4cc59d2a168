/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/core/sm/warp_trace.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/memory/trace.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/warp.h"

/* Readers see the numbers. */
#define PPU_WARP_STATE(name, number, doc) \
    _Static_assert((uint32_t)WARP_##name == (uint32_t)PPU_TRACE_WARP_##name, "states of warps are those of records");
#include "ppu/warp_state.def"
#undef PPU_WARP_STATE

static void tell(struct sm *sm, uint32_t index, uint32_t state, uint32_t tokens)
{
    struct warp *w = &sm->warp[index];
    const struct dist_task *task = sm->cta[w->cta].cta.task;

    w->told = state | tokens << 16;
    trace_emit(sm->core, PPU_TRACE_WARP, task->tmd.correlation, sm->number, index | task->slot << 16, w->told);
}

void warp_trace(struct sm *sm, uint32_t index)
{
    const struct warp *w = &sm->warp[index];

    if (w->told != (w->state | w->token_count << 16)) {
        tell(sm, index, w->state, w->token_count);
    }
}

void warp_trace_gone(struct sm *sm, uint32_t index)
{
    tell(sm, index, PPU_TRACE_WARP_FREE, 0);
}
