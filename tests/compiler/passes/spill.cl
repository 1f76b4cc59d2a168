/* SPDX-License-Identifier: MIT */
/* pass: regalloc; registers: 4. Too few: some are spilled to local memory, those that cost least. */
__kernel void k(__global int *out, int n)
{
    int t = get_global_id(0), a = t * 3, b = t ^ 5, c = t + 7;

    for (int i = 0; i < n; i++) {
        a = a * b + c;
        b = b ^ out[i];
    }
    out[t] = a + b * c;
}
/* prints
k after regalloc
  b0:
    s0:4 = ldp.s 0
    s3 = mov.s 4
    s4 = rdsr.s
    s5 = rdsr.s
    s6 = ldp.s 16
    s4 = mad.s s5 s4 s6
    v0 = rdsr
    v0 = add s4 v0
    v1 = mul v0 3
    v2 = xor v0 5
    v3 = add v0 7
    p0 = isetp.s s2 0
    branch p0 b1, b5
  b1:
    s4 = mov.s 0
    jump b2
  b2:
    v1 = mul v1 v2
    v1 = add v1 v3
    s6:2 = madwu.s s4 s3 s0:2
    s5 = ldg.s s6:2 0
    v2 = xor s5 v2
    s4 = add.s s4 1
    p0 = isetp.s s4 s2
    branch p0 b4, b3
  b3:
    jump b2
  b4:
    jump b6
  b5:
    jump b6
  b6:
    v2 = mul v2 v3
    v1 = add v1 v2
    stg s0:2 v0 v1 *4 0
    exit
*/
