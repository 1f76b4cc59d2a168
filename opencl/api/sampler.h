/* SPDX-License-Identifier: MIT */
/* Keeps samplers: how kernels read images. */
#ifndef OPENCL_API_SAMPLER_H
#define OPENCL_API_SAMPLER_H

#include "opencl/api/context.h"

#define SAMPLER_PROPERTIES 3u
#define SAMPLERS_MOST 16u /* arguments of a kernel */

struct _cl_sampler {
    struct object object;
    cl_context context;
    cl_bool normalized;
    cl_addressing_mode addressing;
    cl_filter_mode filter;
    cl_sampler_properties properties[2 * SAMPLER_PROPERTIES + 1]; /* as given, with the final 0 */
    size_t property_bytes;                                        /* 0: none were given */
    uint64_t bits;                                                /* for kernels (ppu/surface.h) */
};

#endif
