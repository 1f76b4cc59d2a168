/* SPDX-License-Identifier: MIT */
/* Indexes memory in every way whose addresses the compiler computes as it finds best: the same sum each time. */

/* Numbers that are not known to be positive, of pointers into the middle. */
__kernel void negative(__global const int *in, __global int *out, int shift, __global const int *where)
{
    int i = get_global_id(0);

    out[i] = in[i - shift] + 10 * in[where[i]] + 100 * in[shift - i];
}

/* What wraps where it is not used. */
__kernel void wraps(__global const int *in, __global int *out, uint n)
{
    uint i = get_global_id(0), before = i - 1;
    int sum = 0;

    if (i != 0) {
        sum += in[before];
    }
    for (uint k = 0; k < n; k++) {
        sum += in[(k - n) * 4u + 4u * n + i];
    }
    out[i] = sum;
}

__kernel void rows(__global const int *in, __global int *out, int n)
{
    int column = get_global_id(0), row = get_global_id(1), sum = 0;

    for (int k = 0; k < n; k++) {
        sum += in[row * n + k] * 3 + in[k * n + column];
    }
    out[row * n + column] = sum;
}

__kernel void rows_unsigned(__global const int *in, __global int *out, uint n)
{
    uint column = get_global_id(0), row = get_global_id(1);
    int sum = 0;

    for (uint k = 0; k < n; k++) {
        sum += in[row * n + k] * 3 + in[k * n + column];
    }
    out[row * n + column] = sum;
}

__kernel void rows_wide(__global const int *in, __global int *out, uint n)
{
    size_t column = get_global_id(0), row = get_global_id(1);
    int sum = 0;

    for (uint k = 0; k < n; k++) {
        sum += in[row * n + k] * 3 + in[k * n + column];
    }
    out[row * n + column] = sum;
}

__kernel void rows_wider(__global const int *in, __global int *out, ulong n)
{
    size_t column = get_global_id(0), row = get_global_id(1);
    int sum = 0;

    for (size_t k = 0; k < n; k++) {
        sum += in[row * n + k] * 3 + in[k * n + column];
    }
    out[row * n + column] = sum;
}

/* Downwards, in loops that lanes leave at different times, steps that are parameters. */
__kernel void down(__global const int *in, __global int *out, int n)
{
    int column = get_global_id(0), row = get_global_id(1), sum = 0;

    for (int k = n - 1; k >= 0; k--) {
        sum += in[row * n + k] * 3 + in[k * n + column];
    }
    out[row * n + column] = sum;
}

__kernel void apart(__global const int *in, __global int *out, int n)
{
    int column = get_global_id(0), row = get_global_id(1), sum = 0;

    for (int k = column & 3; k < n - (row & 3); k += 1 + (column & 1)) {
        sum += in[row * n + k] * 3 + in[k * n + column];
    }
    out[row * n + column] = sum;
}

__kernel void stencil(__global const int *in, __global int *out, int w)
{
    int x = get_global_id(0), y = get_global_id(1);

    if (x < 1 || y < 1 || x >= w - 1 || y >= w - 1) {
        out[y * w + x] = 0;
        return;
    }
    out[y * w + x] = in[y * w + x - 1] + in[y * w + x + 1] * 3 + in[(y - 1) * w + x] * 5 + in[(y + 1) * w + x] * 7;
}

struct pair {
    char name;
    int value[3];
};

/* Elements of other sizes, structures, bytes. */
__kernel void sizes(__global const int *in, __global int *out, __global struct pair *pairs, __global uchar *bytes,
                    __global const int3 *threes, int n)
{
    int i = get_global_id(0), sum = 0;

    for (int k = 0; k < n; k++) {
        pairs[i * n + k].value[k % 3] = in[k * n + i];
        bytes[i * n + k] = in[k + i];
        sum += threes[i].y + k;
    }
    for (int k = 0; k < n; k++) {
        sum += pairs[i * n + k].value[k % 3] + bytes[i * n + k];
    }
    out[i] = sum;
}
