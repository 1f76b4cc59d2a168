/* SPDX-License-Identifier: MIT */
/* Tests cl_khr_fp16: arithmetic, conversions, functions and moves of half, against a model that rounds once. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ppu/macros.h"
#include "tests/opencl/fixture.h"

#define ITEMS 4096u
#define HALF_MOST 65504.0
#define HALF_LEAST 0x1p-24
#define HALF_NAN 0x7e00u

/* ---- the model ---- */

static double value_of(cl_ushort bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double magnitude = exponent == 0    ? fraction * HALF_LEAST
                       : exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                                        : ldexp(1024 + fraction, exponent - 25);

    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

enum direction { NEAREST, ZERO, UP, DOWN };

/* A count of steps, rounded to a whole one. */
static double whole_steps(double steps, enum direction direction)
{
    switch (direction) {
    case ZERO:
        return trunc(steps);
    case UP:
        return ceil(steps);
    case DOWN:
        return floor(steps);
    default:
        return rint(steps);
    }
}

/* Halves of the magnitude of `x` are `step` apart. */
static cl_ushort half_of(double x, enum direction direction)
{
    int exponent = 0;
    const cl_ushort sign = signbit(x) ? 0x8000 : 0;

    if (isnan(x)) {
        return HALF_NAN;
    }
    frexp(x, &exponent);
    const double step = isinf(x) ? 1 : ldexp(1, PPU_MAX(exponent - 11, -24));
    const double rounded = isinf(x) ? x : whole_steps(x / step, direction) * step;
    if (fabs(rounded) > HALF_MOST) {
        const bool stays = !isinf(x) && (direction == ZERO || direction == (x > 0 ? DOWN : UP));
        return stays ? sign | 0x7bff : sign | 0x7c00;
    }
    for (uint32_t low = 0, high = 0x7c00;;) { /* halves without sign are in the order of their bits */
        const uint32_t middle = (low + high) / 2;
        const double there = value_of((cl_ushort)middle);
        if (there == fabs(rounded)) {
            return (cl_ushort)(sign | middle);
        }
        *(there < fabs(rounded) ? &low : &high) = there < fabs(rounded) ? middle + 1 : middle;
    }
}

static bool is_nan(cl_ushort bits)
{
    return (bits & 0x7fff) > 0x7c00;
}

static bool same(cl_ushort a, cl_ushort b)
{
    return a == b || (is_nan(a) && is_nan(b));
}

/* ---- kernels of one source ---- */

#define HEAD                                                                                      \
    "#ifndef cl_khr_fp16\n#error absent\n#endif\n#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n" \
    "#define KERNEL(name, form) kernel void name(global const half *in, global half *out) {\\\n"  \
    "    uint i = get_global_id(0); half x = in[3 * i], y = in[3 * i + 1], z = in[3 * i + 2]; out[i] = form; }\n"

struct operation {
    const char *form;
    double (*model)(double x, double y, double z);
};

static double add(double x, double y, double z)
{
    (void)z;
    return x + y;
}

static double subtract(double x, double y, double z)
{
    (void)z;
    return x - y;
}

static double multiply(double x, double y, double z)
{
    (void)z;
    return x * y;
}

static double divide(double x, double y, double z)
{
    (void)z;
    return x / y;
}

static double root(double x, double y, double z)
{
    (void)y;
    (void)z;
    return sqrt(x);
}

/* A sum that is not exact is made odd in its last place: then rounding again is as rounding once. */
static double fused(double x, double y, double z)
{
    const double product = x * y, sum = product + z; /* the product is exact */
    const double back = sum - product, rest = (product - (sum - back)) + (z - back);
    uint64_t bits;

    if (!isfinite(sum) || rest == 0) {
        return sum;
    }
    memcpy(&bits, &sum, sizeof(bits));
    if ((bits & 1) == 0) {
        bits += (rest > 0) == (sum > 0) ? 1 : -1ull;
    }
    double odd;
    memcpy(&odd, &bits, sizeof(odd));
    return odd;
}

static double at_floor(double x, double y, double z)
{
    (void)y;
    (void)z;
    return floor(x);
}

static double away(double x, double y, double z)
{
    (void)y;
    (void)z;
    return round(x);
}

static double next(double x, double y, double z)
{
    (void)z;
    if (isnan(x) || isnan(y) || x == y) {
        return isnan(x) ? x : y;
    }
    if (x == 0) {
        return copysign(HALF_LEAST, y);
    }
    const cl_ushort bits = half_of(x, NEAREST);
    return value_of((cl_ushort)((x < y) == (x > 0) ? bits + 1 : bits - 1));
}

static double scaled(double x, double y, double z)
{
    (void)y;
    (void)z;
    return x * 8;
}

static double fraction(double x, double y, double z)
{
    (void)y;
    (void)z;
    return isinf(x) || x == 0 ? copysign(0, x) : isnan(x) ? x : fmin(x - floor(x), 0x1.ffcp-1);
}

static double remainder_of(double x, double y, double z)
{
    (void)z;
    return fmod(x, y);
}

static double chosen(double x, double y, double z)
{
    return z < 0 ? x : y; /* NaN is not less */
}

static double product_and_sum(double x, double y, double z)
{
    return value_of(half_of(x * y, NEAREST)) + z;
}

static const struct operation operations[] = {
    { "x + y", add },
    { "x - y", subtract },
    { "x * y", multiply },
    { "x / y", divide },
    { "sqrt(x)", root },
    { "fma(x, y, z)", fused },
    { "floor(x)", at_floor },
    { "round(x)", away },
    { "nextafter(x, y)", next },
    { "ldexp(x, 3)", scaled },
    { "fract(x, &y)", fraction },
    { "fmod(x, y)", remainder_of },
    { "z < 0 ? x : y", chosen },
    { "select((half4)y, (half4)x, isless((half4)z, (half4)0)).w", chosen },
    { "x * y + z", product_and_sum },
};

/* Random bits, which are mostly far apart, and near numbers. */
static void fill(cl_ushort *in)
{
    static const cl_ushort special[] = { 0,      0x8000, 1,      0x8001,   0x3ff,  0x400,  0x3c00, 0xbc00, 0x7bff,
                                         0xfbff, 0x7c00, 0xfc00, HALF_NAN, 0x3bff, 0x3c01, 0x6400, 0x77ff, 0x5140 };
    uint64_t seed = fixture_seed();

    for (uint32_t i = 0; i < 3 * ITEMS; i++) {
        const uint32_t random = fixture_random(&seed);
        in[i] = random % 8 == 0   ? special[(random >> 3) % PPU_ARRAY_SIZE(special)]
                : random % 8 == 1 ? (cl_ushort)(0x3c00 + (random >> 8) % 0x1000)
                                  : (cl_ushort)(random >> 8);
    }
}

/* A program of all forms: kernel k0, k1, ... */
static void run(struct fixture *f, const char *source, uint32_t index, const cl_ushort *in, cl_ushort *out)
{
    char name[16];
    snprintf(name, sizeof(name), "k%u", index);
    cl_kernel kernel = fixture_kernel(f, source, name);
    cl_mem from = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, 3 * ITEMS * sizeof(in[0]), (void *)(uintptr_t)in);
    cl_mem to = fixture_buffer(f, CL_MEM_READ_WRITE, ITEMS * sizeof(out[0]), NULL);
    const size_t global = ITEMS;

    check(clSetKernelArg(kernel, 0, sizeof(from), &from));
    check(clSetKernelArg(kernel, 1, sizeof(to), &to));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
    check(clEnqueueReadBuffer(f->queue, to, CL_TRUE, 0, ITEMS * sizeof(out[0]), out, 0, NULL, NULL));
    check(clReleaseKernel(kernel));
    check(clReleaseMemObject(from));
    check(clReleaseMemObject(to));
}

static void results_are_rounded_once(void **state)
{
    struct fixture *f = *state;
    static cl_ushort in[3 * ITEMS], out[ITEMS];
    char source[4096] = HEAD;

    for (uint32_t k = 0; k < PPU_ARRAY_SIZE(operations); k++) {
        const size_t at = strlen(source);
        snprintf(source + at, sizeof(source) - at, "KERNEL(k%u, (%s))\n", k, operations[k].form);
    }
    fill(in);
    for (uint32_t k = 0; k < PPU_ARRAY_SIZE(operations); k++) {
        run(f, source, k, in, out);
        for (uint32_t i = 0; i < ITEMS; i++) {
            const cl_ushort *a = &in[3 * i];
            const cl_ushort wanted =
                half_of(operations[k].model(value_of(a[0]), value_of(a[1]), value_of(a[2])), NEAREST);
            if (!same(out[i], wanted)) {
                fail_msg("%s of %04x, %04x, %04x: %04x, not %04x", operations[k].form, a[0], a[1], a[2], out[i],
                         wanted);
            }
        }
    }
}

/* ---- conversions ---- */

static double of_float(const cl_ushort *a)
{
    return (double)((float)value_of(a[0]) * 1.0009765f);
}

static double of_double(const cl_ushort *a)
{
    return value_of(a[0]) * 1.0000000001;
}

static double of_int(const cl_ushort *a)
{
    return (cl_int)((cl_uint)a[1] << 16 | a[0]);
}

/* A long that has more digits than a double is too large for a half. */
static double of_long(const cl_ushort *a)
{
    const double number = (double)((cl_int)((cl_uint)a[1] << 16 | a[0]));

    return (a[2] & 1) != 0 ? number : number * 0x1p31;
}

static const struct source {
    const char *form; /* with the conversion's suffix for each %s */
    double (*value)(const cl_ushort *a);
} sources[] = {
    { "convert_half%s((float)x * 1.0009765f)", of_float },
    { "convert_half3%s((double3)((double)x * 1.0000000001)).z", of_double },
    { "convert_half%s(as_int((short2)(as_short(x), as_short(y))))", of_int },
    { "convert_half2%s((long2)((as_short(z) & 1) ? (long)as_int((short2)(as_short(x), as_short(y)))"
      " : (long)as_int((short2)(as_short(x), as_short(y))) << 31)).y",
      of_long },
};

static void conversions_round_as_they_say(void **state)
{
    static const char *const suffixes[] = { "_rte", "_rtz", "_rtp", "_rtn" };
    struct fixture *f = *state;
    static cl_ushort in[3 * ITEMS], out[ITEMS];

    fill(in);
    for (uint32_t k = 0; k < PPU_ARRAY_SIZE(sources) * PPU_ARRAY_SIZE(suffixes); k++) {
        const struct source *source = &sources[k / 4];
        char form[256], text[1024];
        snprintf(form, sizeof(form), source->form, suffixes[k % 4]);
        snprintf(text, sizeof(text), HEAD "KERNEL(k0, (%s))\n", form);
        run(f, text, 0, in, out);
        for (uint32_t i = 0; i < ITEMS; i++) {
            const cl_ushort wanted = half_of(source->value(&in[3 * i]), (enum direction)(k % 4));
            if (!same(out[i], wanted)) {
                fail_msg("%s of %a: %04x, not %04x", form, source->value(&in[3 * i]), out[i], wanted);
            }
        }
    }
}

static double saturated(double x, double least, double most)
{
    return isnan(x) ? 0 : x < least ? least : x > most ? most : x;
}

/* A byte goes back to half as it is. */
static void conversions_to_integers_saturate(void **state)
{
    static const char *const text = HEAD "KERNEL(k0, (half)convert_uchar_sat_rte(x))\n"
                                         "KERNEL(k1, (half)convert_char4_sat_rtz((half4)x).y)\n"
                                         "KERNEL(k2, (half)convert_short_rtn(fmod(x, (half)2048)))\n";
    struct fixture *f = *state;
    static cl_ushort in[3 * ITEMS], out[ITEMS];

    fill(in);
    for (uint32_t k = 0; k < 3; k++) {
        run(f, text, k, in, out);
        for (uint32_t i = 0; i < ITEMS; i++) {
            const double x = value_of(in[3 * i]), rest = fmod(x, 2048);
            const double wanted = k == 0   ? saturated(rint(x), 0, 255)
                                  : k == 1 ? saturated(trunc(x), -128, 127)
                                           : floor(rest);
            if (!isnan(wanted) && value_of(out[i]) != wanted) {
                fail_msg("kernel k%u of %a: %a, not %a", k, x, value_of(out[i]), wanted);
            }
        }
    }
}

/* ---- moves ---- */

static const char moves[] =
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
    "constant half table[4] = { 1.0h, 2.0h, 0.5h, -0.0h };\n"
    "kernel void k(global half *out, half one, half3 three, local half *room) {\n"
    "    half4 loaded = vload4(0, table);\n"
    "    room[0] = one; vstore3(three, 1, room);\n"
    "    event_t done = async_work_group_copy(out, room, 1, 0); wait_group_events(1, &done);\n"
    "    vstore3(vload3(1, room), 0, out + 1);\n"
    "    vstore4(shuffle(loaded, (ushort4)(3, 2, 1, 0)), 1, out);\n"
    "    out[8] = dot((half2)(one, 2), (half2)(3, 4)); out[9] = mix((half)0, (half)8, one);\n"
    "    out[10] = (half)isnormal((half)0x1p-15h); out[11] = isnan(nan((ushort)1)) ? 1 : 0; }\n";

static void halves_move_as_they_are(void **state)
{
    static const double wanted[] = { 0.5, 1, -2, 3, -0.0, 0.5, 2, 1, 9.5, 4, 0, 1 };
    struct fixture *f = *state;
    cl_kernel kernel = fixture_kernel(f, moves, "k");
    cl_mem out = fixture_buffer(f, CL_MEM_READ_WRITE, sizeof(cl_ushort) * PPU_ARRAY_SIZE(wanted), NULL);
    const cl_ushort one = half_of(0.5, NEAREST);
    const cl_ushort three[4] = { half_of(1, NEAREST), half_of(-2, NEAREST), half_of(3, NEAREST), 0 };
    cl_ushort seen[PPU_ARRAY_SIZE(wanted)];
    const size_t global = 1;

    check(clSetKernelArg(kernel, 0, sizeof(out), &out));
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof(cl_float), &one), CL_INVALID_ARG_SIZE);
    check(clSetKernelArg(kernel, 1, sizeof(one), &one));
    assert_int_equal(clSetKernelArg(kernel, 2, 3 * sizeof(one), three), CL_INVALID_ARG_SIZE);
    check(clSetKernelArg(kernel, 2, sizeof(three), three));
    check(clSetKernelArg(kernel, 3, 16 * sizeof(one), NULL));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
    check(clEnqueueReadBuffer(f->queue, out, CL_TRUE, 0, sizeof(seen), seen, 0, NULL, NULL));
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(wanted); i++) {
        if (seen[i] != half_of(wanted[i], NEAREST)) {
            fail_msg("half %u: %a, not %a", i, value_of(seen[i]), wanted[i]);
        }
    }
    check(clReleaseKernel(kernel));
    check(clReleaseMemObject(out));
}

/* The names of nan()'s forms are those of functions of ushort, and no other function of half is called. */
static void nan_alone_is_found(void **state)
{
    static const char *const text = "kernel void k(global ushort *out, ushort code)\n"
                                    "{\n"
                                    "    out[0] = as_ushort(nan(code));\n"
                                    "    vstore4(as_ushort4(nan((ushort4)(code, 0, 1, 2))), 0, out + 1);\n"
                                    "}\n";
    struct fixture *f = *state;
    cl_kernel kernel = fixture_kernel(f, text, "k");
    cl_ushort seen[5];
    cl_mem out = fixture_buffer(f, CL_MEM_READ_WRITE, sizeof(seen), NULL);
    const cl_ushort code = 5;
    const size_t global = 1;

    check(clSetKernelArg(kernel, 0, sizeof(out), &out));
    check(clSetKernelArg(kernel, 1, sizeof(code), &code));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
    check(clEnqueueReadBuffer(f->queue, out, CL_TRUE, 0, sizeof(seen), seen, 0, NULL, NULL));
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(seen); i++) {
        assert_true(is_nan(seen[i]));
    }
    check(clReleaseKernel(kernel));
    check(clReleaseMemObject(out));
}

static void device_tells_what_half_is(void **state)
{
    struct fixture *f = *state;
    cl_device_fp_config config = 0;
    cl_uint width = 0;

    check(clGetDeviceInfo(f->device, CL_DEVICE_HALF_FP_CONFIG, sizeof(config), &config, NULL));
    assert_int_equal(config, CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_FMA);
    check(clGetDeviceInfo(f->device, CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, sizeof(width), &width, NULL));
    assert_int_equal(width, 1);
    check(clGetDeviceInfo(f->device, CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, sizeof(width), &width, NULL));
    assert_int_equal(width, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("results are those of exact ones rounded once", results_are_rounded_once),
        cl_test("conversions to half round as they say", conversions_round_as_they_say),
        cl_test("conversions from half saturate", conversions_to_integers_saturate),
        cl_test("halves are arguments, constants, and moved as they are", halves_move_as_they_are),
        cl_test("nan() of half is found where no other function of half is called", nan_alone_is_found),
        cl_test("the device tells what half is [F6]", device_tells_what_half_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
