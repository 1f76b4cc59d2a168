/* SPDX-License-Identifier: MIT */
/* pass: peephole. A product that is only added becomes one instruction with the sum (mad). */
__kernel void k(__global int *out, int a, int b)
{
    int t = get_global_id(0);

    out[t] = t * a + b;
}
/* prints
k after peephole
  b0:
    s%1:2 = ldp.s 0
    s%2 = ldp.s 8
    s%3 = ldp.s 12
    s%4 = rdsr.s
    s%5 = rdsr.s
    s%7 = ldp.s 16
    s%8 = mad.s s%5 s%4 s%7
    v%9 = rdsr
    v%10 = add s%8 v%9
    v%12 = mad v%10 s%2 s%3
    stg s%1:2 v%10 v%12 *4 0
    exit
*/
