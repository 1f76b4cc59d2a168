/* SPDX-License-Identifier: MIT */
/* pass: schedule. Loads next to each other, over arithmetic, not over the store. */
__kernel void k(__global const float *restrict a, __global const float *restrict b, __global float *out)
{
    int t = get_global_id(0);
    float x = a[t] * 2.0f + 1.0f, y = b[t] * x;

    out[t] = y;
    out[t + 1] = x + a[t + 9];
}
/* prints
scheduling of k
  b0:
    s%21:4 = ldp.s 0
    s%22:4 = ldp.s 16
    s%14 = mov.s 1073741824
    s%15 = mov.s 1065353216
    s%4 = rdsr.s
    s%5 = rdsr.s
    s%8 = mad.s s%5 s%4 s%22.2
    v%9 = rdsr
    v%10 = add s%8 v%9
    v%12 = shl v%10 2
    v%13 = ldg s%21.0:2 v%12 0
    v%17 = ldg s%21.2:2 v%12 0
    v%16 = ffma v%13 s%14 s%15
    v%18 = fmul v%17 v%16
    stg s%22.0:2 v%12 v%18 0
    v%19 = ldg s%21.0:2 v%12 36
    v%20 = fadd v%16 v%19
    stg s%22.0:2 v%12 v%20 4
    exit
*/
