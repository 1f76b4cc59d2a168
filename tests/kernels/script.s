# SPDX-License-Identifier: MIT
# Does what a script in memory says, so that a test may make any tree of launches. The script is an array of nodes of 64
# bytes, the first 48 of which are the parameters of the node's grid: 0 script, 8 log (addresses), 16 own number, 20
# number of the first child, 24 children, 28 waits for them: 1, 32 turns to spin, 36 number of the node to wait for
# until it has begun, + 1, 40 by the launcher with marks: 1, 44 number of the node that its launcher waits for before, +
# 1, 48 TMD (address), 56 stream, 60 has begun: 1 Each thread launches the children that are its own modulo the number
# of threads, in their order. The log is a counter, at byte 64 followed by words: 4 * node + 0 a thread has begun, + 1
# it ends, + 2 the node could not be launched.
.kernel script
.param 48
.launch
.wait
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b32 s4, [16]
    ldp.b32 s5, [20]
    ldp.b32 s6, [24]
    ldp.b32 s7, [28]
    ldp.b32 s8, [32]
    ldp.b32 s9, [36]
    rdsr v0, %tid.x
    rdsr s10, %cta.x
    rdsr s11, %ntid.x
    rdsr s12, %ncta.x
    mad v0, s10, s11, v0        # thread of the grid
    mul s12, s11, s12           # threads
    shl s13, s4, 2              # what its log entries begin with
    mov v1, 1
    mov v2, 0
    atomg.add.acq_rel.dev v3, [s2+v2], v1
    shl v3, v3, 2
    mov v4, s13
    stg.b32 v4, [s2+v3+64]
    shl s14, s4, 6
    mov v3, s14
    stg.b32 v1, [s0+v3+60]
    isetp.eq p0, s9, 0
    @p0 bra begun
    sub s14, s9, 1
    shl s14, s14, 6
    mov v3, s14
await:
    yield
    ldg.b32 v4, [s0+v3+60]
    isetp.eq p1, v4, 0
    @p1 bra await
begun:
    isetp.eq p0, s8, 0
    @p0 bra spun
    sub s8, s8, 1
    bra begun
spun:
    mov v8, v0                  # child
    pbrk launched
again:
    isetp.geu p2, v8, s6
    @p2 brk launched
    add v9, v8, s5
    shl v10, v9, 6
    mov v11, 0
    mov64 v12, s0
    add64 v10, v10, v12         # its node
    ldg.b32 v12, [v10+44]
    isetp.eq p0, v12, 0
    sub v12, v12, 1
    shl v12, v12, 6
    ssy open
    @p0 sync open
gate:
    yield
    ldg.b32 v13, [s0+v12+60]
    isetp.ne p0, v13, 0
    @p0 sync open
    bra gate
open:
    ldg.b64 v16, [v10+48]
    ldg.b32 v18, [v10+56]
    ldg.b32 v14, [v10+40]
    mov64 v20, v10
    mov v22, 48
    isetp.ne p0, v14, 0
    ssy asked
    @p0 bra marked
    call v15, nest_launch
    sync asked
marked:
    call v15, held_nest_launch
    sync asked
asked:
    isetp.ne p3, v16, 0
    shl v4, v9, 2
    add v4, v4, 2
    @p3 atomg.add.acq_rel.dev v3, [s2+v2], v1
    @p3 shl v3, v3, 2
    @p3 stg.b32 v4, [s2+v3+64]
    add v8, v8, s12
    bra again
launched:
    isetp.eq p0, s7, 0
    @p0 bra ended
    cwait
ended:
    atomg.add.acq_rel.dev v3, [s2+v2], v1
    shl v3, v3, 2
    add v4, s13, 1
    stg.b32 v4, [s2+v3+64]
    exit

# One thread creates streams, says which numbers it got, and destroys them. parameters: 0 numbers (address), 8 count
.kernel streams
.param 16
.launch
    ldp.b64 s0, [0]
    ldp.b32 s2, [8]
    mov s3, 0
next:
    call v15, nest_stream
    shl s4, s3, 2
    mov v1, s4
    stg.b32 v16, [s0+v1]
    call v15, nest_stream_destroy
    isetp.ne p0, v16, 0
    @p0 trap 1
    add s3, s3, 1
    isetp.ltu p0, s3, s2
    @p0 bra next
    mov v16, 32
    call v15, nest_stream_destroy
    isetp.ne p0, v16, 10        # PPU_DEVLIB_NO_STREAM
    @p0 trap 2
    exit
