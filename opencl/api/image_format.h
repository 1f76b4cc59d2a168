/* SPDX-License-Identifier: MIT */
/* Knows the formats of images (image_format.def), and converts a colour to the bits of a texel. */
#ifndef OPENCL_API_IMAGE_FORMAT_H
#define OPENCL_API_IMAGE_FORMAT_H

#include "opencl/api/object.h"

#define TEXEL_MOST_BYTES 16u

/* Returns the bytes of a texel; 0: there is no such format. */
size_t image_format_bytes(const cl_image_format *format);
/* CL_SUCCESS, INVALID_IMAGE_FORMAT_DESCRIPTOR for what is no format, IMAGE_FORMAT_NOT_SUPPORTED. */
cl_int image_format_check(const cl_image_format *format, cl_mem_object_type type, cl_mem_flags flags);
/* The texel that writing this colour makes: four floats, ints or unsigned ints, as the format has. */
void image_format_encode(const cl_image_format *format, const void *color, uint8_t texel[TEXEL_MOST_BYTES]);
/* True for CL_MEM_OBJECT_IMAGE2D and its like. */
bool image_type_is(cl_mem_object_type type);

#endif
