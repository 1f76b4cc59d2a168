/* SPDX-License-Identifier: MIT */
/*
 * Lets each work-item of a wave work on a row of its own, ROW words apart: what a wave holds on to does not fit the
 * first-level cache.
 */
#define ROW 256
#define ROWS 512

kernel void row_sums(global const float *a, global float *out)
{
    size_t i = get_global_id(0), row = i % ROWS;
    float sum = 0;

    for (int j = 0; j < ROW; j++) {
        sum += a[row * ROW + j];
    }
    out[i] = sum;
}

kernel void matrix_vector(global const float *a, global float *out, global const float *x)
{
    size_t i = get_global_id(0), row = i % ROWS;
    float sum = 0;

    for (int j = 0; j < ROW; j++) {
        sum = fma(a[row * ROW + j], x[j], sum);
    }
    out[i] = sum;
}

kernel void hashes(global const uint *a, global uint *out)
{
    size_t i = get_global_id(0), row = i % ROWS;
    uint hash = 2166136261u;

    for (int j = 0; j < ROW; j++) {
        uint word = a[row * ROW + j];

        for (int k = 0; k < 4; k++) {
            hash = (hash ^ (word & 255)) * 16777619u;
            word >>= 8;
        }
    }
    out[i] = hash;
}

/* The distance of neighbours in the row, and the largest of them. */
kernel void steps(global const float *a, global float *out)
{
    size_t i = get_global_id(0), row = i % ROWS;
    float most = 0;

    for (int j = 1; j < ROW; j++) {
        most = fmax(most, fabs(a[row * ROW + j] - a[row * ROW + j - 1]));
    }
    out[i] = most;
}
