/* SPDX-License-Identifier: MIT */
#include "runtime/memory.h"

#include "ppu/macros.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define GRANULE ((uint64_t)PPU_PAGE_64K)
#define SPARSE_BYTES (256ull * PPU_MIB) /* from here on a hole costs less than zeros */

static uint64_t align_of(uint64_t bytes)
{
    return bytes >= PPU_PAGE_2M ? PPU_PAGE_2M : PPU_PAGE_64K;
}

/* ---- allocation ---- */

static enum ppu_err vram_alloc(struct ppu_memory *memory)
{
    struct ppu_device *device = memory->device;

    pthread_mutex_lock(&device->memory_lock);
    bool taken = range_take(&device->heap, memory->bytes, align_of(memory->bytes), &memory->vram_offset);
    pthread_mutex_unlock(&device->memory_lock);
    if (!taken) {
        return PPU_ERR_NO_VRAM;
    }
    memory->host = device->transport->vram + memory->vram_offset;
    return PPU_OK;
}

static enum ppu_err system_alloc(struct ppu_memory *memory)
{
    struct ppu_transport *transport = memory->device->transport;
    enum ppu_err err = transport->ops->system_alloc(transport, memory->bytes, &memory->system);

    memory->host = err == PPU_OK ? memory->system.host : NULL;
    return err;
}

static void give_back_memory(struct ppu_memory *memory)
{
    struct ppu_device *device = memory->device;

    if (memory->kind == PPU_MEMORY_VRAM) {
        pthread_mutex_lock(&device->memory_lock);
        range_give(&device->heap, memory->vram_offset);
        pthread_mutex_unlock(&device->memory_lock);
    } else if (memory->peer) {
        device->transport->ops->peer_unmap(device->transport, &memory->system);
    } else {
        device->transport->ops->system_free(device->transport, &memory->system);
    }
    free(memory);
}

/*
 * What an earlier owner left there is nobody's business. Where VRAM is a file of this computer, a large piece of it
 * takes no pages before it is used.
 */
static void make_zero(const struct ppu_memory *memory)
{
    const int file = memory->kind == PPU_MEMORY_VRAM ? memory->device->transport->vram_fd : -1;

    if (memory->bytes < SPARSE_BYTES || file < 0 ||
        fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)memory->vram_offset, (off_t)memory->bytes) !=
            0) {
        memset(memory->host, 0, memory->bytes);
    }
}

enum ppu_err ppu_memory_alloc(struct ppu_device *device, enum ppu_memory_kind kind, uint64_t bytes,
                              struct ppu_memory **out)
{
    *out = NULL;
    if (bytes == 0 || bytes > PPU_MAX_OBJECT || (kind != PPU_MEMORY_VRAM && kind != PPU_MEMORY_SYSTEM)) {
        return PPU_ERR_BAD_ARG;
    }
    struct ppu_memory *memory = calloc(1, sizeof(*memory));
    if (!memory) {
        return PPU_ERR_NO_MEMORY;
    }
    memory->device = device;
    memory->kind = kind;
    memory->bytes = ppu_align_up64(bytes, GRANULE);
    enum ppu_err err = kind == PPU_MEMORY_VRAM ? vram_alloc(memory) : system_alloc(memory);
    if (err != PPU_OK) {
        free(memory);
        return err;
    }
    make_zero(memory);
    *out = memory;
    return PPU_OK;
}

enum ppu_err ppu_memory_of_peer(struct ppu_device *device, const struct ppu_memory *of, struct ppu_memory **out)
{
    struct ppu_transport *transport = device->transport;

    *out = NULL;
    if (of->kind != PPU_MEMORY_VRAM || of->device == device) {
        return PPU_ERR_BAD_ARG;
    }
    if (!transport->ops->peer_map) {
        return PPU_ERR_NO_RESOURCE;
    }
    struct ppu_memory *memory = calloc(1, sizeof(*memory));
    if (!memory) {
        return PPU_ERR_NO_MEMORY;
    }
    *memory = (struct ppu_memory){
        .device = device, .kind = PPU_MEMORY_SYSTEM, .peer = true, .bytes = of->bytes, .host = of->host
    };
    enum ppu_err err =
        transport->ops->peer_map(transport, of->device->transport, of->vram_offset, of->bytes, &memory->system);
    if (err != PPU_OK) {
        free(memory);
        return err;
    }
    *out = memory;
    return PPU_OK;
}

/* ---- mapping ---- */

static struct mapping *find_mapping(const struct ppu_memory *memory, const struct ppu_context *context)
{
    struct mapping *mapping = memory->mappings;

    while (mapping && mapping->context != context) {
        mapping = mapping->next_of_memory;
    }
    return mapping;
}

static struct page_frames frames_of(const struct ppu_memory *memory, uint32_t flags)
{
    struct page_frames frames = { .bytes = memory->bytes };

    if (memory->kind == PPU_MEMORY_VRAM) {
        frames.start = memory->vram_offset;
    } else {
        frames.start = memory->system.bus.bus;
        frames.attributes |= PPU_PTE_SYSTEM;
    }
    if ((flags & PPU_MAP_READ_ONLY) == 0) {
        frames.attributes |= PPU_PTE_WRITE;
    }
    /* Atomics are atomic in VRAM only: system memory is reached through the bus. */
    if ((flags & (PPU_MAP_READ_ONLY | PPU_MAP_NO_ATOMICS)) == 0 && memory->kind == PPU_MEMORY_VRAM) {
        frames.attributes |= PPU_PTE_ATOMIC;
    }
    return frames;
}

/* Anywhere when the address is 0. */
static bool take_addresses(struct mapping *mapping, ppu_va_t at, uint64_t bytes)
{
    struct range_pool *addresses = &mapping->context->addresses;

    mapping->va = at.va;
    return at.va != 0 ? range_take_at(addresses, at.va, bytes)
                      : range_take(addresses, bytes, align_of(bytes), &mapping->va);
}

/* System memory may lie in pieces of 2 MiB. False: no page for a table; nothing is mapped. */
static bool map_frames(const struct mapping *mapping, const struct page_frames *frames)
{
    struct page_table *table = &mapping->context->table;
    const ppu_bus_t *pages = mapping->memory->kind == PPU_MEMORY_SYSTEM ? mapping->memory->system.pages : NULL;
    struct page_frames piece = *frames;

    if (!pages) {
        return page_table_map(table, mapping->va, frames);
    }
    for (uint64_t done = 0; done < frames->bytes; done += piece.bytes) {
        piece.start = pages[done / PPU_PAGE_2M].bus;
        piece.bytes = PPU_MIN(frames->bytes - done, (uint64_t)PPU_PAGE_2M);
        if (!page_table_map(table, mapping->va + done, &piece)) {
            page_table_unmap(table, mapping->va, done);
            return false;
        }
    }
    return true;
}

static enum ppu_err map_pages(struct mapping *mapping, uint32_t flags, ppu_va_t at)
{
    struct ppu_context *context = mapping->context;
    const struct page_frames frames = frames_of(mapping->memory, flags);

    if (!take_addresses(mapping, at, frames.bytes)) {
        return at.va != 0 ? PPU_ERR_NO_RESOURCE : PPU_ERR_NO_VRAM;
    }
    if (!map_frames(mapping, &frames)) {
        range_give(&context->addresses, mapping->va);
        return PPU_ERR_NO_VRAM;
    }
    return PPU_OK;
}

static void link_mapping(struct mapping *mapping)
{
    mapping->next_of_memory = mapping->memory->mappings;
    mapping->memory->mappings = mapping;
    mapping->next_of_context = mapping->context->mappings;
    mapping->context->mappings = mapping;
}

static void unlink_from_memory(struct mapping *mapping)
{
    struct mapping **link = &mapping->memory->mappings;

    while (*link != mapping) {
        link = &(*link)->next_of_memory;
    }
    *link = mapping->next_of_memory;
}

static void unlink_from_context(struct mapping *mapping)
{
    struct mapping **link = &mapping->context->mappings;

    while (*link != mapping) {
        link = &(*link)->next_of_context;
    }
    *link = mapping->next_of_context;
}

static enum ppu_err map_locked(struct ppu_memory *memory, struct ppu_context *context, uint32_t flags, ppu_va_t at,
                               ppu_va_t *va)
{
    if (find_mapping(memory, context)) {
        return PPU_ERR_BUSY;
    }
    struct mapping *mapping = calloc(1, sizeof(*mapping));
    if (!mapping) {
        return PPU_ERR_NO_MEMORY;
    }
    mapping->memory = memory;
    mapping->context = context;
    enum ppu_err err = map_pages(mapping, flags, at);
    if (err != PPU_OK) {
        free(mapping);
        return err;
    }
    link_mapping(mapping);
    va->va = mapping->va;
    return PPU_OK;
}

static enum ppu_err map(struct ppu_memory *memory, struct ppu_context *context, uint32_t flags, ppu_va_t at,
                        ppu_va_t *va)
{
    struct ppu_device *device = memory->device;

    if (context->device != device || (flags & ~(PPU_MAP_READ_ONLY | PPU_MAP_NO_ATOMICS)) != 0) {
        return PPU_ERR_BAD_ARG;
    }
    pthread_mutex_lock(&device->memory_lock);
    enum ppu_err err = map_locked(memory, context, flags, at, va);
    pthread_mutex_unlock(&device->memory_lock);
    return err;
}

enum ppu_err ppu_memory_map(struct ppu_memory *memory, struct ppu_context *context, uint32_t flags, ppu_va_t *va)
{
    return map(memory, context, flags, (ppu_va_t){ 0 }, va);
}

enum ppu_err ppu_memory_map_at(struct ppu_memory *memory, struct ppu_context *context, uint32_t flags, ppu_va_t va)
{
    if (va.va == 0 || va.va % PPU_PAGE_64K != 0) {
        return PPU_ERR_BAD_ARG;
    }
    return map(memory, context, flags, va, &va);
}

/*
 * The addresses may be used again only after every SM has forgotten them; when that
 * cannot be had they stay taken.
 */
static enum ppu_err unmap_locked(struct mapping *mapping)
{
    struct ppu_context *context = mapping->context;

    if (!mapping->cleared) { /* what lay there can be read from the entries only once */
        page_table_unmap(&context->table, mapping->va, mapping->memory->bytes);
        mapping->cleared = true;
    }
    enum ppu_err err = admin_call(context->device, PPU_ADMIN_MMU_FLUSH, &context->id, 1, NULL, 0);
    if (err == PPU_OK) {
        range_give(&context->addresses, mapping->va);
        unlink_from_memory(mapping);
        unlink_from_context(mapping);
        free(mapping);
    }
    return err;
}

enum ppu_err ppu_memory_unmap(struct ppu_memory *memory, struct ppu_context *context)
{
    pthread_mutex_lock(&memory->device->memory_lock);
    struct mapping *mapping = find_mapping(memory, context);
    enum ppu_err err = mapping ? unmap_locked(mapping) : PPU_ERR_NOT_FOUND;
    pthread_mutex_unlock(&memory->device->memory_lock);
    return err;
}

void memory_forget_context(struct ppu_context *context)
{
    struct mapping *next = NULL;

    for (struct mapping *mapping = context->mappings; mapping; mapping = next) {
        next = mapping->next_of_context;
        unlink_from_memory(mapping);
        free(mapping);
    }
    context->mappings = NULL;
}

enum ppu_err ppu_memory_free(struct ppu_memory *memory)
{
    enum ppu_err err = PPU_OK;
    struct mapping *next = NULL;

    if (!memory) {
        return PPU_OK;
    }
    pthread_mutex_lock(&memory->device->memory_lock);
    for (struct mapping *mapping = memory->mappings; err == PPU_OK && mapping; mapping = next) {
        next = mapping->next_of_memory;
        err = unmap_locked(mapping);
    }
    if (err != PPU_OK) {
        memory->next_kept = memory->device->kept;
        memory->device->kept = memory;
    }
    pthread_mutex_unlock(&memory->device->memory_lock);
    if (err == PPU_OK) {
        give_back_memory(memory);
    }
    return err;
}

enum ppu_err memory_end(struct ppu_memory *memory)
{
    return ppu_memory_free(memory) == PPU_ERR_DEVICE_LOST ? PPU_ERR_DEVICE_LOST : PPU_OK;
}

void memory_free_kept(struct ppu_device *device)
{
    struct ppu_memory *next = NULL;
    struct mapping *next_mapping = NULL;

    for (struct ppu_memory *memory = device->kept; memory; memory = next) {
        next = memory->next_kept;
        for (struct mapping *mapping = memory->mappings; mapping; mapping = next_mapping) {
            next_mapping = mapping->next_of_memory;
            unlink_from_context(mapping);
            free(mapping);
        }
        give_back_memory(memory);
    }
    device->kept = NULL;
}

enum ppu_err ppu_memory_create(struct ppu_context *context, enum ppu_memory_kind kind, uint64_t bytes,
                               struct ppu_memory **out)
{
    ppu_va_t va;
    enum ppu_err err = ppu_memory_alloc(context->device, kind, bytes, out);

    if (err != PPU_OK) {
        return err;
    }
    err = ppu_memory_map(*out, context, 0, &va);
    if (err != PPU_OK) {
        give_back_memory(*out);
        *out = NULL;
    }
    return err;
}

bool ppu_context_maps(const struct ppu_context *context, ppu_va_t va, uint64_t bytes)
{
    bool maps = false;

    pthread_mutex_lock(&context->device->memory_lock);
    for (const struct mapping *mapping = context->mappings; mapping && !maps; mapping = mapping->next_of_context) {
        maps = va.va < mapping->va + mapping->memory->bytes && mapping->va < va.va + bytes;
    }
    pthread_mutex_unlock(&context->device->memory_lock);
    return maps;
}

void *ppu_memory_host(const struct ppu_memory *memory)
{
    return memory->host;
}

uint64_t ppu_memory_bytes(const struct ppu_memory *memory)
{
    return memory->bytes;
}

ppu_va_t ppu_memory_va(const struct ppu_memory *memory, const struct ppu_context *context)
{
    pthread_mutex_lock(&memory->device->memory_lock);
    const struct mapping *mapping = find_mapping(memory, context);
    ppu_va_t va = { mapping ? mapping->va : 0 };
    pthread_mutex_unlock(&memory->device->memory_lock);
    return va;
}
