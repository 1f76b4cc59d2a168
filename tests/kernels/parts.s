# SPDX-License-Identifier: MIT
# Runs a segment for one part of a wave after the other, by loops over the parts and by instructions of the mode.
# Thread i of the wave draws two tickets and stores them, 8 bytes. Parameters: counter of tickets, and behind it results.
.kernel looped
.param 8
.wave 128
    ldp.b64 s0, [0]
    rdsr v0, %tid.x
    shl v2, v0, 3
    mov v3, 1
    mov v4, 0
    svbegin64 s20, behind
halves:
    svbegin s22, half
head:
    atomg.add.relaxed.dev v5, [s0+v4], v3
    stg.b32 v5, [s0+v2+8]
    atomg.add.relaxed.dev v5, [s0+v4], v3
    stg.b32 v5, [s0+v2+12]
    svend s22, head
half:
    svend64 s20, halves
behind:
    exit

# The same, with a copy of the segment for each part.
.kernel copied
.param 8
.wave 128
    ldp.b64 s0, [0]
    rdsr v0, %tid.x
    shl v2, v0, 3
    mov v3, 1
    mov v4, 0
    shr v1, v0, 5
    isetp.eq p0, v1, 0
    @p0 atomg.add.relaxed.dev v5, [s0+v4], v3
    @p0 stg.b32 v5, [s0+v2+8]
    @p0 atomg.add.relaxed.dev v5, [s0+v4], v3
    @p0 stg.b32 v5, [s0+v2+12]
    isetp.eq p0, v1, 1
    @p0 atomg.add.relaxed.dev v5, [s0+v4], v3
    @p0 stg.b32 v5, [s0+v2+8]
    @p0 atomg.add.relaxed.dev v5, [s0+v4], v3
    @p0 stg.b32 v5, [s0+v2+12]
    isetp.eq p0, v1, 2
    @p0 atomg.add.relaxed.dev v5, [s0+v4], v3
    @p0 stg.b32 v5, [s0+v2+8]
    @p0 atomg.add.relaxed.dev v5, [s0+v4], v3
    @p0 stg.b32 v5, [s0+v2+12]
    isetp.eq p0, v1, 3
    @p0 atomg.add.relaxed.dev v5, [s0+v4], v3
    @p0 stg.b32 v5, [s0+v2+8]
    @p0 atomg.add.relaxed.dev v5, [s0+v4], v3
    @p0 stg.b32 v5, [s0+v2+12]
    exit

# Instructions of sub-vector mode, without shared registers; the second leaves the mode open.
.kernel entered
.param 8
.wave 128
    sventer 0
    svleave
    exit

.kernel left_open
.param 8
.wave 128
    sventer 256
    svleave
    exit

.kernel left
.param 8
.wave 128
    svleave
    exit
