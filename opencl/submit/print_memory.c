/* SPDX-License-Identifier: MIT */
#include "opencl/submit/print_memory.h"

#include <stdlib.h>

#include "opencl/api/queue.h"
#include "opencl/submit/printf.h"

static struct print_memory *take_idle(struct print_memories *memories, uint32_t bytes)
{
    struct print_memory **link = &memories->idle;

    while (*link && ppu_memory_bytes((*link)->memory) < bytes) {
        link = &(*link)->next;
    }
    struct print_memory *taken = *link;
    if (taken) {
        *link = taken->next;
    }
    return taken;
}

void print_memories_free(struct print_memories *memories)
{
    while (memories->idle) {
        struct print_memory *memory = memories->idle;

        memories->idle = memory->next;
        ppu_memory_free(memory->memory);
        free(memory);
    }
}

static enum ppu_err make(struct ppu_context *space, uint32_t bytes, struct print_memory **made)
{
    struct print_memory *memory = calloc(1, sizeof(*memory));
    enum ppu_err err = memory ? ppu_memory_create(space, PPU_MEMORY_VRAM, bytes, &memory->memory) : PPU_ERR_NO_MEMORY;

    if (err != PPU_OK) {
        free(memory);
        return err;
    }
    printf_begin(ppu_memory_host(memory->memory));
    *made = memory;
    return PPU_OK;
}

enum ppu_err print_memory_take(struct print_memories *memories, struct ppu_context *space, uint32_t bytes,
                               struct print_memory **taken)
{
    enum ppu_err err = PPU_OK;

    *taken = take_idle(memories, bytes);
    if (!*taken) {
        err = make(space, bytes, taken);
    }
    if (err != PPU_OK && memories->idle) { /* all of it is too small */
        print_memories_free(memories);
        err = make(space, bytes, taken);
    }
    memories->lent += err == PPU_OK;
    if (err != PPU_OK && memories->lent > 0) {
        return PPU_ERR_BUSY;
    }
    return err == PPU_ERR_BUSY ? PPU_ERR_NO_MEMORY : err;
}

void print_memory_give(struct print_memories *memories, struct print_memory *given)
{
    given->next = memories->idle;
    memories->idle = given;
    memories->lent--;
    while (memories->waiting) {
        cl_command_queue queue = memories->waiting;

        memories->waiting = queue->next_printing;
        queue_look_again(queue);
    }
}

void print_memories_await(struct print_memories *memories, cl_command_queue queue)
{
    print_memories_forget(memories, queue); /* it may wait already */
    queue->next_printing = memories->waiting;
    memories->waiting = queue;
}

void print_memories_forget(struct print_memories *memories, cl_command_queue queue)
{
    cl_command_queue *link = &memories->waiting;

    while (*link && *link != queue) {
        link = &(*link)->next_printing;
    }
    if (*link) {
        *link = queue->next_printing;
    }
}
