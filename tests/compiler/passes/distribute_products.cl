/* SPDX-License-Identifier: MIT */
/* pass: isel. The turns of an unrolled loop load at constant distances, though 500 is no power of two.
 * facts: k a0:16 a1:16 c2:1f4 s0
 */
__kernel void k(__global const float *in, __global float *out, int n)
{
    int i = get_global_id(0);
    float sum = 0;

    for (int k = 0; k < n; k++) {
        sum += in[k * n + i];
    }
    out[i] = sum;
}
/* prints
k after isel
  b0:
    s%1:2 = ldp.s 0
    s%2:2 = ldp.s 8
    s%3 = rdsr.s
    s%4 = rdsr.s
    s%5 = mul.s s%4 s%3
    s%6 = ldp.s 24
    s%7 = add.s s%5 s%6
    v%8 = rdsr
    v%9 = add s%7 v%8
    v%10 = shl v%9 2
    s%11:2 = mov64.s s%1:2
    v%13 = mov 0
    s%12 = mov.s 0
    jump b1
  b1:
    v%14.0 = mov v%10
    v%14.1 = mov 0
    v%15 = ldg s%11:2 v%10 0
    v%16 = fadd v%13 v%15
    v%17 = ldg s%11:2 v%10 2000
    v%18 = fadd v%16 v%17
    v%19 = ldg s%11:2 v%10 4000
    v%20 = fadd v%18 v%19
    v%21 = ldg s%11:2 v%10 6000
    v%22 = fadd v%20 v%21
    p%23 = isetp.s s%12 496
    branch p%23 b3, b2
  b2:
    v%24 = ldg s%11:2 v%10 8000
    v%25 = fadd v%22 v%24
    v%26 = ldg s%11:2 v%10 10000
    v%27 = fadd v%25 v%26
    v%28 = ldg s%11:2 v%10 12000
    v%29 = fadd v%27 v%28
    v%30 = ldg s%11:2 v%10 14000
    v%31 = fadd v%29 v%30
    s%32 = add.s s%12 8
    s%33:2 = add64.s s%11:2 16000
    s%11:2 = mov64.s s%33:2
    v%13 = mov v%31
    s%12 = mov.s s%32
    jump b1
  b3:
    v%34.0 = mov v%9
    v%34.1 = asr v%9 31
    stg s%2:2 v%9 v%22 *4 0
    exit
*/
