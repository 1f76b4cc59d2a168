# SPDX-License-Identifier: MIT
# Draws tickets as tests/kernels/parts.s does: in a segment that leaves its mode open, in one that shares
# registers, and in one that does both.
.kernel open_parts
.param 8
.wave 128
.vregs 8
    ldp.b64 s0, [0]
    rdsr v0, %tid.x
    shl v2, v0, 3
    mov v3, 1
    mov v4, 0
    sventer 256
    atomg.add.relaxed.dev v5, [s0+v4], v3
    stg.b32 v5, [s0+v2+8]
    atomg.add.relaxed.dev v5, [s0+v4], v3
    stg.b32 v5, [s0+v2+12]
    svleave
    exit

.kernel sharing_parts
.param 8
.wave 128
.vregs 8
.shared_vregs 4
    ldp.b64 s0, [0]
    rdsr v0, %tid.x
    shl v2, v0, 3
    mov v3, 1
    mov v4, 0
    sventer 4
    atomg.add.relaxed.dev v8, [s0+v4], v3
    atomg.add.relaxed.dev v9, [s0+v4], v3
    stg.b64 v8, [s0+v2+8]
    svleave
    exit

.kernel open_sharing_parts
.param 8
.wave 128
.vregs 8
.shared_vregs 4
.mayshare
    ldp.b64 s0, [0]
    rdsr v0, %tid.x
    shl v2, v0, 3
    mov v3, 1
    mov v4, 0
    sventer 260
    atomg.add.relaxed.dev v8, [s0+v4], v3
    atomg.add.relaxed.dev v9, [s0+v4], v3
    stg.b64 v8, [s0+v2+8]
    svleave
    exit

# Does nothing, with many registers that parts may share.
.kernel greedy
.wave 128
.vregs 32
.shared_vregs 64
.mayshare
    sventer 320
    svleave
    exit
