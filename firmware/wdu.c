/* SPDX-License-Identifier: MIT */
#include "firmware/wdu.h"

#include <string.h>

#include "firmware/caps.h"
#include "firmware/channel.h"
#include "firmware/completion.h"
#include "firmware/context.h"
#include "firmware/fault.h"
#include "firmware/hal.h"
#include "firmware/launch.h"
#include "firmware/log.h"
#include "firmware/nest.h"
#include "firmware/policy.h"
#include "firmware/quota.h"
#include "firmware/rank.h"
#include "firmware/ring.h"
#include "firmware/share.h"
#include "firmware/state.h"
#include "firmware/stats.h"
#include "firmware/taskq.h"
#include "firmware/timer.h"
#include "firmware/tmu.h"
#include "firmware/trace.h"
#include "firmware/watchdog.h"
#include "firmware/workq.h"
#include "ppu/macros.h"
#include "ppu/slots.h"

struct slot {
    struct task *task; /* NULL: free */
    uint32_t since;    /* when its slice began (now_ticks()) */
    bool rotate;       /* evicted because its slice is over */
};

static FW_DMA struct slot slots[PPU_MAX_SLOTS];
static struct timer slices; /* runs only while tasks wait for slots */

static const struct ppu_state_span slot_spans[] = {
#define PPU_STATE_SLOT(name, member, doc) STATE_SPAN(struct slot, member),
#include "ppu/state.def"
};

const struct state_rows slot_state_rows = {
    .rows = slots,
    .count = &caps.slots,
    .stride = sizeof(slots[0]),
    .first = PPU_STATE_SLOT_TASK,
    .spans = PPU_ARRAY_SIZE(slot_spans),
    .span = slot_spans,
};
static uint32_t free_slots[PPU_MAX_SLOTS / 32]; /* bit n of word w: slot 32 w + n */
static uint32_t taken;                          /* slots that are not free */
static uint8_t most_taken[PPU_PRIORITIES];      /* ppu_slots_up_to() of each priority */
static uint8_t held[PPU_PRIORITIES];            /* slots that have a task, by its priority */
static uint8_t running[PPU_PRIORITIES];         /* slots whose task is RUNNING, by its priority */
static uint32_t running_levels;                 /* bit p: running[p] is not 0 */
static bool lingers;                            /* tasks whose CTAs all wait keep their slots */
static uint32_t stopping;                       /* slots whose task is STOPPING */
static uint8_t ending[PPU_MAX_CONTEXTS];        /* slots of the address space whose task is STOPPING or KILLING */

static void slices_over(struct timer *timer);

void wdu_init(void)
{
    memset(slots, 0, sizeof(slots));
    memset(held, 0, sizeof(held));
    memset(running, 0, sizeof(running));
    memset(ending, 0, sizeof(ending));
    memset(free_slots, 0, sizeof(free_slots));
    taken = 0;
    for (uint32_t priority = 0; priority < PPU_PRIORITIES; priority++) {
        most_taken[priority] = (uint8_t)ppu_slots_up_to(caps.slots, priority);
    }
    running_levels = 0;
    stopping = 0;
    lingers = true;
    hal_write(PPU_REG_SLOT_LINGER, true);
    quota_total(PPU_RESOURCE_SLOTS, caps.slots);
    slices = (struct timer){ .fire = slices_over };
    for (uint32_t i = 0; i < caps.slots; i++) {
        free_slots[i / 32] |= 1u << i % 32;
    }
}

/* Seldom asked. True when those up to each priority from this one on have fewer slots than they may. */
static __attribute__((noinline)) bool levels_allow(uint32_t priority)
{
    uint32_t up_to = 0;
    for (uint32_t level = 0; level < PPU_PRIORITIES; level++) {
        up_to += held[level];
        if (level >= priority && up_to >= most_taken[level]) {
            return false;
        }
    }
    return true;
}

/* A slot is free for a task of this priority, as far as priorities go. */
static inline bool slot_exists(uint32_t priority)
{
    return taken < most_taken[priority] || levels_allow(priority);
}

/* An address space that has none gets one all the same: no other may keep it from running. */
bool wdu_takes_slot(uint32_t priority, uint32_t context)
{
    bool may = slot_exists(priority) || (taken < caps.slots && !quota_held(PPU_RESOURCE_SLOTS, context));
    return may && quota_take(PPU_RESOURCE_SLOTS, context);
}

/* The lowest that is free; one is. */
static uint32_t take_free(void)
{
    _Static_assert(PPU_ARRAY_SIZE(free_slots) == 2, "one or the other");
    uint32_t word = free_slots[0] == 0;
    uint32_t free = free_slots[word];
    free_slots[word] = free & (free - 1u);
    taken++;
    return 32u * word + (uint32_t)__builtin_ctz(free);
}

/* Counts of tasks that have slots follow their states. */
static void enter_running(struct task *task, uint32_t slot)
{
    task_enter(task, TASK_RUNNING);
    task->slot = (uint8_t)slot;
    running[task->priority]++;
    running_levels |= 1u << task->priority;
    held[task->priority]++;
}

static void count_runner_out(const struct task *task)
{
    if (--running[task->priority] == 0) {
        running_levels &= ~(1u << task->priority);
    }
}

/* STOPPING or KILLING */
static void enter_ending(struct task *task, enum task_state state)
{
    stopping -= task->state == TASK_STOPPING;
    if (task->state == TASK_RUNNING) {
        count_runner_out(task);
        ending[task->context]++;
    }
    task_enter(task, state);
    stopping += state == TASK_STOPPING;
}

/* It leaves its slot, and enters another state later. */
static void count_out(const struct task *task)
{
    if (task->state == TASK_RUNNING) {
        count_runner_out(task);
    } else {
        stopping -= task->state == TASK_STOPPING;
        ending[task->context]--;
    }
}

/* Tasks of other priorities than this are RUNNING. */
static bool others_run(uint32_t priority)
{
    return running_levels & ~(1u << priority);
}

#define TICK_SHIFT 10u /* a tick is 1,024 ns */

static uint32_t ticks_of(uint64_t time_ns)
{
    return (uint32_t)(time_ns >> TICK_SHIFT);
}

static uint32_t now_ticks(void)
{
    return ticks_of(hal_time());
}

/* 0: tasks keep their slots. */
static uint32_t slice_ticks(void)
{
    uint32_t slice_us = policy(PPU_POLICY_SLICE_US);
    return slice_us ? PPU_MAX(slice_us * 125u / 128u, 1u) : 0;
}
_Static_assert(125u * (1u << TICK_SHIFT) == 128u * 1000u, "ticks for microseconds");

/* Time to the earliest end of a slice. Those whose task kept its slot have begun anew. */
static uint32_t ticks_left(uint32_t now, uint32_t slice)
{
    uint32_t least = slice;
    for (uint32_t i = 0; i < caps.slots; i++) {
        struct slot *slot = &slots[i];
        if (slot->task && slot->task->state == TASK_RUNNING) {
            slot->since += (now - slot->since) / slice * slice;
            least = PPU_MIN(least, slice - (now - slot->since));
        }
    }
    return least;
}

/* Somebody may wait for a slot. The slots are looked at when the slice is over, and not at each launch. */
static void slices_look(void)
{
    uint32_t slice = slice_ticks();
    if (slice && !slices.heap_index && !slot_exists(tmu_highest())) {
        timer_start(&slices, (uint64_t)slice << TICK_SHIFT);
    }
}

static void slot_start(uint32_t index, struct task *task)
{
    bool resume = task->resume;
    task->resume = false;
    task_tmd(task)->resume = resume;
    if (task->taskq != TASK_NO_TASKQ) {
        task_tmd(task)->taskq_limit = taskq_published(task);
    }
    hal_write(PPU_REG_SLOT_START + 4 * index, task->tmd.off);
    enter_running(task, index);
    slots[index].task = task;
    slots[index].rotate = false;
    watchdog_start(task);
    share_started(task->context, index);
    if (others_run(task->priority)) {
        rank_look_later();
    }
    stats_count(PPU_KEY_LAUNCHES);
    trace_write(PPU_TRACE_TASK_START, task->correlation, task->handle, index, task->priority);
    slots[index].since = ticks_of(trace_latest_ns());
}

/* The task stops, drained or saved as it chose, and goes on later (A5). */
static void evict(struct slot *slot)
{
    struct task *task = slot->task;
    bool save = (task_tmd(task)->flags & PPU_TMD_SAVE) && task->places != TASK_NO_PLACES;
    enter_ending(task, TASK_STOPPING);
    hal_write(PPU_REG_SLOT_CONTROL + 4u * task->slot, save ? PPU_SLOT_CMD_SAVE : PPU_SLOT_CMD_STOP);
}

/*
 * A task gives its slot up to one of its own address space that has `priority` at least, and to others as long as
 * its address space keeps a task that runs: one that only drains gets no place on an SM any more.
 */
static bool gives_way(const struct task *task, uint32_t priority)
{
    uint32_t runs = quota_held(PPU_RESOURCE_SLOTS, task->context) - ending[task->context];
    return runs > 1 || tmu_space_has(task->context, priority);
}

/* Some task that runs has one above it that is ready. */
static bool is_any_below(void)
{
    return running_levels && tmu_has_above((uint32_t)__builtin_ctz(running_levels));
}

/*
 * No slot is free for the most urgent that waits: a task of the lowest priority gives up its own to one of strictly
 * higher priority; one at a time.
 */
static void evict_for_higher(void)
{
    if (stopping || slot_exists(tmu_highest()) || !is_any_below()) {
        return;
    }
    struct slot *lowest = NULL;
    for (uint32_t i = 0; i < caps.slots; i++) {
        const struct task *task = slots[i].task;
        if (task && task->state == TASK_RUNNING && tmu_has_above(task->priority) &&
            (!lowest || task->priority < lowest->task->priority) && gives_way(task, task->priority + 1u)) {
            lowest = &slots[i];
        }
    }
    if (lowest) {
        evict(lowest);
    }
}

static void slice_over(struct slot *slot)
{
    if (!slot_exists(slot->task->priority) && tmu_slice_over(slot->task->priority) && gives_way(slot->task, 0)) {
        slot->rotate = true;
        evict(slot);
    }
}

static void slices_over(struct timer *timer)
{
    uint32_t now = now_ticks();
    uint32_t slice = slice_ticks();
    (void)timer;
    for (uint32_t i = 0; i < caps.slots && slice; i++) {
        const struct task *task = slots[i].task;
        if (task && task->state == TASK_RUNNING && now - slots[i].since >= slice) {
            slice_over(&slots[i]);
        }
    }
    if (slice && !tmu_is_empty() && !slot_exists(tmu_highest())) {
        timer_start(&slices, (uint64_t)ticks_left(now, slice) << TICK_SHIFT);
    }
}

void wdu_ready(struct task *task)
{
    if (!tmu_is_empty() || !wdu_takes_slot(task->priority, task->context)) {
        tmu_insert(task);
        return;
    }
    task_enter(task, TASK_READY);
    slot_start(take_free(), task);
}

/* Slots whose task has left them, of which the event is yet to be served. Each dispatches then. */
static bool any_leaves(void)
{
    for (uint32_t i = 0; i < caps.slots; i++) {
        if (slots[i].task && hal_read(PPU_REG_SLOT_STATE + 4u * i) == PPU_SLOT_FREE) {
            return true;
        }
    }
    return false;
}

/*
 * Whose CTAs all wait for children keeps its slot, and goes on in it, as long as nobody wants one (B7, B9). Who lacks a
 * slot is in the TMU, whatever it lacks it for. True: slots are given back.
 */
static bool let_linger(bool linger)
{
    if (lingers == linger) {
        return false;
    }
    lingers = linger;
    hal_write(PPU_REG_SLOT_LINGER, linger);
    return !linger && is_any_below() && any_leaves();
}

void wdu_dispatch_ready(void)
{
    struct task *task;
    while (taken < caps.slots && (task = tmu_take())) {
        slot_start(take_free(), task);
    }
    bool more_come = let_linger(tmu_is_empty());
    if (!tmu_is_empty()) {
        if (!more_come) {
            evict_for_higher();
        }
        slices_look();
    }
}

uint32_t wdu_lowest(void)
{
    return running_levels ? (uint32_t)__builtin_ctz(running_levels) : PPU_PRIORITIES - 1u;
}

bool wdu_priorities_differ(void)
{
    return others_run(wdu_lowest());
}

struct task *wdu_task(uint32_t slot)
{
    return slots[slot].task;
}

bool wdu_has(const struct task *task)
{
    return task->slot != TASK_NO_SLOT && slots[task->slot].task == task;
}

void wdu_kill(struct task *task)
{
    enter_ending(task, TASK_KILLING);
    hal_write(PPU_REG_SLOT_CONTROL + 4u * task->slot, PPU_SLOT_CMD_KILL);
    watchdog_repeat_kill(task->slot);
}

void wdu_fail(struct task *task, struct ppu_error_record *record)
{
    task->fault = record->code;
    record->correlation = task->correlation;
    if (task->channel) {
        channel_fail(task->channel, record);
    } else {
        record->channel = PPU_NO_CHANNEL;
        record->context = task->context;
        fault_report(record);
    }
}

/* The slot an event is about, if what the event says fits what the slot runs. */
static struct slot *slot_of_event(uint32_t index, uint32_t task_offset)
{
    if (index >= caps.slots || !slots[index].task || slots[index].task->tmd.off != task_offset) {
        log_print("event of slot %u, task %#x, which it does not run\n", (unsigned)index, (unsigned)task_offset);
        return NULL;
    }
    return &slots[index];
}

void wdu_fault_event(const union ring_entry *entry)
{
    const struct ppu_fault_event *event = &entry->fault;
    struct slot *slot = slot_of_event(event->slot, event->task);
    if (!slot) {
        return;
    }
    struct ppu_error_record record = {
        .code = event->code,
        .access = event->access,
        .sm = event->sm,
        .address = event->address,
        .pc = event->pc,
        .lanes = event->lanes,
        .warp = event->warp,
        .pass = event->pass,
        .cta = { event->cta[0], event->cta[1], event->cta[2] },
    };
    if (slot->task->state == TASK_RUNNING || slot->task->state == TASK_STOPPING) {
        /* The device kills the slot by itself. */
        enter_ending(slot->task, TASK_KILLING);
        watchdog_repeat_kill(event->slot);
    }
    wdu_fail(slot->task, &record);
}

/* A slot that ended without our doing had a fault, which was published before: take it before the slot is forgotten. */
static void take_fault_of(const struct slot *slot)
{
    union ring_entry entry;
    uint32_t bound = layout.ring_entries[PPU_RING_FAULT];
    while (slot->task->state != TASK_KILLING && bound-- && ring_take(PPU_RING_FAULT, &entry)) {
        wdu_fault_event(&entry);
    }
}

/* The slot is free. */
static struct task *slot_leave(struct slot *slot)
{
    struct task *task = slot->task;
    watchdog_stop(task->slot);
    count_out(task);
    slot->task = NULL;
    held[task->priority]--;
    free_slots[task->slot / 32] |= 1u << task->slot % 32;
    taken--;
    quota_give(PPU_RESOURCE_SLOTS, task->context);
    share_left(task->context);
    return task;
}

/* The slot is free, and the task goes on later with what is left of its time. */
static struct task *slot_pause(struct slot *slot)
{
    watchdog_save(slot->task);
    return slot_leave(slot);
}

static void slot_ended(struct slot *slot)
{
    completion_begin(slot_leave(slot));
}

/* Evicted: it goes on where it stopped, first of its priority, or last when its slice was over. */
static void slot_stopped(struct slot *slot)
{
    bool rotate = slot->rotate;
    struct task *task = slot_pause(slot);
    if (rotate) {
        tmu_rotate(task);
    } else {
        tmu_return(task);
    }
    wdu_dispatch();
}

void wdu_resume(struct task *task)
{
    task->waits = false;
    if (task->state == TASK_PARKED) {
        task->resume = true;
        tmu_return(task);
        wdu_dispatch();
    } else if (task->state == TASK_RUNNING || task->state == TASK_STOPPING) {
        hal_write(PPU_REG_SLOT_CONTROL + 4u * task->slot, PPU_SLOT_CMD_RESUME);
    }
}

void wdu_look(struct task *task)
{
    if (task->state == TASK_PARKED && nest_has_idle_cta(task)) {
        wdu_resume(task);
    } else if (task->state == TASK_RUNNING || task->state == TASK_STOPPING) {
        hal_write(PPU_REG_SLOT_CONTROL + 4u * task->slot, PPU_SLOT_CMD_RESUME);
    }
}

void wdu_feed(struct task *task)
{
    if (task->state == TASK_PARKED) {
        wdu_ready(task);
        wdu_dispatch();
        return;
    }
    hal_write(PPU_REG_SLOT_LIMIT + 4u * task->slot, (uint32_t)taskq_published(task));
}

/* CTAs wait for children. Those of every CTA the event tells of were counted before. */
static void task_waits(struct task *task)
{
    task->waits = true;
    if (completion_can_go_on(task)) {
        wdu_resume(task);
    }
}

/*
 * Nothing of the task can run until its children have completed (B7, B9), or its queue has entries (A6): others can
 * have its slot.
 */
static void slot_parked(struct slot *slot, bool waits)
{
    struct task *task = slot_pause(slot);
    task_enter(task, TASK_PARKED);
    task->waits = false; /* those of a turn before have gone on since, unless the event says otherwise */
    if (waits) {
        task_waits(task);
    }
    if (task->taskq != TASK_NO_TASKQ) {
        taskq_serve(task);
    }
    wdu_dispatch();
}

static void slot_refused(const struct slot *slot, uint16_t code)
{
    struct task *task = slot->task;
    struct ppu_error_record record = { .code = code };
    enter_ending(task, TASK_KILLING);
    wdu_fail(task, &record);
}

void wdu_slot_event(const union ring_entry *entry)
{
    const struct ppu_slot_event *event = &entry->slot;
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
        if (slot->task->state != TASK_KILLING) {
            slot_refused(slot, (uint16_t)event->arg);
        }
        slot_ended(slot);
        break;
    case PPU_SLOT_WAITS:
        if (slot->task->state != TASK_KILLING) {
            task_waits(slot->task);
        }
        break;
    case PPU_SLOT_STOPPED:
    case PPU_SLOT_PARKED:
        /* A kill that came too late is as good: nothing of the task has a place on an SM. */
        if (slot->task->state == TASK_KILLING) {
            slot_ended(slot);
        } else if (event->kind == PPU_SLOT_PARKED) {
            slot_parked(slot, event->arg != 0);
        } else if (slot->task->state == TASK_STOPPING) {
            slot_stopped(slot);
        }
        break;
    default:
        log_print("slot %u: event of kind %u\n", (unsigned)event->slot, (unsigned)event->kind);
        break;
    }
}

/* A producer found the task armed. It may have ended since. */
static void taskq_told(const struct ppu_start_event *event)
{
    struct task *task = task_find(event->handle);
    if (task && task->taskq != TASK_NO_TASKQ && task->context == event->context) {
        taskq_serve(task);
    }
}

/* Kept apart from wdu_start_event(), which costs nothing for it then. `parent` may be NULL. */
static void start_refused(const struct ppu_start_event *event, struct task *parent)
{
    struct ppu_error_record record = {
        .code = PPU_FAULT_BAD_START,
        .channel = PPU_NO_CHANNEL,
        .context = event->context,
        .address = event->handle,
        .correlation = event->correlation,
    };
    if (!parent) {
        fault_report(&record);
        return;
    }
    if (parent->state == TASK_RUNNING || parent->state == TASK_STOPPING) {
        wdu_kill(parent);
    }
    wdu_fail(parent, &record);
}

/*
 * A thread of a task asks for what was launched; handle 0 is no task: the thread waits for entries of a work queue
 * (C4). The task may have left its slot meanwhile, and completed when others than itself launched what it asks for.
 */
void wdu_start_event(const union ring_entry *entry)
{
    const struct ppu_start_event *event = &entry->start;
    if (event->handle == event->former && event->handle != PPU_TASK_NULL) {
        taskq_told(event); /* it does so whatever became of the producer */
        return;
    }
    if (event->handle != PPU_TASK_NULL && launch_child(event->context, event->handle, event->former)) {
        return;
    }
    struct task *asker = task_of_tmd(event->task);
    asker = asker && asker->context == event->context ? asker : NULL;
    if (asker && (asker->fault || asker->state == TASK_KILLING)) {
        return;
    }
    if (event->handle != PPU_TASK_NULL || !asker || !workq_request(asker, event->former)) {
        start_refused(event, asker);
    }
}
