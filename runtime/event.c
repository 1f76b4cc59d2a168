/* SPDX-License-Identifier: MIT */
/* Tells whether the work up to a point of a channel or a stream is done (an event), and waits for it. */
#include "runtime/channel.h"
#include "runtime/deadline.h"
#include "runtime/shared.h"

static bool event_is_stale(const struct ppu_event *event)
{
    return __atomic_load_n(&event->channel->epoch, __ATOMIC_ACQUIRE) != event->epoch;
}

bool ppu_event_done(const struct ppu_event *event)
{
    /* Partner: the firmware's release, after a channel's wait for idle or as a task of a stream. */
    uint32_t payload = shared_load_acquire(&event->fence->payload);

    return !event_is_stale(event) && ppu_sem_passes(PPU_SEM_GREATER_EQUAL, payload, event->value);
}

/* The work was done, or will never be: true, *err says which. */
static bool event_decided(const struct ppu_event *event, enum ppu_err *err)
{
    *err = PPU_OK;
    if (ppu_event_done(event)) {
        return true;
    }
    if (event_is_stale(event)) {
        *err = PPU_ERR_CANCELLED;
        return true;
    }
    *err = channel_fault(event->channel);
    return *err != PPU_OK;
}

enum ppu_err ppu_event_wait(const struct ppu_event *event, uint64_t timeout_ns)
{
    struct ppu_device *device = event->channel->context->device;
    uint64_t deadline_ns = deadline_after(timeout_ns);
    enum ppu_err err = PPU_OK;

    for (;;) {
        uint64_t mark = interrupts_mark(&device->interrupts);
        if (event_decided(event, &err)) {
            return err;
        }
        enum ppu_err waited = device_wait(device, 1u << event->channel->vector, mark, deadline_ns);
        if (waited != PPU_OK) {
            return event_decided(event, &err) ? err : waited;
        }
    }
}
