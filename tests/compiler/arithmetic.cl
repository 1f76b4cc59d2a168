/* SPDX-License-Identifier: MIT */
/*
 * Operations on operands for which OpenCL C leaves the value open, or defines one, and LLVM defines nothing. Each
 * kernel stores what follows from OpenCL C alone (test_integers.c), in[] holds 0, 1, 2 and so on, and INT_MIN in [15].
 */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define CASE(name) kernel void name(global int *out, global const int *in)

/* ---- division ---- */

CASE(masked)
{
    int2 a = (int2)(5, 6), b = (int2)(0, 2);
    int2 r = ((b > 0) && (a > 100 / b)) ? a : b;

    out[0] = r.x + r.y;
}

CASE(masked_remainder)
{
    int2 a = (int2)(5, 6), b = (int2)(0, 4);
    int2 r = ((b > 0) && (a > 103 % b)) ? a : b;

    out[0] = r.x + r.y;
}

CASE(no_effect)
{
    int y = 0, q = 100 / y;

    out[0] = 7 + (q & 0);
}

CASE(no_effect_remainder)
{
    uint y = 0, r = 100u % y;

    out[0] = 7 + (int)(r & 0);
}

CASE(literal)
{
    int q = 100 / 0;

    out[0] = 7 + (q & 0);
}

CASE(branch)
{
    int y = 0;

    if (100 / y > 5) {
        out[1] = 1;
    }
    out[0] = 7;
}

CASE(counted)
{
    int y = 2;

    if (in[3] == 3) {
        y = 0;
        out[0]++;
    }
    int q = 100 / y;
    out[0] += in[3] == 3 ? 6 : q;
}

CASE(within_vector)
{
    int2 r = in[9] / (int2)(0, 2);

    out[0] = r.y;
}

CASE(wraps_within_vector)
{
    int2 x = (int2)(in[15], in[14]), r = x / (int2)(-1, 2);

    out[0] = r.y;
}

CASE(never_written)
{
    int2 y, r;

    y.x = in[2];
    r = 14 / y;
    out[0] = r.x;
}

CASE(smallest)
{
    long x = LONG_MIN, y = in[0] - 1;
    long q = x / y, r = x % y;

    out[0] = y == -1 ? 7 : (int)(q + r);
}

/* ---- conversions ---- */

CASE(far)
{
    float f = 3e10f;
    int q = (int)f;

    out[0] = 7 + (q & 0);
}

CASE(negative)
{
    double f = -1e300;
    ulong q = (ulong)f;

    out[0] = 7 + (int)(q & 0);
}

CASE(no_number)
{
    float f = NAN;
    uchar q = (uchar)f;

    out[0] = 7 + (q & 0);
}

CASE(converted)
{
    float4 f = (float4)(3e10f, 4.5f, NAN, -6.5f);
    char4 q = convert_char4(f);

    out[0] = q.y - q.w;
}

CASE(converted_rounding)
{
    float f = 3e10f;

    out[0] = 7 + (convert_int_rtp(f) & 0) + (int)(convert_ushort(f) & 0);
}

/* ---- shifts ---- */

CASE(shift_left)
{
    int n = 33;

    out[0] = (1 << n) + (1 << 34) + (1 << (n + in[0] - 65));
}

CASE(shift_right)
{
    int n = 33;
    uint u = 0x80000000u;

    out[0] = (-8 >> n) + (int)(u >> n >> 16);
}

CASE(shift_long)
{
    long n = 65;

    out[0] = (int)((1L << n) + (16L >> n));
}

CASE(shift_vector)
{
    int4 r = (int4)(1, 1, -2, 3) << (int4)(32, 33, -1, 34);

    out[0] = r.x + 10 * r.y + 100 * r.z + 1000 * r.w;
}

CASE(shift_bytes)
{
    uchar4 n = (uchar4)(9, 8, 15, 255);
    uchar4 r = (uchar4)(1, 1, 3, 1) << n;

    out[0] = r.x + 10 * r.y + r.z + 100 * (r.w == 128);
}

/* ---- functions ---- */

CASE(absolute)
{
    out[0] = abs(in[15]) > 0x7fffffffu ? 7 : 8;
}

CASE(absolute_bytes)
{
    char4 x = (char4)((char)in[15], (char)(in[8] * -16), 1, -1);
    uchar4 r = abs(x);

    out[0] = r.y > 127 ? r.z + r.w : 0;
}

CASE(product_24)
{
    int x = in[1] * 0x7fffff & 0x7fffff;

    out[0] = mul24(x, x) < 0 ? mul24(x, x) & 0xff : 0;
}

CASE(sum_24)
{
    int z = in[1] + 0x7ffffffe;

    out[0] = mad24(in[1], in[1], z) > z ? 8 : 7;
}

CASE(zeros)
{
    out[0] = clz(in[0]) + ctz(in[0]) + (int)clz((char)in[0]) + (int)ctz((ulong)in[0]);
}

CASE(rotated)
{
    out[0] = rotate(in[3], 33) + rotate(in[4], -1);
}

CASE(shuffled)
{
    int4 r = shuffle((int4)(1, 2, 3, 4), (uint4)(5, 4, 7, 0xfffffffe));
    int4 two = shuffle2((int2)(1, 2), (int2)(3, 4), (uint4)(7, 4, (uint)in[5], (uint)in[6]));

    out[0] = r.x + 10 * r.y + 100 * r.z + 1000 * r.w + 10000 * (two.x + two.y + two.z - two.w);
}

CASE(dimensions)
{
    uint d = (uint)in[7];

    out[0] = (int)(get_global_id(d) + get_local_size(d) + get_num_groups(d) + get_global_size(d + 1000));
}
