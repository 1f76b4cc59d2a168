/* SPDX-License-Identifier: MIT */
#include "opencl/api/image.h"

#include <stdlib.h>
#include <string.h>

#include "opencl/api/buffer.h"
#include "opencl/api/image_format.h"
#include "opencl/api/info.h"
#include "opencl/api/marks.h"
#include "opencl/api/vendor.h"
#include "ppu/macros.h"

bool image_is(cl_mem memory)
{
    return memory_is(memory) && memory->image;
}

bool image_has_lines(const struct image *image)
{
    return image->desc.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
}

/* ---- shape ---- */

/* Says what a type has, and how much of it there may be; 0: it has none. */
static const struct shape {
    cl_mem_object_type type;
    size_t width, height, depth, layers;
} shapes[] = {
    { CL_MEM_OBJECT_IMAGE1D, IMAGE_MOST_SIDE, 0, 0, 0 },
    { CL_MEM_OBJECT_IMAGE1D_BUFFER, IMAGE_MOST_BUFFER, 0, 0, 0 },
    { CL_MEM_OBJECT_IMAGE1D_ARRAY, IMAGE_MOST_SIDE, 0, 0, IMAGE_MOST_LAYERS },
    { CL_MEM_OBJECT_IMAGE2D, IMAGE_MOST_SIDE, IMAGE_MOST_SIDE, 0, 0 },
    { CL_MEM_OBJECT_IMAGE2D_ARRAY, IMAGE_MOST_SIDE, IMAGE_MOST_SIDE, 0, IMAGE_MOST_LAYERS },
    { CL_MEM_OBJECT_IMAGE3D, IMAGE_MOST_VOLUME_SIDE, IMAGE_MOST_VOLUME_SIDE, IMAGE_MOST_VOLUME_SIDE, 0 },
};

static const struct shape *find_shape(cl_mem_object_type type)
{
    for (size_t i = 0; i < PPU_ARRAY_SIZE(shapes); i++) {
        if (shapes[i].type == type) {
            return &shapes[i];
        }
    }
    return NULL;
}

/* A size that the type has not is nothing, whatever the program says of it. */
static cl_int take_size(size_t most, size_t given, size_t *size)
{
    *size = most > 0 ? given : 0;
    return most > 0 && given == 0 ? CL_INVALID_IMAGE_DESCRIPTOR : *size > most ? CL_INVALID_IMAGE_SIZE : CL_SUCCESS;
}

static cl_int take_sizes(const struct shape *shape, const cl_image_desc *given, cl_image_desc *desc)
{
    const cl_int errors[] = {
        take_size(shape->width, given->image_width, &desc->image_width),
        take_size(shape->height, given->image_height, &desc->image_height),
        take_size(shape->depth, given->image_depth, &desc->image_depth),
        take_size(shape->layers, given->image_array_size, &desc->image_array_size),
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(errors); i++) {
        if (errors[i] != CL_SUCCESS) {
            return errors[i];
        }
    }
    return CL_SUCCESS;
}

static void set_extent(struct image *image)
{
    const cl_image_desc *desc = &image->desc;
    const size_t second = image_has_lines(image) ? desc->image_array_size : desc->image_height;
    const size_t third = image_has_lines(image) ? 0 : PPU_MAX(desc->image_depth, desc->image_array_size);

    image->extent[0] = desc->image_width;
    image->extent[1] = PPU_MAX(second, 1);
    image->extent[2] = PPU_MAX(third, 1);
}

/*
 * Takes the pitches, or makes them as small as they can be. Rows have one where the program gives bytes; slices where
 * there are several.
 */
static cl_int take_pitches(struct image *image, const cl_image_desc *given, bool free_pitch)
{
    cl_image_desc *desc = &image->desc;
    const size_t row = desc->image_width * image->texel_bytes, rows = PPU_MAX(desc->image_height, 1);
    const bool sliced = desc->image_depth > 0 || desc->image_array_size > 0;

    if (!free_pitch && (given->image_row_pitch != 0 || given->image_slice_pitch != 0)) {
        return CL_INVALID_IMAGE_DESCRIPTOR;
    }
    desc->image_row_pitch = given->image_row_pitch != 0 ? given->image_row_pitch : row;
    if (desc->image_row_pitch < row || desc->image_row_pitch > UINT32_MAX ||
        desc->image_row_pitch % image->texel_bytes != 0) {
        return CL_INVALID_IMAGE_DESCRIPTOR;
    }
    const size_t slice = desc->image_row_pitch * rows;
    desc->image_slice_pitch = sliced ? given->image_slice_pitch != 0 ? given->image_slice_pitch : slice : 0;
    if (sliced && (desc->image_slice_pitch < slice || desc->image_slice_pitch % desc->image_row_pitch != 0)) {
        return CL_INVALID_IMAGE_DESCRIPTOR;
    }
    image->pitch[0] = image->texel_bytes;
    image->pitch[1] = image_has_lines(image) ? desc->image_slice_pitch : desc->image_row_pitch;
    image->pitch[2] = image_has_lines(image) ? 0 : desc->image_slice_pitch;
    return CL_SUCCESS;
}

/* Bytes from the first texel to behind the last row; false: more than descriptors can name. */
static bool image_bytes(const struct image *image, size_t *bytes)
{
    const cl_image_desc *desc = &image->desc;
    const size_t slices = PPU_MAX(image->desc.image_depth, image->desc.image_array_size);

    if (slices == 0) {
        *bytes = desc->image_row_pitch * PPU_MAX(desc->image_height, 1);
        return *bytes <= PPU_MAX_OBJECT;
    }
    return !__builtin_mul_overflow(desc->image_slice_pitch, slices, bytes) && *bytes <= PPU_MAX_OBJECT;
}

struct ppu_surface image_surface(const struct image *image, uint64_t va)
{
    const cl_image_desc *desc = &image->desc;

    return (struct ppu_surface){
        .va = va,
        .width = (uint32_t)desc->image_width,
        .height = (uint32_t)PPU_MAX(desc->image_height, 1),
        .depth = (uint32_t)PPU_MAX(PPU_MAX(desc->image_depth, desc->image_array_size), 1),
        .row_bytes = (uint32_t)desc->image_row_pitch,
        .slice_bytes = (uint32_t)desc->image_slice_pitch,
        .texel_log2 = (uint32_t)__builtin_ctzll(image->texel_bytes),
        .type = image->format.image_channel_data_type,
        .order = image->format.image_channel_order,
    };
}

/* ---- making ---- */

/* What an image is made of. */
struct plan {
    cl_context context;
    cl_mem_flags flags;
    const cl_image_format *format;
    const cl_image_desc *desc;
    void *host_ptr;
    struct image image;
    size_t bytes;
};

static bool wants_pointer(const struct plan *plan)
{
    return (plan->flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0;
}

/* Orders of the same channels, which texels may be seen in whichever of the two they were made in. */
static bool orders_agree(cl_channel_order a, cl_channel_order b)
{
    static const cl_channel_order same[][2] = { { CL_RGBA, CL_sRGBA }, { CL_BGRA, CL_sBGRA }, { CL_R, CL_DEPTH } };
    bool agree = a == b;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(same); i++) {
        agree |= (a == same[i][0] && b == same[i][1]) || (a == same[i][1] && b == same[i][0]);
    }
    return agree;
}

/* A 2-D image may show another one's texels. What it says of itself is what the other one is. */
static bool shows_image(const struct plan *plan, cl_mem parent)
{
    const struct image *image = &plan->image, *other = parent->image;
    const size_t pitch = plan->desc->image_row_pitch;

    return image->desc.image_type == CL_MEM_OBJECT_IMAGE2D && other->desc.image_type == CL_MEM_OBJECT_IMAGE2D &&
           image->desc.image_width == other->desc.image_width && image->desc.image_height == other->desc.image_height &&
           image->format.image_channel_data_type == other->format.image_channel_data_type &&
           orders_agree(image->format.image_channel_order, other->format.image_channel_order) &&
           (pitch == 0 || pitch == other->desc.image_row_pitch);
}

static cl_int check_parent(struct plan *plan, cl_mem parent)
{
    struct image *image = &plan->image;
    const bool line = image->desc.image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
    cl_image_desc given = *plan->desc;

    if (!memory_is(parent) || parent->context != plan->context || (line && !buffer_is(parent)) ||
        (!line && image->desc.image_type != CL_MEM_OBJECT_IMAGE2D)) {
        return CL_INVALID_IMAGE_DESCRIPTOR;
    }
    if (plan->host_ptr) {
        return CL_INVALID_HOST_PTR;
    }
    if (memory_inherit(parent->flags, &plan->flags) != CL_SUCCESS) {
        return CL_INVALID_VALUE;
    }
    if (image_is(parent)) {
        if (!shows_image(plan, parent)) {
            return CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
        }
        given.image_row_pitch = parent->image->desc.image_row_pitch;
    }
    cl_int error = take_pitches(image, &given, true);
    if (error == CL_SUCCESS && (!image_bytes(image, &plan->bytes) || plan->bytes > parent->bytes)) {
        error = CL_INVALID_IMAGE_DESCRIPTOR;
    }
    return error;
}

static cl_int check_own(struct plan *plan)
{
    if (plan->image.desc.image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER) { /* nothing else has the texels */
        return CL_INVALID_IMAGE_DESCRIPTOR;
    }
    if (wants_pointer(plan) != !!plan->host_ptr) {
        return CL_INVALID_HOST_PTR;
    }
    cl_int error = take_pitches(&plan->image, plan->desc, !!plan->host_ptr);
    if (error == CL_SUCCESS &&
        (!image_bytes(&plan->image, &plan->bytes) || plan->bytes > device_max_alloc(plan->context->device))) {
        error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    }
    return error;
}

/* What kernels may do with it: where the flags do not say, as with the object that it is made of. */
static cl_mem_flags access_flags(const struct plan *plan)
{
    const cl_mem_flags access = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
    cl_mem parent = plan->desc->mem_object;

    return (plan->flags & access) == 0 && memory_is(parent) ? parent->flags & access : plan->flags;
}

static cl_int check_plan(struct plan *plan)
{
    const cl_image_desc *desc = plan->desc;
    const struct shape *shape = desc ? find_shape(desc->image_type) : NULL;
    struct image *image = &plan->image;

    if (!object_is(plan->context, OBJECT_context)) {
        return CL_INVALID_CONTEXT;
    }
    cl_int error = memory_check_flags(plan->flags);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (!plan->format) {
        return CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
    }
    if (!shape || desc->num_mip_levels != 0 || desc->num_samples != 0) {
        return CL_INVALID_IMAGE_DESCRIPTOR;
    }
    error = image_format_check(plan->format, desc->image_type, access_flags(plan));
    if (error != CL_SUCCESS) {
        return error;
    }
    image->format = *plan->format;
    image->texel_bytes = image_format_bytes(plan->format);
    image->desc = (cl_image_desc){ .image_type = desc->image_type, .mem_object = desc->mem_object };
    error = take_sizes(shape, desc, &image->desc);
    if (error == CL_SUCCESS) {
        set_extent(image);
        error = desc->mem_object ? check_parent(plan, desc->mem_object) : check_own(plan);
    }
    return error;
}

/* The bytes are another object's: only the descriptor is its own. */
static enum ppu_err share_bytes(cl_mem memory, cl_mem parent)
{
    marks_set(parent, 0, parent->bytes); /* kernels write images without marks */
    object_use(parent);
    memory->parent = parent;
    memory->origin = parent->origin;
    memory->at = parent->at;
    memory->va = parent->va;
    memory->shadow = parent->shadow;
    memory->host_ptr = parent->host_ptr;
    return memory_take_vram(memory->context, sizeof(struct ppu_surface), &memory->own);
}

static enum ppu_err give_bytes(cl_mem memory, void *host_ptr)
{
    enum ppu_err err = memory_take_vram(memory->context, PPU_SURFACE_ALIGN + memory->bytes, &memory->own);

    if (err != PPU_OK) {
        return err;
    }
    memory->at = (uint8_t *)ppu_memory_host(memory->own) + PPU_SURFACE_ALIGN;
    memory->va = ppu_memory_va(memory->own, memory->context->ppu).va + PPU_SURFACE_ALIGN;
    memory->shadow = (memory->flags & CL_MEM_USE_HOST_PTR) != 0;
    memory->host_ptr = memory->shadow ? host_ptr : NULL;
    if (host_ptr) {
        memcpy(memory->at, host_ptr, memory->bytes);
    }
    return PPU_OK;
}

static cl_int image_fill(cl_mem memory, const struct plan *plan)
{
    struct image *image = malloc(sizeof(*image));

    if (!image) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    memory->image = image;
    *image = plan->image;
    cl_mem parent = image->desc.mem_object;
    enum ppu_err err = parent ? share_bytes(memory, parent) : give_bytes(memory, plan->host_ptr);
    if (err == PPU_OK) {
        image->surface = image_surface(image, memory->va);
        image->surface_va = ppu_memory_va(memory->own, memory->context->ppu).va;
        memcpy(ppu_memory_host(memory->own), &image->surface, sizeof(image->surface));
    }
    return memory_error(err);
}

cl_mem clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format *format, const cl_image_desc *desc,
                     void *host_ptr, cl_int *errcode)
{
    struct plan plan = { .context = context, .flags = flags, .format = format, .desc = desc, .host_ptr = host_ptr };
    cl_int error = check_plan(&plan);
    cl_mem memory = NULL;

    if (error == CL_SUCCESS) {
        vendor_note_flags(context, "clCreateImage", flags);
        memory = memory_new(context, plan.flags, plan.bytes);
        error = memory ? image_fill(memory, &plan) : CL_OUT_OF_HOST_MEMORY;
    }
    if (error != CL_SUCCESS && memory) {
        clReleaseMemObject(memory);
        memory = NULL;
    }
    if (errcode) {
        *errcode = error;
    }
    return memory;
}

cl_mem clCreateImageWithProperties(cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
                                   const cl_image_format *format, const cl_image_desc *desc, void *host_ptr,
                                   cl_int *errcode)
{
    cl_int error = memory_check_properties(context, properties);
    cl_mem memory = NULL;

    if (error == CL_SUCCESS) {
        memory = clCreateImage(context, flags, format, desc, host_ptr, &error);
    }
    if (memory) {
        memory_note_properties(memory, properties);
    }
    if (errcode) {
        *errcode = error;
    }
    return memory;
}

/* What these told of a wrong size, the descriptor's later form tells of the descriptor. */
static cl_mem create_old(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                         const cl_image_desc *desc, void *host_ptr, cl_int *errcode)
{
    cl_int error = CL_SUCCESS;
    cl_mem memory = clCreateImage(context, flags, format, desc, host_ptr, &error);

    if (errcode) {
        *errcode = error == CL_INVALID_IMAGE_DESCRIPTOR ? CL_INVALID_IMAGE_SIZE : error;
    }
    return memory;
}

cl_mem clCreateImage2D(cl_context context, cl_mem_flags flags, const cl_image_format *format, size_t width,
                       size_t height, size_t row_pitch, void *host_ptr, cl_int *errcode)
{
    const cl_image_desc desc = {
        .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = width, .image_height = height, .image_row_pitch = row_pitch
    };

    return create_old(context, flags, format, &desc, host_ptr, errcode);
}

cl_mem clCreateImage3D(cl_context context, cl_mem_flags flags, const cl_image_format *format, size_t width,
                       size_t height, size_t depth, size_t row_pitch, size_t slice_pitch, void *host_ptr,
                       cl_int *errcode)
{
    const cl_image_desc desc = { .image_type = CL_MEM_OBJECT_IMAGE3D,
                                 .image_width = width,
                                 .image_height = height,
                                 .image_depth = depth,
                                 .image_row_pitch = row_pitch,
                                 .image_slice_pitch = slice_pitch };

    return create_old(context, flags, format, &desc, host_ptr, errcode);
}

/* ---- queries ---- */

cl_int clGetImageInfo(cl_mem memory, cl_image_info query, size_t bytes, void *at, size_t *size_ret)
{
    const struct info_room room = { bytes, at, size_ret };

    if (!image_is(memory)) {
        return CL_INVALID_MEM_OBJECT;
    }
    const struct image *image = memory->image;
    switch (query) {
#define INFO_OF_IMAGE
#include "opencl/api/info.def"
    default:
        return CL_INVALID_VALUE;
    }
}
