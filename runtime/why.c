/* SPDX-License-Identifier: MIT */
/* Asks the device for its state, and says why a task or the work before an event is not done. */
#include "ppu/why.h"

#include "runtime/channel.h"
#include "runtime/context.h"
#include "runtime/device_state.h"
#include "runtime/error.h"
#include "runtime/state/why.h"

enum ppu_err ppu_task_why(struct ppu_device *device, uint32_t task, struct ppu_why *why)
{
    struct view view;
    enum ppu_err err = device_state_take(device, &view);

    if (err == PPU_OK) {
        why_task(&view, task, why);
        view_free(&view);
    }
    return err;
}

enum ppu_err ppu_channel_why(struct ppu_channel *channel, struct ppu_why *why)
{
    struct view view;
    enum ppu_err err = device_state_take(channel->context->device, &view);

    if (err == PPU_OK) {
        why_channel(&view, channel->index, why);
        view_free(&view);
    }
    return err;
}

enum ppu_err ppu_event_error(const struct ppu_event *event, struct ppu_error *error)
{
    struct ppu_why why;
    enum ppu_err err = ppu_event_wait(event, 0);

    if (err == PPU_ERR_TIMEOUT && machine_clock_stands_still(event->channel->context->device->transport)) {
        error_fill(error, err,
                   "wait for an event: time is over; the PPU's machine stands still: a debugger or its monitor has "
                   "stopped it");
    } else if (err == PPU_ERR_TIMEOUT && ppu_channel_why(event->channel, &why) == PPU_OK) {
        error_fill(error, err, "wait for an event: time is over; channel %u %s", event->channel->index, why.text);
    } else if (err == PPU_OK || err == PPU_ERR_TIMEOUT || err == PPU_ERR_CANCELLED ||
               ppu_channel_error(event->channel, error) != err) {
        error_fill(error, err, "wait for an event: %s", ppu_error_text(err));
    }
    return err;
}
