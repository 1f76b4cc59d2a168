# SPDX-License-Identifier: MIT
# Adds 1 by every thread to the word at parameter 0, once the word at parameter 8 is not zero.
.kernel told
.param 16
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
again:
    ldg.b32 v0, [s2]
    isetp.eq p0, v0, 0
    @p0 bra again
    mov v1, 1
    atomg.add v2, [s0], v1
    exit
