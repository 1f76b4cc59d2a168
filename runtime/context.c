/* SPDX-License-Identifier: MIT */
#include "runtime/context.h"

#include <stdlib.h>

#include "ppu/regs.h"
#include "ppu/save.h"
#include "runtime/memory.h"
#include "runtime/tmdq.h"

/* Virtual addresses begin here: a truncated or null address hits nothing. */
#define ADDRESSES_START (1ull << 32)

static enum ppu_err make_tables(struct ppu_context *context)
{
    struct ppu_device *device = context->device;

    if (!range_pool_init(&context->addresses, ADDRESSES_START, PPU_SHARED_WINDOW - ADDRESSES_START)) {
        return PPU_ERR_NO_MEMORY;
    }
    pthread_mutex_lock(&device->memory_lock);
    bool made = page_table_init(&context->table, device->transport->vram, &device->tables);
    pthread_mutex_unlock(&device->memory_lock);
    if (!made) {
        range_pool_fini(&context->addresses);
    }
    return made ? PPU_OK : PPU_ERR_NO_VRAM;
}

/* VRAM of the device's own, for CTAs that it takes off SMs: mapped nowhere. */
static enum ppu_err make_area(struct ppu_context *context)
{
    struct ppu_device *device = context->device;
    uint32_t bytes = device->transport->ops->reg_read(device->transport, PPU_REG_SWITCH_BYTES);

    pthread_mutex_lock(&device->memory_lock);
    context->has_area = range_take(&device->heap, bytes, PPU_SWITCH_ALIGN, &context->area);
    pthread_mutex_unlock(&device->memory_lock);
    return context->has_area ? PPU_OK : PPU_ERR_NO_VRAM;
}

static void context_free(struct ppu_context *context)
{
    if (context->tmdqs) {
        tmdqs_close(context);
    }
    pthread_mutex_lock(&context->device->memory_lock);
    if (context->has_area) {
        range_give(&context->device->heap, context->area);
    }
    if (context->has_saves) {
        range_give(&context->device->heap, context->nest_saves);
    }
    memory_forget_context(context);
    page_table_fini(&context->table);
    pthread_mutex_unlock(&context->device->memory_lock);
    ppu_memory_free(context->nest);
    ppu_memory_free(context->heap);
    fences_fini(&context->fences);
    range_pool_fini(&context->addresses);
    free(context);
}

enum ppu_err ppu_context_create(struct ppu_device *device, struct ppu_context **out)
{
    struct ppu_context *context = calloc(1, sizeof(*context));

    *out = NULL;
    if (!context) {
        return PPU_ERR_NO_MEMORY;
    }
    context->device = device;
    enum ppu_err err = make_tables(context);
    if (err != PPU_OK) {
        free(context);
        return err;
    }
    fences_init(&context->fences);
    context->tmdqs = tmdqs_new();
    if (!context->tmdqs) {
        context_free(context);
        return PPU_ERR_NO_MEMORY;
    }
    err = make_area(context);
    const uint32_t args[] = { page_table_root(&context->table), (uint32_t)context->area };
    if (err == PPU_OK) {
        err = admin_call(device, PPU_ADMIN_CONTEXT_CREATE, args, 2, &context->id, 1);
    }
    if (err != PPU_OK) {
        context_free(context);
        return err;
    }
    *out = context;
    return PPU_OK;
}

enum ppu_err ppu_context_destroy(struct ppu_context *context)
{
    if (!context) {
        return PPU_OK;
    }
    enum ppu_err err = admin_call(context->device, PPU_ADMIN_CONTEXT_DESTROY, &context->id, 1, NULL, 0);
    /* Nothing walks the tables any more when the device is gone. */
    if (err == PPU_OK || err == PPU_ERR_DEVICE_LOST) {
        context_free(context);
    }
    return err;
}

enum ppu_err ppu_context_quota(struct ppu_context *context, enum ppu_resource resource, uint32_t most)
{
    const uint32_t args[] = { context->id, resource, most };

    return admin_call(context->device, PPU_ADMIN_QUOTA, args, 3, NULL, 0);
}

uint32_t ppu_context_id(const struct ppu_context *context)
{
    return context->id;
}
