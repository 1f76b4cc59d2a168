# SPDX-License-Identifier: MIT
# Works as fast as a PPU can: of arithmetic, and of memory. limits.c launches it.

# Arithmetic alone, 8 instructions a turn and 3 for the loop.
# Parameters: 0 turns
.kernel limit_arithmetic
.param 8
    ldp.b32 s0, [0]
    rdsr v0, %tid.x
    mov v1, v0
    mov v2, v0
    mov v3, v0
turn:
    ffma v0, v0, v0, v1
    ffma v1, v1, v1, v2
    ffma v2, v2, v2, v3
    ffma v3, v3, v3, v0
    ffma v0, v0, v0, v2
    ffma v1, v1, v1, v3
    ffma v2, v2, v2, v0
    ffma v3, v3, v3, v1
    sub s0, s0, 1
    isetp.ne p0, s0, 0
    @p0 bra turn
    exit

# Loads rows of words that lie side by side, each in as few transactions as there are.
# Parameters: 0 turns, 8 address
.kernel limit_memory
.param 16
    ldp.b32 s0, [0]
    ldp.b64 s2, [8]
    rdsr v0, %tid.x
    mulwu v2, v0, 4
    add64 v4, v2, s2
again:
    ldg.b32 v6, [v4]
    ldg.b32 v7, [v4+1024]
    ldg.b32 v8, [v4+2048]
    ldg.b32 v9, [v4+3072]
    sub s0, s0, 1
    isetp.ne p0, s0, 0
    @p0 bra again
    exit
