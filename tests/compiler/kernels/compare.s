# SPDX-License-Identifier: MIT
# The kernels of compare.cl as a programmer would write them: the same arguments at the same places, groups numbered from
# 0, arrays that a 32-bit offset reaches.

# 0 n, 4 a, 8 x, 16 y
.kernel saxpy
.param 24
    ldp.b128 s0, [0]
    ldp.b64 s4, [16]
    rdsr v0, %tid.x
    rdsr s6, %cta.x
    rdsr s7, %ntid.x
    mad v0, s6, s7, v0          # i
    isetp.ge p0, v0, s0
    @p0 exit
    shl v0, v0, 2
    ldg.b32 v1, [s2+v0]
    ldg.b32 v2, [s4+v0]
    ffma v2, s1, v1, v2
    stg.b32 v2, [s4+v0]
    exit

# 0 n, 8 a, 16 b, 24 c
.kernel sgemm
.param 32
    ldp.b128 s0, [0]
    ldp.b128 s4, [16]
    rdsr v0, %tid.x
    rdsr s8, %cta.x
    rdsr s9, %ntid.x
    mad v0, s8, s9, v0          # column
    rdsr v1, %tid.y
    rdsr s8, %cta.y
    rdsr s9, %ntid.y
    mad v1, s8, s9, v1          # row
    mul v1, v1, s0
    add v5, v1, v0
    shl v5, v5, 2               # offset in c
    shl v0, v0, 2               # offset in b
    shl v1, v1, 2               # offset in a
    shl s1, s0, 2               # bytes a row
    add v2, v1, s1
    mov v6, 0
    isetp.le.s p0, s0, 0
    @p0 bra done
next:
    ldg.b32 v3, [s2+v1]
    ldg.b32 v4, [s4+v0]
    ffma v6, v3, v4, v6
    add v1, v1, 4
    add v0, v0, s1
    isetp.ne p0, v1, v2
    @p0 bra next
done:
    stg.b32 v6, [s6+v5]
    exit

# 0 out, 8 width, 12 height, 16 x0, 20 y0, 24 dx, 28 dy, 32 limit
.kernel mandelbrot
.param 36
    ldp.b128 s0, [0]
    ldp.b128 s4, [16]
    ldp.b32 s8, [32]
    rdsr v0, %tid.x
    rdsr s10, %cta.x
    rdsr s11, %ntid.x
    mad v0, s10, s11, v0        # px
    rdsr v1, %tid.y
    rdsr s10, %cta.y
    rdsr s11, %ntid.y
    mad v1, s10, s11, v1        # py
    isetp.ge p0, v0, s2
    @p0 exit
    isetp.ge p0, v1, s3
    @p0 exit
    cvt.f32.s32 v2, v0
    ffma v2, v2, s6, s4         # cx
    cvt.f32.s32 v3, v1
    ffma v3, v3, s7, s5         # cy
    mad v0, v1, s2, v0
    shl v0, v0, 2
    mov v4, 0                   # turns
    mov v5, 0                   # x
    mov v6, 0                   # y
    isetp.le.s p0, s8, 0
    @p0 bra done2
    pbrk done2
turn:
    fmul v7, v5, v5
    fmul v8, v6, v6
    fadd v9, v7, v8
    fsetp.gt p0, v9, 4.0
    @p0 brk done2
    fadd v9, v5, v5
    ffma v6, v9, v6, v3
    fsub v5, v7, v8
    fadd v5, v5, v2
    add v4, v4, 1
    isetp.ne p0, v4, s8
    @p0 bra turn
    brk done2
done2:
    stg.b32 v4, [s0+v0]
    exit

# 0 in, 8 counts, 16 n
.kernel histogram
.param 20
    ldp.b128 s0, [0]
    ldp.b32 s4, [16]
    rdsr v0, %tid.x
    rdsr s6, %cta.x
    rdsr s7, %ntid.x
    mad v0, s6, s7, v0
    isetp.ge p0, v0, s4
    @p0 exit
    ldg.u8 v1, [s0+v0]
    shl v1, v1, 2
    mov v2, 1
    atomg.add _, [s2+v1], v2
    exit

# 0 first, 8 edges, 16 level, 24 changed, 32 nodes, 36 now
.kernel bfs
.param 40
    ldp.b128 s0, [0]
    ldp.b128 s4, [16]
    ldp.b64 s8, [32]
    rdsr v0, %tid.x
    rdsr s10, %cta.x
    rdsr s11, %ntid.x
    mad v0, s10, s11, v0        # node
    isetp.ge p0, v0, s8
    @p0 exit
    shl v0, v0, 2
    ldg.b32 v1, [s4+v0]
    isetp.ne p0, v1, s9
    @p0 exit
    ldg.b32 v2, [s0+v0]
    ldg.b32 v3, [s0+v0+4]
    isetp.ge p0, v2, v3
    @p0 exit
    shl v2, v2, 2
    shl v3, v3, 2
    add v4, s9, 1
    mov s10, 1
edge:
    ldg.b32 v5, [s2+v2]
    shl v5, v5, 2
    ldg.b32 v6, [s4+v5]
    isetp.lt p0, v6, 0
    @p0 stg.b32 v4, [s4+v5]
    @p0 stg.b32 s10, [s6]
    add v2, v2, 4
    isetp.lt p0, v2, v3
    @p0 bra edge
    exit
