/* SPDX-License-Identifier: MIT */
/* Feeds the queues of queue tasks by work-items, and takes from them by work-groups (A6, A12; ppu/taskq.h). */
#include "enqueue/taskq.h"

#define ERROR_VALUE (-30) /* CL_INVALID_VALUE */

/* ---- producers ---- */

int LIBRARY ppu_push_entry(device_queue_t given, const void *data, uint bytes)
{
    task_queue_t queue = taskq_of(given);
    uint ticket = 0;

    if (queue == 0) {
        return ERROR_QUEUE;
    }
    if (bytes > queue->entry_bytes - sizeof(struct ppu_taskq_entry)) {
        return ERROR_VALUE;
    }
    int error = take_ticket(queue, &ticket);
    if (error != 0) {
        return error;
    }
    entry_t entry = entry_at(queue, ticket);
    entry->kind = PPU_TASKQ_DATA;
    entry->task = PPU_TASK_NULL;
    __builtin_memcpy((global uchar *)(entry + 1), data, bytes);
    publish(queue, entry, ticket);
    return 0;
}

int LIBRARY ppu_close_entries(device_queue_t given)
{
    task_queue_t queue = taskq_of(given);

    if (queue == 0) {
        return ERROR_QUEUE;
    }
    __opencl_atomic_fetch_or(ATOM(&queue->tail), PPU_TASKQ_CLOSED, memory_order_seq_cst, memory_scope_device);
    tell_taskq(queue);
    return 0;
}

/* ---- work-groups of the task ---- */

global void *LIBRARY ppu_entry_data(device_queue_t given)
{
    task_queue_t queue = taskq_of(given);
    entry_t entry = queue != 0 ? entry_at(queue, __ppu_sr(PPU_SR_TASKQ_POS)) : 0;

    return entry != 0 && load(&entry->kind) == PPU_TASKQ_DATA ? (global void *)(entry + 1) : 0;
}

/*
 * A block that was appended is a parked task (ppu/child.h) of nobody: it gets a parent here. One that may wait for its
 * children must not be parked on, since it keeps its record.
 */
int LIBRARY ppu_start_entry(device_queue_t given)
{
    task_queue_t queue = taskq_of(given);
    record_t own = own_record();

    if (queue == 0 || own == 0) {
        return ERROR_QUEUE;
    }
    if (__ppu_sr(PPU_SR_DEPTH) >= nest_of(own)->depth) {
        return ERROR_RESOURCES;
    }
    entry_t entry = entry_at(queue, __ppu_sr(PPU_SR_TASKQ_POS));
    if (load(&entry->kind) != PPU_TASKQ_PARKED) {
        return ERROR_OPERATION;
    }
    record_t parked = (record_t)*(global ulong *)(entry + 1);
    global struct ppu_nest *nest = nest_of(own);
    bool keeps = keeps_record(false, parked->tmd.flags);
    ppu_task_t task = take_record(nest, keeps ? spare_of(nest) : spare_of(nest) / 2);
    if (task == 0 && keeps) {
        return ERROR_FULL;
    }
    entry->kind = PPU_TASKQ_NOTHING;
    set_status(parked, PPU_TASK_NULL, root_of(own), keeper_of(own), PPU_STREAM_NONE);
    count_tasks(parked, 1);
    if (task != 0) {
        unpark(nest, parked, task, PPU_TASK_NULL);
    } else {
        park(parked);
    }
    return 0;
}

int LIBRARY ppu_free_entry(device_queue_t given)
{
    task_queue_t queue = taskq_of(given);
    uint number = __ppu_sr(PPU_SR_TASKQ_POS);

    if (queue == 0) {
        return ERROR_QUEUE;
    }
    __opencl_atomic_store(ATOM(&entry_at(queue, number)->sequence), (number + queue->entries) & PPU_TASKQ_TICKET_MASK,
                          memory_order_release, memory_scope_device);
    return 0;
}
