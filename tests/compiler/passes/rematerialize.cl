/* SPDX-License-Identifier: MIT */
/* pass: regalloc; registers: 6. Too few: what a cheap instruction makes from what is live is rematerialized, not stored. */
__kernel void k(__global int *out, int n)
{
    int t = get_local_id(0), near = t + 1, far = t ^ 5, a = t, b = n;

    for (int i = 0; i < n; i++) {
        a = a * b + t;
        b = b ^ out[a & 63];
    }
    out[t] = a + b;
    out[near] = b;
    out[far] = a;
}
/* prints
k after regalloc
  b0:
    s0:2 = ldp.s 0
    s2 = ldp.s 8
    v0 = rdsr
    p0 = isetp.s s2 0
    branch p0 b1, b5
  b1:
    s3 = mov.s 0
    v1 = mov v0
    v2 = mov s2
    jump b2
  b2:
    v1 = mul v2 v1
    v1 = add v1 v0
    v3 = and v1 63
    v3 = ldg s0:2 v3 *4 0
    v2 = xor v3 v2
    s3 = add.s s3 1
    p0 = isetp.s s3 s2
    branch p0 b4, b3
  b3:
    jump b2
  b4:
    jump b6
  b5:
    v1 = mov v0
    v2 = mov s2
    jump b6
  b6:
    v3 = xor v0 5
    v4 = add v2 v1
    stg s0:2 v0 v4 *4 0
    stg s0:2 v0 v2 *4 4
    stg s0:2 v3 v1 *4 0
    exit
*/
