/* SPDX-License-Identifier: MIT */
#include "opencl/submit/submitter.h"

#include <string.h>

#include "opencl/api/queue.h"
#include "opencl/submit/printf.h"
#include "ppu/sem.h"

#define ENTRIES (2u * LANE_DEPTH)
/* The device ends what runs too long; this only says how often a waiter looks at the clock. */
#define WAIT_NS (60ull * 1000000000u)

struct times {
    struct ppu_sem begin, end;
};

static bool wants_times(const struct lane *lane)
{
    return (lane->queue->properties & CL_QUEUE_PROFILING_ENABLE) != 0;
}

struct ppu_context *lane_space(const struct lane *lane)
{
    return lane->queue->context->ppus[lane->queue->place];
}

/* ---- to the device ---- */

bool lane_takes(const struct lane *lane, const struct _cl_event *event)
{
    return lane->count < LANE_DEPTH && (event->work.prints == NULL || lane->printing == NULL);
}

static enum ppu_err give_printer(struct lane *lane, cl_event event)
{
    struct ppu_context *context = lane_space(lane);
    enum ppu_err err = PPU_OK;

    if (lane->printed == NULL) {
        err = ppu_memory_create(context, PPU_MEMORY_VRAM, PRINT_BUFFER_BYTES, &lane->printed);
        if (err == PPU_OK) {
            print_begin(ppu_memory_host(lane->printed));
        }
    }
    if (err == PPU_OK) {
        event->work.printf_va = ppu_memory_va(lane->printed, context).va;
        lane->printing = event;
    }
    return err;
}

static enum ppu_err submit(struct lane *lane, cl_event event, uint32_t slot)
{
    uint64_t times_va = ppu_memory_va(lane->times, lane_space(lane)).va + slot * sizeof(struct times);
    struct ppu_block *block = NULL;
    enum ppu_err err = ppu_block_begin(lane->channel, &block);

    if (err != PPU_OK) {
        return err;
    }
    if (wants_times(lane)) {
        ppu_block_release(block, (ppu_va_t){ times_va + offsetof(struct times, begin) }, 0, true);
    }
    event->work.build(event, block, lane->stream);
    ppu_block_wait_idle(block);
    if (wants_times(lane)) {
        ppu_block_release(block, (ppu_va_t){ times_va + offsetof(struct times, end) }, 0, true);
    }
    return ppu_block_submit(block, &event->done);
}

void lane_issue(struct lane *lane, cl_event event)
{
    uint32_t slot = (lane->first + lane->count) % LANE_DEPTH;

    event_reach(event, CL_SUBMITTED);
    if (wants_times(lane)) {
        event->time_ns[TIME_SUBMIT] = ppu_device_time_ns(lane->queue->device->ppu);
    }
    enum ppu_err err = lane->broken ? PPU_ERR_DEVICE_LOST : PPU_OK;
    if (err == PPU_OK && event->work.prints != NULL) {
        err = give_printer(lane, event);
    }
    if (err == PPU_OK) {
        err = submit(lane, event, slot);
    }
    if (err != PPU_OK) {
        lane->printing = lane->printing == event ? NULL : lane->printing;
        event_end(event, device_error(err));
        return;
    }
    event->slot = slot;
    event->lane = lane;
    lane->flight[slot] = event;
    lane->count++;
    event_issued(event);
    pthread_cond_signal(&lane->work);
}

/* ---- and back ---- */

/* Of a command that runs no more. NULL, or why some of it is lost. */
static const char *print(struct lane *lane, cl_event event)
{
    return print_end(ppu_memory_host(lane->printed), event->work.prints, lane->queue->place);
}

/*
 * Without the lock: whoever is told that the command has ended finds what it used given back, such as a kernel that
 * keeps its program from being built.
 */
static void finish(const struct lane *lane, cl_event event)
{
    const struct times *times = ppu_memory_host(lane->times);

    if (wants_times(lane)) {
        event->time_ns[TIME_START] = times[event->slot].begin.time_ns;
        event->time_ns[TIME_END] = times[event->slot].end.time_ns;
    }
    work_drop(&event->work);
}

static void land(struct lane *lane, cl_int status)
{
    cl_event event = lane->flight[lane->first];

    lane->printing = lane->printing == event ? NULL : lane->printing;
    lane->first = (lane->first + 1) % LANE_DEPTH;
    lane->count--;
    event_end(event, status);
}

/* The first command in flight has done wrong; those behind it were never begun. NULL, or why output is lost. */
static const char *fail_all(struct lane *lane, enum ppu_err err)
{
    cl_command_queue work = lane->queue->filled;
    bool again = work == NULL || ppu_workqueue_reset(work->work) == PPU_OK;
    lane->broken = ppu_channel_reset(lane->channel) != PPU_OK || !again;
    cl_int status = device_error(err);
    const char *lost = lane->printing != NULL ? print(lane, lane->printing) : NULL;
    for (uint32_t left = lane->count; left > 0; left--) {
        land(lane, status);
        status = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    }
    return lost;
}

static void await_first(struct lane *lane)
{
    cl_context context = lane->queue->context;
    cl_event event = lane->flight[lane->first];
    const struct ppu_event done = event->done;
    bool prints = lane->printing == event;
    const char *lost = NULL;
    struct ppu_error error;

    pthread_mutex_unlock(&context->lock);
    enum ppu_err err = ppu_event_wait(&done, WAIT_NS);
    if (err == PPU_ERR_TIMEOUT && ppu_channel_error(lane->channel, NULL) == PPU_OK) {
        pthread_mutex_lock(&context->lock);
        return;
    }
    if (err != PPU_OK) {
        enum ppu_err told = ppu_channel_error(lane->channel, &error);
        context_notify(context, event_command_name(event), told != PPU_OK ? error.text : ppu_error_text(err));
    }
    if (err == PPU_OK && prints) {
        lost = print(lane, event);
    }
    if (err == PPU_OK) {
        finish(lane, event);
    }
    pthread_mutex_lock(&context->lock);
    if (err == PPU_OK) {
        land(lane, CL_COMPLETE);
    } else {
        lost = fail_all(lane, err);
    }
    graph_unlock(context);
    if (lost != NULL) {
        context_notify(context, "printf", lost);
    }
    pthread_mutex_lock(&context->lock);
}

static void *serve(void *opaque)
{
    struct lane *lane = opaque;
    cl_command_queue queue = lane->queue;

    pthread_mutex_lock(&queue->context->lock);
    while (!queue->stopping || lane->count > 0) {
        if (lane->count > 0) {
            await_first(lane);
        } else {
            pthread_cond_wait(&lane->work, &queue->context->lock);
        }
    }
    pthread_mutex_unlock(&queue->context->lock);
    return NULL;
}

/* ---- life ---- */

static enum ppu_err open_parts(struct lane *lane)
{
    const struct ppu_channel_options options = { .entries = ENTRIES, .priority = PPU_PRIORITIES / 2 };
    struct ppu_context *context = lane_space(lane);
    enum ppu_err err = ppu_channel_create(context, &options, &lane->channel);

    if (err == PPU_OK) {
        err = ppu_stream_create(lane->channel, &lane->stream);
    }
    if (err == PPU_OK) {
        err = ppu_memory_create(context, PPU_MEMORY_VRAM, LANE_DEPTH * sizeof(struct times), &lane->times);
    }
    if (err == PPU_OK) {
        lane->threaded = pthread_create(&lane->thread, NULL, serve, lane) == 0;
        err = lane->threaded ? PPU_OK : PPU_ERR_NO_MEMORY;
    }
    return err;
}

enum ppu_err lane_open(struct lane *lane, cl_command_queue queue)
{
    memset(lane, 0, sizeof(*lane));
    lane->queue = queue;
    pthread_cond_init(&lane->work, NULL);
    enum ppu_err err = open_parts(lane);
    if (err != PPU_OK) {
        lane_close(lane);
    }
    return err;
}

void lane_close(struct lane *lane)
{
    if (lane->threaded) {
        pthread_join(lane->thread, NULL);
    }
    ppu_channel_destroy(lane->channel);
    ppu_stream_destroy(lane->stream);
    ppu_memory_free(lane->times);
    ppu_memory_free(lane->printed);
    pthread_cond_destroy(&lane->work);
}
