/* SPDX-License-Identifier: MIT */
#include "firmware/sem.h"

#include "firmware/commands.h"
#include "firmware/dma.h"
#include "firmware/hal.h"
#include "firmware/trace.h"
#include "firmware/workq.h"
#include "ppu/sem.h"

void sem_disarm(const struct channel *channel)
{
    hal_write(PPU_REG_SEM_DISARM, channel_index(channel));
}

/* Arms, then reads: a release between the two is either read or reported as a touch. */
static enum sem_result sem_test(struct channel *channel)
{
    struct sem_wait *sem = &channel->sem;
    uint32_t payload;
    sem->tag++;
    if (dma_arm_semaphore(channel->context, sem->at, channel_index(channel), sem->tag, &payload)) {
        channel_fault_memory(channel, PPU_FAULT_SEM_MEMORY);
        return SEM_FAULT;
    }
    return ppu_sem_passes(sem->compare, payload, sem->value) ? SEM_PASSED : SEM_PARKED;
}

static void sem_traced(const struct channel *channel, bool passed)
{
    trace_write(PPU_TRACE_SEM_ACQUIRE, channel->block.correlation, channel_index(channel), channel->sem.value,
                (uint32_t)channel->sem.at.va | passed);
}

/* A test by time takes an interrupt, and the host's timer, for what a touch tells at once. */
static bool is_always_touched(const struct channel *channel, ppu_va_t at)
{
    return channel->workq != CHANNEL_NO_WORKQ && workq_owns_semaphore(channel->workq, at);
}

enum sem_result sem_acquire(struct channel *channel, ppu_va_t at, uint32_t value, uint32_t compare)
{
    channel->sem = (struct sem_wait){
        .at = at,
        .value = value,
        .compare = (uint8_t)compare,
        .tag = channel->sem.tag,
        .delay_us = is_always_touched(channel, at) ? SEM_RETEST_MOST_US : SEM_RETEST_FIRST_US,
    };
    enum sem_result result = sem_test(channel);
    if (result == SEM_PASSED) {
        sem_disarm(channel);
        trace_mark(PPU_MARK_ACQUIRE_PASSED);
        sem_traced(channel, true);
    } else if (result == SEM_PARKED) {
        sem_traced(channel, false);
        channel_park(channel);
    }
    return result;
}

void sem_retest(struct channel *channel)
{
    struct sem_wait *sem = &channel->sem;
    switch (sem_test(channel)) {
    case SEM_PASSED:
        sem_traced(channel, true);
        channel_wake(channel);
        break;
    case SEM_PARKED:
        sem->delay_us = sem->delay_us * 2u < SEM_RETEST_MOST_US ? sem->delay_us * 2u : SEM_RETEST_MOST_US;
        timer_start(&channel->timer, sem->delay_us * TIMER_NS_PER_US);
        break;
    default:
        break;
    }
}

void sem_touch_event(const union ring_entry *entry)
{
    commands_sem_released();
    struct channel *channel = channel_at(entry->touch.entry);
    if (channel && channel->state == PPU_CHANNEL_PARKED && channel->sem.tag == entry->touch.tag) {
        sem_retest(channel);
    }
}
