/* SPDX-License-Identifier: MIT */
/* pass: combine. Branches on the way tell that an int is not negative: its offset needs 32 bits. */
__kernel void k(__global const int *a, __global int *out, int x, int w, __global const int *from)
{
    int y = get_global_id(0), i = from[y];

    if (i < 1 || y >= w) {
        return;
    }
    out[y * w + i] = a[i - 1] + a[w - y];
    if (x > i) {
        out[x * i + y] = 1;
    }
}
/* prints
combination of k
  b0:
    s%39:4 = ldp.s 0
    s%40:4 = ldp.s 16
    s%24 = mov.s 4
    s%37 = mov.s 1
    s%6 = rdsr.s
    s%7 = rdsr.s
    s%9 = ldp.s 32
    s%10 = mad.s s%7 s%6 s%9
    v%11 = rdsr
    v%12 = add s%10 v%11
    v%14 = shl v%12 2
    v%15 = ldg s%40.2:2 v%14 0
    p%16 = isetp v%15 1
    p%17 = isetp v%12 s%40.1
    p%18 = por p%16 p%17
    branch p%18 b1, b2
  b1:
    jump b5
  b2:
    v%20 = shl v%15 2
    v%21 = ldg s%39.0:2 v%20 -4
    v%22 = sub s%40.1 v%12
    v%25:2 = madw v%22 s%24 s%39.0:2
    v%26 = ldg v%25:2 0
    v%27 = add v%26 v%21
    v%29 = mad v%12 s%40.1 v%15
    v%31 = shl v%29 2
    stg s%39.2:2 v%31 v%27 0
    p%32 = isetp v%15 s%40.0
    branch p%32 b3, b4
  b3:
    v%34 = mad v%15 s%40.0 v%12
    v%36 = shl v%34 2
    v%38 = mov s%37
    stg s%39.2:2 v%36 v%38 0
    jump b5
  b4:
    jump b5
  b5:
    exit
*/
