/* SPDX-License-Identifier: MIT */
/* pass: if-convert. A longer side is guarded in a loop whose turns meet at a barrier, and not in the one behind it. */
__kernel void k(__global int *out, __local int *words, int n)
{
    int l = get_local_id(0);

    for (int d = 0; d < n; d++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d) {
            words[l] = words[l + 1] * 3 + words[l + 2] * 5 + words[l + 3] * 7 + (words[l + 4] ^ d);
        }
    }
    for (int d = 0; d < n; d++) {
        if (l < out[d]) {
            out[l] = out[l + 1] * 3 + out[l + 2] * 5 + out[l + 3] * 7 + (out[l + 4] ^ d);
        }
    }
}
/* prints
k after if-convert
  b0:
    s%43:4 = ldp.s 0
    s%3 = ldp.s 16
    s%26 = mov.s 4
    v%4 = rdsr
    p%5 = isetp.s s%3 0
    branch p%5 b1, b14
  b1:
    v%7 = shl v%4 2
    v%8 = add s%43.2 v%7
    s%9 = mov.s 0
    jump b2
  b2:
    bar 0
    p%10 = isetp v%4 s%9
    v%11 = lds @p%10 v%8 4
    v%12 = mul v%11 3
    v%13 = lds @p%10 v%8 8
    v%14 = mul v%13 5
    v%15 = add v%14 v%12
    v%16 = lds @p%10 v%8 12
    v%17 = mul v%16 7
    v%18 = add v%15 v%17
    v%19 = lds @p%10 v%8 16
    v%20 = xor v%19 s%9
    v%21 = add v%18 v%20
    sts @p%10 v%8 v%21 0
    jump b5
  b3:
    jump b5
  b4:
    jump b5
  b5:
    s%22 = add.s s%9 1
    p%23 = isetp.s s%22 s%3
    branch p%23 b7, b6
  b6:
    s%9 = mov.s s%22
    jump b2
  b7:
    s%24 = mov.s 0
    jump b8
  b8:
    s%27:2 = madwu.s s%24 s%26 s%43.0:2
    s%28 = ldg.s s%27:2 0
    p%29 = isetp v%4 s%28
    branch p%29 b9, b10
  b9:
    v%30 = ldg s%43.0:2 v%4 *4 4
    v%31 = mul v%30 3
    v%32 = ldg s%43.0:2 v%4 *4 8
    v%33 = mul v%32 5
    v%34 = add v%33 v%31
    v%35 = ldg s%43.0:2 v%4 *4 12
    v%36 = mul v%35 7
    v%37 = add v%34 v%36
    v%38 = ldg s%43.0:2 v%4 *4 16
    v%39 = xor v%38 s%24
    v%40 = add v%37 v%39
    stg s%43.0:2 v%4 v%40 *4 0
    jump b11
  b10:
    jump b11
  b11:
    s%41 = add.s s%24 1
    p%42 = isetp.s s%41 s%3
    branch p%42 b13, b12
  b12:
    s%24 = mov.s s%41
    jump b8
  b13:
    jump b15
  b14:
    jump b15
  b15:
    exit
*/
