/* SPDX-License-Identifier: MIT */
#include "opencl/api/sampler.h"

#include <stdlib.h>

#include "opencl/api/info.h"
#include "ppu/macros.h"
#include "ppu/surface.h"

static const struct {
    cl_addressing_mode mode;
    uint32_t bits;
} addressings[] = {
    { CL_ADDRESS_NONE, 0 },
    { CL_ADDRESS_CLAMP_TO_EDGE, PPU_SAMPLER_EDGE },
    { CL_ADDRESS_CLAMP, PPU_SAMPLER_BORDER },
    { CL_ADDRESS_REPEAT, PPU_SAMPLER_REPEAT },
    { CL_ADDRESS_MIRRORED_REPEAT, PPU_SAMPLER_MIRROR },
};

/* The bits for kernels; false: a value that does not exist. */
static bool set_bits(struct _cl_sampler *sampler)
{
    bool known = false;

    sampler->bits = (sampler->normalized ? PPU_SAMPLER_NORMALIZED : 0u) |
                    (sampler->filter == CL_FILTER_LINEAR ? PPU_SAMPLER_LINEAR : PPU_SAMPLER_NEAREST);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(addressings); i++) {
        if (addressings[i].mode == sampler->addressing) {
            sampler->bits |= addressings[i].bits;
            known = true;
        }
    }
    return known && sampler->normalized <= CL_TRUE &&
           (sampler->filter == CL_FILTER_NEAREST || sampler->filter == CL_FILTER_LINEAR);
}

static bool set_property(struct _cl_sampler *sampler, cl_sampler_properties name, cl_sampler_properties value)
{
    switch (name) {
    case CL_SAMPLER_NORMALIZED_COORDS:
        sampler->normalized = (cl_bool)value;
        break;
    case CL_SAMPLER_ADDRESSING_MODE:
        sampler->addressing = (cl_addressing_mode)value;
        break;
    case CL_SAMPLER_FILTER_MODE:
        sampler->filter = (cl_filter_mode)value;
        break;
    default:
        return false;
    }
    return value <= UINT32_MAX;
}

/* False: a property that does not exist, or stands there twice. */
static bool take_properties(struct _cl_sampler *sampler, const cl_sampler_properties *properties)
{
    uint32_t count = 0;

    for (; properties && properties[2 * count] != 0; count++) {
        for (uint32_t i = 0; i < count; i++) {
            if (properties[2 * i] == properties[2 * count]) {
                return false;
            }
        }
        if (!set_property(sampler, properties[2 * count], properties[2 * count + 1])) {
            return false;
        }
        sampler->properties[2 * count] = properties[2 * count];
        sampler->properties[2 * count + 1] = properties[2 * count + 1];
    }
    sampler->property_bytes = properties ? (2 * count + 1) * sizeof(properties[0]) : 0;
    return true;
}

cl_sampler clCreateSamplerWithProperties(cl_context context, const cl_sampler_properties *properties, cl_int *errcode)
{
    struct _cl_sampler settled = { .normalized = CL_TRUE, .addressing = CL_ADDRESS_CLAMP, .filter = CL_FILTER_NEAREST };
    cl_int error = CL_SUCCESS;
    cl_sampler sampler = NULL;

    if (!object_is(context, OBJECT_context)) {
        error = CL_INVALID_CONTEXT;
    } else if (!take_properties(&settled, properties) || !set_bits(&settled)) {
        error = CL_INVALID_VALUE;
    } else {
        sampler = malloc(sizeof(*sampler));
        error = sampler ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    }
    if (sampler) {
        *sampler = settled;
        object_init(&sampler->object, OBJECT_sampler);
        sampler->context = context;
        object_use(context);
    }
    if (errcode) {
        *errcode = error;
    }
    return sampler;
}

cl_sampler clCreateSampler(cl_context context, cl_bool normalized, cl_addressing_mode addressing, cl_filter_mode filter,
                           cl_int *errcode)
{
    const cl_sampler_properties properties[] = { CL_SAMPLER_NORMALIZED_COORDS,
                                                 normalized,
                                                 CL_SAMPLER_ADDRESSING_MODE,
                                                 addressing,
                                                 CL_SAMPLER_FILTER_MODE,
                                                 filter,
                                                 0 };
    cl_sampler sampler = clCreateSamplerWithProperties(context, properties, errcode);

    if (sampler) {
        sampler->property_bytes = 0;
    }
    return sampler;
}

void sampler_destroy(void *object)
{
    cl_sampler sampler = object;

    object_drop(sampler->context);
    free(sampler);
}

cl_int clGetSamplerInfo(cl_sampler sampler, cl_sampler_info query, size_t bytes, void *at, size_t *size_ret)
{
    const struct info_room room = { bytes, at, size_ret };

    if (!object_is(sampler, OBJECT_sampler)) {
        return CL_INVALID_SAMPLER;
    }
    switch (query) {
#define INFO_OF_SAMPLER
#include "opencl/api/info.def"
    default:
        return CL_INVALID_VALUE;
    }
}
