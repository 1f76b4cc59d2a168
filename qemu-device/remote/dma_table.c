/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/remote/dma_table.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>

/* Intervals that overlap are equal: the tree has no two, and is searched with any part of one. */
static int compare(const void *left, const void *right)
{
    const struct dma_mapping *a = left, *b = right;

    return a->last < b->bus ? -1 : a->bus > b->last;
}

static struct dma_mapping *find(const struct dma_table *table, uint64_t bus, uint64_t last)
{
    const struct dma_mapping key = { .bus = bus, .last = last };
    void *node = tfind(&key, &table->tree, compare);

    return node ? *(struct dma_mapping **)node : NULL;
}

static void drop(struct dma_table *table, struct dma_mapping *mapping)
{
    tdelete(mapping, &table->tree, compare);
    table->recent = NULL;
    table->count--;
    if (mapping->file) {
        client_file_put(&table->files, mapping->file);
    }
    free(mapping);
}

/* The mapping is the table's, or freed. */
static int add(struct dma_table *table, struct dma_mapping *mapping)
{
    if (!tsearch(mapping, &table->tree, compare)) {
        if (mapping->file) {
            client_file_put(&table->files, mapping->file);
        }
        free(mapping);
        return ENOMEM;
    }
    table->count++;
    return 0;
}

int dma_table_map(struct dma_table *table, const struct dma_mapping *wanted, int fd)
{
    int error = 0;

    if (wanted->last < wanted->bus || wanted->offset > INT64_MAX - (wanted->last - wanted->bus)) {
        return EINVAL;
    }
    if (find(table, wanted->bus, wanted->last)) {
        return EEXIST;
    }
    struct dma_mapping *mapping = table->count < DMA_MAPPINGS_MAX ? malloc(sizeof(*mapping)) : NULL;
    if (!mapping) {
        return ENOSPC;
    }
    *mapping = *wanted;
    mapping->file = fd >= 0 ? client_file_get(&table->files, fd, &error) : NULL;
    if (mapping->file && (!client_file_has(mapping->file, wanted->offset, wanted->last - wanted->bus + 1) ||
                          (wanted->writable && !mapping->file->writable))) {
        client_file_put(&table->files, mapping->file);
        error = EINVAL;
    }
    if (error != 0) {
        free(mapping);
        return error;
    }
    return add(table, mapping);
}

/* Whether a mapping has both this byte and the one before it. */
static bool is_inside(const struct dma_table *table, uint64_t bus)
{
    const struct dma_mapping *mapping = bus > 0 ? find(table, bus - 1, bus - 1) : NULL;

    return mapping && mapping->last >= bus;
}

int dma_table_unmap(struct dma_table *table, uint64_t bus, uint64_t last)
{
    struct dma_mapping *mapping;

    if (last < bus || is_inside(table, bus) || (last < UINT64_MAX && is_inside(table, last + 1))) {
        return EINVAL;
    }
    while ((mapping = find(table, bus, last))) {
        drop(table, mapping);
    }
    return 0;
}

void dma_table_clear(struct dma_table *table)
{
    (void)dma_table_unmap(table, 0, UINT64_MAX);
}

static struct dma_mapping *mapping_at(struct dma_table *table, uint64_t bus)
{
    if (!table->recent || bus < table->recent->bus || bus > table->recent->last) {
        table->recent = find(table, bus, bus);
    }
    return table->recent;
}

/* Bytes of the access that lie in the mapping. */
static uint32_t part_in(const struct dma_mapping *mapping, uint64_t bus, uint32_t bytes)
{
    uint64_t left = mapping->last - bus;

    return left < bytes ? (uint32_t)left + 1 : bytes;
}

bool dma_table_read(struct dma_table *table, uint64_t bus, void *buf, uint32_t bytes)
{
    for (uint32_t part; bytes > 0; bus += part, buf = (char *)buf + part, bytes -= part) {
        const struct dma_mapping *mapping = mapping_at(table, bus);
        if (!mapping || !mapping->file || !mapping->readable) {
            return false;
        }
        part = part_in(mapping, bus, bytes);
        if (!client_file_read(mapping->file, mapping->offset + (bus - mapping->bus), buf, part)) {
            return false;
        }
    }
    return true;
}

bool dma_table_write(struct dma_table *table, uint64_t bus, const void *buf, uint32_t bytes)
{
    for (uint32_t part; bytes > 0; bus += part, buf = (const char *)buf + part, bytes -= part) {
        const struct dma_mapping *mapping = mapping_at(table, bus);
        if (!mapping || !mapping->file || !mapping->writable) {
            return false;
        }
        part = part_in(mapping, bus, bytes);
        if (!client_file_write(mapping->file, mapping->offset + (bus - mapping->bus), buf, part)) {
            return false;
        }
    }
    return true;
}
