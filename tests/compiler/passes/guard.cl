/* SPDX-License-Identifier: MIT */
/* pass: guard. Both sides of the branch are short: no branch is left. */
__kernel void k(__global int *out, int n)
{
    int t = get_global_id(0), v;

    if (out[t] < n) {
        out[t + 1] = n;
        v = t * 3;
    } else {
        v = out[t + 2];
    }
    out[t + 3] = v;
}
/* prints
guarding of k
  b0:
    s%18:4 = ldp.s 0
    s%3 = rdsr.s
    s%4 = rdsr.s
    s%6 = ldp.s 16
    s%7 = mad.s s%4 s%3 s%6
    v%8 = rdsr
    v%9 = add s%7 v%8
    v%11 = shl v%9 2
    v%12 = ldg s%18.0:2 v%11 0
    p%13 = isetp v%12 s%18.2
    v%14 = mov @p%13 s%18.2
    stg @p%13 s%18.0:2 v%11 v%14 4
    v%17 = mul @p%13 v%9 3
    v%17 =? ldg @!p%13 s%18.0:2 v%11 8
    jump b3
  b1:
    jump b3
  b2:
    jump b3
  b3:
    stg s%18.0:2 v%11 v%17 12
    exit
*/
