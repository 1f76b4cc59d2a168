/* SPDX-License-Identifier: MIT */
/* Feeds the queues of queue tasks by work-items, and takes from them by work-groups (A6, A12; ppu/taskq.h). */
#include "enqueue/launch.h"
#include "ppu/taskq.h"

#define ERROR_VALUE (-30)     /* CL_INVALID_VALUE */
#define ERROR_OPERATION (-59) /* CL_INVALID_OPERATION */
#define QUEUE_ALIGN 64u

typedef global struct ppu_taskq_head *task_queue_t;
typedef global struct ppu_taskq_entry *entry_t;

/* NULL: it is no task queue. */
INLINE task_queue_t taskq_of(device_queue_t given)
{
    bool is = given != 0 && (ulong)given % QUEUE_ALIGN == 0 && given->head.version == PPU_TASKQ_VERSION &&
              given->head.size_bytes == sizeof(struct ppu_taskq_head);

    return is ? (task_queue_t)given : 0;
}

INLINE entry_t entry_at(task_queue_t queue, uint number)
{
    return (entry_t)((ulong)(queue + 1) + (ulong)(number & (queue->entries - 1)) * queue->entry_bytes);
}

/* ---- producers ---- */

/* Takes the next ticket, when its cell is free; 0 or an error. Pairs with who frees the cell. */
INLINE int take_ticket(task_queue_t queue, private uint *ticket)
{
    for (;;) {
        uint tail = load(&queue->tail);
        *ticket = PPU_TASKQ_TICKET(tail);
        if ((tail & PPU_TASKQ_CLOSED) != 0) {
            return ERROR_OPERATION;
        }
        if (load(&entry_at(queue, *ticket)->sequence) != *ticket) {
            if (load(&queue->tail) == tail) {
                return ERROR_FULL;
            }
        } else if (replace(&queue->tail, tail, tail + 2)) {
            return 0;
        }
    }
}

/* Tells the task that waits to be told. Pairs with the firmware's fence between arming and looking. */
INLINE void tell(task_queue_t queue)
{
    __ppu_fence(PPU_ORDER_SEQ_CST, PPU_SCOPE_OF_DEVICE);
    uint task = exchange(&queue->armed, PPU_TASK_NULL);
    if (task != PPU_TASK_NULL) {
        __ppu_request(task, task);
    }
}

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
    __opencl_atomic_store(ATOM(&entry->sequence), (ticket + 1) & PPU_TASKQ_TICKET_MASK, memory_order_release,
                          memory_scope_device);
    tell(queue);
    return 0;
}

int LIBRARY ppu_close_entries(device_queue_t given)
{
    task_queue_t queue = taskq_of(given);

    if (queue == 0) {
        return ERROR_QUEUE;
    }
    __opencl_atomic_fetch_or(ATOM(&queue->tail), PPU_TASKQ_CLOSED, memory_order_seq_cst, memory_scope_device);
    tell(queue);
    return 0;
}

/* ---- work-groups of the task ---- */

global void *LIBRARY ppu_entry_data(device_queue_t given)
{
    task_queue_t queue = taskq_of(given);

    return queue != 0 ? (global void *)(entry_at(queue, __ppu_sr(PPU_SR_TASKQ_POS)) + 1) : 0;
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
