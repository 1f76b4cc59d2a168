/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CTAs that leave their SM and come back, on whichever SM has room (B7, A5): between the SM's own memory and a place of
 * the task's save area. What is read back is checked like a snapshot.
 */
#include "sm_state.h"
#include "snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "ppu/save.h"

/* Every warp stands between two instructions and nobody outside the SM is at one of its accesses. */
static bool stands(const struct sm *sm, const struct sm_cta *cta)
{
    for (uint32_t i = 0; i < cta->cta.task->cta_warps; i++) {
        const struct warp *w = &sm->warp[cta->warp[i]];

        if (w->state == WARP_SYSTEM || w->state == WARP_FAULTED || w->held || w->section != 0) {
            return false;
        }
    }
    return true;
}

static void fault(struct sm *sm, struct sm_cta *cta)
{
    const struct dist_cta *at = &cta->cta;
    struct warp *w = &sm->warp[cta->warp[0]];

    w->state = WARP_FAULTED;
    w->fault = (struct ppu_fault_event){
        .code = PPU_FAULT_SAVE,
        .access = PPU_ACCESS_READ,
        .sm = (uint8_t)sm->number,
        .address = dist_save_place(at),
        .pc = at->task->tmd.code_va + (uint64_t)w->pc * PPU_INSN_BYTES,
        .cta = { at->id[0], at->id[1], at->id[2] },
    };
}

static void write_place(struct sm *sm, const struct dist_cta *cta, const struct snap *snap)
{
    uint8_t *place = sm->vram + dist_save_place(cta);
    const struct ppu_save save = {
        .local_slot = cta->local_slot,
        .number = cta->number,
        .len_bytes = (uint32_t)snap->len,
    };

    vram_copy(place, (const uint8_t *)&save, sizeof(save));
    vram_copy(place + sizeof(save), snap->buf, snap->len);
}

static void leave(struct sm *sm, struct sm_cta *cta, bool waits)
{
    struct dist_cta saved = cta->cta;
    uint64_t count[PPU_COUNTERS];
    struct snap snap = { 0 };

    sm_snap_put(sm, cta, &snap);
    if (snap.bad || snap.len > saved.task->tmd.save_bytes - sizeof(struct ppu_save)) {
        fault(sm, cta);
        free(snap.buf);
        return;
    }
    write_place(sm, &saved, &snap);
    memcpy(count, cta->count, sizeof(count));
    count_settle(sm, cta);
    free(snap.buf);
    sm_cta_free(sm, cta);
    sm_has_room(sm);
    dist_saved(sm->core, sm->number, &saved, waits, count);
}

void sm_save_waiting(struct sm *sm, struct sm_cta *cta)
{
    cta->must_save = false;
    leave(sm, cta, true);
}

bool sm_save_evicted(struct sm *sm, struct sm_cta *cta)
{
    if (cta->cta.save == DIST_NO_SAVE) {
        return true;
    }
    if (!stands(sm, cta)) {
        return false;
    }
    leave(sm, cta, false);
    return true;
}

void sm_save_restore(struct sm *sm, struct sm_cta *cta)
{
    const uint8_t *place = sm->vram + dist_save_place(&cta->cta);
    uint32_t room = cta->cta.task->tmd.save_bytes - (uint32_t)sizeof(struct ppu_save);
    struct snap snap = { 0 };
    struct ppu_save save;

    vram_copy((uint8_t *)&save, place, sizeof(save));
    snap.len = save.len_bytes < room ? save.len_bytes : room;
    snap.buf = malloc(snap.len + 1);
    if (snap.buf != NULL) {
        vram_copy(snap.buf, place + sizeof(save), snap.len);
    }
    if (snap.buf == NULL || !sm_snap_get(sm, cta, &snap)) {
        struct dist_cta lost = cta->cta;

        sm_cta_free(sm, cta);
        cta->cta = lost;
        sm_cta_begin(sm, cta);
        fault(sm, cta);
    } else if (cta->barrier[SM_WAIT_CHILDREN] == cta->threads_left) {
        engine_barrier_open(sm, cta);
    }
    free(snap.buf);
}
