/* SPDX-License-Identifier: MIT */
/*
 * Implements the functions of images and samplers: OpenCL C 6.15.15. To the library an image is the address of its
 * descriptor and a sampler a number, so that each function has the name that clang gives the one with clang's types.
 */
#include "image/sample.h"

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define LIBRARY __attribute__((always_inline))

/* A function that clang's calls know by the name `clang`. */
#define NAMED(type, name, clang, ...)                   \
    type LIBRARY name(__VA_ARGS__) __asm__(#clang);     \
    type LIBRARY name(__VA_ARGS__)

/* ---- coordinates ---- */

/* How each shape takes its coordinates: whole ones, and floats that a sampler makes texels of. */
struct whole {
    int x, y, z;
};

INLINE struct whole whole_1d(int c)
{
    return (struct whole){ c, 0, 0 };
}

INLINE struct whole whole_1d_array(int2 c)
{
    return (struct whole){ c.x, 0, c.y };
}

INLINE struct whole whole_2d(int2 c)
{
    return (struct whole){ c.x, c.y, 0 };
}

INLINE struct whole whole_3d(int4 c)
{
    return (struct whole){ c.x, c.y, c.z };
}

struct real {
    float x, y, z;
};

INLINE struct real real_1d(float c)
{
    return (struct real){ c, 0, 0 };
}

INLINE struct real real_1d_array(float2 c)
{
    return (struct real){ c.x, 0, c.y };
}

INLINE struct real real_2d(float2 c)
{
    return (struct real){ c.x, c.y, 0 };
}

INLINE struct real real_3d(float4 c)
{
    return (struct real){ c.x, c.y, c.z };
}

/* A shape: the dimensions that coordinates are sampled in, and whether the last one chooses a layer. */
enum shape {
    LINE = 1,
    PLANE = 2,
    VOLUME = 3,
    LAYERED = 4,
};

#define DIMENSIONS(shape) ((shape)&3)

/* ---- reading ---- */

INLINE uint4 read_whole(surface_t surface, uint sampler, struct whole c, uint shape)
{
    return load_spot(surface, settle(surface, sampler, c.x, c.y, c.z, (shape & LAYERED) != 0));
}

INLINE uint4 read_nearest(surface_t surface, uint sampler, struct real c, uint shape)
{
    struct whole at = { nearest(c.x, surface->width, sampler), 0, 0 };

    if (DIMENSIONS(shape) >= PLANE) {
        at.y = nearest(c.y, surface->height, sampler);
    }
    if (DIMENSIONS(shape) == VOLUME) {
        at.z = nearest(c.z, surface->depth, sampler);
    } else if ((shape & LAYERED) != 0) {
        at.z = (int)rint(c.z);
    }
    return read_whole(surface, sampler, at, shape);
}

/* A dimension that a shape has not, or the layer of an array, which is never the border: one texel. */
INLINE struct span single(uint offset)
{
    const struct tap tap = { offset, true, 1 };

    return (struct span){ tap, tap };
}

INLINE float4 read_linear(surface_t surface, uint sampler, struct real c, uint shape)
{
    struct span x = between(c.x, surface->width, 1u << surface->texel_log2, sampler), y = single(0), z = single(0);

    if (DIMENSIONS(shape) >= PLANE) {
        y = between(c.y, surface->height, surface->row_bytes, sampler);
    }
    if (DIMENSIONS(shape) == VOLUME) {
        z = between(c.z, surface->depth, surface->slice_bytes, sampler);
    } else if ((shape & LAYERED) != 0) {
        z = single((uint)edge((int)rint(c.z), surface->depth) * surface->slice_bytes);
    }
    return filter(surface, x, y, z, 1u << DIMENSIONS(shape));
}

INLINE float4 sample(surface_t surface, uint sampler, struct real c, uint shape)
{
    if ((sampler & PPU_SAMPLER_LINEAR) != 0) {
        return read_linear(surface, sampler, c, shape);
    }
    return read_float(surface, read_nearest(surface, sampler, c, shape));
}

INLINE half4 halves(float4 c)
{
    return (half4)((half)c.x, (half)c.y, (half)c.z, (half)c.w);
}

INLINE float4 widened(half4 c)
{
    return (float4)((float)c.x, (float)c.y, (float)c.z, (float)c.w);
}

/* ---- writing ---- */

/* What lies outside is not written. */
INLINE void write(surface_t surface, struct whole c, uint4 bits)
{
    if (is_inside(surface, c.x, c.y, c.z)) {
        store_texel(surface, texel_offset(surface, c.x, c.y, c.z), bits);
    }
}

INLINE void write_float(surface_t surface, struct whole c, float4 color)
{
    float4 channels = as_float4(to_order(as_uint4(color), surface->order));

    write(surface, c, encode_float(channels, surface->type));
}

INLINE void write_signed(surface_t surface, struct whole c, int4 color)
{
    write(surface, c, encode_signed(as_int4(to_order(as_uint4(color), surface->order)), surface->type));
}

INLINE void write_unsigned(surface_t surface, struct whole c, uint4 color)
{
    write(surface, c, encode_unsigned(to_order(color, surface->order), surface->type));
}

/* ---- the functions ---- */

ulong LIBRARY __translate_sampler_initializer(uint bits)
{
    return bits;
}

/*
 * `tag` tells functions of the library apart. `name` is clang's of the image with its access, `ints` and `floats` are
 * its names of the coordinates.
 */
#define READS(tag, name, ints, type, whole, shape)                                              \
    NAMED(float4, readf_##tag, _Z11read_imagef##name##ints, surface_t s, type c)                \
    {                                                                                           \
        return read_float(s, read_whole(s, 0, whole(c), shape));                                \
    }                                                                                           \
    NAMED(half4, readh_##tag, _Z11read_imageh##name##ints, surface_t s, type c)                 \
    {                                                                                           \
        return halves(readf_##tag(s, c));                                                       \
    }                                                                                           \
    NAMED(uint4, readi_##tag, _Z11read_imagei##name##ints, surface_t s, type c)                 \
    {                                                                                           \
        return read_int(s, read_whole(s, 0, whole(c), shape));                                  \
    }                                                                                           \
    NAMED(uint4, readui_##tag, _Z12read_imageui##name##ints, surface_t s, type c)               \
    {                                                                                           \
        return readi_##tag(s, c);                                                               \
    }

/* Whole coordinates name a texel, whatever the filter. */
#define SAMPLES_WHOLE(tag, name, ints, type, whole, shape)                                            \
    NAMED(float4, wholef_##tag, _Z11read_imagef##name##ints, surface_t s, ulong sampler, type c)      \
    {                                                                                                 \
        return read_float(s, read_whole(s, (uint)sampler, whole(c), shape));                          \
    }                                                                                                 \
    NAMED(half4, wholeh_##tag, _Z11read_imageh##name##ints, surface_t s, ulong sampler, type c)       \
    {                                                                                                 \
        return halves(wholef_##tag(s, sampler, c));                                                   \
    }                                                                                                 \
    NAMED(uint4, wholei_##tag, _Z11read_imagei##name##ints, surface_t s, ulong sampler, type c)       \
    {                                                                                                 \
        return read_int(s, read_whole(s, (uint)sampler, whole(c), shape));                            \
    }                                                                                                 \
    NAMED(uint4, wholeui_##tag, _Z12read_imageui##name##ints, surface_t s, ulong sampler, type c)     \
    {                                                                                                 \
        return wholei_##tag(s, sampler, c);                                                           \
    }

#define SAMPLES_REAL(tag, name, floats, type, real, shape)                                            \
    NAMED(float4, realf_##tag, _Z11read_imagef##name##floats, surface_t s, ulong sampler, type c)     \
    {                                                                                                 \
        return sample(s, (uint)sampler, real(c), shape);                                              \
    }                                                                                                 \
    NAMED(half4, realh_##tag, _Z11read_imageh##name##floats, surface_t s, ulong sampler, type c)      \
    {                                                                                                 \
        return halves(realf_##tag(s, sampler, c));                                                    \
    }                                                                                                 \
    NAMED(uint4, reali_##tag, _Z11read_imagei##name##floats, surface_t s, ulong sampler, type c)      \
    {                                                                                                 \
        return read_int(s, read_nearest(s, (uint)sampler, real(c), shape));                           \
    }                                                                                                 \
    NAMED(uint4, realui_##tag, _Z12read_imageui##name##floats, surface_t s, ulong sampler, type c)    \
    {                                                                                                 \
        return reali_##tag(s, sampler, c);                                                            \
    }

/* `again`: clang's name of int4 behind the coordinates, which is short when they have that type. */
#define WRITES(tag, name, ints, type, whole, again)                                               \
    NAMED(void, writef_##tag, _Z12write_imagef##name##ints##Dv4_f, surface_t s, type c, float4 v) \
    {                                                                                             \
        write_float(s, whole(c), v);                                                              \
    }                                                                                             \
    NAMED(void, writeh_##tag, _Z12write_imageh##name##ints##Dv4_Dh, surface_t s, type c, half4 v) \
    {                                                                                             \
        write_float(s, whole(c), widened(v));                                                     \
    }                                                                                             \
    NAMED(void, writei_##tag, _Z12write_imagei##name##ints##again, surface_t s, type c, int4 v)   \
    {                                                                                             \
        write_signed(s, whole(c), v);                                                             \
    }                                                                                             \
    NAMED(void, writeui_##tag, _Z13write_imageui##name##ints##Dv4_j, surface_t s, type c, uint4 v)\
    {                                                                                             \
        write_unsigned(s, whole(c), v);                                                           \
    }

#define ASK(type, tag, name, value)          \
    NAMED(type, tag, name, surface_t s)      \
    {                                        \
        return value;                        \
    }

#define ASK_ALL(tag, name)                                                               \
    ASK(int, width_##tag, _Z15get_image_width##name, (int)s->width)                      \
    ASK(int, type_##tag, _Z27get_image_channel_data_type##name, (int)s->type)            \
    ASK(int, order_##tag, _Z23get_image_channel_order##name, (int)s->order)

#define ASK_PLANE(tag, name)                                                             \
    ASK_ALL(tag, name)                                                                   \
    ASK(int, height_##tag, _Z16get_image_height##name, (int)s->height)                   \
    ASK(int2, dim_##tag, _Z13get_image_dim##name, ((int2)((int)s->width, (int)s->height)))

#define ASK_VOLUME(tag, name)                                                            \
    ASK_ALL(tag, name)                                                                   \
    ASK(int, height_##tag, _Z16get_image_height##name, (int)s->height)                   \
    ASK(int, depth_##tag, _Z15get_image_depth##name, (int)s->depth)                      \
    ASK(int4, dim_##tag, _Z13get_image_dim##name, ((int4)((int)s->width, (int)s->height, (int)s->depth, 0)))

#define ASK_LAYERS(tag, name) ASK(ulong, layers_##tag, _Z20get_image_array_size##name, s->depth)

/* An image that is read, one that is written, and one that is both. */
#define ACCESSES(tag, name, ints, type, whole, shape, again)                       \
    READS(ro_##tag, name##_ro, ints, type, whole, shape)                           \
    READS(rw_##tag, name##_rw, ints, type, whole, shape)                           \
    WRITES(wo_##tag, name##_wo, ints, type, whole, again)                          \
    WRITES(rw_##tag, name##_rw, ints, type, whole, again)

#define SAMPLES(tag, name, ints, itype, floats, ftype, kind, shape)                              \
    SAMPLES_WHOLE(ro_##tag, name##_ro, 11ocl_sampler##ints, itype, whole_##kind, shape)          \
    SAMPLES_REAL(ro_##tag, name##_ro, 11ocl_sampler##floats, ftype, real_##kind, shape)

#define ASKS(ask, tag, name)      \
    ask(ro_##tag, name##_ro)      \
    ask(wo_##tag, name##_wo)      \
    ask(rw_##tag, name##_rw)

ACCESSES(1d, 14ocl_image1d, i, int, whole_1d, LINE, Dv4_i)
SAMPLES(1d, 14ocl_image1d, i, int, f, float, 1d, LINE)
ASKS(ASK_ALL, 1d, 14ocl_image1d)

ACCESSES(1d_buffer, 21ocl_image1d_buffer, i, int, whole_1d, LINE, Dv4_i)
ASKS(ASK_ALL, 1d_buffer, 21ocl_image1d_buffer)

ACCESSES(1d_array, 20ocl_image1d_array, Dv2_i, int2, whole_1d_array, LINE | LAYERED, Dv4_i)
SAMPLES(1d_array, 20ocl_image1d_array, Dv2_i, int2, Dv2_f, float2, 1d_array, LINE | LAYERED)
ASKS(ASK_ALL, 1d_array, 20ocl_image1d_array)
ASKS(ASK_LAYERS, 1d_array, 20ocl_image1d_array)

ACCESSES(2d, 14ocl_image2d, Dv2_i, int2, whole_2d, PLANE, Dv4_i)
SAMPLES(2d, 14ocl_image2d, Dv2_i, int2, Dv2_f, float2, 2d, PLANE)
ASKS(ASK_PLANE, 2d, 14ocl_image2d)

ACCESSES(2d_array, 20ocl_image2d_array, Dv4_i, int4, whole_3d, PLANE | LAYERED, S0_)
SAMPLES(2d_array, 20ocl_image2d_array, Dv4_i, int4, Dv4_f, float4, 3d, PLANE | LAYERED)
ASKS(ASK_PLANE, 2d_array, 20ocl_image2d_array)
ASKS(ASK_LAYERS, 2d_array, 20ocl_image2d_array)

ACCESSES(3d, 14ocl_image3d, Dv4_i, int4, whole_3d, VOLUME, S0_)
SAMPLES(3d, 14ocl_image3d, Dv4_i, int4, Dv4_f, float4, 3d, VOLUME)
ASKS(ASK_VOLUME, 3d, 14ocl_image3d)

/* ---- depth ---- */

#define READ_DEPTH(tag, name, ints, type, whole, shape)                         \
    NAMED(float, readf_##tag, _Z11read_imagef##name##ints, surface_t s, type c) \
    {                                                                           \
        return read_float(s, read_whole(s, 0, whole(c), shape)).x;              \
    }

#define WRITE_DEPTH(tag, name, ints, type, whole)                                            \
    NAMED(void, writef_##tag, _Z12write_imagef##name##ints##f, surface_t s, type c, float v) \
    {                                                                                        \
        write_float(s, whole(c), v);                                                         \
    }

#define SAMPLE_DEPTH(tag, name, ints, itype, floats, ftype, kind, shape)                                           \
    NAMED(float, wholef_##tag, _Z11read_imagef##name##11ocl_sampler##ints, surface_t s, ulong sampler, itype c)    \
    {                                                                                                              \
        return read_float(s, read_whole(s, (uint)sampler, whole_##kind(c), shape)).x;                              \
    }                                                                                                              \
    NAMED(float, realf_##tag, _Z11read_imagef##name##11ocl_sampler##floats, surface_t s, ulong sampler, ftype c)   \
    {                                                                                                              \
        return sample(s, (uint)sampler, real_##kind(c), shape).x;                                                  \
    }

#define DEPTHS(tag, name, ints, itype, floats, ftype, kind, shape)                        \
    READ_DEPTH(ro_##tag, name##_ro, ints, itype, whole_##kind, shape)                     \
    READ_DEPTH(rw_##tag, name##_rw, ints, itype, whole_##kind, shape)                     \
    WRITE_DEPTH(wo_##tag, name##_wo, ints, itype, whole_##kind)                           \
    WRITE_DEPTH(rw_##tag, name##_rw, ints, itype, whole_##kind)                           \
    SAMPLE_DEPTH(ro_##tag, name##_ro, ints, itype, floats, ftype, kind, shape)            \
    ASKS(ASK_PLANE, tag, name)

DEPTHS(2d_depth, 20ocl_image2d_depth, Dv2_i, int2, Dv2_f, float2, 2d, PLANE)
DEPTHS(2d_array_depth, 26ocl_image2d_array_depth, Dv4_i, int4, Dv4_f, float4, 3d, PLANE | LAYERED)
ASKS(ASK_LAYERS, 2d_array_depth, 26ocl_image2d_array_depth)
