# SPDX-License-Identifier: MIT
# Searches a graph breadth first, level by level. Nodes are in `order` in the order they are found, so those of one level, the frontier, follow
# one another there; a grid visits one frontier, and what it finds is the next.
#
# The search lies in memory (struct search of bfs.c), addresses: 0 offsets, 8 edges, 16 level (a word a node, -1: not found),
# 24 order, 32 work queue, 40 TMD of `visit`, 48 parameters of the next grid; words: 56 nodes found, 60 CTAs of this grid that have not
# ended, 64 grids, 68 status of a launch that failed.

# Visits a frontier, a thread a node. Parameters: 0 the search, 8 first and 12 end of the frontier in `order`, 16 its level, 20 1: the last CTA
# puts the next grid into the work queue; 24 zero.
.kernel visit
.param 32
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]             # first, end
    ldp.b64 s4, [16]            # level, who launches the next grid
    rdsr v0, %tid.x
    rdsr v1, %ntid.x
    rdsr v2, %cta.x
    mad v0, v2, v1, v0
    add v0, v0, s2
    isetp.ltu p0, v0, s3
    mov64 v2, s0
    ldg.b128 v4, [v2]           # v4:v5 offsets, v6:v7 edges
    ldg.b128 v8, [v2+16]        # v8:v9 level, v10:v11 order
    add64 v2, v2, 56
    add v20, s4, 1
    mov v21, 1
    ssy visited
    @!p0 sync visited
    mulwu v12, v0, 4
    add64 v12, v12, v10
    ldg.b32 v14, [v12]          # the node
    mulwu v12, v14, 4
    add64 v12, v12, v4
    ldg.b32 v16, [v12]          # its edges
    ldg.b32 v17, [v12+4]
    pbrk looked
look:
    isetp.geu p1, v16, v17
    @p1 brk looked
    mulwu v12, v16, 4
    add64 v12, v12, v6
    ldg.b32 v14, [v12]          # the node at the other end
    add v16, v16, 1
    mulwu v18, v14, 4
    add64 v18, v18, v8
    ldg.b32 v22, [v18]
    ssy next_edge
    isetp.ne p1, v22, -1
    @p1 sync next_edge
    mov v22, -1                 # who says it first has found it
    mov v23, v20
    atomg.cas.relaxed.dev v24, [v18], v22
    isetp.ne p1, v24, -1
    @p1 sync next_edge
    atomg.add.relaxed.dev v24, [v2], v21
    mulwu v24, v24, 4
    add64 v24, v24, v10
    stg.b32 v14, [v24]
    sync next_edge
next_edge:
    bra look
looked:
    sync visited
visited:
    isetp.eq p1, s5, 0
    @p1 exit
    bar 0
    rdsr v0, %tid.x
    isetp.ne p1, v0, 0
    @p1 exit
    mov v22, -1
    add64 v2, v2, 4
    atomg.add.acq_rel.dev v23, [v2], v22
    isetp.ne p1, v23, 1         # the last CTA
    @p1 exit
    call v14, next
    exit

# The last thread of a grid: the next grid, or the end of the round.
next:
    mov64 v2, s0
    ldg.b32 v4, [v2+56]         # end of the next frontier
    ldg.b128 v16, [v2+32]       # v16:v17 queue, v18:v19 TMD
    ldg.b64 v22, [v2+48]        # parameters
    isetp.eq p0, v4, s3
    @p0 bra over
    mov64 v20, v18
    sub v6, v4, s3              # nodes
    add v6, v6, 127
    shr v6, v6, 7
    stg.b32 v6, [v20+52]        # CTAs of 128 threads, PPU_TMD_GRID
    stg.b32 v6, [v2+60]
    ldg.b32 v7, [v2+64]
    add v7, v7, 1
    stg.b32 v7, [v2+64]
    mov64 v8, s0
    stg.b64 v8, [v22]
    mov v8, s3
    mov v9, v4
    stg.b64 v8, [v22+8]
    add v8, s4, 1
    mov v9, 1
    stg.b64 v8, [v22+16]
    mov v18, -1                 # no stream
    mov v19, 0
    mov v24, 32
    call v15, workq_launch
    mov64 v2, s0
    stg.b32 v16, [v2+68]
    ret v14
over:
    ldg.b32 v18, [v16+192]      # the round it is
    mov v19, 0
    call v15, workq_end
    mov64 v2, s0
    stg.b32 v16, [v2+68]
    ret v14

# One thread launches a grid for each frontier as a child, and waits for it. Parameters: 0 the search, 8 zero.
.kernel walk
.param 16
.launch
.wait
    ldp.b64 s0, [0]
    mov64 v50, s0
    mov v52, 0                  # first
    mov v53, 1                  # end
    mov v54, 0                  # level
step:
    ldg.b64 v20, [v50+40]       # TMD
    ldg.b64 v22, [v50+48]       # parameters
    mov64 v16, v20
    mov64 v20, v22
    sub v6, v53, v52
    add v6, v6, 127
    shr v6, v6, 7
    stg.b32 v6, [v16+52]
    stg.b64 v50, [v20]
    stg.b64 v52, [v20+8]
    mov v55, 0
    stg.b64 v54, [v20+16]
    mov v18, -1
    mov v22, 32
    call v15, nest_launch
    stg.b32 v16, [v50+68]
    isetp.ne p0, v16, 0
    @p0 exit
    cwait
    ldg.b32 v7, [v50+64]
    add v7, v7, 1
    stg.b32 v7, [v50+64]
    mov v52, v53
    ldg.b32 v53, [v50+56]
    add v54, v54, 1
    isetp.ne p0, v52, v53
    @p0 bra step
    exit
