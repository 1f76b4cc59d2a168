/* SPDX-License-Identifier: MIT */
/* pass: param-loads. Parameters and implicit arguments are loaded four words at a time. */
__kernel void k(__global int *out, int a, int b, int c)
{
    out[get_global_id(0)] = a * b + c;
}
/* prints
k after param-loads
  b0:
    s%23:4 = ldp.s 0
    s%24:4 = ldp.s 16
    s%20:2 = mov64.s 4
    v%6 = mad s%23.3 s%23.2 s%24.0
    s%7 = rdsr.s
    s%9 = rdsr.s
    s%11:2 = mulwu.s s%9 s%7
    s%17.0 = mov.s s%24.2
    s%17.1 = mov.s s%24.3
    v%18 = rdsr
    s%21:2 = mad64.s s%11:2 s%20:2 s%23.0:2
    s%22:2 = mad64.s s%17:2 s%20:2 s%21:2
    stg s%22:2 v%18 v%6 *4 0
    exit
*/
