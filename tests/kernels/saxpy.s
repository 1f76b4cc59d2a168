# SPDX-License-Identifier: MIT
# Computes y[i] = a * x[i] + y[i].
# Parameters: 0 x, 8 y (addresses), 16 n, 20 a (float)
.kernel saxpy
.param 24
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b32 s4, [16]
    ldp.b32 s5, [20]
    rdsr v0, %tid.x
    rdsr s6, %cta.x
    rdsr s7, %ntid.x
    mad v0, s6, s7, v0          # i
    isetp.geu p0, v0, s4
    @p0 exit
    mulwu v4, v0, 4             # byte offset
    add64 v6, v4, s0
    add64 v8, v4, s2
    ldg.b32 v2, [v6]
    ldg.b32 v3, [v8]
    fmul v2, v2, s5
    fadd v3, v3, v2
    stg.b32 v3, [v8]
    exit
