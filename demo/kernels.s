# SPDX-License-Identifier: MIT
# Implements the kernels of the demo; the Mandelbrot set is in mandelbrot.s. Addresses are 64 bits; "all threads" are
# those of all CTAs.

# y[i] = a * x[i] + y[i], four elements a thread.
# parameters: 0 x, 8 y (addresses), 16 n (a multiple of 4), 20 a (float)
.kernel saxpy
.param 24
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b32 s4, [16]
    ldp.b32 s5, [20]
    rdsr v0, %tid.x
    rdsr s6, %cta.x
    rdsr s7, %ntid.x
    mad v0, s6, s7, v0
    shl v0, v0, 2               # first element
    isetp.geu p0, v0, s4
    @p0 exit
    shl v1, v0, 2
    ldg.b128 v4, [s0+v1]
    ldg.b128 v8, [s2+v1]
    fmul v4, v4, s5
    fmul v5, v5, s5
    fmul v6, v6, s5
    fmul v7, v7, s5
    fadd v8, v8, v4
    fadd v9, v9, v5
    fadd v10, v10, v6
    fadd v11, v11, v7
    stg.b128 v8, [s2+v1]
    exit

# *total += sum of n words. All threads stride over the words; each CTA of 256 adds up in shared memory.
# parameters: 0 words, 8 total (addresses), 16 n
.kernel sum
.param 24
.shared 1024
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b32 s4, [16]
    rdsr v0, %tid.x
    rdsr s6, %cta.x
    rdsr s7, %ntid.x
    rdsr s8, %ncta.x
    mad v1, s6, s7, v0          # index of the word
    mul s8, s8, s7              # stride
    mov v2, 0                   # sum
    pbrk added
add_loop:
    isetp.geu p0, v1, s4
    @p0 brk added
    shl v3, v1, 2
    ldg.b32 v4, [s0+v3]
    add v2, v2, v4
    add v1, v1, s8
    bra add_loop
added:
    shl v5, v0, 2               # place in shared memory
    sts.b32 v2, [v5]
    bar 0
    shr s9, s7, 1               # distance
fold:
    isetp.eq p1, s9, 0
    @p1 bra folded
    isetp.ltu p2, v0, s9
    add v6, v0, s9
    shl v6, v6, 2
    @p2 lds.b32 v7, [v6]
    @p2 lds.b32 v8, [v5]
    @p2 add v8, v8, v7
    @p2 sts.b32 v8, [v5]
    bar 0
    shr s9, s9, 1
    bra fold
folded:
    isetp.eq p3, v0, 0
    mov v9, 0
    @p3 lds.b32 v8, [v5]
    @p3 atomg.add _, [s2+v9], v8
    exit

# counts[b] += how often byte b occurs. Each CTA of 256 counts in shared memory first.
# parameters: 0 bytes, 8 counts (256 words), 16 n
.kernel histogram
.param 24
.shared 1024
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b32 s4, [16]
    rdsr v0, %tid.x
    rdsr s6, %cta.x
    rdsr s7, %ntid.x
    rdsr s8, %ncta.x
    mad v1, s6, s7, v0          # index of the byte
    mul s8, s8, s7              # stride
    shl v5, v0, 2               # this thread's count
    mov v6, 0
    sts.b32 v6, [v5]
    bar 0
    mov v6, 1
    pbrk counted
count_loop:
    isetp.geu p0, v1, s4
    @p0 brk counted
    ldg.u8 v2, [s0+v1]
    shl v2, v2, 2
    atoms.add _, [v2], v6
    add v1, v1, s8
    bra count_loop
counted:
    bar 0
    lds.b32 v7, [v5]
    isetp.ne p1, v7, 0
    @p1 atomg.add _, [s2+v5], v7
    exit

# 3 x 3 binomial filter (1 2 1, 2 4 2, 1 2 1; sum / 16) of a picture of bytes; the border repeats its nearest pixel.
# One thread a pixel. parameters: 0 in, 8 out (addresses), 16 width, 20 height
.kernel smooth
.param 24
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b32 s4, [16]
    ldp.b32 s5, [20]
    rdsr v0, %tid.x
    rdsr v1, %tid.y
    rdsr s6, %cta.x
    rdsr s7, %ntid.x
    mad v0, s6, s7, v0          # x
    rdsr s6, %cta.y
    rdsr s7, %ntid.y
    mad v1, s6, s7, v1          # y
    isetp.geu p0, v0, s4
    @p0 exit
    isetp.geu p0, v1, s5
    @p0 exit
    sub s8, s4, 1               # last column
    sub s9, s5, 1               # last row
    mov v2, 0                   # weighted sum
    mov s10, -1                 # dy
row:
    add v3, v1, s10
    max v3, v3, 0
    min v3, v3, s9
    mul v3, v3, s4
    abs s12, s10
    rsub s12, s12, 2            # weight of the row
    mov s11, -1                 # dx
pixel:
    add v4, v0, s11
    max v4, v4, 0
    min v4, v4, s8
    add v4, v4, v3
    ldg.u8 v5, [s0+v4]
    abs s13, s11
    rsub s13, s13, 2            # weight of the column
    mul s13, s13, s12
    mad v2, v5, s13, v2
    add s11, s11, 1
    isetp.le p1, s11, 1
    @p1 bra pixel
    add s10, s10, 1
    isetp.le p1, s10, 1
    @p1 bra row
    shr v2, v2, 4
    mad v6, v1, s4, v0
    stg.u8 v2, [s2+v6]
    exit

# *counter += 1, the smallest piece of work; also an attempt to reach an address.
# parameters: 0 counter (address)
.kernel count
.param 8
    ldp.b64 s0, [0]
    mov v0, 0
    mov v1, 1
    atomg.add _, [s0+v0], v1
    exit
