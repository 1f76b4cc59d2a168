# SPDX-License-Identifier: MIT
# Nests divergent branches: out[tid] = sum over i in 0..tid of (i odd ? (i * 3 > tid ? i : 7) : call twice(i)).
# Parameters: 0 out (address)
.kernel nested
.param 8
    ldp.b64 s0, [0]
    rdsr v0, %tid.x
    mov v1, 0                   # i
    mov v2, 0                   # sum
    pbrk done
loop:
    isetp.gtu p0, v1, v0
    @p0 brk done
    and v3, v1, 1
    isetp.ne p1, v3, 0
    ssy joined
    @p1 bra odd
    call v8, twice
    sync joined
odd:
    mul v4, v1, 3
    isetp.gtu p2, v4, v0
    ssy inner
    @p2 bra large
    add v2, v2, 7
    sync inner
large:
    add v2, v2, v1
    sync inner
inner:
    sync joined
joined:
    add v1, v1, 1
    bra loop
done:
    shl v5, v0, 2
    stg.b32 v2, [s0+v5]
    exit
twice:
    add v2, v2, v1
    add v2, v2, v1
    ret v8
