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
    s%24:4 = ldp.s 0
    s%25:4 = ldp.s 16
    s%12 = mov.s 4
    s%15 = mov.s 1073741824
    s%16 = mov.s 1065353216
    s%4 = rdsr.s
    s%5 = rdsr.s
    s%8 = mad.s s%5 s%4 s%25.2
    v%9 = rdsr
    v%10 = add s%8 v%9
    v%13:2 = madw v%10 s%12 s%24.0:2
    v%14 = ldg v%13:2 0
    v%17 = ffma v%14 s%15 s%16
    v%18:2 = madw v%10 s%12 s%24.2:2
    v%19 = ldg v%18:2 0
    v%20 = fmul v%19 v%17
    v%21:2 = madw v%10 s%12 s%25.0:2
    stg v%21:2 v%20 0
    v%22 = ldg v%13:2 36
    v%23 = fadd v%17 v%22
    stg v%21:2 v%23 4
    exit
*/
