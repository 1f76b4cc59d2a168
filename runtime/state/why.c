/* SPDX-License-Identifier: MIT */
#include "runtime/state/why.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ppu/admin.h"
#include "ppu/channel.h"
#include "ppu/fault.h"
#include "ppu/macros.h"
#include "ppu/nest.h"
#include "ppu/sem.h"
#include "ppu/slots.h"
#include "ppu/task.h"

#define NO_CHANNEL UINT32_MAX
#define NO_FOLLOWER 0xffffu
#define NO_QUEUE 0xffu
#define CHAIN 4u /* tasks that a sentence follows */

const char *why_name(enum ppu_why_reason reason)
{
    static const char *const names[] = {
#define PPU_WHY(name, doc) #name,
#include "ppu/why.def"
#undef PPU_WHY
    };

    return reason < PPU_WHY_REASONS ? names[reason] : "?";
}

static void say(struct ppu_why *why, enum ppu_why_reason reason, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a part of the sentence; the first part says the reason. */
static void say(struct ppu_why *why, enum ppu_why_reason reason, const char *format, ...)
{
    size_t used = strlen(why->text);
    va_list arguments;

    if (used == 0) {
        why->reason = reason;
    }
    va_start(arguments, format);
    vsnprintf(why->text + used, sizeof(why->text) - used, format, arguments);
    va_end(arguments);
}

/* ---- who is before a task ---- */

static uint64_t task_get(const struct view *view, enum ppu_state_member member, uint32_t row)
{
    return view_get(view, member, row);
}

static uint32_t status_next(const struct view *view, uint32_t row)
{
    uint32_t nest = (uint32_t)task_get(view, PPU_STATE_TASK_NEST, row);
    uint32_t first = (uint32_t)view_get(view, PPU_STATE_NEST_FIRST, nest);
    uint32_t tasks = (uint32_t)view_get(view, PPU_STATE_NEST_TASKS, nest);
    struct ppu_task_status status;

    if (row < first || row - first >= tasks) {
        return PPU_TASK_NULL;
    }
    uint64_t at = view_get(view, PPU_STATE_NEST_VRAM, nest) + PPU_NEST_TASKS_AT(tasks) +
                  (uint64_t)(row - first) * sizeof(struct ppu_nest_task);
    return view_read(view, at, &status, sizeof(status)) ? status.next_stream : PPU_TASK_NULL;
}

static bool is_before(const struct view *view, uint32_t other, uint32_t row)
{
    uint64_t state = task_get(view, PPU_STATE_TASK_STATE, other);

    if (other == row || state == PPU_TASK_STATE_FREE || state == PPU_TASK_STATE_LENT ||
        task_get(view, PPU_STATE_TASK_SPACE, other) != task_get(view, PPU_STATE_TASK_SPACE, row)) {
        return false;
    }
    return task_get(view, PPU_STATE_TASK_PARENT, row) == 0
               ? task_get(view, PPU_STATE_TASK_PARENT, other) == 0 &&
                     task_get(view, PPU_STATE_TASK_FOLLOWER, other) == row
               : task_get(view, PPU_STATE_TASK_NEST, other) != NO_QUEUE &&
                     status_next(view, other) == task_get(view, PPU_STATE_TASK_HANDLE, row);
}

/* The row of the task before it in its stream; VIEW_NONE: it is not known. */
static uint32_t task_before(const struct view *view, uint32_t row)
{
    for (uint32_t i = 0; i < view_rows(view, PPU_STATE_TABLE_TASK); i++) {
        if (is_before(view, i, row)) {
            return i;
        }
    }
    return VIEW_NONE;
}

/* ---- a ready task ---- */

struct slots_seen {
    uint32_t all;
    uint32_t taken;
};

static struct slots_seen look_at_slots(const struct view *view)
{
    struct slots_seen seen = { view_rows(view, PPU_STATE_TABLE_SLOT), 0 };

    for (uint32_t i = 0; i < seen.all; i++) {
        seen.taken += view_get(view, PPU_STATE_SLOT_TASK, i) != 0;
    }
    return seen;
}

static uint32_t ready_above(const struct view *view, uint64_t priority)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < view_rows(view, PPU_STATE_TABLE_TASK); i++) {
        count += task_get(view, PPU_STATE_TASK_STATE, i) == PPU_TASK_STATE_READY &&
                 task_get(view, PPU_STATE_TASK_PRIORITY, i) > priority;
    }
    return count;
}

/* As the firmware's quota_take() decides. */
static bool quota_refuses(const struct view *view, uint32_t context, uint64_t *held, uint64_t *most)
{
    enum { HELD, MOST, OWN, WORDS };
    uint32_t first = context * WORDS;
    uint64_t free_now = view_get(view, PPU_STATE_QUOTA_FREE, PPU_RESOURCE_SLOTS);

    *held = view_element(view, PPU_STATE_QUOTA_OF, PPU_RESOURCE_SLOTS, first + HELD, sizeof(uint16_t));
    *most = view_element(view, PPU_STATE_QUOTA_OF, PPU_RESOURCE_SLOTS, first + MOST, sizeof(uint16_t));
    bool own =
        *held == 0 && view_element(view, PPU_STATE_QUOTA_OF, PPU_RESOURCE_SLOTS, first + OWN, sizeof(uint16_t)) != 0;
    return *held >= *most ||
           (own ? free_now == 0 : free_now <= view_get(view, PPU_STATE_QUOTA_KEPT, PPU_RESOURCE_SLOTS));
}

static void why_ready(const struct view *view, uint32_t row, struct ppu_why *why)
{
    uint32_t priority = (uint32_t)task_get(view, PPU_STATE_TASK_PRIORITY, row);
    uint32_t context = (uint32_t)task_get(view, PPU_STATE_TASK_SPACE, row);
    struct slots_seen slots = look_at_slots(view);
    uint32_t above = ready_above(view, priority);
    uint64_t held, most;

    if (quota_refuses(view, context, &held, &most) && slots.taken < slots.all) {
        say(why, PPU_WHY_QUOTA,
            "is ready, but its context %u has %u of the %u slots that it may have, and others are kept "
            "for other contexts",
            context, (unsigned)held, (unsigned)most);
    } else if (slots.taken < slots.all && held != 0 && slots.taken >= ppu_slots_up_to(slots.all, priority)) {
        why->other = slots.taken;
        say(why, PPU_WHY_NO_SLOT,
            "is ready with priority %u, but %u slots are taken, and the other %u are kept for higher priorities",
            priority, slots.taken, slots.all - slots.taken);
    } else if (slots.taken < slots.all) {
        say(why, PPU_WHY_TURN, "is ready and gets a slot next");
    } else if (above != 0) {
        why->other = above;
        say(why, PPU_WHY_PRIORITY,
            "is ready with priority %u, all %u slots are taken, and %u ready tasks of higher "
            "priorities go first",
            priority, slots.all, above);
    } else {
        why->other = slots.all;
        say(why, PPU_WHY_NO_SLOT, "is ready with priority %u, but all %u slots are taken", priority, slots.all);
    }
}

/* ---- tasks by their states ---- */

static void why_running(const struct view *view, uint32_t row, struct ppu_why *why)
{
    uint32_t slot = (uint32_t)task_get(view, PPU_STATE_TASK_SLOT, row);
    const uint64_t *shown = view->area->telemetry.slot[PPU_MIN(slot, PPU_MAX_SLOTS - 1)];

    if (shown[PPU_TELEMETRY_SLOT_CTAS] == 0 && shown[PPU_TELEMETRY_SLOT_WAITING] != 0) {
        say(why, PPU_WHY_NO_ROOM, "has slot %u, but no SM has room for its CTAs", slot);
    } else if (shown[PPU_TELEMETRY_SLOT_CTAS] == 0) {
        say(why, PPU_WHY_RUNS, "runs in slot %u", slot);
    } else {
        say(why, PPU_WHY_RUNS, "runs in slot %u with %u CTAs on SMs", slot, (unsigned)shown[PPU_TELEMETRY_SLOT_CTAS]);
    }
}

static void why_parked(const struct view *view, uint32_t row, struct ppu_why *why)
{
    uint32_t taskq = (uint32_t)task_get(view, PPU_STATE_TASK_TASKQ, row);
    uint32_t children = (uint32_t)task_get(view, PPU_STATE_TASK_CHILDREN, row);

    if (children != 0) {
        why->other = children;
        say(why, PPU_WHY_CHILDREN, "waits for %u tasks that its threads have launched", children);
    } else if (taskq != NO_QUEUE) {
        say(why, PPU_WHY_QUEUE_EMPTY, "waits for entries of task queue %u, which is empty", taskq);
    } else if (task_get(view, PPU_STATE_TASK_NEST, row) == NO_QUEUE) { /* threads that wait have a nest */
        say(why, PPU_WHY_COMMANDS, "executes commands: a copy, a fill or a semaphore holds up its stream");
    } else {
        say(why, PPU_WHY_ENTRIES, "waits for entries of a work queue to come free");
    }
}

/* The row of the task that it waits behind; VIEW_NONE: of none. */
static uint32_t why_held(const struct view *view, uint32_t row, struct ppu_why *why)
{
    uint32_t before = task_before(view, row);
    uint32_t stream = (uint32_t)task_get(view, PPU_STATE_TASK_STREAM, row);

    if (before == VIEW_NONE) {
        say(why, PPU_WHY_BEHIND, "waits in stream %u for the task before it", stream);
        return VIEW_NONE;
    }
    uint32_t handle = (uint32_t)task_get(view, PPU_STATE_TASK_HANDLE, before);
    if (why->text[0] == 0 || why->reason == PPU_WHY_BEHIND) {
        why->other = why->other ? why->other : handle;
    }
    say(why, PPU_WHY_BEHIND, "waits in stream %u behind task 0x%x", stream, handle);
    return before;
}

/* Says what one task does; the row of the one that it waits behind. */
static uint32_t why_row(const struct view *view, uint32_t row, struct ppu_why *why)
{
    switch ((enum ppu_task_state)task_get(view, PPU_STATE_TASK_STATE, row)) {
    case PPU_TASK_STATE_HELD:
        return why_held(view, row, why);
    case PPU_TASK_STATE_LENT:
        say(why, PPU_WHY_NOT_LAUNCHED, "is a record that threads have and have not launched");
        break;
    case PPU_TASK_STATE_ADMITTED:
        say(why, PPU_WHY_NO_PLACE, "waits for places to save its CTAs in: nest %u has none free for it",
            (unsigned)task_get(view, PPU_STATE_TASK_NEST, row));
        break;
    case PPU_TASK_STATE_READY:
        why_ready(view, row, why);
        break;
    case PPU_TASK_STATE_RUNNING:
        why_running(view, row, why);
        break;
    case PPU_TASK_STATE_STOPPING:
        say(why, PPU_WHY_GIVES_WAY, "gives up slot %u", (unsigned)task_get(view, PPU_STATE_TASK_SLOT, row));
        break;
    case PPU_TASK_STATE_KILLING:
        say(why, PPU_WHY_KILLED, "is being ended in slot %u", (unsigned)task_get(view, PPU_STATE_TASK_SLOT, row));
        break;
    case PPU_TASK_STATE_PARKED:
        why_parked(view, row, why);
        break;
    case PPU_TASK_STATE_DRAINING:
        why->other = (uint32_t)task_get(view, PPU_STATE_TASK_CHILDREN, row);
        say(why, PPU_WHY_SUBTREE, "has run, and %u tasks that its threads launched have not ended", why->other);
        break;
    default:
        say(why, PPU_WHY_COMPLETES, "has ended and is being completed");
    }
    return VIEW_NONE;
}

static void begin(struct ppu_why *why)
{
    *why = (struct ppu_why){ .reason = PPU_WHY_NO_TASK, .channel = NO_CHANNEL };
}

/* Follows the tasks in front of one another to the one that holds all up. */
static void follow(const struct view *view, uint32_t row, struct ppu_why *why)
{
    for (uint32_t i = 0; i < CHAIN && row != VIEW_NONE; i++) {
        if (why->text[0] != 0) {
            say(why, why->reason, ", which ");
        }
        row = why_row(view, row, why);
    }
}

void why_task(const struct view *view, uint32_t handle, struct ppu_why *why)
{
    uint32_t row = view_task(view, handle);

    begin(why);
    why->task = handle;
    if (row == VIEW_NONE) {
        say(why, PPU_WHY_NO_TASK, "it has completed, or never was");
        return;
    }
    why->channel = view_pointed(view, PPU_STATE_TABLE_CHANNEL, task_get(view, PPU_STATE_TASK_CHANNEL, row));
    follow(view, row, why);
}

/* ---- channels ---- */

/* The task of the channel that others wait behind: one that is not held. VIEW_NONE: it has none. */
static uint32_t task_of_channel(const struct view *view, uint32_t channel)
{
    uint32_t found = VIEW_NONE;

    for (uint32_t i = 0; i < view_rows(view, PPU_STATE_TABLE_TASK); i++) {
        uint64_t state = task_get(view, PPU_STATE_TASK_STATE, i);
        if (state == PPU_TASK_STATE_FREE || state == PPU_TASK_STATE_LENT ||
            view_pointed(view, PPU_STATE_TABLE_CHANNEL, task_get(view, PPU_STATE_TASK_CHANNEL, i)) != channel) {
            continue;
        }
        if (state != PPU_TASK_STATE_HELD) {
            return i;
        }
        found = found == VIEW_NONE ? i : found;
    }
    return found;
}

/* Goes on with the task that others of the channel wait behind, if there is one. */
static void add_task_of(const struct view *view, uint32_t channel, struct ppu_why *why)
{
    uint32_t row = task_of_channel(view, channel);

    if (row != VIEW_NONE) {
        why->task = (uint32_t)task_get(view, PPU_STATE_TASK_HANDLE, row);
        say(why, why->reason, "; task 0x%x ", why->task);
        why_row(view, row, why);
    }
}

static void why_waiting(const struct view *view, uint32_t channel, struct ppu_why *why)
{
    uint32_t pending = (uint32_t)view_get(view, PPU_STATE_CHANNEL_PENDING, channel);

    switch ((enum ppu_channel_need)view_get(view, PPU_STATE_CHANNEL_NEED, channel)) {
    case PPU_CHANNEL_NEED_RECORD:
        say(why, PPU_WHY_RECORD, "waits for a task record");
        break;
    case PPU_CHANNEL_NEED_COPY:
        say(why, PPU_WHY_COPY, "waits for a place in the copy queue");
        break;
    default:
        why->other = pending;
        say(why, PPU_WHY_IDLE, "waits for %u tasks and copies that it has started", pending);
    }
    add_task_of(view, channel, why);
}

static void why_semaphore(const struct view *view, uint32_t channel, struct ppu_why *why)
{
    bool equal = view_get(view, PPU_STATE_CHANNEL_SEM_COMPARE, channel) == PPU_SEM_EQUAL;

    why->address = view_get(view, PPU_STATE_CHANNEL_SEM_AT, channel);
    say(why, PPU_WHY_SEMAPHORE, "waits until the semaphore at 0x%llx is %s %u", (unsigned long long)why->address,
        equal ? "equal to" : "at least", (unsigned)view_get(view, PPU_STATE_CHANNEL_SEM_VALUE, channel));
}

static void why_faulted(const struct view *view, uint32_t channel, struct ppu_why *why)
{
    uint32_t code = (uint32_t)view_get(view, PPU_STATE_FAULT_CODE, channel);
    const char *name = "?";

    switch (code) {
#define PPU_FAULT(row, number, scope, retry, payload, location, error, doc) \
    case number:                                                            \
        name = #row;                                                        \
        break;
#include "ppu/fault.def"
#undef PPU_FAULT
    default:
        break;
    }
    say(why, PPU_WHY_FAULTED, "was stopped by fault %s", name);
}

void why_channel(const struct view *view, uint32_t channel, struct ppu_why *why)
{
    begin(why);
    why->channel = channel;
    switch ((enum ppu_channel_state)view_get(view, PPU_STATE_CHANNEL_STATE, channel)) {
    case PPU_CHANNEL_IDLE:
        say(why, PPU_WHY_NOTHING, "has executed all it was given, and %u tasks and copies of it have not ended",
            (unsigned)view_get(view, PPU_STATE_CHANNEL_PENDING, channel));
        add_task_of(view, channel, why);
        break;
    case PPU_CHANNEL_RUNNING:
        say(why, PPU_WHY_EXECUTES, "executes a block, or waits for its turn");
        break;
    case PPU_CHANNEL_PARKED:
        why_semaphore(view, channel, why);
        break;
    case PPU_CHANNEL_WAITING:
        why_waiting(view, channel, why);
        break;
    case PPU_CHANNEL_FAULTED:
        why_faulted(view, channel, why);
        break;
    default:
        say(why, PPU_WHY_NO_CHANNEL, "is not open");
    }
}
