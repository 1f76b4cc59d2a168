/* SPDX-License-Identifier: MIT */
#include "firmware/timer.h"

#include "firmware/crash.h"
#include "firmware/hal.h"

static struct timer *heap[TIMERS_MAX + 1]; /* from 1; the children of n are 2n and 2n + 1 */
static uint32_t heap_count;
static uint64_t hardware_deadline_ns;

#define NEVER UINT64_MAX

void timers_init(void)
{
    heap_count = 0;
    hardware_deadline_ns = NEVER;
}

static void heap_put(uint32_t index, struct timer *timer)
{
    heap[index] = timer;
    timer->heap_index = index;
}

static void heap_rise(uint32_t index, struct timer *timer)
{
    while (index > 1 && heap[index / 2]->deadline_ns > timer->deadline_ns) {
        heap_put(index, heap[index / 2]);
        index /= 2;
    }
    heap_put(index, timer);
}

static void heap_sink(uint32_t index, struct timer *timer)
{
    for (;;) {
        uint32_t child = 2 * index;
        if (child + 1 <= heap_count && heap[child + 1]->deadline_ns < heap[child]->deadline_ns) {
            child++;
        }
        if (child > heap_count || heap[child]->deadline_ns >= timer->deadline_ns) {
            heap_put(index, timer);
            return;
        }
        heap_put(index, heap[child]);
        index = child;
    }
}

/* Tells the hardware when the first deadline is earlier than the one it knows; a later one may wait for its
 * interrupt. */
static void set_hardware(void)
{
    uint64_t first = heap_count ? heap[1]->deadline_ns : NEVER;
    if (first < hardware_deadline_ns) {
        hardware_deadline_ns = first;
        hal_write(PPU_REG_TIMER_LO, (uint32_t)first);
        hal_write(PPU_REG_TIMER_HI, (uint32_t)(first >> 32));
    }
}

void timer_stop(struct timer *timer)
{
    uint32_t index = timer->heap_index;
    if (index == 0) {
        return;
    }
    timer->heap_index = 0;
    struct timer *last = heap[heap_count--];
    if (last == timer) {
        return;
    }
    if (index > 1 && heap[index / 2]->deadline_ns > last->deadline_ns) {
        heap_rise(index, last);
    } else {
        heap_sink(index, last);
    }
}

void timer_start(struct timer *timer, uint64_t delay_ns)
{
    timer_stop(timer);
    FW_ASSERT(heap_count < TIMERS_MAX);
    timer->deadline_ns = hal_time() + delay_ns;
    heap_rise(++heap_count, timer);
    set_hardware();
}

bool timers_run(uint32_t most)
{
    uint64_t now = hal_time();
    if (now >= hardware_deadline_ns) {
        hardware_deadline_ns = NEVER; /* it has fired, or will for nothing */
    }
    for (uint32_t i = 0; i < most && heap_count && heap[1]->deadline_ns <= now; i++) {
        struct timer *timer = heap[1];
        timer_stop(timer);
        timer->fire(timer);
    }
    set_hardware();
    return heap_count && heap[1]->deadline_ns <= now;
}
