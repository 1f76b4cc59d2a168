/* SPDX-License-Identifier: MIT */
/* pass: peephole. Offsets of 32 bits where an index is not negative, shared by arrays of one element size; an int may be negative. */
__kernel void k(__global const float *x, __global float *y, __global uchar *z, uint n, int m)
{
    uint i = get_global_id(0);

    y[i] = x[i];
    for (int c = get_local_id(0); c < m; c += 64) {
        z[c] = x[c + 1];
    }
    int j = (int)i - m;
    y[j] = 1.0f;
}
/* prints
k after peephole
  b0:
    s%1:2 = ldp.s 0
    s%2:2 = ldp.s 8
    s%3:2 = ldp.s 16
    s%4 = ldp.s 28
    s%23 = mov.s 1065353216
    s%5 = rdsr.s
    s%6 = rdsr.s
    s%8 = ldp.s 32
    s%9 = mad.s s%6 s%5 s%8
    v%10 = rdsr
    v%11 = add s%9 v%10
    v%13 = ldg s%1:2 v%11 *4 0
    stg s%2:2 v%11 v%13 *4 0
    p%14 = isetp v%10 s%4
    branch p%14 b1, b6
  b1:
    v%15 = mov v%10
    jump b2
  b2:
    v%17 = ldg s%1:2 v%15 *4 4
    v%18 = cvt v%17
    stg s%3:2 v%15 v%18 0
    v%19 = add v%15 64
    p%20 = isetp v%19 s%4
    branch p%20 b3, b4
  b3:
    v%15 = mov v%19
    jump b2
  b4:
    jump b5
  b5:
    v%21 = sub v%11 s%4
    v%24 = mov s%23
    stg s%2:2 v%21 v%24 *4 0
    exit
  b6:
    v%25 = sub v%11 s%4
    v%27 = mov s%23
    stg s%2:2 v%25 v%27 *4 0
    exit
*/
