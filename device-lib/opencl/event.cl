/* SPDX-License-Identifier: MIT */
/*
 * Implements the events of tasks that threads enqueue: the kernel that ends them, and the built-in functions of events.
 */
#include "enqueue/event.h"

kernel void __ppu_finish(global struct ppu_device_event *event, int status)
{
    if (event != 0) {
        __ppu_stamp((ulong)event->ended);
        end_event(event, status);
        release(nest_of(own_record()), event);
    }
}

/* One thread of a tree does this at a time. */
kernel void __ppu_unpark(void)
{
    record_t own = own_record();
    global struct ppu_nest *nest = nest_of(own);
    record_t root = record_at(nest, own->root);

    do {
        unpark_all(nest, root);
        exchange(&root->unparks, 0);
    } while ((load64(&root->parked) | load64(&root->parked_keepers)) != 0 && exchange(&root->unparks, 1) == 0);
}

device_event_t LIBRARY __ppu_create_user_event(void)
{
    record_t own = own_record();
    device_event_t event = own != 0 ? new_event(nest_of(own), 1) : 0;

    if (event != 0) {
        __ppu_stamp((ulong)event->began);
        __ppu_stamp((ulong)event->left);
    }
    return event;
}

void LIBRARY __ppu_set_user_event_status(device_event_t event, int status)
{
    if (is_event(event) && status <= 0) {
        __ppu_stamp((ulong)event->ended);
        end_event(event, status);
    }
}

void LIBRARY __ppu_retain_event(device_event_t event)
{
    if (is_event(event)) {
        add(&event->references, 1);
    }
}

void LIBRARY __ppu_release_event(device_event_t event)
{
    if (is_event(event)) {
        release(nest_of(own_record()), event);
    }
}

bool LIBRARY __ppu_is_valid_event(device_event_t event)
{
    return is_event(event) && event->references != 0;
}

/* When the event has not ended, its end writes them. */
void LIBRARY __ppu_capture_event(device_event_t event, uint what, global ulong *to)
{
    if (is_event(event) && what == 1) {
        exchange64(&event->capture, (ulong)to);
        if (load64(&event->list) == PPU_DEVICE_EVENT_ENDED) {
            write_times(event, to);
        }
    }
}
