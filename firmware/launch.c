/* SPDX-License-Identifier: MIT */
#include "launch.h"

#include <string.h>

#include "context.h"
#include "dma.h"
#include "hal.h"
#include "machine.h"
#include "stats.h"
#include "tmd.h"
#include "tmdq.h"
#include "tmu.h"
#include "trace.h"
#include "wdu.h"

static FW_DMA struct ppu_tmd fetched;
static struct list_node ended; /* tasks in state ENDED */

void launch_init(void)
{
    list_init(&ended);
}

static enum launch_result refuse(enum ppu_fault fault, uint64_t at, uint16_t *code, uint64_t *payload)
{
    *code = (uint16_t)fault;
    *payload = at;
    return LAUNCH_FAULT;
}

/* Fetches the TMD once; what is checked is what runs. */
static enum launch_result fetch_tmd(uint32_t context, ppu_va_t tmd, uint16_t *code, uint64_t *payload)
{
    if (tmd.va % PPU_TMD_ALIGN) {
        return refuse(PPU_FAULT_TMD_ALIGN, tmd.va, code, payload);
    }
    if (dma_fetch(context, tmd, &fetched, sizeof(fetched))) {
        return refuse(PPU_FAULT_TMD_MEMORY, dma_failure().address, code, payload);
    }
    struct tmd_verdict verdict = tmd_check(&fetched);
    if (verdict.code) {
        return refuse(verdict.code, verdict.offset, code, payload);
    }
    return LAUNCH_ACCEPTED;
}

static uint8_t capped_priority(const struct channel *channel)
{
    return fetched.priority < channel->priority ? fetched.priority : channel->priority;
}

/* Fills in the record and what only the firmware may say, and stores the TMD copy where the device runs it from. */
static void record_task(struct task *task, const struct channel *channel, uint32_t stream, uint32_t correlation)
{
    task->priority = capped_priority(channel);
    task->head = fetched.flags & PPU_TMD_HEAD;
    task->group = channel->context;
    task->stream = stream;
    task->correlation = fetched.correlation ? fetched.correlation : correlation;

    fetched.priority = task->priority;
    fetched.correlation = task->correlation;
    fetched.context = channel->context;
    fetched.task = task->handle;
    fetched.channel = channel_index(channel);
    fetched.params_vram = task_params_place(task).off;
    memcpy(task_tmd(task), &fetched, sizeof(fetched));

    struct ppu_task_status *status = task_status(task);
    status->task = task->handle;
    status->group = task->group;
}

static void end_without_slot(struct task *task)
{
    task_enter(task, TASK_ENDED);
    list_push_back(&ended, &task->queue);
}

/* Everything before it in its TMDQ has completed. */
static void start(struct task *task)
{
    if (task->fault) {
        end_without_slot(task);
    } else {
        tmu_insert(task);
    }
}

static void leave_channel(struct task *task)
{
    if (task->channel) {
        channel_remove_task(task->channel, task);
    }
}

/*
 * The words of a TMDQ were written over. Its order is lost: the TMDQ becomes empty, the tasks that waited in it end
 * with a fault, and those that run complete without it. Looks at every record; only a context that harmed itself comes
 * here.
 */
static void rebuild_tmdq(uint32_t group, uint32_t stream)
{
    tmdq_clear(group, stream);
    for (uint32_t i = 0; i < layout.tasks; i++) {
        struct task *task = task_at(i);
        if (task->state == TASK_FREE || task->group != group || task->stream != stream) {
            continue;
        }
        task->stream = PPU_STREAM_NONE;
        if (task->state == TASK_LINKING) {
            task_free(task);
        } else if (task->state == TASK_HELD) {
            struct ppu_error_record record = { .code = PPU_FAULT_BAD_START,
                                               .address = task->handle,
                                               .correlation = task->correlation };
            struct channel *channel = task->channel;
            task->fault = PPU_FAULT_BAD_START;
            leave_channel(task);
            end_without_slot(task);
            if (channel) {
                channel_fail(channel, &record);
            }
        }
    }
}

static void append(struct task *task)
{
    switch (tmdq_append(task)) {
    case TMDQ_FIRST:
        start(task);
        wdu_dispatch();
        break;
    case TMDQ_BEHIND:
        break;
    case TMDQ_APPEND_BROKEN:
        rebuild_tmdq(task->group, task->stream);
        break;
    }
}

enum launch_result launch_task(struct channel *channel, ppu_va_t tmd, uint32_t stream, uint32_t correlation,
                               uint16_t *code, uint64_t *payload)
{
    enum launch_result result = fetch_tmd(channel->context, tmd, code, payload);
    if (result != LAUNCH_ACCEPTED) {
        return result;
    }
    struct task *task = machine_allows_allocation() ? task_new() : NULL;
    if (!task) {
        return LAUNCH_NO_RECORD;
    }
    if (fetched.param_bytes && dma_fetch_to_vram(channel->context, (ppu_va_t){ fetched.param_va },
                                                 task_params_place(task), fetched.param_bytes)) {
        task_free(task);
        return refuse(PPU_FAULT_TMD_PARAM, offsetof(struct ppu_tmd, param_va), code, payload);
    }
    record_task(task, channel, stream, correlation);
    channel_add_task(channel, task);
    context_add_task(task->group);
    uint32_t handle = task->handle;
    uint32_t launched = task->correlation;
    append(task);
    trace_write(PPU_TRACE_LAUNCH, launched, channel_index(channel), handle, stream);
    return LAUNCH_ACCEPTED;
}

/* The order matters: first the TMDQ and the next task, then whoever waits for this one (B6). */
void launch_complete(struct task *task)
{
    struct task *next = NULL;
    enum tmdq_complete_result result = tmdq_complete(task, &next);
    if (result == TMDQ_NEXT) {
        start(next);
    }
    wdu_dispatch();

    uint32_t group = task->group;
    stats_count(PPU_KEY_COMPLETIONS);
    trace_write(PPU_TRACE_TASK_END, task->correlation, task->handle, task->slot, task->fault);
    leave_channel(task);
    uint32_t stream = task->stream;
    task_free(task);
    /* Only this thread launches into the TMDQs of channels: nobody is between the two steps of B4, none can be pending.
     */
    if (result == TMDQ_COMPLETE_BROKEN || result == TMDQ_PENDING) {
        rebuild_tmdq(group, stream);
    }
    channel_provide(CHANNEL_NEEDS_RECORD);
    context_remove_task(group);
}

void launch_cancel(struct task *task, uint16_t fault)
{
    if (task->state == TASK_RUNNING) {
        task->fault = fault;
        wdu_kill(task);
    } else if (task->state == TASK_HELD) {
        task->fault = fault;
        leave_channel(task);
    } else if (task->state == TASK_READY) {
        task->fault = fault;
        tmu_remove(task);
        end_without_slot(task);
        leave_channel(task);
    }
}

bool launch_complete_ended(uint32_t most)
{
    for (uint32_t i = 0; i < most && !list_empty(&ended); i++) {
        launch_complete(LIST_OBJECT(list_take_front(&ended), struct task, queue));
    }
    return !list_empty(&ended);
}
