/* SPDX-License-Identifier: MIT */
/*
 * Defines the descriptor of an image, which kernels get the address of. The driver writes it once, and threads only
 * read it. Texels lie in rows, rows in slices: the layers of an array, or the depth of a volume.
 */
#ifndef PPU_SURFACE_H
#define PPU_SURFACE_H

#include "ppu/base.h"

#define PPU_SURFACE_ALIGN 128u

struct ppu_surface {
    uint64_t va;          /* of the first texel */
    uint32_t width;       /* in texels */
    uint32_t height;      /* in rows; 1 where there is one */
    uint32_t depth;       /* in slices; 1 where there is one */
    uint32_t row_bytes;   /* from a row to the next */
    uint32_t slice_bytes; /* from a slice to the next; the last texel's offset is below 2^32 */
    uint32_t texel_log2;  /* bytes of a texel: 1 << texel_log2, at most 16 */
    uint32_t type;        /* OpenCL's channel data type: what a channel is */
    uint32_t order;       /* OpenCL's channel order: which channel is which */
    uint32_t reserved[2];
};
PPU_ASSERT_SIZE(struct ppu_surface, 48);

/* Bits of a sampler; the numbers of OpenCL C's CLK_ macros, which a source has literally. */
#define PPU_SAMPLER_NORMALIZED 0x01u
#define PPU_SAMPLER_ADDRESS 0x0eu /* mask of one of the following */
#define PPU_SAMPLER_EDGE 0x02u    /* the nearest texel */
#define PPU_SAMPLER_BORDER 0x04u  /* the border's colour */
#define PPU_SAMPLER_REPEAT 0x06u
#define PPU_SAMPLER_MIRROR 0x08u
#define PPU_SAMPLER_NEAREST 0x10u
#define PPU_SAMPLER_LINEAR 0x20u

#endif
