# SPDX-License-Identifier: MIT
# Launches a tree of grids. Each grid counts itself, launches `fanout` children one level down until level 0, waits for
# them, and adds the nodes of its subtree to its parent's cell, so that a parent that did not wait would count too few.
# Parameters: 0 TMD of this kernel, 8 counters (started, failed launches, finished), 16 scratch: 128 bytes for each task record,
# 24 level, 28 fanout, 32 cell to add to, 40 streams to use, 44 zero
.kernel tree
.param 48
.launch
.wait
    rdsr v0, %tid.x
    isetp.ne p0, v0, 0
    @p0 exit
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b64 s4, [16]
    ldp.b32 s6, [24]
    ldp.b32 s7, [28]
    ldp.b64 s8, [32]
    ldp.b32 s10, [40]
    mov v1, 1
    mov v2, 0
    atomg.add _, [s2+v2], v1
    rdsr v3, %task
    and v3, v3, 0xfffff
    shl v4, v3, 7
    mov v5, 0
    add64 v4, v4, s4            # own scratch: parameters of the children, at 64 the cell
    stg.b32 v2, [v4+64]
    isetp.eq p1, s6, 0
    @p1 bra leaf
    mov64 v6, s0
    stg.b64 v6, [v4]
    mov64 v6, s2
    stg.b64 v6, [v4+8]
    mov64 v6, s4
    stg.b64 v6, [v4+16]
    sub s12, s6, 1
    mov v6, s12
    stg.b32 v6, [v4+24]
    mov v6, s7
    stg.b32 v6, [v4+28]
    add64 v6, v4, 64
    stg.b64 v6, [v4+32]
    mov v6, s10
    stg.b32 v6, [v4+40]
    stg.b32 v2, [v4+44]
    mov v8, 0
    pbrk launched
again:
    isetp.geu p2, v8, s7
    @p2 brk launched
    mov64 v16, s0
    remu v18, v8, s10
    mov64 v20, v4
    mov v22, 48
    call v15, nest_launch
    isetp.ne p3, v16, 0
    mov v12, 4
    @p3 atomg.add _, [s2+v12], v1
    add v8, v8, 1
    bra again
launched:
    cwait
leaf:
    ldg.b32 v9, [v4+64]
    add v9, v9, 1
    mov64 v10, s8
    atomg.add _, [v10], v9
    mov v12, 8
    atomg.add _, [s2+v12], v1
    exit
