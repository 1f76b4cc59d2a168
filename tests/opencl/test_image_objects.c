/* SPDX-License-Identifier: MIT */
/*
 * Tests images and samplers from the host: what is made and told, what is refused and leaves nothing changed, and that
 * every transfer moves the texels that it names.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "tests/opencl/fixture.h"

#define refused(call, expected)            \
    do {                                   \
        error = CL_SUCCESS;                \
        assert_null(call);                 \
        assert_int_equal(error, expected); \
    } while (0)

static const cl_image_format bytes4 = { CL_RGBA, CL_UNSIGNED_INT8 };
static const cl_image_format words1 = { CL_R, CL_UNSIGNED_INT32 };
static const size_t zero[3] = { 0, 0, 0 };

static cl_image_desc plane(size_t width, size_t height)
{
    return (cl_image_desc){ .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = width, .image_height = height };
}

static cl_image_desc volume(size_t width, size_t height, size_t depth)
{
    return (cl_image_desc){
        .image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = width, .image_height = height, .image_depth = depth
    };
}

static cl_mem image_of(struct fixture *f, cl_mem_flags flags, cl_image_format format, cl_image_desc desc, void *host)
{
    cl_int error = CL_SUCCESS;
    cl_mem image = clCreateImage(f->context, flags, &format, &desc, host, &error);

    check(error);
    return image;
}

static size_t size_of(cl_mem image, cl_image_info query)
{
    size_t size = 0, bytes = 0;

    check(clGetImageInfo(image, query, sizeof(size), &size, &bytes));
    assert_int_equal(bytes, sizeof(size));
    assert_int_equal(clGetImageInfo(image, query, sizeof(size) - 1, &size, NULL), CL_INVALID_VALUE);
    return size;
}

/* ---- making ---- */

static void images_are_told(void **state)
{
    struct fixture *f = *state;
    cl_mem image = image_of(f, CL_MEM_READ_ONLY, bytes4, volume(5, 4, 3), NULL), buffer = image;
    cl_image_format format = { 0, 0 };
    cl_mem_object_type type = 0;
    cl_uint levels = 9;
    size_t bytes = 0;

    assert_int_equal(size_of(image, CL_IMAGE_WIDTH), 5);
    assert_int_equal(size_of(image, CL_IMAGE_HEIGHT), 4);
    assert_int_equal(size_of(image, CL_IMAGE_DEPTH), 3);
    assert_int_equal(size_of(image, CL_IMAGE_ARRAY_SIZE), 0);
    assert_int_equal(size_of(image, CL_IMAGE_ELEMENT_SIZE), 4);
    assert_int_equal(size_of(image, CL_IMAGE_ROW_PITCH), 20);
    assert_int_equal(size_of(image, CL_IMAGE_SLICE_PITCH), 80);
    check(clGetImageInfo(image, CL_IMAGE_FORMAT, sizeof(format), &format, NULL));
    assert_memory_equal(&format, &bytes4, sizeof(format));
    check(clGetImageInfo(image, CL_IMAGE_BUFFER, sizeof(buffer), &buffer, NULL));
    assert_null(buffer);
    check(clGetImageInfo(image, CL_IMAGE_NUM_MIP_LEVELS, sizeof(levels), &levels, NULL));
    assert_int_equal(levels, 0);
    assert_int_equal(clGetImageInfo(image, CL_MEM_SIZE, 0, NULL, NULL), CL_INVALID_VALUE);
    check(clGetMemObjectInfo(image, CL_MEM_TYPE, sizeof(type), &type, NULL));
    assert_int_equal(type, CL_MEM_OBJECT_IMAGE3D);
    check(clGetMemObjectInfo(image, CL_MEM_SIZE, sizeof(bytes), &bytes, NULL));
    assert_int_equal(bytes, 240);
    check(clReleaseMemObject(image));
    buffer = fixture_buffer(f, 0, 64, NULL);
    assert_int_equal(clGetImageInfo(buffer, CL_IMAGE_WIDTH, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    check(clReleaseMemObject(buffer));
}

static void older_functions_make_images(void **state)
{
    struct fixture *f = *state;
    const cl_mem_properties none[] = { 0 }, strange[] = { 77, 1, 0 };
    const cl_image_desc desc = plane(4, 4);
    cl_int error = CL_SUCCESS;
    cl_mem image = clCreateImage2D(f->context, 0, &bytes4, 7, 3, 0, NULL, &error);

    check(error);
    assert_int_equal(size_of(image, CL_IMAGE_HEIGHT), 3);
    check(clReleaseMemObject(image));
    image = clCreateImage3D(f->context, 0, &bytes4, 7, 3, 2, 0, 0, NULL, &error);
    check(error);
    assert_int_equal(size_of(image, CL_IMAGE_DEPTH), 2);
    check(clReleaseMemObject(image));
    image = clCreateImageWithProperties(f->context, none, 0, &bytes4, &desc, NULL, &error);
    check(error);
    check(clReleaseMemObject(image));
    refused(clCreateImageWithProperties(f->context, strange, 0, &bytes4, &desc, NULL, &error), CL_INVALID_PROPERTY);
    refused(clCreateImage2D(f->context, 0, &bytes4, 0, 3, 0, NULL, &error), CL_INVALID_IMAGE_SIZE);
    refused(clCreateImage2D(f->context, 0, &bytes4, 7, 3, 28, NULL, &error), CL_INVALID_IMAGE_SIZE);
    refused(clCreateImage3D(f->context, 0, &bytes4, 7, 0, 3, 0, 0, NULL, &error), CL_INVALID_IMAGE_SIZE);
}

struct bad_image {
    cl_mem_flags flags;
    cl_image_format format;
    cl_image_desc desc;
    bool host;
    cl_int error;
};

#define DESC(type, width, height, depth, layers, ...)                                                   \
    {                                                                                                   \
        .image_type = (type), .image_width = (width), .image_height = (height), .image_depth = (depth), \
        .image_array_size = (layers), __VA_ARGS__                                                       \
    }
#define BYTES4                    \
    {                             \
        CL_RGBA, CL_UNSIGNED_INT8 \
    }
#define SMALL DESC(CL_MEM_OBJECT_IMAGE2D, 4, 4, 0, 0, .num_samples = 0)

static const struct bad_image bad_images[] = {
    { CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, BYTES4, SMALL, false, CL_INVALID_VALUE },
    { 1ull << 40, BYTES4, SMALL, false, CL_INVALID_VALUE },
    { 0, { CL_RGBA, CL_UNORM_SHORT_565 }, SMALL, false, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR },
    { 0, { CL_RGB, CL_UNORM_INT8 }, SMALL, false, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR },
    { 0, { 0, CL_UNORM_INT8 }, SMALL, false, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR },
    { 0, { CL_R, 0x9999 }, SMALL, false, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR },
    { 0, { CL_ARGB, CL_FLOAT }, SMALL, false, CL_IMAGE_FORMAT_NOT_SUPPORTED },
    { 0, { CL_sRGBA, CL_UNORM_INT8 }, SMALL, false, CL_IMAGE_FORMAT_NOT_SUPPORTED },
    { 0,
      { CL_DEPTH, CL_FLOAT },
      DESC(CL_MEM_OBJECT_IMAGE3D, 4, 4, 4, 0, .num_samples = 0),
      false,
      CL_IMAGE_FORMAT_NOT_SUPPORTED },
    { 0, BYTES4, DESC(0x1234, 4, 4, 0, 0, .num_samples = 0), false, CL_INVALID_IMAGE_DESCRIPTOR },
    { 0, BYTES4, DESC(CL_MEM_OBJECT_BUFFER, 4, 4, 0, 0, .num_samples = 0), false, CL_INVALID_IMAGE_DESCRIPTOR },
    { 0, BYTES4, DESC(CL_MEM_OBJECT_IMAGE1D_BUFFER, 4, 0, 0, 0, .num_samples = 0), false, CL_INVALID_IMAGE_DESCRIPTOR },
    { 0, BYTES4, DESC(CL_MEM_OBJECT_IMAGE2D, 0, 4, 0, 0, .num_samples = 0), false, CL_INVALID_IMAGE_DESCRIPTOR },
    { 0, BYTES4, DESC(CL_MEM_OBJECT_IMAGE2D, 4, 0, 0, 0, .num_samples = 0), false, CL_INVALID_IMAGE_DESCRIPTOR },
    { 0, BYTES4, DESC(CL_MEM_OBJECT_IMAGE3D, 4, 4, 0, 0, .num_samples = 0), false, CL_INVALID_IMAGE_DESCRIPTOR },
    { 0, BYTES4, DESC(CL_MEM_OBJECT_IMAGE2D_ARRAY, 4, 4, 0, 0, .num_samples = 0), false, CL_INVALID_IMAGE_DESCRIPTOR },
    { 0, BYTES4, DESC(CL_MEM_OBJECT_IMAGE2D, 4, 4, 0, 0, .num_mip_levels = 2), false, CL_INVALID_IMAGE_DESCRIPTOR },
    { 0, BYTES4, DESC(CL_MEM_OBJECT_IMAGE2D, 4, 4, 0, 0, .num_samples = 4), false, CL_INVALID_IMAGE_DESCRIPTOR },
    { 0, BYTES4, DESC(CL_MEM_OBJECT_IMAGE2D, 4, 4, 0, 0, .image_row_pitch = 16), false, CL_INVALID_IMAGE_DESCRIPTOR },
    { CL_MEM_COPY_HOST_PTR, BYTES4, DESC(CL_MEM_OBJECT_IMAGE2D, 4, 4, 0, 0, .image_row_pitch = 15), true,
      CL_INVALID_IMAGE_DESCRIPTOR },
    { CL_MEM_COPY_HOST_PTR, BYTES4, DESC(CL_MEM_OBJECT_IMAGE2D, 4, 4, 0, 0, .image_row_pitch = 18), true,
      CL_INVALID_IMAGE_DESCRIPTOR },
    { CL_MEM_COPY_HOST_PTR, BYTES4, DESC(CL_MEM_OBJECT_IMAGE2D, 4, 4, 0, 0, .image_row_pitch = SIZE_MAX - 3), true,
      CL_INVALID_IMAGE_DESCRIPTOR },
    { CL_MEM_COPY_HOST_PTR, BYTES4, DESC(CL_MEM_OBJECT_IMAGE3D, 4, 4, 2, 0, .image_slice_pitch = 72), true,
      CL_INVALID_IMAGE_DESCRIPTOR },
    { CL_MEM_COPY_HOST_PTR, BYTES4, DESC(CL_MEM_OBJECT_IMAGE3D, 4, 4, 2, 0, .image_slice_pitch = SIZE_MAX / 16 * 16),
      true, CL_MEM_OBJECT_ALLOCATION_FAILURE },
    { 0, BYTES4, SMALL, true, CL_INVALID_HOST_PTR },
    { CL_MEM_USE_HOST_PTR, BYTES4, SMALL, false, CL_INVALID_HOST_PTR },
    { 0, BYTES4, DESC(CL_MEM_OBJECT_IMAGE2D, 16385, 4, 0, 0, .num_samples = 0), false, CL_INVALID_IMAGE_SIZE },
    { 0, BYTES4, DESC(CL_MEM_OBJECT_IMAGE2D, 4, SIZE_MAX, 0, 0, .num_samples = 0), false, CL_INVALID_IMAGE_SIZE },
    { 0, BYTES4, DESC(CL_MEM_OBJECT_IMAGE3D, 4, 4, 2049, 0, .num_samples = 0), false, CL_INVALID_IMAGE_SIZE },
    { 0, BYTES4, DESC(CL_MEM_OBJECT_IMAGE1D_ARRAY, 4, 0, 0, 2049, .num_samples = 0), false, CL_INVALID_IMAGE_SIZE },
    { 0,
      { CL_RGBA, CL_FLOAT },
      DESC(CL_MEM_OBJECT_IMAGE3D, 2048, 2048, 2048, 0, .num_samples = 0),
      false,
      CL_MEM_OBJECT_ALLOCATION_FAILURE },
};

static void bad_images_are_refused(void **state)
{
    static uint8_t host[1024];
    struct fixture *f = *state;
    cl_int error = CL_SUCCESS;
    cl_image_desc desc = plane(4, 4);

    for (size_t i = 0; i < PPU_ARRAY_SIZE(bad_images); i++) {
        const struct bad_image *bad = &bad_images[i];
        cl_mem image = clCreateImage(f->context, bad->flags, &bad->format, &bad->desc, bad->host ? host : NULL, &error);
        if (image || error != bad->error) {
            fail_msg("row %zu: error %d instead of %d", i, error, bad->error);
        }
    }
    refused(clCreateImage(NULL, 0, &bytes4, &desc, NULL, &error), CL_INVALID_CONTEXT);
    refused(clCreateImage(f->context, 0, NULL, &desc, NULL, &error), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    refused(clCreateImage(f->context, 0, &bytes4, NULL, NULL, &error), CL_INVALID_IMAGE_DESCRIPTOR);
}

static void images_in_buffers_are_checked(void **state)
{
    static uint8_t host[64];
    struct fixture *f = *state;
    cl_int error = CL_SUCCESS;
    cl_mem buffer = fixture_buffer(f, CL_MEM_READ_ONLY, 256, NULL), parent = NULL;
    cl_image_desc desc = plane(4, 4), line = { .image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 65 };
    cl_mem_flags flags = 0;

    desc.mem_object = line.mem_object = buffer;
    refused(clCreateImage(f->context, 0, &bytes4, &line, NULL, &error), CL_INVALID_IMAGE_DESCRIPTOR);
    refused(clCreateImage(f->context, CL_MEM_READ_WRITE, &bytes4, &desc, NULL, &error), CL_INVALID_VALUE);
    refused(clCreateImage(f->context, CL_MEM_COPY_HOST_PTR, &bytes4, &desc, host, &error), CL_INVALID_HOST_PTR);
    desc.image_row_pitch = 84;
    refused(clCreateImage(f->context, 0, &bytes4, &desc, NULL, &error), CL_INVALID_IMAGE_DESCRIPTOR);
    desc.image_row_pitch = 64;
    cl_mem image = image_of(f, 0, bytes4, desc, NULL);
    assert_int_equal(size_of(image, CL_IMAGE_ROW_PITCH), 64);
    check(clGetImageInfo(image, CL_IMAGE_BUFFER, sizeof(parent), &parent, NULL));
    assert_ptr_equal(parent, buffer);
    check(clGetMemObjectInfo(image, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof(parent), &parent, NULL));
    assert_ptr_equal(parent, buffer);
    check(clGetMemObjectInfo(image, CL_MEM_FLAGS, sizeof(flags), &flags, NULL));
    assert_int_equal(flags, CL_MEM_READ_ONLY);
    check(clReleaseMemObject(buffer)); /* the image keeps it */
    uint8_t texels[64];
    const size_t region[3] = { 4, 4, 1 };
    check(clEnqueueReadImage(f->queue, image, CL_TRUE, zero, region, 0, 0, texels, 0, NULL, NULL));
    check(clReleaseMemObject(image));
}

/* Texels that are sRGB for one, and linear for another. */
static void images_show_images(void **state)
{
    struct fixture *f = *state;
    cl_int error = CL_SUCCESS;
    uint8_t texels[64], got[64];
    const size_t region[3] = { 4, 4, 1 };

    for (uint32_t i = 0; i < 64; i++) {
        texels[i] = (uint8_t)(i * 5);
    }
    cl_mem image = image_of(f, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, (cl_image_format){ CL_sRGBA, CL_UNORM_INT8 },
                            plane(4, 4), texels);
    cl_image_desc desc = plane(4, 4);
    desc.mem_object = image;
    const cl_image_format linear = { CL_RGBA, CL_UNORM_INT8 };
    const cl_image_format others[] = {
        { CL_RGBA, CL_SNORM_INT8 }, { CL_BGRA, CL_UNORM_INT8 }, { CL_sBGRA, CL_UNORM_INT8 }, { CL_ARGB, CL_UNORM_INT8 }
    };
    for (size_t i = 0; i < PPU_ARRAY_SIZE(others); i++) {
        refused(clCreateImage(f->context, CL_MEM_READ_ONLY, &others[i], &desc, NULL, &error),
                CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    }
    desc.image_row_pitch = 20;
    refused(clCreateImage(f->context, 0, &linear, &desc, NULL, &error), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    desc.image_row_pitch = size_of(image, CL_IMAGE_ROW_PITCH);
    cl_mem shown = image_of(f, 0, linear, desc, NULL);
    check(clReleaseMemObject(image));
    check(clEnqueueReadImage(f->queue, shown, CL_TRUE, zero, region, 0, 0, got, 0, NULL, NULL));
    assert_memory_equal(texels, got, sizeof(got));
    check(clReleaseMemObject(shown));
    /* Without a word of what kernels do with it, it is as the other one: sRGB cannot be written. */
    image = image_of(f, CL_MEM_READ_ONLY, linear, plane(4, 4), NULL);
    cl_mem both = image_of(f, 0, linear, plane(4, 4), NULL);
    const cl_image_format colours = { CL_sRGBA, CL_UNORM_INT8 };
    desc.mem_object = image;
    check(clReleaseMemObject(image_of(f, 0, colours, desc, NULL)));
    desc.mem_object = both;
    refused(clCreateImage(f->context, 0, &colours, &desc, NULL, &error), CL_IMAGE_FORMAT_NOT_SUPPORTED);
    check(clReleaseMemObject(both));
    check(clReleaseMemObject(image));
}

static void formats_are_listed(void **state)
{
    struct fixture *f = *state;
    cl_image_format formats[256];
    cl_uint all = 0, writable = 0, deep = 0;
    const cl_mem_object_type type = CL_MEM_OBJECT_IMAGE2D;

    check(clGetSupportedImageFormats(f->context, CL_MEM_READ_ONLY, type, 256, formats, &all));
    check(clGetSupportedImageFormats(f->context, CL_MEM_WRITE_ONLY, type, 1, formats, &writable));
    check(clGetSupportedImageFormats(f->context, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE3D, 0, NULL, &deep));
    assert_int_equal(all, writable + 2); /* sRGB is read alone */
    assert_int_equal(all, deep + 2);     /* depth has two types */
    check(clGetSupportedImageFormats(f->context, CL_MEM_KERNEL_READ_AND_WRITE, type, 256, formats, NULL));
    assert_int_equal(clGetSupportedImageFormats(NULL, 0, type, 0, NULL, &all), CL_INVALID_CONTEXT);
    assert_int_equal(clGetSupportedImageFormats(f->context, 0, CL_MEM_OBJECT_BUFFER, 0, NULL, &all), CL_INVALID_VALUE);
    assert_int_equal(clGetSupportedImageFormats(f->context, 3, type, 0, NULL, &all), CL_INVALID_VALUE);
    assert_int_equal(clGetSupportedImageFormats(f->context, 0, type, 0, formats, &all), CL_INVALID_VALUE);
    for (cl_uint i = 0; i < all; i++) {
        cl_mem image = image_of(f, CL_MEM_READ_ONLY, formats[i], plane(3, 3), NULL);
        check(clReleaseMemObject(image));
        check(clGetSupportedImageFormats(f->context, CL_MEM_READ_ONLY, type, 256, formats, NULL));
    }
}

static void limits_are_told(void **state)
{
    struct fixture *f = *state;
    static const struct {
        cl_device_info query;
        size_t bytes, least;
    } limits[] = {
        { CL_DEVICE_IMAGE_SUPPORT, 4, 1 },           { CL_DEVICE_MAX_READ_IMAGE_ARGS, 4, 128 },
        { CL_DEVICE_MAX_WRITE_IMAGE_ARGS, 4, 64 },   { CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, 4, 64 },
        { CL_DEVICE_IMAGE2D_MAX_WIDTH, 8, 16384 },   { CL_DEVICE_IMAGE2D_MAX_HEIGHT, 8, 16384 },
        { CL_DEVICE_IMAGE3D_MAX_WIDTH, 8, 2048 },    { CL_DEVICE_IMAGE3D_MAX_HEIGHT, 8, 2048 },
        { CL_DEVICE_IMAGE3D_MAX_DEPTH, 8, 2048 },    { CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, 8, 65536 },
        { CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, 8, 2048 }, { CL_DEVICE_MAX_SAMPLERS, 4, 16 },
        { CL_DEVICE_IMAGE_PITCH_ALIGNMENT, 4, 1 },   { CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, 4, 1 },
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(limits); i++) {
        size_t value = 0;
        check(clGetDeviceInfo(f->device, limits[i].query, limits[i].bytes, &value, NULL));
        assert_true(value >= limits[i].least);
    }
    /* Images of the largest sides are made. */
    const cl_image_desc long_ones[] = { plane(16384, 1), plane(1, 16384), volume(2048, 1, 1), volume(1, 1, 2048) };
    for (size_t i = 0; i < PPU_ARRAY_SIZE(long_ones); i++) {
        check(clReleaseMemObject(image_of(f, 0, bytes4, long_ones[i], NULL)));
    }
}

/* ---- transfers ---- */

#define W 5u
#define H 4u
#define D 3u

static uint32_t texel_at(size_t x, size_t y, size_t z)
{
    return (uint32_t)(x + 10 * y + 100 * z + 1000);
}

static cl_mem counted(struct fixture *f, cl_mem_flags flags)
{
    uint32_t texels[D][H][W];

    for (size_t i = 0; i < D * H * W; i++) {
        texels[i / (W * H)][i / W % H][i % W] = texel_at(i % W, i / W % H, i / (W * H));
    }
    return image_of(f, flags | CL_MEM_COPY_HOST_PTR, words1, volume(W, H, D), texels);
}

static void regions_are_read_and_written(void **state)
{
    struct fixture *f = *state;
    cl_mem image = counted(f, 0);
    const size_t origin[3] = { 1, 2, 1 }, region[3] = { 3, 2, 2 }, whole[3] = { W, H, D };
    uint32_t got[2][4][8], all[D][H][W];

    memset(got, 0xee, sizeof(got));
    check(clEnqueueReadImage(f->queue, image, CL_TRUE, origin, region, 32, 128, got, 0, NULL, NULL));
    for (size_t i = 0; i < 2 * 4 * 8; i++) {
        size_t x = i % 8, y = i / 8 % 4, z = i / 32;
        bool inside = x < 3 && y < 2;
        assert_int_equal(got[z][y][x], inside ? texel_at(x + 1, y + 2, z + 1) : 0xeeeeeeee);
    }
    for (size_t i = 0; i < 2 * 4 * 8; i++) {
        got[i / 32][i / 8 % 4][i % 8] += 5000;
    }
    check(clEnqueueWriteImage(f->queue, image, CL_TRUE, origin, region, 32, 128, got, 0, NULL, NULL));
    check(clEnqueueReadImage(f->queue, image, CL_TRUE, zero, whole, 0, 0, all, 0, NULL, NULL));
    for (size_t i = 0; i < D * H * W; i++) {
        size_t x = i % W, y = i / W % H, z = i / (W * H);
        bool inside = x >= 1 && x < 4 && y >= 2 && z >= 1;
        assert_int_equal(all[z][y][x], texel_at(x, y, z) + (inside ? 5000 : 0));
    }
    check(clReleaseMemObject(image));
}

/* The slice pitch of an array of lines lies between its lines. */
static void lines_have_a_slice_pitch(void **state)
{
    struct fixture *f = *state;
    const cl_image_desc desc = {
        .image_type = CL_MEM_OBJECT_IMAGE1D_ARRAY, .image_width = 2, .image_array_size = 3, .image_slice_pitch = 24
    };
    uint32_t host[3][6] = { { 1, 2 }, { 3, 4 }, { 5, 6 } }, got[3][3] = { { 0 } };
    const size_t region[3] = { 2, 3, 1 };
    size_t row = 0, slice = 0;
    cl_int error = CL_SUCCESS;
    cl_image_desc with_rows = desc;

    with_rows.image_row_pitch = 8;
    cl_mem image = image_of(f, CL_MEM_COPY_HOST_PTR, words1, with_rows, host);
    check(clEnqueueReadImage(f->queue, image, CL_TRUE, zero, region, 0, 12, got, 0, NULL, NULL));
    for (size_t i = 0; i < 9; i++) {
        assert_int_equal(got[i / 3][i % 3], i % 3 < 2 ? host[i / 3][i % 3] : 0);
    }
    const uint32_t *mapped =
        clEnqueueMapImage(f->queue, image, CL_TRUE, CL_MAP_READ, zero, region, &row, &slice, 0, NULL, NULL, &error);
    check(error);
    assert_int_equal(slice, 24);
    assert_int_equal(mapped[slice / 4 * 2 + 1], 6);
    check(clEnqueueUnmapMemObject(f->queue, image, (void *)(uintptr_t)mapped, 0, NULL, NULL));
    check(clFinish(f->queue));
    check(clReleaseMemObject(image));
}

static void images_are_copied(void **state)
{
    struct fixture *f = *state;
    cl_mem from = counted(f, 0), to = image_of(f, 0, words1, plane(W, H), NULL);
    cl_mem buffer = fixture_buffer(f, 0, 256, NULL);
    const size_t origin[3] = { 1, 1, 2 }, region[3] = { 2, 2, 1 }, corner[3] = { 3, 2, 0 };
    const uint32_t color[4] = { 7, 0, 0, 0 };
    uint32_t got[H][W], words[64];
    const size_t whole[3] = { W, H, 1 };

    check(clEnqueueFillImage(f->queue, to, color, zero, whole, 0, NULL, NULL));
    check(clEnqueueCopyImage(f->queue, from, to, origin, corner, region, 0, NULL, NULL));
    check(clEnqueueReadImage(f->queue, to, CL_TRUE, zero, whole, 0, 0, got, 0, NULL, NULL));
    for (size_t i = 0; i < H * W; i++) {
        size_t x = i % W, y = i / W;
        assert_int_equal(got[y][x], x >= 3 && y >= 2 ? texel_at(x - 2, y - 1, 2) : 7);
    }
    memset(words, 0, sizeof(words));
    check(clEnqueueWriteBuffer(f->queue, buffer, CL_TRUE, 0, 256, words, 0, NULL, NULL));
    check(clEnqueueCopyImageToBuffer(f->queue, from, buffer, origin, region, 8, 0, NULL, NULL));
    check(clEnqueueCopyBufferToImage(f->queue, buffer, to, 8, zero, region, 0, NULL, NULL));
    check(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, 256, words, 0, NULL, NULL));
    check(clEnqueueReadImage(f->queue, to, CL_TRUE, zero, whole, 0, 0, got, 0, NULL, NULL));
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(words[2 + i], texel_at(1 + i % 2, 1 + i / 2, 2));
        assert_int_equal(got[i / 2][i % 2], words[2 + i]);
    }
    assert_int_equal(words[1] + words[6], 0);
    check(clReleaseMemObject(buffer));
    check(clReleaseMemObject(to));
    check(clReleaseMemObject(from));
}

/* A map of a part brings that part alone, in both directions. */
static void maps_move_what_they_name(void **state)
{
    struct fixture *f = *state;
    uint32_t host[H][W + 3];
    const size_t origin[3] = { 1, 1, 0 }, region[3] = { 2, 2, 1 }, whole[3] = { W, H, 1 };
    const uint32_t color[4] = { 9, 0, 0, 0 };
    cl_image_desc desc = plane(W, H);
    size_t row = 0;
    cl_int error = CL_SUCCESS;

    memset(host, 0, sizeof(host));
    desc.image_row_pitch = sizeof(host[0]);
    cl_mem image = image_of(f, CL_MEM_USE_HOST_PTR, words1, desc, host);
    check(clEnqueueFillImage(f->queue, image, color, zero, whole, 0, NULL, NULL));
    uint32_t *mapped = clEnqueueMapImage(f->queue, image, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, origin, region, &row,
                                         NULL, 0, NULL, NULL, &error);
    check(error);
    assert_ptr_equal(mapped, &host[1][1]);
    assert_int_equal(row, sizeof(host[0]));
    assert_int_equal(host[1][1] + host[2][2], 18);
    assert_int_equal(host[1][3] + host[0][0], 0);
    mapped[0] = 55;
    host[1][3] = 66; /* beside the region */
    check(clEnqueueUnmapMemObject(f->queue, image, mapped, 0, NULL, NULL));
    uint32_t got[H][W];
    check(clEnqueueReadImage(f->queue, image, CL_TRUE, zero, whole, 0, 0, got, 0, NULL, NULL));
    assert_int_equal(got[1][1], 55);
    assert_int_equal(got[1][3], 9);
    assert_int_equal(clEnqueueUnmapMemObject(f->queue, image, mapped, 0, NULL, NULL), CL_INVALID_VALUE);
    check(clReleaseMemObject(image));
}

static void bad_regions_are_refused(void **state)
{
    struct fixture *f = *state;
    cl_int error = CL_SUCCESS;
    cl_mem image = counted(f, CL_MEM_HOST_READ_ONLY), flat = image_of(f, 0, bytes4, plane(W, H), NULL);
    cl_mem buffer = fixture_buffer(f, 0, 64, NULL),
           silent = image_of(f, CL_MEM_HOST_NO_ACCESS, words1, plane(2, 2), NULL);
    const size_t one[3] = { 1, 1, 1 }, none[3] = { 1, 0, 1 }, beyond[3] = { W, 0, 0 }, huge[3] = { SIZE_MAX, 0, 0 };
    const size_t wide[3] = { W, 1, 1 }, deep[3] = { 1, 1, 2 }, large[3] = { W, H, D };
    uint32_t texels[64] = { 0 };
    size_t row = 0, slice = 0;
    cl_command_queue q = f->queue;

#define READ(image, origin, region, row, slice, to) \
    clEnqueueReadImage(q, image, CL_TRUE, origin, region, row, slice, to, 0, NULL, NULL)
    assert_int_equal(READ(buffer, zero, one, 0, 0, texels), CL_INVALID_MEM_OBJECT);
    assert_int_equal(READ(image, zero, none, 0, 0, texels), CL_INVALID_VALUE);
    assert_int_equal(READ(image, beyond, one, 0, 0, texels), CL_INVALID_VALUE);
    assert_int_equal(READ(image, huge, one, 0, 0, texels), CL_INVALID_VALUE);
    assert_int_equal(READ(flat, zero, deep, 0, 0, texels), CL_INVALID_VALUE);
    assert_int_equal(READ(flat, zero, one, 0, 4, texels), CL_INVALID_VALUE);
    assert_int_equal(READ(image, zero, wide, 4 * W - 1, 0, texels), CL_INVALID_VALUE);
    assert_int_equal(READ(image, zero, large, 4 * W, 4 * W * H - 1, texels), CL_INVALID_VALUE);
    assert_int_equal(READ(image, zero, large, SIZE_MAX, 0, texels), CL_INVALID_VALUE);
    assert_int_equal(READ(image, zero, large, 0, SIZE_MAX, texels), CL_INVALID_VALUE);
    assert_int_equal(READ(image, zero, one, 0, 0, NULL), CL_INVALID_VALUE);
    assert_int_equal(READ(image, NULL, one, 0, 0, texels), CL_INVALID_VALUE);
    assert_int_equal(READ(silent, zero, one, 0, 0, texels), CL_INVALID_OPERATION);
    assert_int_equal(clEnqueueReadImage(NULL, image, CL_TRUE, zero, one, 0, 0, texels, 0, NULL, NULL),
                     CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clEnqueueReadImage(q, image, CL_TRUE, zero, one, 0, 0, texels, 1, NULL, NULL),
                     CL_INVALID_EVENT_WAIT_LIST);
    assert_int_equal(clEnqueueWriteImage(q, image, CL_TRUE, zero, one, 0, 0, texels, 0, NULL, NULL),
                     CL_INVALID_OPERATION);
    assert_int_equal(clEnqueueReadBuffer(q, image, CL_TRUE, 0, 4, texels, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clEnqueueFillImage(q, flat, NULL, zero, one, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueFillImage(q, flat, texels, zero, deep, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueCopyImage(q, image, flat, zero, zero, one, 0, NULL, NULL), CL_IMAGE_FORMAT_MISMATCH);
    assert_int_equal(clEnqueueCopyImage(q, image, buffer, zero, zero, one, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clEnqueueCopyImage(q, flat, flat, zero, zero, one, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
    assert_int_equal(clEnqueueCopyImage(q, flat, flat, zero, beyond, one, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueCopyImageToBuffer(q, image, buffer, zero, large, 0, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueCopyImageToBuffer(q, flat, buffer, zero, one, 61, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueCopyBufferToImage(q, buffer, flat, SIZE_MAX, zero, one, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueCopyBufferToImage(q, flat, flat, 0, zero, one, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
#define MAP(image, flags, region, row, slice) \
    clEnqueueMapImage(q, image, CL_TRUE, flags, zero, region, row, slice, 0, NULL, NULL, &error)
    refused(MAP(image, CL_MAP_READ, one, NULL, &slice), CL_INVALID_VALUE);
    refused(MAP(image, CL_MAP_READ, one, &row, NULL), CL_INVALID_VALUE);
    refused(MAP(image, CL_MAP_WRITE, one, &row, &slice), CL_INVALID_OPERATION);
    refused(MAP(image, 1u << 20, one, &row, &slice), CL_INVALID_VALUE);
    refused(MAP(flat, CL_MAP_READ, deep, &row, &slice), CL_INVALID_VALUE);
    check(clReleaseMemObject(silent));
    check(clReleaseMemObject(buffer));
    check(clReleaseMemObject(flat));
    check(clReleaseMemObject(image));
}

/* ---- samplers ---- */

static void samplers_are_told(void **state)
{
    struct fixture *f = *state;
    const cl_sampler_properties given[] = { CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, CL_SAMPLER_ADDRESSING_MODE,
                                            CL_ADDRESS_REPEAT, 0 };
    const cl_sampler_properties bad[][5] = { { CL_SAMPLER_FILTER_MODE, 1, 0 },
                                             { CL_SAMPLER_NORMALIZED_COORDS, 2, 0 },
                                             { CL_SAMPLER_ADDRESSING_MODE, 1ull << 32 | CL_ADDRESS_REPEAT, 0 },
                                             { 77, 1, 0 },
                                             { CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, CL_SAMPLER_FILTER_MODE,
                                               CL_FILTER_LINEAR, 0 } };
    cl_sampler_properties got[5] = { 0 };
    cl_uint value = 0;
    cl_context context = NULL;
    size_t bytes = 0;
    cl_int error = CL_SUCCESS;
    cl_sampler sampler = clCreateSamplerWithProperties(f->context, given, &error);

    check(error);
    check(clGetSamplerInfo(sampler, CL_SAMPLER_NORMALIZED_COORDS, sizeof(value), &value, NULL));
    assert_int_equal(value, CL_TRUE);
    check(clGetSamplerInfo(sampler, CL_SAMPLER_ADDRESSING_MODE, sizeof(value), &value, NULL));
    assert_int_equal(value, CL_ADDRESS_REPEAT);
    check(clGetSamplerInfo(sampler, CL_SAMPLER_FILTER_MODE, sizeof(value), &value, NULL));
    assert_int_equal(value, CL_FILTER_LINEAR);
    check(clGetSamplerInfo(sampler, CL_SAMPLER_CONTEXT, sizeof(context), &context, NULL));
    assert_ptr_equal(context, f->context);
    check(clGetSamplerInfo(sampler, CL_SAMPLER_PROPERTIES, sizeof(got), got, &bytes));
    assert_int_equal(bytes, sizeof(given));
    assert_memory_equal(got, given, sizeof(given));
    check(clRetainSampler(sampler));
    check(clGetSamplerInfo(sampler, CL_SAMPLER_REFERENCE_COUNT, sizeof(value), &value, NULL));
    assert_int_equal(value, 2);
    check(clReleaseSampler(sampler));
    check(clReleaseSampler(sampler));
    for (size_t i = 0; i < PPU_ARRAY_SIZE(bad); i++) {
        refused(clCreateSamplerWithProperties(f->context, bad[i], &error), CL_INVALID_VALUE);
    }
    refused(clCreateSampler(f->context, CL_TRUE, 0, CL_FILTER_LINEAR, &error), CL_INVALID_VALUE);
    refused(clCreateSampler(f->context, CL_TRUE, CL_ADDRESS_NONE, 0, &error), CL_INVALID_VALUE);
    refused(clCreateSampler(f->context, 7, CL_ADDRESS_NONE, CL_FILTER_LINEAR, &error), CL_INVALID_VALUE);
    refused(clCreateSampler(NULL, CL_TRUE, CL_ADDRESS_NONE, CL_FILTER_LINEAR, &error), CL_INVALID_CONTEXT);
    sampler = clCreateSampler(f->context, CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST, &error);
    check(error);
    check(clGetSamplerInfo(sampler, CL_SAMPLER_PROPERTIES, 0, NULL, &bytes));
    assert_int_equal(bytes, 0);
    check(clReleaseSampler(sampler));
    cl_sampler nobody = (cl_sampler)f->context;
    assert_int_equal(clRetainSampler(nobody), CL_INVALID_SAMPLER);
    assert_int_equal(clReleaseSampler(nobody), CL_INVALID_SAMPLER);
    assert_int_equal(clGetSamplerInfo(nobody, CL_SAMPLER_CONTEXT, 0, NULL, NULL), CL_INVALID_SAMPLER);
}

/* ---- arguments ---- */

static cl_kernel_arg_access_qualifier access_of(cl_kernel kernel, cl_uint i)
{
    cl_kernel_arg_access_qualifier access = 0;

    check(clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof(access), &access, NULL));
    return access;
}

static void arguments_are_checked(void **state)
{
    static const char *const source =
        "kernel void k(read_only image2d_t r, write_only image2d_t w, read_write image2d_t b, sampler_t s,\n"
        "              read_only image3d_t v, read_only image2d_depth_t d, global int *to)\n"
        "{ to[0] = get_image_width(r) + get_image_width(w) + get_image_width(b) + get_image_width(v) +\n"
        "          get_image_width(d) + (read_imagef(r, s, (int2)(0, 0)).x > 2); }\n";
    struct fixture *f = *state;
    cl_kernel k = fixture_kernel(f, source, "k");
    cl_mem reads = image_of(f, CL_MEM_READ_ONLY, bytes4, plane(4, 4), NULL);
    cl_mem writes = image_of(f, CL_MEM_WRITE_ONLY, bytes4, plane(4, 4), NULL);
    cl_mem both = image_of(f, 0, bytes4, plane(4, 4), NULL), buffer = fixture_buffer(f, 0, 64, NULL);
    cl_mem deep = image_of(f, 0, (cl_image_format){ CL_DEPTH, CL_FLOAT }, plane(4, 4), NULL), none = NULL;
    cl_int error = CL_SUCCESS;
    cl_sampler sampler = clCreateSampler(f->context, CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST, &error);
    char name[32];

    check(error);
    assert_int_equal(access_of(k, 0), CL_KERNEL_ARG_ACCESS_READ_ONLY);
    assert_int_equal(access_of(k, 1), CL_KERNEL_ARG_ACCESS_WRITE_ONLY);
    assert_int_equal(access_of(k, 2), CL_KERNEL_ARG_ACCESS_READ_WRITE);
    assert_int_equal(access_of(k, 3), CL_KERNEL_ARG_ACCESS_NONE);
    check(clGetKernelArgInfo(k, 4, CL_KERNEL_ARG_TYPE_NAME, sizeof(name), name, NULL));
    assert_string_equal(name, "image3d_t");
    check(clSetKernelArg(k, 0, sizeof(reads), &reads));
    check(clSetKernelArg(k, 1, sizeof(writes), &writes));
    check(clSetKernelArg(k, 2, sizeof(both), &both));
    check(clSetKernelArg(k, 0, sizeof(both), &both));
    assert_int_equal(clSetKernelArg(k, 0, sizeof(writes), &writes), CL_INVALID_ARG_VALUE);
    assert_int_equal(clSetKernelArg(k, 1, sizeof(reads), &reads), CL_INVALID_ARG_VALUE);
    assert_int_equal(clSetKernelArg(k, 2, sizeof(reads), &reads), CL_INVALID_ARG_VALUE);
    assert_int_equal(clSetKernelArg(k, 0, sizeof(deep), &deep), CL_INVALID_ARG_VALUE);
    assert_int_equal(clSetKernelArg(k, 5, sizeof(both), &both), CL_INVALID_ARG_VALUE);
    assert_int_equal(clSetKernelArg(k, 4, sizeof(both), &both), CL_INVALID_ARG_VALUE);
    assert_int_equal(clSetKernelArg(k, 0, sizeof(buffer), &buffer), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clSetKernelArg(k, 0, sizeof(none), &none), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clSetKernelArg(k, 0, sizeof(both), NULL), CL_INVALID_ARG_VALUE);
    assert_int_equal(clSetKernelArg(k, 0, 4, &both), CL_INVALID_ARG_SIZE);
    assert_int_equal(clSetKernelArg(k, 6, sizeof(both), &both), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clSetKernelArg(k, 3, sizeof(buffer), &buffer), CL_INVALID_SAMPLER);
    assert_int_equal(clSetKernelArg(k, 3, sizeof(sampler), NULL), CL_INVALID_SAMPLER);
    assert_int_equal(clSetKernelArg(k, 3, 4, &sampler), CL_INVALID_ARG_SIZE);
    check(clSetKernelArg(k, 3, sizeof(sampler), &sampler));
    /* An image that has ended is no argument any more. */
    cl_mem v = image_of(f, 0, bytes4, volume(2, 2, 2), NULL);
    const size_t one = 1;
    check(clSetKernelArg(k, 4, sizeof(v), &v));
    check(clSetKernelArg(k, 5, sizeof(deep), &deep));
    check(clSetKernelArg(k, 6, sizeof(buffer), &buffer));
    check(clEnqueueNDRangeKernel(f->queue, k, 1, NULL, &one, NULL, 0, NULL, NULL));
    check(clFinish(f->queue));
    check(clReleaseMemObject(v));
    assert_int_equal(clEnqueueNDRangeKernel(f->queue, k, 1, NULL, &one, NULL, 0, NULL, NULL), CL_INVALID_KERNEL_ARGS);
    const cl_mem memories[] = { reads, writes, both, buffer, deep };
    for (size_t i = 0; i < PPU_ARRAY_SIZE(memories); i++) {
        check(clReleaseMemObject(memories[i]));
    }
    check(clReleaseSampler(sampler));
    check(clReleaseKernel(k));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("what an image is can be asked", images_are_told),
        cl_test("the functions of other versions make images too", older_functions_make_images),
        cl_test("bad formats, sizes, pitches and flags are refused", bad_images_are_refused),
        cl_test("an image in a buffer is checked, and keeps it", images_in_buffers_are_checked),
        cl_test("an image shows another one's texels", images_show_images),
        cl_test("the listed formats are there", formats_are_listed),
        cl_test("limits are those of a full profile, and can be reached", limits_are_told),
        cl_test("regions are read and written", regions_are_read_and_written),
        cl_test("an array of lines has a slice pitch", lines_have_a_slice_pitch),
        cl_test("images and buffers are copied", images_are_copied),
        cl_test("a map moves the region that it names", maps_move_what_they_name),
        cl_test("bad regions, pitches and objects are refused", bad_regions_are_refused),
        cl_test("samplers are made, told and refused", samplers_are_told),
        cl_test("images and samplers are checked as arguments", arguments_are_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
