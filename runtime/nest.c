/* SPDX-License-Identifier: MIT */
/* Allocates ahead what threads need to launch tasks (B3): the nest, and places for CTAs that wait. */
#include "ppu/nest.h"
#include "ppu/macros.h"

#include "ppu/save.h"
#include "runtime/context.h"
#include "runtime/memory.h"

#define TASKS_DEFAULT 1024u
#define DEPTH_DEFAULT 24u
#define STATE_DEFAULT (64u * PPU_KIB)
#define CTAS_DEFAULT 16u
#define SAVE_SHARE 16u /* one byte of the save area for so many bytes of VRAM, where no size is asked for */

static uint32_t or_default(uint32_t value, uint32_t otherwise)
{
    return value != 0 ? value : otherwise;
}

static struct ppu_nest_options complete_options(const struct ppu_nest_options *options)
{
    const struct ppu_nest_options none = { 0 };

    options = options ? options : &none;
    return (struct ppu_nest_options){
        .tasks = or_default(options->tasks, TASKS_DEFAULT),
        .depth = or_default(options->depth, DEPTH_DEFAULT),
        .state_bytes = or_default(options->state_bytes, STATE_DEFAULT),
        .ctas = or_default(options->ctas, CTAS_DEFAULT),
        .save_bytes = options->save_bytes,
        .heap_bytes = options->heap_bytes,
        .enqueue_va = options->enqueue_va,
    };
}

static uint32_t place_bytes(const struct ppu_nest_options *options)
{
    return ppu_align_up(options->state_bytes, PPU_SAVE_ALIGN);
}

/* The place that each depth has whatever others have. */
static uint64_t kept_bytes(const struct ppu_nest_options *options)
{
    return (uint64_t)options->depth * place_bytes(options);
}

/* Bytes of the save area: what the deepest tree of the largest tasks takes, or the share, but twice what is kept. */
static uint32_t save_bytes(const struct ppu_context *context, const struct ppu_nest_options *options)
{
    uint64_t all = kept_bytes(options) * options->ctas;
    uint64_t share = PPU_MAX(context->device->info.vram_bytes / SAVE_SHARE, 2 * kept_bytes(options));
    uint64_t bytes = options->save_bytes != 0 ? options->save_bytes : PPU_MIN(all, share);

    return (uint32_t)(bytes & ~(uint64_t)(PPU_SAVE_ALIGN - 1));
}

static bool nest_usable(const struct ppu_nest_options *options)
{
    return options->tasks >= PPU_NEST_MIN_TASKS && options->tasks <= PPU_NEST_MAX_TASKS &&
           PPU_IS_POWER_OF_TWO(options->tasks) && options->depth <= PPU_NEST_MAX_DEPTH &&
           options->depth <= options->tasks && options->ctas <= PPU_SAVE_PLACES &&
           options->state_bytes <= PPU_NEST_MAX_STATE &&
           (options->save_bytes == 0 || options->save_bytes >= kept_bytes(options)) &&
           (options->heap_bytes == 0 || options->heap_bytes >= sizeof(struct ppu_heap)) &&
           options->heap_bytes <= PPU_HEAP_MAX_BYTES;
}

static enum ppu_err take_saves(struct ppu_context *context, uint32_t bytes)
{
    struct ppu_device *device = context->device;

    pthread_mutex_lock(&device->memory_lock);
    context->has_saves = range_take(&device->heap, bytes, PPU_SAVE_ALIGN, &context->nest_saves);
    pthread_mutex_unlock(&device->memory_lock);
    return context->has_saves ? PPU_OK : PPU_ERR_NO_VRAM;
}

static void give_back_nest(struct ppu_context *context)
{
    struct ppu_device *device = context->device;

    pthread_mutex_lock(&device->memory_lock);
    if (context->has_saves) {
        range_give(&device->heap, context->nest_saves);
    }
    context->has_saves = false;
    pthread_mutex_unlock(&device->memory_lock);
    ppu_memory_free(context->nest);
    ppu_memory_free(context->heap);
    context->nest = NULL;
    context->heap = NULL;
}

static enum ppu_err make_heap(struct ppu_context *context, uint32_t bytes)
{
    if (bytes == 0) {
        return PPU_OK;
    }
    enum ppu_err err = ppu_memory_create(context, PPU_MEMORY_VRAM, bytes, &context->heap);
    if (err == PPU_OK) {
        *(struct ppu_heap *)ppu_memory_host(context->heap) = (struct ppu_heap){
            .head = { PPU_HEAP_VERSION, sizeof(struct ppu_heap) },
            .bytes = bytes,
            .used = sizeof(struct ppu_heap),
        };
    }
    return err;
}

/* The firmware has filled the nest in; it keeps what the driver writes here. */
static void tell_threads(struct ppu_context *context, const struct ppu_nest_options *options)
{
    struct ppu_nest *nest = ppu_memory_host(context->nest);

    nest->enqueue_va = options->enqueue_va.va;
    nest->heap_va = context->heap ? ppu_memory_va(context->heap, context).va : 0;
}

static enum ppu_err open_nest(struct ppu_context *context, const struct ppu_nest_options *options)
{
    uint64_t va = ppu_memory_va(context->nest, context).va;
    const uint32_t args[] = {
        context->id,          (uint32_t)va,   (uint32_t)(va >> 32),          (uint32_t)context->nest->vram_offset,
        options->tasks,       options->depth, (uint32_t)context->nest_saves, save_bytes(context, options),
        place_bytes(options), options->ctas,
    };

    return admin_call(context->device, PPU_ADMIN_NEST_OPEN, args, PPU_ARRAY_SIZE(args), NULL, 0);
}

enum ppu_err ppu_context_nest(struct ppu_context *context, const struct ppu_nest_options *options)
{
    const struct ppu_nest_options wanted = complete_options(options);

    if (!nest_usable(&wanted)) {
        return PPU_ERR_BAD_ARG;
    }
    if (context->nest) {
        return PPU_ERR_BUSY;
    }
    enum ppu_err err =
        ppu_memory_create(context, PPU_MEMORY_VRAM, PPU_NEST_BYTES(wanted.tasks, wanted.depth), &context->nest);
    err = err == PPU_OK ? take_saves(context, save_bytes(context, &wanted)) : err;
    err = err == PPU_OK ? make_heap(context, wanted.heap_bytes) : err;
    err = err == PPU_OK ? open_nest(context, &wanted) : err;
    if (err == PPU_OK) {
        tell_threads(context, &wanted);
    } else {
        give_back_nest(context);
    }
    return err;
}
