# SPDX-License-Identifier: MIT
# Adds x[i] to y[i], again and again; each turn reads and writes memory, so that a turn lost or made twice is seen.
# Parameters: 0 x, 8 y (addresses, a word for each thread), 16 turns (at least 1)
.kernel accumulate
.param 24
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b32 s4, [16]
    rdsr v0, %tid.x
    rdsr s5, %cta.x
    rdsr s6, %ntid.x
    mad v0, s5, s6, v0          # i
    mulwu v4, v0, 4             # byte offset
    add64 v6, v4, s0
    add64 v8, v4, s2
    ldg.b32 v2, [v6]
turn:
    ldg.b32 v3, [v8]
    add v3, v3, v2
    stg.b32 v3, [v8]
    sub s4, s4, 1
    isetp.ne p0, s4, 0
    @p0 bra turn
    exit
