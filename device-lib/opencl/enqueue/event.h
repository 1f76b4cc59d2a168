/* SPDX-License-Identifier: MIT */
/* Ends events of tasks, and starts what waits for that. */
#ifndef DEVICE_LIB_OPENCL_ENQUEUE_EVENT_H
#define DEVICE_LIB_OPENCL_ENQUEUE_EVENT_H

#include "heap.h"
#include "record.h"

typedef global struct ppu_device_event *device_event_t;

#define NO_EVENT 0xffffffffffffffffull /* CLK_NULL_EVENT */

INLINE void release(global struct ppu_nest *nest, device_event_t event)
{
    if (add(&event->references, 0xffffffffu) == 1) {
        heap_give(nest, (ulong)event);
    }
}

INLINE device_event_t new_event(global struct ppu_nest *nest, uint references)
{
    device_event_t event = (device_event_t)heap_take(nest, sizeof(struct ppu_device_event));

    if (event != 0) {
        event->references = references;
        event->status = 1;
        event->list = 0;
        event->capture = 0;
        event->first_group = 0;
        for (uint i = 0; i < 4; i++) {
            event->began[i] = event->left[i] = event->ended[i] = 0;
        }
    }
    return event;
}

INLINE bool is_event(device_event_t event)
{
    return event != 0 && (ulong)event != NO_EVENT;
}

INLINE ulong time_of(global uint sem[4])
{
    return sem[2] | (ulong)sem[3] << 32;
}

INLINE void write_times(device_event_t event, global ulong *to)
{
    ulong began = time_of(event->began);

    to[0] = time_of(event->left) - began;
    to[1] = time_of(event->ended) - began;
}

INLINE void end_event(device_event_t event, int status)
{
    *(volatile global int *)&event->status = status;
    ulong at = exchange64(&event->list, PPU_DEVICE_EVENT_ENDED);
    global ulong *capture = (global ulong *)load64(&event->capture);

    if (capture != 0) {
        write_times(event, capture);
    }
    while (at != 0 && at != PPU_DEVICE_EVENT_ENDED) {
        global struct ppu_device_wait *wait = (global struct ppu_device_wait *)at;
        record_t record = (record_t)wait->task;
        at = wait->next; /* read before the task may start, and end */
        if (status < 0) {
            *(volatile global uint *)&record->failed = 1;
        }
        count_down(record, 1);
    }
}

/* True: it has ended already. */
INLINE bool wait_for(device_event_t event, record_t record, global struct ppu_device_wait *wait)
{
    wait->task = (ulong)record;
    for (;;) {
        ulong head = load64(&event->list);
        if (head == PPU_DEVICE_EVENT_ENDED) {
            if (event->status < 0) {
                *(volatile global uint *)&record->failed = 1;
            }
            return true;
        }
        *(volatile global ulong *)&wait->next = head;
        if (replace64(&event->list, head, (ulong)wait)) {
            return false;
        }
    }
}

/* Registers the task for its events and for its parent's end; starts it when nothing is left to wait for. */
#define DEFINE_ARM(name, space)                                                                    \
    INLINE void arm_##name(record_t own, record_t record, bool deferred, uint events,              \
                           const space device_event_t *list, global struct ppu_device_wait *waits) \
    {                                                                                              \
        bool alone = record->finisher == PPU_TASK_NULL || record->finisher == ITSELF;              \
        uint met = 1; /* our own hold */                                                           \
        count_tasks(record, alone ? 1 : 2);                                                        \
        if (events == 0 && !deferred) {                                                            \
            begin(record, alone ? PPU_TASK_NULL : record->finisher);                               \
            return;                                                                                \
        }                                                                                          \
        record->unmet = 1 + events + deferred;                                                     \
        for (uint i = 0; i < events; i++) {                                                        \
            met += wait_for(list[i], record, &waits[i]);                                           \
        }                                                                                          \
        while (deferred) {                                                                         \
            ulong first = load64(&own->deferred);                                                  \
            *(volatile global ulong *)&record->next = first;                                       \
            deferred = !replace64(&own->deferred, first, (ulong)record);                           \
        }                                                                                          \
        count_down(record, met);                                                                   \
    }                                                                                              \
                                                                                                   \
    INLINE bool are_events_##name(uint events, const space device_event_t *list)                   \
    {                                                                                              \
        bool good = (events == 0) == (list == 0);                                                  \
        for (uint i = 0; i < events && good; i++) {                                                \
            good = is_event(list[i]);                                                              \
        }                                                                                          \
        return good;                                                                               \
    }

DEFINE_ARM(p, private)
DEFINE_ARM(g, generic)

#endif
