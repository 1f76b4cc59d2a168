# SPDX-License-Identifier: MIT
# The Mandelbrot set by Mariani and Silver. A grid evaluates the border of a rectangle. When all of it has one value, so has the
# inside, which is filled; else a small rectangle is evaluated whole, and a large one is given to four children, a quarter each.
# Numbers are fixed-point with 28 bits behind the point.
# parameters: 0 TMD of this kernel, 8 values, a byte a pixel, 16 marks, a byte a pixel: depth of the grid that decided it, plus 128 when it was
# filled, 24 statistics, 32 cells of 128 bytes for the parameters of children (addresses), 40 x, 44 y, 48 width, 52 height of the
# rectangle, 56 width of the picture, 60 real and 64 imaginary part of its pixel 0, 68 distance of pixels, 72 most turns (below 256),
# 76 width or height up to which a rectangle is small (at least 8), 80 zero
# statistics: words: grids, deepest, pixels evaluated, pixels filled, cells taken, launches refused
.kernel mandelbrot
.param 96
.shared 16
.launch
    ldp.b64 s2, [8]
    ldp.b64 s4, [16]
    ldp.b64 s6, [24]
    ldp.b32 s8, [40]            # x
    ldp.b32 s9, [44]            # y
    ldp.b32 s10, [48]           # width
    ldp.b32 s11, [52]           # height
    ldp.b32 s12, [56]
    ldp.b32 s13, [60]
    ldp.b32 s14, [64]
    ldp.b32 s15, [68]
    ldp.b32 s16, [72]
    ldp.b32 s17, [76]
    rdsr s18, %depth
    rdsr s19, %ntid.x
    mov64 s24, 1
    shl64 s24, s24, 58          # 4, with 56 bits behind the point
    rdsr v0, %tid.x
    isetp.eq p0, v0, 0
    mov v1, -1
    mov v2, 0
    mov v3, 0
    @p0 sts.b32 v1, [v3]        # least value of the border
    @p0 sts.b32 v2, [v3+4]      # largest
    bar 0
    shl s20, s10, 1
    sub s21, s11, 2
    shl s22, s21, 1
    add s20, s20, s22           # pixels of the border
    sub s22, s10, 1             # last column
    sub s23, s11, 1             # last row
    mov v4, v0
    pbrk edged
edge:
    isetp.geu p1, v4, s20
    @p1 brk edged
    sub v5, v4, s10
    sub v6, v5, s10
    isetp.ltu p2, v4, s10       # in the first row
    isetp.ltu p3, v5, s10       # in the last
    and v7, v6, 1               # left and right in turn
    isetp.ne p4, v7, 0
    mov v8, s22
    mov v9, 0
    sel v7, v8, v9, p4
    sel v7, v5, v7, p3
    sel v7, v4, v7, p2
    shr v8, v6, 1
    add v8, v8, 1
    mov v6, s23
    sel v8, v6, v8, p3
    sel v8, v9, v8, p2
    call v14, evaluate
    mov v5, 4
    atoms.minu _, [v3], v10
    atoms.maxu _, [v5], v10
    add v4, v4, s19
    bra edge
edged:
    bar 0
    lds.b32 v10, [v3]
    lds.b32 v11, [v3+4]
    readfirst s26, v10
    readfirst s27, v11
    sub s28, s10, 2
    mul s29, s28, s21           # pixels inside
    mov v1, 1
    mov v5, s20
    @p0 atomg.add _, [s6+v3], v1
    mov v1, 4
    mov v2, s18
    @p0 atomg.maxu _, [s6+v1], v2
    mov v1, 8
    @p0 atomg.add _, [s6+v1], v5
    isetp.eq p1, s26, s27
    @p1 bra fill
    isetp.leu p1, s10, s17
    @p1 bra small
    isetp.leu p1, s11, s17
    @p1 bra small
    isetp.geu p1, v0, 4         # a thread for each quarter
    @p1 exit
    shr s30, s10, 1
    shr s31, s11, 1
    and v1, v0, 1
    shr v2, v0, 1
    isetp.ne p2, v1, 0
    isetp.ne p3, v2, 0
    mul v4, v1, s30             # x and y within the rectangle
    mul v5, v2, s31
    mov v6, s30
    sub s32, s10, s30
    mov v7, s32
    sel v6, v7, v6, p2          # width, height
    mov v8, s31
    sub s32, s11, s31
    mov v9, s32
    sel v7, v9, v8, p3
    mov v1, 1
    mov v2, 16
    atomg.add v8, [s6+v2], v1
    ldp.b64 s34, [32]
    shl v8, v8, 7
    mov v9, 0
    mov64 v10, s34
    add64 v8, v8, v10           # own cell
    ldp.b64 s36, [0]
    mov64 v10, s36
    stg.b64 v10, [v8]
    mov64 v10, s2
    stg.b64 v10, [v8+8]
    mov64 v10, s4
    stg.b64 v10, [v8+16]
    mov64 v10, s6
    stg.b64 v10, [v8+24]
    mov64 v10, s34
    stg.b64 v10, [v8+32]
    add v10, v4, s8
    add v11, v5, s9
    stg.b64 v10, [v8+40]
    stg.b64 v6, [v8+48]
    mov v10, s12
    mov v11, s13
    stg.b64 v10, [v8+56]
    mov v10, s14
    mov v11, s15
    stg.b64 v10, [v8+64]
    mov v10, s16
    mov v11, s17
    stg.b64 v10, [v8+72]
    mov64 v10, 0
    stg.b64 v10, [v8+80]
    stg.b64 v10, [v8+88]
    mov64 v16, s36
    mov v18, -1
    mov64 v20, v8
    mov v22, 96
    call v15, nest_launch
    isetp.eq p1, v16, 0
    @p1 exit
    mov v1, 1                   # refused: the thread evaluates the quarter alone
    mov v2, 20
    atomg.add _, [s6+v2], v1
    mul v30, v6, v7
    mov v2, 8
    atomg.add _, [s6+v2], v30
    mov v31, 0
alone:
    isetp.geu p1, v31, v30
    @p1 exit
    remu v7, v31, v6
    divu v8, v31, v6
    add v7, v7, v4
    add v8, v8, v5
    call v14, evaluate
    add v31, v31, 1
    bra alone
small:
    mov v5, s29
    @p0 atomg.add _, [s6+v1], v5
    mov v4, v0
inside:
    isetp.geu p1, v4, s29
    @p1 exit
    remu v7, v4, s28
    divu v8, v4, s28
    add v7, v7, 1
    add v8, v8, 1
    call v14, evaluate
    add v4, v4, s19
    bra inside
fill:
    mov v1, 12
    mov v5, s29
    @p0 atomg.add _, [s6+v1], v5
    mov v9, s26
    add s33, s18, 128
    mov v10, s33
    mov v4, v0
filled:
    isetp.geu p1, v4, s29
    @p1 exit
    remu v7, v4, s28
    divu v8, v4, s28
    add v7, v7, s8
    add v8, v8, s9
    add v7, v7, 1
    add v8, v8, 1
    mad v8, v8, s12, v7
    stg.u8 v9, [s2+v8]
    stg.u8 v10, [s4+v8]
    add v4, v4, s19
    bra filled

# v10: turns until pixel v7, v8 of the rectangle escapes; written to the picture
evaluate:
    add v7, v7, s8
    add v8, v8, s9
    mov v11, s13
    mad v11, v7, s15, v11
    mov v12, s14
    mad v12, v8, s15, v12
    mad v13, v8, s12, v7
    mov v20, 0
    mov v21, 0
    mov v10, 0
    pbrk escaped
turn:
    isetp.geu p5, v10, s16
    @p5 brk escaped
    mulw v22, v20, v20
    mulw v24, v21, v21
    add64 v26, v22, v24
    isetp64.gt p5, v26, s24
    @p5 brk escaped
    mulw v26, v20, v21
    asr64 v26, v26, 27
    add v21, v26, v12
    sub64 v22, v22, v24
    asr64 v22, v22, 28
    add v20, v22, v11
    add v10, v10, 1
    bra turn
escaped:
    stg.u8 v10, [s2+v13]
    mov v26, s18
    stg.u8 v26, [s4+v13]
    ret v14
