/* SPDX-License-Identifier: MIT */
/*
 * Loads and stores texels, and converts between their bits and the four channels that a kernel sees. Type and order are
 * the same for all threads of a kernel, so that the branches on them do not diverge.
 */
#ifndef DEVICE_LIB_OPENCL_IMAGE_TEXEL_H
#define DEVICE_LIB_OPENCL_IMAGE_TEXEL_H

#include "primitive.h"

#include "ppu/surface.h"

#define INLINE static inline __attribute__((always_inline))

typedef constant struct ppu_surface *surface_t;

/* ---- memory ---- */

/* Channels that a texel has not are 0. */
INLINE uint4 load_texel(surface_t surface, uint offset)
{
    ulong at = surface->va + offset;

    switch (surface->texel_log2) {
    case 0:
        return (uint4)(*(const global uchar *)at, 0, 0, 0);
    case 1:
        return (uint4)(*(const global ushort *)at, 0, 0, 0);
    case 2:
        return (uint4)(*(const global uint *)at, 0, 0, 0);
    case 3:
        return (uint4)(*(const global uint2 *)at, 0, 0);
    default:
        return *(const global uint4 *)at;
    }
}

INLINE void store_texel(surface_t surface, uint offset, uint4 bits)
{
    ulong at = surface->va + offset;

    switch (surface->texel_log2) {
    case 0:
        *(global uchar *)at = (uchar)bits.x;
        break;
    case 1:
        *(global ushort *)at = (ushort)bits.x;
        break;
    case 2:
        *(global uint *)at = bits.x;
        break;
    case 3:
        *(global uint2 *)at = bits.xy;
        break;
    default:
        *(global uint4 *)at = bits;
        break;
    }
}

/* ---- channels ---- */

INLINE uint4 bytes_of(uint bits)
{
    return (uint4)(bits & 0xff, bits >> 8 & 0xff, bits >> 16 & 0xff, bits >> 24);
}

INLINE uint4 shorts_of(uint4 bits)
{
    return (uint4)(bits.x & 0xffff, bits.x >> 16, bits.y & 0xffff, bits.y >> 16);
}

INLINE uint of_bytes(uint4 channels)
{
    return (channels.x & 0xff) | (channels.y & 0xff) << 8 | (channels.z & 0xff) << 16 | channels.w << 24;
}

INLINE uint4 of_shorts(uint4 channels)
{
    return (uint4)((channels.x & 0xffff) | channels.y << 16, (channels.z & 0xffff) | channels.w << 16, 0, 0);
}

INLINE int4 signed_bytes_of(uint bits)
{
    return (int4)((int)(bits << 24) >> 24, (int)(bits << 16) >> 24, (int)(bits << 8) >> 24, (int)bits >> 24);
}

INLINE int4 signed_shorts_of(uint4 bits)
{
    return (int4)((int)(bits.x << 16) >> 16, (int)bits.x >> 16, (int)(bits.y << 16) >> 16, (int)bits.y >> 16);
}

/* Channels of a packed texel; the first one has the highest bits. */
INLINE uint4 packed_of(uint bits, uint first, uint second, uint third)
{
    return (uint4)(bits >> (second + third) & ((1u << first) - 1), bits >> third & ((1u << second) - 1),
                   bits & ((1u << third) - 1), 0);
}

INLINE float4 floats(uint4 x)
{
    return (float4)((float)x.x, (float)x.y, (float)x.z, (float)x.w);
}

INLINE float4 signed_floats(int4 x)
{
    return (float4)((float)x.x, (float)x.y, (float)x.z, (float)x.w);
}

INLINE float float_of_half(uint bits)
{
    ushort word = (ushort)bits;

    return __builtin_load_halff((const half *)&word);
}

/* Correctly rounded or next to it; the largest number becomes exactly 1. */
INLINE float4 decode_float(uint4 bits, uint type)
{
    switch (type) {
    case CLK_UNORM_INT8:
        return floats(bytes_of(bits.x)) * (1.0f / 255);
    case CLK_UNORM_INT16:
        return floats(shorts_of(bits)) * (1.0f / 65535);
    case CLK_SNORM_INT8:
        return max(signed_floats(signed_bytes_of(bits.x)) * (1.0f / 127), -1.0f);
    case CLK_SNORM_INT16:
        return max(signed_floats(signed_shorts_of(bits)) * (1.0f / 32767), -1.0f);
    case CLK_HALF_FLOAT: {
        uint4 halves = shorts_of(bits);
        return (float4)(float_of_half(halves.x), float_of_half(halves.y), float_of_half(halves.z),
                        float_of_half(halves.w));
    }
    case CLK_UNORM_SHORT_565:
        return floats(packed_of(bits.x, 5, 6, 5)) * (float4)(1.0f / 31, 1.0f / 63, 1.0f / 31, 0);
    case CLK_UNORM_SHORT_555:
        return floats(packed_of(bits.x, 5, 5, 5)) * (1.0f / 31);
    case CLK_UNORM_INT_101010:
        return floats(packed_of(bits.x, 10, 10, 10)) * (1.0f / 1023);
    default:
        return as_float4(bits);
    }
}

INLINE uint4 decode_int(uint4 bits, uint type)
{
    switch (type) {
    case CLK_SIGNED_INT8:
        return as_uint4(signed_bytes_of(bits.x));
    case CLK_SIGNED_INT16:
        return as_uint4(signed_shorts_of(bits));
    case CLK_UNSIGNED_INT8:
        return bytes_of(bits.x);
    case CLK_UNSIGNED_INT16:
        return shorts_of(bits);
    default:
        return bits;
    }
}

/*
 * The nearest whole number to c times the scale, of two the even one, once c is within its bounds. It stands in the low
 * 16 bits: a float of that size has ones as its last place, and the sum is rounded once.
 */
INLINE uint4 whole(float4 c, float scale, float least)
{
    const float ones = 0x1.8p23f;
    float4 inside = fmin(fmax(c, least), 1.0f);

    return as_uint4((float4)(fma(inside.x, scale, ones), fma(inside.y, scale, ones), fma(inside.z, scale, ones),
                             fma(inside.w, scale, ones)));
}

INLINE uint4 of_packed(uint4 n, uint first, uint second, uint third)
{
    return (uint4)((n.x & ((1u << first) - 1)) << (second + third) | (n.y & ((1u << second) - 1)) << third |
                       (n.z & ((1u << third) - 1)),
                   0, 0, 0);
}

INLINE uint4 encode_float(float4 c, uint type)
{
    switch (type) {
    case CLK_UNORM_INT8:
        return (uint4)(of_bytes(whole(c, 255, 0)), 0, 0, 0);
    case CLK_UNORM_INT16:
        return of_shorts(whole(c, 65535, 0));
    case CLK_SNORM_INT8:
        return (uint4)(of_bytes(whole(c, 127, -128.0f / 127)), 0, 0, 0);
    case CLK_SNORM_INT16:
        return of_shorts(whole(c, 32767, -32768.0f / 32767));
    case CLK_HALF_FLOAT:
        return of_shorts((uint4)(__ppu_half_of_float(c.x, PPU_ROUND_RNE), __ppu_half_of_float(c.y, PPU_ROUND_RNE),
                                 __ppu_half_of_float(c.z, PPU_ROUND_RNE), __ppu_half_of_float(c.w, PPU_ROUND_RNE)));
    case CLK_UNORM_SHORT_565: {
        uint4 wide = whole(c, 31, 0), green = whole(c, 63, 0);
        return of_packed((uint4)(wide.x, green.y, wide.z, 0), 5, 6, 5);
    }
    case CLK_UNORM_SHORT_555:
        return of_packed(whole(c, 31, 0), 5, 5, 5);
    case CLK_UNORM_INT_101010:
        return of_packed(whole(c, 1023, 0), 10, 10, 10);
    default:
        return as_uint4(c);
    }
}

/* Numbers that do not fit become the nearest that does. */
INLINE uint4 encode_signed(int4 c, uint type)
{
    switch (type) {
    case CLK_SIGNED_INT8:
        return (uint4)(of_bytes(as_uint4(clamp(c, -128, 127))), 0, 0, 0);
    case CLK_SIGNED_INT16:
        return of_shorts(as_uint4(clamp(c, -32768, 32767)));
    default:
        return as_uint4(c);
    }
}

INLINE uint4 encode_unsigned(uint4 c, uint type)
{
    switch (type) {
    case CLK_UNSIGNED_INT8:
        return (uint4)(of_bytes(min(c, 255u)), 0, 0, 0);
    case CLK_UNSIGNED_INT16:
        return of_shorts(min(c, 65535u));
    default:
        return c;
    }
}

/* ---- order ---- */

/* Memory's channels as a kernel sees them; `one` is what a missing alpha is. */
INLINE uint4 from_order(uint4 c, uint order, uint one)
{
    switch (order) {
    case CLK_RGBA:
    case CLK_sRGBA:
        return c;
    case CLK_BGRA:
    case CLK_sBGRA:
        return c.zyxw;
    case CLK_ARGB:
        return c.yzwx;
    case CLK_ABGR:
        return c.wzyx;
    case CLK_A:
        return (uint4)(0, 0, 0, c.x);
    case CLK_RA:
        return (uint4)(c.x, 0, 0, c.y);
    case CLK_INTENSITY:
        return c.xxxx;
    case CLK_LUMINANCE:
        return (uint4)(c.xxx, one);
    default:
        return (uint4)(c.xyz, one);
    }
}

INLINE uint4 to_order(uint4 c, uint order)
{
    switch (order) {
    case CLK_BGRA:
        return c.zyxw;
    case CLK_ARGB:
        return c.wxyz;
    case CLK_ABGR:
        return c.wzyx;
    case CLK_A:
        return c.wwww;
    case CLK_RA:
        return c.xwzy;
    default:
        return c;
    }
}

/* Takes the gamma of sRGB off a channel. */
INLINE float linear_of(float c)
{
    float curve = __ppu_exp2(2.4f * __ppu_log2(c * (1.0f / 1.055f) + 0.055f / 1.055f));

    return c <= 0.04045f ? c * (1.0f / 12.92f) : curve;
}

INLINE float4 read_float(surface_t surface, uint4 bits)
{
    float4 c = decode_float(bits, surface->type);

    if (surface->order == CLK_sRGBA || surface->order == CLK_sBGRA) {
        c = (float4)(linear_of(c.x), linear_of(c.y), linear_of(c.z), c.w);
    }
    return as_float4(from_order(as_uint4(c), surface->order, as_uint(1.0f)));
}

INLINE uint4 read_int(surface_t surface, uint4 bits)
{
    return from_order(decode_int(bits, surface->type), surface->order, 1);
}

#endif
