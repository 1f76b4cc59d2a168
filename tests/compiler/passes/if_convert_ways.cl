/* SPDX-License-Identifier: MIT */
/* pass: if-convert. Ways that part twice and share a side become guarded instructions: no branch is left. */
__kernel void k(__global int *out, int n)
{
    int t = get_global_id(0), v = out[t];

    if (v == 3 || (v == 2 && out[t + 1] < n)) {
        out[t + 2] = n;
    }
}
/* prints
k after if-convert
  b0:
    s%18:4 = ldp.s 0
    s%3 = rdsr.s
    s%4 = rdsr.s
    s%6 = ldp.s 16
    s%7 = mad.s s%4 s%3 s%6
    v%8 = rdsr
    v%9 = add s%7 v%8
    v%11 = ldg s%18.0:2 v%9 *4 0
    jump b1
  b1:
    p%12 = isetp v%11 3
    p%16 = isetp v%11 3
    p%19 = pand !p%12 p%16
    p%13 = isetp v%11 2
    p%21 = pand p%12 p%13
    v%14 = ldg @p%21 s%18.0:2 v%9 *4 4
    p%15 = isetp v%14 s%18.2
    p%23 = pand p%21 p%15
    p%25 = por p%23 p%19
    v%17 = mov s%18.2
    stg @p%25 s%18.0:2 v%9 v%17 *4 8
    jump b11
  b2:
    jump b11
  b3:
    jump b11
  b4:
    jump b11
  b5:
    jump b11
  b6:
    jump b11
  b7:
    jump b11
  b8:
    jump b11
  b9:
    jump b11
  b10:
    jump b11
  b11:
    exit
*/
