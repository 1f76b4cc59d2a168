/* SPDX-License-Identifier: MIT */
/* pass: peephole. Branches on the way tell that an int is not negative: its offset needs 32 bits. */
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
k after peephole
  b0:
    s%1:2 = ldp.s 0
    s%2:2 = ldp.s 8
    s%3 = ldp.s 16
    s%4 = ldp.s 20
    s%5:2 = ldp.s 24
    s%31 = mov.s 1
    s%6 = rdsr.s
    s%7 = rdsr.s
    s%9 = ldp.s 32
    s%10 = mad.s s%7 s%6 s%9
    v%11 = rdsr
    v%12 = add s%10 v%11
    v%14 = ldg s%5:2 v%12 *4 0
    p%15 = isetp v%14 1
    p%16 = isetp v%12 s%4
    p%17 = por p%15 p%16
    branch p%17 b1, b2
  b1:
    jump b5
  b2:
    v%19 = ldg s%1:2 v%14 *4 -4
    v%20 = sub s%4 v%12
    v%22 = ldg s%1:2 v%20 *4 0
    v%23 = add v%22 v%19
    v%25 = mad v%12 s%4 v%14
    stg s%2:2 v%25 v%23 *4 0
    p%27 = isetp v%14 s%3
    branch p%27 b3, b4
  b3:
    v%29 = mad v%14 s%3 v%12
    v%32 = mov s%31
    stg s%2:2 v%29 v%32 *4 0
    jump b5
  b4:
    jump b5
  b5:
    exit
*/
