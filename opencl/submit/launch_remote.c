/* SPDX-License-Identifier: MIT */
/*
 * Launches kernels on the other devices of a context. Each buffer lies on the first device; another one sees a copy for
 * the time of a launch. What an argument names is copied back, and nothing else, so that two devices may work on parts
 * of one buffer at the same time. The other device copies by itself, over the bus, where it reaches the first one's
 * VRAM; else this thread does.
 */
#include <stdlib.h>
#include <string.h>

#include "opencl/api/buffer.h"
#include "opencl/api/host_clock.h"
#include "opencl/api/image.h"
#include "opencl/api/queue.h"
#include "opencl/submit/launch.h"
#include "opencl/submit/printf.h"
#include "opencl/submit/sanitizer.h"

/* The device ends what runs too long; this only says how often a waiter looks at the clock. */

#define MOST_DIRECT 48u /* arguments whose copies, there and back, have room in the block of the launch */

/* A buffer as the other device sees it. */
struct copy {
    cl_mem root; /* not a sub-buffer */
    struct ppu_memory *there;
    struct ppu_memory *home; /* where it lies, as the other device reaches it; NULL: it does not */
    uint64_t home_va;
};

struct remote_launch {
    cl_event event;
    cl_command_queue queue;
    struct launch *launch;
    struct ppu_context *space;
    struct copy *copies;
    uint32_t count;
    struct ppu_memory **surfaces; /* descriptors of images, which name the copies */
    uint32_t surface_count;
    struct ppu_memory *printed; /* NULL: the kernel does not print */
};

static uint8_t *host_of(const struct copy *copy)
{
    return ppu_memory_host(copy->there);
}

/* ---- there and back ---- */

static struct copy *find_copy(const struct remote_launch *remote, cl_mem memory)
{
    uint32_t i = 0;

    while (i < remote->count && remote->copies[i].root != memory_root(memory)) {
        i++;
    }
    return &remote->copies[i];
}

/* Memory that the other device cannot reach is no error. */
static enum ppu_err find_home(const struct remote_launch *remote, struct copy *copy)
{
    struct ppu_device *other = remote->event->context->devices[remote->queue->ppu_index]->ppu;
    ppu_va_t va;

    if (!copy->root->own || remote->launch->memories > MOST_DIRECT ||
        ppu_memory_of_peer(other, copy->root->own, &copy->home) != PPU_OK) {
        copy->home = NULL;
        return PPU_OK;
    }
    enum ppu_err err = ppu_memory_map(copy->home, remote->space, 0, &va);
    if (err == PPU_OK) {
        copy->home_va = va.va + (uint64_t)(copy->root->at - (uint8_t *)ppu_memory_host(copy->root->own));
    }
    return err;
}

/* From the address of an image's texels to that of a descriptor of them. */
static enum ppu_err describe_there(struct remote_launch *remote, const struct image *image, uint64_t *va)
{
    struct ppu_memory *memory = NULL;
    const struct ppu_surface surface = image_surface(image, *va);
    enum ppu_err err = ppu_memory_create(remote->space, PPU_MEMORY_VRAM, sizeof(surface), &memory);

    if (err == PPU_OK) {
        memcpy(ppu_memory_host(memory), &surface, sizeof(surface));
        remote->surfaces[remote->surface_count++] = memory;
        *va = ppu_memory_va(memory, remote->space).va;
    }
    return err;
}

/* Arguments that are parts of one buffer share its copy. */
static enum ppu_err take_there(struct remote_launch *remote, const struct launch_memory *argument)
{
    struct copy *copy = find_copy(remote, argument->memory);
    cl_mem root = memory_root(argument->memory);
    enum ppu_err err = PPU_OK;

    if (copy == &remote->copies[remote->count]) {
        copy->root = root;
        err = ppu_memory_create(remote->space, PPU_MEMORY_VRAM, root->bytes, &copy->there);
        if (err != PPU_OK) {
            return err;
        }
        remote->count++;
        err = find_home(remote, copy);
        if (err != PPU_OK) {
            return err;
        }
        if (!copy->home) {
            memcpy(host_of(copy), root->at, root->bytes);
        }
    }
    uint64_t va = ppu_memory_va(copy->there, remote->space).va + argument->memory->origin;
    if (argument->memory->image) {
        err = describe_there(remote, argument->memory->image, &va);
    }
    memcpy(remote->launch->params + argument->offset, &va, sizeof(va));
    return err;
}

static uint64_t va_there(const struct remote_launch *remote, const struct copy *copy)
{
    return ppu_memory_va(copy->there, remote->space).va;
}

static void add_copies_there(const struct remote_launch *remote, struct ppu_block *block)
{
    for (uint32_t i = 0; i < remote->count; i++) {
        const struct copy *copy = &remote->copies[i];
        if (copy->home) {
            ppu_block_copy(block, (ppu_va_t){ va_there(remote, copy) }, (ppu_va_t){ copy->home_va }, copy->root->bytes);
        }
    }
    ppu_block_wait_idle(block);
}

static bool is_written(const struct launch_memory *argument)
{
    return !argument->constant && (argument->memory->flags & CL_MEM_READ_ONLY) == 0;
}

static void add_copies_back(const struct remote_launch *remote, struct ppu_block *block)
{
    for (uint32_t i = 0; i < remote->launch->memories; i++) {
        const struct launch_memory *argument = &remote->launch->memory[i];
        const struct copy *copy = find_copy(remote, argument->memory);
        const uint64_t origin = argument->memory->origin;
        if (is_written(argument) && copy->home) {
            ppu_block_copy(block, (ppu_va_t){ copy->home_va + origin }, (ppu_va_t){ va_there(remote, copy) + origin },
                           argument->memory->bytes);
        }
    }
    ppu_block_wait_idle(block);
}

static void take_back(const struct remote_launch *remote)
{
    for (uint32_t i = 0; i < remote->launch->memories; i++) {
        const struct launch_memory *argument = &remote->launch->memory[i];
        const struct copy *copy = find_copy(remote, argument->memory);
        if (is_written(argument) && !copy->home) {
            memcpy(argument->memory->at, host_of(copy) + argument->memory->origin, argument->memory->bytes);
        }
    }
}

/* Others may ask for the variant's name meanwhile. */
static void choose(struct remote_launch *remote)
{
    cl_event event = remote->event;
    char name[EVENT_VARIANT_BYTES] = "";

    event->work.prints = launch_choose(remote->launch, event->work.needs[0], remote->queue->ppu_index, name);
    pthread_mutex_lock(&event->context->lock);
    memcpy(event->work.variant, name, sizeof(name));
    pthread_mutex_unlock(&event->context->lock);
}

static enum ppu_err prepare(struct remote_launch *remote)
{
    enum ppu_err err = PPU_OK;

    remote->copies = calloc(remote->launch->memories + 1u, sizeof(remote->copies[0]));
    remote->surfaces = calloc(remote->launch->memories + 1u, sizeof(remote->surfaces[0]));
    if (!remote->copies || !remote->surfaces) {
        return PPU_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < remote->launch->memories && err == PPU_OK; i++) {
        err = take_there(remote, &remote->launch->memory[i]);
    }
    if (err == PPU_OK) {
        choose(remote);
        launch_enter(remote->event);
        err = launch_write_block(remote->launch, remote->space);
    }
    if (err == PPU_OK && remote->event->work.prints.view) {
        err = ppu_memory_create(remote->space, PPU_MEMORY_VRAM, PRINTF_BUFFER_BYTES, &remote->printed);
    }
    if (err == PPU_OK && remote->printed) {
        printf_begin(ppu_memory_host(remote->printed));
        remote->launch->launch.implicit.printf_va = ppu_memory_va(remote->printed, remote->space).va;
    }
    return err;
}

static void finish_remote(struct remote_launch *remote)
{
    for (uint32_t i = 0; i < remote->count; i++) {
        ppu_memory_free(remote->copies[i].there);
        ppu_memory_free(remote->copies[i].home);
    }
    for (uint32_t i = 0; i < remote->surface_count; i++) {
        ppu_memory_free(remote->surfaces[i]);
    }
    free(remote->copies);
    free(remote->surfaces);
    ppu_memory_free(remote->printed);
}

/* ---- the launch ---- */

/* The first submitter is this thread's: nothing else of such a queue runs on the device. */
static enum ppu_err run_remote(struct remote_launch *remote)
{
    struct submitter *submitter = &remote->queue->submitter[0];
    struct ppu_block *block = NULL;
    struct ppu_event done;
    enum ppu_err err = submitter->broken ? PPU_ERR_DEVICE_LOST : ppu_block_begin(submitter->channel, &block);

    if (err != PPU_OK) {
        return err;
    }
    uint64_t begin_ns = host_clock_ns();
    remote->launch->event = remote->event;
    remote->launch->launch.params = remote->launch->params;
    add_copies_there(remote, block);
    ppu_block_launch(block, submitter->stream, remote->launch->kernel, &remote->launch->launch);
    ppu_block_wait_idle(block);
    add_copies_back(remote, block);
    err = ppu_block_submit(block, &done);
    if (err == PPU_OK) {
        err = submitter_wait(submitter, remote->event, &done);
    }
    remote->event->took_ns = err == PPU_OK ? host_clock_ns() - begin_ns : 0;
    return err;
}

static void tell(struct remote_launch *remote, enum ppu_err err)
{
    struct submitter *submitter = &remote->queue->submitter[0];
    struct ppu_error error;
    enum ppu_err told = ppu_channel_error(submitter->channel, &error);

    context_notify(remote->event->context, event_command_name(remote->event),
                   told != PPU_OK ? error.text : ppu_error_text(err));
    submitter->broken = ppu_channel_reset(submitter->channel) != PPU_OK;
}

cl_int launch_remote(cl_event event)
{
    cl_command_queue queue = event->queue;
    struct remote_launch remote = { .event = event, .queue = queue, .launch = event->work.owned };
    remote.space = event->context->ppus[queue->ppu_index];
    enum ppu_err err = prepare(&remote);

    if (err == PPU_OK) {
        err = run_remote(&remote);
        if (err != PPU_OK) {
            tell(&remote, err);
        }
        char *reports = NULL;
        const char *lost =
            remote.printed ? printf_end(ppu_memory_host(remote.printed), &event->work.prints, &reports) : NULL;
        sanitizer_tell(event->context, reports);
        if (lost) {
            context_notify(event->context, "printf", lost);
        }
    }
    if (err == PPU_OK) {
        take_back(&remote);
    }
    finish_remote(&remote);
    return device_error(err);
}
