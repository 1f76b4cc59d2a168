/* SPDX-License-Identifier: MIT */
/*
 * Tests what kernels do with images: every format against the host's conversion and a second one, every address mode
 * and filter against the specification's formulas in double, and what lies outside.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "tests/opencl/fixture.h"

#define WIDTH 8u
#define HEIGHT 4u
#define TEXELS (WIDTH * HEIGHT)
#define POINTS 256u

static cl_mem image_of(struct fixture *f, cl_mem_flags flags, cl_image_format format, cl_image_desc desc, void *texels)
{
    cl_int error = CL_SUCCESS;
    cl_mem image =
        clCreateImage(f->context, flags | (texels ? CL_MEM_COPY_HOST_PTR : 0u), &format, &desc, texels, &error);

    check(error);
    return image;
}

static cl_image_desc plane(size_t width, size_t height)
{
    return (cl_image_desc){ .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = width, .image_height = height };
}

static void set(cl_kernel kernel, cl_uint i, cl_mem memory)
{
    check(clSetKernelArg(kernel, i, sizeof(memory), &memory));
}

static void run(struct fixture *f, cl_kernel kernel, size_t x, size_t y, size_t z)
{
    const size_t global[3] = { x, y, z };
    cl_event done = NULL;

    check(clEnqueueNDRangeKernel(f->queue, kernel, 3, NULL, global, NULL, 0, NULL, &done));
    check(clWaitForEvents(1, &done)); /* which fails when the kernel has faulted */
    check(clReleaseEvent(done));
}

static void read_back(struct fixture *f, cl_mem image, size_t width, size_t height, size_t depth, void *to)
{
    const size_t origin[3] = { 0, 0, 0 }, region[3] = { width, height, depth };

    check(clEnqueueReadImage(f->queue, image, CL_TRUE, origin, region, 0, 0, to, 0, NULL, NULL));
}

/* ---- formats ---- */

enum channel {
    FRACTION,
    SIGNED,
    UNSIGNED,
};

static enum channel channel_of(cl_channel_type type)
{
    return type >= CL_SIGNED_INT8 && type <= CL_SIGNED_INT32       ? SIGNED
           : type >= CL_UNSIGNED_INT8 && type <= CL_UNSIGNED_INT32 ? UNSIGNED
                                                                   : FRACTION;
}

static const char *const format_source =
    "kernel void write0(write_only image2d_t i, global const uint4 *c)\n"
    "{ int2 p = (int2)(get_global_id(0), get_global_id(1)); write_imagef(i, p, as_float4(c[p.y * 8 + p.x])); }\n"
    "kernel void write1(write_only image2d_t i, global const uint4 *c)\n"
    "{ int2 p = (int2)(get_global_id(0), get_global_id(1)); write_imagei(i, p, as_int4(c[p.y * 8 + p.x])); }\n"
    "kernel void write2(write_only image2d_t i, global const uint4 *c)\n"
    "{ int2 p = (int2)(get_global_id(0), get_global_id(1)); write_imageui(i, p, c[p.y * 8 + p.x]); }\n"
    "kernel void read0(read_only image2d_t i, global uint4 *c)\n"
    "{ int2 p = (int2)(get_global_id(0), get_global_id(1)); c[p.y * 8 + p.x] = as_uint4(read_imagef(i, p)); }\n"
    "kernel void read1(read_only image2d_t i, global uint4 *c)\n"
    "{ int2 p = (int2)(get_global_id(0), get_global_id(1)); c[p.y * 8 + p.x] = as_uint4(read_imagei(i, p)); }\n"
    "kernel void read2(read_only image2d_t i, global uint4 *c)\n"
    "{ int2 p = (int2)(get_global_id(0), get_global_id(1)); c[p.y * 8 + p.x] = read_imageui(i, p); }\n"
    "kernel void write_depth(write_only image2d_depth_t i, global const uint4 *c)\n"
    "{ int2 p = (int2)(get_global_id(0), get_global_id(1)); write_imagef(i, p, as_float(c[p.y * 8 + p.x].x)); }\n"
    "kernel void read_depth(read_only image2d_depth_t i, global uint4 *c)\n"
    "{ int2 p = (int2)(get_global_id(0), get_global_id(1));\n"
    "  c[p.y * 8 + p.x] = as_uint4((float4)(read_imagef(i, p), 0, 0, 1)); }\n";

static cl_program program_of(struct fixture *f, const char *source)
{
    cl_int error = CL_SUCCESS;
    cl_program program = clCreateProgramWithSource(f->context, 1, &source, NULL, &error);

    check(error);
    check(clBuildProgram(program, 0, NULL, "-cl-std=CL3.0", NULL, NULL));
    return program;
}

static cl_kernel kernel_for(cl_program program, const char *verb, cl_image_format format)
{
    char name[32];
    cl_int error = CL_SUCCESS;

    snprintf(name, sizeof(name), "%s%d", verb, channel_of(format.image_channel_data_type));
    if (format.image_channel_order == CL_DEPTH) {
        snprintf(name, sizeof(name), "%s_depth", verb);
    }
    cl_kernel kernel = clCreateKernel(program, name, &error);
    check(error);
    return kernel;
}

/* Mostly fractions a little beyond what fits, some of them ties; integers of every size. */
static uint32_t random_channel(uint64_t *seed, enum channel channel)
{
    uint32_t random = fixture_random(seed), bits = 0;

    if (channel != FRACTION) {
        return (uint32_t)((int32_t)random >> random % 32);
    }
    float value = (float)(int32_t)(random % 1400) / 1000 - 0.2f;
    if (random % 3 == 0) {
        value = ((float)(random / 3 % 255) + 0.5f) / 255;
    }
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static double value_of_half(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)
                        : exponent == 0 ? ldexp(fraction, -24)
                                        : ldexp(fraction + 1024, exponent - 25);

    return bits >> 15 != 0 ? -size : size;
}

/* What the channels of a texel are, in memory's order, by the table of the specification. */
static double channel_at(const uint8_t *texel, cl_channel_type type, uint32_t i)
{
    union {
        uint8_t bytes[4];
        int8_t s8;
        int16_t s16;
        int32_t s32;
        uint16_t u16;
        uint32_t u32;
        uint16_t half;
        float single;
    } at = { { 0 } };
    static const uint32_t bytes[] = { [CL_SNORM_INT8 - CL_SNORM_INT8] = 1,     [CL_SNORM_INT16 - CL_SNORM_INT8] = 2,
                                      [CL_UNORM_INT8 - CL_SNORM_INT8] = 1,     [CL_UNORM_INT16 - CL_SNORM_INT8] = 2,
                                      [CL_SIGNED_INT8 - CL_SNORM_INT8] = 1,    [CL_SIGNED_INT16 - CL_SNORM_INT8] = 2,
                                      [CL_SIGNED_INT32 - CL_SNORM_INT8] = 4,   [CL_UNSIGNED_INT8 - CL_SNORM_INT8] = 1,
                                      [CL_UNSIGNED_INT16 - CL_SNORM_INT8] = 2, [CL_UNSIGNED_INT32 - CL_SNORM_INT8] = 4,
                                      [CL_HALF_FLOAT - CL_SNORM_INT8] = 2,     [CL_FLOAT - CL_SNORM_INT8] = 4 };

    memcpy(at.bytes, texel + (size_t)i * bytes[type - CL_SNORM_INT8], bytes[type - CL_SNORM_INT8]);
    switch (type) {
    case CL_SNORM_INT8:
        return fmax(at.s8 / 127.0, -1);
    case CL_SNORM_INT16:
        return fmax(at.s16 / 32767.0, -1);
    case CL_UNORM_INT8:
        return at.bytes[0] / 255.0;
    case CL_UNORM_INT16:
        return at.u16 / 65535.0;
    case CL_SIGNED_INT8:
        return at.s8;
    case CL_SIGNED_INT16:
        return at.s16;
    case CL_SIGNED_INT32:
        return at.s32;
    case CL_UNSIGNED_INT8:
        return at.bytes[0];
    case CL_UNSIGNED_INT16:
        return at.u16;
    case CL_UNSIGNED_INT32:
        return at.u32;
    case CL_HALF_FLOAT:
        return value_of_half(at.half);
    default:
        return (double)at.single;
    }
}

static double packed_at(const uint8_t *texel, cl_channel_type type, uint32_t i)
{
    static const uint32_t widths[3][3] = { { 5, 6, 5 }, { 5, 5, 5 }, { 10, 10, 10 } };
    const uint32_t *width = widths[type - CL_UNORM_SHORT_565];
    uint32_t bits = 0, shift = 0;

    memcpy(&bits, texel, type == CL_UNORM_INT_101010 ? 4 : 2);
    for (uint32_t k = i + 1; k < 3; k++) {
        shift += width[k];
    }
    return (bits >> shift & ((1u << width[i]) - 1)) / (double)((1u << width[i]) - 1);
}

static bool is_packed(cl_channel_type type)
{
    return type >= CL_UNORM_SHORT_565 && type <= CL_UNORM_INT_101010;
}

static double linear_of(double c)
{
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

/* Letters: which of a texel's channels a kernel sees in x, y, z and w; 0 and 1 are constants. */
static const char *letters_of(cl_channel_order order)
{
    switch (order) {
    case CL_R:
    case CL_DEPTH:
        return "a001";
    case CL_A:
        return "000a";
    case CL_RG:
        return "ab01";
    case CL_RA:
        return "a00b";
    case CL_RGB:
        return "abc1";
    case CL_BGRA:
    case CL_sBGRA:
        return "cbad";
    case CL_ARGB:
        return "bcda";
    case CL_ABGR:
        return "dcba";
    case CL_INTENSITY:
        return "aaaa";
    case CL_LUMINANCE:
        return "aaa1";
    default:
        return "abcd";
    }
}

static double seen(const uint8_t *texel, cl_image_format format, uint32_t i)
{
    char letter = letters_of(format.image_channel_order)[i];
    cl_channel_type type = format.image_channel_data_type;

    if (letter == '0' || letter == '1') {
        return letter - '0';
    }
    uint32_t at = (uint32_t)(letter - 'a');
    double value = is_packed(type) ? packed_at(texel, type, at) : channel_at(texel, type, at);
    bool gamma = format.image_channel_order == CL_sRGBA || format.image_channel_order == CL_sBGRA;
    return gamma && i < 3 ? linear_of(value) : value;
}

static void check_seen(const uint8_t *texel, cl_image_format format, const uint32_t got[4])
{
    for (uint32_t i = 0; i < 4; i++) {
        double expected = seen(texel, format, i), value = 0;
        float single = 0;
        switch (channel_of(format.image_channel_data_type)) {
        case FRACTION:
            memcpy(&single, &got[i], sizeof(single));
            value = (double)single;
            break;
        case SIGNED:
            value = (int32_t)got[i];
            break;
        default:
            value = got[i];
            break;
        }
        /* 1.5 units in the last place, and what gamma may be off. */
        double slack = format.image_channel_order >= CL_sRGB ? 1e-4 : ldexp(fabs(expected), -23) * 1.5;
        if (channel_of(format.image_channel_data_type) != FRACTION || expected == 0 || expected == 1) {
            slack = 0;
        }
        if (fabs(value - expected) > slack) {
            fail_msg("order 0x%x, type 0x%x, channel %u: %.9g instead of %.9g", format.image_channel_order,
                     format.image_channel_data_type, i, value, expected);
        }
    }
}

static size_t texel_bytes(cl_mem image)
{
    size_t bytes = 0;

    check(clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof(bytes), &bytes, NULL));
    return bytes;
}

/* A fill of one texel converts on the host; the kernel converts the same colours. */
static void fill_each(struct fixture *f, cl_mem image, const uint32_t colors[TEXELS][4])
{
    const size_t region[3] = { 1, 1, 1 };

    for (uint32_t i = 0; i < TEXELS; i++) {
        const size_t origin[3] = { i % WIDTH, i / WIDTH, 0 };
        check(clEnqueueFillImage(f->queue, image, colors[i], origin, region, 0, NULL, NULL));
    }
}

static void check_format(struct fixture *f, cl_program program, cl_image_format format, uint64_t *seed)
{
    bool gamma = format.image_channel_order == CL_sRGBA || format.image_channel_order == CL_sBGRA;
    uint32_t colors[TEXELS][4], got[TEXELS][4];
    uint8_t filled[TEXELS * 16], written[TEXELS * 16];
    cl_mem image = image_of(f, gamma ? CL_MEM_READ_ONLY : 0, format, plane(WIDTH, HEIGHT), NULL);
    size_t bytes = texel_bytes(image);
    cl_kernel read = kernel_for(program, "read", format), write = kernel_for(program, "write", format);

    for (uint32_t i = 0; i < TEXELS * 4; i++) {
        colors[i / 4][i % 4] = random_channel(seed, channel_of(format.image_channel_data_type));
    }
    cl_mem buffer = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, sizeof(colors), colors);
    fill_each(f, image, colors);
    read_back(f, image, WIDTH, HEIGHT, 1, filled);
    if (!gamma) {
        set(write, 0, image);
        set(write, 1, buffer);
        run(f, write, WIDTH, HEIGHT, 1);
        read_back(f, image, WIDTH, HEIGHT, 1, written);
        assert_memory_equal(filled, written, bytes * TEXELS);
    }
    set(read, 0, image);
    set(read, 1, buffer);
    run(f, read, WIDTH, HEIGHT, 1);
    check(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, sizeof(got), got, 0, NULL, NULL));
    for (uint32_t i = 0; i < TEXELS; i++) {
        check_seen(filled + i * bytes, format, got[i]);
    }
    check(clReleaseKernel(read));
    check(clReleaseKernel(write));
    check(clReleaseMemObject(buffer));
    check(clReleaseMemObject(image));
}

static void formats_convert(void **state)
{
    struct fixture *f = *state;
    cl_program program = program_of(f, format_source);
    cl_image_format formats[256];
    cl_uint count = 0;
    uint64_t seed = fixture_seed();

    check(clGetSupportedImageFormats(f->context, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D, PPU_ARRAY_SIZE(formats),
                                     formats, &count));
    assert_in_range(count, 38, PPU_ARRAY_SIZE(formats));
    for (cl_uint i = 0; i < count; i++) {
        check_format(f, program, formats[i], &seed);
    }
    check(clReleaseProgram(program));
}

/* ---- samplers ---- */

static const char *const sample_source =
    "kernel void points(read_only image2d_t i, sampler_t s, global const float2 *at, global float *to)\n"
    "{ uint n = get_global_id(0); to[n] = read_imagef(i, s, at[n]).x; }\n"
    "kernel void wholes(read_only image2d_t i, sampler_t s, global const float2 *at, global float *to)\n"
    "{ uint n = get_global_id(0); to[n] = read_imagef(i, s, convert_int2_rtn(at[n])).x; }\n"
    "kernel void bare(read_only image2d_t i, sampler_t s, global const float2 *at, global float *to)\n"
    "{ uint n = get_global_id(0); to[n] = read_imagef(i, convert_int2_rtn(at[n])).x; }\n";

struct sampling {
    cl_bool normalized;
    cl_addressing_mode addressing;
    cl_filter_mode filter;
};

static double texel(const float *texels, const struct sampling *sampling, long x, long y)
{
    bool border = sampling->addressing == CL_ADDRESS_CLAMP;

    if (border && (x < 0 || y < 0 || x >= (long)WIDTH || y >= (long)HEIGHT)) {
        return 0;
    }
    x = PPU_MIN(PPU_MAX(x, 0), (long)WIDTH - 1);
    y = PPU_MIN(PPU_MAX(y, 0), (long)HEIGHT - 1);
    return (double)texels[(size_t)y * WIDTH + (size_t)x];
}

/* 8.2 of the specification: a coordinate in texels. */
static double in_texels(double c, double n, const struct sampling *sampling)
{
    if (!sampling->normalized) {
        return c;
    }
    if (sampling->addressing == CL_ADDRESS_REPEAT) {
        return (c - floor(c)) * n;
    }
    return (sampling->addressing == CL_ADDRESS_MIRRORED_REPEAT ? fabs(c - 2 * rint(c / 2)) : c) * n;
}

static long wrapped(long i, long n, const struct sampling *sampling)
{
    return sampling->addressing == CL_ADDRESS_REPEAT ? (i + n) % n : i;
}

static double sampled(const float *texels, const struct sampling *sampling, const float at[2])
{
    double u = in_texels((double)at[0], WIDTH, sampling), v = in_texels((double)at[1], HEIGHT, sampling), sum = 0;

    if (sampling->filter == CL_FILTER_NEAREST) {
        return texel(texels, sampling, wrapped((long)floor(u), WIDTH, sampling),
                     wrapped((long)floor(v), HEIGHT, sampling));
    }
    u -= 0.5;
    v -= 0.5;
    for (long corner = 0; corner < 4; corner++) {
        long right = corner % 2, below = corner / 2;
        double a = u - floor(u), b = v - floor(v);
        sum += (right ? a : 1 - a) * (below ? b : 1 - b) *
               texel(texels, sampling, wrapped((long)floor(u) + right, WIDTH, sampling),
                     wrapped((long)floor(v) + below, HEIGHT, sampling));
    }
    return sum;
}

/* Multiples of a 256th that are no edges of texels, in and around the image. */
static void random_points(uint64_t *seed, const struct sampling *sampling, float at[POINTS][2])
{
    for (uint32_t i = 0; i < POINTS * 2; i++) {
        float range = sampling->normalized ? 1 : i % 2 == 0 ? (float)WIDTH : (float)HEIGHT;
        int32_t step = (int32_t)(fixture_random(seed) % 1024) * 2 + 1;
        at[i / 2][i % 2] = range * ((float)step / 512 - 1.5f);
    }
}

static void check_points(struct fixture *f, const char *name, cl_mem image, const float *texels,
                         const struct sampling *sampling, float at[POINTS][2])
{
    cl_kernel kernel = fixture_kernel(f, sample_source, name);
    cl_mem points = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, sizeof(float) * 2 * POINTS, at);
    cl_mem to = fixture_buffer(f, 0, sizeof(float) * POINTS, NULL);
    cl_int error = CL_SUCCESS;
    cl_sampler sampler =
        clCreateSampler(f->context, sampling->normalized, sampling->addressing, sampling->filter, &error);
    float got[POINTS];

    check(error);
    set(kernel, 0, image);
    check(clSetKernelArg(kernel, 1, sizeof(sampler), &sampler));
    set(kernel, 2, points);
    set(kernel, 3, to);
    check(clReleaseSampler(sampler)); /* the kernel has what it needs */
    run(f, kernel, POINTS, 1, 1);
    check(clEnqueueReadBuffer(f->queue, to, CL_TRUE, 0, sizeof(got), got, 0, NULL, NULL));
    for (uint32_t i = 0; i < POINTS; i++) {
        double expected = sampled(texels, sampling, at[i]);
        if (fabs((double)got[i] - expected) > (sampling->filter == CL_FILTER_LINEAR ? 1e-4 : 0)) {
            fail_msg("%s, normalized %u, mode 0x%x, filter 0x%x at (%g, %g): %g instead of %g", name,
                     sampling->normalized, sampling->addressing, sampling->filter, (double)at[i][0], (double)at[i][1],
                     (double)got[i], expected);
        }
    }
    check(clReleaseMemObject(to));
    check(clReleaseMemObject(points));
    check(clReleaseKernel(kernel));
}

static void samplers_choose_texels(void **state)
{
    static const cl_addressing_mode modes[] = { CL_ADDRESS_CLAMP, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_REPEAT,
                                                CL_ADDRESS_MIRRORED_REPEAT };
    struct fixture *f = *state;
    uint64_t seed = fixture_seed();
    float texels[TEXELS], at[POINTS][2];

    for (uint32_t i = 0; i < TEXELS; i++) {
        texels[i] = (float)(int32_t)(fixture_random(&seed) % 1000) / 10 - 50;
    }
    cl_mem image = image_of(f, CL_MEM_READ_ONLY, (cl_image_format){ CL_A, CL_FLOAT }, plane(WIDTH, HEIGHT), texels);
    check(clReleaseMemObject(image));
    image = image_of(f, CL_MEM_READ_ONLY, (cl_image_format){ CL_INTENSITY, CL_FLOAT }, plane(WIDTH, HEIGHT), texels);
    for (uint32_t i = 0; i < 12; i++) {
        struct sampling sampling = { i % 3 > 0, modes[i / 3], i % 3 == 1 ? CL_FILTER_NEAREST : CL_FILTER_LINEAR };
        if (!sampling.normalized && i / 3 >= 2) {
            continue; /* what repeats is normalized */
        }
        random_points(&seed, &sampling, at);
        check_points(f, "points", image, texels, &sampling, at);
    }
    for (uint32_t i = 0; i < 2; i++) {
        struct sampling sampling = { CL_FALSE, modes[i], CL_FILTER_NEAREST };
        random_points(&seed, &sampling, at);
        check_points(f, "points", image, texels, &sampling, at);
        check_points(f, "wholes", image, texels, &sampling, at);
    }
    struct sampling none = { CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST };
    random_points(&seed, &none, at);
    check_points(f, "bare", image, texels, &none, at); /* outside it is undefined, and here the nearest */
    check(clReleaseMemObject(image));
}

static void samplers_stand_in_sources(void **state)
{
    static const char *const source =
        "constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"
        "const sampler_t border = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n"
        "float look(read_only image2d_t i, sampler_t s, int2 at) { return read_imagef(i, s, at).x; }\n"
        "kernel void k(read_only image2d_t i, global float *to)\n"
        "{ const sampler_t own = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;\n"
        "  to[0] = read_imagef(i, edge, (int2)(-3, 1)).x; to[1] = read_imagef(i, border, (int2)(-3, 1)).x;\n"
        "  to[2] = read_imagef(i, own, (float2)(1.0f, 0.5f)).x; to[3] = look(i, edge, (int2)(99, 99));\n"
        "  to[4] = read_imagef(i, CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR, (float2)(1.0f, 0.5f)).x; }\n";
    struct fixture *f = *state;
    float texels[TEXELS], got[5];

    for (uint32_t i = 0; i < TEXELS; i++) {
        texels[i] = (float)i + 1;
    }
    cl_mem image = image_of(f, 0, (cl_image_format){ CL_R, CL_FLOAT }, plane(WIDTH, HEIGHT), texels);
    cl_mem to = fixture_buffer(f, 0, sizeof(got), NULL);
    cl_kernel kernel = fixture_kernel(f, source, "k");
    set(kernel, 0, image);
    set(kernel, 1, to);
    run(f, kernel, 1, 1, 1);
    check(clEnqueueReadBuffer(f->queue, to, CL_TRUE, 0, sizeof(got), got, 0, NULL, NULL));
    const float expected[5] = { 9, 0, (9 + 17 + 16 + 24) / 4.0f, 32, 1.5f };
    assert_memory_equal(got, expected, sizeof(got));
    check(clReleaseKernel(kernel));
    check(clReleaseMemObject(to));
    check(clReleaseMemObject(image));
}

/* Halves are what floats are, of each format that has them: with a sampler, without one, and written. */
static void halves_are_read_and_written(void **state)
{
    static const char *const source =
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
        "const sampler_t near = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"
        "kernel void k(read_only image2d_t from, write_only image2d_t to, global float4 *seen)\n"
        "{ const int2 p = (int2)(get_global_id(0), get_global_id(1)); const half4 h = read_imageh(from, p);\n"
        "  const half4 s = read_imageh(from, near, convert_float2(p) + 0.5f), c = read_imageh(from, near, p);\n"
        "  seen[p.y * 8 + p.x] = convert_float4(h + (s - h) + (c - h)); write_imageh(to, p, h * (half)0.5); }\n";
    static const cl_image_format formats[] = { { CL_RGBA, CL_HALF_FLOAT }, { CL_RGBA, CL_FLOAT } };
    struct fixture *f = *state;
    float texels[TEXELS * 4], seen[TEXELS * 4], halved[TEXELS * 4];
    cl_kernel kernel = fixture_kernel(f, source, "k");

    for (uint32_t format = 0; format < PPU_ARRAY_SIZE(formats); format++) {
        uint16_t narrow[TEXELS * 4];
        for (uint32_t i = 0; i < TEXELS * 4; i++) { /* 1.0 to 1.99, of 2^-10 each */
            narrow[i] = (uint16_t)(0x3c00u + i * 8 % 1024);
            texels[i] = (float)value_of_half(narrow[i]);
        }
        cl_mem from = image_of(f, 0, formats[format], plane(WIDTH, HEIGHT), format == 0 ? (void *)narrow : texels);
        cl_mem to = image_of(f, 0, (cl_image_format){ CL_RGBA, CL_FLOAT }, plane(WIDTH, HEIGHT), NULL);
        cl_mem out = fixture_buffer(f, 0, sizeof(seen), NULL);
        const size_t origin[3] = { 0 }, region[3] = { WIDTH, HEIGHT, 1 };
        set(kernel, 0, from);
        set(kernel, 1, to);
        set(kernel, 2, out);
        run(f, kernel, WIDTH, HEIGHT, 1);
        check(clEnqueueReadBuffer(f->queue, out, CL_TRUE, 0, sizeof(seen), seen, 0, NULL, NULL));
        check(clEnqueueReadImage(f->queue, to, CL_TRUE, origin, region, 0, 0, halved, 0, NULL, NULL));
        for (uint32_t i = 0; i < TEXELS * 4; i++) {
            assert_true(seen[i] == texels[i]);
            assert_true(halved[i] == texels[i] / 2);
        }
        check(clReleaseMemObject(out));
        check(clReleaseMemObject(to));
        check(clReleaseMemObject(from));
    }
    check(clReleaseKernel(kernel));
}

/* ---- shapes ---- */

#define SIDE 5u

static const char *const shape_source =
    "kernel void line(read_only image1d_t from, write_only image1d_t to)\n"
    "{ int x = get_global_id(0); write_imageui(to, 4 - x, read_imageui(from, x)); }\n"
    "kernel void lines(read_only image1d_array_t from, write_only image1d_array_t to)\n"
    "{ int2 p = (int2)(get_global_id(0), get_global_id(1)); write_imageui(to, 4 - p, read_imageui(from, p)); }\n"
    "kernel void planes(read_only image2d_array_t from, write_only image2d_array_t to)\n"
    "{ int4 p = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);\n"
    "  write_imageui(to, 4 - p, read_imageui(from, p)); }\n"
    "kernel void volume(read_only image3d_t from, write_only image3d_t to)\n"
    "{ int4 p = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);\n"
    "  write_imageui(to, 4 - p, read_imageui(from, p)); }\n";

struct shape {
    const char *kernel;
    cl_mem_object_type type;
    size_t height, depth; /* of the coordinates */
};

static const struct shape shapes[] = {
    { "line", CL_MEM_OBJECT_IMAGE1D, 1, 1 },
    { "lines", CL_MEM_OBJECT_IMAGE1D_ARRAY, SIDE, 1 },
    { "planes", CL_MEM_OBJECT_IMAGE2D_ARRAY, SIDE, SIDE },
    { "volume", CL_MEM_OBJECT_IMAGE3D, SIDE, SIDE },
};

static cl_image_desc desc_of(cl_mem_object_type type)
{
    return (cl_image_desc){
        .image_type = type, .image_width = SIDE, .image_height = SIDE, .image_depth = SIDE, .image_array_size = SIDE
    };
}

static void shapes_turn(void **state)
{
    struct fixture *f = *state;

    for (size_t s = 0; s < PPU_ARRAY_SIZE(shapes); s++) {
        const size_t texels = SIDE * shapes[s].height * shapes[s].depth;
        uint32_t values[SIDE * SIDE * SIDE], got[SIDE * SIDE * SIDE];
        for (uint32_t i = 0; i < texels; i++) {
            values[i] = i * 77;
        }
        cl_image_format format = { CL_R, CL_UNSIGNED_INT32 };
        cl_mem from = image_of(f, CL_MEM_READ_ONLY, format, desc_of(shapes[s].type), values);
        cl_mem to = image_of(f, CL_MEM_WRITE_ONLY, format, desc_of(shapes[s].type), NULL);
        cl_kernel kernel = fixture_kernel(f, shape_source, shapes[s].kernel);
        set(kernel, 0, from);
        set(kernel, 1, to);
        run(f, kernel, SIDE, shapes[s].height, shapes[s].depth);
        read_back(f, to, SIDE, shapes[s].height, shapes[s].depth, got);
        for (uint32_t i = 0; i < texels; i++) {
            assert_int_equal(got[i], values[texels - 1 - i]);
        }
        check(clReleaseKernel(kernel));
        check(clReleaseMemObject(to));
        check(clReleaseMemObject(from));
    }
}

/* Between two slices, and a layer that is not between. */
static void third_coordinate_filters(void **state)
{
    static const char *const source =
        "constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;\n"
        "kernel void k(read_only image3d_t v, read_only image2d_array_t a, read_only image1d_array_t l,\n"
        "              read_only image1d_t o, global float *to)\n"
        "{ to[0] = read_imagef(v, s, (float4)(2, 3, 4, 0)).x; to[1] = read_imagef(a, s, (float4)(2, 3, 3.4f, 0)).x;\n"
        "  to[2] = read_imagef(a, s, (float4)(2, 3, 99, 0)).x; to[3] = read_imagef(l, s, (float2)(2, 1.6f)).x;\n"
        "  to[4] = read_imagef(o, s, 2.25f).x; }\n";
    struct fixture *f = *state;
    float texels[SIDE * SIDE * SIDE], got[5];
    cl_image_format format = { CL_R, CL_FLOAT };
    cl_mem images[4];

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(texels); i++) {
        texels[i] = (float)i; /* x + 5 y + 25 z: linear in each */
    }
    const cl_mem_object_type types[4] = { CL_MEM_OBJECT_IMAGE3D, CL_MEM_OBJECT_IMAGE2D_ARRAY,
                                          CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE1D };
    cl_kernel kernel = fixture_kernel(f, source, "k");
    cl_mem to = fixture_buffer(f, 0, sizeof(got), NULL);
    for (cl_uint i = 0; i < 4; i++) {
        images[i] = image_of(f, CL_MEM_READ_ONLY, format, desc_of(types[i]), texels);
        set(kernel, i, images[i]);
    }
    set(kernel, 4, to);
    run(f, kernel, 1, 1, 1);
    check(clEnqueueReadBuffer(f->queue, to, CL_TRUE, 0, sizeof(got), got, 0, NULL, NULL));
    const float expected[5] = { 1.5f + 2.5f * 5 + 3.5f * 25, 1.5f + 2.5f * 5 + 3 * 25, 1.5f + 2.5f * 5 + 4 * 25,
                                1.5f + 2 * 5, 1.75f };
    assert_memory_equal(got, expected, sizeof(got));
    for (cl_uint i = 0; i < 4; i++) {
        check(clReleaseMemObject(images[i]));
    }
    check(clReleaseMemObject(to));
    check(clReleaseKernel(kernel));
}

static void questions_are_answered(void **state)
{
    static const char *const source =
        "kernel void k(read_only image2d_t a, write_only image3d_t b, read_only image2d_array_t c,\n"
        "              read_only image1d_array_t d, global int *to)\n"
        "{ to[0] = get_image_width(a); to[1] = get_image_height(a); to[2] = get_image_channel_order(a);\n"
        "  to[3] = get_image_channel_data_type(a); to[4] = get_image_depth(b); to[5] = get_image_dim(b).z;\n"
        "  to[6] = get_image_array_size(c); to[7] = get_image_dim(c).y; to[8] = get_image_array_size(d);\n"
        "  to[9] = get_image_width(d) + (get_image_channel_order(a) == CLK_BGRA) +\n"
        "          2 * (get_image_channel_data_type(a) == CLK_UNORM_INT8); }\n";
    struct fixture *f = *state;
    cl_image_format format = { CL_BGRA, CL_UNORM_INT8 };
    const cl_image_desc descs[4] = {
        plane(7, 3),
        { .image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = 2, .image_height = 3, .image_depth = 9 },
        { .image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY, .image_width = 2, .image_height = 6, .image_array_size = 11 },
        { .image_type = CL_MEM_OBJECT_IMAGE1D_ARRAY, .image_width = 13, .image_array_size = 5 },
    };
    int32_t got[10];
    cl_mem images[4], to = fixture_buffer(f, 0, sizeof(got), NULL);
    cl_kernel kernel = fixture_kernel(f, source, "k");

    for (cl_uint i = 0; i < 4; i++) {
        images[i] = image_of(f, 0, format, descs[i], NULL);
        set(kernel, i, images[i]);
    }
    set(kernel, 4, to);
    run(f, kernel, 1, 1, 1);
    check(clEnqueueReadBuffer(f->queue, to, CL_TRUE, 0, sizeof(got), got, 0, NULL, NULL));
    const int32_t expected[10] = { 7, 3, CL_BGRA, CL_UNORM_INT8, 9, 9, 11, 6, 5, 13 + 1 + 2 };
    assert_memory_equal(got, expected, sizeof(got));
    for (cl_uint i = 0; i < 4; i++) {
        check(clReleaseMemObject(images[i]));
    }
    check(clReleaseMemObject(to));
    check(clReleaseKernel(kernel));
}

/* ---- memory ---- */

/* Reads and writes far outside: the bytes around the image's part of a buffer stay as they are. */
static void outside_stays(void **state)
{
    static const char *const source =
        "kernel void k(read_write image2d_t i, sampler_t s, global int *at, global uint *to)\n"
        "{ uint n = get_global_id(0); int2 p = (int2)(at[2 * n], at[2 * n + 1]);\n"
        "  to[n] = read_imageui(i, p).x; write_imageui(i, p, (uint4)(0xff)); }\n"
        "kernel void f(read_only image2d_t i, sampler_t s, global float *at, global uint *to)\n"
        "{ uint n = get_global_id(0); to[n] = read_imageui(i, s, (float2)(at[2 * n], at[2 * n + 1])).x; }\n";
    static const int32_t far[][2] = { { -1, 0 },        { 0, -1 },        { 8, 0 },         { 0, 4 },
                                      { INT32_MIN, 1 }, { 1, INT32_MIN }, { INT32_MAX, 1 }, { 1, INT32_MAX },
                                      { 1 << 30, 0 },   { 0, 1 << 29 },   { -8, 1 },        { 100, -12 } };
    static const float strange[][2] = { { NAN, 0 },       { 0, NAN },    { INFINITY, 1 }, { 1, -INFINITY },
                                        { 3e38f, 3e38f }, { -3e38f, 0 }, { 1e10f, 0 },    { 0, -1e10f } };
    struct fixture *f = *state;
    uint8_t bytes[1024], after[1024];
    uint32_t got[PPU_ARRAY_SIZE(far)];
    cl_int error = CL_SUCCESS;

    memset(bytes, 0x5a, sizeof(bytes));
    cl_mem buffer = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, sizeof(bytes), bytes);
    const cl_buffer_region part = { 512, TEXELS };
    cl_mem sub = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &part, &error);
    check(error);
    cl_image_desc desc = plane(WIDTH, HEIGHT);
    desc.mem_object = sub;
    cl_mem image = image_of(f, 0, (cl_image_format){ CL_R, CL_UNSIGNED_INT8 }, desc, NULL);
    cl_mem at = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, sizeof(far), (void *)(uintptr_t)far);
    cl_mem floats = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, sizeof(strange), (void *)(uintptr_t)strange);
    cl_mem to = fixture_buffer(f, 0, sizeof(got), NULL);
    cl_kernel k = fixture_kernel(f, source, "k"), sampling = fixture_kernel(f, source, "f");
    cl_sampler sampler = clCreateSampler(f->context, CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST, &error);
    check(error);
    const cl_mem arguments[2][4] = { { image, NULL, at, to }, { image, NULL, floats, to } };
    for (cl_uint i = 0; i < 4; i++) {
        if (i == 1) {
            check(clSetKernelArg(k, i, sizeof(sampler), &sampler));
            check(clSetKernelArg(sampling, i, sizeof(sampler), &sampler));
        } else {
            set(k, i, arguments[0][i]);
            set(sampling, i, arguments[1][i]);
        }
    }
    run(f, k, PPU_ARRAY_SIZE(far), 1, 1);
    run(f, sampling, PPU_ARRAY_SIZE(strange), 1, 1);
    check(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, sizeof(after), after, 0, NULL, NULL));
    assert_memory_equal(bytes, after, sizeof(after));
    check(clEnqueueReadBuffer(f->queue, to, CL_TRUE, 0, sizeof(got), got, 0, NULL, NULL));
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(far); i++) {
        assert_int_equal(got[i], 0x5a);
    }
    check(clReleaseSampler(sampler));
    check(clReleaseKernel(k));
    check(clReleaseKernel(sampling));
    const cl_mem memories[] = { image, sub, buffer, at, floats, to };
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(memories); i++) {
        check(clReleaseMemObject(memories[i]));
    }
}

/* A kernel reads what it has written, and a buffer is seen through images. */
static void images_share_buffers(void **state)
{
    static const char *const source =
        "kernel void k(read_write image1d_buffer_t line, read_write image2d_t plane, global uint *words)\n"
        "{ int x = get_global_id(0);\n"
        "  write_imageui(line, x, read_imageui(line, x) + 1); atomic_work_item_fence(CLK_IMAGE_MEM_FENCE,\n"
        "    memory_order_acq_rel, memory_scope_work_item);\n"
        "  int2 p = (int2)(x % 4, x / 4); write_imageui(plane, p, read_imageui(plane, p) * 10); words[x] += 3; }\n";
    struct fixture *f = *state;
    uint32_t words[16], got[16];
    cl_image_format format = { CL_R, CL_UNSIGNED_INT32 };
    cl_image_desc line = { .image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 16 }, square = plane(4, 4);

    for (uint32_t i = 0; i < 16; i++) {
        words[i] = i;
    }
    cl_mem buffer = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, sizeof(words), words);
    line.mem_object = square.mem_object = buffer;
    cl_mem lined = image_of(f, 0, format, line, NULL), squared = image_of(f, 0, format, square, NULL);
    cl_kernel kernel = fixture_kernel(f, source, "k");
    set(kernel, 0, lined);
    set(kernel, 1, squared);
    set(kernel, 2, buffer);
    run(f, kernel, 16, 1, 1);
    check(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, sizeof(got), got, 0, NULL, NULL));
    for (uint32_t i = 0; i < 16; i++) {
        assert_int_equal(got[i], (i + 1) * 10 + 3);
    }
    check(clReleaseKernel(kernel));
    check(clReleaseMemObject(lined));
    check(clReleaseMemObject(squared));
    check(clReleaseMemObject(buffer));
}

/* A block that is enqueued captures an image and a sampler. */
static void blocks_capture_images(void **state)
{
    static const char *const source =
        "kernel void k(read_only image2d_t i, sampler_t s, global float *to)\n"
        "{ enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(8), ^{\n"
        "    uint x = get_global_id(0); to[x] = read_imagef(i, s, (int2)(x, 1)).x; }); }\n";
    const cl_queue_properties properties[] = {
        CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT, 0
    };
    struct fixture *f = *state;
    float texels[TEXELS], got[WIDTH];
    cl_int error = CL_SUCCESS;

    for (uint32_t i = 0; i < TEXELS; i++) {
        texels[i] = (float)i;
    }
    cl_command_queue queue = clCreateCommandQueueWithProperties(f->context, f->device, properties, &error);
    check(error);
    cl_sampler sampler = clCreateSampler(f->context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &error);
    check(error);
    cl_mem image = image_of(f, 0, (cl_image_format){ CL_R, CL_FLOAT }, plane(WIDTH, HEIGHT), texels);
    cl_mem to = fixture_buffer(f, 0, sizeof(got), NULL);
    cl_kernel kernel = fixture_kernel(f, source, "k");
    set(kernel, 0, image);
    check(clSetKernelArg(kernel, 1, sizeof(sampler), &sampler));
    set(kernel, 2, to);
    run(f, kernel, 1, 1, 1);
    check(clEnqueueReadBuffer(f->queue, to, CL_TRUE, 0, sizeof(got), got, 0, NULL, NULL));
    assert_memory_equal(got, texels + WIDTH, sizeof(got));
    check(clReleaseKernel(kernel));
    check(clReleaseMemObject(image));
    check(clReleaseMemObject(to));
    check(clReleaseSampler(sampler));
    check(clReleaseCommandQueue(queue));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("every format converts as the specification says", formats_convert),
        cl_test("samplers choose and mix the texels of the specification's formulas", samplers_choose_texels),
        cl_test("halves are read and written [F6]", halves_are_read_and_written),
        cl_test("samplers stand in sources", samplers_stand_in_sources),
        cl_test("lines, arrays and volumes are read and written", shapes_turn),
        cl_test("a volume mixes slices, an array chooses a layer", third_coordinate_filters),
        cl_test("kernels ask for sizes and formats", questions_are_answered),
        cl_test("what lies outside of an image is neither read nor written", outside_stays),
        cl_test("a buffer is seen through images of one and of two dimensions", images_share_buffers),
        cl_test("a block that is enqueued captures images and samplers", blocks_capture_images),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
