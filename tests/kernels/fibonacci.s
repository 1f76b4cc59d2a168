# SPDX-License-Identifier: MIT
# Computes Fibonacci numbers the long way: a grid for F(n) launches one for F(n - 1) and one for F(n - 2), waits for
# both, and writes their sum.
# Parameters: 0 TMD of this kernel, 8 free results, 16 counter of results taken, 24 own result (addresses), 32 n, 36 zero,
# 40 zero. A result is 64 bytes: the number; from byte 16 on the parameters of the child that writes it
.kernel fibonacci
.param 48
.launch
.wait
    rdsr v0, %tid.x
    isetp.ne p0, v0, 0
    @p0 exit
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b64 s4, [16]
    ldp.b64 s6, [24]
    ldp.b32 s8, [32]
    isetp.ltu p0, s8, 2
    @p0 bra known
    mov v1, 2                   # results of two children
    mov v2, 0
    atomg.add v3, [s4+v2], v1
    shl v3, v3, 6
    mov v4, 0
    mov64 v6, s2
    mov v5, v4
    mov v4, v3
    add64 v4, v4, v6            # the first
    mov s9, 0                   # children launched
child:
    mov64 v6, s0                # the child's parameters
    stg.b64 v6, [v4+16]
    mov64 v6, s2
    stg.b64 v6, [v4+24]
    mov64 v6, s4
    stg.b64 v6, [v4+32]
    stg.b64 v4, [v4+40]
    sub s10, s8, 1
    sub s10, s10, s9
    mov v6, s10
    mov v7, 0
    stg.b64 v6, [v4+48]
    mov64 v16, s0
    mov v18, s9
    add64 v20, v4, 16
    mov v22, 48
    call v15, nest_launch
    isetp.ne p1, v16, 0
    @p1 trap 1
    add64 v4, v4, 64
    add s9, s9, 1
    isetp.ltu p0, s9, 2
    @p0 bra child
    cwait
    ldg.b32 v8, [v4-128]
    ldg.b32 v9, [v4-64]
    add v8, v8, v9
    bra write
known:
    mov v8, s8
write:
    mov64 v10, s6
    stg.b32 v8, [v10]
    exit
