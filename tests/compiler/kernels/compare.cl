/* SPDX-License-Identifier: MIT */
/* Defines the kernels that are compared with code written by hand, with other compilers and other engines. */

__kernel void saxpy(int n, float a, __global const float *x, __global float *y)
{
    int i = get_global_id(0);

    if (i < n) {
        y[i] = a * x[i] + y[i];
    }
}

__kernel void sgemm(int n, __global const float *a, __global const float *b, __global float *c)
{
    int column = get_global_id(0), row = get_global_id(1);
    float sum = 0;

    for (int k = 0; k < n; k++) {
        sum += a[row * n + k] * b[k * n + column];
    }
    c[row * n + column] = sum;
}

__kernel void mandelbrot(__global int *out, int width, int height, float x0, float y0, float dx, float dy, int limit)
{
    int px = get_global_id(0), py = get_global_id(1), turns = 0;
    float cx = x0 + px * dx, cy = y0 + py * dy, x = 0, y = 0;

    if (px >= width || py >= height) {
        return;
    }
    while (turns < limit) {
        float xx = x * x, yy = y * y;
        if (xx + yy > 4.0f) {
            break;
        }
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        turns++;
    }
    out[py * width + px] = turns;
}

__kernel void histogram(__global const uchar *in, __global uint *counts, int n)
{
    int i = get_global_id(0);

    if (i < n) {
        atomic_inc(&counts[in[i]]);
    }
}

/* One level of a breadth-first search: neighbours of the nodes of the level get the next one. */
__kernel void bfs(__global const int *first, __global const int *edges, __global int *level, __global int *changed,
                  int nodes, int now)
{
    int node = get_global_id(0);

    if (node < nodes && level[node] == now) {
        for (int e = first[node]; e < first[node + 1]; e++) {
            int to = edges[e];
            if (level[to] < 0) {
                level[to] = now + 1;
                *changed = 1;
            }
        }
    }
}
