/* SPDX-License-Identifier: MIT */
#include "wdu.h"

#include <string.h>

#include "channel.h"
#include "context.h"
#include "fault.h"
#include "hal.h"
#include "launch.h"
#include "log.h"
#include "machine.h"
#include "ring.h"
#include "stats.h"
#include "timer.h"
#include "tmu.h"
#include "trace.h"

#define KILL_RETRY_NS TIMER_NS_PER_S

struct slot {
    struct task *task; /* NULL: free */
    struct timer watchdog;
};

static struct slot slots[PPU_MAX_SLOTS];
static uint64_t free_slots; /* bit n: slot n */

static void watchdog_expired(struct timer *timer);

void wdu_init(void)
{
    memset(slots, 0, sizeof(slots));
    free_slots = 0;
    for (uint32_t i = 0; i < machine.slots; i++) {
        slots[i].watchdog.fire = watchdog_expired;
        free_slots |= 1ull << i;
    }
}

static uint32_t slot_index(const struct slot *slot)
{
    return (uint32_t)(slot - slots);
}

static uint64_t watchdog_ns(const struct task *task)
{
    uint64_t own = task_tmd(task)->watchdog_ns;
    return own && own < WDU_WATCHDOG_NS ? own : WDU_WATCHDOG_NS;
}

static void slot_start(uint32_t index, struct task *task)
{
    hal_write(PPU_REG_SLOT_START + 4 * index, task_tmd_place(task).off);
    trace_mark(PPU_MARK_SLOT_STARTED);
    task_enter(task, TASK_RUNNING);
    task->slot = (uint8_t)index;
    slots[index].task = task;
    timer_start(&slots[index].watchdog, watchdog_ns(task));
    stats_count(PPU_KEY_LAUNCHES);
    trace_write(PPU_TRACE_TASK_START, task->correlation, task->handle, index, task->priority);
}

void wdu_dispatch(void)
{
    struct task *task;
    while (free_slots && (task = tmu_take())) {
        uint32_t index = (uint32_t)__builtin_ctzll(free_slots);
        free_slots &= free_slots - 1;
        slot_start(index, task);
    }
}

void wdu_kill(struct task *task)
{
    struct slot *slot = &slots[task->slot];
    task_enter(task, TASK_KILLING);
    hal_write(PPU_REG_SLOT_CONTROL + 4u * task->slot, PPU_SLOT_CMD_KILL);
    timer_start(&slot->watchdog, KILL_RETRY_NS);
}

/* A fault of a task: reported, and its channel ends with all it started. */
static void task_failed(struct task *task, struct ppu_error_record *record)
{
    task->fault = record->code;
    record->correlation = task->correlation;
    if (task->channel) {
        channel_fail(task->channel, record);
    } else {
        record->channel = PPU_NO_CHANNEL;
        record->context = task->group;
        fault_report(record);
    }
}

static void watchdog_expired(struct timer *timer)
{
    struct slot *slot = LIST_OBJECT(timer, struct slot, watchdog);
    struct task *task = slot->task;
    if (task->state == TASK_KILLING) {
        log_print("slot %u: not dead %u ms after it was killed\n", (unsigned)slot_index(slot),
                  (unsigned)(KILL_RETRY_NS / TIMER_NS_PER_MS));
        hal_write(PPU_REG_SLOT_CONTROL + 4u * slot_index(slot), PPU_SLOT_CMD_KILL);
        timer_start(&slot->watchdog, KILL_RETRY_NS);
        return;
    }
    struct ppu_error_record record = { .code = PPU_FAULT_WATCHDOG, .address = watchdog_ns(task) };
    wdu_kill(task);
    task_failed(task, &record);
}

/* The slot an event is about, if what the event says fits what the slot runs. */
static struct slot *slot_of_event(uint32_t index, uint32_t task_offset)
{
    if (index >= machine.slots || !slots[index].task || task_tmd_place(slots[index].task).off != task_offset) {
        log_print("event of slot %u, task %#x, which it does not run\n", (unsigned)index, (unsigned)task_offset);
        return NULL;
    }
    return &slots[index];
}

static bool take_fault(void)
{
    struct ppu_fault_event event;
    if (!ring_take(PPU_RING_FAULT, &event)) {
        return false;
    }
    struct slot *slot = slot_of_event(event.slot, event.task);
    if (!slot) {
        return true;
    }
    struct ppu_error_record record = {
        .code = event.code,
        .access = event.access,
        .sm = event.sm,
        .address = event.address,
        .pc = event.pc,
        .lanes = event.lanes,
        .warp = event.warp,
        .pass = event.pass,
        .cta = { event.cta[0], event.cta[1], event.cta[2] },
    };
    if (slot->task->state == TASK_RUNNING) {
        /* The device kills the slot by itself. */
        task_enter(slot->task, TASK_KILLING);
        timer_start(&slot->watchdog, KILL_RETRY_NS);
    }
    task_failed(slot->task, &record);
    return true;
}

/* A slot that ended without our doing had a fault, which was published before: take it before the slot is forgotten. */
static void take_fault_of(const struct slot *slot)
{
    uint32_t bound = layout.ring_entries[PPU_RING_FAULT];
    while (slot->task->state == TASK_RUNNING && bound-- && take_fault()) {
    }
}

static void slot_ended(struct slot *slot)
{
    struct task *task = slot->task;
    timer_stop(&slot->watchdog);
    slot->task = NULL;
    free_slots |= 1ull << slot_index(slot);
    launch_complete(task);
}

static void slot_refused(const struct slot *slot, uint16_t code)
{
    struct task *task = slot->task;
    struct ppu_error_record record = { .code = code };
    task_enter(task, TASK_KILLING);
    task_failed(task, &record);
}

static void slot_event(const struct ppu_slot_event *event)
{
    if (event->kind == PPU_SLOT_FLUSHED) {
        context_flushed(event->arg);
        return;
    }
    struct slot *slot = slot_of_event(event->slot, event->task);
    if (!slot) {
        return;
    }
    switch (event->kind) {
    case PPU_SLOT_DONE:
        trace_mark(PPU_MARK_COMPLETION_BEGIN);
        slot_ended(slot);
        break;
    case PPU_SLOT_KILLED:
        take_fault_of(slot);
        slot_ended(slot);
        break;
    case PPU_SLOT_REFUSED:
        if (slot->task->state == TASK_RUNNING) {
            slot_refused(slot, (uint16_t)event->arg);
        }
        slot_ended(slot);
        break;
    default:
        log_print("slot %u: event of kind %u\n", (unsigned)event->slot, (unsigned)event->kind);
        break;
    }
}

bool wdu_slot_events(uint32_t most)
{
    struct ppu_slot_event event;
    for (uint32_t i = 0; i < most; i++) {
        if (!ring_take(PPU_RING_SLOT, &event)) {
            return false;
        }
        slot_event(&event);
    }
    return true;
}

bool wdu_fault_events(uint32_t most)
{
    for (uint32_t i = 0; i < most; i++) {
        if (!take_fault()) {
            return false;
        }
    }
    return true;
}

/* No thread can have made a task yet: whatever a start request names is no task of its context. */
static void start_event(const struct ppu_start_event *event)
{
    struct ppu_error_record record = {
        .code = PPU_FAULT_BAD_START,
        .channel = PPU_NO_CHANNEL,
        .context = event->context,
        .address = event->handle,
        .correlation = event->correlation,
    };
    struct slot *slot = slot_of_event(event->slot, event->task);
    if (!slot) {
        fault_report(&record);
        return;
    }
    if (slot->task->state == TASK_RUNNING) {
        wdu_kill(slot->task);
        task_failed(slot->task, &record);
    }
}

bool wdu_start_events(uint32_t most)
{
    struct ppu_start_event event;
    for (uint32_t i = 0; i < most; i++) {
        if (!ring_take(PPU_RING_START, &event)) {
            return false;
        }
        start_event(&event);
    }
    return true;
}
