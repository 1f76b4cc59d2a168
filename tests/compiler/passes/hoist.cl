/* SPDX-License-Identifier: MIT */
/* pass: hoist. Both sides set the sum to 0: that goes before the branch, and one side needs no code. */
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
k after hoist
  b0:
    s0:4 = ldp.s 0
    s3 = rdsr.s
    s4 = rdsr.s
    s5 = ldp.s 16
    s3 = mad.s s4 s3 s5
    v0 = rdsr
    v0 = add s3 v0
    p0 = isetp.s s2 0
    v2 = mov 0
    branch p0 b1, b5
  b1:
    v1 = shl v0 2
    s4:2 = mov64.s s0:2
    s3 = mov.s 0
    jump b2
  b2:
    v3 = ldg s4:2 v1 0
    v2 = fadd v2 v3
    s3 = add.s s3 1
    p0 = isetp.s s3 s2
    s4:2 = add64.s s4:2 4
    branch p0 b4, b3
  b3:
    jump b2
  b4:
    jump b6
  b5:
    jump b6
  b6:
    stg s0:2 v0 v2 *4 0
    exit
*/
