/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps which bus addresses a client has mapped, and reaches its memory through them. A mapping is an interval in a
 * tree: a virtual IOMMU maps pages of 4 KiB by the ten thousand.
 */
#ifndef QEMU_DEVICE_REMOTE_DMA_TABLE_H
#define QEMU_DEVICE_REMOTE_DMA_TABLE_H

#include "qemu-device/remote/client_file.h"

#define DMA_MAPPINGS_MAX (1u << 20) /* 4 GiB of pages of 4 KiB; some 100 MiB of this process */

struct dma_mapping {
    uint64_t bus;
    uint64_t last; /* the last byte, so that the end of the address space can be mapped */
    bool readable; /* by the device */
    bool writable;
    struct client_file *file; /* NULL: memory of the client that no descriptor came for */
    uint64_t offset;          /* in the file */
};

/* Zeros at first. */
struct dma_table {
    void *tree; /* of struct dma_mapping, as tsearch() has them; no two overlap */
    uint32_t count;
    struct dma_mapping *recent; /* the one that was used last */
    struct client_files files;
};

/* The descriptor is the caller's to close; -1: none. Returns 0 or a number of errno. */
int dma_table_map(struct dma_table *table, const struct dma_mapping *wanted, int fd);
/* All mappings in [bus, last], which must not begin or end inside one. No mapping there is success. */
int dma_table_unmap(struct dma_table *table, uint64_t bus, uint64_t last);
void dma_table_clear(struct dma_table *table);

/* False: the client has not mapped all of it for such an access. What was copied before that stays. */
bool dma_table_read(struct dma_table *table, uint64_t bus, void *buf, uint32_t bytes);
bool dma_table_write(struct dma_table *table, uint64_t bus, const void *buf, uint32_t bytes);

#endif
