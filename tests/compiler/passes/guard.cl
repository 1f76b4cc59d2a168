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
    s%19:4 = ldp.s 0
    s%11 = mov.s 4
    s%3 = rdsr.s
    s%4 = rdsr.s
    s%6 = ldp.s 16
    s%7 = mad.s s%4 s%3 s%6
    v%8 = rdsr
    v%9 = add s%7 v%8
    v%12:2 = madw v%9 s%11 s%19.0:2
    v%13 = ldg v%12:2 0
    p%14 = isetp v%13 s%19.2
    v%15 = mov @p%14 s%19.2
    stg @p%14 v%12:2 v%15 4
    v%18 = mul @p%14 v%9 3
    v%18 =? ldg @!p%14 v%12:2 8
    jump b3
  b1:
    jump b3
  b2:
    jump b3
  b3:
    stg v%12:2 v%18 12
    exit
*/
