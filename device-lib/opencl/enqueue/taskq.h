/* SPDX-License-Identifier: MIT */
/* Appends entries to the queues of queue tasks (A12; ppu/taskq.h). */
#ifndef DEVICE_LIB_OPENCL_ENQUEUE_TASKQ_H
#define DEVICE_LIB_OPENCL_ENQUEUE_TASKQ_H

#include "launch.h"
#include "ppu/taskq.h"

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
INLINE void tell_taskq(task_queue_t queue)
{
    __ppu_fence(PPU_ORDER_SEQ_CST, PPU_SCOPE_OF_DEVICE);
    uint task = exchange(&queue->armed, PPU_TASK_NULL);
    if (task != PPU_TASK_NULL) {
        __ppu_request(task, task);
    }
}

/* The entry has been filled: its kind, and what it holds. */
INLINE void publish(task_queue_t queue, entry_t entry, uint ticket)
{
    __opencl_atomic_store(ATOM(&entry->sequence), (ticket + 1) & PPU_TASKQ_TICKET_MASK, memory_order_release,
                          memory_scope_device);
    tell_taskq(queue);
}

#endif
