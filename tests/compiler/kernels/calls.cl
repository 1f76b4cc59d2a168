/* SPDX-License-Identifier: MIT */
/* Calls functions that are not written into their caller (OpenCL C 3.0). */

#define CALLED __attribute__((noinline))

CALLED int square(int x)
{
    return x * x;
}

CALLED long mixed(char c, bool b, double d, long l)
{
    return b ? l + c : (long)d - l;
}

CALLED float4 scaled(float4 v, float by)
{
    return v * by + v.wzyx;
}

struct result {
    int sum;
    int3 parts;
};

CALLED struct result parts_of(__global const int *in, int n)
{
    struct result r = { 0, (int3)(1, 2, 3) };

    for (int i = 0; i < n; i++) {
        r.sum += in[i];
        r.parts.y ^= in[i] * i;
    }
    return r;
}

/* Through a pointer to the caller's memory, and calling others itself. */
CALLED void accumulate(int *to, __local int *shared, int by)
{
    int own[3] = { by, square(by), 7 };

    *to += own[by % 3] + shared[by % 8];
}

CALLED int collatz(int x)
{
    int turns = 0;

    while (x > 1) {
        x = x % 2 == 0 ? x / 2 : 3 * x + 1;
        turns++;
    }
    return turns;
}

__kernel void calls(__global int *out, __global const int *in, __global float4 *vectors, int n)
{
    __local int shared[8];
    int t = get_global_id(0), l = get_local_id(0), sum = t;
    bool odd = t % 2, third = t % 3 == 0;

    if (l < 8) {
        shared[l] = 100 + l;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < n; i++) {
        if ((t + i) % 4 == 1) {
            sum += square(i + t);
        } else {
            accumulate(&sum, shared, i + t % 5);
        }
    }
    sum += collatz(t) * 3;
    struct result r = parts_of(in, t % 7);
    sum += r.sum + r.parts.x * 2 + r.parts.y * 3 + r.parts.z * 5 + (odd ? 1000 : 0) + (third ? 50000 : 0);
    sum += (int)mixed((char)t, odd, t * 2.5, 1l << 33);
    vectors[t] = scaled((float4)(t, 1, 2, 3), 0.5f);
    out[t] = sum;
}
