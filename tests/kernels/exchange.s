# SPDX-License-Identifier: MIT
# Lets the halves of each warp yield to each other, so that a small token queue comes to its end at every second yield.
# Thread i stores how often it yielded. Parameters: array of words (address), yields of a thread.
.kernel exchange
.param 16
.tokens 4
    ldp.b64 s0, [0]
    ldp.b32 s2, [8]
    rdsr v0, %tid.x
    rdsr s3, %cta.x
    rdsr s4, %ntid.x
    mad v1, s3, s4, v0
    shl v1, v1, 2
    mov v2, 0
    and v5, v0, 1
    isetp.eq p0, v5, 0
    ssy end
    @p0 bra even
odd:
    add v2, v2, 1
    yield
    isetp.ltu p1, v2, s2
    @p1 bra odd
    sync end
even:
    add v2, v2, 1
    yield
    isetp.ltu p1, v2, s2
    @p1 bra even
    sync end
end:
    stg.b32 v2, [s0+v1]
    exit
