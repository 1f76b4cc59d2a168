/* SPDX-License-Identifier: MIT */
#include "opencl/submit/task_queue.h"

#include "opencl/submit/device_queue.h"

/* The channel is its own: what waits in a command queue's channel would hold up what tells the kernel of entries. */
cl_int task_queue_add(cl_command_queue queue, uint32_t entry_bytes, uint32_t entries)
{
    struct ppu_context *ppu = queue->context->ppus[queue->ppu_index];
    const struct ppu_taskq_options options = { .entries = entries, .data_bytes = entry_bytes };
    enum ppu_err err = ppu_channel_create(ppu, NULL, &queue->feeder);

    if (err == PPU_OK) {
        err = ppu_taskq_create(ppu, &options, &queue->taskq);
    }
    if (err != PPU_OK) {
        ppu_channel_destroy(queue->feeder);
        queue->feeder = NULL;
        return device_error(err);
    }
    queue->device_va = ppu_taskq_va(queue->taskq).va;
    return CL_SUCCESS;
}

void task_queue_remove(cl_command_queue queue)
{
    ppu_channel_destroy(queue->feeder);
    ppu_taskq_destroy(queue->taskq);
}

cl_int task_queue_take(cl_command_queue tasks)
{
    if (__atomic_exchange_n(&tasks->taken, true, __ATOMIC_ACQ_REL)) {
        return CL_INVALID_OPERATION;
    }
    enum ppu_err err = tasks->served ? ppu_taskq_reopen(tasks->taskq) : PPU_OK;
    if (err != PPU_OK) {
        __atomic_store_n(&tasks->taken, false, __ATOMIC_RELEASE);
        return device_error(err);
    }
    tasks->served = false;
    return CL_SUCCESS;
}

void task_queue_leave(cl_command_queue tasks, bool ran)
{
    tasks->served = ran;
    __atomic_store_n(&tasks->taken, false, __ATOMIC_RELEASE);
}

static bool is_task_queue(cl_command_queue queue)
{
    return object_is(queue, OBJECT_queue) && queue->taskq;
}

static cl_int fed(enum ppu_err err)
{
    return err == PPU_ERR_BUSY ? CL_OUT_OF_RESOURCES : err == PPU_ERR_CLOSED ? CL_INVALID_OPERATION : device_error(err);
}

cl_int CL_API_CALL clPushTaskQueuePPU(cl_command_queue tasks, const void *data, size_t bytes)
{
    if (!is_task_queue(tasks)) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    if ((!data && bytes != 0) || bytes > tasks->entry_bytes) {
        return CL_INVALID_VALUE;
    }
    return fed(ppu_taskq_push(tasks->taskq, tasks->feeder, data, (uint32_t)bytes));
}

cl_int CL_API_CALL clCloseTaskQueuePPU(cl_command_queue tasks)
{
    return is_task_queue(tasks) ? fed(ppu_taskq_close(tasks->taskq, tasks->feeder)) : CL_INVALID_COMMAND_QUEUE;
}
