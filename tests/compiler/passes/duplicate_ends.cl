/* SPDX-License-Identifier: MIT */
/* pass: if-convert. Ways that all end by a store, which LLVM joins: the short one is guarded, and the loop counts in a
 * scalar register. */
__kernel void k(__global int *out, int n, int r)
{
    int t = get_global_id(0), sum = 0;

    if (t < r) {
        out[t] = 7;
        return;
    }
    for (int i = 0; i < n; i++) {
        sum += out[t + i];
    }
    out[t] = sum;
}
/* prints
k after if-convert
  b0:
    s%30:4 = ldp.s 0
    s%13 = mov.s 7
    s%28 = mov.s 0
    s%4 = rdsr.s
    s%5 = rdsr.s
    s%7 = ldp.s 16
    s%8 = mad.s s%5 s%4 s%7
    v%9 = rdsr
    v%10 = add s%8 v%9
    p%11 = isetp v%10 s%30.3
    v%14 = mov s%13
    stg @p%11 s%30.0:2 v%10 v%14 *4 0
    branch p%11 b1, b2
  b1:
    exit
  b2:
    p%15 = isetp.s s%30.2 0
    v%29 = mov s%28
    stg @!p%15 s%30.0:2 v%10 v%29 *4 0
    branch !p%15 b8, b3
  b3:
    v%16 = shl v%10 2
    s%17:2 = mov64.s s%30.0:2
    v%19 = mov 0
    s%18 = mov.s 0
    jump b4
  b4:
    v%21 = ldg s%17:2 v%16 0
    v%22 = add v%21 v%19
    s%23 = add.s s%18 1
    p%24 = isetp.s s%23 s%30.2
    s%25:2 = add64.s s%17:2 4
    branch p%24 b6, b5
  b5:
    s%17:2 = mov64.s s%25:2
    v%19 = mov v%22
    s%18 = mov.s s%23
    jump b4
  b6:
    jump b7
  b7:
    stg s%30.0:2 v%10 v%22 *4 0
    exit
  b8:
    exit
*/
