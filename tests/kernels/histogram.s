# SPDX-License-Identifier: MIT
# Counts how often each byte occurs.
# Parameters: 0 bytes, 8 counts (256 words), 16 n

# Every thread counts one byte straight into global memory.
.kernel histogram
.param 24
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b32 s4, [16]
    rdsr v0, %tid.x
    rdsr s6, %cta.x
    rdsr s7, %ntid.x
    mad v0, s6, s7, v0
    isetp.geu p0, v0, s4
    @p0 exit
    ldg.u8 v1, [s0+v0]
    shl v1, v1, 2
    mov v2, 1
    atomg.add _, [s2+v1], v2
    exit

# A CTA counts in shared memory first, then adds its counts.
.kernel histogram_shared
.param 24
.shared 1024
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b32 s4, [16]
    rdsr v0, %tid.x
    rdsr s6, %cta.x
    rdsr s7, %ntid.x
    mov v5, 1
    mov v6, 0
    mov v4, v0
clear:                          # shared counts, ntid apart
    pbrk cleared
clear_loop:
    isetp.geu p1, v4, 256
    @p1 brk cleared
    shl v7, v4, 2
    sts.b32 v6, [v7]
    add v4, v4, s7
    bra clear_loop
cleared:
    bar 0
    mad v1, s6, s7, v0
    isetp.ltu p0, v1, s4
    @p0 ldg.u8 v2, [s0+v1]
    shl v2, v2, 2
    @p0 atoms.add _, [v2], v5
    bar 0
    mov v4, v0
    pbrk added
add_loop:
    isetp.geu p1, v4, 256
    @p1 brk added
    shl v7, v4, 2
    lds.b32 v8, [v7]
    isetp.ne p2, v8, 0
    @p2 atomg.add _, [s2+v7], v8
    add v4, v4, s7
    bra add_loop
added:
    exit
