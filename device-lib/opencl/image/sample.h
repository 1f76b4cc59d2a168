/* SPDX-License-Identifier: MIT */
/*
 * Finds the texels that coordinates name: address modes and filters, OpenCL C 8.2. Whatever the coordinates are, what
 * is read lies in the image.
 */
#ifndef DEVICE_LIB_OPENCL_IMAGE_SAMPLE_H
#define DEVICE_LIB_OPENCL_IMAGE_SAMPLE_H

#include "image/texel.h"

/* A texel; `inside`: else it is the border, whose bits are 0. */
struct spot {
    int x, y, z;
    bool inside;
};

/* One dimension of a texel that a filter takes: bytes into the image, its weight, and whether it is no border. */
struct tap {
    uint offset;
    bool inside;
    float weight;
};

/* The two texels of one dimension between which a coordinate lies. */
struct span {
    struct tap first, second;
};

INLINE uint texel_offset(surface_t surface, uint x, uint y, uint z)
{
    return z * surface->slice_bytes + y * surface->row_bytes + (x << surface->texel_log2);
}

INLINE int edge(int i, uint n)
{
    return min(max(i, 0), (int)n - 1);
}

INLINE bool is_inside(surface_t surface, int x, int y, int z)
{
    return ((uint)x < surface->width) & ((uint)y < surface->height) & ((uint)z < surface->depth);
}

INLINE bool has_border(uint sampler)
{
    return (sampler & PPU_SAMPLER_ADDRESS) == PPU_SAMPLER_BORDER;
}

/* The layer of an array is never the border. */
INLINE struct spot settle(surface_t surface, uint sampler, int x, int y, int z, bool layered)
{
    int depth = layered ? edge(z, surface->depth) : z;

    if (has_border(sampler)) {
        return (struct spot){ x, y, depth, is_inside(surface, x, y, depth) };
    }
    return (struct spot){ edge(x, surface->width), edge(y, surface->height), edge(depth, surface->depth), true };
}

INLINE uint4 load_spot(surface_t surface, struct spot at)
{
    return at.inside ? load_texel(surface, texel_offset(surface, at.x, at.y, at.z)) : 0;
}

/* ---- coordinates ---- */

/* A coordinate in texels, within what repeats. */
INLINE float unrepeated(float c, uint n, uint sampler)
{
    if ((sampler & PPU_SAMPLER_NORMALIZED) == 0) {
        return c;
    }
    switch (sampler & PPU_SAMPLER_ADDRESS) {
    case PPU_SAMPLER_REPEAT:
        return (c - floor(c)) * (float)n;
    case PPU_SAMPLER_MIRROR:
        return fabs(c - 2.0f * rint(0.5f * c)) * (float)n;
    default:
        return c * (float)n;
    }
}

INLINE bool repeats(uint sampler)
{
    return (sampler & (PPU_SAMPLER_ADDRESS | PPU_SAMPLER_NORMALIZED)) == (PPU_SAMPLER_REPEAT | PPU_SAMPLER_NORMALIZED);
}

INLINE int nearest(float c, uint n, uint sampler)
{
    int i = (int)floor(unrepeated(c, n, sampler));

    return repeats(sampler) && i >= (int)n ? i - (int)n : i;
}

/* The texel `i` of a dimension with `n`, `pitch` bytes apart. */
INLINE struct tap tap_of(int i, uint n, uint pitch, uint sampler, float weight)
{
    if (has_border(sampler)) {
        return (struct tap){ (uint)i * pitch, (uint)i < n, weight };
    }
    return (struct tap){ (uint)edge(i, n) * pitch, true, weight };
}

INLINE struct span between(float c, uint n, uint pitch, uint sampler)
{
    float at = unrepeated(c, n, sampler) - 0.5f, below = floor(at), part = at - below;
    int first = (int)below, second = first + 1;

    if (repeats(sampler)) {
        first = first < 0 ? first + (int)n : first;
        second = second >= (int)n ? second - (int)n : second;
    }
    return (struct span){ tap_of(first, n, pitch, sampler, 1 - part), tap_of(second, n, pitch, sampler, part) };
}

/* ---- filters ---- */

INLINE struct tap side_of(struct span span, bool second)
{
    return (struct tap){ second ? span.second.offset : span.first.offset,
                         second ? span.second.inside : span.first.inside,
                         second ? span.second.weight : span.first.weight };
}

INLINE float4 weighted(surface_t surface, struct span x, struct span y, struct span z, uint corner)
{
    struct tap right = side_of(x, (corner & 1) != 0), below = side_of(y, (corner & 2) != 0),
               behind = side_of(z, (corner & 4) != 0);
    bool inside = right.inside & below.inside & behind.inside;
    uint4 bits = inside ? load_texel(surface, behind.offset + below.offset + right.offset) : 0;

    return right.weight * below.weight * behind.weight * read_float(surface, bits);
}

/* One copy of the code serves all corners: it is long. */
INLINE float4 filter(surface_t surface, struct span x, struct span y, struct span z, uint corners)
{
    float4 mixed = 0;

#pragma clang loop unroll(disable)
    for (uint corner = 0; corner < corners; corner++) {
        mixed += weighted(surface, x, y, z, corner);
    }
    return mixed;
}

#endif
