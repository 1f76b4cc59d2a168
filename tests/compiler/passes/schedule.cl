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
k after schedule
  b0:
    s%20:4 = ldp.s 0
    s%21:4 = ldp.s 16
    s%13 = mov.s 1073741824
    s%14 = mov.s 1065353216
    s%4 = rdsr.s
    s%5 = rdsr.s
    s%8 = mad.s s%5 s%4 s%21.2
    v%9 = rdsr
    v%10 = add s%8 v%9
    v%12 = ldg s%20.0:2 v%10 *4 0
    v%16 = ldg s%20.2:2 v%10 *4 0
    v%15 = ffma v%12 s%13 s%14
    v%17 = fmul v%16 v%15
    stg s%21.0:2 v%10 v%17 *4 0
    v%18 = ldg s%20.0:2 v%10 *4 36
    v%19 = fadd v%15 v%18
    stg s%21.0:2 v%10 v%19 *4 4
    exit
*/
