/* SPDX-License-Identifier: MIT */
#include "demo/user.h"

#include <stdio.h>
#include <stdlib.h>

#include "demo/report.h"

void user_open(struct user *user, struct ppu_device *device, const char *image)
{
    struct ppu_error error;

    user->device = device;
    need(ppu_context_create(device, &user->context), "an address space");
    need(ppu_channel_create(user->context, NULL, &user->channel), "a channel");
    need(ppu_stream_create(user->channel, &user->stream), "a stream");
    if (ppu_program_load_file(user->context, image, &user->program, &error) != PPU_OK) {
        need(error.code, error.text);
    }
}

void user_close(struct user *user)
{
    need(ppu_stream_destroy(user->stream), "the stream's end");
    need(ppu_channel_destroy(user->channel), "the channel's end");
    need(ppu_program_unload(user->program), "the program's end");
    need(ppu_context_destroy(user->context), "the address space's end");
}

const struct ppu_kernel *user_kernel(const struct user *user, const char *name)
{
    const struct ppu_kernel *kernel = NULL;

    need(ppu_kernel_find(user->program, name, &kernel), name);
    return kernel;
}

struct ppu_memory *user_memory(const struct user *user, enum ppu_memory_kind kind, uint64_t bytes)
{
    struct ppu_memory *memory = NULL;

    need(ppu_memory_create(user->context, kind, bytes, &memory), "memory");
    return memory;
}

uint64_t user_va(const struct user *user, const struct ppu_memory *memory)
{
    return ppu_memory_va(memory, user->context).va;
}

enum ppu_err user_run(const struct user *user, const struct ppu_kernel *kernel, const struct ppu_launch *launch)
{
    struct ppu_event event;
    enum ppu_err err = ppu_stream_launch(user->stream, kernel, launch, &event);

    return err == PPU_OK ? ppu_event_wait(&event, DEMO_WAIT_NS) : err;
}

const char *user_reason(const struct user *user, enum ppu_err err)
{
    static struct ppu_error error;
    struct ppu_why why;

    if (ppu_channel_error(user->channel, &error) != PPU_OK) {
        return error.text;
    }
    if (err != PPU_ERR_TIMEOUT || ppu_channel_why(user->channel, &why) != PPU_OK) {
        return ppu_error_text(err);
    }
    snprintf(error.text, sizeof(error.text), "%s: its channel %s", ppu_error_text(err), why.text);
    return error.text;
}
