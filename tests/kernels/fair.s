# SPDX-License-Identifier: MIT
# Sets one address space beside another that wants everything.

.kernel nothing
    exit

.kernel endless
forever:
    bra forever

# As many registers as a lane may have: two CTAs of 128 threads and no more.
.kernel endless_wide
.vregs 256
wide:
    bra wide

# Critical sections one behind the other.
.kernel endless_sections
section:
    csenter
    nop
    nop
    nop
    nop
    nop
    nop
    csleave
    bra section

# Threads load from words at parameter 0, 64 bytes apart, which may lie in system memory.
.kernel endless_loads
.param 8
    ldp.b64 s0, [0]
    rdsr v1, %tid
    shl v1, v1, 6
load:
    ldg.b32 v0, [s0+v1]
    bra load

# Parameter 0: a queue. Waits until its armed word names the task, then says for ever that there are entries.
.kernel self_feeding
.param 8
    ldp.b64 s0, [0]
    mov v1, 128
again:
    ldg.b32 v0, [s0+v1]
    isetp.eq p0, v0, 0
    @p0 bra again
more:
    tstart v0, v0
    mov v2, 0
wait:
    add v2, v2, 1
    isetp.ne p1, v2, 2000
    @p1 bra wait
    bra more

# Asks for ever for a task that does not exist.
.kernel start_flood
    mov v0, 0x7ffffff
flood:
    tstart v0, v0
    bra flood

# Each thread of a CTA of 64: a walk in registers and shared memory, a barrier at each step, the result to out[thread of the grid].
# Parameters: out, steps.
.kernel walk
.vregs 24
.param 16
.shared 256
    ldp.b64 s0, [0]
    ldp.b32 s2, [8]
    rdsr v0, %tid.x
    rdsr v1, %cta.x
    mul v1, v1, 64
    add v1, v1, v0
    mul v2, v1, 2654435761
    add v2, v2, 12345
    shl v3, v0, 2
    xor v4, v0, 1
    shl v4, v4, 2
    mov v5, 0
step:
    sts.b32 v2, [v3]
    bar 0
    lds.b32 v6, [v4]
    bar 0
    mul v2, v2, 1664525
    add v2, v2, 1013904223
    xor v2, v2, v6
    add v5, v5, 1
    isetp.ne p0, v5, s2
    @p0 bra step
    shl v1, v1, 2
    stg.b32 v2, [s0+v1]
    exit
