# SPDX-License-Identifier: MIT
# Adds n words; each CTA of at most 256 threads (a power of two) reduces its part in shared memory
# and stores one partial sum.
# Parameters: 0 in, 8 partial sums (addresses), 16 n
.kernel reduce
.param 24
.shared 1024
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b32 s4, [16]
    rdsr v0, %tid.x
    rdsr s6, %cta.x
    rdsr s7, %ntid.x
    mad v1, s6, s7, v0          # index of the element
    mov v2, 0
    isetp.ltu p0, v1, s4
    shl v3, v1, 2
    @p0 ldg.b32 v2, [s0+v3]
    shl v4, v0, 2               # place in shared memory
    sts.b32 v2, [v4]
    bar 0
    shr s8, s7, 1               # distance
loop:
    isetp.eq p1, s8, 0
    @p1 bra done
    isetp.ltu p2, v0, s8
    add v5, v0, s8
    shl v5, v5, 2
    @p2 lds.b32 v6, [v5]
    @p2 lds.b32 v7, [v4]
    @p2 add v6, v6, v7
    @p2 sts.b32 v6, [v4]
    bar 0
    shr s8, s8, 1
    bra loop
done:
    isetp.eq p3, v0, 0
    mov v8, 0
    @p3 lds.b32 v6, [v8]
    shl s9, s6, 2
    mov v9, s9
    @p3 stg.b32 v6, [s2+v9]
    exit
