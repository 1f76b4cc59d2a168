/* SPDX-License-Identifier: MIT */
#include "firmware/workq.h"

#include <string.h>

#include "firmware/caps.h"
#include "firmware/channel.h"
#include "firmware/completion.h"
#include "firmware/context.h"
#include "firmware/hal.h"
#include "firmware/nest.h"
#include "firmware/quota.h"
#include "firmware/sem.h"
#include "firmware/shared.h"
#include "firmware/state.h"
#include "firmware/task.h"
#include "ppu/macros.h"

#define WORKQS 64u
#define WAITERS 64u /* tasks that wait for entries at once; those beyond are woken at once and ask again */

struct workq {
    struct channel *channel; /* NULL: not open */
    uint8_t next;            /* queue of the same address space, CHANNEL_NO_WORKQ: the last */
    ppu_vram_t vram;
    ppu_va_t va;
    uint32_t entries;
    uint32_t period;
    uint32_t block_bytes;
    uint32_t shadow;             /* counter of GP_PUT */
    uint32_t stall;              /* enum ppu_workq_stall, as published */
    struct list_node waiting;    /* waiters */
    struct list_node dependents; /* PARKED channels that wait for Y, by their node `turn` */
};

/* A task some of whose threads wait for entries. */
struct waiter {
    struct list_node node;
    ppu_task_t task; /* stale when it has ended meanwhile */
    uint16_t context;
    uint32_t threads;
};

static FW_DMA struct workq workqs[WORKQS];

static const struct ppu_state_span workq_spans[] = {
#define PPU_STATE_WORKQ(name, member, doc) STATE_SPAN(struct workq, member),
#include "ppu/state.def"
};

const struct state_rows workq_state_rows = {
    .rows = workqs,
    .most = WORKQS,
    .stride = sizeof(workqs[0]),
    .first = PPU_STATE_WORKQ_CHANNEL,
    .spans = PPU_ARRAY_SIZE(workq_spans),
    .span = workq_spans,
};
static uint8_t first_of_context[PPU_MAX_CONTEXTS]; /* its workqs: this one, and on by `next` */
static struct waiter waiters[WAITERS];
static struct list_node waiters_free;

void workq_init(void)
{
    memset(workqs, 0, sizeof(workqs));
    memset(first_of_context, CHANNEL_NO_WORKQ, sizeof(first_of_context));
    quota_total(PPU_RESOURCE_WORKQS, WORKQS);
    quota_total(PPU_RESOURCE_WAITERS, WAITERS);
    list_init(&waiters_free);
    for (uint32_t i = 0; i < WAITERS; i++) {
        list_push_back(&waiters_free, &waiters[i].node);
    }
}

/* ---- what threads see ---- */

static uint32_t workq_number(const struct workq *queue)
{
    return (uint32_t)(queue - workqs);
}

static struct ppu_workq_head *workq_shared(const struct workq *queue)
{
    return hal_vram(queue->vram);
}

static void *part_at(const struct workq *queue, uint32_t offset)
{
    return hal_vram((ppu_vram_t){ queue->vram.off + offset });
}

static uint32_t *sem_payload(const struct workq *queue, uint32_t entry)
{
    return &((struct ppu_sem *)part_at(queue, PPU_WORKQ_SEM_AT(queue->entries)))[entry].payload;
}

static ppu_va_t sem_va(const struct workq *queue, uint32_t entry)
{
    return (ppu_va_t){ queue->va.va + PPU_WORKQ_SEM_AT(queue->entries) + entry * sizeof(struct ppu_sem) };
}

static ppu_va_t x_va(const struct workq *queue)
{
    return (ppu_va_t){ queue->va.va + offsetof(struct ppu_workq_head, x) };
}

static ppu_va_t y_va(const struct workq *queue)
{
    return (ppu_va_t){ queue->va.va + offsetof(struct ppu_workq_head, y) };
}

static void publish_stall(struct workq *queue, enum ppu_workq_stall stall)
{
    if (queue->stall != stall) {
        queue->stall = stall;
        shared_publish(&workq_shared(queue)->stall, stall);
    }
}

/* Counter of the entry that GP_GET stands at: shadow_put is the one before it, a lap later. */
static uint32_t get_counter(const struct workq *queue)
{
    return ppu_workq_add(queue->shadow, queue->period - queue->entries + 1, queue->period);
}

/* ---- command blocks of the firmware's own ---- */

struct writer {
    uint32_t *block;
    uint32_t words;
};

static void write_method(struct writer *writer, enum ppu_method method)
{
    writer->block[writer->words++] = PPU_METHOD_WORD(method, 0);
}

/* Acquire or release: address, value, compare or flags. */
static void write_sem(struct writer *writer, enum ppu_method method, ppu_va_t at, uint32_t value)
{
    const uint32_t words[] = { PPU_METHOD_WORD(method, 4), (uint32_t)at.va, (uint32_t)(at.va >> 32), value, 0 };
    memcpy(&writer->block[writer->words], words, sizeof(words));
    writer->words += sizeof(words) / 4;
}

static struct writer begin_entry(const struct workq *queue, uint32_t entry)
{
    return (struct writer){
        .block = part_at(queue, PPU_WORKQ_BLOCK_AT(queue->entries) + entry * queue->block_bytes),
        .words = sizeof(struct ppu_block_header) / 4,
    };
}

/* The block that stands last in every reservation ends with this; then the ring entry points to it. */
static void end_entry(const struct workq *queue, uint32_t entry, struct writer *writer)
{
    write_sem(writer, PPU_METHOD_SEM_ACQUIRE, sem_va(queue, entry), 1);
    const struct ppu_block_header header = {
        .head = { PPU_BLOCK_VERSION, sizeof(header) },
        .len_words = writer->words,
    };
    memcpy(writer->block, &header, sizeof(header));
    uint64_t block_va = queue->va.va + PPU_WORKQ_BLOCK_AT(queue->entries) + (uint64_t)entry * queue->block_bytes;
    ppu_gp_entry_t gp = ppu_gp_entry(block_va, writer->words);
    memcpy((ppu_gp_entry_t *)part_at(queue, PPU_WORKQ_RING_AT) + entry, &gp, sizeof(gp));
}

/* ---- making ---- */

/* The queue as C1 has it: GP_GET at the entry of counter `first`, which acquires X of round 1. */
static void fill_workq(struct workq *queue, uint32_t first)
{
    uint32_t entry = first % queue->entries;
    struct ppu_workq_head *shared = workq_shared(queue);
    memset(shared, 0, sizeof(*shared));
    *shared = (struct ppu_workq_head){
        .head = { PPU_WORKQ_VERSION, sizeof(*shared) },
        .entries = queue->entries,
        .period = queue->period,
        .channel = channel_index(queue->channel),
        .block_bytes = queue->block_bytes,
        .ring_at = PPU_WORKQ_RING_AT,
        .sem_at = PPU_WORKQ_SEM_AT(queue->entries),
        .block_at = PPU_WORKQ_BLOCK_AT(queue->entries),
        .soft_put = ppu_workq_add(first, 1, queue->period),
        .round = 1,
    };
    memset(part_at(queue, PPU_WORKQ_SEM_AT(queue->entries)), 0, queue->entries * sizeof(struct ppu_sem));
    struct writer writer = begin_entry(queue, entry);
    write_sem(&writer, PPU_METHOD_SEM_ACQUIRE, x_va(queue), 1);
    end_entry(queue, entry, &writer);

    queue->shadow = ppu_workq_add(first, queue->entries - 1, queue->period);
    queue->stall = PPU_WORKQ_AT_X;
    shared->stall = PPU_WORKQ_AT_X;
    shared_publish(&shared->shadow_put, queue->shadow);
    channel_set_ring(queue->channel, entry, queue->shadow % queue->entries);
}

struct channel *workq_create(const struct workq_plan *plan)
{
    struct workq *queue = NULL;
    for (uint32_t i = 0; i < WORKQS && !queue; i++) {
        queue = workqs[i].channel ? NULL : &workqs[i];
    }
    if (!queue || !quota_take(PPU_RESOURCE_WORKQS, plan->context)) {
        return NULL;
    }
    ppu_va_t ring = { plan->va.va + PPU_WORKQ_RING_AT };
    struct channel *channel = channel_open(plan->context, ring, plan->entries, plan->priority, plan->vector);
    if (!channel) {
        quota_give(PPU_RESOURCE_WORKQS, plan->context);
        return NULL;
    }
    *queue = (struct workq){
        .channel = channel,
        .vram = plan->vram,
        .va = plan->va,
        .entries = plan->entries,
        .period = ppu_workq_period(plan->entries),
        .block_bytes = plan->block_bytes,
    };
    list_init(&queue->waiting);
    list_init(&queue->dependents);
    queue->next = first_of_context[plan->context];
    first_of_context[plan->context] = (uint8_t)workq_number(queue);
    channel->workq = (uint8_t)workq_number(queue);
    fill_workq(queue, plan->first);
    channel_ring(channel);
    return channel;
}

void workq_restart(uint32_t number)
{
    fill_workq(&workqs[number], 0);
    channel_ring(workqs[number].channel);
}

void workq_close(uint32_t number)
{
    struct channel *channel = workqs[number].channel;
    uint8_t *link = &first_of_context[channel->context];
    while (*link != number) {
        link = &workqs[*link].next;
    }
    *link = workqs[number].next;
    channel->workq = CHANNEL_NO_WORKQ;
    quota_give(PPU_RESOURCE_WORKQS, channel->context);
    workqs[number].channel = NULL;
}

/* ---- threads that wait for entries (C4) ---- */

/* `threads` of the task's go on: in vain, or to look again. */
static void wake_threads(struct task *task, uint32_t threads, bool in_vain)
{
    struct ppu_group *group = &nest_record(task)->group;
    if (in_vain) {
        shared_add(&group->refused, threads);
    }
    shared_add(&group->work, (uint32_t)-threads);
    nest_entries_came(task);
    completion_unblock(task);
}

static void wake(struct waiter *waiter, bool in_vain)
{
    struct task *task = task_find(waiter->task);
    uint32_t threads = waiter->threads;
    list_remove(&waiter->node);
    list_push_back(&waiters_free, &waiter->node);
    quota_give(PPU_RESOURCE_WAITERS, waiter->context);
    if (task && task_has_nest(task)) {
        wake_threads(task, threads, in_vain);
    }
}

/* Nothing can become free before the task has ended: C4 calls waiting an error then. */
static bool waits_in_vain(const struct workq *queue, const struct task *task)
{
    switch (queue->stall) {
    case PPU_WORKQ_AT_X:
    case PPU_WORKQ_ENDED:
        return true;
    case PPU_WORKQ_AT_IDLE:
        return task->channel == queue->channel;
    default:
        return false;
    }
}

static void wake_all(struct workq *queue)
{
    struct list_node *node;
    while ((node = queue->waiting.next) != &queue->waiting) {
        wake(PPU_CONTAINER_OF(node, struct waiter, node), false);
    }
}

static void refuse_those_in_vain(struct workq *queue)
{
    struct list_node *node = queue->waiting.next;
    while (node != &queue->waiting) {
        struct waiter *waiter = PPU_CONTAINER_OF(node, struct waiter, node);
        struct task *task = task_find(waiter->task);
        node = node->next;
        if (!task || waits_in_vain(queue, task)) {
            wake(waiter, true);
        }
    }
}

static struct waiter *waiter_of(struct workq *queue, ppu_task_t task)
{
    for (struct list_node *node = queue->waiting.next; node != &queue->waiting; node = node->next) {
        struct waiter *waiter = PPU_CONTAINER_OF(node, struct waiter, node);
        if (waiter->task == task) {
            return waiter;
        }
    }
    uint16_t context = queue->channel->context;
    if (!quota_take(PPU_RESOURCE_WAITERS, context)) {
        return NULL;
    }
    struct waiter *waiter = PPU_CONTAINER_OF(list_take_front(&waiters_free), struct waiter, node);
    waiter->context = context;
    waiter->task = task;
    waiter->threads = 0;
    list_push_back(&queue->waiting, &waiter->node);
    return waiter;
}

bool workq_request(struct task *task, uint32_t word)
{
    uint32_t number = workq_of_channel(PPU_WORKQ_REQUEST_CHANNEL(word), task->context);
    if (number == CHANNEL_NO_WORKQ || !task_has_nest(task)) {
        return false;
    }
    struct workq *queue = &workqs[number];
    if (waits_in_vain(queue, task)) {
        wake_threads(task, 1, true);
        return true;
    }
    bool moved = PPU_WORKQ_REQUEST_SHADOW(word) != PPU_WORKQ_REQUEST_SHADOW(PPU_WORKQ_REQUEST(0, queue->shadow));
    struct waiter *waiter = moved ? NULL : waiter_of(queue, task->handle);
    if (waiter) {
        waiter->threads++;
    } else {
        wake_threads(task, 1, false);
    }
    return true;
}

bool workq_owns_semaphore(uint32_t number, ppu_va_t at)
{
    const struct workq *queue = &workqs[number];
    return at.va == x_va(queue).va || at.va - sem_va(queue, 0).va < queue->entries * sizeof(struct ppu_sem);
}

/* ---- rounds (C5) ---- */

/* The channel stands at the end of what has been published, and nothing it started runs. */
static bool stands_idle(const struct workq *queue)
{
    const struct channel *channel = queue->channel;
    return channel->state == PPU_CHANNEL_PARKED && channel->pending == 0 &&
           channel->sem.at.va == sem_va(queue, channel->get).va;
}

/* A channel waits for the end of the present round, and nothing it started runs. */
static bool end_is_awaited(const struct workq *queue, uint32_t round)
{
    for (const struct list_node *node = queue->dependents.next; node != &queue->dependents; node = node->next) {
        const struct channel *channel = PPU_CONTAINER_OF(node, struct channel, turn);
        if (channel->pending == 0 && channel->sem.at.va == y_va(queue).va && channel->sem.value == round) {
            return true;
        }
    }
    return false;
}

/*
 * As a thread does it: one entry is reserved, filled and published. When a thread was quicker to end the round, the
 * entry is there all the same, and holds nothing but its acquire.
 */
static void end_round(struct workq *queue, uint32_t round, uint32_t counter)
{
    struct ppu_workq_head *shared = workq_shared(queue);
    uint32_t entry = counter % queue->entries;
    uint32_t before = queue->channel->get;
    if (!shared_replace(&shared->soft_put, counter, ppu_workq_add(counter, 1, queue->period))) {
        return;
    }
    struct writer writer = begin_entry(queue, entry);
    if (shared_replace(&shared->round, round, round + 1)) {
        write_method(&writer, PPU_METHOD_WAIT_IDLE);
        write_sem(&writer, PPU_METHOD_SEM_RELEASE, y_va(queue), round);
        write_sem(&writer, PPU_METHOD_SEM_ACQUIRE, x_va(queue), round + 1);
    }
    end_entry(queue, entry, &writer);
    shared_publish(sem_payload(queue, before), 1);
    sem_retest(queue->channel);
}

/*
 * The round that nobody ended ends when the queue stands idle and whoever waits for Y runs nothing. Entries that are
 * reserved and not published then are holes, when no thread is left that could fill them: the queue cannot go on. The
 * touch that tells of a publication may still be in its ring when the end of the thread's task is already known.
 */
static void look_at_workq(struct workq *queue)
{
    struct ppu_workq_head *shared = workq_shared(queue);
    uint32_t round = shared_read(&shared->round);
    if (list_empty(&queue->dependents) || !stands_idle(queue) || !end_is_awaited(queue, round)) {
        return;
    }
    uint32_t next = ppu_workq_add(get_counter(queue), 1, queue->period);
    if (shared_read(&shared->soft_put) == next) {
        end_round(queue, round, next);
    } else if (context_task_count(queue->channel->context) > 0) {
        return;
    } else if (shared_read(sem_payload(queue, queue->channel->get)) != 0) {
        sem_retest(queue->channel);
    } else {
        channel_fault(queue->channel, PPU_FAULT_WORKQ_HOLE, next % queue->entries);
    }
}

/* ---- progress ---- */

void workq_passed(uint32_t number, uint32_t passed)
{
    struct workq *queue = &workqs[number];
    shared_publish(sem_payload(queue, passed), 0);
    queue->shadow = ppu_workq_add(queue->shadow, 1, queue->period);
    channel_move_put(queue->channel);
    shared_publish(&workq_shared(queue)->shadow_put, queue->shadow);
    if (!list_empty(&queue->waiting)) {
        wake_all(queue);
    }
}

void workq_runs(uint32_t number)
{
    publish_stall(&workqs[number], PPU_WORKQ_GOES_ON);
}

void workq_waits_idle(uint32_t number)
{
    publish_stall(&workqs[number], PPU_WORKQ_AT_IDLE);
    refuse_those_in_vain(&workqs[number]);
}

void workq_parked(uint32_t number)
{
    struct workq *queue = &workqs[number];
    if (queue->channel->sem.at.va == x_va(queue).va) {
        publish_stall(queue, PPU_WORKQ_AT_X);
        refuse_those_in_vain(queue);
    } else {
        look_at_workq(queue);
    }
}

void workq_look(uint32_t number)
{
    look_at_workq(&workqs[number]);
}

void workq_context_idle(uint32_t context)
{
    for (uint32_t i = first_of_context[context]; i != CHANNEL_NO_WORKQ; i = workqs[i].next) {
        look_at_workq(&workqs[i]);
    }
}

/* ---- channels that wait for Y ---- */

uint32_t workq_of_channel(uint32_t index, uint32_t context)
{
    const struct channel *channel = channel_at(index);
    return channel && channel->state != PPU_CHANNEL_CLOSED && channel->context == context ? channel->workq
                                                                                          : CHANNEL_NO_WORKQ;
}

bool workq_has_failed(uint32_t number)
{
    return workqs[number].channel->state == PPU_CHANNEL_FAULTED;
}

void workq_await(uint32_t number, struct channel *channel)
{
    channel->awaits = (uint8_t)number;
    list_push_back(&workqs[number].dependents, &channel->turn);
    look_at_workq(&workqs[number]);
}

void workq_failed(uint32_t number)
{
    struct workq *queue = &workqs[number];
    struct list_node *node;
    publish_stall(queue, PPU_WORKQ_ENDED);
    refuse_those_in_vain(queue);
    while ((node = list_take_front(&queue->dependents))) {
        channel_fault(PPU_CONTAINER_OF(node, struct channel, turn), PPU_FAULT_WORKQ_FAILED,
                      channel_index(queue->channel));
    }
}
