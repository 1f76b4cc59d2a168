/* SPDX-License-Identifier: MIT */
#include "tools/trace/writer.h"

#include <errno.h>
#include <string.h>

static void write_chunk(struct writer_state *state, enum record_chunk_kind kind, const void *first, size_t first_bytes,
                        const void *second, size_t second_bytes)
{
    if (!state->failed && !record_write(state->file, kind, first, first_bytes, second, second_bytes)) {
        state->failed = true;
        state->reason = errno;
    }
}

static void write_process(void *opaque, const struct record_process *process, const char *command)
{
    write_chunk(opaque, RECORD_PROCESS, process, sizeof(*process), command, strlen(command));
}

static void write_device(void *opaque, const struct record_device *device)
{
    struct writer_state *state = opaque;

    write_chunk(state, RECORD_DEVICE, device, sizeof(*device), NULL, 0);
    state->devices++;
}

static void write_name(void *opaque, const struct record_name *name, const char *text, uint32_t bytes)
{
    write_chunk(opaque, RECORD_NAME, name, sizeof(*name), text, bytes);
}

static void write_kernel(void *opaque, const struct record_kernel *kernel)
{
    write_chunk(opaque, RECORD_KERNEL, kernel, sizeof(*kernel), NULL, 0);
}

static void write_task(void *opaque, const struct record_task *task)
{
    write_chunk(opaque, RECORD_TASK, task, sizeof(*task), NULL, 0);
}

static void write_events(void *opaque, const struct record_events *events, const struct ppu_trace_record *records,
                         uint32_t count)
{
    struct writer_state *state = opaque;

    write_chunk(state, RECORD_EVENTS, events, sizeof(*events), records, count * sizeof(*records));
    state->records += count;
}

static void write_lost(void *opaque, const struct record_lost *lost)
{
    struct writer_state *state = opaque;

    write_chunk(state, RECORD_LOST, lost, sizeof(*lost), NULL, 0);
    state->lost += lost->count;
}

static void write_clock(void *opaque, const struct record_clock *clock)
{
    write_chunk(opaque, RECORD_CLOCK, clock, sizeof(*clock), NULL, 0);
}

static void write_profile(void *opaque, enum record_chunk_kind kind, const void *head, size_t head_bytes,
                          const void *body, size_t body_bytes)
{
    write_chunk(opaque, kind, head, head_bytes, body, body_bytes);
}

static void device_closed(void *opaque, uint32_t device)
{
    (void)opaque, (void)device; /* its last records say so */
}

const struct watch_sink writer_sink = {
    .process = write_process,
    .device = write_device,
    .device_closed = device_closed,
    .name = write_name,
    .kernel = write_kernel,
    .task = write_task,
    .events = write_events,
    .lost = write_lost,
    .clock = write_clock,
    .profile = write_profile,
};
