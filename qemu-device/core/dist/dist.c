/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Task-table slots and the distribution of CTAs (A5, A6, A8). The SMs ask for CTAs; what they got they give back with
 * dist_done() or dist_killed(). A slot is free again when nothing of it is on any SM, and its last event says why.
 */
#include "qemu-device/core/dist/dist.h"
#include "ppu/fault.h"
#include "ppu/regs.h"
#include "ppu/tmd.h"
#include "qemu-device/core/attention.h"
#include "qemu-device/core/config_limits.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/census.h"
#include "qemu-device/core/dist/claim.h"
#include "qemu-device/core/dist/counts.h"
#include "qemu-device/core/dist/cta.h"
#include "qemu-device/core/dist/cta_life.h"
#include "qemu-device/core/dist/dist_snapshot.h"
#include "qemu-device/core/dist/ends.h"
#include "qemu-device/core/dist/flush.h"
#include "qemu-device/core/dist/place.h"
#include "qemu-device/core/dist/room.h"
#include "qemu-device/core/dist/save_area.h"
#include "qemu-device/core/dist/slot.h"
#include "qemu-device/core/dist/switch_area.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/memory/ring.h"
#include "qemu-device/core/memory/trace.h"
#include "qemu-device/core/regs.h"
#include "qemu-device/core/snapshot.h"

#include <stdlib.h>
#include <string.h>

static uint64_t bit(uint32_t slot)
{
    return 1ull << slot;
}

/* Words that any thread reads without the lock; written with it. */
static void mask_set(uint64_t *mask, uint64_t bits)
{
    __atomic_fetch_or(mask, bits, __ATOMIC_SEQ_CST);
}

static void mask_clear(uint64_t *mask, uint64_t bits)
{
    __atomic_fetch_and(mask, ~bits, __ATOMIC_SEQ_CST);
}

/* ---- local memory ---- */

/* A backing that no other CTA uses; UINT32_MAX: none left. Tasks without local memory all get 0. */
static uint32_t local_take(const struct core *core, struct dist_slot *slot)
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

static void local_give(struct dist_slot *slot, uint32_t n)
{
    if (n < CORE_MAX_RESIDENT) {
        slot->local_used[n / 64] &= ~bit(n % 64);
    }
}

static bool local_exists(const struct core *core, struct dist_slot *slot)
{
    uint32_t n = local_take(core, slot);

    if (n != UINT32_MAX && slot->task.tmd.local_bytes != 0) {
        local_give(slot, n);
    }
    return n != UINT32_MAX;
}

/* ---- the save area (save.h) ---- */

static uint64_t save_places(const struct dist_slot *slot)
{
    return slot->task.tmd.save_count != 0 ? UINT64_MAX >> (PPU_SAVE_PLACES - slot->task.tmd.save_count) : 0;
}

/* Place number `n`, in VRAM. */
static uint32_t save_place(const struct dist_task *task, uint32_t n)
{
    return task->tmd.save_vram + n * task->tmd.save_bytes;
}

uint32_t dist_save_place(const struct dist_cta *cta)
{
    return save_place(cta->task, cta->save);
}

static bool save_exists(const struct dist_slot *slot)
{
    return slot->task.tmd.save_count == 0 || (save_places(slot) & ~slot->save_used) != 0;
}

/* A place that no CTA has; the slot has one or needs none. */
static uint32_t save_take(struct dist_slot *slot)
{
    uint32_t n;

    if (slot->task.tmd.save_count == 0) {
        return DIST_NO_SAVE;
    }
    n = (uint32_t)__builtin_ctzll(save_places(slot) & ~slot->save_used);
    slot->save_used |= bit(n);
    return n;
}

static void save_give(struct dist_slot *slot, uint32_t n)
{
    if (n < PPU_SAVE_PLACES) {
        slot->save_used &= ~bit(n);
    }
}

/* The states in memory, for whoever starts the task again. */
static void save_states_write(struct core *core, const struct dist_slot *slot)
{
    for (uint32_t n = 0; n < slot->task.tmd.save_count; n++) {
        uint32_t state = slot->save_ready & bit(n) ? PPU_SAVE_READY : PPU_SAVE_FREE;

        state = slot->save_waiting & bit(n) ? PPU_SAVE_WAITING : state;
        vram_copy(core->vram + save_place(&slot->task, n) + offsetof(struct ppu_save, state), (uint8_t *)&state,
                  sizeof(state));
    }
}

static bool save_state_read(struct core *core, struct dist_slot *slot, uint32_t n)
{
    struct ppu_save save;

    vram_copy((uint8_t *)&save, core->vram + save_place(&slot->task, n), sizeof(save));
    if (save.state == PPU_SAVE_FREE) {
        return true;
    }
    if (save.state > PPU_SAVE_READY || save.number >= slot->next) {
        return false;
    }
    if (slot->task.tmd.local_bytes != 0) {
        uint64_t *word = &slot->local_used[save.local_slot / 64 % (CORE_MAX_RESIDENT / 64)];

        if (save.local_slot >= dist_local_limit(core, &slot->task) || (*word & bit(save.local_slot % 64))) {
            return false;
        }
        *word |= bit(save.local_slot % 64);
    }
    slot->save[n] = (struct dist_saved_cta){ save.number, slot->task.tmd.local_bytes != 0 ? save.local_slot : 0 };
    slot->save_used |= bit(n);
    if (save.state == PPU_SAVE_READY || slot->task.tmd.resume) {
        slot->save_ready |= bit(n);
    } else {
        slot->save_waiting |= bit(n);
    }
    return true;
}

/* Where the task stopped; false: what is in memory cannot be. */
static bool progress_read(struct core *core, struct dist_slot *slot)
{
    slot->next = slot->task.tmd.next_cta;
    slot->ctas_done = slot->task.tmd.ctas_done;
    if (slot->next != 0) {
        vram_copy((uint8_t *)slot->count, core->vram + slot->task.tmd_off + offsetof(struct ppu_tmd_copy, count),
                  sizeof(slot->count));
    }
    if (slot->next > slot->total || slot->ctas_done > slot->next) {
        return false;
    }
    for (uint32_t n = 0; n < slot->task.tmd.save_count; n++) {
        if (!save_state_read(core, slot, n)) {
            return false;
        }
    }
    /* Without places of its own a task that stopped has run to the end what it had begun. */
    return slot->next - slot->ctas_done == (uint32_t)__builtin_popcountll(slot->save_used);
}

static void progress_write(struct core *core, const struct dist_slot *slot)
{
    const uint64_t progress[] = { slot->next, slot->ctas_done, slot->count[PPU_COUNTER_INSNS] };
    uint8_t *copy = core->vram + slot->task.tmd_off;

    _Static_assert(offsetof(struct ppu_tmd, warp_insns) == offsetof(struct ppu_tmd, next_cta) + 16, "three in a row");
    vram_copy(copy + offsetof(struct ppu_tmd_copy, tmd.next_cta), (const uint8_t *)progress, sizeof(progress));
    vram_copy(copy + offsetof(struct ppu_tmd_copy, count), (const uint8_t *)slot->count, sizeof(slot->count));
    save_states_write(core, slot);
}

static void trace_counts(struct core *core, const struct dist_slot *slot)
{
    for (uint32_t i = 0; i < PPU_COUNTERS; i++) {
        if (slot->count[i] != 0) {
            trace_emit(core, PPU_TRACE_TASK_COUNT, slot->task.tmd.correlation, i, (uint32_t)slot->count[i],
                       (uint32_t)(slot->count[i] >> 32));
        }
    }
}

/* ---- events ---- */

static void push_event(struct core *core, const struct dist_slot *slot, enum ppu_slot_event_kind kind, uint32_t arg)
{
    const struct ppu_slot_event event = {
        .kind = kind,
        .slot = slot->task.slot,
        .task = slot->task.tmd_off,
        .arg = arg,
        .time_ns = core_now(core),
        .ctas_done = slot->ctas_done,
        .warp_insns = slot->count[PPU_COUNTER_INSNS],
    };

    trace_mark(core, PPU_MARK_SLOT_EVENT, PPU_TRACE_UNIT_MCU);
    ring_push(core, PPU_RING_SLOT, &event);
}

static void push_flushed(struct core *core, const struct dist_flush *flush)
{
    const struct ppu_slot_event event = {
        .kind = PPU_SLOT_FLUSHED,
        .context = flush->context,
        .arg = flush->tag,
        .time_ns = core_now(core),
    };

    ring_push(core, PPU_RING_SLOT, &event);
}

/* ---- time on SMs; with the lock ---- */

static uint64_t run_ns(const struct core *core, const struct dist_slot *slot)
{
    return slot->run_ns + (slot->in_flight != 0 ? core_now(core) - slot->run_since_ns : 0);
}

/* So many CTAs are on SMs from now on. */
static void run_ctas(const struct core *core, struct dist_slot *slot, uint32_t ctas)
{
    if (slot->in_flight == 0 || ctas == 0) {
        slot->run_ns = run_ns(core, slot);
        slot->run_since_ns = core_now(core);
    }
    slot->in_flight = ctas;
}

/* A CTA of a queue task has begun or ended. Of a grid nobody asks. */
static void run_step(const struct core *core, struct dist_slot *slot)
{
    if (slot->task.tmd.kind == PPU_TMD_QUEUE) {
        slot->stepped_ns = run_ns(core, slot);
    }
}

/* ---- life of a slot; with the lock ---- */

/* Those that were taken off their SMs end there. */
static void switched_drop(struct core *core, struct dist_slot *slot)
{
    for (; slot->switched != 0; slot->switched--) {
        switch_give(core, &slot->task, slot->switched_cta[slot->switched - 1].chunk);
        switch_let_go(core, &slot->task);
    }
}

static void slot_free(struct core *core, struct dist_slot *slot, enum ppu_slot_event_kind kind)
{
    switched_drop(core, slot);
    mask_clear(&core->dist.claiming, bit(slot->task.slot));
    mask_clear(&core->dist.leaving, bit(slot->task.slot));
    mask_clear(&core->dist.killing, bit(slot->task.slot));
    mask_clear(&core->dist.saving, bit(slot->task.slot));
    slot->state = PPU_SLOT_FREE;
    place_withdraw(core, slot);
    progress_write(core, slot);
    trace_counts(core, slot);
    push_event(core, slot, kind, kind == PPU_SLOT_PARKED ? (uint32_t)__builtin_popcountll(slot->save_waiting) : 0);
}

/* A CTA is to be handed out, now or when an SM has room. */
static bool slot_can_go_on(const struct core *core, struct dist_slot *slot)
{
    return slot->save_ready != 0 || slot->switched != 0 ||
           (slot->next < slot->total && save_exists(slot) && local_exists(core, slot));
}

static bool is_queue(const struct dist_slot *slot)
{
    return slot->task.tmd.kind == PPU_TMD_QUEUE;
}

/* A queue may get more entries; only the firmware knows that it will not. */
static bool slot_is_done(const struct dist_slot *slot)
{
    return !is_queue(slot) && slot->next == slot->total && slot->save_used == 0 && slot->switched == 0;
}

/* Frees the slot when nothing of it runs and nothing more will. */
static void slot_settle(struct core *core, struct dist_slot *slot)
{
    if (slot->in_flight != 0) {
        return;
    }
    if (slot->state == PPU_SLOT_KILLING) {
        slot_free(core, slot, PPU_SLOT_KILLED);
    } else if (slot_is_done(slot)) {
        slot_free(core, slot, PPU_SLOT_DONE);
    } else if (slot->state == PPU_SLOT_STOPPING && slot->switched == 0) {
        slot_free(core, slot, PPU_SLOT_STOPPED);
    } else if (!slot_can_go_on(core, slot)) {
        slot_free(core, slot, PPU_SLOT_PARKED);
    }
}

/* CTAs wait that the firmware was not told of. */
static void slot_tell(struct core *core, struct dist_slot *slot)
{
    if (slot->state != PPU_SLOT_FREE && !slot->told && slot->save_waiting != 0) {
        slot->told = true;
        slot->save_told = slot->save_waiting;
        push_event(core, slot, PPU_SLOT_WAITS, 0);
    }
}

/* Those that were told of when the firmware found their children complete; CTAs that came later are told of anew. */
static void slot_resume(struct core *core, struct dist_slot *slot)
{
    if (slot->state == PPU_SLOT_FREE || slot->state == PPU_SLOT_KILLING || !slot->told) {
        return;
    }
    slot->told = false;
    slot->save_ready |= slot->save_told;
    slot->save_waiting &= ~slot->save_told;
    if (slot->state == PPU_SLOT_RUNNING) {
        place_offer(core, slot);
    }
    slot_tell(core, slot);
}

/* Of a gang that has begun every CTA must run, or those that do would wait for the others. */
static bool slot_must_drain_all(struct core *core, const struct dist_slot *slot)
{
    return slot->in_flight != 0 && place_is_planned(core, slot) && !dist_saving(core, slot->task.slot);
}

static void slot_stop(struct core *core, struct dist_slot *slot)
{
    if (slot->state == PPU_SLOT_RUNNING) {
        slot->state = PPU_SLOT_STOPPING;
        if (!slot_must_drain_all(core, slot)) {
            place_withdraw(core, slot);
        }
        if (slot->switched != 0 && !place_is_planned(core, slot)) { /* they have begun, and end first */
            place_offer(core, slot);
        }
        slot_settle(core, slot);
    }
}

static void slot_save_all(struct core *core, struct dist_slot *slot)
{
    if (slot->state == PPU_SLOT_RUNNING && slot->task.tmd.save_count != 0) {
        mask_set(&core->dist.saving, bit(slot->task.slot));
    }
    slot_stop(core, slot);
}

static void slot_kill(struct core *core, struct dist_slot *slot)
{
    if (slot->state == PPU_SLOT_RUNNING || slot->state == PPU_SLOT_STOPPING) {
        slot->state = PPU_SLOT_KILLING;
        place_withdraw(core, slot);
        mask_clear(&core->dist.saving, bit(slot->task.slot));
        mask_set(&core->dist.killing, bit(slot->task.slot));
        slot_settle(core, slot);
    }
}

/* The device reads there, and writes what is done. */
static uint16_t copy_check(const struct core *core, uint32_t tmd_off)
{
    if (tmd_off % PPU_TMD_ALIGN != 0) {
        return PPU_FAULT_TMD_ALIGN;
    }
    return core_protected_has(core, tmd_off, sizeof(struct ppu_tmd_copy)) &&
                   core_vram_has(core, tmd_off, sizeof(struct ppu_tmd_copy))
               ? PPU_FAULT_NONE
               : PPU_FAULT_TMD_MEMORY;
}

/* Copies the TMD copy once and decodes that; 0 or a fault code. */
static uint16_t slot_read(struct core *core, struct dist_slot *slot, uint32_t tmd_off)
{
    uint16_t code = copy_check(core, tmd_off);

    slot->task.tmd_off = tmd_off;
    if (code != PPU_FAULT_NONE) {
        return code;
    }
    vram_copy((uint8_t *)&slot->task.tmd, core->vram + tmd_off, sizeof(struct ppu_tmd));
    return dist_task_decode(core, &slot->task, &slot->total);
}

static void slot_begin(struct core *core, struct dist_slot *slot, uint32_t tmd_off)
{
    uint16_t code = PPU_FAULT_NONE;

    slot->next = 0;
    slot->ctas_done = 0;
    slot->run_ns = slot->stepped_ns = 0;
    memset(slot->count, 0, sizeof(slot->count));
    slot->starved = false;
    slot->told = false;
    slot->was_planned = false;
    memset(slot->planned, 0, sizeof(slot->planned));
    slot->save_used = slot->save_ready = slot->save_waiting = slot->save_told = 0;
    memset(slot->local_used, 0, sizeof(slot->local_used));
    slot->switched = 0;
    __atomic_store_n(&slot->rank, 0, __ATOMIC_RELAXED);
    slot->task.start = ++core->dist.starts;
    code = slot_read(core, slot, tmd_off);
    if (code == PPU_FAULT_NONE && !progress_read(core, slot)) {
        code = PPU_FAULT_TMD_SAVE;
    }
    if (code != PPU_FAULT_NONE) {
        push_event(core, slot, PPU_SLOT_REFUSED, code);
        return;
    }
    slot->state = PPU_SLOT_RUNNING;
    if (slot_can_go_on(core, slot)) {
        place_offer(core, slot);
    }
    slot_settle(core, slot);
    slot_tell(core, slot);
}

/* SMs may find a CTA that they did not find before. */
static bool take_stirred(struct dist *dist)
{
    bool stirred = dist->stirred;

    dist->stirred = false;
    return stirred;
}

/* ---- the MCU's side ---- */

void dist_start(struct core *core, uint32_t index, uint32_t tmd_off)
{
    struct dist_slot *slot = &core->dist.slot[index];
    bool busy = false;

    pthread_mutex_lock(&core->dist.lock);
    busy = slot->state != PPU_SLOT_FREE;
    if (!busy) {
        slot_begin(core, slot, tmd_off);
    }
    pthread_mutex_unlock(&core->dist.lock);
    if (busy) {
        core_guest_error(core, "SLOT_START: slot %u is busy", index);
        core_device_error(core, PPU_DEVERR_SLOT);
        return;
    }
    sm_wake(core);
    core_timer_request(core);
}

void dist_control(struct core *core, uint32_t index, uint32_t command)
{
    struct dist_slot *slot = &core->dist.slot[index];
    bool attend = false, wake = false;

    if (command < PPU_SLOT_CMD_STOP || command > PPU_SLOT_CMD_RESUME) {
        core_guest_error(core, "SLOT_CONTROL: no command %u", command);
        core_device_error(core, PPU_DEVERR_SLOT);
        return;
    }
    pthread_mutex_lock(&core->dist.lock);
    switch (command) {
    case PPU_SLOT_CMD_STOP:
        slot_stop(core, slot);
        break;
    case PPU_SLOT_CMD_SAVE:
        slot_save_all(core, slot);
        break;
    case PPU_SLOT_CMD_RESUME:
        slot_resume(core, slot);
        break;
    default:
        slot_kill(core, slot);
        break;
    }
    attend = slot->state == PPU_SLOT_KILLING || dist_saving(core, index);
    wake = take_stirred(&core->dist) || command == PPU_SLOT_CMD_RESUME;
    pthread_mutex_unlock(&core->dist.lock);
    if (attend) {
        sm_kill(core, index);
    }
    if (wake) {
        sm_wake(core);
    }
    core_timer_request(core);
}

/* True when there are more entries. A slot that has just been freed is told again when it is started. */
static bool slot_limit(struct core *core, struct dist_slot *slot, uint32_t limit)
{
    uint32_t more = limit - (uint32_t)slot->total;

    if (slot->state != PPU_SLOT_RUNNING || !is_queue(slot) || more == 0 || more > INT32_MAX) {
        return false;
    }
    slot->total += more;
    slot->task.tmd.queue_limit = slot->total;
    place_offer(core, slot);
    return true;
}

void dist_limit(struct core *core, uint32_t index, uint32_t limit)
{
    bool more = false;

    pthread_mutex_lock(&core->dist.lock);
    more = slot_limit(core, &core->dist.slot[index], limit);
    pthread_mutex_unlock(&core->dist.lock);
    if (more) {
        sm_wake(core);
        core_timer_request(core);
    }
}

uint32_t dist_state(struct core *core, uint32_t index)
{
    uint32_t state = 0;

    pthread_mutex_lock(&core->dist.lock);
    state = core->dist.slot[index].state;
    pthread_mutex_unlock(&core->dist.lock);
    return state;
}

uint64_t dist_run_ns(struct core *core, uint32_t index)
{
    uint64_t ns;

    pthread_mutex_lock(&core->dist.lock);
    ns = run_ns(core, &core->dist.slot[index]);
    pthread_mutex_unlock(&core->dist.lock);
    return ns;
}

uint64_t dist_still_ns(struct core *core, uint32_t index)
{
    const struct dist_slot *slot = &core->dist.slot[index];
    uint64_t ns;

    pthread_mutex_lock(&core->dist.lock);
    ns = run_ns(core, slot) - slot->stepped_ns;
    pthread_mutex_unlock(&core->dist.lock);
    return ns;
}

/* ---- the SMs' side ---- */

/* The next CTA of the grid. */
static bool take_new(struct core *core, struct dist_slot *slot, struct dist_cta *out)
{
    if (slot->next == slot->total) {
        return false;
    }
    if (!save_exists(slot) || !local_exists(core, slot) || !switch_hold(core, &slot->task)) {
        slot->starved = true;
        return false;
    }
    *out = (struct dist_cta){
        .task = &slot->task,
        .number = slot->next++,
        .local_slot = local_take(core, slot),
        .save = save_take(slot),
        .chunk = SWITCH_NONE,
    };
    run_step(core, slot);
    return true;
}

/* A CTA that was saved and goes on; it keeps its place. */
static void take_saved(struct dist_slot *slot, struct dist_cta *out)
{
    uint32_t n = (uint32_t)__builtin_ctzll(slot->save_ready);

    slot->save_ready &= ~bit(n);
    *out = (struct dist_cta){
        .task = &slot->task,
        .number = slot->save[n].number,
        .local_slot = slot->save[n].local_slot,
        .save = n,
        .chunk = SWITCH_NONE,
        .saved = true,
    };
}

/* The CTA that was taken off its SM first. */
static void take_switched(struct dist_slot *slot, struct dist_cta *out)
{
    const struct dist_switched first = slot->switched_cta[0];

    slot->switched--;
    memmove(slot->switched_cta, slot->switched_cta + 1, slot->switched * sizeof(slot->switched_cta[0]));
    *out = (struct dist_cta){
        .task = &slot->task,
        .number = first.number,
        .local_slot = first.local_slot,
        .save = DIST_NO_SAVE,
        .chunk = first.chunk,
        .saved = true,
    };
}

/* Takes what is to go on before what is to begin; of a slot that stops, and is no gang, nothing begins. */
static bool take_next(struct core *core, struct dist_slot *slot, struct dist_cta *out)
{
    if (slot->save_ready != 0) {
        take_saved(slot, out);
        return true;
    }
    if (slot->switched != 0) {
        take_switched(slot, out);
        return true;
    }
    return take_new(core, slot, out);
}

/* A slot that stops, and is no gang, only goes on with what it had begun. */
static bool slot_has_more(const struct dist_slot *slot)
{
    bool begins = slot->state == PPU_SLOT_RUNNING || (slot->task.tmd.flags & PPU_TMD_CORESIDENT);

    return slot->save_ready != 0 || slot->switched != 0 || (begins && slot->next < slot->total);
}

static bool slot_hand_out(struct core *core, struct dist_slot *slot, uint32_t sm, const struct dist_room *room,
                          struct dist_cta *out)
{
    if (!place_fits(&slot->task, room) || !place_allows(core, slot, sm)) {
        return false;
    }
    if (!take_next(core, slot, out)) {
        return false;
    }
    dist_cta_id(&slot->task.tmd, out->number, out->id);
    run_ctas(core, slot, slot->in_flight + 1);
    core->dist.present[sm][slot->task.tmd.context]++;
    place_take(core, slot, sm);
    if (!slot_has_more(slot)) {
        mask_clear(&core->dist.offering, bit(slot->task.slot));
    }
    return true;
}

/* The first of two slots goes before the second: by rank, then by what its address space has on the SM already. */
static bool goes_before(const struct dist *dist, uint32_t sm, uint32_t first, uint32_t second)
{
    const struct dist_slot *a = &dist->slot[first], *b = &dist->slot[second];

    return a->rank != b->rank ? a->rank > b->rank
                              : dist->present[sm][a->task.tmd.context] < dist->present[sm][b->task.tmd.context];
}

/* The slot to be asked next; among equals from `later` on. */
static uint32_t best_offer(const struct dist *dist, uint32_t sm, uint64_t offers, uint64_t later)
{
    uint32_t best = (uint32_t)__builtin_ctzll(later != 0 ? later : offers);

    for (uint64_t left = later != 0 ? later & (later - 1) : offers & (offers - 1); left != 0; left &= left - 1) {
        uint32_t index = (uint32_t)__builtin_ctzll(left);
        best = goes_before(dist, sm, index, best) ? index : best;
    }
    for (uint64_t left = later != 0 ? offers & ~later : 0; left != 0; left &= left - 1) {
        uint32_t index = (uint32_t)__builtin_ctzll(left);
        best = goes_before(dist, sm, index, best) ? index : best;
    }
    return best;
}

/* Offers of equals go round among the slots, for each SM on its own, so that tasks run beside each other (A8). */
static bool hand_out(struct core *core, uint32_t sm, const struct dist_room *room, struct dist_cta *out)
{
    struct dist *dist = &core->dist;
    uint64_t offers = dist->offering;
    uint64_t later = offers & ~(bit(dist->cursor[sm]) - 1);

    while (offers != 0) {
        uint32_t index = best_offer(dist, sm, offers, later);

        if (slot_hand_out(core, &dist->slot[index], sm, room, out)) {
            dist->cursor[sm] = (uint8_t)((index + 1) % PPU_MAX_SLOTS);
            return true;
        }
        offers &= ~bit(index);
        later &= ~bit(index);
    }
    return false;
}

/* The last ones are those that have ended since. */
static void leave_ctas(struct core *core, uint32_t sm, struct dist_ends *ends)
{
    for (uint32_t i = ends->held; i != 0 && !ends->cta[i - 1].left; i--) {
        struct dist_cta *const cta = &ends->cta[i - 1];
        const struct dist_slot *slot = &core->dist.slot[cta->task->slot];
        cta->left = slot->in_flight != 0;
        if (cta->left) {
            place_give(core, slot, sm);
        }
    }
}

bool dist_take(struct core *core, uint32_t sm, const struct dist_room *room, struct dist_ends *ends,
               struct dist_cta *out)
{
    bool given = false, wake = false;

    if (__atomic_load_n(&core->dist.offering, __ATOMIC_SEQ_CST) == 0) {
        return false;
    }
    pthread_mutex_lock(&core->dist.lock);
    leave_ctas(core, sm, ends);
    given = hand_out(core, sm, room, out);
    wake = take_stirred(&core->dist);
    pthread_mutex_unlock(&core->dist.lock);
    if (wake) {
        sm_wake(core);
    }
    if (given) {
        if (out->number == 0 && !out->saved) {
            trace_mark(core, PPU_MARK_CTA_DISTRIBUTED, sm);
        }
        trace_ctas(core, out->saved ? PPU_TRACE_CTA_RESTORE : PPU_TRACE_CTA_START, sm, out, 1);
    }
    return given;
}

static void give_back_cta(struct core *core, uint32_t sm, const struct dist_cta *cta, bool ended,
                          const uint64_t count[PPU_COUNTERS])
{
    struct dist_slot *slot = &core->dist.slot[cta->task->slot];

    if (slot->in_flight == 0) {
        return;
    }
    run_ctas(core, slot, slot->in_flight - 1);
    core->dist.present[sm][slot->task.tmd.context]--;
    switch_let_go(core, &slot->task);
    if (!cta->left) {
        place_give(core, slot, sm);
    }
    core->dist.stirred = core->dist.stirred || slot->starved;
    counts_add(slot->count, count, core->config.cache_model);
    slot->ctas_done += ended;
    run_step(core, slot);
    slot->starved = false;
    local_give(slot, cta->local_slot);
    save_give(slot, cta->save);
    if (!ended) {
        slot_kill(core, slot); /* a task that lost a CTA can only end as killed */
    }
    slot_settle(core, slot);
}

static void ctas_end(struct core *core, uint32_t sm, const struct dist_cta *cta, bool ended,
                     const uint64_t (*count)[PPU_COUNTERS], uint32_t ctas)
{
    bool wake = false;

    trace_ctas(core, PPU_TRACE_CTA_END, sm, cta, ctas);
    pthread_mutex_lock(&core->dist.lock);
    for (uint32_t i = 0; i < ctas; i++) {
        give_back_cta(core, sm, &cta[i], ended, count[i]);
    }
    wake = take_stirred(&core->dist);
    pthread_mutex_unlock(&core->dist.lock);
    if (wake) {
        sm_wake(core);
    }
}

void dist_done(struct core *core, uint32_t sm, struct dist_ends *ends)
{
    ctas_end(core, sm, ends->cta, true, (const uint64_t(*)[PPU_COUNTERS])ends->count, ends->held);
    ends->held = 0;
}

void dist_killed(struct core *core, uint32_t sm, const struct dist_cta *cta, const uint64_t count[PPU_COUNTERS])
{
    ctas_end(core, sm, cta, false, (const uint64_t(*)[PPU_COUNTERS])count, 1);
}

/* Its chunks and a place in the list were taken before. A slot being killed needs neither. */
static void put_into_area(struct core *core, struct dist_slot *slot, const struct dist_cta *cta)
{
    slot->switched_cta[slot->switched++] = (struct dist_switched){ cta->number, cta->local_slot, cta->chunk };
    bool together = dist_leaving(core, slot->task.slot);

    if (together && slot->in_flight == 0) {
        mask_clear(&core->dist.leaving, bit(slot->task.slot));
    }
    if (slot->state != PPU_SLOT_KILLING && (!together || slot->in_flight == 0)) {
        place_offer(core, slot);
        core->dist.stirred = true;
    }
    slot_settle(core, slot);
}

/* The slot goes on, is freed, or tells that somebody waits. */
static void put_aside(struct core *core, uint32_t sm, const struct dist_cta *cta, bool waits,
                      const uint64_t count[PPU_COUNTERS])
{
    struct dist_slot *slot = &core->dist.slot[cta->task->slot];

    if (slot->in_flight == 0) {
        return;
    }
    run_ctas(core, slot, slot->in_flight - 1);
    core->dist.present[sm][slot->task.tmd.context]--;
    place_give(core, slot, sm);
    counts_add(slot->count, count, core->config.cache_model);
    if (cta->save == DIST_NO_SAVE) {
        put_into_area(core, slot, cta);
        return;
    }
    slot->save[cta->save] = (struct dist_saved_cta){ cta->number, cta->local_slot };
    if (waits) {
        slot->save_waiting |= bit(cta->save);
    } else {
        slot->save_ready |= bit(cta->save);
    }
    slot_settle(core, slot);
    slot_tell(core, slot);
    core->dist.stirred = core->dist.stirred || slot->state == PPU_SLOT_RUNNING;
}

void dist_saved(struct core *core, uint32_t sm, const struct dist_cta *cta, bool waits,
                const uint64_t count[PPU_COUNTERS])
{
    bool wake = false;

    trace_ctas(core, PPU_TRACE_CTA_SAVE, sm, cta, 1);
    pthread_mutex_lock(&core->dist.lock);
    put_aside(core, sm, cta, waits, count);
    wake = take_stirred(&core->dist);
    pthread_mutex_unlock(&core->dist.lock);
    if (wake) {
        sm_wake(core);
    }
}

/* ---- the area of an address space ---- */

/* Room in the list for every CTA of the slot that is on an SM: one that leaves has its place. */
static bool list_grow(struct dist_slot *slot)
{
    uint32_t need = slot->switched + slot->in_flight;
    struct dist_switched *list;

    if (need <= slot->switched_room) {
        return true;
    }
    list = realloc(slot->switched_cta, need * sizeof(*list));
    if (list == NULL) {
        return false;
    }
    slot->switched_cta = list;
    slot->switched_room = need;
    return true;
}

bool dist_switch_take(struct core *core, struct dist_cta *cta)
{
    struct dist_slot *slot = &core->dist.slot[cta->task->slot];

    pthread_mutex_lock(&core->dist.lock);
    cta->chunk = switch_has(core, cta->task) && list_grow(slot) ? switch_take(core, cta->task) : SWITCH_NONE;
    pthread_mutex_unlock(&core->dist.lock);
    return cta->chunk != SWITCH_NONE;
}

void dist_switch_give(struct core *core, struct dist_cta *cta)
{
    pthread_mutex_lock(&core->dist.lock);
    switch_give(core, cta->task, cta->chunk);
    cta->chunk = SWITCH_NONE;
    pthread_mutex_unlock(&core->dist.lock);
}

void dist_switch_write(struct core *core, const struct dist_cta *cta, const uint8_t *bytes, uint32_t len)
{
    for (uint32_t chunk = cta->chunk; len != 0; chunk = switch_next(core, cta->task, chunk)) {
        uint32_t piece = len < PPU_SWITCH_CHUNK ? len : PPU_SWITCH_CHUNK;

        vram_copy(switch_chunk(core, cta->task, chunk), bytes, piece);
        bytes += piece;
        len -= piece;
    }
}

void dist_switch_read(struct core *core, const struct dist_cta *cta, uint8_t *bytes, uint32_t len)
{
    for (uint32_t chunk = cta->chunk; len != 0; chunk = switch_next(core, cta->task, chunk)) {
        uint32_t piece = len < PPU_SWITCH_CHUNK ? len : PPU_SWITCH_CHUNK;

        vram_copy(bytes, switch_chunk(core, cta->task, chunk), piece);
        bytes += piece;
        len -= piece;
    }
}

bool dist_runs(struct core *core, uint32_t context)
{
    bool runs = false;

    pthread_mutex_lock(&core->dist.lock);
    for (uint32_t i = 0; i < core->config.slots; i++) {
        const struct dist_slot *slot = &core->dist.slot[i];
        runs = runs || (slot->state != PPU_SLOT_FREE && slot->task.tmd.context == context);
    }
    pthread_mutex_unlock(&core->dist.lock);
    return runs;
}

bool dist_area(struct core *core, uint32_t context, uint32_t place)
{
    bool opened;

    pthread_mutex_lock(&core->dist.lock);
    opened = switch_open(core, context, place);
    pthread_mutex_unlock(&core->dist.lock);
    return opened;
}

/* ---- claims ---- */

/* Slots that claim a place and have a CTA for it. */
static uint64_t claims(const struct dist *dist)
{
    return __atomic_load_n(&dist->claiming, __ATOMIC_SEQ_CST) &
           (__atomic_load_n(&dist->offering, __ATOMIC_SEQ_CST) | __atomic_load_n(&dist->gangs, __ATOMIC_SEQ_CST));
}

void dist_gang_leave(struct core *core, uint32_t index)
{
    struct dist_slot *slot = &core->dist.slot[index];
    bool leaves;

    pthread_mutex_lock(&core->dist.lock);
    leaves = (slot->state == PPU_SLOT_RUNNING || slot->state == PPU_SLOT_STOPPING) && slot->in_flight != 0 &&
             !dist_leaving(core, index);
    if (leaves) {
        mask_set(&core->dist.leaving, bit(index));
        place_withdraw(core, slot);
    }
    pthread_mutex_unlock(&core->dist.lock);
    if (leaves) {
        sm_kill(core, index);
    }
}

bool dist_leaving(struct core *core, uint32_t slot)
{
    return __atomic_load_n(&core->dist.leaving, __ATOMIC_SEQ_CST) & bit(slot);
}

bool dist_claiming(struct core *core)
{
    return claims(&core->dist) != 0;
}

bool dist_claim(struct core *core, uint32_t sm, struct dist_claim *claim)
{
    struct dist *dist = &core->dist;
    const struct dist_slot *best = NULL;

    pthread_mutex_lock(&dist->lock);
    for (uint64_t left = claims(dist); left != 0; left &= left - 1) {
        const struct dist_slot *slot = &dist->slot[__builtin_ctzll(left)];
        bool gang = dist->gangs & bit(slot->task.slot);

        if ((gang || dist->present[sm][slot->task.tmd.context] == 0) && (best == NULL || slot->rank > best->rank)) {
            best = slot;
        }
    }
    if (best != NULL) {
        *claim = (struct dist_claim){ best->task, best->rank, dist->gangs & bit(best->task.slot) };
    }
    pthread_mutex_unlock(&dist->lock);
    return best != NULL;
}

uint32_t dist_rank_of(struct core *core, uint32_t slot)
{
    return __atomic_load_n(&core->dist.slot[slot].rank, __ATOMIC_RELAXED);
}

void dist_rank(struct core *core, uint32_t index, uint32_t value)
{
    struct dist_slot *slot = &core->dist.slot[index];
    bool attend;

    pthread_mutex_lock(&core->dist.lock);
    __atomic_store_n(&slot->rank, (uint8_t)(value & PPU_SLOT_RANK_MASK), __ATOMIC_RELAXED);
    mask_clear(&core->dist.claiming, bit(index));
    if ((value & PPU_SLOT_CLAIMS) && slot->state == PPU_SLOT_RUNNING) {
        mask_set(&core->dist.claiming, bit(index));
    }
    attend = claims(&core->dist) & bit(index);
    pthread_mutex_unlock(&core->dist.lock);
    if (attend) {
        sm_kill(core, index);
    }
}

bool dist_saving(struct core *core, uint32_t slot)
{
    return __atomic_load_n(&core->dist.saving, __ATOMIC_SEQ_CST) & bit(slot);
}

bool dist_killing(struct core *core, uint32_t slot)
{
    return __atomic_load_n(&core->dist.killing, __ATOMIC_SEQ_CST) & bit(slot);
}

static void fill_fault(struct ppu_fault_event *event, uint32_t sm, const struct dist_cta *cta)
{
    event->sm = (uint8_t)sm;
    event->slot = cta->task->slot;
    event->task = cta->task->tmd_off;
    event->context = cta->task->tmd.context;
    event->correlation = cta->task->tmd.correlation;
    memcpy(event->cta, cta->id, sizeof(event->cta));
}

bool dist_fault(struct core *core, uint32_t sm, const struct dist_cta *cta, struct ppu_fault_event *event)
{
    struct dist_slot *slot = &core->dist.slot[cta->task->slot];
    bool first = false;
    bool taken = true;

    fill_fault(event, sm, cta);
    pthread_mutex_lock(&core->dist.lock);
    first = slot->state != PPU_SLOT_KILLING;
    if (first) {
        taken = ring_push(core, PPU_RING_FAULT, event);
    }
    if (first && taken) {
        slot_kill(core, slot);
    }
    pthread_mutex_unlock(&core->dist.lock);
    /* The slot stays in use meanwhile: the CTA that faulted has not been given back. */
    if (first && taken) {
        sm_kill(core, cta->task->slot);
    }
    return taken;
}

/* ---- flushes: one at a time, in the order asked for ---- */

static uint64_t all_sms(const struct core *core)
{
    return UINT64_MAX >> (64 - core->config.sms);
}

static bool flush_put(struct core *core, uint32_t context, bool *first)
{
    struct dist *dist = &core->dist;

    if (dist->flush_count == PPU_MAX_CONTEXTS) {
        return false;
    }
    dist->flush[(dist->flush_head + dist->flush_count) % PPU_MAX_CONTEXTS] =
        (struct dist_flush){ .context = context, .tag = reg_get(core, PPU_REG_MMU_FLUSH_TAG) };
    *first = dist->flush_count == 0;
    dist->flush_count++;
    if (*first) {
        dist->flush_waiting = all_sms(core);
    }
    return true;
}

void dist_flush_request(struct core *core, uint32_t context)
{
    bool accepted = context < core->config.contexts;
    bool first = false;

    if (accepted) {
        pthread_mutex_lock(&core->dist.lock);
        accepted = flush_put(core, context, &first);
        pthread_mutex_unlock(&core->dist.lock);
    }
    if (!accepted) {
        core_guest_error(core, "MMU_FLUSH: no address space %u, or too many flushes", context);
        core_device_error(core, PPU_DEVERR_ARG);
        return;
    }
    if (first) {
        sm_flush(core, context);
    }
    core_timer_request(core);
}

/* One SM has answered the flush under way; true when another one begins, of *context. */
static bool flush_answer(struct core *core, uint32_t sm, uint32_t *context)
{
    struct dist *dist = &core->dist;
    const struct dist_flush *flush = &dist->flush[dist->flush_head];

    if (dist->flush_count == 0 || flush->context != *context || !(dist->flush_waiting & bit(sm))) {
        return false;
    }
    dist->flush_waiting &= ~bit(sm);
    if (dist->flush_waiting != 0) {
        return false;
    }
    push_flushed(core, flush);
    dist->flush_head = (dist->flush_head + 1) % PPU_MAX_CONTEXTS;
    dist->flush_count--;
    if (dist->flush_count == 0) {
        return false;
    }
    *context = dist->flush[dist->flush_head].context;
    dist->flush_waiting = all_sms(core);
    return true;
}

void dist_flushed(struct core *core, uint32_t sm, uint32_t context)
{
    bool next = false;

    pthread_mutex_lock(&core->dist.lock);
    next = flush_answer(core, sm, &context);
    pthread_mutex_unlock(&core->dist.lock);
    if (next) {
        sm_flush(core, context);
    }
}

/* ---- reset, snapshot ---- */

void dist_reset(struct core *core)
{
    struct dist *dist = &core->dist;

    pthread_mutex_lock(&dist->lock);
    for (uint32_t i = 0; i < PPU_MAX_SLOTS; i++) {
        free(dist->slot[i].switched_cta);
        memset(&dist->slot[i], 0, sizeof(dist->slot[i]));
        dist->slot[i].task.slot = i;
    }
    mask_clear(&dist->offering, UINT64_MAX);
    mask_clear(&dist->killing, UINT64_MAX);
    mask_clear(&dist->saving, UINT64_MAX);
    mask_clear(&dist->claiming, UINT64_MAX);
    mask_clear(&dist->leaving, UINT64_MAX);
    memset(dist->present, 0, sizeof(dist->present));
    for (uint32_t i = 0; i < PPU_MAX_CONTEXTS; i++) {
        switch_close(core, i);
    }
    memset(dist->cursor, 0, sizeof(dist->cursor));
    memset(dist->used, 0, sizeof(dist->used));
    __atomic_store_n(&dist->gangs, 0, __ATOMIC_SEQ_CST);
    dist->gang_clock = 0;
    dist->stood_back = false;
    dist->stirred = false;
    dist->flush_head = 0;
    dist->flush_count = 0;
    dist->flush_waiting = 0;
    pthread_mutex_unlock(&dist->lock);
}

void dist_free(struct core *core)
{
    for (uint32_t i = 0; i < PPU_MAX_SLOTS; i++) {
        free(core->dist.slot[i].switched_cta);
    }
    for (uint32_t i = 0; i < PPU_MAX_CONTEXTS; i++) {
        switch_close(core, i);
    }
}

const struct dist_task *dist_task_of(struct core *core, uint32_t slot)
{
    bool used = slot < core->config.slots && core->dist.slot[slot].state != PPU_SLOT_FREE;

    return used ? &core->dist.slot[slot].task : NULL;
}

static void switched_save(struct core *core, const struct dist_slot *slot, struct snap *snap)
{
    snap_put_u32(snap, slot->rank);
    snap_put_u32(snap, (core->dist.claiming & bit(slot->task.slot)) != 0);
    snap_put_u32(snap, dist_leaving(core, slot->task.slot));
    snap_put_u32(snap, slot->switched);
    for (uint32_t i = 0; i < slot->switched; i++) {
        const struct dist_switched *cta = &slot->switched_cta[i];

        snap_put_u64(snap, cta->number);
        snap_put_u32(snap, cta->local_slot);
        for (uint32_t chunk = cta->chunk; chunk != SWITCH_NONE;) {
            snap_put_u32(snap, chunk);
            chunk = switch_next(core, &slot->task, chunk);
        }
    }
}

/* A CTA that was taken off its SM, with chunks that nobody else has. */
static bool switched_cta_load(struct core *core, struct dist_slot *slot, uint32_t *chunk, struct snap *snap)
{
    struct dist_switched cta = { .number = snap_get_u64(snap), .local_slot = snap_get_u32(snap) };

    for (uint32_t i = 0; i < slot->task.cta_chunks; i++) {
        chunk[i] = snap_get_u32(snap);
    }
    if (snap->bad || cta.number >= slot->next) {
        return snap_refuse(snap, "CTA %llu that was taken off an SM has not begun", (unsigned long long)cta.number);
    }
    if (!switch_hold(core, &slot->task) || !switch_take_at(core, &slot->task, chunk)) {
        return snap_refuse(snap, "CTA %llu cannot have its chunks", (unsigned long long)cta.number);
    }
    cta.chunk = chunk[0];
    slot->switched_cta[slot->switched++] = cta;
    return true;
}

static bool switched_ctas_load(struct core *core, struct dist_slot *slot, uint32_t count, struct snap *snap)
{
    uint32_t *chunk = malloc(slot->task.cta_chunks * sizeof(*chunk));
    bool good = chunk != NULL;

    slot->switched_cta = calloc(count, sizeof(slot->switched_cta[0]));
    slot->switched_room = slot->switched_cta != NULL ? count : 0;
    if (!good || slot->switched_cta == NULL) {
        free(chunk);
        return snap_refuse(snap, "there is no memory for %u CTAs", count);
    }
    for (uint32_t i = 0; i < count && good; i++) {
        good = switched_cta_load(core, slot, chunk, snap);
    }
    free(chunk);
    return good;
}

static bool switched_load(struct core *core, struct dist_slot *slot, struct snap *snap)
{
    const struct switch_area *area = &core->dist.area[slot->task.tmd.context];
    bool claims = false, leaves = false;
    uint32_t count;

    slot->rank = (uint8_t)snap_get_u32(snap);
    claims = snap_get_flag(snap);
    leaves = snap_get_flag(snap);
    count = snap_get_u32(snap);
    if (snap->bad || (count != 0 && !switch_has(core, &slot->task)) || count > area->chunks ||
        (claims && slot->state != PPU_SLOT_RUNNING) ||
        (leaves && (!(slot->task.tmd.flags & PPU_TMD_CORESIDENT) || slot->was_planned || slot->in_flight == 0))) {
        return snap_refuse(snap, "%u CTAs in an area of %u chunks, or a claim or leave that cannot be", count,
                           area->chunks);
    }
    if (leaves) {
        mask_set(&core->dist.leaving, bit(slot->task.slot));
    }
    if (claims) {
        mask_set(&core->dist.claiming, bit(slot->task.slot));
    }
    return count == 0 || switched_ctas_load(core, slot, count, snap);
}

/* Their places are values of registers. */
static bool areas_load(struct core *core, struct snap *snap)
{
    for (uint32_t i = 0; i < core->config.contexts; i++) {
        uint32_t place = reg_get(core, PPU_REG_CTX_SAVE + 4 * i);

        if (!switch_open(core, i, place)) {
            return snap_refuse(snap, "address space %u cannot have its area at 0x%x", i, place);
        }
    }
    return true;
}

static void slot_save(struct core *core, const struct dist_slot *slot, bool saving, struct snap *snap)
{
    snap_put_u32(snap, slot->state);
    snap_put_u64(snap, run_ns(core, slot));
    snap_put_u64(snap, slot->stepped_ns);
    if (slot->state == PPU_SLOT_FREE) {
        return;
    }
    snap_put_u32(snap, slot->task.tmd_off);
    snap_put_bytes(snap, &slot->task.tmd, sizeof(slot->task.tmd));
    snap_put_u64(snap, slot->next);
    snap_put_u64(snap, slot->ctas_done);
    snap_put_bytes(snap, slot->count, sizeof(slot->count));
    snap_put_u32(snap, slot->in_flight);
    snap_put_u32(snap, slot->starved);
    snap_put_u32(snap, slot->told);
    snap_put_u32(snap, saving);
    snap_put_u32(snap, place_is_planned(core, slot));
    snap_put_u64(snap, slot->save_used);
    snap_put_u64(snap, slot->save_ready);
    snap_put_u64(snap, slot->save_waiting);
    snap_put_u64(snap, slot->save_told);
    for (uint32_t i = 0; i < slot->task.tmd.save_count; i++) {
        snap_put_u64(snap, slot->save[i].number);
        snap_put_u32(snap, slot->save[i].local_slot);
    }
    for (uint32_t i = 0; i < CORE_MAX_RESIDENT / 64; i++) {
        snap_put_u64(snap, slot->local_used[i]);
    }
    switched_save(core, slot, snap);
}

void dist_save(struct core *core, struct snap *snap)
{
    struct dist *dist = &core->dist;

    for (uint32_t i = 0; i < core->config.slots; i++) {
        slot_save(core, &dist->slot[i], dist_saving(core, i), snap);
    }
    snap_put_bytes(snap, dist->cursor, sizeof(dist->cursor));
    snap_put_u32(snap, dist->flush_count);
    for (uint32_t i = 0; i < dist->flush_count; i++) {
        const struct dist_flush *flush = &dist->flush[(dist->flush_head + i) % PPU_MAX_CONTEXTS];

        snap_put_u32(snap, flush->context);
        snap_put_u32(snap, flush->tag);
    }
}

/* A state that a slot can be in between two events. */
static bool slot_usable(struct core *core, struct dist_slot *slot, bool saving, struct snap *snap)
{
    const bool gang = slot->task.tmd.flags & PPU_TMD_CORESIDENT;

    if (slot->next > slot->total || slot->ctas_done > slot->next) {
        return snap_refuse(snap, "%llu CTAs have begun and %llu ended, of %llu", (unsigned long long)slot->next,
                           (unsigned long long)slot->ctas_done, (unsigned long long)slot->total);
    }
    if (slot->stepped_ns > slot->run_ns) {
        return snap_refuse(snap, "its last step was at %llu ns of the %llu it has run",
                           (unsigned long long)slot->stepped_ns, (unsigned long long)slot->run_ns);
    }
    if (saving && (slot->state != PPU_SLOT_STOPPING || slot->task.tmd.save_count == 0)) {
        return snap_refuse(snap, "CTAs are being saved, and it is not stopping or has no save area");
    }
    if (slot->was_planned && (!gang || slot->state == PPU_SLOT_KILLING)) {
        return snap_refuse(snap, "room is planned for a grid that is not co-resident, or is being killed");
    }
    if (slot->told != (slot->save_waiting != 0)) {
        return snap_refuse(snap, "CTAs wait and nobody was told, or the other way round");
    }
    if (slot->in_flight == 0 && slot->switched == 0 &&
        (slot->state != PPU_SLOT_RUNNING || !slot_can_go_on(core, slot))) {
        return snap_refuse(snap, "it is busy, and no CTA runs or can go on");
    }
    return true;
}

/* The sets of places fit each other, and every saved CTA can be one of the task's. */
static bool saves_usable(const struct dist_slot *slot, struct snap *snap)
{
    uint64_t saved = slot->save_ready | slot->save_waiting;

    if (slot->save_used & ~save_places(slot)) {
        return snap_refuse(snap, "places 0x%llx of the save area are in use, of %u",
                           (unsigned long long)slot->save_used, slot->task.tmd.save_count);
    }
    if ((saved & ~slot->save_used) || (slot->save_ready & slot->save_waiting) ||
        (slot->save_told & ~slot->save_waiting)) {
        return snap_refuse(snap, "sets of places contradict each other");
    }
    for (; saved != 0; saved &= saved - 1) {
        const uint32_t n = (uint32_t)__builtin_ctzll(saved);

        if (slot->save[n].number >= slot->next) {
            return snap_refuse(snap, "CTA %llu in place %u of the save area has not begun",
                               (unsigned long long)slot->save[n].number, n);
        }
    }
    return true;
}

static bool task_usable(struct core *core, struct dist_slot *slot, struct snap *snap)
{
    uint16_t code = copy_check(core, slot->task.tmd_off);

    code = code != PPU_FAULT_NONE ? code : dist_task_decode(core, &slot->task, &slot->total);
    if (code != PPU_FAULT_NONE) {
        return snap_refuse(snap, "its task at 0x%x cannot run: fault 0x%x", slot->task.tmd_off, code);
    }
    return true;
}

static void slot_get(struct dist_slot *slot, bool *saving, struct snap *snap)
{
    slot->task.tmd_off = snap_get_u32(snap);
    snap_get_bytes(snap, &slot->task.tmd, sizeof(slot->task.tmd));
    slot->next = snap_get_u64(snap);
    slot->ctas_done = snap_get_u64(snap);
    snap_get_bytes(snap, slot->count, sizeof(slot->count));
    slot->in_flight = snap_get_u32(snap);
    slot->starved = snap_get_flag(snap);
    slot->told = snap_get_flag(snap);
    *saving = snap_get_flag(snap);
    slot->was_planned = snap_get_flag(snap);
    slot->save_used = snap_get_u64(snap);
    slot->save_ready = snap_get_u64(snap);
    slot->save_waiting = snap_get_u64(snap);
    slot->save_told = snap_get_u64(snap);
    for (uint32_t i = 0; i < slot->task.tmd.save_count && i < PPU_SAVE_PLACES; i++) {
        slot->save[i].number = snap_get_u64(snap);
        slot->save[i].local_slot = snap_get_u32(snap);
    }
    for (uint32_t i = 0; i < CORE_MAX_RESIDENT / 64; i++) {
        slot->local_used[i] = snap_get_u64(snap);
    }
}

static bool slot_load(struct core *core, struct dist_slot *slot, struct snap *snap)
{
    uint32_t state = snap_get_u32(snap);
    bool saving = false;

    slot->run_ns = snap_get_u64(snap);
    slot->stepped_ns = snap_get_u64(snap);
    slot->run_since_ns = core_now(core);
    if (state == PPU_SLOT_FREE) {
        return !snap->bad;
    }
    if (state > PPU_SLOT_KILLING) {
        return snap_refuse(snap, "no state %u", state);
    }
    slot_get(slot, &saving, snap);
    if (snap->bad || !task_usable(core, slot, snap)) {
        return false;
    }
    slot->task.start = ++core->dist.starts;
    slot->state = (enum ppu_slot_state)state;
    if (saving) {
        mask_set(&core->dist.saving, bit(slot->task.slot));
    }
    if (state == PPU_SLOT_KILLING) {
        mask_set(&core->dist.killing, bit(slot->task.slot));
    }
    return saves_usable(slot, snap) && switched_load(core, slot, snap) && slot_usable(core, slot, saving, snap);
}

/* CTAs that are to be handed out, now that it is known what the SMs have. */
static void slots_offer(struct core *core, bool planned)
{
    for (uint32_t i = 0; i < core->config.slots; i++) {
        struct dist_slot *slot = &core->dist.slot[i];
        bool goes_on = slot->state == PPU_SLOT_RUNNING ||
                       (slot->state == PPU_SLOT_STOPPING && (slot->was_planned || slot->switched != 0));
        bool more = slot->next < slot->total || slot->save_ready != 0 || slot->switched != 0;

        if (goes_on && slot->was_planned == planned && more && !dist_leaving(core, i)) {
            place_offer(core, slot);
        }
    }
}

static bool flushes_load(struct core *core, struct snap *snap)
{
    struct dist *dist = &core->dist;
    uint32_t count = snap_get_u32(snap);

    if (count > PPU_MAX_CONTEXTS) {
        return snap_refuse(snap, "%u flushes", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        dist->flush[i].context = snap_get_u32(snap);
        dist->flush[i].tag = snap_get_u32(snap);
        if (dist->flush[i].context >= core->config.contexts) {
            return snap_refuse(snap, "a flush of address space %u", dist->flush[i].context);
        }
    }
    dist->flush_count = count;
    dist->flush_waiting = count != 0 ? all_sms(core) : 0;
    return !snap->bad;
}

static bool cursors_load(struct core *core, struct snap *snap)
{
    struct dist *dist = &core->dist;

    snap_get_bytes(snap, dist->cursor, sizeof(dist->cursor));
    for (uint32_t sm = 0; sm < PPU_MAX_SMS; sm++) {
        if (dist->cursor[sm] >= PPU_MAX_SLOTS) {
            return snap_refuse(snap, "SM %u begins with slot %u", sm, dist->cursor[sm]);
        }
    }
    return !snap->bad;
}

void dist_load(struct core *core, struct snap *snap)
{
    bool good = census_begin(core, snap) && areas_load(core, snap);

    for (uint32_t i = 0; i < core->config.slots && good; i++) {
        snap->unit[SNAP_SLOT] = i;
        good = slot_load(core, &core->dist.slot[i], snap);
    }
    snap->unit[SNAP_SLOT] = SNAP_NO_UNIT;
    if (good && cursors_load(core, snap)) {
        flushes_load(core, snap);
    }
}

/* A co-resident grid of which CTAs run must find room for the others where it had some. */
void dist_check(struct core *core, struct snap *snap)
{
    struct dist *dist = &core->dist;

    if (!census_agrees(core, snap)) {
        return;
    }
    slots_offer(core, true); /* before others can take the room they had */
    for (uint32_t i = 0; i < core->config.slots; i++) {
        const struct dist_slot *slot = &dist->slot[i];
        const bool gang = slot->task.tmd.flags & PPU_TMD_CORESIDENT;
        const bool wants = slot->state == PPU_SLOT_RUNNING && slot->next < slot->total && slot->in_flight != 0 &&
                           !dist_leaving(core, i);

        if (slot->state != PPU_SLOT_FREE && gang &&
            ((dist->gangs & bit(i)) || (wants && !place_is_planned(core, slot)))) {
            snap->unit[SNAP_SLOT] = i;
            snap_refuse(snap, "the CTAs of its co-resident grid do not find room together");
            return;
        }
    }
}

void dist_loaded(struct core *core)
{
    struct dist *dist = &core->dist;

    census_end(core);
    slots_offer(core, false);
    for (uint32_t i = 0; i < core->config.slots; i++) {
        if (dist->slot[i].state == PPU_SLOT_KILLING || dist_saving(core, i) || dist_leaving(core, i)) {
            sm_kill(core, i);
        }
    }
    if (dist->flush_count != 0) {
        sm_flush(core, dist->flush[dist->flush_head].context);
    }
    sm_wake(core);
}
