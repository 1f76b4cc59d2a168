/* SPDX-License-Identifier: MIT */
/*
 * Defines the messages of vfio-user, version 0.0, between a client (a virtual machine, or libppu) and the process that
 * has the PPU. A message is a header, a body and file descriptors. Where a body is the argument of a request of Linux's
 * vfio (device, region and interrupt information, SET_IRQS), it has the structure of <linux/vfio.h>.
 *
 * Numbers are in the order of bytes of the host that both processes run on.
 */
#ifndef PPU_VFIO_USER_H
#define PPU_VFIO_USER_H

#include "ppu/base.h"

#define PPU_VFU_MAJOR 0u
#define PPU_VFU_MINOR 0u
#define PPU_VFU_MAX_FDS 16u                /* descriptors of one message */
#define PPU_VFU_MAX_TRANSFER PPU_MIB       /* bytes of one read or write of a region */
#define PPU_VFU_REGIONS 9u                 /* BARs 0 to 5, expansion ROM, configuration space, VGA: as of vfio-pci */
#define PPU_VFU_IRQS 5u                    /* INTx, MSI, MSI-X, errors, requests: as of vfio-pci */
#define PPU_VFU_CONFIG_REGION 7u           /* configuration space */
#define PPU_VFU_BODY_BYTES (PPU_MIB + 64u) /* no message has a longer body */

enum ppu_vfu_command {
    PPU_VFU_VERSION = 1,
    PPU_VFU_DMA_MAP,
    PPU_VFU_DMA_UNMAP,
    PPU_VFU_DEVICE_INFO,
    PPU_VFU_REGION_INFO,
    PPU_VFU_REGION_IO_FDS,
    PPU_VFU_IRQ_INFO,
    PPU_VFU_SET_IRQS,
    PPU_VFU_REGION_READ,
    PPU_VFU_REGION_WRITE,
    PPU_VFU_DMA_READ,
    PPU_VFU_DMA_WRITE,
    PPU_VFU_RESET,
};

/* `flags` of a header */
#define PPU_VFU_TYPE 0xfu
#define PPU_VFU_REPLY 0x1u
#define PPU_VFU_NO_REPLY 0x10u
#define PPU_VFU_ERROR 0x20u

struct ppu_vfu_header {
    uint16_t id;      /* chosen by who asks; the reply has the same */
    uint16_t command; /* enum ppu_vfu_command */
    uint32_t bytes;   /* of the message, header included */
    uint32_t flags;
    uint32_t error; /* a number of errno, when PPU_VFU_ERROR is set */
};
PPU_ASSERT_SIZE(struct ppu_vfu_header, 16);

/* Followed by a text in JSON that ends with a zero byte. */
struct ppu_vfu_version {
    uint16_t major;
    uint16_t minor;
};
PPU_ASSERT_SIZE(struct ppu_vfu_version, 4);

/* Comes with the descriptor of the file that the memory lies in; without one the device cannot reach it. */
struct ppu_vfu_dma_map {
    uint32_t argsz;
    uint32_t flags;  /* VFIO_DMA_MAP_FLAG_READ, VFIO_DMA_MAP_FLAG_WRITE */
    uint64_t offset; /* in the file */
    uint64_t bus;
    uint64_t bytes;
};
PPU_ASSERT_SIZE(struct ppu_vfu_dma_map, 32);

struct ppu_vfu_dma_unmap {
    uint32_t argsz;
    uint32_t flags; /* VFIO_DMA_UNMAP_FLAG_ALL */
    uint64_t bus;
    uint64_t bytes;
};
PPU_ASSERT_SIZE(struct ppu_vfu_dma_unmap, 24);

/* A read's reply and a write's request have the bytes behind it; a read's request and a write's reply have none. */
struct ppu_vfu_access {
    uint64_t offset;
    uint32_t region;
    uint32_t bytes;
};
PPU_ASSERT_SIZE(struct ppu_vfu_access, 16);

#endif
