# SPDX-License-Identifier: MIT
# Puts the scheduler under pressure by grids.

# Each CTA launches one child, waits for it and looks whether it has run; then it says so itself.
# Parameters: 0 TMD of the child (0: none), 8 parameters of the children, 32 bytes for each CTA, 16 own count, 24 count of errors
.kernel each_waits
.param 32
.launch
.wait
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b64 s4, [16]
    ldp.b64 s6, [24]
    rdsr v0, %tid.x
    rdsr s8, %cta.x
    isetp.eq p0, v0, 0
    mov v1, 1
    mov v2, 0
    isetp64.eq p1, s0, 0
    @p1 bra done
    shl s9, s8, 5
    mov v4, s9
    mov v5, 0
    mov64 v6, s2
    add64 v4, v4, v6            # the child's parameters
    ssy launched
    @!p0 sync launched
    mov64 v16, s0
    and s10, s8, 31
    mov v18, s10
    mov64 v20, v4
    mov v22, 32
    call v15, nest_launch
    isetp.ne p2, v16, 0
    mov v1, 1
    @p2 atomg.add _, [s6+v2], v1
    sync launched
launched:
    cwait
    @!p0 exit
    ldg.b64 v6, [v4+16]
    ldg.b32 v8, [v6]
    isetp.eq p2, v8, 0
    @p2 atomg.add _, [s6+v2], v1
done:
    isetp.eq p0, v0, 0
    @p0 atomg.add.acq_rel.dev _, [s4+v2], v1
    exit

# Each thread launches a task so many times, in all streams in turn; while no record is free it tries again.
# parameters: 0 TMD, 8 parameters (16 bytes), 16 count of refusals (addresses), 24 times, 28 turns to spin
# before and afterwards
.kernel flood
.param 32
.launch
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b64 s4, [16]
    ldp.b32 s6, [24]
    ldp.b32 s7, [28]
rest:
    isetp.eq p0, s7, 0
    @p0 bra rested
    sub s7, s7, 1
    bra rest
rested:
    mov v1, 0                   # times
    mov v2, 0
    pbrk flooded
again:
    isetp.geu p0, v1, s6
    @p0 brk flooded
    mov64 v16, s0
    and v18, v1, 31
    mov64 v20, s2
    mov v22, 16
    call v15, nest_launch
    isetp.ne p0, v16, 0
    mov v3, 1
    @p0 atomg.add _, [s4+v2], v3
    @!p0 add v1, v1, 1
    yield
    bra again
flooded:
    ldp.b32 s7, [28]
spin:
    isetp.eq p0, s7, 0
    @p0 exit
    sub s7, s7, 1
    bra spin

# Each thread launches a task, in the stream of its number, and the CTA waits for them. Parameters as flood's.
.kernel burst
.param 32
.launch
.wait
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b64 s4, [16]
    rdsr v1, %tid.x
    mov v2, 0
    mov64 v16, s0
    and v18, v1, 31
    mov64 v20, s2
    mov v22, 16
    call v15, nest_launch
    isetp.ne p0, v16, 0
    mov v3, 1
    @p0 atomg.add _, [s4+v2], v3
    cwait
    exit

# A task that launches the next of a chain, and ends. parameters: 0 TMD, 8 parameters of the tasks, 32 bytes each (addresses), 16 how many
# are to follow, 20 zero, 24 zero
.kernel relay
.param 32
.launch
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b32 s4, [16]
    isetp.eq p0, s4, 0
    @p0 exit
    sub s4, s4, 1
    shl s4, s4, 5
    mov64 v16, s0
    mov v18, -1
    mov v20, s4
    mov v21, 0
    mov64 v0, s2
    add64 v20, v20, v0
    mov v22, 32
    call v15, nest_launch
    isetp.ne p0, v16, 0
    @p0 trap 1
    exit

# Waits for ever, and takes no time: it counts a child that it does not launch.
.kernel hold
.launch
.wait
    rdsr v0, %nest.lo
    rdsr v1, %nest.hi
    add64 v0, v0, 64
    mov v2, 1
    atomg.add _, [v0], v2
    cwait
    exit

# A thread that writes over what its nest holds: status words, counters, last-task words, the ring of free records, handles; and asks for
# tasks that are not its own. In between it launches.
# parameters: 0 nest, 8 TMD, 16 parameters of children (addresses), 24 bytes of the ring of handles with what is before, 28 records, 32 turns,
# 36 seed, 40 first index of the nest's records, 44 what it does: bit 0 writes, 1 requests, 2 launches, 3 waits
.kernel scribble
.param 48
.launch
.wait
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b64 s4, [16]
    ldp.b32 s6, [24]
    ldp.b32 s7, [28]
    ldp.b32 s8, [32]
    ldp.b32 s9, [36]
    ldp.b32 s10, [40]
    ldp.b32 s11, [44]
    rdsr v0, %tid.x
    rdsr v1, %task
    mov s13, 1664525
    mov s14, 1013904223
    mad v0, v0, s13, s9
    mad v0, v1, s13, v0         # random numbers, bits 16 to 31
turn:
    isetp.eq p0, s8, 0
    @p0 bra over
    sub s8, s8, 1
    mad v0, v0, s13, s14
    shr v2, v0, 16
    remu v3, v2, s7             # a record
    mad v0, v0, s13, s14
    shr v4, v0, 16
    and v5, v4, 63              # a word of its status and group, or of the nest's head
    shl v5, v5, 2
    shl v6, v3, 10
    add v6, v6, v5
    add v6, v6, s6
    and v7, v4, 0x300
    isetp.eq p1, v7, 0
    remu v7, v4, s6
    and v7, v7, -4
    @p1 mov v6, v7              # one in four: the head or the ring
    mad v0, v0, s13, s14
    shr v8, v0, 16              # what is written: a handle of the nest, a small number, or all ones
    and v9, v8, 0xfff
    shl v9, v9, 20
    remu v10, v8, s7
    add v10, v10, s10
    or v9, v9, v10
    and v10, v8, 7
    isetp.eq p2, v10, 0
    @p2 mov v9, v10
    isetp.eq p2, v10, 1
    @p2 mov v9, -1
    isetp.eq p2, v10, 2
    @p2 ldg.b32 v9, [s0+v6]     # what a neighbour holds is written elsewhere
    isetp.eq p2, v10, 2
    @p2 xor v6, v6, 4
    and s12, s11, 1
    isetp.ne p3, s12, 0
    @p3 stg.b32 v9, [s0+v6]
    and s12, s11, 2
    isetp.ne p3, s12, 0
    and v10, v8, 0x70
    isetp.ne p2, v10, 0
    pand p3, p3, !p2
    mov v10, 0
    @p3 tstart v9, v10
    and s12, s11, 4
    isetp.eq p3, s12, 0
    @p3 bra turn
    mov64 v16, s2
    and v18, v2, 31
    mov64 v20, s4
    mov v22, 48
    mov v12, v0
    call v15, nest_launch
    mov v0, v12
    bra turn
over:
    and s12, s11, 8
    isetp.eq p0, s12, 0
    @p0 exit
    cwait
    exit
