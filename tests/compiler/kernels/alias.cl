/* SPDX-License-Identifier: MIT */
/*
 * Kernels whose threads go through memory in loops, which pays when the arguments are known to be separate. ALONE is
 * what a programmer would write who promises that: restrict.
 */
#ifndef ALONE
#define ALONE
#endif

kernel void equalize(global const uint *ALONE in, global const uint *ALONE cdf, global uint *ALONE out, int n)
{
    int first = get_global_id(0) * n;

    for (int i = first; i < first + n; i++) {
        out[i] = cdf[in[i]];
    }
}

kernel void saxpy(global const float *ALONE x, global float *ALONE y, float a, int n)
{
    int first = get_global_id(0) * n;

    for (int i = 0; i < n; i++) {
        y[first + i] = a * x[first + i] + y[first + i];
    }
}

kernel void stencil(global const float *ALONE in, global float *ALONE out, int n)
{
    int first = get_global_id(0) * n;

    for (int i = first + 1; i <= first + n; i++) {
        out[i] = 0.25f * in[i - 1] + 0.5f * in[i] + 0.25f * in[i + 1];
    }
}

kernel void stencil2(global const float *ALONE in, global float *ALONE out, int n)
{
    int row = (get_global_id(0) + 1) * (n + 2);

    for (int x = 1; x <= n; x++) {
        int at = row + x;
        out[at] = 0.5f * in[at] + 0.125f * (in[at - 1] + in[at + 1] + in[at - n - 2] + in[at + n + 2]);
    }
}

kernel void prefix(global const uint *ALONE in, global uint *ALONE out, int n)
{
    int first = get_global_id(0) * n;
    uint sum = 0;

    for (int i = first; i < first + n; i++) {
        sum += in[i];
        out[i] = sum;
    }
}

kernel void matvec(global const float *ALONE m, global const float *ALONE v, global float *ALONE out, int n)
{
    int row = get_global_id(0);
    float sum = 0;

    for (int i = 0; i < n; i++) {
        sum += m[row * n + i] * v[i];
    }
    out[row] = sum;
}

kernel void colour(global const uint *ALONE rgba, global float *ALONE y, global float *ALONE u, global float *ALONE v,
                   int n)
{
    int first = get_global_id(0) * n;

    for (int i = first; i < first + n; i++) {
        float r = rgba[i] & 255, g = rgba[i] >> 8 & 255, b = rgba[i] >> 16 & 255;
        y[i] = 0.299f * r + 0.587f * g + 0.114f * b;
        u[i] = 0.492f * (b - y[i]);
        v[i] = 0.877f * (r - y[i]);
    }
}

kernel void grey(global const uchar *ALONE rgb, global uchar *ALONE out, int n)
{
    int first = get_global_id(0) * n;

    for (int i = first; i < first + n; i++) {
        out[i] = (77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2]) >> 8;
    }
}
