/* SPDX-License-Identifier: MIT */
#include "firmware/channel.h"

#include <string.h>

#include "firmware/admin.h"
#include "firmware/block.h"
#include "firmware/caps.h"
#include "firmware/completion.h"
#include "firmware/context.h"
#include "firmware/copy.h"
#include "firmware/crash.h"
#include "firmware/dma.h"
#include "firmware/fault.h"
#include "firmware/hal.h"
#include "firmware/hooks.h"
#include "firmware/layout.h"
#include "firmware/quota.h"
#include "firmware/sem.h"
#include "firmware/state.h"
#include "firmware/workq.h"
#include "ppu/macros.h"

#define FAIRNESS_TURNS 8u                /* one turn in so many goes to the lowest priority, so that none starves */
#define RETRY_NS (100 * TIMER_NS_PER_US) /* a need that nobody reports as met is tried again */

static FW_DMA_ROWS struct channel channels[PPU_MAX_CHANNELS];

static const struct ppu_state_span channel_spans[] = {
#define PPU_STATE_CHANNEL(name, member, doc) STATE_SPAN(struct channel, member),
#include "ppu/state.def"
};

const struct state_rows channel_state_rows = {
    .rows = channels,
    .count = &caps.channels,
    .stride = sizeof(channels[0]),
    .first = PPU_STATE_CHANNEL_STATE,
    .spans = PPU_ARRAY_SIZE(channel_spans),
    .span = channel_spans,
};

static const struct ppu_state_span channel_fault_spans[] = {
#define PPU_STATE_FAULT(name, member, doc) STATE_SPAN(struct channel_fault, member),
#include "ppu/state.def"
};

const struct state_rows channel_fault_state_rows = {
    .vram = &layout.channel_faults,
    .count = &caps.channels,
    .stride = sizeof(struct channel_fault),
    .first = PPU_STATE_FAULT_CODE,
    .spans = PPU_ARRAY_SIZE(channel_fault_spans),
    .span = channel_fault_spans,
};
static struct list_node ready[PPU_PRIORITIES]; /* RUNNING channels */
static uint32_t ready_priorities;              /* bit p: ready[p] is not empty */
static uint32_t turns;
static uint32_t closed_from;                             /* channels below it are open */
static struct list_node needing[CHANNEL_NEEDS_COPY + 1]; /* WAITING channels, by need */

/*
 * States: what is still allowed.
 *   CLOSED   nothing; the doorbell is an error
 *   IDLE     the doorbell makes it RUNNING
 *   RUNNING  it takes turns; may do everything
 *   PARKED   its semaphore is tested on touch, doorbell and timer; what it started goes on
 *   WAITING  its present method is executed again when its need is met
 *   FAULTED  nothing; what it started is being ended
 * Every state but CLOSED may be stopped.
 */
#define CAN(state) (1u << PPU_CHANNEL_##state)
#define STATES (PPU_CHANNEL_FAULTED + 1u)
static const uint8_t follows[STATES] = {
    [PPU_CHANNEL_CLOSED] = CAN(IDLE),
    [PPU_CHANNEL_IDLE] = CAN(RUNNING) | CAN(FAULTED),
    [PPU_CHANNEL_RUNNING] = CAN(IDLE) | CAN(PARKED) | CAN(WAITING) | CAN(FAULTED),
    [PPU_CHANNEL_PARKED] = CAN(RUNNING) | CAN(FAULTED),
    [PPU_CHANNEL_WAITING] = CAN(RUNNING) | CAN(FAULTED),
    [PPU_CHANNEL_FAULTED] = CAN(IDLE) | CAN(CLOSED),
};

static void turn_leave(struct channel *channel)
{
    list_remove(&channel->turn);
    if (list_empty(&ready[channel->priority])) {
        ready_priorities &= ~(1u << channel->priority);
    }
}

static void turn_join(struct channel *channel)
{
    list_push_back(&ready[channel->priority], &channel->turn);
    ready_priorities |= 1u << channel->priority;
}

static void state_leave(struct channel *channel)
{
    switch (channel->state) {
    case PPU_CHANNEL_RUNNING:
        turn_leave(channel);
        break;
    case PPU_CHANNEL_PARKED:
        timer_stop(&channel->timer);
        sem_disarm(channel);
        list_remove(&channel->turn);
        channel->awaits = CHANNEL_NO_WORKQ;
        break;
    case PPU_CHANNEL_WAITING:
        timer_stop(&channel->timer);
        list_remove(&channel->turn);
        break;
    default:
        break;
    }
}

static void channel_enter(struct channel *channel, enum ppu_channel_state state)
{
    FW_ASSERT(follows[channel->state] & (1u << state));
    state_leave(channel);
    channel->state = (uint8_t)state;
    if (state == PPU_CHANNEL_RUNNING) {
        turn_join(channel);
    }
}

static void channel_timer(struct timer *timer)
{
    struct channel *channel = PPU_CONTAINER_OF(timer, struct channel, timer);
    if (channel->state == PPU_CHANNEL_PARKED) {
        sem_retest(channel);
    } else if (channel->state == PPU_CHANNEL_WAITING) {
        channel_enter(channel, PPU_CHANNEL_RUNNING);
    }
}

void channel_init(void)
{
    memset(channels, 0, caps.channels * sizeof(channels[0]));
    for (uint32_t i = 0; i < caps.channels; i++) {
        channels[i].index = (uint16_t)i;
    }
    closed_from = 0;
    quota_total(PPU_RESOURCE_CHANNELS, caps.channels);
    ready_priorities = 0;
    turns = 0;
    for (uint32_t i = 0; i < PPU_PRIORITIES; i++) {
        list_init(&ready[i]);
    }
    for (uint32_t i = 0; i <= CHANNEL_NEEDS_COPY; i++) {
        list_init(&needing[i]);
    }
}

struct channel *channel_at(uint32_t index)
{
    return index < caps.channels ? &channels[index] : NULL;
}

struct channel_fault *channel_last_fault(const struct channel *channel)
{
    return (struct channel_fault *)hal_vram(layout.channel_faults) + channel_index(channel);
}

struct channel_counts *channel_counts(const struct channel *channel)
{
    return (struct channel_counts *)hal_vram(layout.channel_counts) + channel_index(channel);
}

void channel_count(const struct channel *channel, const uint64_t count[PPU_COUNTERS])
{
    struct channel_counts *counts = channel_counts(channel);
#pragma GCC unroll 4
    for (uint32_t i = 0; i < PPU_COUNTERS_ALWAYS; i++) {
        counts->count[i] += count[i];
    }
    if (caps.features & PPU_FEATURE_CACHE_MODEL) {
        for (uint32_t i = PPU_COUNTERS_ALWAYS; i < PPU_COUNTERS; i++) {
            counts->count[i] += count[i];
        }
    }
}

void channel_set_ring(struct channel *channel, uint32_t get, uint32_t put)
{
    uint32_t index = channel_index(channel);
    channel->get = get;
    channel->put = put;
    hal_write(PPU_REG_GP_GET + 4 * index, get);
    hal_write(PPU_REG_GP_PUT + 4 * index, put);
}

void channel_move_put(struct channel *channel)
{
    channel->put = ppu_gp_next(channel->put, channel->entries);
    hal_write(PPU_REG_GP_PUT + 4 * channel_index(channel), channel->put);
}

static struct channel *find_closed(void)
{
    while (closed_from < caps.channels && channels[closed_from].state != PPU_CHANNEL_CLOSED) {
        closed_from++;
    }
    return closed_from < caps.channels ? &channels[closed_from] : NULL;
}

struct channel *channel_open(uint32_t context, ppu_va_t ring, uint32_t entries, uint32_t priority, uint32_t vector)
{
    struct channel *channel = find_closed();
    if (!channel || !hooks_allow_allocation() || !quota_take(PPU_RESOURCE_CHANNELS, context)) {
        return NULL;
    }
    uint32_t last_tag = channel->sem.tag;
    *channel = (struct channel){
        .timer = { .fire = channel_timer },
        .priority = (uint8_t)priority,
        .vector = (uint8_t)vector,
        .index = channel->index,
        .context = (uint16_t)context,
        .workq = CHANNEL_NO_WORKQ,
        .awaits = CHANNEL_NO_WORKQ,
        .ring = ring,
        .entries = entries,
        .sem = { .tag = last_tag },
    };
    list_init(&channel->turn);
    list_init(&channel->tasks);
    list_init(&channel->copies);
    *channel_last_fault(channel) = (struct channel_fault){ 0 };
    *channel_counts(channel) = (struct channel_counts){ { 0 } };
    channel_set_ring(channel, 0, 0);
    context_add_channel(context);
    channel_enter(channel, PPU_CHANNEL_IDLE);
    return channel;
}

/* Nothing of a channel that is being reset or destroyed runs any more. */
static void channel_ended(struct channel *channel)
{
    struct admin_ticket *ticket = channel->ending;
    channel->ending = NULL;
    channel_set_ring(channel, 0, 0);
    *channel_last_fault(channel) = (struct channel_fault){ 0 };
    if (ticket->op == PPU_ADMIN_CHANNEL_DESTROY) {
        if (channel->workq != CHANNEL_NO_WORKQ) {
            workq_close(channel->workq);
        }
        channel_enter(channel, PPU_CHANNEL_CLOSED);
        closed_from = PPU_MIN(closed_from, channel_index(channel));
        quota_give(PPU_RESOURCE_CHANNELS, channel->context);
        context_remove_channel(channel->context);
    } else {
        channel_enter(channel, PPU_CHANNEL_IDLE);
        if (channel->workq != CHANNEL_NO_WORKQ) {
            workq_restart(channel->workq);
        }
    }
    admin_answer(ticket, 0, 0);
}

static void stop(struct channel *channel, enum ppu_fault cause)
{
    channel_enter(channel, PPU_CHANNEL_FAULTED);
    block_end(channel);
    struct list_node *node = channel->tasks.next;
    while (node != &channel->tasks) {
        struct task *task = PPU_CONTAINER_OF(node, struct task, owner);
        node = node->next;
        completion_cancel(task, (uint16_t)cause);
    }
    copy_cancel(channel);
    if (channel->workq != CHANNEL_NO_WORKQ) {
        workq_failed(channel->workq);
    }
}

void channel_end(struct channel *channel, struct admin_ticket *ticket)
{
    if (channel->state != PPU_CHANNEL_FAULTED) {
        stop(channel, PPU_FAULT_CANCELLED);
    }
    channel->ending = ticket;
    if (channel->pending == 0) {
        channel_ended(channel);
    }
}

void channel_ring(struct channel *channel)
{
    if (channel->state == PPU_CHANNEL_IDLE) {
        channel_enter(channel, PPU_CHANNEL_RUNNING);
    } else if (channel->state == PPU_CHANNEL_PARKED) {
        sem_retest(channel);
    } else if (channel->state == PPU_CHANNEL_CLOSED) {
        struct ppu_error_record record = {
            .code = PPU_FAULT_NO_CHANNEL,
            .channel = channel_index(channel),
            .address = channel_index(channel),
        };
        fault_report(&record);
    }
}

static void entry_done(struct channel *channel)
{
    uint32_t passed = channel->get;
    channel->get = ppu_gp_next(passed, channel->entries);
    hal_write(PPU_REG_GP_GET + 4 * channel_index(channel), channel->get);
    if (channel->workq != CHANNEL_NO_WORKQ) {
        workq_passed(channel->workq, passed);
    }
}

/* One turn: a bounded number of methods, of as many blocks as they come from. */
static void channel_turn(struct channel *channel)
{
    if (channel->workq != CHANNEL_NO_WORKQ) {
        workq_runs(channel->workq);
    }
    uint32_t left = CHANNEL_TURN_METHODS;
    while (left && channel->state == PPU_CHANNEL_RUNNING) {
        switch (block_run(channel, &left)) {
        case BLOCK_MORE:
            break;
        case BLOCK_DONE:
            entry_done(channel);
            break;
        case BLOCK_NONE:
            channel_enter(channel, PPU_CHANNEL_IDLE);
            break;
        case BLOCK_STOPPED:
            return;
        }
    }
    if (channel->state == PPU_CHANNEL_RUNNING) {
        turn_leave(channel);
        turn_join(channel);
    }
}

bool channel_run_next(void)
{
    if (!ready_priorities) {
        return false;
    }
    uint32_t highest = 31u - (uint32_t)__builtin_clz(ready_priorities);
    uint32_t lowest = (uint32_t)__builtin_ctz(ready_priorities);
    uint32_t priority = ++turns % FAIRNESS_TURNS ? highest : lowest;
    channel_turn(PPU_CONTAINER_OF(ready[priority].next, struct channel, turn));
    return ready_priorities != 0;
}

void channel_park(struct channel *channel)
{
    channel_enter(channel, PPU_CHANNEL_PARKED);
    timer_start(&channel->timer, channel->sem.delay_us * TIMER_NS_PER_US);
    if (channel->workq != CHANNEL_NO_WORKQ) {
        workq_parked(channel->workq);
    }
}

void channel_wake(struct channel *channel)
{
    channel_enter(channel, PPU_CHANNEL_RUNNING);
}

void channel_wait(struct channel *channel, enum channel_need need)
{
    channel_enter(channel, PPU_CHANNEL_WAITING);
    channel->need = (uint8_t)need;
    list_push_back(&needing[need], &channel->turn);
    if (need != CHANNEL_NEEDS_IDLE) {
        timer_start(&channel->timer, RETRY_NS);
    } else if (channel->workq != CHANNEL_NO_WORKQ) {
        workq_waits_idle(channel->workq);
    }
}

void channel_provide(enum channel_need need)
{
    if (!list_empty(&needing[need])) {
        channel_enter(PPU_CONTAINER_OF(needing[need].next, struct channel, turn), PPU_CHANNEL_RUNNING);
    }
}

/* One thing the channel started has ended. */
static void pending_ended(struct channel *channel)
{
    if (--channel->pending) {
        return;
    }
    if (channel->ending) {
        channel_ended(channel);
    } else if (channel->state == PPU_CHANNEL_WAITING && channel->need == CHANNEL_NEEDS_IDLE) {
        channel_enter(channel, PPU_CHANNEL_RUNNING);
    } else if (channel->state == PPU_CHANNEL_PARKED && channel->awaits != CHANNEL_NO_WORKQ) {
        workq_look(channel->awaits);
    } else if (channel->state == PPU_CHANNEL_PARKED && channel->workq != CHANNEL_NO_WORKQ) {
        workq_look(channel->workq);
    }
}

void channel_add_task(struct channel *channel, struct task *task)
{
    task->channel = channel;
    list_push_back(&channel->tasks, &task->owner);
    channel->pending++;
}

void channel_remove_task(struct channel *channel, struct task *task)
{
    task->channel = NULL;
    list_remove(&task->owner);
    pending_ended(channel);
}

void channel_add_copy(struct channel *channel, struct list_node *copy)
{
    list_push_back(&channel->copies, copy);
    channel->pending++;
}

void channel_remove_copy(struct channel *channel, struct list_node *copy)
{
    list_remove(copy);
    pending_ended(channel);
}

uint64_t channel_position(const struct channel *channel)
{
    return (uint64_t)channel->get << 32 | channel->block.method;
}

void channel_fail(struct channel *channel, struct ppu_error_record *record)
{
    record->channel = channel_index(channel);
    record->context = channel->context;
    fault_report(record);
    if (channel->state == PPU_CHANNEL_FAULTED) {
        return;
    }
    *channel_last_fault(channel) =
        (struct channel_fault){ .address = record->address, .pc = record->pc, .code = record->code };
    stop(channel, record->code);
}

void channel_fault(struct channel *channel, enum ppu_fault code, uint64_t payload)
{
    struct ppu_error_record record = {
        .code = (uint16_t)code,
        .address = payload,
        .pc = channel_position(channel),
        .correlation = channel->block.correlation,
    };
    channel_fail(channel, &record);
}

void channel_fault_memory(struct channel *channel, enum ppu_fault code)
{
    struct dma_failure failure = dma_failure();
    struct ppu_error_record record = {
        .code = (uint16_t)code,
        .access = failure.access,
        .address = failure.address,
        .pc = channel_position(channel),
        .correlation = channel->block.correlation,
    };
    channel_fail(channel, &record);
}
