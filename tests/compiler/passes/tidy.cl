/* SPDX-License-Identifier: MIT */
/* pass: assign. Both sides set the sum to 0: that goes before the branch, and one side needs no code. */
__kernel void k(__global float *out, int n)
{
    int t = get_global_id(0);
    float sum = 0;

    for (int i = 0; i < n; i++) {
        sum += out[t + i];
    }
    out[t] = sum;
}
/* prints
assignment of k
  b0:
    s0:4 = ldp.s 0
    s3 = mov.s 4
    s4 = rdsr.s
    s5 = rdsr.s
    s6 = ldp.s 16
    s4 = mad.s s5 s4 s6
    v0 = rdsr
    v0 = add s4 v0
    p0 = isetp.s s2 0
    v1 = mov 0
    branch p0 b1, b5
  b1:
    v2:2 = madw v0 s3 s0:2
    s4 = mov.s 0
    jump b2
  b2:
    v4 = ldg v2:2 0
    v1 = fadd v1 v4
    s4 = add.s s4 1
    p0 = isetp.s s4 s2
    v2:2 = add64 v2:2 4
    branch p0 b4, b3
  b3:
    jump b2
  b4:
    jump b6
  b5:
    jump b6
  b6:
    v2:2 = madw v0 s3 s0:2
    stg v2:2 v1 0
    exit
*/
