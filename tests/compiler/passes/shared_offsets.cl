/* SPDX-License-Identifier: MIT */
/* pass: peephole. Offsets into shared arrays of one shape are computed once: their places differ in the constant. */
__kernel void k(__global float *y, uint t)
{
    __local float a[8][8], b[8][8];
    uint i = get_local_id(0), j = get_local_id(1);

    a[j][i] = y[i];
    b[j][i] = y[j];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[i] = a[j][1] + b[2][i];
    if (t > i) {
        y[j] = a[j][5] * b[6][i] * a[j][i];
    }
}
/* prints
k after peephole
  b0:
    s%1:2 = ldp.s 0
    s%2 = ldp.s 8
    v%3 = rdsr
    v%5 = rdsr
    v%7 = ldg s%1:2 v%3 *4 0
    v%8 = shl v%5 5
    v%9 = shl v%3 2
    v%10 = add v%8 v%9
    sts v%10 v%7 16
    v%11 = ldg s%1:2 v%5 *4 0
    sts v%10 v%11 272
    bar 0
    v%12 = lds v%8 20
    v%13 = lds v%9 336
    v%14 = fadd v%12 v%13
    stg s%1:2 v%3 v%14 *4 0
    p%15 = isetp v%3 s%2
    branch p%15 b1, b2
  b1:
    v%16 = lds v%8 36
    v%17 = lds v%9 464
    v%18 = fmul v%16 v%17
    v%19 = lds v%10 16
    v%20 = fmul v%18 v%19
    stg s%1:2 v%5 v%20 *4 0
    jump b3
  b2:
    jump b3
  b3:
    exit
*/
