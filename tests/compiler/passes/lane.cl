/* SPDX-License-Identifier: MIT */
/* pass: combine. Offsets of 32 bits where an index is not negative, shared by arrays of one element size; an int may be negative. */
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
combination of k
  b0:
    s%29:4 = ldp.s 0
    s%30:4 = ldp.s 16
    s%25 = mov.s 4
    s%27 = mov.s 1065353216
    s%5 = rdsr.s
    s%6 = rdsr.s
    s%8 = ldp.s 32
    s%9 = mad.s s%6 s%5 s%8
    v%10 = rdsr
    v%11 = add s%9 v%10
    v%13 = shl v%11 2
    v%14 = ldg s%29.0:2 v%13 0
    stg s%29.2:2 v%13 v%14 0
    p%15 = isetp v%10 s%30.3
    branch p%15 b1, b5
  b1:
    v%16 = mov v%10
    jump b2
  b2:
    v%18 = shl v%16 2
    v%19 = ldg s%29.0:2 v%18 4
    v%20 = cvt v%19
    stg s%30.0:2 v%16 v%20 0
    v%21 = add v%16 64
    p%22 = isetp v%21 s%30.3
    branch p%22 b3, b4
  b3:
    v%16 = mov v%21
    jump b2
  b4:
    jump b6
  b5:
    jump b6
  b6:
    v%23 = sub v%11 s%30.3
    v%26:2 = madw v%23 s%25 s%29.2:2
    v%28 = mov s%27
    stg v%26:2 v%28 0
    exit
*/
