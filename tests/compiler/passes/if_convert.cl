/* SPDX-License-Identifier: MIT */
/* pass: if-convert. Both sides of the branch are short: no branch is left. */
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
k after if-convert
  b0:
    s%17:4 = ldp.s 0
    s%3 = rdsr.s
    s%4 = rdsr.s
    s%6 = ldp.s 16
    s%7 = mad.s s%4 s%3 s%6
    v%8 = rdsr
    v%9 = add s%7 v%8
    v%11 = ldg s%17.0:2 v%9 *4 0
    p%12 = isetp v%11 s%17.2
    v%13 = mov s%17.2
    stg @p%12 s%17.0:2 v%9 v%13 *4 4
    v%16 = mul v%9 3
    v%16 =? ldg @!p%12 s%17.0:2 v%9 *4 8
    jump b3
  b1:
    jump b3
  b2:
    jump b3
  b3:
    stg s%17.0:2 v%9 v%16 *4 12
    exit
*/
