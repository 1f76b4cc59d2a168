/* SPDX-License-Identifier: MIT */
/* pass: if-convert. What some threads do before they end is guarded; the others go on behind the exit. */
__kernel void k(__global int *out, int n)
{
    int t = get_global_id(0);

    if (t == 0 || t + 1 == n) {
        out[t] = n;
        return;
    }
    for (int i = 0; i < n; i++) {
        out[t + i] = i;
    }
}
/* prints
k after if-convert
  b0:
    s%25:4 = ldp.s 0
    s%3 = rdsr.s
    s%4 = rdsr.s
    s%6 = ldp.s 16
    s%7 = mad.s s%4 s%3 s%6
    v%8 = rdsr
    v%9 = add s%7 v%8
    p%10 = isetp v%9 0
    v%11 = add v%9 1
    p%12 = isetp v%11 s%25.2
    p%13 = por p%10 p%12
    v%15 = mov s%25.2
    stg @p%13 s%25.0:2 v%9 v%15 *4 0
    branch p%13 b8, b2
  b1:
    jump b2
  b2:
    p%16 = isetp.s s%25.2 0
    branch p%16 b3, b7
  b3:
    v%17 = shl v%9 2
    s%18:2 = mov64.s s%25.0:2
    s%19 = mov.s 0
    jump b4
  b4:
    v%21 = mov s%19
    stg s%18:2 v%17 v%21 0
    s%22 = add.s s%19 1
    p%23 = isetp.s s%22 s%25.2
    s%24:2 = add64.s s%18:2 4
    branch p%23 b6, b5
  b5:
    s%18:2 = mov64.s s%24:2
    s%19 = mov.s s%22
    jump b4
  b6:
    jump b8
  b7:
    jump b8
  b8:
    exit
*/
