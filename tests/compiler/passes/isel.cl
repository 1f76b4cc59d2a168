/* SPDX-License-Identifier: MIT */
/* pass: isel. Uniform values in scalar registers, a pooled constant, addresses of base and index. */
__kernel void k(__global float *y, float a, int n)
{
    int i = get_global_id(0);

    if (i < n) {
        y[i + 3] = a * y[i] + 0.5f;
    }
}
/* prints
k after isel
  b0:
    s%1:2 = ldp.s 0
    s%2 = ldp.s 8
    s%3 = ldp.s 12
    s%14 = mov.s 1056964608
    s%4 = rdsr.s
    s%5 = rdsr.s
    s%6 = mul.s s%5 s%4
    s%7 = ldp.s 16
    s%8 = add.s s%6 s%7
    v%9 = rdsr
    v%10 = add s%8 v%9
    p%11 = isetp v%10 s%3
    branch p%11 b1, b2
  b1:
    v%12.0 = mov v%10
    v%12.1 = asr v%10 31
    v%13 = ldg s%1:2 v%10 *4 0
    v%15 = ffma s%2 v%13 s%14
    stg s%1:2 v%10 v%15 *4 12
    jump b3
  b2:
    jump b3
  b3:
    exit
*/
