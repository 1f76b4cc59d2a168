/* SPDX-License-Identifier: MIT */
/* Tests integer built-in functions and conversions of every type against plain arithmetic, over corner values. */
#include "ppu/macros.h"
#include "tests/compiler/device.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETS 768u

typedef __int128 wide;

struct type {
    const char *name;
    uint32_t bits;
    bool is_signed;
};

static const struct type types[] = {
    { "char", 8, true }, { "uchar", 8, false }, { "short", 16, true }, { "ushort", 16, false },
    { "int", 32, true }, { "uint", 32, false }, { "long", 64, true },  { "ulong", 64, false },
};
#define TYPES PPU_ARRAY_SIZE(types)

static wide least(const struct type *t)
{
    return t->is_signed ? -((wide)1 << (t->bits - 1)) : 0;
}

static wide most(const struct type *t)
{
    return ((wide)1 << (t->bits - t->is_signed)) - 1;
}

static wide clamped(wide v, wide low, wide high)
{
    return v < low ? low : v > high ? high : v;
}

/* The bits of v as a number of the type. */
static wide wrapped(const struct type *t, wide v)
{
    wide mask = ((wide)1 << t->bits) - 1, bits = v & mask;

    return t->is_signed && bits >> (t->bits - 1) ? bits - mask - 1 : bits;
}

static wide unsigned_of(const struct type *t, wide v)
{
    return v & (((wide)1 << t->bits) - 1);
}

/* ---- functions ---- */

struct function {
    const char *call; /* of x, y, z */
    wide (*model)(const struct type *t, wide x, wide y, wide z);
};

#define MODEL(name, expression)                                    \
    static wide name(const struct type *t, wide x, wide y, wide z) \
    {                                                              \
        (void)t;                                                   \
        (void)y;                                                   \
        (void)z;                                                   \
        return expression;                                         \
    }

MODEL(m_abs, x < 0 ? -x : x)
MODEL(m_abs_diff, x > y ? x - y : y - x)
MODEL(m_add_sat, clamped(x + y, least(t), most(t)))
MODEL(m_sub_sat, clamped(x - y, least(t), most(t)))
MODEL(m_hadd, (x + y) >> 1)
MODEL(m_rhadd, (x + y + 1) >> 1)
MODEL(m_max, x > y ? x : y)
MODEL(m_min, x < y ? x : y)
MODEL(m_clamp, clamped(x, y < z ? y : z, y < z ? z : y))
MODEL(m_mul_hi,
      t->bits < 64 || t->is_signed ? (x * y) >> t->bits : (wide)((unsigned __int128)x *(unsigned __int128)y >> 64))
MODEL(m_mad_hi, m_mul_hi(t, x, y, 0) + z)
MODEL(m_add, x + y)
MODEL(m_mul, (wide)((unsigned __int128)x *(unsigned __int128)y))
MODEL(m_select, z < 0 ? y : x)
MODEL(m_bitselect, (x & ~z) | (y & z))

static wide m_rotate(const struct type *t, wide x, wide y, wide z)
{
    uint32_t n = (uint32_t)unsigned_of(t, y) % t->bits;
    wide u = unsigned_of(t, x);

    (void)z;
    return n == 0 ? u : (wide)((unsigned __int128)u << n) | u >> (t->bits - n);
}

static wide m_clz(const struct type *t, wide x, wide y, wide z)
{
    wide u = unsigned_of(t, x), count = t->bits;

    (void)y;
    (void)z;
    for (; u != 0; u >>= 1) {
        count--;
    }
    return count;
}

static wide m_popcount(const struct type *t, wide x, wide y, wide z)
{
    wide count = 0;

    (void)y;
    (void)z;
    for (wide u = unsigned_of(t, x); u != 0; u >>= 1) {
        count += u & 1;
    }
    return count;
}

/* Its product does not fit 128 bits with a sign when the type is ulong. */
static wide m_mad_sat(const struct type *t, wide x, wide y, wide z)
{
    unsigned __int128 product = (unsigned __int128)x * (unsigned __int128)y;

    if (t->bits == 64 && !t->is_signed) {
        return product + (unsigned __int128)z < product || product + (unsigned __int128)z > (unsigned __int128)most(t)
                   ? most(t)
                   : (wide)product + z;
    }
    return clamped(x * y + z, least(t), most(t));
}

static const struct function functions[] = {
    { "abs(x)", m_abs },
    { "abs_diff(x, y)", m_abs_diff },
    { "add_sat(x, y)", m_add_sat },
    { "sub_sat(x, y)", m_sub_sat },
    { "hadd(x, y)", m_hadd },
    { "rhadd(x, y)", m_rhadd },
    { "max(x, y)", m_max },
    { "min(x, y)", m_min },
    { "clamp(x, min(y, z), max(y, z))", m_clamp },
    { "mul_hi(x, y)", m_mul_hi },
    { "mad_hi(x, y, z)", m_mad_hi },
    { "mad_sat(x, y, z)", m_mad_sat },
    { "rotate(x, y)", m_rotate },
    { "clz(x)", m_clz },
    { "popcount(x)", m_popcount },
    { "x + y", m_add },
    { "x * y", m_mul },
    { "z < 0 ? y : x", m_select },
    { "bitselect(x, y, z)", m_bitselect },
};
#define FUNCTIONS PPU_ARRAY_SIZE(functions)

/* ---- values ---- */

/* Ends of the range, small numbers, then any. */
static wide value(const struct type *t, uint32_t i, uint32_t which)
{
    const wide corners[] = { 0, 1, 2, most(t), most(t) - 1, least(t), least(t) + 1, wrapped(t, -1), most(t) / 2, 7 };
    const uint32_t count = PPU_ARRAY_SIZE(corners);
    uint64_t bits = (uint64_t)(i * 3 + which + 1) * 0x9e3779b97f4a7c15ull;

    if (i < count * count) {
        return corners[which == 0 ? i % count : which == 1 ? i / count : (i + i / count) % count];
    }
    return wrapped(t, (wide)(bits ^ bits >> 31));
}

static void put(void *at, const struct type *t, uint32_t i, wide v)
{
    uint64_t bits = (uint64_t)v;

    memcpy((uint8_t *)at + (size_t)i * (t->bits / 8), &bits, t->bits / 8);
}

static wide get(const void *at, const struct type *t, uint32_t i)
{
    uint64_t bits = 0;

    memcpy(&bits, (const uint8_t *)at + (size_t)i * (t->bits / 8), t->bits / 8);
    return wrapped(t, (wide)bits);
}

/* ---- all functions of one type ---- */

static void load_functions(struct device *device)
{
    char *source = calloc(TYPES, 4000);
    size_t at = 0;

    assert_non_null(source);
    for (uint32_t k = 0; k < TYPES; k++) {
        const char *name = types[k].name;
        at += (size_t)sprintf(
            source + at,
            "__kernel void f_%s(__global %s *o, __global const %s *a, __global const %s *b, "
            "__global const %s *c) { size_t i = get_global_id(0); %s x = a[i], y = b[i], z = c[i]; o += "
            "i * %zu;\n",
            name, name, name, name, name, name, FUNCTIONS);
        for (uint32_t f = 0; f < FUNCTIONS; f++) {
            at += (size_t)sprintf(source + at, "  o[%u] = (%s)(%s);\n", f, name, functions[f].call);
        }
        at += (size_t)sprintf(source + at, "}\n");
    }
    device_load(device, source, NULL);
    free(source);
}

static uint32_t check_type(struct device *device, const struct type *t)
{
    char kernel[32];
    uint32_t misses = 0;

    snprintf(kernel, sizeof(kernel), "f_%s", t->name);
    device_kernel(device, kernel);
    void *out = device_buffer(device, 0, SETS * FUNCTIONS * t->bits / 8), *in[3];
    for (uint32_t a = 0; a < 3; a++) {
        in[a] = device_buffer(device, 1 + a, SETS * t->bits / 8);
        for (uint32_t i = 0; i < SETS; i++) {
            put(in[a], t, i, value(t, i, a));
        }
    }
    device_run_threads(device, SETS, 64);
    for (uint32_t i = 0; i < SETS * FUNCTIONS; i++) {
        const struct function *f = &functions[i % FUNCTIONS];
        uint32_t set = i / FUNCTIONS;
        wide x = value(t, set, 0), y = value(t, set, 1), z = value(t, set, 2),
             wanted = wrapped(t, f->model(t, x, y, z));
        if (get(out, t, i) != wanted && misses++ < 10) {
            print_error("%s: %s of %lld, %lld, %lld is %lld, not %lld\n", t->name, f->call, (long long)x, (long long)y,
                        (long long)z, (long long)get(out, t, i), (long long)wanted);
        }
    }
    return misses;
}

static void integers(void **state)
{
    uint32_t misses = 0;

    load_functions(*state);
    for (uint32_t k = 0; k < TYPES; k++) {
        misses += check_type(*state, &types[k]);
    }
    assert_int_equal(misses, 0);
}

/* ---- conversions ---- */

struct rounding {
    const char *suffix;
    int mode;
};

static const struct rounding roundings[] = {
    { "_rte", FE_TONEAREST }, { "_rtz", FE_TOWARDZERO }, { "_rtp", FE_UPWARD }, { "_rtn", FE_DOWNWARD }
};
#define ROUNDINGS 4u

static const float floats[] = { 0.0f,     -0.0f,     0.5f,          -0.5f,         1.5f,     -1.5f,     2.5f,
                                126.5f,   127.5f,    -128.5f,       255.5f,        32767.5f, -32768.5f, 65535.5f,
                                1e9f,     -1e9f,     2147483648.0f, 4294967040.0f, 1e19f,    -1e19f,    0.49999997f,
                                INFINITY, -INFINITY, NAN,           3e38f,         -3e38f,   8388607.5f };
#define FLOATS PPU_ARRAY_SIZE(floats)

/* To integers, saturated, in each direction; and integers to float. */
static void load_conversions(struct device *device)
{
    char *source = calloc(TYPES * ROUNDINGS, 600);
    size_t at = 0;

    assert_non_null(source);
    for (uint32_t k = 0; k < TYPES; k++) {
        const char *name = types[k].name;
        at += (size_t)sprintf(source + at,
                              "__kernel void to_%s(__global %s *o, __global const float *a, __global float *back, "
                              "__global const %s *b) { size_t i = get_global_id(0); float x = a[i];\n",
                              name, name, name);
        for (uint32_t r = 0; r < ROUNDINGS; r++) {
            at += (size_t)sprintf(source + at,
                                  "  o[i * 4 + %u] = convert_%s_sat%s(x); back[i * 4 + %u] = convert_float%s(b[i]);\n",
                                  r, name, roundings[r].suffix, r, roundings[r].suffix);
        }
        at += (size_t)sprintf(source + at, "}\n");
    }
    device_load(device, source, NULL);
    free(source);
}

static wide to_integer(const struct type *t, float x, int mode)
{
    if (isnan(x)) {
        return 0;
    }
    fesetround(mode);
    double rounded = nearbyint((double)x);
    fesetround(FE_TONEAREST);
    if (rounded >= 0x1p64) {
        return most(t);
    }
    return rounded <= -0x1p64 ? least(t) : clamped((wide)rounded, least(t), most(t));
}

static float to_float(const struct type *t, wide v, int mode)
{
    volatile int64_t narrow = (int64_t)v;
    volatile uint64_t natural = (uint64_t)v;
    volatile float result;

    fesetround(mode);
    if (t->is_signed) {
        result = (float)narrow;
    } else {
        result = (float)natural;
    }
    fesetround(FE_TONEAREST);
    return result;
}

static uint32_t check_conversions(struct device *device, const struct type *t)
{
    char kernel[32];
    uint32_t misses = 0;

    snprintf(kernel, sizeof(kernel), "to_%s", t->name);
    device_kernel(device, kernel);
    void *out = device_buffer(device, 0, FLOATS * ROUNDINGS * t->bits / 8);
    memcpy(device_buffer(device, 1, sizeof(floats)), floats, sizeof(floats));
    float *back = device_buffer(device, 2, FLOATS * ROUNDINGS * 4);
    void *in = device_buffer(device, 3, FLOATS * t->bits / 8);
    for (uint32_t i = 0; i < FLOATS; i++) {
        put(in, t, i, value(t, i * 29, 0));
    }
    device_run(device, 1, 1, FLOATS, 1);
    for (uint32_t i = 0; i < FLOATS * ROUNDINGS; i++) {
        int mode = roundings[i % ROUNDINGS].mode;
        wide wanted = to_integer(t, floats[i / ROUNDINGS], mode);
        float wanted_back = to_float(t, value(t, i / ROUNDINGS * 29, 0), mode);
        if (get(out, t, i) != wanted) {
            print_error("convert_%s_sat%s(%a) is %lld, not %lld\n", t->name, roundings[i % ROUNDINGS].suffix,
                        (double)floats[i / ROUNDINGS], (long long)get(out, t, i), (long long)wanted);
            misses++;
        }
        if (back[i] != wanted_back) {
            print_error("convert_float%s of %s %lld is %a, not %a\n", roundings[i % ROUNDINGS].suffix, t->name,
                        (long long)value(t, i / ROUNDINGS * 29, 0), (double)back[i], (double)wanted_back);
            misses++;
        }
    }
    return misses;
}

static void conversions(void **state)
{
    uint32_t misses = 0;

    load_conversions(*state);
    for (uint32_t k = 0; k < TYPES; k++) {
        misses += check_conversions(*state, &types[k]);
    }
    assert_int_equal(misses, 0);
}

static const double doubles_in[] = { 0.0,
                                     0x1p-149,
                                     0x1p-150,
                                     0x1.8p-149,
                                     0x1.fffffffffffffp-150, /* becomes a float that is farther from 0 */
                                     0x1p-1074,
                                     0x1p-1000,
                                     1.0,
                                     0x1.0000010000001p+0,
                                     0x1.00001p-126,
                                     0x1.fffffffp-127,
                                     0x1.fffffep+127,
                                     0x1.ffffffp+127,
                                     0x1p+128,
                                     0x1p+1000,
                                     0.1,
                                     1e30,
                                     INFINITY };
#define DOUBLES (2 * PPU_ARRAY_SIZE(doubles_in)) /* and the negative ones */

/* Doubles to floats in each direction, signs of zeros with them; alone and as vectors. */
static void doubles(void **state)
{
    struct device *device = *state;
    uint32_t misses = 0;

    device_load(device,
                "kernel void d(global float *o, global const double *a)\n"
                "{\n"
                "    size_t i = get_global_id(0);\n"
                "    double x = a[i];\n"
                "    double2 y = (double2)(x, 3);\n"
                "    vstore4((float4)(convert_float_rte(x), convert_float_rtz(x), convert_float_rtp(x),\n"
                "                     convert_float_rtn(x)), i * 2, o);\n"
                "    vstore4((float4)(convert_float2_rte(y).x, convert_float2_rtz(y).x, convert_float2_rtp(y).x,\n"
                "                     convert_float2_rtn(y).x), i * 2 + 1, o);\n"
                "}\n",
                NULL);
    device_kernel(device, "d");
    float *out = device_buffer(device, 0, DOUBLES * 2 * ROUNDINGS * sizeof(*out));
    double *in = device_buffer(device, 1, DOUBLES * sizeof(*in));
    for (uint32_t i = 0; i < DOUBLES; i++) {
        in[i] = i % 2 != 0 ? -doubles_in[i / 2] : doubles_in[i / 2];
    }
    device_run(device, 1, 1, DOUBLES, 1);
    for (uint32_t i = 0; i < DOUBLES * 2 * ROUNDINGS; i++) {
        const struct rounding *const rounding = &roundings[i % ROUNDINGS];
        volatile double from = in[i / ROUNDINGS / 2];
        volatile float wanted;

        fesetround(rounding->mode);
        wanted = (float)from;
        fesetround(FE_TONEAREST);
        if (out[i] != wanted || signbit(out[i]) != signbit(wanted)) {
            print_error("convert_float%s(%a) is %a, not %a\n", rounding->suffix, from, (double)out[i], (double)wanted);
            misses++;
        }
    }
    assert_int_equal(misses, 0);
}

/* ---- division ---- */

/* Of two numbers, and of vectors in which an element or two cannot be divided. */
static void load_divisions(struct device *device)
{
    char *source = calloc(TYPES, 1000);
    size_t at = 0;

    assert_non_null(source);
    for (uint32_t k = 0; k < TYPES; k++) {
        const char *name = types[k].name;
        at += (size_t)sprintf(
            source + at,
            "__kernel void d_%s(__global %s *o, __global %s4 *v, __global const %s *a, __global const %s *b) {\n"
            "  size_t i = get_global_id(0);\n"
            "  %s x = a[i], y = b[i], q = x / y, r = x %% y;\n"
            "  %s4 n = (%s4)(x, 100, x, 50), d = (%s4)(y, 2, y == 0 ? (%s)3 : y, 0);\n"
            "  o[2 * i] = y == 0 ? (%s)9 : q; o[2 * i + 1] = y == 0 ? (%s)9 : r;\n"
            "  v[2 * i] = n / d; v[2 * i + 1] = n %% d;\n"
            "}\n",
            name, name, name, name, name, name, name, name, name, name, name, name);
    }
    device_load(device, source, NULL);
    free(source);
}

/* What OpenCL C says of a quotient or remainder; `open`, when nothing. */
static wide divided(const struct type *t, wide x, wide y, bool remainder, wide open)
{
    if (y == 0 || (y == -1 && x == least(t))) {
        return open;
    }
    return remainder ? x % y : x / y;
}

static uint32_t check_division(struct device *device, const struct type *t)
{
    char kernel[32];
    uint32_t misses = 0;

    snprintf(kernel, sizeof(kernel), "d_%s", t->name);
    device_kernel(device, kernel);
    void *out = device_buffer(device, 0, 2 * SETS * t->bits / 8);
    void *vectors = device_buffer(device, 1, 8 * SETS * t->bits / 8);
    void *a = device_buffer(device, 2, SETS * t->bits / 8), *b = device_buffer(device, 3, SETS * t->bits / 8);
    for (uint32_t i = 0; i < SETS; i++) {
        put(a, t, i, value(t, i, 0));
        put(b, t, i, value(t, i, 1));
    }
    device_run_threads(device, SETS, 64);
    for (uint32_t i = 0; i < 2 * SETS; i++) {
        wide x = value(t, i / 2, 0), y = value(t, i / 2, 1), alone = get(out, t, i), of[4];
        for (uint32_t k = 0; k < 4; k++) {
            of[k] = get(vectors, t, 4 * i + k);
        }
        bool remainder = i % 2;
        if (alone != (y == 0 ? 9 : divided(t, x, y, remainder, alone)) || of[0] != divided(t, x, y, remainder, of[0]) ||
            of[1] != divided(t, 100, 2, remainder, 0) || of[2] != divided(t, x, y == 0 ? 3 : y, remainder, of[2])) {
            print_error("%s, %s: %lld %c %lld is %lld, in a vector %lld, %lld, %lld\n", device->variant->name, t->name,
                        (long long)x, remainder ? '%' : '/', (long long)y, (long long)alone, (long long)of[0],
                        (long long)of[1], (long long)of[2]);
            misses++;
        }
    }
    return misses;
}

static void divisions(void **state)
{
    struct device *device = *state;
    uint32_t misses = 0;

    for (uint32_t v = 0; v < device_variant_count; v++) {
        device->variant = &device_variants[v];
        load_divisions(device);
        for (uint32_t k = 0; k < TYPES; k++) {
            misses += check_division(device, &types[k]);
        }
    }
    assert_int_equal(misses, 0);
}

/* ---- single operations ---- */

static const struct {
    const char *kernel;
    int32_t wanted;
} cases[] = {
    { "masked", 2 },
    { "masked_remainder", 6 },
    { "no_effect", 7 },
    { "no_effect_remainder", 7 },
    { "literal", 7 },
    { "branch", 7 },
    { "counted", 7 },
    { "within_vector", 4 },
    { "wraps_within_vector", 7 },
    { "never_written", 7 },
    { "smallest", 7 },
    { "far", 7 },
    { "negative", 7 },
    { "no_number", 7 },
    { "converted", 10 },
    { "converted_rounding", 7 },
    { "shift_left", 2 + 4 + 1 },
    { "shift_right", -4 + 0x4000 },
    { "shift_long", 2 + 8 },
    { "shift_vector", 1 + 20 + 12000 },
    { "shift_bytes", 2 + 10 + 128 + 100 },
    { "absolute", 7 },
    { "absolute_bytes", 2 },
    { "product_24", 1 },
    { "sum_24", 7 },
    { "zeros", 32 + 32 + 8 + 64 },
    { "rotated", 6 + 2 },
    { "shuffled", 2 + 10 + 400 + 3000 + 10000 * (4 + 1 + 2 - 3) },
    { "dimensions", 3 },
};

static void undefined(void **state)
{
    struct device *device = *state;
    uint32_t misses = 0;

    for (uint32_t v = 0; v < device_variant_count; v++) {
        device->variant = &device_variants[v];
        device_load_file(device, "../arithmetic", "-cl-std=CL3.0 -w");
        for (uint32_t c = 0; c < PPU_ARRAY_SIZE(cases); c++) {
            device_kernel(device, cases[c].kernel);
            int32_t *out = device_buffer(device, 0, 8), *in = device_buffer(device, 1, 64);
            for (int32_t i = 0; i < 16; i++) {
                in[i] = i == 15 ? INT32_MIN : i;
            }
            device_run(device, 1, 1, 1, 1);
            if (out[0] != cases[c].wanted) {
                print_error("%s: %s is %d, not %d\n", device->variant->name, cases[c].kernel, out[0], cases[c].wanted);
                misses++;
            }
        }
    }
    assert_int_equal(misses, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "integer functions of every type are exact", integers, device_setup, device_teardown, NULL },
        { "conversions round and saturate as asked", conversions, device_setup, device_teardown, NULL },
        { "doubles become floats rounded in each direction, with their signs", doubles, device_setup, device_teardown,
          NULL },
        { "division by zero and of the smallest number by -1 touches nothing else", divisions, device_setup,
          device_teardown, NULL },
        { "what LLVM leaves undefined has a value", undefined, device_setup, device_teardown, NULL },
    };

    return cmocka_run_group_tests_name("compiler: integers", tests, NULL, NULL);
}
