# SPDX-License-Identifier: MIT
# Spins for ever, or until a word is not zero.

# Never ends.
.kernel spin
forever:
    bra forever

# Ends when the word at parameter 0 is not zero.
.kernel spin_until
.param 8
    ldp.b64 s0, [0]
again:
    ldg.b32 s2, [s0]
    isetp.eq p0, s2, 0
    @p0 bra again
    exit

# Executes the number of turns in parameter 0, then adds 1 to the word at the address in parameter 8.
.kernel spin_count
.param 16
    ldp.b32 s0, [0]
    ldp.b64 s2, [8]
turn:
    sub s0, s0, 1
    isetp.ne p0, s0, 0
    @p0 bra turn
    mov v0, 1
    rdsr v1, %tid.x
    isetp.eq p1, v1, 0
    @p1 atomg.add _, [s2], v0
    exit

# Stores for ever: growing numbers into the 32 words at the address in parameter 0.
.kernel scribble
.param 8
    ldp.b64 s0, [0]
    rdsr v1, %lane
    shl v1, v1, 2
    mov v0, 0
more:
    add v0, v0, 1
    stg.b32 v0, [s0+v1]
    bra more
