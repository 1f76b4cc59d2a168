/* SPDX-License-Identifier: MIT */
#include "firmware/taskq.h"

#include "firmware/caps.h"
#include "firmware/channel.h"
#include "firmware/completion.h"
#include "firmware/hal.h"
#include "firmware/hooks.h"
#include "firmware/quota.h"
#include "firmware/shared.h"
#include "firmware/state.h"
#include "firmware/timer.h"
#include "firmware/wdu.h"
#include "ppu/macros.h"
#include "ppu/taskq.h"

#define LOOK_ENTRIES 64u              /* that one look takes in */
#define HOLE_NS (10 * TIMER_NS_PER_S) /* from the close of a queue until all that was taken is published */

struct taskq {
    struct list_node more; /* among those whose last look did not reach the end */
    struct timer hole;     /* until a closed queue must be without gaps */
    struct task *task;     /* that takes from it; NULL: none */
    struct taskq_plan plan;
    uint64_t published;
    bool open;
    bool used; /* it has or had a task */
};

static FW_DMA struct taskq taskqs[PPU_TASKQS];

static const struct ppu_state_span taskq_spans[] = {
#define PPU_STATE_TASKQ(name, member, doc) STATE_SPAN(struct taskq, member),
#include "ppu/state.def"
};

const struct state_rows taskq_state_rows = {
    .rows = taskqs,
    .most = PPU_TASKQS,
    .stride = sizeof(taskqs[0]),
    .first = PPU_STATE_TASKQ_OPEN,
    .spans = PPU_ARRAY_SIZE(taskq_spans),
    .span = taskq_spans,
};
struct list_node taskqs_more;

_Static_assert(PPU_TASKQS <= TASK_NO_TASKQ, "a task's number of its queue is a byte");

static void hole_expired(struct timer *timer);

void taskq_init(void)
{
    list_init(&taskqs_more);
    quota_total(PPU_RESOURCE_TASKQS, PPU_TASKQS);
    for (uint32_t i = 0; i < PPU_TASKQS; i++) {
        taskqs[i] = (struct taskq){ .hole = { .fire = hole_expired } };
        list_init(&taskqs[i].more);
    }
}

bool taskq_open(const struct taskq_plan *plan, uint32_t *number)
{
    for (uint32_t i = 0; i < PPU_TASKQS; i++) {
        if (!taskqs[i].open) {
            taskqs[i].plan = *plan;
            taskqs[i].published = 0;
            taskqs[i].used = false;
            taskqs[i].open = hooks_allow_allocation() && quota_take(PPU_RESOURCE_TASKQS, plan->context);
            *number = i;
            return taskqs[i].open;
        }
    }
    return false;
}

static void release_taskq(struct taskq *queue)
{
    queue->open = false;
    quota_give(PPU_RESOURCE_TASKQS, queue->plan.context);
}

/* Why it cannot be closed or opened again. */
static enum ppu_fault unusable(uint32_t number)
{
    if (number >= PPU_TASKQS || !taskqs[number].open) {
        return PPU_FAULT_NO_OBJECT;
    }
    return taskqs[number].task ? PPU_FAULT_IN_USE : PPU_FAULT_NONE;
}

enum ppu_fault taskq_close(uint32_t number)
{
    enum ppu_fault why = unusable(number);
    if (why == PPU_FAULT_NONE) {
        release_taskq(&taskqs[number]);
    }
    return why;
}

enum ppu_fault taskq_reopen(uint32_t number)
{
    enum ppu_fault why = unusable(number);
    if (why == PPU_FAULT_NONE) {
        taskqs[number].published = 0;
        taskqs[number].used = false;
    }
    return why;
}

void taskq_close_all(uint32_t context)
{
    for (uint32_t i = 0; i < PPU_TASKQS; i++) {
        if (taskq_exists(i, context)) {
            release_taskq(&taskqs[i]);
        }
    }
}

bool taskq_exists(uint32_t number, uint32_t context)
{
    return number < PPU_TASKQS && taskqs[number].open && taskqs[number].plan.context == context;
}

bool taskq_bind(struct task *task, uint32_t number)
{
    if (!taskq_exists(number, task->context) || taskqs[number].used) {
        return false;
    }
    taskqs[number].task = task;
    taskqs[number].used = true;
    task->taskq = (uint8_t)number;
    return true;
}

/* ---- what producers write ---- */

static struct ppu_taskq_head *head_of(const struct taskq *queue)
{
    return hal_vram(queue->plan.vram);
}

static bool is_published(const struct taskq *queue, uint64_t number)
{
    uint32_t index = (uint32_t)number & (queue->plan.entries - 1u);
    const struct ppu_taskq_entry *entry = hal_vram((ppu_vram_t){
        queue->plan.vram.off + (uint32_t)sizeof(struct ppu_taskq_head) + index * queue->plan.entry_bytes });
    return shared_read(&entry->sequence) == (((uint32_t)number + 1u) & PPU_TASKQ_TICKET_MASK);
}

/* Counts entries that follow without a gap, LOOK_ENTRIES at most; true: there may be more. */
static bool look_for_entries(struct taskq *queue)
{
    uint32_t left = LOOK_ENTRIES;
    while (left && is_published(queue, queue->published)) {
        queue->published++;
        left--;
    }
    return left == 0;
}

/* Looks until there is a gap and the next producer is to tell of its entry; else the queue is looked at again soon. */
static void look_and_arm(struct taskq *queue)
{
    list_remove(&queue->more);
    if (!look_for_entries(queue)) {
        /* Pairs with the producer's fence: it sees the task armed, or we see its entry. */
        shared_publish(&head_of(queue)->armed, queue->task->handle);
        shared_fence();
        if (!look_for_entries(queue)) {
            return;
        }
    }
    list_push_back(&taskqs_more, &queue->more);
}

void taskq_unbind(struct task *task)
{
    if (task->taskq == TASK_NO_TASKQ) {
        return;
    }
    struct taskq *queue = &taskqs[task->taskq];
    shared_publish(&head_of(queue)->armed, PPU_TASK_NULL);
    timer_stop(&queue->hole);
    list_remove(&queue->more);
    queue->task = NULL;
    task->taskq = TASK_NO_TASKQ;
}

uint64_t taskq_published(const struct task *task)
{
    return taskqs[task->taskq].published;
}

/* ---- the queue's task ---- */

/* The task is PARKED and no CTA of it waits: it has taken all that was published. */
static void settle_taskq(struct taskq *queue)
{
    uint32_t tail = shared_read(&head_of(queue)->tail);
    if (!(tail & PPU_TASKQ_CLOSED)) {
        return;
    }
    if (PPU_TASKQ_TICKET(tail) == ((uint32_t)queue->published & PPU_TASKQ_TICKET_MASK)) {
        completion_defer(queue->task);
    } else if (!queue->hole.heap_index) {
        timer_start(&queue->hole, HOLE_NS);
    }
}

/* The thread that took the ticket has died, or will never publish. */
static void hole_expired(struct timer *timer)
{
    struct taskq *queue = PPU_CONTAINER_OF(timer, struct taskq, hole);
    struct task *task = queue->task;
    struct ppu_error_record record = {
        .code = PPU_FAULT_TASKQ_HOLE,
        .address = queue->published,
        .pc = task->taskq,
        .correlation = task->correlation,
    };
    if (task->state == TASK_PARKED && !task->waits && !is_published(queue, queue->published)) {
        channel_fail(task->channel, &record);
    }
}

void taskq_serve(struct task *task)
{
    struct taskq *queue = &taskqs[task->taskq];
    look_and_arm(queue);
    switch (task->state) {
    case TASK_RUNNING:
        wdu_feed(task);
        break;
    case TASK_PARKED:
        if (queue->published != task_tmd(task)->next_cta) {
            timer_stop(&queue->hole);
            wdu_feed(task);
        } else if (!task->waits) {
            settle_taskq(queue);
        }
        break;
    default: /* it is served when it parks or begins */
        break;
    }
}

void taskq_feed(uint32_t number, uint32_t context)
{
    if (taskq_exists(number, context) && taskqs[number].task) {
        taskq_serve(taskqs[number].task);
    }
}

bool taskq_serve_some(uint32_t most)
{
    for (uint32_t i = 0; i < most && !list_empty(&taskqs_more); i++) {
        struct list_node *node = list_take_front(&taskqs_more);
        taskq_serve(PPU_CONTAINER_OF(node, struct taskq, more)->task);
    }
    return !list_empty(&taskqs_more);
}
