# SPDX-License-Identifier: MIT
# Sorts words by quicksort. A grid parts its range and launches a grid for each side; nobody waits, the first task
# completes with the last. What is short, or cannot be launched, is sorted by insertion.
# Parameters: 0 TMD of this kernel, 8 words, 16 cells of 64 bytes for the parameters of children, 24 counter of cells taken (addresses),
# 32 first, 36 end, 40 zero
.kernel quicksort
.param 48
.launch
    rdsr v0, %tid.x
    isetp.ne p0, v0, 0
    @p0 exit
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b64 s4, [16]
    ldp.b64 s6, [24]
    ldp.b32 s8, [32]
    ldp.b32 s9, [36]
    mov v0, s8
    mov v1, s9
    sub s10, s9, s8
    isetp.gtu p0, s10, 16
    @p0 bra part
    call v14, insertion
    exit
part:
    add s11, s8, s9             # the middle one is the pivot; the last one takes its place
    shr s11, s11, 1
    shl s11, s11, 2
    mov v2, s11
    ldg.b32 v3, [s2+v2]         # pivot
    sub s12, s9, 1
    shl s13, s12, 2
    mov v4, s13
    ldg.b32 v5, [s2+v4]
    stg.b32 v5, [s2+v2]
    mov v6, s8                  # where the next smaller one goes
    mov v7, s8
scan:
    isetp.geu p1, v7, s12
    @p1 bra scanned
    shl v8, v7, 2
    ldg.b32 v9, [s2+v8]
    isetp.geu p2, v9, v3
    @p2 bra kept
    shl v10, v6, 2
    ldg.b32 v11, [s2+v10]
    stg.b32 v9, [s2+v10]
    stg.b32 v11, [s2+v8]
    add v6, v6, 1
kept:
    add v7, v7, 1
    bra scan
scanned:
    shl v10, v6, 2
    ldg.b32 v11, [s2+v10]
    stg.b32 v11, [s2+v4]
    stg.b32 v3, [s2+v10]
    mov v12, 2                  # cells of two children
    mov v2, 0
    atomg.add v4, [s6+v2], v12
    shl v4, v4, 6
    mov v5, 0
    mov64 v8, s4
    add64 v4, v4, v8
    mov v0, s8
    mov v1, v6
    call v13, side
    add v0, v6, 1
    mov v1, s9
    add64 v4, v4, 64
    call v13, side
    exit

# sorts words v0 to v1 by a child whose parameters are in the cell at v4
side:
    sub v8, v1, v0
    isetp.leu p0, v8, 1
    @p0 ret v13
    mov64 v8, s0
    stg.b64 v8, [v4]
    mov64 v8, s2
    stg.b64 v8, [v4+8]
    mov64 v8, s4
    stg.b64 v8, [v4+16]
    mov64 v8, s6
    stg.b64 v8, [v4+24]
    stg.b64 v0, [v4+32]
    mov64 v8, 0
    stg.b64 v8, [v4+40]
    mov64 v16, s0
    mov v18, -1
    mov64 v20, v4
    mov v22, 48
    call v15, nest_launch
    isetp.eq p0, v16, 0
    @p0 ret v13
    call v14, insertion
    ret v13

# sorts words v0 to v1 here
insertion:
    add v7, v0, 1
outer:
    isetp.geu p0, v7, v1
    @p0 ret v14
    shl v8, v7, 2
    ldg.b32 v9, [s2+v8]
    mov v10, v7
inner:
    isetp.leu p1, v10, v0
    @p1 bra place
    sub v11, v10, 1
    shl v11, v11, 2
    ldg.b32 v12, [s2+v11]
    isetp.leu p1, v12, v9
    @p1 bra place
    shl v8, v10, 2
    stg.b32 v12, [s2+v8]
    sub v10, v10, 1
    bra inner
place:
    shl v8, v10, 2
    stg.b32 v9, [s2+v8]
    add v7, v7, 1
    bra outer
