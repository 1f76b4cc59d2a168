/* SPDX-License-Identifier: MIT */
#include "opencl/submit/submitter.h"
#include "opencl/api/footprint.h"

#include <stdlib.h>
#include <string.h>

#include "opencl/api/allocation.h"
#include "opencl/api/host_clock.h"
#include "opencl/api/marks.h"
#include "opencl/api/queue.h"
#include "opencl/api/record.h"
#include "opencl/submit/print_memory.h"
#include "opencl/submit/printf.h"
#include "opencl/submit/sanitizer.h"
#include "opencl/submit/service_thread.h"
#include "opencl/submit/warm_up.h"
#include "ppu/macros.h"
#include "ppu/sem.h"

#define ENTRIES (2u * SUBMITTER_DEPTH)
/* The device ends what runs too long; this only says how often the program is told that it waits. */
#define NOTICE_S 60.0 /* unless PPU_WAIT_NOTICE says otherwise */
#define NOTICE_MOST_S 86400.0

struct times {
    struct ppu_sem begin, end;
};

static bool wants_times(const struct submitter *submitter)
{
    return (submitter->queue->properties & CL_QUEUE_PROFILING_ENABLE) != 0;
}

struct ppu_context *submitter_space(const struct submitter *submitter)
{
    return submitter->queue->context->ppus[submitter->queue->ppu_index];
}

/* ---- to the device ---- */

bool submitter_takes(const struct submitter *submitter, const struct _cl_event *event)
{
    return submitter->count < SUBMITTER_DEPTH && !submitter->failing &&
           (!event->work.prints.view || !submitter->printing);
}

/* Zeros again, where launches before have noted anything. */
static void clear_cells(struct ppu_sanitizer_cells *cells)
{
    const size_t row_bytes = PPU_SANITIZER_ROW_CELLS * sizeof(uint64_t);
    uint64_t *const columns[] = { cells->key,        cells->write,  cells->read,
                                  cells->other_read, cells->update, cells->other_update };

    for (uint32_t row = 0; row < PPU_SANITIZER_CELL_ROWS; row++) {
        for (size_t i = 0; i < PPU_ARRAY_SIZE(columns) && cells->used[row] != 0; i++) {
            memset(columns[i] + (size_t)row * PPU_SANITIZER_ROW_CELLS, 0, row_bytes);
        }
        cells->used[row] = 0;
    }
    if (cells->numbers != 0) {
        memset(cells->streams, 0, sizeof(cells->streams));
        memset(cells->node, 0, sizeof(cells->node));
    }
    cells->numbers = 0;
    cells->acquired = 0;
}

/* What a kernel that checks itself finds behind its buffer. */
static void write_tables(const struct submitter *submitter, cl_event event)
{
    uint8_t *printed = ppu_memory_host(submitter->printed->memory);

    if (event->work.prints.tables != 0) {
        allocation_ranges(event->context, printf_ranges((struct ppu_printf_buffer *)(void *)printed));
    }
    if ((event->work.prints.tables & PPU_SANITIZER_HAS_MARKED) != 0) {
        marks_table(event->context, printf_ranges((struct ppu_printf_buffer *)(void *)printed));
    }
    if ((event->work.prints.tables & PPU_SANITIZER_HAS_CELLS) != 0) {
        clear_cells((struct ppu_sanitizer_cells *)(void *)(printed + PRINTF_CELLS_AT));
    }
}

static struct print_memories *print_memories(const struct submitter *submitter)
{
    return &submitter->queue->context->print_memories[submitter->queue->ppu_index];
}

bool submitter_prepare(struct submitter *submitter, cl_event event)
{
    const uint32_t tables = event->work.prints.tables;
    const uint32_t bytes = (tables & PPU_SANITIZER_HAS_CELLS) != 0 ? PRINTF_CELLS_AT + PRINTF_CELLS_BYTES
                           : tables != 0                           ? PRINTF_CELLS_AT
                                                                   : PRINTF_BUFFER_BYTES;
    enum ppu_err err = PPU_OK;

    if (event->work.prints.view) {
        err = print_memory_take(print_memories(submitter), submitter_space(submitter), bytes, &submitter->printed);
    }
    if (err == PPU_ERR_BUSY) {
        print_memories_await(print_memories(submitter), submitter->queue);
    }
    return err != PPU_ERR_BUSY;
}

/* What submitter_prepare() got; it may have got nothing. */
static enum ppu_err begin_printing(struct submitter *submitter, cl_event event)
{
    if (!submitter->printed) {
        return PPU_ERR_NO_MEMORY;
    }
    event->work.printf_va = ppu_memory_va(submitter->printed->memory, submitter_space(submitter)).va;
    write_tables(submitter, event);
    submitter->printing = event;
    return PPU_OK;
}

/* The command prints no more, if it did. */
static void end_printing(struct submitter *submitter, const struct _cl_event *event)
{
    if (submitter->printing == event) {
        print_memory_give(print_memories(submitter), submitter->printed);
        submitter->printed = NULL;
        submitter->printing = NULL;
    }
}

static enum ppu_err submit_command(struct submitter *submitter, cl_event event, uint32_t index)
{
    uint64_t times_va = ppu_memory_va(submitter->times, submitter_space(submitter)).va + index * sizeof(struct times);
    struct ppu_block *block = NULL;
    enum ppu_err err = ppu_block_begin(submitter->channel, &block);

    if (err != PPU_OK) {
        return err;
    }
    if (wants_times(submitter)) {
        ppu_block_release(block, (ppu_va_t){ times_va + offsetof(struct times, begin) }, 0, true);
    }
    event->work.build(event, block, submitter->stream);
    ppu_block_wait_idle(block);
    if (wants_times(submitter)) {
        ppu_block_release(block, (ppu_va_t){ times_va + offsetof(struct times, end) }, 0, true);
    }
    record_block(event, block);
    return ppu_block_submit(block, &event->done);
}

void submitter_issue(struct submitter *submitter, cl_event event)
{
    uint32_t index = (submitter->first + submitter->count) % SUBMITTER_DEPTH;

    event_reach(event, CL_SUBMITTED);
    event->issued_ns = host_clock_ns();
    if (wants_times(submitter)) {
        event->time_ns[TIME_SUBMIT] = ppu_device_time_ns(submitter->queue->device->ppu);
    }
    enum ppu_err err = submitter->broken ? PPU_ERR_DEVICE_LOST : PPU_OK;
    if (event->work.prints.view) {
        const enum ppu_err printing = begin_printing(submitter, event);
        err = err == PPU_OK ? printing : err;
    }
    if (err == PPU_OK && event->work.prepare) {
        err = event->work.prepare(event, submitter_space(submitter));
    }
    if (err == PPU_OK) {
        err = submit_command(submitter, event, index);
    }
    if (err != PPU_OK) {
        end_printing(submitter, event);
        event_end(event, device_error(err));
        return;
    }
    event->flight_index = index;
    event->submitter = submitter;
    submitter->flight[index] = event;
    submitter->count++;
    event_issued(event);
    pthread_cond_signal(&submitter->work);
}

/* ---- and back ---- */

/*
 * Without the lock, of a command that runs no more: prints, and tells the program's callback. Whoever waits for the
 * command is told after that, so that a program that has waited has all reports.
 */
static void tell_prints(struct submitter *submitter, cl_event event)
{
    cl_context context = submitter->queue->context;
    char *reports = NULL;
    uint8_t *const printed = ppu_memory_host(submitter->printed->memory);
    const char *lost = printf_end((struct ppu_printf_buffer *)(void *)printed, &event->work.prints, &reports);
    footprint_compare(event, (const struct ppu_sanitizer_cells *)(const void *)(printed + PRINTF_CELLS_AT), &reports);
    sanitizer_tell(context, reports);
    if (lost) {
        context_notify(context, "printf", lost);
    }
}

/*
 * Without the lock: whoever is told that the command has ended finds what it used given back, such as a kernel that
 * keeps its program from being built.
 */
static void finish_event(struct submitter *submitter, cl_event event)
{
    const struct times *times = ppu_memory_host(submitter->times);
    uint64_t now_ns = host_clock_ns();

    event->took_ns = now_ns - PPU_MAX(event->issued_ns, submitter->ended_ns);
    submitter->ended_ns = now_ns;
    if (wants_times(submitter)) {
        event->time_ns[TIME_START] = times[event->flight_index].begin.time_ns;
        event->time_ns[TIME_END] = times[event->flight_index].end.time_ns;
    }
    work_drop(&event->work);
}

static void land(struct submitter *submitter, cl_int status)
{
    cl_event event = submitter->flight[submitter->first];

    end_printing(submitter, event);
    submitter->first = (submitter->first + 1) % SUBMITTER_DEPTH;
    submitter->count--;
    event_end(event, status);
}

/*
 * With the lock, which it gives away while it tells what was printed: the first command in flight has done wrong, and
 * those behind it were never begun.
 */
static void fail_all(struct submitter *submitter, enum ppu_err err)
{
    cl_context context = submitter->queue->context;
    cl_command_queue workq = submitter->queue->filled;
    bool again = !workq || ppu_workq_reset(workq->workq) == PPU_OK;

    submitter->broken = ppu_channel_reset(submitter->channel) != PPU_OK || !again;
    if (submitter->printing) {
        submitter->failing = true;
        pthread_mutex_unlock(&context->lock);
        tell_prints(submitter, submitter->printing);
        pthread_mutex_lock(&context->lock);
        submitter->failing = false;
    }
    cl_int status = device_error(err);
    for (uint32_t left = submitter->count; left > 0; left--) {
        land(submitter, status);
        status = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    }
}

/* A word that is no number of seconds changes nothing. */
static uint64_t notice_time(void)
{
    const char *text = secure_getenv("PPU_WAIT_NOTICE");
    char *end = NULL;
    double wanted_s = text ? strtod(text, &end) : 0;
    bool is_number = text && end != text && *end == 0 && wanted_s > 0 && wanted_s <= NOTICE_MOST_S;

    return (uint64_t)((is_number ? wanted_s : NOTICE_S) * 1e9);
}

enum ppu_err submitter_wait(const struct submitter *submitter, const struct _cl_event *event,
                            const struct ppu_event *done)
{
    struct ppu_error error;
    enum ppu_err err = ppu_event_wait(done, submitter->notice_ns);

    while (err == PPU_ERR_TIMEOUT && ppu_channel_error(submitter->channel, NULL) == PPU_OK) {
        if (ppu_event_error(done, &error) == PPU_ERR_TIMEOUT) {
            context_notify(submitter->queue->context, event_command_name(event), error.text);
        }
        err = ppu_event_wait(done, submitter->notice_ns);
    }
    return err;
}

static void await_first(struct submitter *submitter)
{
    cl_context context = submitter->queue->context;
    cl_event event = submitter->flight[submitter->first];
    const struct ppu_event done = event->done;
    bool prints = submitter->printing == event;
    struct ppu_error error;

    pthread_mutex_unlock(&context->lock);
    enum ppu_err err = submitter_wait(submitter, event, &done);
    if (err != PPU_OK) {
        enum ppu_err told = ppu_channel_error(submitter->channel, &error);
        context_notify(context, event_command_name(event), told != PPU_OK ? error.text : ppu_error_text(err));
    }
    if (err == PPU_OK && prints) {
        tell_prints(submitter, event);
    }
    if (err == PPU_OK) {
        finish_event(submitter, event);
    }
    pthread_mutex_lock(&context->lock);
    if (err == PPU_OK) {
        land(submitter, CL_COMPLETE);
    } else {
        fail_all(submitter, err);
    }
    context_unlock_and_dispatch(context);
    pthread_mutex_lock(&context->lock);
}

static void *serve_submitter(void *opaque)
{
    struct submitter *submitter = opaque;
    cl_command_queue queue = submitter->queue;

    service_thread_excuse();
    pthread_mutex_lock(&queue->context->lock);
    while (!queue->stopping || submitter->count > 0) {
        if (submitter->count > 0) {
            await_first(submitter);
        } else {
            pthread_cond_wait(&submitter->work, &queue->context->lock);
        }
    }
    pthread_mutex_unlock(&queue->context->lock);
    return NULL;
}

/* ---- life ---- */

static enum ppu_err open_objects(struct submitter *submitter)
{
    const struct ppu_channel_options options = { .entries = ENTRIES, .priority = queue_level(submitter->queue) };
    struct ppu_context *context = submitter_space(submitter);
    enum ppu_err err = ppu_channel_create(context, &options, &submitter->channel);

    if (err == PPU_OK) {
        err = ppu_stream_create(submitter->channel, &submitter->stream);
    }
    if (err == PPU_OK) {
        err = ppu_memory_create(context, PPU_MEMORY_VRAM, SUBMITTER_DEPTH * sizeof(struct times), &submitter->times);
    }
    if (err == PPU_OK) {
        submitter->warm_up = warm_up(submitter);
        submitter->threaded = pthread_create(&submitter->thread, NULL, serve_submitter, submitter) == 0;
        err = submitter->threaded ? PPU_OK : PPU_ERR_NO_MEMORY;
    }
    return err;
}

enum ppu_err submitter_open(struct submitter *submitter, cl_command_queue queue)
{
    memset(submitter, 0, sizeof(*submitter));
    submitter->queue = queue;
    submitter->notice_ns = notice_time();
    pthread_cond_init(&submitter->work, NULL);
    enum ppu_err err = open_objects(submitter);
    if (err != PPU_OK) {
        submitter_close(submitter);
    }
    return err;
}

void submitter_close(struct submitter *submitter)
{
    if (submitter->threaded) {
        pthread_join(submitter->thread, NULL);
    }
    ppu_channel_destroy(submitter->channel);
    ppu_stream_destroy(submitter->stream);
    ppu_program_unload(submitter->warm_up);
    ppu_memory_free(submitter->times);
    pthread_cond_destroy(&submitter->work);
}
