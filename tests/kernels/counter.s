# SPDX-License-Identifier: MIT
# Adds 1 by every thread to the word at parameter 0 and keeps the value before at parameter 8 + 4 * thread of the grid.
.kernel counter
.param 16
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    rdsr v0, %tid.x
    rdsr s6, %cta.x
    rdsr s7, %ntid.x
    mad v0, s6, s7, v0
    mov v1, 1
    atomg.add v2, [s0], v1
    shl v0, v0, 2
    stg.b32 v2, [s2+v0]
    exit
