# SPDX-License-Identifier: MIT
# Lets CTAs leave their SM and come back. Each thread adds 1 to count, and writes a sum to out[i], where i counts threads
# over the whole grid. The sum is 3 i + 1 (even threads) or 3 i + 10 (odd ones), plus i ^ 1, plus the thread's own i again.
# Parameters: 0 out, 8 count (addresses), 16 turns of the loop
.kernel waits
.param 24
.shared 4096
.local 16
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    nop                         # what all warps begin with ends here
    rdsr v0, %tid.x
    rdsr s4, %cta.x
    rdsr s5, %ntid.x
    mad v1, s4, s5, v0          # i
    mov v20, 0
    stl.b32 v1, [v20]
    mul v2, v1, 3
    shl v3, v0, 2
    sts.b32 v1, [v3]
    and v4, v0, 1
    isetp.ne p0, v4, 0
    ssy joined
    @p0 bra odd
    cwait
    add v2, v2, 1
    sync joined
odd:
    add v2, v2, 10
    cwait
    sync joined
joined:
    add v2, v2, 7
    bar 3
    cwait
    sub v2, v2, 7               # a warp that came back must not be taken for one that begins, and pass this over
    nop
    call v9, finish
    exit
finish:
    xor v5, v0, 1
    shl v5, v5, 2
    lds.b32 v6, [v5]
    add v2, v2, v6
    ldl.b32 v7, [v20]
    add v2, v2, v7
    shl v8, v1, 2
    stg.b32 v2, [s0+v8]
    mov v10, 1
    mov v11, 0
    atomg.add _, [s2+v11], v10
    ret v9

# The same result without waiting: a loop that takes its time, divergent, with a barrier in each turn.
.kernel works
.param 24
.shared 4096
.local 16
    bra work

# And saved when it is evicted.
.kernel works_saved
.param 24
.shared 4096
.local 16
.launch
.save
work:
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b32 s6, [16]
    rdsr v0, %tid.x
    rdsr s4, %cta.x
    rdsr s5, %ntid.x
    mad v1, s4, s5, v0          # i
    mov v20, 0
    stl.b32 v1, [v20]
    mul v2, v1, 3
    shl v3, v0, 2
    sts.b32 v1, [v3]
    and v4, v0, 1
    isetp.ne p0, v4, 0
turn:
    ssy turned
    @p0 bra aside
    add v2, v2, 1
    yield
    sub v2, v2, 1
    sync turned
aside:
    yield
    add v2, v2, 0
    sync turned
turned:
    bar 1
    sub s6, s6, 1
    isetp.ne p1, s6, 0
    @p1 bra turn
    @p0 add v2, v2, 10
    @!p0 add v2, v2, 1
    call v9, finish
    exit

.kernel long_section
    csenter
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    csleave
    exit

.kernel section_yield
    csenter
    yield
    csleave
    exit

.kernel section_barrier
    csenter
    bar 0
    csleave
    exit

.kernel section_wait
    csenter
    cwait
    csleave
    exit

.kernel section_jump
    csenter
    bra over
over:
    csleave
    exit

.kernel section_good
    csenter
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    csleave
    csenter
    csleave
    exit

# Threads store their number to system memory in critical sections, again and again. Parameters: 0 where to, 8 count
# (addresses), 16 turns; each thread adds 1 to count when it is through.
.kernel system_section
.param 24
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b32 s6, [16]
    rdsr v0, %tid.x
    shl v1, v0, 2
store:
    csenter
    stg.b32 v0, [s0+v1]
    stg.b32 v0, [s0+v1]
    csleave
    sub s6, s6, 1
    isetp.ne p1, s6, 0
    @p1 bra store
    mov v10, 1
    mov v11, 0
    atomg.add _, [s2+v11], v10
    exit
