# SPDX-License-Identifier: MIT
# Writes by every thread 16 words about itself to out + 64 * (its number in the grid). The words are tid x y z, cta x y z,
# ntid x y z, ncta x y z, tid, lane, warp, wave.
# Parameters: 0 out (address)
.kernel special
.param 8
    ldp.b64 s0, [0]
    rdsr v0, %tid.x
    rdsr v1, %tid.y
    rdsr v2, %tid.z
    rdsr v3, %cta.x
    rdsr v4, %cta.y
    rdsr v5, %cta.z
    rdsr v6, %ntid.x
    rdsr v7, %ntid.y
    rdsr v8, %ntid.z
    rdsr v9, %ncta.x
    rdsr v10, %ncta.y
    rdsr v11, %ncta.z
    rdsr v12, %tid
    rdsr v13, %lane
    rdsr v14, %warp
    rdsr v15, %wave
    mad v16, v5, v10, v4        # linear CTA
    mad v16, v16, v9, v3
    mul v17, v6, v7             # threads a CTA
    mul v17, v17, v8
    mad v16, v16, v17, v12
    mulwu v18, v16, 64
    add64 v18, v18, s0
    stg.b128 v0, [v18]
    stg.b128 v4, [v18+16]
    stg.b128 v8, [v18+32]
    stg.b128 v12, [v18+48]
    exit
