/* SPDX-License-Identifier: MIT */
/*
 * Implements images: memory objects whose bytes are rows of texels, with a descriptor for kernels (ppu/surface.h). One
 * that has bytes of its own has the descriptor before them. Rows lie as far apart as the program's do, so that mapping
 * one moves nothing.
 */
#ifndef OPENCL_API_IMAGE_H
#define OPENCL_API_IMAGE_H

#include "opencl/api/memory.h"
#include "ppu/surface.h"

/* What the device queries say; the least that OpenCL asks of a full profile, or more. */
#define IMAGE_MOST_SIDE 16384u
#define IMAGE_MOST_VOLUME_SIDE 2048u
#define IMAGE_MOST_LAYERS 2048u
#define IMAGE_MOST_BUFFER (1u << 26)
#define IMAGE_MOST_READ 128u
#define IMAGE_MOST_WRITTEN 64u
/* These bind a 2-D image in a buffer: in texels, in bytes. */
#define IMAGE_PITCH_ALIGN 1u
#define IMAGE_BASE_ALIGN 1u

struct image {
    cl_image_format format;
    cl_image_desc desc; /* as given, with what was left out; what the type has not is 0 */
    size_t texel_bytes;
    size_t extent[3]; /* of the coordinates that the API has, the layer of an array being the last; at least 1 */
    size_t pitch[3];  /* bytes from one to the next in each */
    struct ppu_surface surface;
    uint64_t surface_va;
};

bool image_is(cl_mem memory);
/* True for an image whose second coordinate is a layer. */
bool image_has_lines(const struct image *image);
/* Fills in the descriptor for bytes at that address. */
struct ppu_surface image_surface(const struct image *image, uint64_t va);

#endif
