/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CTAs that leave their SM and come back, on whichever SM has room (B7, A5): between the SM's own memory and a place of
 * the task's save area. What is read back is checked like a snapshot.
 */
#include "qemu-device/core/sm/save.h"
#include "qemu-device/core/dist/cta.h"
#include "qemu-device/core/dist/cta_life.h"
#include "qemu-device/core/dist/save_area.h"
#include "qemu-device/core/dist/switched.h"
#include "qemu-device/core/engine/engine.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/sm/counters.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/cta_life.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/sm_snapshot.h"
#include "qemu-device/core/sm/warp.h"
#include "qemu-device/core/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "ppu/save.h"
#include "qemu-device/core/dist/task.h"

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
        .address = at->save != DIST_NO_SAVE ? dist_save_place(at) : 0,
        .pc = at->task->tmd.code_va + (uint64_t)w->pc * PPU_INSN_BYTES,
        .cta = { at->id[0], at->id[1], at->id[2] },
    };
}

/* Where the first threads that live wait for children: lanes go on behind `cwait`. */
static uint32_t waits_at(const struct sm *sm, const struct sm_cta *cta)
{
    for (uint32_t i = 0; i < cta->cta.task->cta_warps; i++) {
        const struct warp *w = &sm->warp[cta->warp[i]];

        if (lanes_any(&w->live)) {
            const uint32_t lane = lanes_first(&w->live);
            const uint32_t behind = lanes_has(&w->active, lane) ? w->pc : w->wait_pc[lane];

            return behind - (behind != 0);
        }
    }
    return 0;
}

static void write_place(struct sm *sm, const struct dist_cta *cta, const struct snap *snap, uint32_t pc)
{
    uint8_t *place = sm->vram + dist_save_place(cta);
    const struct ppu_save save = {
        .local_backing = cta->local_backing,
        .number = cta->number,
        .len_bytes = (uint32_t)snap->len,
        .wide = cta->wide,
        .pc = pc,
    };

    vram_copy(place, (const uint8_t *)&save, sizeof(save));
    vram_copy(place + sizeof(save), snap->buf, snap->len);
}

/* The CTA has left; its state is kept where `saved` says. */
static void left(struct sm *sm, struct sm_cta *cta, const struct dist_cta *saved, bool waits)
{
    uint64_t count[PPU_COUNTERS];

    memcpy(count, cta->count, sizeof(count));
    count_settle(sm, cta);
    sm_cta_free(sm, cta);
    sm_has_room(sm);
    dist_saved(sm->core, sm->number, saved, waits, count);
}

/* The state of a CTA without a place, behind how long it is, in chunks of its address space's area. False: it stays. */
static bool leave_to_area(struct sm *sm, struct sm_cta *cta)
{
    struct dist_cta saved = cta->cta;
    struct snap snap = { 0 };

    if (!dist_switch_take(sm->core, &saved)) {
        return false;
    }
    snap_put_u32(&snap, 0);
    sm_snap_put(sm, cta, &snap);
    bool good = !snap.bad && snap.len <= (uint64_t)saved.task->cta_chunks[saved.wide] * PPU_SWITCH_CHUNK;
    if (good) {
        const uint32_t len = (uint32_t)snap.len;

        memcpy(snap.buf, &len, sizeof(len));
        dist_switch_write(sm->core, &saved, snap.buf, len);
        left(sm, cta, &saved, false);
    } else {
        dist_switch_give(sm->core, &saved);
    }
    free(snap.buf);
    return good;
}

static void leave_cta(struct sm *sm, struct sm_cta *cta, bool waits)
{
    struct dist_cta saved = cta->cta;
    const uint32_t pc = waits ? waits_at(sm, cta) : 0;
    struct snap snap = { 0 };

    if (saved.save == DIST_NO_SAVE) {
        if (waits || !leave_to_area(sm, cta)) {
            fault(sm, cta);
        }
        return;
    }
    sm_snap_put(sm, cta, &snap);
    if (snap.bad || snap.len > saved.task->tmd.save_bytes - sizeof(struct ppu_save)) {
        fault(sm, cta);
        free(snap.buf);
        return;
    }
    write_place(sm, &saved, &snap, pc);
    free(snap.buf);
    left(sm, cta, &saved, waits);
}

bool sm_save_switched(struct sm *sm, struct sm_cta *cta)
{
    if (!stands(sm, cta)) {
        return false;
    }
    if (cta->cta.save == DIST_NO_SAVE) {
        return leave_to_area(sm, cta);
    }
    leave_cta(sm, cta, false);
    return !cta->used;
}

void sm_save_waiting(struct sm *sm, struct sm_cta *cta)
{
    cta->must_save = false;
    leave_cta(sm, cta, true);
}

bool sm_save_evicted(struct sm *sm, struct sm_cta *cta)
{
    if (cta->cta.save == DIST_NO_SAVE) {
        return true;
    }
    if (!stands(sm, cta)) {
        return false;
    }
    leave_cta(sm, cta, false);
    return true;
}

/* Reads what the chunks of a CTA hold; false: no memory. */
static bool read_chunks(struct sm *sm, const struct dist_cta *cta, struct snap *snap)
{
    const uint32_t room = cta->task->cta_chunks[cta->wide] * PPU_SWITCH_CHUNK;
    uint32_t len = 0;

    dist_switch_read(sm->core, cta, (uint8_t *)&len, sizeof(len));
    len = PPU_MIN(len, room);
    *snap = (struct snap){ .buf = malloc(len + 1), .len = len, .pos = len < sizeof(len) ? len : sizeof(len) };
    if (snap->buf) {
        dist_switch_read(sm->core, cta, snap->buf, len);
    }
    return snap->buf;
}

/* Reads what a place of the task's save area holds; false: no memory. */
static bool read_place(const struct sm *sm, const struct dist_cta *cta, struct snap *snap)
{
    const uint8_t *place = sm->vram + dist_save_place(cta);
    const uint32_t room = cta->task->tmd.save_bytes - (uint32_t)sizeof(struct ppu_save);
    struct ppu_save save;

    vram_copy((uint8_t *)&save, place, sizeof(save));
    *snap = (struct snap){ .len = save.len_bytes < room ? save.len_bytes : room };
    snap->buf = malloc(snap->len + 1);
    if (snap->buf) {
        vram_copy(snap->buf, place + sizeof(save), snap->len);
    }
    return snap->buf;
}

void sm_save_restore(struct sm *sm, struct sm_cta *cta)
{
    struct snap snap = { 0 };
    const bool switched = cta->cta.save == DIST_NO_SAVE;
    bool good = switched ? read_chunks(sm, &cta->cta, &snap) : read_place(sm, &cta->cta, &snap);

    if (switched) {
        dist_switch_give(sm->core, &cta->cta);
    }
    if (!good || !sm_snap_get(sm, cta, &snap)) {
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
