/* SPDX-License-Identifier: MIT */
#include "opencl/api/image_format.h"

#include <math.h>
#include <string.h>

#include "opencl/api/buffer.h"
#include "ppu/macros.h"

/* Sets of types, as image_format.def has them. */
enum {
    UNSIGNED_FRACTION8 = 1 << 0,
    SIGNED_FRACTION8 = 1 << 1,
    UNSIGNED_FRACTION16 = 1 << 2,
    SIGNED_FRACTION16 = 1 << 3,
    HALF = 1 << 4,
    FLOAT = 1 << 5,
    INTEGER8 = 1 << 6,
    INTEGER = 1 << 7,
    PACKED = 1 << 8,
    ANY_FRACTION = UNSIGNED_FRACTION8 | SIGNED_FRACTION8 | UNSIGNED_FRACTION16 | SIGNED_FRACTION16 | HALF | FLOAT,
    ANY_BYTES = UNSIGNED_FRACTION8 | SIGNED_FRACTION8 | INTEGER8,
    ANY_CHANNELS = ANY_FRACTION | INTEGER8 | INTEGER,
};

enum whereabouts {
    ANYWHERE,
    PLANES,
    READ_ONLY,
};

static const struct type {
    cl_channel_type type;
    uint32_t bytes, set;
} types[] = {
#define IMAGE_TYPE(type, bytes, set) { type, bytes, set },
#include "opencl/api/image_format.def"
};

static const struct order {
    cl_channel_order order;
    uint32_t channels, sets;
    enum whereabouts where;
} orders[] = {
#define IMAGE_ORDER(order, channels, sets, where) { order, channels, sets, where },
#include "opencl/api/image_format.def"
};

static const struct type *find_type(cl_channel_type type)
{
    for (size_t i = 0; i < PPU_ARRAY_SIZE(types); i++) {
        if (types[i].type == type) {
            return &types[i];
        }
    }
    return NULL;
}

static const struct order *find_order(cl_channel_order order)
{
    for (size_t i = 0; i < PPU_ARRAY_SIZE(orders); i++) {
        if (orders[i].order == order) {
            return &orders[i];
        }
    }
    return NULL;
}

static bool go_together(const struct order *order, const struct type *type)
{
    return order && type && (order->sets & type->set) != 0;
}

static bool may_be(const struct order *order, cl_mem_object_type type, cl_mem_flags flags)
{
    switch (order->where) {
    case PLANES:
        return type == CL_MEM_OBJECT_IMAGE2D || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    case READ_ONLY:
        return type != CL_MEM_OBJECT_IMAGE1D_BUFFER && (flags & CL_MEM_READ_ONLY) != 0;
    default:
        return true;
    }
}

size_t image_format_bytes(const cl_image_format *format)
{
    const struct type *type = find_type(format->image_channel_data_type);
    const struct order *order = find_order(format->image_channel_order);

    return go_together(order, type) ? (size_t)order->channels * type->bytes : 0;
}

/* Whether the specification names the order and the type, whatever it says of both together. */
static bool is_named(const cl_image_format *format)
{
    return format->image_channel_order >= CL_R && format->image_channel_order <= CL_ABGR &&
           format->image_channel_data_type >= CL_SNORM_INT8 && format->image_channel_data_type <= CL_UNORM_INT_101010_2;
}

/* Packed channels are those of RGB, and RGB has no others. */
static bool is_possible(const cl_image_format *format)
{
    const struct type *type = find_type(format->image_channel_data_type);
    const struct order *order = find_order(format->image_channel_order);

    return is_named(format) && (!type || !order || (type->set == PACKED) == (order->sets == PACKED));
}

cl_int image_format_check(const cl_image_format *format, cl_mem_object_type type, cl_mem_flags flags)
{
    if (!format || !is_possible(format)) {
        return CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
    }
    bool there = image_format_bytes(format) > 0 && may_be(find_order(format->image_channel_order), type, flags);
    return there ? CL_SUCCESS : CL_IMAGE_FORMAT_NOT_SUPPORTED;
}

bool image_type_is(cl_mem_object_type type)
{
    return type == CL_MEM_OBJECT_IMAGE1D || type == CL_MEM_OBJECT_IMAGE1D_BUFFER ||
           type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE2D ||
           type == CL_MEM_OBJECT_IMAGE2D_ARRAY || type == CL_MEM_OBJECT_IMAGE3D;
}

/* ---- the list ---- */

cl_int clGetSupportedImageFormats(cl_context context, cl_mem_flags flags, cl_mem_object_type type, cl_uint num_entries,
                                  cl_image_format *formats, cl_uint *num_formats)
{
    cl_uint count = 0;

    if (!object_is(context, OBJECT_context)) {
        return CL_INVALID_CONTEXT;
    }
    if (memory_check_flags(flags & ~(cl_mem_flags)CL_MEM_KERNEL_READ_AND_WRITE) != CL_SUCCESS || !image_type_is(type) ||
        (num_entries == 0 && formats)) {
        return CL_INVALID_VALUE;
    }
    for (size_t o = 0; o < PPU_ARRAY_SIZE(orders); o++) {
        for (size_t t = 0; t < PPU_ARRAY_SIZE(types); t++) {
            if (!go_together(&orders[o], &types[t]) || !may_be(&orders[o], type, flags)) {
                continue;
            }
            if (formats && count < num_entries) {
                formats[count] = (cl_image_format){ orders[o].order, types[t].type };
            }
            count++;
        }
    }
    if (num_formats) {
        *num_formats = count;
    }
    return CL_SUCCESS;
}

/* ---- texels ---- */

/* A colour's channels in memory's order. */
static void to_order(cl_channel_order order, const uint32_t color[4], uint32_t channel[4])
{
    static const struct {
        cl_channel_order order;
        uint8_t from[4];
    } moves[] = {
        { CL_A, { 3, 3, 3, 3 } },    { CL_RA, { 0, 3, 0, 0 } },   { CL_BGRA, { 2, 1, 0, 3 } },
        { CL_ARGB, { 3, 0, 1, 2 } }, { CL_ABGR, { 3, 2, 1, 0 } }, { CL_sBGRA, { 2, 1, 0, 3 } },
    };

    memcpy(channel, color, 4 * sizeof(color[0]));
    for (size_t i = 0; i < PPU_ARRAY_SIZE(moves); i++) {
        for (uint32_t c = 0; c < 4 && moves[i].order == order; c++) {
            channel[c] = color[moves[i].from[c]];
        }
    }
}

/* Bits of a float: nothing else is in a colour whose type is one of fractions. */
static float float_of(uint32_t bits)
{
    float value = 0;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* Rounded once: the product is exact in this type. No number becomes the least. */
static uint32_t whole(float value, double scale, double least)
{
    double scaled = rint((double)value * scale);

    return (uint32_t)(int32_t)(scaled >= least ? PPU_MIN(scaled, scale) : least);
}

static uint32_t clamp_signed(uint32_t bits, int32_t least, int32_t most)
{
    int32_t value = (int32_t)bits;

    return (uint32_t)PPU_MIN(value < least ? least : value, most);
}

static uint32_t bits_of(float value)
{
    uint32_t bits = 0;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

#define FLOAT_INFINITY 0x7f800000u
#define FLOAT_HALF_OVER 0x477ff000u   /* 65520: from there on the nearest half is infinite */
#define FLOAT_HALF_NORMAL 0x38800000u /* 2^-14: the smallest normal half */
#define HALF_INFINITY 0x7c00u
#define HALF_QUIET 0x7e00u
#define HALF_SHIFT 13u /* bits that a float's fraction has more */

/* The nearest half, ties to even; some compilers have no type for it. */
static uint32_t half_of(float value)
{
    const uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;

    if (size > FLOAT_INFINITY) {
        return sign | HALF_QUIET | (size >> HALF_SHIFT & 0x1ffu);
    }
    if (size >= FLOAT_HALF_OVER) {
        return sign | HALF_INFINITY;
    }
    if (size < FLOAT_HALF_NORMAL) {
        return sign | (bits_of(float_of(size) + 0.5f) - bits_of(0.5f)); /* the sum's last bit is worth 2^-24 */
    }
    const uint32_t odd = size >> HALF_SHIFT & 1u, rebias = (127u - 15u) << 23;
    return sign | (size - rebias + (1u << (HALF_SHIFT - 1)) - 1 + odd) >> HALF_SHIFT;
}

static uint32_t encode_channel(cl_channel_type type, uint32_t bits)
{
    switch (type) {
    case CL_UNORM_INT8:
        return whole(float_of(bits), UINT8_MAX, 0);
    case CL_SNORM_INT8:
        return whole(float_of(bits), INT8_MAX, INT8_MIN);
    case CL_UNORM_INT16:
        return whole(float_of(bits), UINT16_MAX, 0);
    case CL_SNORM_INT16:
        return whole(float_of(bits), INT16_MAX, INT16_MIN);
    case CL_HALF_FLOAT:
        return half_of(float_of(bits));
    case CL_SIGNED_INT8:
        return clamp_signed(bits, INT8_MIN, INT8_MAX);
    case CL_SIGNED_INT16:
        return clamp_signed(bits, INT16_MIN, INT16_MAX);
    case CL_UNSIGNED_INT8:
        return PPU_MIN(bits, UINT8_MAX);
    case CL_UNSIGNED_INT16:
        return PPU_MIN(bits, UINT16_MAX);
    default:
        return bits;
    }
}

/* Red has the highest bits. */
static uint32_t encode_packed(cl_channel_type type, const uint32_t channel[4])
{
    const uint32_t most = type == CL_UNORM_INT_101010 ? 1023 : 31, green = type == CL_UNORM_SHORT_565 ? 63 : most;
    const uint32_t bits = type == CL_UNORM_INT_101010 ? 10 : 5, green_bits = type == CL_UNORM_SHORT_565 ? 6 : bits;

    return whole(float_of(channel[0]), most, 0) << (bits + green_bits) | whole(float_of(channel[1]), green, 0) << bits |
           whole(float_of(channel[2]), most, 0);
}

static bool has_gamma(cl_channel_order order)
{
    return order == CL_sRGBA || order == CL_sBGRA;
}

static uint32_t with_gamma(uint32_t bits)
{
    float linear = float_of(bits);
    float curve = linear <= 0.0031308f ? 12.92f * linear : 1.055f * powf(linear, 1.0f / 2.4f) - 0.055f;

    memcpy(&bits, &curve, sizeof(bits));
    return bits;
}

void image_format_encode(const cl_image_format *format, const void *color, uint8_t texel[TEXEL_MOST_BYTES])
{
    const cl_channel_type type = format->image_channel_data_type;
    const struct order *order = find_order(format->image_channel_order);
    const struct type *found = find_type(type);
    uint32_t given[4] = { 0 }, channel[4];

    memcpy(given, color, order->order == CL_DEPTH ? sizeof(given[0]) : sizeof(given));
    for (uint32_t i = 0; i < 3 && has_gamma(order->order); i++) {
        given[i] = with_gamma(given[i]);
    }
    to_order(order->order, given, channel);
    memset(texel, 0, TEXEL_MOST_BYTES);
    if (found->set == PACKED) {
        uint32_t bits = encode_packed(type, channel);
        memcpy(texel, &bits, found->bytes);
        return;
    }
    for (uint32_t i = 0; i < order->channels; i++) {
        uint32_t bits = encode_channel(type, channel[i]);
        memcpy(texel + (size_t)i * found->bytes, &bits, found->bytes);
    }
}
